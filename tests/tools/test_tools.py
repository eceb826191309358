"""The four tools are told to a model in full, answer every call in text, and never raise, hang or answer without bound.

A wrong call is answered by one sentence that says how to put it right. What an answer leaves out is one spelt-out call
away, and those calls walk through everything exactly once.
"""

import datetime as dt
import json
import re
import string
from pathlib import Path
from typing import Any

import pytest
from examples import rows
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import lay

from filemem import Toolbox, User
from filemem.store.users import StoreFolder

NOW = dt.datetime(2026, 11, 20, 9, 30, tzinfo=dt.UTC)
TALK = "sessions/2026/2026-03-14-0930-tea.md"
FACT = "facts/2026/2026-05-01-oolong.md"
OLD = "archive/facts/2025/2025-11-23-coffee.md"
FILES = {
    "profile.md": "# Ann\n\nEngineer.\n",
    TALK: "---\ndate: 2026-03-14T09:30:00\n---\n\n"
    "- **ann** 09:30: I gave up coffee yesterday.\n"
    "- **assistant** 09:30: What do you drink now?\n"
    "- **ann** 09:33: Oolong, from my uncle.\n  It lasts me until lunch.\n",
    FACT: "Likes oolong tea.\n",
    OLD: "Drinks four coffees a day, never oolong.\n",
    "facts/2026-06-01-奶奶.md": "奶奶最喜欢惠明茶。\n",
}
CALL = re.compile(r"(grep|search_files|open) (\{.*?\}) shows")


def write(root: Path, files: dict[str, str], user: str = "ann") -> None:
    lay(root / user, files)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path, FILES)
    write(tmp_path, {"facts/x.md": "bob's secret\n"}, user="bob")
    return tmp_path


@pytest.fixture
def tools(root: Path) -> Toolbox:
    return Toolbox(StoreFolder(root).folder("ann"), lambda: NOW)


def next_call(answer: str) -> tuple[str, dict[str, Any]] | None:
    """The call for the next page that an answer's last line spells out."""
    found = re.findall(CALL.pattern + " the next", answer.rsplit("\n", 1)[-1])
    return (found[0][0], json.loads(found[0][1])) if found else None


def numbered(answer: str) -> list[tuple[str, int]]:
    """Each matching or opened line of an answer with the path of its heading."""
    out, path = [], ""
    for line in answer.split("\n"):
        if hit := re.match(r" *(\d+)  ", line):
            out.append((path, int(hit[1])))
        elif heading := re.match(r"(\S+\.\w+)(  |$)", line):
            path = heading[1]
    return out


def test_the_arguments_are_those_of_the_design() -> None:
    told = {}
    for schema in Toolbox.schemas:
        function = schema["function"]
        told[function["name"]] = " ".join(function["parameters"]["properties"])
    assert told == {
        "grep": "pattern path speaker after before context order offset",
        "search_files": "query limit path speaker after before",
        "open": "path line lines",
        "close": "path",
    }


# -- wrong calls -------------------------------------------------------------------------------------------------

WRONG = r"""
grep  {}  grep {"pattern": "oolong"}
close  {}  close {"path": "profile.md"}
grep  {"pattern": [5]}  takes text
grep  {"pattern": "a", "context": 2.5}  is a whole number from 0 to 20
grep  {"pattern": "a", "order": "best"}  one of newest, oldest
grep  {"pattern": "a", "context": true}  is a whole number
grep  {"pattern": "a", "context": 21}  from 0 to 20
search_files  {"query": "a", "limit": 0}  from 1 to 200
open  {"path": "profile.md", "line": 1e300}  from 1 to
open  {"path": "profile.md", "line": 4}  from 1 to 3
grep  {"glob": "*"}  its arguments are pattern, path, speaker
run_shell  {"command": "ls"}  the tools are grep, search_files, open, close
grep  {  not valid JSON
grep  []  are no JSON object
grep  {"pattern": "("}  before a sign
grep  {"pattern": "oolong", "offset": 99}  offset from 0 to 2
grep  {"pattern": "tea", "path": "nowhere/**"}  no file matches nowhere/**
search_files  {"query": "tea", "after": "soon"}  give one such as
search_files  {"query": "tea", "speaker": "Zoe"}  the speakers are ann, assistant
open  {"path": "../bob/facts/x.md"}  a path inside ann's memories
open  {"path": "facts\\x.md"}  a path inside ann's memories
open  {"path": "\ud800"}  a path inside ann's memories
open  {"path": ".filemem/recalls.log"}  is not a path
open  {"path": "facts"}  name a file in it
open  {"path": "facts/2026/2026-05-01-olong.md"}  nearest: facts/2026/2026-05-01-oolong.md
close  {"path": "profile.md"}  no file is open
"""


