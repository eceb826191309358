"""Every odd file has a defined answer: its text stays searchable, its mistakes are
problems with line and remedy."""

import datetime as dt

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from filemem.store import facts
from filemem.store.frontmatter import quoted
from filemem.store.memory import Memory, parse
from filemem.store.passages import MAX_UNCUT_CHARS, MAX_WINDOW_CHARS, Passage, windows
from filemem.store.paths import FileDate, slug, when_of
from filemem.store.problems import problems_of

DAY = dt.date(2026, 11, 20)


def memory(text: str | bytes, path: str = "facts/2026/2026-11-20-tea.md") -> Memory:
    return parse(
        path,
        text.encode() if isinstance(text, str) else text,
    )


def problems(found: Memory) -> list[tuple[int, str]]:
    return [(problem.line, problem.what) for problem in problems_of(found)]


def places(found: Memory) -> list[tuple[int, int, str]]:
    return [
        (
            one.line,
            one.end_line,
            one.text,
        )
        for one in found.passages
    ]


def words(found: Memory) -> str:
    return "\n".join(passage.text for passage in found.passages)


# -- bytes ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    (
        "text",
        "encoding",
    ),
    [
        (
            "Café 茶\n",
            "utf-8",
        ),
        (
            "Ella bebe café en Málaga.\n",
            "latin-1",
        ),
        # 學, 會 and 說 end with a letter's byte
        (
            "我學會說臺灣國語，歡迎來到圖書館。\n",
            "gb18030",
        ),
        (
            "Oolong, 乌龙\n",
            "utf-16",
        ),
    ],
)
def test_every_encoding_is_read_and_what_is_no_utf8_is_reported(
    text: str, encoding: str
) -> None:
    found = memory(text.encode(encoding))
    is_utf8 = encoding.startswith("utf-8")
    assert problems(found) == (
        [] if is_utf8 else [(1, f"not UTF-8, read as {encoding}")]
    )
    assert places(found) == [(1, 1, text.rstrip("\n"))]


@settings(deadline=None)
@given(st.binary())
@example(b"\xff\xfe\x00\xd8")
@example(b"---\n\xff: [\n---\n")
def test_no_bytes_raise(data: bytes) -> None:
    for path in (
        "facts/a.md",
        "sessions/2026-13-45-a.md",
        "facts/b.yaml",
        "archive/x",
    ):
        found = memory(data, path)
        count = len(found.lines)
        for passage in found.passages:
            assert 1 <= passage.line <= passage.end_line <= count
        for problem in problems_of(found):
            assert 1 <= problem.line <= max(1, count)


@pytest.mark.parametrize(
    "data",
    ["", "\n", " \n\t\n\n", "\r\n", "\ufeff"],
)
def test_an_empty_file_holds_nothing_and_is_no_problem(data: str) -> None:
    for path in (
        "facts/a.md",
        "sessions/a.md",
        "facts/a.yaml",
    ):
        assert memory(data, path).passages == []
        assert problems_of(memory(data, path)) == []


def test_line_ends_do_not_change_what_is_read() -> None:
    unix = "---\nimportance: 7\n---\n\n# Tea\n\nOolong.\n- green\n- black"
    found = memory(unix, "notes.md")
    windows = unix.replace("\n", "\r\n")
    for other in (
        unix + "\n",
        "\ufeff" + unix,
        windows,
        windows + "\r\n",
    ):
        again = memory(other, "notes.md")
        assert (again.lines, again.front) == (found.lines, {"importance": 7})
        assert again.passages == found.passages


# -- YAML -----------------------------------------------------------------------------

BROKEN = {
    "c: 0\na: [1, 2\nb: 3\nd: 4": (3, "did not find expected ',' or ']'"),
    "a: 1\nb: \x1b[31m": (3, "control characters are not allowed"),
    "a: 'b\nc: 0\nd: 1": (2, "unexpected end of stream"),
    "a: 1\nb: 'c' d\ne: 3": (3, "did not find expected key"),
    "- a\n- b": (2, "no mapping of keys to values"),
    "a: &x [1]\nb: *x": (2, "uses anchors and aliases"),
    "a: " + "[" * 100_000: (2, "nest"),  # newer parsers have a limit of their own
    "\n".join(" " * n + "a:" for n in range(100)): (2, "nested too deeply"),
    "tags: !shell {rm: x}": (2, "could not determine a constructor"),
}


