"""The passages of a memory, which a search returns: turns, or paragraphs and items."""

import datetime as dt
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from filemem.text.dates import mentioned
from filemem.text.expressions import Mention
from filemem.text.plain import printable

FORGOTTEN = "[forgotten]"  # stands where a text was
# Stands for an answer that never came, so that no session holds a question alone.
NO_ANSWER = "[no answer]"
TURN_HEAD = re.compile(r"- \*\*(.+?)\*\*(?: (\d{4}-\d\d-\d\d))?(?: (\d{1,2}:\d{2}))?:")
MAX_WHOLE_CHARS = 2000  # of a fact that is one passage
MAX_UNCUT_CHARS = 400  # of a passage that is one window
MIN_WINDOW_CHARS = 150
MAX_WINDOW_CHARS = 300

_TURN = re.compile(rf"{TURN_HEAD.pattern}(?: (.*))?$")
_FURTHER = re.compile(r"  |\s*$")  # how a further line of a turn begins
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])\s")
_HEADING = re.compile(r"(#{1,6}|\*{2,8})\s")  # of Org, too; there one star is an item
_ORG_RANK = 8  # above the rank of a heading of Org
LINE_RANK = 9  # of a line that is a day, below every heading but those of Org
_DAY_LED = re.compile(r"(?:[-*+] )?[*_<(]{0,3}\[?\d{4}[-/.年]\d{1,2}[-/.月]\d{1,2}")
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}\.?|(?:星期|[周週])\w)"
_BEFORE_DAY = re.compile(rf"^[\[(<*_+ #-]*(?:{_WEEKDAY},?\s)?", re.IGNORECASE)
# How a text goes on that may begin with a day.
_NEAR_YEAR = re.compile(r".{0,20}?\d{4}")
MAX_DAY_CHARS = 40
# Behind a day alone: a clock, a weekday, the weather, what makes it bold.
_DAY_ALONE = re.compile(
    rf"[\W\d_]*(?:{_WEEKDAY})?[\W\d_]*[\u4e00-\u9fff]{{0,4}}", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"(?:[.!?;]['\")\]]*(?=\s)|[。！？；…]+[”’」』）]*|\n)\s*")


@dataclass(frozen=True, slots=True)
class Passage:
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
    own_day = None
    end = after  # of what stands in a passage or above one
    for number in range(after, len(lines)):
        head = _TURN.match(lines[number])
        if not head:
            continue
        speaker, date, time, text = head.groups("")
        above = [line.strip("# ") for line in lines[end:number] if line.strip("# ")]
        end = number + 1
        while end < len(lines) and _FURTHER.match(lines[end]):
            end += 1
        further = [line[2:] for line in lines[number + 1 : end]]
        text = "\n".join([text, *further]).rstrip("\n")
        if date:
            with suppress(ValueError):
                named = dt.date.fromisoformat(date)
                own_day = None if named == day else named
        first = number + 1
        last = first + text.count("\n")
        context = " ".join(above)
        found.append(Passage(first, last, speaker, time, text, context, own_day))
    return found + paragraphs(lines, end) if found else []


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
    blocks = list(_blocks(lines, after, dated=False))
    if not blocks:
        return []
    first = blocks[0].line
    last = blocks[-1].end_line
    text = "\n".join(lines[first - 1 : last])
    if len(text) > MAX_WHOLE_CHARS:
        return paragraphs(lines, after)
    return [Passage(first, last, "", "", text)]


@dataclass(frozen=True, slots=True)
class _Block:
    """A heading, an item, or a row of lines with no empty one among them.

    Attributes:
        line: the first, from 1.
        end_line: the last.
        text: as it stands; of a heading its words.
        rank: of a heading, from 1, the highest; else 0.
        day: with which it begins.
        context: the words of a heading behind that day, which would count for every
            other day of its month.
    """

    line: int
    end_line: int
    text: str
    rank: int
    day: dt.date | None
    context: str


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
    day: dt.date | None = None
    day_rank = 0
    context = ""
    blocks = list(_blocks(lines, after, dated=dated))
    for place, block in enumerate(blocks):
        line = block.line
        text = block.text
        if not block.rank:
            own = block.day or day
            found.append(Passage(line, block.end_line, "", "", text, context, own))
            if block.day and text[0] == "[":
                day = block.day
                day_rank = LINE_RANK
            continue
        context = block.context
        if block.day or block.rank <= day_rank:
            day = block.day
            day_rank = block.rank if day else 0
        if all(below.rank for below in blocks[place + 1 : place + 2]):
            found.append(Passage(line, line, "", "", text, "", day))
    return found


def _blocks(lines: list[str], after: int, *, dated: bool) -> Iterator[_Block]:
    """Yield the headings and blocks of text; a line that begins with a day begins one
    where they are dated."""
    start = after + 1
    rows: list[str] = []
    for number, line in enumerate([*lines[after:], ""], after + 1):
        is_heading = _HEADING.match(line)
        is_led = _ITEM.match(line) or (dated and _DAY_LED.match(line))
        if rows and (is_heading or is_led or not line.strip()):
            yield _block(start, rows, dated=dated)
            rows = []
        if is_heading:
            yield _block(number, [line], dated=dated)
        elif line.strip():
            start = start if rows else number
            rows.append(line)


def _block(line: int, rows: list[str], *, dated: bool) -> _Block:
    text = "\n".join(rows)
    words = text.strip("#* ")
    heading = _HEADING.match(text)
    rank = 0
    if heading:
        rank = len(heading[1]) + _ORG_RANK * (text[0] == "*")
    day = None
    context = words
    head = _BEFORE_DAY.sub("", words, count=1)
    if dated and _NEAR_YEAR.match(head):
        for mention in mentioned(head[:MAX_DAY_CHARS], dt.date.min)[:1]:
            rest = head[mention.end :]
            is_led = heading or _DAY_LED.match(text)
            is_alone = _DAY_ALONE.fullmatch(rest.partition("\n")[0])
            if _is_whole_day(mention, head) and (is_led or is_alone):
                day = mention.span.start
                context = rest
    if day and not heading and _DAY_ALONE.fullmatch(context):
        rank = LINE_RANK
    shown = words if rank else text
    return _Block(line, line + len(rows) - 1, shown, rank, day, context)


def _is_whole_day(mention: Mention, head: str) -> bool:
    """Tell whether a text begins with a mention of one day, with its year."""
    first = mention.span.start
    is_at_head = mention.start == 0 and not mention.relative
    return is_at_head and first == mention.span.end and str(first.year) in head


class Window(NamedTuple):
    """What is scored and shown: from `start` to `end` in the text of a passage, by its
    place."""

    place: int
    start: int
    end: int


def windows(text: str, place: int = 0) -> list[Window]:
    """Return the windows of the passage at a place, which has this text.

    A long text is cut, behind a sentence if that can be, else behind a word.
    """
    found: list[Window] = []
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
        found.append(Window(place, start, end))
        start = end
        most = MAX_WINDOW_CHARS
    if start < len(text) or not found:
        found.append(Window(place, start, len(text)))
    return found
