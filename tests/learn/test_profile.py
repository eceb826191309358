"""The machine adds, replaces and drops only its own lines of the profile, whatever else stands there."""

import re
from pathlib import Path
from typing import Any

import pytest
from conversations import day, remembered, talk
from hypothesis import given
from hypothesis import strategies as st
from reader import Reader, note

from filemem import overview
from filemem.jobs import maintain
from filemem.learn import consolidate
from filemem.llm.model import Reply, Usage
from filemem.store.folder import Folder
from filemem.store.profile_sections import BEGIN, END
from filemem.store.users import StoreFolder

MAY = day(5, 8)
JUNE = day(6, 2)
JULY = day(7, 1)
TEA = "facts/2026/2026-05-08-drinks-oolong.md"
MARK = f"<!-- {TEA} -->"
HEAD = "---\ntype: profile\n---\n\n"


def shown(user: Folder) -> str:
    return Path(user.root, "profile.md").read_bytes().decode()


def edit(user: Folder, before: str, after: str) -> None:
    assert before in shown(user)
    Path(user.root, "profile.md").write_bytes(
        shown(user).replace(before, after).encode()
    )


def tell(user: Folder, at, said: str, text: str, **more: str) -> list[str]:  # type: ignore[no-untyped-def]
    talk(user, at, said, "Fine.")
    return [
        one.action for one in remembered(user, at, Reader(note(text, said, **more)))
    ]


@pytest.fixture
def nora(user: Folder) -> Folder:
    """Somebody of whom one line of the profile is known."""
    assert tell(user, MAY, "oolong for me", "Nora drinks oolong.", section="likes") == [
        "ADD"
    ]
    line = f"- Nora drinks oolong. {MARK}"
    assert shown(user) == f"{HEAD}# Nora\n\n{BEGIN}\n\n## Likes\n\n{line}\n\n{END}\n"
    return user


def test_a_line_that_a_person_changed_or_added_is_theirs(nora: Folder) -> None:
    """It leaves the block for the place above it, and is never replaced."""
    edit(nora, "- Nora drinks oolong.", "- Nora drinks oolong, strong.")
    edit(nora, END, f"And no milk.\n{END}")
    assert tell(nora, JUNE, "sencha now", "Nora drinks sencha.", supersede="oolong")
    own, block = shown(nora).split(BEGIN) if BEGIN in shown(nora) else (shown(nora), "")
    assert f"- Nora drinks oolong, strong. {MARK}\nAnd no milk.\n" in own
    assert "oolong" not in block


def test_the_program_s_lines_of_an_older_profile_move_into_the_block(
    nora: Folder,
) -> None:
    """Every line of the person's stays, where it stood."""
    line = f"- Nora drinks oolong. {MARK}"
    old = f"# Nora\n\nCall me N.\n\n## Home\n\n## Likes\n\n- rain\n{line}\n\n## Cats\n"
    Path(nora.root, "profile.md").write_text(old)
    maintain(nora, JUNE, None)
    own, _, block = shown(nora).partition(BEGIN)
    assert own == old.replace(f"{line}\n", "") + "\n"
    assert line in block
    before = shown(nora)
    maintain(nora, JULY, None)
    assert shown(nora) == before


def test_a_profile_beyond_its_room_is_condensed_by_the_model_and_check_says_so(
    nora: Folder,
) -> None:
    """It chooses what stays; the facts behind the other lines stay where they are."""
    settings = Path(nora.store, "filemem.yaml")
    settings.write_text("profile_tokens: 60\n")
    for place in ("Ghent", "Faro", "Porto"):
        said = f"{place} has my house"
        text = f"Nora has a house in {place}, with a garden and a view of the sea."
        tell(nora, MAY, said, text, section="home")
    edit(nora, "# Nora", "# Nora\n\nMy own words. 3")
    user = StoreFolder(nora.store).folder("nora")
    assert "filemem maintain" in str(overview.problems(user, JULY.date()))

    class Chooses(Reader):
        answer = "None of them, 0 and 999."

        def ask(self, messages: Any, tools: Any, on_text: Any) -> Reply:
            is_asked_to_choose = "its 60 tokens" in messages[0]["content"]
            if not is_asked_to_choose:  # but to retell what was said
                return Reply("Nothing.", (), Usage(1, 1), "stop")
            self.told.append(messages[1]["content"])
            return Reply(self.answer, (), Usage(1, 1), "stop")

    chooses = Chooses()
    before = shown(user)
    assert "shorten it by hand" in str(maintain(user, JUNE, chooses))
    assert shown(user) == before
    chooses.answer = "- 1\n- 3\n- [11], 12."
    maintain(user, JUNE, chooses)
    assert "11. - Nora has a house in Faro" in chooses.told[0]
    assert "<!-- facts" not in chooses.told[0]
    after = shown(user)
    assert "Ghent" in after and "oolong" in after and "My own words. 3" in after
    assert "Faro" not in after and "Porto" not in after
    assert len([one for one in user.paths() if one.startswith("facts/")]) == 4
    assert overview.problems(user, JULY.date()) == []
    maintain(user, JULY, chooses)
    assert len(chooses.told) == 2 and shown(user) == after


def test_a_profile_that_is_too_long_by_a_person_s_own_text_is_sent_to_nobody(
    user: Folder,
) -> None:
    user.create("profile.md", "# Nora\n\n" + "I like long walks. " * 1_000)
    reader = Reader()
    maintain(user, JUNE, reader)
    assert reader.told == []


