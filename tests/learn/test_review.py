"""With review nothing is remembered before the person has said so; each proposal is answered once, beside its source."""

import datetime as dt
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner
from conversations import remembered, talk, tree
from reader import Reader, note

from filemem import Busy, User
from filemem.cli import cli
from filemem.learn import consolidate
from filemem.store.folder import Folder
from filemem.store.profile_sections import BEGIN, END
from filemem.store.users import StoreFolder

MAY = dt.datetime(2026, 5, 8, 13, 56, tzinfo=dt.UTC)
JUNE = dt.datetime(2026, 6, 2, 9, 0, tzinfo=dt.UTC)
ASK = "[a]ccept, [e]dit, [r]eject, [s]kip: "
UNSET = dict.fromkeys(
    name for name in os.environ if name.startswith(("FILEMEM_", "OPENAI_"))
)


@pytest.fixture
def user(tmp_path: Path) -> Folder:
    """A person who has told three things, proposed and not yet remembered."""
    (tmp_path / "filemem.yaml").write_text("review: true\n")
    nora = StoreFolder(tmp_path).folder("nora")
    talk(
        nora,
        MAY,
        "I live in Ghent.",
        "Nice.",
        "My favourite tea is oolong.",
        "Good.",
        "I'm allergic to walnuts.",
    )
    consolidated(nora)
    return nora


def consolidated(user: Folder) -> list[str]:
    reader = Reader(
        note("Nora lives in Bruges.", "in Bruges", supersede="Ghent"),
        echo=True,
        section="home",
    )
    return [one.claim.text for one in remembered(user, JUNE, reader)]


def review(user: Folder, answers: str = "", *more: str, **env: str) -> str:
    """`filemem review` as a person has it, who types these lines; ends with the exit code."""
    args = [
        "review",
        "--store",
        user.store,
        "--user",
        user.name,
        "--today",
        "2026-06-02",
        *more,
    ]
    done = CliRunner().invoke(
        cli, args, input=answers, env={**UNSET, **env}, standalone_mode=False
    )
    assert done.exception is None, done.output
    return f"{done.output}[{done.return_value}]"


def kept(user: Folder) -> dict[str, str]:
    """Every memory that is no session, its text without front matter."""
    return {path: text.split("---\n")[-1].strip() for path, text in tree(user).items()}


HOME = "facts/2026/2026-05-08-i-live-in-ghent.md"
NUTS = "facts/2026/2026-05-08-i-m-allergic-to-walnuts.md"
TEA = "facts/2026/2026-05-08-my-favourite-tea-is-oolong.md"
WALKED = f"""
1 of 3, proposed/{HOME}
  I live in Ghent.
  sessions/2026/2026-05-08-1356-talk.md:7  Nora: I live in Ghent.
{ASK}a
remembered {HOME}: I live in Ghent.

2 of 3, proposed/{NUTS}
  I'm allergic to walnuts.
  sessions/2026/2026-05-08-1356-talk.md:11  Nora: I'm allergic to walnuts.
{ASK}r
rejected

3 of 3, proposed/{TEA}
  My favourite tea is oolong.
  sessions/2026/2026-05-08-1356-talk.md:9  Nora: My favourite tea is oolong.
{ASK}s
[0]"""


def test_proposals_are_walked_one_by_one_beside_their_turns(user: Folder) -> None:
    """Nothing is remembered before they say so, or proposed twice."""
    assert kept(user) == {} and consolidated(user) == []
    assert review(user, "a\nr\ns\n") == WALKED
    line = f"- I live in Ghent. <!-- {HOME} -->"
    profile = f"# Nora\n\n{BEGIN}\n\n## Home\n\n{line}\n\n{END}"
    assert kept(user) == {HOME: "I live in Ghent.", "profile.md": profile}


def test_what_was_answered_is_not_asked_again_and_all_the_rest_can_be_accepted(
    user: Folder,
) -> None:
    """What was skipped or left is asked again."""
    for answers in ("a\n", "r\n", "s\n"):
        review(user, answers)
    assert f"1 of 1, proposed/{TEA}\n  My favourite tea" in review(user, "a\n")
    assert review(user) == "Nothing waits for review.\n[1]"
    assert consolidated(user) == [] and {*kept(user)} == {HOME, TEA, "profile.md"}
    talk(user, JUNE, "My cat's name is Pixel.")
    consolidated(user)
    pixel = "facts/2026/2026-06-02-my-cat-s-name-is-pixel.md"
    said = review(user, "", "--accept-all")
    assert said == f"remembered {pixel}: My cat's name is Pixel.\n[0]"


def test_what_was_refused_for_its_form_waits_for_a_yes_of_its_own(user: Folder) -> None:
    review(user, "r\nr\nr\n")
    path = "facts/2026/2026-06-02-rows.md"
    text = "---\nwhy: it quotes no turn\n---\n\nRows on Sundays.\n"
    user.create(f"proposed/{path}", text)
    review(user, "", "--accept-all")
    assert user.proposals() == [f"proposed/{path}"] and not user.paths("facts")
    assert "refused: it quotes no turn" in review(user, "a\n")
    assert user.paths("facts") == [path]


