"""Every odd file has a defined answer: its text stays searchable, its mistakes are problems with line and remedy."""

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


def memory(text: str | bytes, path: str = "facts/2026/2026-11-20-tea.md") -> Memory:
    return parse(path, text.encode() if isinstance(text, str) else text)


def problems(found: Memory) -> list[tuple[int, str]]:
    assert all(
        problem.path == found.path and problem.remedy for problem in problems_of(found)
    )
    return [(problem.line, problem.what) for problem in problems_of(found)]


def places(found: Memory) -> list[tuple[int, int, str]]:
    return [
        (passage.line, passage.end_line, passage.text) for passage in found.passages
    ]


# -- bytes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        ("Caf\u00e9 \u8336\n".encode(), "Café 茶\n", None),
        (b"\xef\xbb\xbfOolong.\n", "Oolong.\n", None),
        (
            "Ella bebe café en Málaga.\n".encode("latin-1"),
            "Ella bebe café en Málaga.\n",
            "latin-1",
        ),
        (
            "她最喜欢的茶是铁观音。\n".encode("gb18030"),
            "她最喜欢的茶是铁观音。\n",
            "gb18030",
        ),
        # 學, 會 and 說 end with a letter's byte
        (
            "我學會說臺灣國語，歡迎來到圖書館。\n".encode("gb18030"),
            "我學會說臺灣國語，歡迎來到圖書館。\n",
            "gb18030",
        ),
        ("Oolong, 乌龙\n".encode("utf-16"), "Oolong, 乌龙\n", "utf-16"),
        (b"tea \xff\xfe tea\n", "tea ÿþ tea\n", "latin-1"),
    ],
)
def test_every_encoding_is_read_and_what_is_no_utf8_is_reported(
    data: bytes, text: str, encoding: str | None
) -> None:
    found = memory(data)
    assert found.text == text
    assert problems(found) == (
        [(1, f"not UTF-8, read as {encoding}")] if encoding else []
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
        "profile.md",
    ):
        found = memory(data, path)
        count = len(found.lines)
        for passage in found.passages:
            assert 1 <= passage.line <= passage.end_line <= count
        for problem in problems_of(found):
            assert 1 <= problem.line <= max(1, count)
        assert found.date is None or found.when


@pytest.mark.parametrize("data", ["", "\n", " \n\t\n\n", "\r\n", "\ufeff"])
def test_an_empty_file_holds_nothing_and_is_no_problem(data: str) -> None:
    for path in ("facts/a.md", "sessions/a.md", "facts/a.yaml"):
        assert memory(data, path).passages == []
        assert problems_of(memory(data, path)) == []


def test_line_ends_do_not_change_what_is_read() -> None:
    unix = "---\nimportance: 7\n---\n\n# Tea\n\nOolong.\n- green\n- black"
    found = memory(unix, "notes.md")
    assert (found.front, problems_of(found)) == ({"importance": 7}, [])
    for other in (
        unix + "\n",
        unix.replace("\n", "\r\n"),
        "\ufeff" + unix,
        unix.replace("\n", "\r\n") + "\r\n",
    ):
        again = memory(other, "notes.md")
        assert (again.lines, again.front, again.passages) == (
            found.lines,
            found.front,
            found.passages,
        )


# -- YAML ------------------------------------------------------------------------------------------------------------

BROKEN = {
    "a: [1, 2\nb: 3": (3, "did not find expected ',' or ']'"),
    "good: 1\nb:\tx\n\tc: d": (4, "tab character"),
    "a: 'x": (2, "unexpected end of stream"),
    "a: 1\n  b: 2": (3, "mapping values are not allowed"),
    "a: 1\nb: \x1b[31m": (3, "control characters are not allowed"),
    "- a\n- b": (2, "no mapping of keys to values"),
    "a: &x [1]\nb: *x": (2, "uses anchors and aliases"),
    "a0: &a0 [x, x]\n"
    + "\n".join(f"a{n}: &a{n} [{f'*a{n - 1}, ' * 9}]" for n in range(1, 30)): (
        2,
        "anchors",
    ),
    "a: " + "[" * 100_000: (2, "nest"),  # newer parsers have a limit of their own
    "\n".join(" " * n + "a:" for n in range(100)): (2, "nested too deeply"),
    "[1, 2]: 3": (2, "unhashable key"),
    "tags: !shell {rm: x}": (2, "could not determine a constructor"),
}


@pytest.mark.parametrize("source", BROKEN, ids=[str(n) for n in range(len(BROKEN))])
def test_broken_front_matter_is_reported_at_its_line_and_stays_searchable(
    source: str,
) -> None:
    line, what = BROKEN[source]
    found = memory(f"---\n{source}\n---\n\nOolong.\n")
    assert found.front == {}
    ((at, said),) = problems(found)
    assert what in said and at == line
    whole = "\n".join(passage.text for passage in found.passages)
    assert "Oolong." in whole and source.split("\n")[0].strip() in whole
    whole_file = memory(source, "facts/tea.yaml")
    ((at, said),) = problems(whole_file)
    assert what in said and at == line - 1
    assert source.strip().split("\n")[-1].strip() in "\n".join(
        passage.text for passage in whole_file.passages
    )