@pytest.mark.parametrize(
    ("tool", "arguments", "remedy"),
    [
        *rows(WRONG),
        ("open", f'{{"path": "profile.md", "line": {"9" * 5000}}}', "not valid JSON"),
        ("grep", {"pattern": "a" * 20_000}, "at most 10,000"),
    ],
)
def test_a_wrong_call_gets_one_sentence_with_the_remedy(
    tools: Toolbox, tool: str, arguments: Any, remedy: str
) -> None:
    answer = tools.call(tool, arguments)
    assert answer.startswith("Error: ")
    assert "\n" not in answer
    assert len(answer) <= 1100
    assert remedy in answer
    answer.encode()  # holds no half of a character
    assert tools.open_files == {}


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    st.lists,
    max_leaves=3,
)
NAMES = st.sampled_from(["grep", "search_files", "open", "close"]) | st.text(max_size=5)
KEYS = st.sampled_from(
    "pattern query path line lines context offset limit after speaker".split()
)
PATHS = st.sampled_from(
    [*FILES, "", *"facts .. / * [ ** archive/** \ud800 profile.md:2".split()]
)


@settings(max_examples=150, deadline=None)
@given(
    NAMES,
    st.dictionaries(KEYS | st.text(max_size=3), PATHS | ANYTHING, max_size=4)
    | st.text(max_size=20),
)
def test_any_call_is_answered_in_text(
    tmp_path_factory: pytest.TempPathFactory, name: str, arguments: Any
) -> None:
    root = tmp_path_factory.getbasetemp() / "any"
    if not root.exists():
        write(root, FILES)
    answer = Toolbox(StoreFolder(root).folder("ann"), lambda: NOW).call(name, arguments)
    answer.encode()
    assert answer
    if answer.startswith("Error: "):
        assert "\n" not in answer


# -- grep --------------------------------------------------------------------------------------------------------


def test_grep_counts_what_it_looked_at_and_shows_newest_first_archived_last(
    tools: Toolbox,
) -> None:
    assert tools.call("grep", '{"pattern": "oolong"}') == (
        "3 lines in 3 of 5 files, 1 of them archived\n"
        f"{FACT}  Fri\n"
        "   1  Likes oolong tea.\n"
        f"{TALK}  Sat\n"
        "   7  - **ann** 09:33: Oolong, from my uncle.\n"
        f"{OLD}  Sun  archived\n"
        "   1  Drinks four coffees a day, never oolong."
    )
    archived = tools.call("grep", '{"pattern": "oolong", "path": "archive/**"}')
    assert archived.startswith("1 line in 1 of 1 file, 1 of them archived")


AS_SHOWN = r"""
Sam: I went              [2]
^Sam:                    [1, 2]
Sam 09:30: (Hi|Bye)      [1]
Sam 2026-07-02 00:10: I  [2]
Sam 00:10: I             [2]
^(Sam|Ann): .*!$         [1]
- \*\*Sam\*\* 09:30      [1]
小美: 你好                [3]
Sam: no                  []
"""


@pytest.mark.parametrize(("pattern", "lines"), rows(AS_SHOWN))
def test_grep_matches_a_turn_as_the_tools_show_it(
    root: Path, tools: Toolbox, pattern: str, lines: str
) -> None:
    said = (
        "- **Sam** 09:30: Hi!\n- **Sam** 2026-07-02 00:10: I went\n- **小美**: 你好\n"
    )
    path = "sessions/2026/2026-07-01-0930-x.md"
    write(root, {path: said})
    found = numbered(tools.call("grep", {"pattern": pattern, "path": path}))
    assert found == [(path, line) for line in json.loads(lines)]


