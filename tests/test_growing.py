"""What is told of a matter that is known stands in its file, with its day and its source; no word of either telling is lost."""

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from conversations import day, remembered, talk, tree
from scripted_server import ScriptedServer, calls

from filemem import Store
from filemem.files.folder import Folder
from filemem.models import OpenAIModel
from filemem.remembering import comparison, consolidation
from filemem.remembering.extraction import listener
from filemem.remembering.remembering import remember

MAY, JUNE, JULY = day(5, 8), day(6, 2), day(7, 1)
SAID, LATER = "sessions/2026/2026-05-08-0930-talk.md:6", "sessions/2026/2026-06-02-0930-talk.md:6"


def tell(user: Folder, at: Any, text: str) -> list[str]:
    talk(user, at, text, "Noted.")
    return [one.action for one in remembered(user, at)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I play cricket with friends.", "I play cricket with friends on Fridays, at Hyde Park."),
        ("I work as a nurse.", "I work as a nurse at St Mary's, in the children's ward."),
        ("I am learning to build long bridges of wood.", "I am learning to build long bridges of wood in Norway."),
        ("我周末和朋友打羽毛球。", "我周末都和朋友打羽毛球，在奥体中心。"),
        ("我在同济医院当护士。", "我在同济医院当护士，儿科病房。"),
    ],
)
def test_what_adds_a_detail_stands_under_what_it_adds_to(user: Folder, first: str, second: str) -> None:
    """And is surer, as it was told on two days; told once more it adds nothing."""
    assert tell(user, MAY, first) == ["ADD"]
    assert tell(user, JUNE, second) == ["UPDATE"]
    [[_, page]] = [(path, page) for path, page in tree(user).items() if path != "profile.md"]
    assert f"source: [{SAID}, {LATER}]\n" in page and "confidence: 0.9\n" in page
    assert page.endswith(f"---\n\n- **Nora**: {first}\n- **Nora** 2026-06-02: {second}\n")
    assert tell(user, JULY, second) == ["UPDATE"]
    assert [page.count("**Nora**") for path, page in tree(user).items() if path != "profile.md"] == [2]


def test_what_a_turn_was_joined_to_stands_once(tmp_path: Path) -> None:
    """A turn that only the one before it explains is quoted with it, and joins the file that quotes that one already."""
    user = Store(tmp_path).user("mara")
    said = ["我妈下个月要来看我，住两周", "她不会英语，也不吃生的东西"]
    user.add_conversation([{"role": "user", "content": one} for one in said], at=dt.datetime(2026, 11, 22, 9))
    user.consolidate(at=dt.datetime(2026, 11, 22, 10))
    (body,) = [user.open_file(path).body for path in user.folder.paths() if path.startswith("facts/")]
    assert [body.count(one) for one in said] == [1, 1]


def test_the_line_of_the_profile_says_the_whole(user: Folder) -> None:
    tell(user, MAY, "I work as a nurse.")
    tell(user, JUNE, "I work as a nurse at St Mary's.")
    fact = next(path for path in tree(user) if path != "profile.md")
    assert tree(user)["profile.md"].endswith(f'- "I work as a nurse at St Mary\'s." <!-- {fact} -->\n')


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I play the harp in Oslo.", "My brother plays the harp in Oslo on Fridays."),
        ("I play cricket with friends.", "I used to play cricket with friends at Hyde Park."),
        ("I flew to Oslo with Ada yesterday.", "I flew to Oslo with Ada yesterday for her graduation party."),
        ("我弟弟在北京上学。", "我弟弟在南京上学，住校。"),
    ],
)
def test_another_matter_gets_a_file_of_its_own(user: Folder, first: str, second: str) -> None:
    """Another subject, what was, an event that happens again, another value."""
    assert [*tell(user, MAY, first), *tell(user, JUNE, second)] == ["ADD", "ADD"]


def test_what_a_person_wrote_stays_as_it_is(user: Folder) -> None:
    """The detail stands beside it, once."""
    tell(user, MAY, "I play cricket with friends.")
    path = next(iter(tree(user)))
    Path(user.root, path).write_text("I play cricket with old friends, badly.\n")
    remember(user, "I paint boats at home.", MAY, pinned=True)
    before = tree(user)
    assert tell(user, JUNE, "I play cricket with old friends, badly, on Fridays at Hyde Park.") == ["ADD"]
    assert tell(user, JULY, "I paint boats at home on Sundays.") == ["ADD"]
    assert {path: page for path, page in tree(user).items() if path in before} == before


def test_a_file_that_is_full_is_followed_by_another(user: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "ROOM", 80)
    tell(user, MAY, "I play cricket with friends.")
    assert tell(user, JUNE, "I play cricket with friends on Fridays, at Hyde Park.") == ["ADD"]
    assert tell(user, JULY, "I play cricket with friends on Fridays, at Hyde Park.") == ["UPDATE"]


def merged(user: Folder, server: ScriptedServer, text: str) -> str:
    """What the file of a fact says after a model told it anew with what a second conversation adds."""
    told = {"text": "Nora plays cricket with friends.", "lines": [6]}
    more = {"text": "Nora plays cricket with friends on Fridays, at [[Hyde Park]].", "lines": [6]}
    decided = {"decisions": [{"fact": 1, "action": "UPDATE", "memory": "M1", "text": text}]}
    server.script(calls(("keep", {"facts": [told]})), calls(("keep", {"facts": []})))
    server.script(calls(("keep", {"facts": [more]})), calls(("keep", {"facts": []})), calls(("decide", decided)))
    for at, said in ((MAY, "I play cricket with friends."), (JUNE, "I play it on Fridays, at Hyde Park.")):
        talk(user, at, said, "Noted.")
    listen = listener(OpenAIModel("scripted", server.base_url, timeout=30), lambda sentence: None)
    done = [one.action for _, done in consolidation.run(user, JUNE, listen) for one in done.decisions]
    assert done == ["ADD", "UPDATE"]
    [page] = [page for path, page in tree(user).items() if path.startswith("facts/")]
    assert f"source: [{SAID}, {LATER}]\n" in page
    return page.partition("---\n\n")[2]


def test_a_model_may_tell_both_in_one(user: Folder, server: ScriptedServer) -> None:
    text = "Nora plays cricket with friends every Friday at [[Hyde Park]]."
    assert merged(user, server, text) == "Nora plays cricket with friends every Friday at [[Hyde Park]].\n"


@pytest.mark.parametrize(
    "text",
    [
        "Nora plays cricket with friends on Fridays.",
        "Nora plays cricket with friends on Fridays, at Hyde Park in Oslo.",
        "Nora hates losing at cricket with friends on Fridays, at Hyde Park.",
        "She plays cricket with friends on Fridays, at Hyde Park.",
    ],
)
def test_what_it_loses_or_invents_is_not_taken(user: Folder, server: ScriptedServer, text: str) -> None:
    """Both tellings then stand below each other."""
    more = "Nora plays cricket with friends on Fridays, at [[Hyde Park]]."
    assert merged(user, server, text) == f"Nora plays cricket with friends.\n\n{more}\n"
