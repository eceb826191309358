"""Breaking lines changes nothing but blanks and line ends: every word stays whole, no line is wider than it must be, and a
text gives the same lines whether it comes at once or in pieces. Code stays as it is."""

import io

import pytest
from hypothesis import HealthCheck, given, settings
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


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(TEXT, st.integers(20, 60), st.lists(st.integers(1, 9), min_size=1))
def test_words_stay_whole_on_lines_that_fit_whatever_the_pieces(
    monkeypatch: pytest.MonkeyPatch, text: str, width: int, sizes: list[int]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    shown = wrapped(text, Tty())
    assert "".join(shown.split()) == "".join(text.split())
    # The longest that cannot be broken here: a word with the brackets and stops that may not leave it.
    longest = max((columns(word) for word in text.split()), default=0)
    assert "```" in text or all(
        columns(line) <= max(width, longest + 12) for line in shown.split("\n")
    )
    wrapper, out, at, turn = Wrapper(), "", 0, 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        out += wrapper.feed(text[at : at + size])
        at, turn = at + size, turn + 1
    assert out + wrapper.feed("", end=True) == shown
    assert wrapped(text, io.StringIO()) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one two three four five", "one two three four\nfive"),
        ("一二三四五六七八九十，十", "一二三四五六七八九\n十，十"),
        ("茶 tea 一二三四五六 tea", "茶 tea 一二三四五六\ntea"),
        ("（一二三四五六七八九）十", "（一二三四五六七八\n九）十"),
        ("his wife, called [[林晓梅]]", "his wife, called\n[[林晓梅]]"),
        ("a" * 30 + " b", "a" * 30 + "\nb"),
        ("one two three four \nfive", "one two three four \nfive"),
        (
            "```python\none two three four five six\n```\n",
            "```python\none two three four five six\n```\n",
        ),
    ],
)
def test_examples_at_twenty_columns(
    monkeypatch: pytest.MonkeyPatch, text: str, shown: str
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    assert wrapped(text, Tty()) == shown