def test_superseded_and_archived_are_two_words(root: Path, tools: Toolbox) -> None:
    """What something replaced says by what, in every tool, and is not called archived although it lies there."""
    was = "archive/facts/2025/2025-01-02-rum.md"
    write(root, {was: f"---\nsuperseded_by: {FACT}\n---\nLikes rum.\n"})
    for tool, asked in (
        ("grep", {"pattern": "likes rum"}),
        ("search_files", {"query": "rum"}),
        ("open", {"path": was}),
    ):
        heading = next(
            line for line in tools.call(tool, asked).split("\n") if line.startswith(was)
        )
        assert heading.startswith(f"{was}  Thu  superseded by {FACT}")
        assert "archived" not in heading


def test_grep_leaves_out_the_lines_of_front_matter_that_are_links(
    root: Path, tools: Toolbox
) -> None:
    """A remark beside one, and a source in words, are a person's."""
    links = 'sources:\n  - facts/2025-rum.md:3\nsupersedes: ["facts/2025-rum.md"]\n'
    own = "- facts/rum.md # rum!\nsource: Uncle Rum's letter\naliases: [rum]\n"
    write(root, {"facts/2026-rum.md": f"---\n{links}{own}---\n- facts/rum.md\n"})
    found = numbered(tools.call("grep", {"pattern": "rum"}))
    assert [line for _, line in found] == [5, 6, 7, 9]


def walk(tools: Toolbox, tool: str, arguments: dict[str, Any]) -> list[tuple[str, int]]:
    """Every line that a call and the calls that its answers spell out show."""
    seen: list[tuple[str, int]] = []
    call: tuple[str, dict[str, Any]] | None = (tool, arguments)
    while call:
        answer = tools.call(*call)
        assert not answer.startswith("Error: "), (call, answer)
        assert numbered(answer), (call, answer)
        seen += numbered(answer)
        call = next_call(answer)
    return seen


LINE = st.text(
    string.ascii_letters + ' 茶\x1b\u202e"\\', max_size=12
) | st.sampled_from(["tea " * 400, "茶" * 900])


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(LINE, min_size=1, max_size=60), min_size=1, max_size=4),
    st.sampled_from([0, 1, 3]),
    st.integers(1, 40) | st.none(),
    st.integers(1, 5),
)
def test_the_calls_that_grep_and_open_spell_out_walk_through_everything_exactly_once(
    tmp_path_factory: pytest.TempPathFactory,
    contents: list[list[str]],
    context: int,
    wanted: int | None,
    first: int,
) -> None:
    root = tmp_path_factory.mktemp("walk")
    write(
        root,
        {f"facts/{n}.md": "\n".join(lines) + "\n" for n, lines in enumerate(contents)},
    )
    tools = Toolbox(StoreFolder(root).folder("ann"), lambda: NOW)
    expected = [
        (f"facts/{n}.md", m)
        for n, lines in enumerate(contents)
        for m, _ in enumerate(lines, 1)
    ]
    assert (
        sorted(walk(tools, "grep", {"pattern": "^|茶", "context": context})) == expected
    )
    first = min(first, len(contents[0]))
    seen = walk(tools, "open", {"path": "facts/0.md", "line": first, "lines": wanted})
    assert seen == [
        one for one in expected if one[0] == "facts/0.md" and one[1] >= first
    ]


def test_an_answer_is_bounded_whatever_the_files_hold(
    root: Path, tools: Toolbox
) -> None:
    write(
        root,
        {
            "facts/wide.md": "zebra " * 200_000,
            "facts/tall.md": "zebra stripe\n" * 20_000,
        },
    )
    for tool, arguments in [
        ("grep", {"pattern": "zebra", "context": 20}),
        ("search_files", {"query": "zebra stripe"}),
        ("open", {"path": "facts/tall.md"}),
        ("open", {"path": "facts/wide.md"}),
    ]:
        answer = tools.call(tool, arguments)
        assert "zebra" in answer
        assert len(answer) < 40_000, (tool, arguments)


def test_open_shows_long_lines_whole_and_names_the_call_for_what_does_not_fit(
    root: Path, tools: Toolbox
) -> None:
    long = "word " * 1000 + "needle"
    write(root, {"facts/a.md": f"before\n{long}\nafter\n{'tea ' * 3000}leaf\n"})
    answer = tools.call("open", '{"path": "facts/a.md"}')
    assert long in answer and "clipped" not in answer
    assert next_call(answer) == ("open", {"path": "facts/a.md", "line": 4})
    answer = tools.call("open", '{"path": "facts/a.md", "line": 4}')
    assert "[clipped: 12,004 characters; " in answer and "leaf" not in answer
    assert "leaf" in tools.call(*CALL.findall(answer)[0])
    write(root, {"facts/a.md": "tea " * 6000})
    answer = tools.call("open", '{"path": "facts/a.md", "lines": 1}')
    assert "column 20,000 is the last shown; grep finds" in answer


