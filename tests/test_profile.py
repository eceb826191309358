"""The machine adds, replaces and drops only its own lines of the profile, whatever else stands there; and keeps its budget."""

import os
from pathlib import Path

import pytest
from conversations import day, remembered, talk
from hypothesis import given
from hypothesis import strategies as st

from filemem import Store, User
from filemem.files.folder import Folder
from filemem.remembering import consolidation, stale_sources
from filemem.remembering.profile import HEADINGS, ProfileChange, line, marked, revised
from filemem.text import tokens
from filemem.text.statements import table

MAY, JUNE = day(5, 8), day(6, 2)
TEA = "facts/2026/2026-05-08-my-favourite-tea-is-oolong.md"
MARK = f"<!-- {TEA} -->"


def shown(user: Folder) -> str:
    return Path(user.root, "profile.md").read_bytes().decode()


def edit(user: Folder, before: str, after: str) -> None:
    place = Path(user.root, "profile.md")
    text = place.read_bytes().decode()
    assert before in text
    place.write_bytes(text.replace(before, after).encode())


def tell(user: Folder, at, text: str) -> list[str]:  # type: ignore[no-untyped-def]
    talk(user, at, text, "Fine.")
    return [one.action for one in remembered(user, at)]


def test_a_line_a_person_changed_is_theirs(user: Folder) -> None:
    """It is not replaced when the fact behind it is, only contradicted in the report."""
    tell(user, MAY, "My favourite tea is oolong.")
    edit(user, f'- "My favourite tea is oolong." {MARK}', f"- Nora drinks oolong, strong. {MARK}")
    before = shown(user)
    tell(user, JUNE, "My favourite tea is sencha now.")
    assert shown(user) == before


@pytest.mark.parametrize(
    "mine", ["Favourite tea: oolong", "My favourite tea is oolong.", "Nora's favourite tea is oolong."]
)
def test_a_persons_own_line_is_contradicted_in_the_report(user: Folder, mine: str) -> None:
    Path(user.root).mkdir(parents=True)
    Path(user.root, "profile.md").write_text(f"# Nora\n\n- {mine}\n")
    talk(user, JUNE, "My favourite tea is sencha now.", "Fine.")
    [done] = [done for _, done in consolidation.run(user, JUNE)]
    assert done.notes == [
        f"profile.md:3 is yours and says otherwise than facts/2026/2026-06-02-my-favourite-tea-is-sencha-now.md: {mine}"
    ]
    assert mine in shown(user)


def test_a_line_a_person_deleted_stays_deleted(user: Folder) -> None:
    tell(user, MAY, "My favourite tea is oolong.")
    edit(user, f'- "My favourite tea is oolong." {MARK}\n', "")
    assert tell(user, JUNE, "My favourite tea is oolong.") == ["UPDATE"]
    assert "oolong" not in shown(user)


def test_a_line_follows_what_a_person_did_to_the_memory_behind_it(user: Folder) -> None:
    """Changed, it says what the memory says now; deleted, it goes; and nothing else of the profile changes. Twice is once."""
    tell(user, MAY, "My favourite tea is oolong.")
    tell(user, MAY, "I live in Ghent.")
    edit(user, "# Nora\n", "# Nora\n\n- Whistles.\n")
    tea = Path(user.root, TEA)
    tea.write_text(tea.read_text().replace("oolong", "pu-erh"))
    os.utime(tea, (MAY.timestamp(), MAY.timestamp()))
    Path(user.root, "facts/2026/2026-05-08-i-live-in-ghent.md").unlink()
    [problem] = stale_sources.problems(user)
    assert problem.line == 7 and "which is gone" in problem.what
    [(_, done)] = consolidation.run(user, JUNE)
    assert done.paths == ["profile.md"] and len(done.notes) == 2
    assert shown(user) == f'# Nora\n\n- Whistles.\n\n## Home\n\n\n## Likes\n\n- "My favourite tea is pu-erh." {MARK}\n'
    assert not list(stale_sources.problems(user)) and not list(consolidation.run(user, JUNE))
    assert tell(user, JUNE, "My favourite tea is sencha now.") == ["SUPERSEDE"]
    assert "pu-erh" not in shown(user) and "sencha" in shown(user)


def test_a_persons_own_line_that_names_what_holds_no_more_is_reported(user: Folder) -> None:
    tell(user, MAY, "I live in Ghent.")
    edit(user, "# Nora\n", "# Nora\n\n- A nurse at the harbour hospital of Ghent, with Tom.\n")
    talk(user, JUNE, "I moved to Bruges.", "Fine.")
    [(_, done)] = consolidation.run(user, JUNE)
    assert done.notes == [
        "profile.md:3 is yours and still names Ghent; see facts/2026/2026-06-02-i-moved-to-bruges.md: "
        "A nurse at the harbour hospital of Ghent, with Tom."
    ]


def test_line_ends_headings_and_everything_of_a_persons_stay(user: Folder) -> None:
    Path(user.root).mkdir(parents=True)
    mine = "# Nora\r\n\r\nA note.\r\n\r\n## Likes and dislikes\r\n\r\n* rain\r\n\r\n## Zebra\r\n\r\nNo end"
    Path(user.root, "profile.md").write_bytes(mine.encode())
    tell(user, MAY, "My favourite tea is oolong.")
    assert shown(user) == mine.replace("* rain\r\n", f'* rain\r\n- "My favourite tea is oolong." {MARK}\r\n')


