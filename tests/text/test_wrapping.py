"""Breaking lines changes nothing but blanks and line ends: every word stays whole, no line is wider than it must be, and a
text gives the same lines whether it comes at once or in pieces. Code stays as it is."""

import io
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filemem.cli.output import Wrapper, columns, wrapped

WORD = st.text("abcdefg", min_size=1, max_size=12) | st.text(
    "外婆最喜欢茶，。（）", min_size=1, max_size=8
)
SIGN = st.sampled_from(
    [" ", "  ", "\n", "\n\n", "- ", "  - ", "1. ", "e\u0301", "🍵", "```\n"]
)
TEXT = st.lists(SIGN | WORD, max_size=40).map("".join)


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


@given(TEXT, st.integers(20, 60), st.lists(st.integers(1, 9), min_size=1))
def test_words_stay_whole_on_lines_that_fit_whatever_the_pieces(
    text: str, width: int, sizes: list[int]
) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("COLUMNS", str(width))
        shown = wrapped(text, Tty())
        wrapper = Wrapper()
        out = ""
        rest = text
        for size in itertools.cycle(sizes):
            out += wrapper.feed(rest[:size])
            rest = rest[size:]
            if not rest:
                break
        assert out + wrapper.feed("", end=True) == shown
    assert "".join(shown.split()) == "".join(text.split())
    # A word, with the brackets and stops that may not leave it, cannot be broken here.
    longest = max(map(columns, text.split()), default=0) + 12
    if "```" not in text:
        assert max(map(columns, shown.split("\n"))) <= max(width, longest)
    assert wrapped(text, io.StringIO()) == text


BROKEN = """
one two three four five|one two three four/five
一二三四五六七八九十，十|一二三四五六七八九/十，十
茶 tea 一二三四五六 tea|茶 tea 一二三四五六/tea
（一二三四五六七八九）十|（一二三四五六七八/九）十
his wife, called [[林晓梅]]|his wife, called/[[林晓梅]]
aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b|aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/b
one two three four /five|one two three four /five
```python/one two three four five six/```/|```python/one two three four five six/```/
""".strip().splitlines()


@pytest.mark.parametrize("row", BROKEN)
def test_examples_at_twenty_columns(monkeypatch: pytest.MonkeyPatch, row: str) -> None:
    """A `/` is a line's end."""
    monkeypatch.setenv("COLUMNS", "20")
    text, shown = row.replace("/", "\n").split("|")
    assert wrapped(text, Tty()) == shown