def test_grep_never_clips_what_matches(root: Path, tools: Toolbox) -> None:
    """Matched as the file has it, as the tools show it, or by a day in brackets."""
    path = "sessions/2026/2026-08-05-0900-x.md"
    long = "one two " * 3000
    write(root, {path: f"- **Sam** 09:30: {long}okapi, yesterday, {long}\n"})
    for pattern in ("okapi", "o[k]api", "Sam: .*okapi", "2026-08-04", "4 August"):
        answer = tools.call("grep", {"pattern": pattern, "path": path})
        assert "okapi, yesterday [4 August 2026], one" in answer, pattern
        assert "\n   1  - **Sam** 09:30:" in answer
        assert len(answer) < 1500
        call = CALL.findall(answer)
        assert call == [("open", f'{{"path": "{path}", "line": 1, "lines": 1}}')]


@pytest.mark.parametrize("words", ["okapi", "okapi " * 60])
def test_grep_never_withholds_a_single_match(
    root: Path, tools: Toolbox, words: str
) -> None:
    """To show it costs no more than to tell of it, be it beyond the lines or the tokens
    of an answer."""
    path = "sessions/2026/2026-08-05-0900-x.md"
    asked = {"pattern": "okapi", "path": path}
    lines = [f"- **Sam** 09:30: {words}\n"] * 52
    write(root, {path: "".join(lines)})
    cut = tools.call("grep", asked)
    held = len(numbered(cut))
    assert next_call(cut) == ("grep", asked | {"offset": held})
    write(root, {path: "".join(lines[: held + 1])})
    whole = tools.call("grep", asked)
    assert len(numbered(whole)) == held + 1
    assert next_call(whole) is None


def test_grep_without_a_match_shows_no_line(tools: Toolbox) -> None:
    answer = tools.call("grep", '{"pattern": "xylophone"}')
    assert answer.split("\n") == [
        "0 lines in 0 of 5 files",
        "search_files finds what is said in other words.",
    ]


WHEN = """
{}                                                b:1 b:2 summary:1 a:1 note:1 old:1
{"order": "oldest"}                               a:1 summary:1 b:1 b:2 note:1 old:1
{"after": 20260805}                               b:2 summary:1
{"before": "2026-08-04"}                          b:1 summary:1 a:1 old:1
{"after": "2026-08-04", "before": "2026-08-04"}   b:1 summary:1
{"before": "2026-07"}                             a:1 old:1
"""


@pytest.mark.parametrize(("asked", "lines"), rows(WHEN))
def test_grep_takes_days_and_an_order(
    root: Path, tools: Toolbox, asked: str, lines: str
) -> None:
    """A turn past midnight is of its own day; what has no day is of none."""
    names = {
        "facts/2026/2026-07-01-a.md": "a",
        "summaries/2026/2026-08.md": "summary",
        "sessions/2026/2026-08-04-2350-b.md": "b",
        "notes/Emus.md": "note",
        "archive/facts/2025/2025-08-05-old.md": "old",
    }
    said = "- **Sam** 23:50: Emu.\n- **Sam** 2026-08-05 00:10: Emu!\n"
    write(
        root, {path: said if name == "b" else "emu\n" for path, name in names.items()}
    )
    found = numbered(tools.call("grep", {"pattern": "emu", **json.loads(asked)}))
    assert " ".join(f"{names[path]}:{line}" for path, line in found) == lines


@pytest.mark.parametrize("value", [2, 2.0, "2", " 2 ", "2.0"])
def test_a_whole_number_may_be_written_in_any_way(tools: Toolbox, value: Any) -> None:
    answer = tools.call("open", {"path": "profile.md", "line": value, "lines": value})
    assert numbered(answer) == [("profile.md", 2), ("profile.md", 3)]


# -- search_files ------------------------------------------------------------------------------------------------


# -- open and close ----------------------------------------------------------------------------------------------


