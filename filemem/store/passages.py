"""The passages of a memory, which a search returns: turns, or paragraphs and items."""

import datetime as dt
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from filemem.text.dates import mentioned
from filemem.text.plain import printable

FORGOTTEN = "[forgotten]"  # stands where a text was
# Stands for an answer that never came, so that no session holds a question alone.
NO_ANSWER = "[no answer]"
TURN_HEAD = re.compile(r"- \*\*(.+?)\*\*(?: (\d{4}-\d\d-\d\d))?(?: (\d{1,2}:\d{2}))?:")
MAX_WHOLE_CHARS = 2000  # of a fact that is one passage
MAX_UNCUT_CHARS = 400  # of a passage that is one window
MIN_WINDOW_CHARS = 150
MAX_WINDOW_CHARS = 300

_TURN = re.compile(
    rf"^{TURN_HEAD.pattern}(?: (.*)|)$((?:\n(?:  .*|[^\S\n]*$))*)", re.MULTILINE
)
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])\s")
_HEADING = re.compile(r"(#{1,6}|\*{2,8})\s")  # of Org, too; there one star is an item
LINE_RANK = 9  # of a line that is a day, below every heading
_DAY_LED = re.compile(r"(?:[-*+] )?[*_<(]{0,3}\[?\d{4}[-/.年]\d{1,2}[-/.月]\d{1,2}")
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}\.?|(?:星期|[周週])\w)"
_BEFORE_DAY = re.compile(rf"{_WEEKDAY},?\s", re.IGNORECASE)
# Behind a day alone: a clock, a weekday, what underlines it or makes it bold.
_DAY_ALONE = re.compile(rf"[\W\d_]*(?:{_WEEKDAY})?[\W\d_]*", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?:[.!?;]['\")\]]*(?=\s)|[。！？；…]+[”’」』）]*|\n)\s*")


class Passage(NamedTuple):
    """The unit of search.

    Attributes:
        line: the first, from 1.
        end_line: the last.
        speaker: of a turn; '' for other text.
        time: `HH:MM` of a turn, or ''.
        text: its words.
        context: is searched along, but not shown.
        day: on which it was said, where that is another than the file's.
    """

    line: int
    end_line: int
    speaker: str
    time: str
    text: str
    context: str = ""
    day: dt.date | None = None


# -- turns -------------------------------------------------------------------------


def turns(
    lines: list[str], after: int = 0, day: dt.date | None = None
) -> list[Passage]:
    """Return the turns of a transcript in order; nothing where there is none.

    What stands before a turn is its context; what follows the last is cut into
    paragraphs. A turn without a date is of the day of the one before it.

    Args:
        lines: of the file.
        after: the line behind which they begin.
        day: the file's.
    """
    found: list[Passage] = []
    body = "\n".join(lines[after:])
    own_day = None
    line = after + 1
    counted = 0  # characters whose line ends are in `line`
    end = 0
    for match in _TURN.finditer(body):
        line += body.count("\n", counted, match.start())
        counted = match.start()
        above = [row.strip("# ") for row in body[end : match.start()].split("\n")]
        context = " ".join(filter(None, map(str.strip, above)))
        speaker, date, time, text, more = match.groups("")
        rows = [row[2:] if row.startswith("  ") else "" for row in more.split("\n")]
        if more:
            text = (text + "\n".join(rows)).rstrip("\n")
        with suppress(ValueError):
            named = dt.date.fromisoformat(date)
            own_day = None if named == day else named
        last = line + text.count("\n")
        found.append(Passage(line, last, speaker, time, text, context, own_day))
        end = match.end()
    if found and end < len(body):
        found += paragraphs(lines, line + body.count("\n", counted, end))
    return found


def format_turn(speaker: str, time: str, text: str, day: dt.date | None = None) -> str:
    """Return one turn as a list item, with its last newline.

    `turns` reads it back, except for outer white space and control characters.

    Args:
        speaker: who said it.
        time: `HH:MM`, or ''.
        text: the words.
        day: on which, where that is another than that of the turn before.
    """
    name = " ".join(printable(speaker).replace("*", " ").split()) or "unknown"
    head = f"- **{name}**"
    for part in (day, time):
        if part:
            head += f" {part}"
    plain = printable(text).replace("\r\n", "\n").replace("\r", "\n").strip()
    first, *rest = plain.split("\n")
    for line in rest:
        first += f"\n  {line}" if line else "\n"
    return f"{head}: {first}\n"


# -- other text --------------------------------------------------------------------


def whole(lines: list[str], after: int) -> list[Passage]:
    """Return the lines behind a number as one passage; a long text by paragraph."""
    filled = [n for n, line in enumerate(lines, 1) if n > after and line.strip()]
    if not filled:
        return []
    text = "\n".join(lines[filled[0] - 1 : filled[-1]])
    if len(text) > MAX_WHOLE_CHARS:
        return paragraphs(lines, after)
    return [Passage(filled[0], filled[-1], "", "", text)]


class _Heading(NamedTuple):
    line: int
    rank: int
    text: str


def paragraphs(lines: list[str], after: int, *, dated: bool = False) -> list[Passage]:
    """Return paragraphs and list items, each under the words of its heading.

    A heading with nothing under it stands for itself.

    Args:
        lines: of the file.
        after: the line behind which they begin.
        dated: a heading that begins with a day dates what stands under it, up to the
            next of its rank, and so does a line that is a day, or begins with one in
            brackets; a line that begins with a day is of that day itself.
    """
    found: list[Passage] = []
    heading = _Heading(0, 0, "")
    day: dt.date | None = None
    day_rank = 0
    context = ""
    is_empty = False  # nothing stands under the heading yet
    for block in _blocks(lines, after, dated=dated):
        match = _HEADING.match(block.text)
        text = block.text.strip("#* ")
        is_led = dated and (match or _DAY_LED.match(block.text))
        named = day_of_heading(text) if is_led else None
        # The words of a day would count for every other day of its month.
        rest = _without_day(text) if named else text
        rank = len(match[1]) if match else LINE_RANK
        if not match and not (named and _DAY_ALONE.fullmatch(rest)):
            found.append(block._replace(context=context, day=named or day))
            is_empty = False
            if named and text[0] == "[":
                day = named
                day_rank = LINE_RANK
            continue
        if is_empty:
            found.append(
                Passage(heading.line, heading.line, "", "", heading.text, "", day)
            )
        heading = _Heading(block.line, rank, text)
        is_empty = True
        context = rest
        if named or rank <= day_rank:
            day = named
            day_rank = rank if named else 0
    if is_empty:
        found.append(Passage(heading.line, heading.line, "", "", heading.text, "", day))
    return found


def _blocks(lines: list[str], after: int, *, dated: bool) -> Iterator[Passage]:
    """Yield headings, items, and rows of lines with no empty one among them.

    Where they are dated, a line that begins with a day begins one, too.
    """
    start = 0
    rows: list[str] = []
    for number, line in enumerate([*lines[after:], ""], after + 1):
        is_heading = _HEADING.match(line)
        is_led = _ITEM.match(line) or (dated and _DAY_LED.match(line))
        if rows and (is_heading or is_led or not line.strip()):
            yield Passage(start, number - 1, "", "", "\n".join(rows))
            rows = []
        if is_heading:
            yield Passage(number, number, "", "", line)
        elif line.strip():
            if not rows:
                start = number
            rows.append(line)


def day_of_heading(heading: str) -> dt.date | None:
    """Return the day with which a heading begins, with its year; else None.

    A weekday may stand before it.
    """
    text = _at_day(heading)
    for mention in mentioned(text, dt.date.min)[:1] if text[:1].isalnum() else ():
        span = mention.span
        is_at_head = mention.start == 0 and not mention.relative
        if is_at_head and span.start == span.end and str(span.start.year) in text:
            return span.start
    return None


def _at_day(heading: str) -> str:
    """Return a heading from where its day may begin."""
    text = heading.lstrip("[(<*_-+ ")
    weekday = _BEFORE_DAY.match(text)
    return text[weekday.end() :] if weekday else text


def _without_day(heading: str) -> str:
    """Return what a heading says behind the day with which it begins."""
    text = _at_day(heading)
    return text[mentioned(text, dt.date.min)[0].end :]


def windows(text: str) -> list[tuple[int, int]]:
    """Return what of a passage's text is scored and shown: where each part starts, and
    the end behind it.

    A long text is cut, behind a sentence if that can be, else behind a word.
    """
    found: list[tuple[int, int]] = []
    start = 0
    most = MAX_UNCUT_CHARS
    while len(text) - start > most:
        least = start + MIN_WINDOW_CHARS
        end = start + MAX_WINDOW_CHARS
        sentence = _SENTENCE_END.search(text, least, end)
        space = text.rfind(" ", least, end) + 1
        if sentence:
            end = sentence.end()
        elif space:
            end = space
        found.append((start, end))
        start = end
        most = MAX_WINDOW_CHARS
    if start < len(text) or not found:
        found.append((start, len(text)))
    return found