def test_the_profile_keeps_its_budget_and_drops_the_machines_least_lines_first(user: Folder, tmp_path: Path) -> None:
    (tmp_path / "filemem.yaml").write_text("profile_tokens: 120\n")
    user = Store(tmp_path).user("nora").folder
    for number, thing in enumerate(["rain", "jazz", "chess", "maps", "bread", "clocks"]):
        tell(user, day(5, number + 1), f"I love {thing}.")
    tell(user, JUNE, "I'm allergic to walnuts.")
    assert tokens.count(shown(user)) <= 120
    assert "walnuts" in shown(user), "health stays longest"


# -- laws ----------------------------------------------------------------------------------------------------------

PATHS = st.integers(1, 5).map(lambda n: f"facts/2026/2026-05-0{n}-a.md")
WORDS = st.sampled_from(["Nora likes tea.", "Nora住在根特。", "Nora has a cat", "x" * 300, "a\tb", "—"])
CHANGES = st.lists(
    st.builds(
        lambda path, heading, text, old: ProfileChange(
            path, heading, line(text, path, quoted=False), tuple(o for o in old if o != path)
        ),
        PATHS, st.sampled_from(["", *HEADINGS]), WORDS, st.lists(PATHS, max_size=2),
    ),
    max_size=5, unique_by=lambda change: change.path,
)  # fmt: skip
LINES = st.one_of(
    st.sampled_from(["", "# Nora", "## Likes", "## 健康", "### Home", "- rain", "  - deeper", "text", "<!-- note -->"]),
    st.builds(lambda text, path: f"- {text} <!-- {path} -->", WORDS, PATHS),
    st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=20),
)
TEXTS = st.builds(lambda lines, end: end.join(lines), st.lists(LINES, max_size=12), st.sampled_from(["\n", "\r\n"]))


@given(TEXTS, CHANGES, st.integers(0, 400))
def test_no_line_of_a_persons_is_ever_touched(text: str, changes: list[ProfileChange], budget: int) -> None:
    """Where the program owns none of the lines that were there, every one of them is there still, in order."""
    own = {(change.path, change.line) for change in changes}
    found = revised(text, changes, lambda path, said: (path, said) in own, budget)[0]
    kept = iter(found.split("\n"))
    for before in text.split("\n"):
        if before.strip() and (profile_line := marked(before)) and (profile_line[0][1], profile_line[0][2]) in own:
            continue
        if before.strip():
            assert any(after.rstrip("\r") == before.rstrip("\r") for after in kept), before


@given(TEXTS, CHANGES)
def test_done_twice_it_is_done_once(text: str, changes: list[ProfileChange]) -> None:
    def own(path: str, said: str) -> bool:
        return True

    once = revised(text, changes, own, 10_000)[0]
    assert revised(once, changes, own, 10_000)[0] == once


@given(TEXTS, CHANGES, st.integers(0, 400))
def test_what_is_over_the_budget_is_only_a_persons(text: str, changes: list[ProfileChange], budget: int) -> None:
    found = revised(text, changes, lambda path, said: True, budget)[0]
    assert tokens.count(found) <= budget or not marked(found)


def test_every_section_that_statements_name_has_its_heading() -> None:
    named = {kind.heading for kind in table.kinds().values()} - {""}
    assert named == set(HEADINGS)


@pytest.mark.parametrize(
    ("said", "heading"),
    [
        ("My birthday is on 14 May.", "Who this is"),
        ("I'm allergic to walnuts.", "Health"),
        ("I live in Ghent.", "Home"),
        ("I work as a midwife.", "Work"),
        ("My sister lives in Antwerp.", "Family"),
        ("My mum is allergic to cats.", "Family"),
        ("I love jazz.", "Likes"),
        ("我对花生过敏。", "健康"),
        ("我妈有高血压。", "家人"),
    ],
)
def test_what_is_told_in_a_chat_or_to_remember_goes_under_the_same_heading(
    tmp_path: Path, said: str, heading: str
) -> None:
    """With the same importance, but that what is told to remember has at least that of what one asks to be remembered."""
    chat, told = Store(tmp_path / "a").user("nora").folder, Store(tmp_path / "b").user("nora").folder
    for user in (chat, told):
        user.create("profile.md", "# Nora\n")
    tell(chat, MAY, said)
    fact = User(told).remember(said, today=MAY.date())
    assert shown(chat) == shown(told)
    assert f"## {heading}\n" in shown(chat)
    [same] = [chat.memory(path) for path in chat.paths() if path.startswith("facts/")]
    assert fact.front["importance"] == max(same.front["importance"], 8)


def test_what_is_told_of_somebody_else_is_in_no_section(user: Folder) -> None:
    user.create("profile.md", "# Nora\n")
    tell(user, MAY, "Alice moved to Hamburg.")
    assert User(user).remember("Alice moved to Hamburg.", today=JUNE.date()).path.startswith("facts/")
    assert shown(user) == "# Nora\n"