def test_open_numbers_the_lines_as_an_editor_does(tools: Toolbox) -> None:
    assert (
        tools.call("open", '{"path": "profile.md"}')
        == "profile.md  3 lines\n   1  # Ann\n   2  \n   3  Engineer."
    )
    assert tools.call("open", '{"path": "./profile.md", "line": 3}').split("\n")[
        1:
    ] == ["   3  Engineer."]
    assert numbered(tools.call("open", {"path": f"{TALK}:7"}))[0] == (
        TALK,
        7,
    )  # a citation as it stands
    assert (
        tools.call("close", {"path": f"{TALK}:7"})
        == f"Closed {TALK}; open are profile.md."
    )


def test_a_path_that_moved_to_the_archive_opens_and_says_where_it_is(
    tools: Toolbox,
) -> None:
    was = OLD.removeprefix("archive/")
    answer = tools.call("open", {"path": was})
    assert answer.startswith(f"{OLD}  Sun  archived  moved from {was}  1 line\n")
    assert list(tools.open_files) == [OLD]
    for path in (was, OLD):
        tools.call("open", {"path": path})
        assert tools.call("close", {"path": path}).startswith(f"Closed {OLD}")


def test_open_files_stand_until_closed_and_the_least_recently_used_goes_first(
    root: Path, tools: Toolbox
) -> None:
    write(root, {f"facts/{n}.md": f"number {n}\n" for n in range(7)})
    for n in (0, 1, 2, 3, 4, 0):
        assert "Closed" not in tools.call("open", {"path": f"facts/{n}.md"})
    answer = tools.call("open", '{"path": "facts/5.md"}')
    assert answer.endswith("Closed facts/1.md: at most 5 files are open at once.")
    assert [*tools.pages()] == [f"facts/{n}.md" for n in (2, 3, 4, 0, 5)]
    assert "open are facts/2.md, facts/4.md" in tools.call(
        "close", '{"path": "facts/3.md"}'
    )
    assert tools.call("close", '{"path": "facts/3.md"}').startswith(
        "Error: facts/3.md is not open; open are facts/2.md"
    )


def test_an_open_is_noted_as_a_recall_and_a_search_is_not(
    root: Path, tools: Toolbox
) -> None:
    tools.call("search_files", '{"query": "oolong"}')
    tools.call("grep", '{"pattern": "oolong"}')
    log = root / "ann/.filemem/recalls.log"
    assert not log.exists()
    tools.call("open", {"path": FACT})
    entry = json.loads(log.read_text())
    assert entry == {"at": "2026-11-20T09:30", "how": "open", "path": FACT}


# -- the text ----------------------------------------------------------------------------------------------------


def test_open_and_grep_show_a_line_alike(root: Path, tools: Toolbox) -> None:
    write(
        root,
        {
            "facts/2026-07-01-mix.md": "tea \x1b[31m yesterday\n\ttea 昨天\ntea"
            + " x" * 150
            + "\n"
        },
    )
    for path in (TALK, FACT, "facts/2026-07-01-mix.md"):
        opened = tools.call("open", {"path": path}).split("\n")[1:]
        grepped = tools.call("grep", {"pattern": "^", "path": path}).split("\n")[2:]
        assert opened == grepped


def test_relative_dates_are_resolved_in_what_is_shown_and_never_in_the_file(
    root: Path, tools: Toolbox
) -> None:
    before = (root / "ann" / TALK).read_bytes()
    query = {"query": "When did I give up coffee?"}
    for tool, asked in (
        ("open", {"path": TALK}),
        ("grep", {"pattern": "gave up"}),
        ("search_files", query),
    ):
        assert "I gave up coffee yesterday [13 March 2026]." in tools.call(tool, asked)
    assert (root / "ann" / TALK).read_bytes() == before