@pytest.mark.parametrize(
    "source",
    BROKEN,
    ids=range(len(BROKEN)),
)
def test_broken_front_matter_is_reported_at_its_line_and_stays_searchable(
    source: str,
) -> None:
    line, what = BROKEN[source]
    found = memory(f"---\n{source}\n---\n\nOolong.\n")
    ((at, said),) = problems(found)
    assert what in said and (at, found.front) == (line, {})
    assert "Oolong." in words(found) and source.split("\n")[0].strip() in words(found)
    whole_file = memory(source, "facts/tea.yaml")
    ((at, said),) = problems(whole_file)
    assert what in said and at == line - 1
    assert source.strip().split("\n")[-1].strip() in words(whole_file)


@pytest.mark.parametrize(
    (
        "line",
        "remedy",
    ),
    [
        (
            "importance: 11",
            "whole number from 1 to 10",
        ),
        (
            "confidence: .nan",
            "number from 0 to 1",
        ),
        (
            "pinned: 'yes'",
            "true or false",
        ),
        (
            "aliases: {a: b}",
            "list",
        ),
        (
            "valid_from: 2026-13-45",
            "a date",
        ),
        (
            "source: 5",
            "path:line",
        ),
        (
            "assistant: !!binary dGVh",
            "speaker",
        ),
    ],
)
def test_known_keys_are_checked_where_they_stand(line: str, remedy: str) -> None:
    """A value that is none costs no other key."""
    found = memory(f"---\ntags: [a]\n{line}\n---\nx\n")
    (problem,) = problems_of(found)
    assert problem.line == 3 and remedy in problem.remedy
    assert found.metadata == {"tags": ["a"]}
    assert line.partition(":")[0] in found.front


def test_the_keys_of_front_matter_are_passages_unless_they_describe_or_name() -> None:
    found = memory(
        "---\nimportance: 5\npeople:\n  - {name: Ines, city: Bergen}\nat: 07:30\n"
        "empty:\ntags: [sea]\ncreated: 2026-11-20 09:30\n---\nMoves in May.\n"
    )
    people = "people:\n  - {name: Ines, city: Bergen}"
    assert found.passages == [
        Passage(3, 4, "", "", people, "tea sea"),
        Passage(5, 5, "", "", "at: 07:30", "tea"),
        Passage(10, 10, "", "", "Moves in May."),
    ]
    alone = memory("---\ntags: [tea]\n---\n")
    assert places(alone) == [(1, 3, "---\ntags: [tea]\n---")]


def test_the_values_of_a_yaml_memory_are_its_passages() -> None:
    text = "date: 2026-11-20\ntext: |\n  Oolong.\n\n  Always.\n\nhow:\n- hot\nempty:\n"
    found = places(memory(text, "facts/2026-11-20-tea.yaml"))
    assert found == [
        (
            2,
            5,
            "Oolong.\n\nAlways.",
        ),
        (7, 8, "how:\n- hot"),
    ]
    for text in (
        " text: indented",
        "{text: flow}",
        "# a comment alone",
        "- a\n- b",
    ):
        assert words(
            memory(
                text,
                "facts/tea.yaml",
            )
        ).endswith(text.lstrip("{ "))


# -- dates and kinds ------------------------------------------------------------------


@pytest.mark.parametrize(
    (
        "path",
        "when",
    ),
    [
        (
            "facts/2026/2026-11-20-tea.md",
            FileDate(DAY, False, ""),
        ),
        (
            "sessions/2026-11-20-0930-tea.md",
            FileDate(DAY, False, "09:30"),
        ),
        (
            "notes/2026/11/20.md",
            FileDate(DAY, False, ""),
        ),
        (
            "notes/20261120/tea.md",
            FileDate(DAY, False, ""),
        ),
        (
            "notes/2026年11月20日.md",
            FileDate(DAY, False, ""),
        ),
        (
            "facts/2026-02-30-tea.md",
            None,
        ),
    ],
)
def test_the_date_is_that_of_the_path_else_of_the_front_matter(
    path: str, when: FileDate | None
) -> None:
    assert when_of(path) == when
    for key in ("date: 2001-02-03T04:05:06", "date:\ncreated: '2001-02-03'"):
        found = memory(f"---\n{key}\n---\nx\n", path).when
        assert found == (
            when
            or FileDate(
                dt.date(2001, 2, 3),
                False,
                "",
            )
        ), key


