"""The machine touches only its own lines: what it appends or sets is there, and every other byte is as it was."""

import re
from typing import Any

import pytest
import yaml
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from filemem.store import files, frontmatter
from filemem.store.facts import set_front
from filemem.store.memory import parse
from filemem.store.passages import format_turn, turns


def spelt_out(text: str) -> str:
    return re.sub(
        "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]",
        lambda code: f"\\x{ord(code[0]):02x}",
        text,
    )


# -- turns -----------------------------------------------------------------------------------------------------------


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
    """For any text, its outer white space aside; a control, which could command the terminal that prints it, is spelt out."""
    written = "".join(format_turn(speaker, time, text) for text in texts)
    found = list(turns(parse("sessions/a.md", written.encode()).lines))
    expected = [
        spelt_out(text).replace("\r\n", "\n").replace("\r", "\n").strip()
        for text in texts
    ]
    assert [turn.text for turn in found] == expected
    assert {turn.time for turn in found} == {time}
    (name,) = {turn.speaker for turn in found}
    assert name == (" ".join(spelt_out(speaker).replace("*", " ").split()) or "unknown")
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


# -- front matter ---------------------------------------------------------------------------------------------------

KEYS = ["importance", "pinned", "tags", "note"]
INDENT = st.sampled_from(["  ", "    "])
WORD = st.text("abcé茶🍵 #:'\"-", min_size=1, max_size=12)


@st.composite
def values(draw: st.DrawFn) -> str:
    """A value as a person may write it behind `key:`, with whatever comment or blank lines follow."""
    inner = draw(INDENT)
    quote = draw(WORD)
    kinds = [
        f" {draw(st.sampled_from(['5', 'true', 'plain words', '2026-11-20', '.nan', '~', '[a, b]', '{a: 1}', '!!str 7']))}",
        "",
        " "
        + yaml.safe_dump(
            quote, default_style='"', allow_unicode=True, width=1000
        ).rstrip("\n"),
        " '" + quote.replace("'", "''") + "'",
        f' "two\n{inner}lines"',
        f" plain\n{inner}and more",
        f" [a,\n{inner}b]",
        f" |\n{inner}key: 5\n\n{inner}---\n{inner}# no comment\n{inner}importance: 9",
        f" >-\n{inner}folded\n{inner}importance: 9\n",
        f" |+\n{inner}kept\n\n",
        "\n- a\n- importance: 9",
        f"\n{inner}- a\n\n{inner}# between\n{inner}- b",
        f"\n{inner}importance: 9\n{inner}b: [1]",
        "\n# above\n- a",
    ]
    value = draw(st.sampled_from(kinds))
    if "\n" not in value:
        value += draw(st.sampled_from(["", "   # why", " # key: 5"]))
    return (
        value
        + draw(st.sampled_from(["", "\n# a comment", "\n\n", "\n \n# importance: 9\n"]))
        + "\n"
    )


@st.composite
def mappings(draw: st.DrawFn) -> str:
    names = [*KEYS, '"importance"', "other", "importance_of", "x importance"]
    keys = draw(st.lists(st.sampled_from(names), unique=True))
    gap = draw(st.sampled_from(["", "# first\n", "\n"]))
    return gap + "".join(
        f"{key}{draw(st.sampled_from(['', ' ']))}:{draw(values())}" for key in keys
    )


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Equal, with not-a-number equal to itself."""
    return repr(sorted(one.items())) == repr(sorted(other.items()))


@settings(deadline=None, max_examples=200)
@given(
    mappings(),
    st.sampled_from(KEYS),
    st.sampled_from([("7", 7), ("[a, b]", ["a", "b"]), ('"a # b: c"', "a # b: c")]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\ufeff"]),
    st.sampled_from(
        ["\nBody\n\n---\nimportance: 3\n---", "", "\nno last newline", "\n---\n"]
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
    whole: bool,
) -> None:
    """For generated front matter and YAML memories: the new value counts, every other key is equal, and the bytes that
    differ are one slice, which holds nothing but the old value.
    """
    loaded = frontmatter.load(source)
    assume(not loaded.fault)
    before_front = loaded.values
    text = (source if whole else f"---\n{source}---\n{body}").replace("\n", newline)
    data = (mark + text).encode()
    path = "facts/a.yaml" if whole else "facts/a.md"
    try:
        after = set_front(path, data, key, value[0])
    except ValueError as error:  # a person's own, which stays
        assert str(error) == f"{key} stands on several lines"
        return
    memory = parse(path, after)
    assert same(
        frontmatter.load(
            "\n".join(
                [
                    *(
                        memory.lines
                        if whole
                        else memory.lines[1 : memory.front_end - 1]
                    ),
                    "",
                ]
            )
        ).values,
        {**before_front, key: value[1]},
    )
    for kept in [
        line
        for line in data.split(b"\n")
        if b"comment" in line or b"# first" in line or b"Body" in line
    ]:
        assert after.count(kept) == data.count(kept) or b"no comment" in kept
    start, tail = (
        next(
            (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
            min(len(one), len(other)),
        )
        for one, other in ((data, after), (data[::-1], after[::-1]))
    )
    taken = data[start : len(data) - tail].decode(errors="ignore")
    others = [other for other in before_front if other != key and other in KEYS]
    assert not any(f"\n{other}:" in taken for other in others)
    assert set_front(path, after, key, value[0]) == after


def important(data: bytes) -> bytes:
    return set_front("facts/a.md", data, "importance", "7")


@pytest.mark.parametrize(
    "data",
    [
        b"---\nnever closed\n",
        b"---\na: [1\n---\n",
        b"---\n- a list\n---\n",
        b"---\n{a: 1}\n---\n",
        b"---\na: &x 1\nb: *x\n---\n",
        b"---\nimportance: |\n  text\n# comment\n---\n",
        b"---\nimportance:\n# above\n- a\n---\n",
        "---\na: 1\n---\n".encode("utf-16"),
        "---\nwho: café, café\n---\n".encode("latin-1"),
        "---\nwho: 她最喜欢的茶是铁观音\n---\n".encode("gb18030"),
        "---\na: 茶茶\n---\n".encode() + b"\xff",
    ],
)
def test_what_cannot_be_edited_safely_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        set_front("facts/a.md", data, "importance", "7")
