"""Breaking lines changes nothing but blanks and line ends: every word stays whole, no line is wider than it must be, and a
text gives the same lines whether it comes at once or in pieces. Code stays as it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filemem.cli.screen import LEAST, Wrapper, columns, wrapped

WORD = st.text("abcdefg", min_size=1, max_size=12) | st.text("外婆最喜欢茶，。（）", min_size=1, max_size=8)
TEXT = st.lists(
    st.sampled_from([" ", "  ", "\n", "\n\n", "- ", "  - ", "1. ", "e\u0301", "🍵"]) | WORD, max_size=40
).map("".join)
WIDTH = st.integers(LEAST, 60)


def bare(text: str) -> str:
    return "".join(text.split())


@given(TEXT, WIDTH)
def test_only_blanks_and_line_ends_change(text: str, width: int) -> None:
    assert bare(wrapped(text, width)) == bare(text)


@given(TEXT, WIDTH)
def test_no_line_is_wider_than_the_terminal_where_it_can_be_broken(text: str, width: int) -> None:
    # The longest that cannot be broken here: a word with the brackets and stops that may not leave it.
    longest = max((columns(word) for word in text.split()), default=0)
    for line in wrapped(text, width).split("\n"):
        assert columns(line.rstrip()) <= max(width, longest + 12)


@given(TEXT, WIDTH, st.lists(st.integers(1, 9), min_size=1))
def test_pieces_give_what_the_whole_gives(text: str, width: int, sizes: list[int]) -> None:
    wrapper, out, at, turn = Wrapper(lambda: width), "", 0, 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        out += wrapper.feed(text[at : at + size])
        at, turn = at + size, turn + 1
    assert out + wrapper.end() == wrapped(text, width)


@given(st.text("abc de\t", min_size=30, max_size=200), WIDTH)
def test_code_stays_as_it_is(code: str, width: int) -> None:
    fenced = f"```python\n{code}\n```\n"
    assert wrapped(fenced, width) == fenced


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one two three four five", "one two three four\nfive"),
        ("- one two three four five", "- one two three four\n  five"),
        ("12. one two three four", "12. one two three\n    four"),
        ("   3  - one two three", "   3  - one two\n        three"),
        ("一二三四五六七八九十，十", "一二三四五六七八九\n十，十"),
        ("茶 tea 一二三四五六 tea", "茶 tea 一二三四五六\ntea"),
        ("（一二三四五六七八九）十", "（一二三四五六七八\n九）十"),
        ("a" * 30 + " b", "a" * 30 + "\nb"),
        ("one two three four \nfive", "one two three four\nfive"),
    ],
)
def test_examples_at_twenty_columns(text: str, shown: str) -> None:
    assert wrapped(text, 20) == shown


@pytest.mark.parametrize(
    ("text", "width"), [("tea", 3), ("茶", 2), ("e\u0301", 1), ("🍵", 2), ("ｱ", 1), ("Ａ", 2), ("한", 2)]
)
def test_columns(text: str, width: int) -> None:
    assert columns(text) == width