def test_a_date_that_disagrees_with_the_name_is_a_problem() -> None:
    text = "---\ntags: [a]\ndate: 2026-11-21\n---\nx\n"
    told = "date is 2026-11-21, but the file's name says"
    assert problems(memory(text)) == [(3, f"{told} 2026-11-20")]
    assert problems(
        memory(
            text,
            "summaries/2026-10.md",
        )
    ) == [(3, f"{told} 2026-10")]
    assert problems(memory(text, "summaries/2026-11.md")) == []


# -- passages -------------------------------------------------------------------------


def test_turns_are_the_passages_of_a_session() -> None:
    text = (
        "---\ndate: 2026-11-20\n---\n\n# Kyoto\n\n- **Ann** 09:30: Shall we?\n"
        "  We could.\n\n  In May.\n\n- **Bo**: Yes.\n- not a turn\n## Later\n"
        "- **Ann** 9:41:\n  Good.\nNB: booked.\nTwice.\n\n- by train\n"
    )
    assert memory(
        text,
        "sessions/2026-11-20-0930-kyoto.md",
    ).passages == [
        Passage(
            7,
            10,
            "Ann",
            "09:30",
            "Shall we?\nWe could.\n\nIn May.",
            "Kyoto",
        ),
        Passage(12, 12, "Bo", "", "Yes.", ""),
        Passage(
            15,
            16,
            "Ann",
            "9:41",
            "\nGood.",
            "- not a turn Later",
        ),
        Passage(17, 18, "", "", "NB: booked.\nTwice.", ""),
        Passage(20, 20, "", "", "- by train", ""),
    ]


def test_paragraphs_items_and_headings_are_the_passages_of_notes() -> None:
    text = (
        "Intro\nmore\n\n# Tea\n\n- oolong\n  from Fujian\n- sencha\n1. one\n\n"
        "## Empty\n## Last\nword\n"
    )
    assert memory(text, "notes.md").passages == [
        Passage(1, 2, "", "", "Intro\nmore", "notes"),
        Passage(
            6,
            7,
            "",
            "",
            "- oolong\n  from Fujian",
            "notes Tea",
        ),
        Passage(8, 8, "", "", "- sencha", "notes Tea"),
        Passage(9, 9, "", "", "1. one", "notes Tea"),
        Passage(11, 11, "", "", "Empty", "notes"),
        Passage(13, 13, "", "", "word", "notes Last"),
    ]


@given(st.text(st.sampled_from("ab 。.!?\n茶"), max_size=1500))
def test_the_windows_of_a_text_make_it_up_and_none_is_long(text: str) -> None:
    found = windows(text)
    assert "".join(text[one.start : one.end] for one in found) == text
    longest = MAX_UNCUT_CHARS if len(found) == 1 else MAX_WINDOW_CHARS
    assert all(one.end - one.start <= longest for one in found)


# -- names and quotes -----------------------------------------------------------------


@pytest.mark.parametrize(
    (
        "text",
        "name",
    ),
    [
        (
            "Prefers oolong tea.",
            "prefers-oolong-tea",
        ),
        (
            "外婆" * 100,
            "外婆" * 7,
        ),
        (
            "🍵 tea ☕\ufe0f",
            "tea",
        ),
        (
            "../../etc/passwd",
            "etc-passwd",
        ),
        (
            "word " * 100,
            "-".join(["word"] * 4),
        ),
    ],
)
def test_slugs_are_what_a_person_would_choose(text: str, name: str) -> None:
    assert slug(text) == name


@pytest.mark.parametrize(
    "start",
    ["Mara's ", "mara 的", "Mara: "],
)
def test_a_facts_name_leaves_out_whose_it_is(start: str) -> None:
    path = facts.name(
        "facts",
        f"{start}dog is Wangcai",
        DAY,
        "Mara",
    )
    assert path == "facts/2026/2026-11-20-dog-is-wangcai.md"


@settings(deadline=None)
@given(st.text())
@example("\x85\u2028\ufeff\x00\x1b\U0001f375\ufffd")
@example("null")
@example("2026-11-20")
@example("key: value # comment")
def test_quoting_round_trips_on_one_line(text: str) -> None:
    written = quoted(text)
    assert "\n" not in written
    assert yaml.safe_load(f"[{written}, {written}]") == [text, text]
    assert memory(f"---\ntitle: {written}\n---\n").front == {"title": text}