def test_of_a_block_without_an_end_what_stands_below_its_lines_is_the_person_s(
    nora: Folder,
) -> None:
    below = "\n## Work\n\nMy boss is Kim.\n\n\nPara two.\n"
    edit(nora, f"\n{END}\n", below)
    before = shown(nora)
    maintain(nora, JULY, None)
    assert shown(nora) == before.replace(below, f"\n{END}\n{below}")


def test_a_fact_that_holds_the_mark_of_another_keeps_its_line(user: Folder) -> None:
    text = "Nora writes <!-- facts/a.md --> a lot."
    tell(user, MAY, "a lot", text, section="work")
    maintain(user, JULY, None)
    assert f"- {text} <!-- facts/" in shown(user)


def test_check_names_the_line_whose_fact_has_another_name_now(nora: Folder) -> None:
    Path(nora.root, TEA).rename(Path(nora.root, "facts/2026-05-08-茶.md"))
    assert [(one.path, one.line) for one in overview.problems(nora, JULY.date())] == [
        ("profile.md", 11)
    ]


@pytest.mark.parametrize("words", ["Sencha is what Nora drinks.", "诺拉喝煎茶 now"])
@pytest.mark.parametrize("how", ["supersede", "update"])
@pytest.mark.parametrize("section", ["", "likes", "health"])
def test_what_follows_takes_over_a_line_or_brings_its_section(
    nora: Folder, words: str, how: str, section: str
) -> None:
    assert tell(
        nora, JUNE, "sencha now 煎茶", words, section=section, **{how: "oolong"}
    ) == [how.upper()]
    [heading, line] = [
        line for line in shown(nora).split("\n") if line.startswith(("- ", "##"))
    ]
    assert line.startswith(f"- {words} <!-- facts/2026/2026-0")
    assert (
        heading in ("## Health", "## 健康")
        if section == "health"
        else heading in ("## Likes", "## 喜好")
    )


def test_what_begins_later_stands_beside_what_holds_until_then(nora: Folder) -> None:
    later = {"section": "home", "valid_from": "2026-07-01"}  # above the other section
    tell(
        nora,
        JUNE,
        "sencha from July",
        "Nora drinks sencha from July.",
        supersede="oolong",
        **later,
    )
    assert "oolong" in shown(nora) and "sencha" in shown(nora)
    maintain(nora, JULY, None)
    assert (
        "oolong" not in shown(nora) and shown(nora).count("- Nora drinks sencha") == 1
    )


def test_a_line_follows_a_fact_that_a_person_edits_or_ends(nora: Folder) -> None:
    Path(nora.root, TEA).write_text("Nora drinks oolong, cold.\n")
    list(consolidate.run(nora, JUNE, None))
    assert f"- Nora drinks oolong, cold. {MARK}" in shown(nora)
    Path(nora.root, TEA).write_text(
        "---\nvalid_until: 2026-06-03\n---\nNora drinks oolong, cold.\n"
    )
    maintain(nora, JULY, None)  # without a model
    assert shown(nora).rstrip() == f"{HEAD}# Nora", (
        "a section that holds nothing any more goes"
    )


def test_a_plan_s_line_goes_when_its_day_is_over_and_that_of_what_has_happened_stays(
    nora: Folder,
) -> None:
    work = {"kind": "event", "section": "work"}
    exam = {"day": "2026-06-20", **work}
    tell(nora, JUNE, "exam on the 20th", "Nora's exam is on 20 June 2026.", **exam)
    noon = JUNE.replace(hour=12)
    for when, said in (("2026-06-01", "lost my aunt"), ("2026-04", "broke a wrist")):
        tell(nora, noon, said, f"Nora {said}.", day=when, **work)
    tell(nora, JUNE, "guests", "Nora has guests.", valid_until="2026-07-01", **exam)
    list(consolidate.run(nora, JUNE.replace(day=20), None))
    assert "exam" in shown(nora) and "aunt" in shown(nora)
    fair = note(
        "Nora's fair is on 21 June 2026.", "a fair", **{**exam, "day": "2026-06-21"}
    )
    talk(nora, JUNE, "a fair")  # read when it is over
    remembered(nora, JULY, Reader(fair))
    assert "guests" in shown(nora), "they stay till the end"
    assert "aunt" in shown(nora) and "wrist" in shown(nora)
    assert "exam" not in shown(nora) and "fair" not in shown(nora)


def test_sections_stand_in_order_and_in_the_language_of_their_first_line(
    user: Folder,
) -> None:
    tell(user, MAY, "绿茶", "诺拉爱喝绿茶。", section="likes")
    tell(user, MAY.replace(hour=11), "in Ghent", "Nora lives in Ghent.", section="home")
    assert re.findall("^## .*", shown(user), re.M) == ["## Home", "## 喜好"]


@given(
    st.lists(
        st.sampled_from(
            [
                "",
                "# Nora",
                "## Likes",
                "- mine",
                "  - deep",
                "text",
                "<!-- x -->",
                "## Work",
                "\t",
            ]
        )
    )
)
def test_what_is_a_person_s_stays_to_the_byte(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    """Whatever stands in the profile, a line of the program's comes and goes, and every other line is there in its order."""
    user = StoreFolder(tmp_path_factory.mktemp("own")).folder("nora")
    user.make()
    Path(user.root, "profile.md").write_bytes("\r\n".join(lines).encode())
    tell(user, MAY, "oolong", "Nora drinks oolong.", section="likes")
    rest = iter(line.rstrip("\r") for line in shown(user).split("\n"))
    assert all(line in rest for line in lines if line.strip() and line != "## Likes"), (
        shown(user)
    )