@pytest.mark.parametrize(
    ("source", "line", "what", "kept"),
    [
        (
            "pinned: true\nvalid_from: 2026-13-45",
            3,
            "2026-13-45 is no date",
            "2026-13-45",
        ),
        ("valid_from: !!timestamp soon\npinned: true", 2, "soon is no date", "soon"),
        ("valid_from: !!int x\npinned: true", 2, "x is no number", "x"),
    ],
)
def test_a_value_that_is_none_costs_no_other_key(
    source: str, line: int, what: str, kept: str
) -> None:
    found = memory(f"---\n{source}\n---\nOolong.\n")
    assert found.front == {"pinned": True, "valid_from": kept}
    assert (
        found.metadata.get("pinned") is True
        and found.metadata.get("valid_from") is None
    )
    assert sorted(problems(found)) == sorted(
        [(line, what), (line, f"valid_from is {kept!r}")]
    )


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("importance: 11", "whole number from 1 to 10"),
        ("importance: true", "whole number from 1 to 10"),
        ("confidence: .nan", "number from 0 to 1"),
        ("pinned: 'yes'", "true or false"),
        ("aliases: {a: b}", "list"),
        ("valid_from: soon", "a date"),
        ("valid_until: 5", "a date"),
        ("source: 5", "path:line"),
        ("superseded_by: [a, b]", "path"),
        ("assistant: !!binary dGVh", "speaker"),
    ],
)
def test_known_keys_are_checked_where_they_stand(line: str, remedy: str) -> None:
    found = memory(f"---\nunknown: anything\n{line}\n---\nx\n")
    (problem,) = problems_of(found)
    assert problem.line == 3 and remedy in problem.remedy
    key = line.partition(":")[0]
    assert found.metadata.get(key) is None
    assert key in found.front


def test_the_keys_of_front_matter_are_passages_but_those_that_describe_or_name_the_memory() -> (
    None
):
    found = memory(
        "---\nimportance: 5\npeople:\n  - {name: Ines, city: Bergen}\nat: 07:30\nempty:\ntags: [sea]\n"
        "created: 2026-11-20 09:30\n---\nMoves in May.\n"
    )
    assert found.passages == [
        Passage(3, 4, "", "", "people:\n  - {name: Ines, city: Bergen}", "tea sea"),
        Passage(5, 5, "", "", "at: 07:30", "tea"),
        Passage(10, 10, "", "", "Moves in May."),
    ]
    alone = memory("---\ntags: [tea]\n---\n")
    assert places(alone) == [(1, 3, "---\ntags: [tea]\n---")]


# -- dates and kinds -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "when"),
    [
        ("facts/2026/2026-11-20-tea.md", FileDate(dt.date(2026, 11, 20), False, "")),
        (
            "sessions/2026-11-20-0930-tea.md",
            FileDate(dt.date(2026, 11, 20), False, "09:30"),
        ),
        ("sessions/2026-11-20-2561-odd.md", FileDate(dt.date(2026, 11, 20), False, "")),
        ("summaries/2026/2026-10-autumn.md", FileDate(dt.date(2026, 10, 1), True, "")),
        ("facts/2026-02-30-tea.md", None),
        ("facts/tea-2026-11-20.md", None),
    ],
)
def test_the_date_is_that_of_the_file_name(path: str, when: FileDate | None) -> None:
    assert when_of(path) == when
    for key in ("date: 2001-02-03T04:05:06", "date:\ncreated: 2001-02-03 04:05"):
        found = memory(f"---\n{key}\n---\nx\n", path).when
        assert found == (when or FileDate(dt.date(2001, 2, 3), False, "")), key


@pytest.mark.parametrize(
    "day",
    ["2026-11-20", "'2026-11-20'", "2026-11-20T09:30", "2026-11-20 09:30:00 +0100"],
)
def test_a_date_may_stand_in_quotes_or_have_no_seconds(day: str) -> None:
    found = memory(f"---\ncreated: {day}\nvalid_until: {day}\n---\nx\n", "notes/tea.md")
    assert found.date == found.metadata.get("valid_until") == dt.date(
        2026, 11, 20
    ) and not problems_of(found)


def test_a_date_that_disagrees_with_the_name_is_a_problem() -> None:
    text = "---\ntags: [a]\ndate: 2026-11-21\n---\nx\n"
    assert problems(memory(text)) == [
        (3, "date is 2026-11-21, but the file's name says 2026-11-20")
    ]
    assert problems(memory(text, "summaries/2026-11.md")) == []
    [problem] = problems(memory(text, "summaries/2026-10.md"))
    assert problem == (3, "date is 2026-11-21, but the file's name says 2026-10")
    assert problems(memory("x\n", "facts/2026-02-30-x.md"))[0][0] == 1


