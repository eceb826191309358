"""Text as it streams, broken between words at a terminal's width; Chinese and Japanese break between any two characters."""

import re
import unicodedata
from collections.abc import Callable

_NOT_FIRST = "，。！？；：、）」』】》〉”’…ー々,.!?;:)]}%"  # never open a line
_NOT_LAST = "（「『【《〈“‘([{"  # never close one
_LEAD = re.compile(r" *(?:\d+(?:[.)] +|  +)|> +)?(?:[-*+] +)?")  # what further lines are indented by
WIDEST_LEAD = 12  # columns
_SPECIAL = re.compile("[\u0300-\u036f\u1100-\uffff\U00010000-\U0003ffff]")
LEAST = 20  # columns; a narrower terminal breaks lines by itself


def columns(text: str) -> int:
    """The columns that `text` takes in a terminal: two for a wide character, none for a combining one."""
    if not _SPECIAL.search(text):
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if _wide(c) else 1 for c in text)


def _wide(char: str) -> bool:
    return char >= "\u1100" and unicodedata.east_asian_width(char) in "WF"


class Wrapper:
    """Breaks one text that comes in pieces; `width` is asked at every word, for a window may change its size.

    A further line of a list item or of an indented one begins under its text. Code between ``` lines stays as it is.
    """

    def __init__(self, width: Callable[[], int]) -> None:
        self._width = width
        self._line = ""  # what stands on the text's own line so far
        self._column = 0
        self._blanks = ""
        self._word = ""
        self._code = False

    def feed(self, text: str) -> str:
        """What of the text so far may be shown now; the last word waits until its end has come."""
        return "".join(map(self._take, text))

    def end(self) -> str:
        """What was still waiting."""
        return self._place()

    def _take(self, char: str) -> str:
        if char == "\n":
            return self._place() + self._new_line()
        if self._code or self._line.startswith("```"):
            self._line += char
            return self._place() + self._after_blanks(char)
        self._line += char
        if char in " \t":
            out = self._place()
            self._blanks += char
            return out
        if self._word and self._may_break(self._word[-1], char):
            out = self._place()
            self._word = char
            return out
        self._word += char
        return ""

    def _may_break(self, before: str, after: str) -> bool:
        between = _wide(before) or _wide(after)
        return between and after not in _NOT_FIRST and before not in _NOT_LAST and not unicodedata.combining(after)

    def _place(self) -> str:
        """The waiting word, on the next line where it does not fit on this one."""
        if not self._word:
            return ""
        word, self._word = self._word, ""
        wide = columns(word)
        lead = _LEAD.match(self._line)
        indent = min(WIDEST_LEAD, lead.end() if lead else 0)
        if self._column + len(self._blanks) + wide <= max(LEAST, self._width()) or self._column <= indent:
            return self._after_blanks(word)
        self._blanks, self._column = "", indent + wide
        return "\n" + " " * indent + word

    def _after_blanks(self, text: str) -> str:
        out, self._blanks = self._blanks + text, ""
        self._column += columns(out)
        return out

    def _new_line(self) -> str:
        if self._line.lstrip().startswith("```"):
            self._code = not self._code
        self._line, self._column, self._blanks = "", 0, ""
        return "\n"


def wrapped(text: str, width: int) -> str:
    """A whole text, broken at `width` columns."""
    wrapper = Wrapper(lambda: width)
    return wrapper.feed(text) + wrapper.end()
