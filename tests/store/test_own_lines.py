"""The machine touches only its own lines: what it appends or sets is there, and every
other byte is as it was."""

import os
import re
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from filemem.store import files, frontmatter
from filemem.store.facts import set_front
from filemem.store.memory import parse
from filemem.store.passages import format_turn, turns
from filemem.text.plain import printable

# -- turns ----------------------------------------------------------------------------


@settings(deadline=None)
@given(
    st.text(min_size=1),
    st.sampled_from(["", "9:05", "23:59"]),
    st.lists(st.text(), min_size=1, max_size=5),
)
@example(
    "A**B",
    "09:30",
    [
        "- **Eve** 10:00: not a turn",
        "  indented",
        "a\n \n\t\nb",
        "\x85\u2028\x0b",
        "---",
        "# h",
    ],
)
def test_turns_read_back_what_was_said(
    speaker: str, time: str, texts: list[str]
) -> None:
    """For any text, its outer white space aside; a control, which could command the
    terminal that prints it, is spelt out."""
    written = "".join(
        format_turn(
            speaker,
            time,
            text,
        )
        for text in texts
    )
    found = turns(parse("sessions/a.md", written.encode()).lines)
    shown = [
        printable(text).replace(
            "\r\n",
            "\n",
        )
        for text in texts
    ]
    assert [turn.text for turn in found] == [
        text.replace("\r", "\n").strip() for text in shown
    ]
    name = (
        " ".join(
            printable(speaker)
            .replace(
                "*",
                " ",
            )
            .split()
        )
        or "unknown"
    )
    assert {(turn.speaker, turn.time) for turn in found} == {(name, time)}
    assert not re.search("[\0-\x08\x0b-\x1f\x7f-\x9f]", written)
    lines = written.split("\n")
    assert all(lines[turn.line - 1].startswith(f"- **{name}**") for turn in found)


@settings(deadline=None, max_examples=40)
@given(st.binary(), st.lists(st.text(), min_size=1, max_size=3))
def test_appending_only_appends(
    tmp_path_factory: pytest.TempPathFactory, before: bytes, said: list[str]
) -> None:
    path = tmp_path_factory.mktemp("a") / "a.md"
    path.write_bytes(before)
    expected = before + (b"\n" if before and not before.endswith(b"\n") else b"")
    for text in said:
        turn = format_turn("Ann", "09:30", text).encode()
        files.append(str(path), turn)
        expected += turn
    assert path.read_bytes() == expected


# -- front matter ---------------------------------------------------------------------

KEYS = ["importance", "pinned", "tags", "note"]
INDENT = st.sampled_from(["  ", "    "])
WORD = st.text("abcé茶🍵 #:'\"-", min_size=1, max_size=12)


@st.composite
def values(draw: st.DrawFn) -> str:
    """A value as a person may write it behind `key:`, with whatever comment or blank lines follow."""
    inner = draw(INDENT)
    quote = draw(WORD)
    plain = [
        "5",
        "plain words",
        "2026-11-20",
        "~",
        "[a, b]",
        "{a: 1}",
        "!!str 7",
    ]
    kinds = [
        f" {draw(st.sampled_from(plain))}",
        "",
        " '" + quote.replace("'", "''") + "'",
        f' "two\n{inner}lines"',
        f" plain\n{inner}and more",
        f" [a,\n{inner}b]",
        f" |\n{inner}key: 5\n\n{inner}---\n{inner}importance: 9",
        f" |+\n{inner}kept\n\n",
        f"\n{inner}- a\n\n{inner}# between\n{inner}- b",
        f"\n{inner}importance: 9\n{inner}b: [1]",
        "\n# above\n- a",
    ]
    value = draw(st.sampled_from(kinds))
    if "\n" not in value:
        value += draw(
            st.sampled_from(
                [
                    "",
                    "   # why",
                    " # key: 5",
                ]
            )
        )
    return (
        value
        + draw(
            st.sampled_from(
                [
                    "",
                    "\n# a comment",
                    "\n\n",
                    "\n \n# importance: 9\n",
                ]
            )
        )
        + "\n"
    )


@st.composite
def mappings(draw: st.DrawFn) -> str:
    names = [
        *KEYS,
        '"importance"',
        "other",
        "importance_of",
        "x importance",
    ]
    keys = draw(st.lists(st.sampled_from(names), unique=True))
    gap = draw(st.sampled_from(["", "# first\n", "\n"]))
    return gap + "".join(
        f"{key}{draw(st.sampled_from(['', ' ']))}:{draw(values())}" for key in keys
    )


@settings(deadline=None, max_examples=200)
@given(
    mappings(),
    st.sampled_from(KEYS),
    st.sampled_from(
        [
            ("7", 7),
            ("[a, b]", ["a", "b"]),
            ('"a # b: c"', "a # b: c"),
        ]
    ),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\ufeff"]),
    st.sampled_from(
        [
            "\nBody\n\n---\nimportance: 3\n---",
            "",
            "\nno last newline",
        ]
    ),
    st.booleans(),
)
def test_setting_a_key_changes_nothing_else(
    source: str,
    key: str,
    value: tuple[str, Any],
    newline: str,
    mark: str,
    body: str,
    is_yaml: bool,
) -> None:
    """The new value counts, every other key is equal, and what of the file differs is
    one slice of one line."""
    before = frontmatter.load(source)
    assume(not before.fault)
    text = source if is_yaml else f"---\n{source}---\n{body}"
    data = (mark + text.replace("\n", newline)).encode()
    path = "facts/a.yaml" if is_yaml else "facts/a.md"
    try:
        after = set_front(path, data, key, value[0])
    except ValueError as error:  # a person's own, which stays
        assert str(error) == f"{key} stands on several lines"
        return
    found = parse(path, after).front_matter.values
    assert found == {**before.values, key: value[1]}
    start = len(os.path.commonprefix([data, after]))  # noqa: RUF071
    tail = len(os.path.commonprefix([data[::-1], after[::-1]]))  # noqa: RUF071
    assert b"\n" not in data[start : len(data) - tail].strip(b"\r\n")
    assert after.count(b"# why") == data.count(b"# why")
    assert set_front(path, after, key, value[0]) == after


@pytest.mark.parametrize(
    "data",
    [
        b"---\nnever closed\n",
        b"---\na: [1\n---\n",
        b"---\n{a: 1}\n---\n",
        b"---\na: &x 1\nb: *x\n---\n",
        b"---\nimportance: |\n  text\n# comment\n---\n",
        "---\nwho: 她最喜欢的茶是铁观音\n---\n".encode("gb18030"),
    ],
)
def test_what_cannot_be_edited_safely_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        set_front("facts/a.md", data, "importance", "7")