# -- passages --------------------------------------------------------------------------------------------------------


def test_turns_are_the_passages_of_a_session() -> None:
    text = (
        "---\ndate: 2026-11-20\n---\n\n# Kyoto\n\n- **Ann** 09:30: Shall we?\n  We could.\n\n  In May.\n\n"
        "- **Bo**: Yes.\n- not a turn\n## Later\n- **Ann** 9:41:\n  Good.\nNB: booked.\nTwice.\n\n- by train\n"
    )
    assert memory(text, "sessions/2026-11-20-0930-kyoto.md").passages == [
        Passage(7, 10, "Ann", "09:30", "Shall we?\nWe could.\n\nIn May.", "Kyoto"),
        Passage(12, 12, "Bo", "", "Yes.", ""),
        Passage(15, 16, "Ann", "9:41", "\nGood.", "- not a turn Later"),
        Passage(17, 18, "", "", "NB: booked.\nTwice.", ""),
        Passage(20, 20, "", "", "- by train", ""),
    ]


def test_paragraphs_items_and_headings_are_the_passages_of_notes() -> None:
    text = "Intro\nmore\n\n# Tea\n\n- oolong\n  from Fujian\n- sencha\n1. one\n\n## Empty\n## Last\nword\n"
    assert memory(text, "notes.md").passages == [
        Passage(1, 2, "", "", "Intro\nmore", "notes"),
        Passage(6, 7, "", "", "- oolong\n  from Fujian", "notes Tea"),
        Passage(8, 8, "", "", "- sencha", "notes Tea"),
        Passage(9, 9, "", "", "1. one", "notes Tea"),
        Passage(11, 11, "", "", "Empty", "notes"),
        Passage(13, 13, "", "", "word", "notes Last"),
    ]


def test_the_values_of_a_yaml_memory_are_its_passages() -> None:
    text = "---\ndate: 2026-11-20\ntext: |\n  Oolong.\n\n  Always.\n\nhow:\n- tea\n- 'hot: drinks'\n# end\nempty:\n"
    found = places(memory(text, "facts/2026-11-20-tea.yaml"))
    assert found == [
        (3, 6, "Oolong.\n\nAlways."),
        (8, 11, "how:\n- tea\n- 'hot: drinks'\n# end"),
    ]
    for text in (
        " text: indented",
        "{text: flow}",
        "# a comment alone",
        "- a\n- b",
        "importance: 7",
    ):
        assert "".join(
            passage.text for passage in memory(text, "facts/tea.yaml").passages
        ).endswith(text.lstrip("{"))


@given(st.text(st.sampled_from("ab 。.!?\n茶"), max_size=1500))
def test_the_windows_of_a_text_make_it_up_and_none_is_long(text: str) -> None:
    found = windows(text)
    assert "".join(text[start:end] for start, end in found) == text
    assert all(end - start <= MAX_WINDOW_CHARS for start, end in found) or (
        len(found) == 1 and len(text) <= MAX_UNCUT_CHARS
    )


# -- names and quotes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Prefers oolong tea.", "prefers-oolong-tea"),
        ("她最喜欢的茶是铁观音。", "她最喜欢的茶是铁观音"),
        ("外婆" * 100, "外婆" * 7),
        ("Café au lait, cafe\u0301", "café-au-lait-café"),
        ("🍵 tea ☕\ufe0f", "tea"),
        ("?!… --- ...", ""),
        ("../../etc/passwd", "etc-passwd"),
        ("a\0b\nc\u202ed", "a-b-c-d"),
        ("word " * 100, "-".join(["word"] * 4)),
    ],
)
def test_slugs_are_what_a_person_would_choose(text: str, name: str) -> None:
    assert slug(text) == name


@pytest.mark.parametrize("start", ["Mara's ", "Mara的", "mara 的", "Mara: "])
def test_a_facts_name_leaves_out_whose_it_is(start: str) -> None:
    path = facts.name("facts", f"{start}dog is Wangcai", dt.date(2026, 11, 20), "Mara")
    assert path == "facts/2026/2026-11-20-dog-is-wangcai.md"


@settings(deadline=None)
@given(st.text())
@example("\x85\u2028\ufeff\x00\x1b\U0001f375")
@example("null")
@example("2026-11-20")
@example("key: value # comment")
def test_quoting_round_trips_on_one_line(text: str) -> None:
    written = quoted(text)
    assert "\n" not in written
    assert yaml.safe_load(written) == text
    assert yaml.safe_load(f"[{written}, {written}]") == [text, text]
    assert memory(f"---\ntitle: {written}\n---\n").front == {"title": text}
