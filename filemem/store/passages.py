"""The passages of a memory: turns of a transcript, or paragraphs; what a search returns."""

import datetime as dt
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from filemem.store.paths import day_of
from filemem.text.dates import mentioned
from filemem.text.plain import printable

SPOKEN = ("sessions", "facts", "lessons")  # kinds whose files may hold turns

FORGOTTEN = "[forgotten]"  # stands where a text was

NO_ANSWER = "[no answer]"  # stands for an answer that never came, so that no session holds a question alone

TURN_HEAD = re.compile(r"- \*\*(.+?)\*\*(?: (\d{4}-\d\d-\d\d))?(?: (\d{1,2}:\d{2}))?:")

_TURN = re.compile(
    rf"^{TURN_HEAD.pattern}(?: (.*)|)$((?:\n(?:  .*|[^\S\n]*$))*)", re.MULTILINE
)

_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])\s")

_HEADING = re.compile(r"#{1,6}\s")

_SENTENCE = re.compile(r"(?:[.!?;]['\")\]]*(?=\s)|[。！？；…]+[”’」』）]*|\n)\s*")

WHOLE = 400  # characters of a passage up to which it is one window; a longer one is cut

PAUSE = 45  # minutes after which what is said no longer replies to what was said before

SHORTEST, LONGEST = (
    150,
    300,
)  # characters of a window: up to the first end of a sentence between


class Passage(NamedTuple):
    """The unit of search: lines `line` to `end_line` (from 1, inclusive); `context` is searched along but not shown. `day` is
    that of a turn that was said on another than the file's, else None."""

    line: int
    end_line: int
    speaker: str
    time: str
    text: str
    context: str = ""
    day: dt.date | None = None


def as_shown(line: str) -> list[str]:
    """A turn's first line as the tools show it: `Sam: …`, with its clock, and with its date, where it has them; else nothing."""
    match = TURN_HEAD.match(line)
    if not match:
        return []
    name, day, clock = match.groups()
    ends = dict.fromkeys(
        ("", clock and f" {clock}", day and f" {day}{f' {clock}' if clock else ''}")
    )
    return [f"{name}{end}:{line[match.end() :]}" for end in ends if end is not None]


def turns(
    lines: list[str], after: int = 0, day: dt.date | None = None
) -> list[Passage]:
    """The turns of a transcript of `day`, in order; what stands before one is its context, and what follows the last is cut
    into paragraphs. Nothing without a turn. A turn without a date is of the day of the one before it."""
    found: list[Passage] = []
    whole, start, end, head, own = "\n".join(lines[after:]), 0, 0, after + 1, None
    for match in _TURN.finditer(whole):
        about = ""
        if match.start() > end + 1:
            about = " ".join(
                line.strip("# ")
                for line in whole[end : match.start()].split("\n")
                if line.strip()
            )
        head += whole.count("\n", start, match.start())
        start, end = match.span()
        speaker, date, time, text, more = match.groups("")
        if more:
            rows = (row[2:] if row.startswith("  ") else "" for row in more.split("\n"))
            text = (text + "\n".join(rows)).rstrip("\n")
        if date and (named := day_of(date)):
            own = None if named == day else named
        found.append(
            Passage(head, head + text.count("\n"), speaker, time, text, about, own)
        )
    if found and end < len(whole):
        found += paragraphs(lines, head + whole.count("\n", start, end))
    return found


def format_turn(speaker: str, time: str, text: str, day: dt.date | None = None) -> str:
    """One turn as a list item, with its last newline; `turns` reads it back, but for outer white space and controls. `day` is
    given where it is another than that of the turn before."""
    name = " ".join(printable(speaker).replace("*", " ").split()) or "unknown"
    first, *rest = (
        printable(text).replace("\r\n", "\n").replace("\r", "\n").strip().split("\n")
    )
    body = "".join(f"  {line}\n" if line else "\n" for line in rest)
    said_at = "".join(
        f" {part}" for part in (day.isoformat() if day else "", time) if part
    )
    return f"- **{name}**{said_at}: {first}\n{body}"


def whole(lines: list[str], after: int) -> Iterator[Passage]:
    """The body as one passage; a long one by paragraph."""
    body = [n for n, line in enumerate(lines[after:], after + 1) if line.strip()]
    if not body:
        return
    text = "\n".join(lines[body[0] - 1 : body[-1]])
    if len(text) > 2000:
        yield from paragraphs(lines, after)
    else:
        yield Passage(body[0], body[-1], "", "", text)


def paragraphs(
    lines: list[str], after: int, *, dated: bool = False
) -> Iterator[Passage]:
    """Yield paragraphs and list items, each under its heading.

    A heading with nothing under it stands for itself.

    Args:
        lines: of the file.
        after: the line behind which they begin.
        dated: a heading that begins with a day dates what stands under it, up to the
            next of its rank.
    """
    heading: tuple[int, str] | None = None
    day: dt.date | None = None
    rank = 0  # of the heading that names the day
    used = True
    start, said = 0, list[str]()
    for number, line in enumerate([*lines[after:], "#  end"], after + 1):
        starts_new = _ITEM.match(line) or _HEADING.match(line)
        if start and (starts_new or not line.strip()):
            yield Passage(
                start,
                start + len(said) - 1,
                "",
                "",
                "\n".join(said),
                heading[1] if heading else "",
                day,
            )
            start, used = 0, True
        if _HEADING.match(line):
            if heading and not used:
                yield Passage(heading[0], heading[0], "", "", heading[1], "", day)
            heading, used = (number, line.strip("# ")), False
            signs = len(line) - len(line.lstrip("#"))
            named = day_of_heading(heading[1]) if dated else None
            if named or signs <= rank:
                day, rank = named, signs if named else 0
        elif line.strip():
            if not start:
                start, said = number, []
            said.append(line)


def day_of_heading(heading: str) -> dt.date | None:
    """Return the day with which a heading begins, with its year; else None."""
    text = heading.lstrip("[(")
    for mention in mentioned(text, dt.date.min)[:1] if text[:1].isalnum() else ():
        span = mention.span
        is_whole = mention.start == 0 and not mention.relative
        if is_whole and span.start == span.end and str(span.start.year) in text:
            return span.start
    return None


def pauses(times: Sequence[str]) -> list[bool]:
    """Whether each turn, by its clock, comes PAUSE minutes or longer after the one before it, or earlier in the day."""
    clocks = {time: int(time[:-3]) * 60 + int(time[-2:]) for time in set(times) if time}
    known = [
        *itertools.accumulate(
            times, lambda last, time: clocks.get(time, last), initial=-1
        )
    ]
    return [
        last >= 0 and not 0 <= clock - last < PAUSE
        for last, clock in itertools.pairwise(known)
    ]


def windows(text: str) -> list[tuple[int, int]]:
    """What of a passage's text is scored and shown, as places in it. A long one ends with a sentence, else a word, if it can."""
    found: list[tuple[int, int]] = []
    start, end = 0, len(text)
    while end - start > (LONGEST if found else WHOLE):
        sentence = _SENTENCE.search(text, start + SHORTEST, start + LONGEST)
        space = text.rfind(" ", start + SHORTEST, start + LONGEST) + 1
        found.append((start, sentence.end() if sentence else space or start + LONGEST))
        start = found[-1][1]
    return [*found, (start, end)] if start < end or not found else found