def test_no_control_character_of_a_file_reaches_an_answer(
    root: Path, tools: Toolbox
) -> None:
    hostile = "tea \x1b]0;title\x07 \x9b31m \u202e backwards \r over\n"
    write(
        root,
        {
            "facts/hostile.md": hostile,
            "sessions/2026/2026-07-01-x.md": f"- **a\x1bnn**: {hostile}",
        },
    )
    for tool, arguments in [
        ("open", {"path": "facts/hostile.md"}),
        ("grep", {"pattern": "backwards"}),
        ("search_files", {"query": "tea backwards"}),
        ("grep", {"pattern": "\x9b31m \u202e"}),
    ]:
        answer = tools.call(tool, arguments)
        assert "backwards" in answer
        assert all(char.isprintable() or char in "\n\t" for char in answer)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_in_a_file_too_large_to_rank_every_line_is_found_and_opened_by_its_number(
    root: Path, end: str
) -> None:
    """Whatever its characters, which are of several bytes."""
    lines = [f"第{n}行 the tide table 乌龙茶{'。' * (n % 7)}" for n in range(330_000)]
    wanted = [0, *range(999, 329_000, 1777), 329_999]
    for number in wanted:
        lines[number] = f"a zeppelin 飞艇, {number}"
    lay(root / "ann/notes", {"tides.md": ""})
    (root / "ann/notes/tides.md").write_bytes(end.join(lines).encode())
    user = StoreFolder(root).folder("ann")
    found = [(match.line - 1, match.text) for match in User(user).grep("zeppelin")]
    assert found == [(number, lines[number]) for number in wanted]
    tools = Toolbox(user, lambda: NOW)
    for number in (1, 120_001, 330_000):
        asked = {"path": "notes/tides.md", "line": number, "lines": 1}
        shown = tools.call("open", asked).split("\n")
        assert shown[0].endswith("  330,000 lines")
        assert shown[1].endswith(f"{number}  {lines[number - 1]}")
    around = tools.call("grep", '{"pattern": "a zeppelin 飞艇, 2776", "context": 1}')
    shown = [line[6:] for line in around.split("\n")[2:]]
    assert shown == lines[2775:2778]


# -- grep: by whom, and of which day -----------------------------------------------------------------------------

FERRY = "sessions/2026/2026-08-03-0900-ferry.md"
TOLD = {
    FERRY: "- **Ann Vole** 09:00: My kayak is called Plover.\n  I paint it tomorrow, in ochre.\n"
    "- **assistant** 09:01: A kayak called Plover, how nice!\n",
    "facts/2026/2026-08-03-kayak.md": f"---\nsource: {FERRY}:1\n---\n\nAnn's kayak is called Plover.\n",
    "summaries/2026/2026-08.md": f"## 2026-08-03-0900-ferry\n\n- **Ann Vole**: My kayak is called Plover. ({FERRY}:1)\n",
}


def test_grep_finds_what_one_person_said_with_the_further_lines_of_it(
    root: Path, tools: Toolbox
) -> None:
    write(root, TOLD)
    said = {
        "vole": [(FERRY, 1), (FERRY, 2), ("summaries/2026/2026-08.md", 3)],
        "assistant": [(FERRY, 3)],
        "Zed": [],
    }
    for speaker, lines in said.items():
        asked = {"pattern": "plover|ochre", "speaker": speaker}
        assert numbered(tools.call("grep", asked)) == lines


def test_grep_finds_a_day_that_only_the_brackets_name(
    root: Path, tools: Toolbox
) -> None:
    """As ISO 8601 writes it and in words, in English and Chinese; of a turn of another day than its file's too."""
    late, chinese = (
        "sessions/2026/2026-08-04-2350-late.md",
        "sessions/2026/2026-08-05-0800-划船.md",
    )
    write(
        root,
        {
            **TOLD,
            late: "- **Ann Vole** 23:50: Hm.\n- **Ann Vole** 2026-08-05 00:10: We sailed yesterday.\n",
        },
    )
    write(root, {chinese: "- **安** 08:00: 昨天去划船了。\n"})
    for pattern in ("2026-08-04", "4 August 2026", r"\b4 August\b", "8月4日"):
        found = numbered(tools.call("grep", {"pattern": pattern}))
        assert found == [(chinese, 1), (late, 2), (FERRY, 2)], pattern
    assert numbered(tools.call("grep", '{"pattern": "2025-08-04"}')) == []


def test_an_agent_is_told_that_case_counts(tools: Toolbox) -> None:
    """One capital in an alternative makes it count for all of them."""
    strict = tools.call("grep", {"pattern": "COFFEE|oolong"})
    assert "Case counts" in strict and "gave up coffee" not in strict
    for pattern in ("coffee|oolong", "(?i)COFFEE|oolong"):
        loose = tools.call("grep", {"pattern": pattern})
        assert "Case counts" not in loose and "gave up coffee" in loose