def test_a_text_changed_by_the_person_is_theirs(user: Folder, tmp_path: Path) -> None:
    """It keeps its source, is certain, and is not touched when it is told again."""
    editor = tmp_path / "editor"
    editor.write_text(
        "#!/bin/sh\nsed -i 's/^I live.*/Nora lives in [[Ghent]], at the Coupure./;/retold/d' \"$1\"\n"
    )
    editor.chmod(0o755)
    path = HOME
    said = review(user, "e\n", VISUAL=str(editor))
    assert f"remembered {path}: Nora lives in [[Ghent]], at the Coupure.\n" in said
    whole = user.memory(path).text
    source = "source: sessions/2026/2026-05-08-1356-talk.md:7\nsection: home\n"
    assert (
        whole
        == f"---\ntype: fact\n{source}---\n\nNora lives in [[Ghent]], at the Coupure.\n"
    )
    talk(user, JUNE, "As you know I live in Ghent.")
    consolidated(user)
    review(user, "", "--accept-all")
    assert user.memory(path).text == whole


def test_a_proposal_is_put_beside_what_it_would_change(user: Folder) -> None:
    """And one that became known meanwhile is kept no second time."""
    tea = "facts/2026-05-09-tea.md"
    user.create(tea, "---\npinned: true\n---\n\nMy favourite tea is oolong.\n")
    assert f"known {tea}: My favourite tea is oolong." in review(user, "a\nr\na\n")
    talk(user, JUNE, "I live in Bruges now.", "Oh?", "I \x1b]0;owned\x07sail.")
    consolidated(user)
    out = review(user, "r\nr\na\n")
    new = "facts/2026/2026-06-02-lives-in-bruges.md"
    change = f"\n  Nora lives in Bruges.\n  supersedes {HOME}: I live in Ghent."
    assert change in out
    assert f"remembered {new}: Nora lives in Bruges.\nsuperseded {HOME}\n" in out
    assert f"archive/{HOME}" in kept(user)
    assert "\x1b" not in out, "no text commands the terminal"


def test_a_proposal_supersedes_nothing_that_is_pinned(user: Folder) -> None:
    """Whatever the model names; accepted it stands beside."""
    path = "facts/2026-05-09-tea.md"
    mine = "---\npinned: true\n---\n\nNora likes oolong best.\n"
    user.create(path, mine)
    review(user, "", "--accept-all")
    talk(user, JUNE, "I like sencha best now. Its smell!")
    sencha = note("Nora likes sencha best.", "like sencha", supersede="oolong best")
    smell = note("Nora likes the smell. " * 20, "Its smell", supersede="oolong best")
    remembered(user, JUNE, Reader(sencha, smell))
    assert len(user.proposals()) == 2
    assert f"supersedes {path}" not in review(user, "a\na\n")
    assert user.memory(path).text == mine


def test_a_proposal_is_a_file_to_edit_move_or_delete(user: Folder) -> None:
    """What was moved is kept as the person left it; what was deleted is not made again."""
    ghent, nuts, tea = user.proposals()
    assert {ghent, nuts} == {f"proposed/{HOME}", f"proposed/{NUTS}"}
    Path(user.root, HOME).parent.mkdir(parents=True)
    Path(user.root, ghent).rename(Path(user.root, HOME))
    Path(user.root, tea).unlink()
    Path(user.root, nuts).write_text("Allergic to all nuts.\n")
    assert consolidated(user) == ["I live in Ghent."]
    assert "- I live in Ghent." in kept(user)["profile.md"]
    assert "remembered " in review(user, "", "--accept-all")
    assert kept(user)[NUTS] == "Allergic to all nuts."
    assert user.proposals() == [] and review(user).endswith("[1]")


def test_what_a_moved_proposal_supersedes_goes_to_the_archive(user: Folder) -> None:
    review(user, "a\nr\nr\n")
    talk(user, JUNE, "I live in Bruges now.")
    consolidated(user)
    path = "facts/2026/2026-06-02-lives-in-bruges.md"
    Path(user.root, "proposed", path).rename(Path(user.root, path))
    consolidated(user)
    assert f"archive/{HOME}" in kept(user) and HOME not in kept(user)
    assert "Bruges" in kept(user)["profile.md"]


def test_a_wish_to_forget_is_deleted_on_a_yes_and_forgotten_on_a_no(
    user: Folder,
) -> None:
    review(user, "", "--accept-all")
    path = talk(user, JUNE, "Forget the walnuts.", "Fine.")
    wish = {"asked": "1:7", "lines": ["1:7"], "memories": ["M2"]}
    list(consolidate.run(user, JUNE, Reader(forget=[wish])))
    assert "1 proposal " in status(user)
    assert "walnuts" in kept(user)[NUTS]
    out = review(user, "a\n")
    assert f"\n  Forget the walnuts.\n  deletes {NUTS}\n" in out
    assert NUTS not in kept(user)
    said = (
        user.memory(path).text
        + user.memory(path.replace("06-02-0900", "05-08-1356")).text
    )
    assert "walnuts" not in said
    assert user.proposals() == []


def test_a_wish_to_forget_that_another_job_keeps_waiting_is_not_lost(
    user: Folder,
) -> None:
    review(user, "", "--accept-all")
    talk(user, JUNE, "Forget the walnuts.", "Fine.")
    wish = {"asked": "1:7", "lines": ["1:7"], "memories": ["M2"]}
    list(consolidate.run(user, JUNE, Reader(forget=[wish])))
    with ThreadPoolExecutor(1) as other, user.job_lock():
        accepting = other.submit(User(user).review()[0].accept)
        with pytest.raises(Busy):
            accepting.result()
    assert len(user.proposals()) == 1
    assert "walnuts" in kept(user)[NUTS]


def status(user: Folder) -> str:
    args = ["status", "--store", user.store, "--user", user.name]
    return CliRunner().invoke(cli, args, env=UNSET).output
