"""The pieces of a file that a search returns: the turns of a transcript, each with its day, or paragraphs."""

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from filemem.text.plain import printable

ASSISTANT = "assistant"
NO_ANSWER = "[no answer]"  # stands for an answer that never came, so that no session holds a question alone
TURN_HEAD = re.compile(r"- \*\*(.+?)\*\*(?: (\d{4}-\d\d-\d\d))?(?: (\d{1,2}:\d{2}))?:")
_TURN = re.compile(TURN_HEAD.pattern + "(?: (.*)|)$")
DAY_HEADING = re.compile(r"#+ (\d{4}-\d\d-\d\d)\s*$")  # how older imports began another day
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])\s")
_HEADING = re.compile(r"#{1,6}\s")
_FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_SENTENCE = re.compile(r"(?:[.!?;]['\")\]]*(?=\s)|[。！？；…]+[”’」』）]*|\n)\s*")
WHOLE = 400  # characters of a passage up to which it is one window; a longer one is cut
PAUSE = 45  # minutes after which what is said no longer replies to what was said before
SHORTEST, LONGEST = 150, 300  # characters of a window: up to the first end of a sentence between


class Passage(NamedTuple):
    """The unit of search: lines `line` to `end_line` (from 1, inclusive); `context` is searched along but not shown.

    `day` is the day of a turn that was said on another than the file's, else None.
    """

    line: int
    end_line: int
    speaker: str
    time: str
    text: str
    context: str = ""
    day: dt.date | None = None


def as_shown(line: str) -> list[str]:
    """A turn's first line as the tools show it: `Sam: …`, with its clock, and with its date too, where it has them; nothing for
    another line."""
    match = TURN_HEAD.match(line)
    if not match:
        return []
    name, day, clock = match.groups()
    ends = dict.fromkeys(("", clock and f" {clock}", day and f" {day}{f' {clock}' if clock else ''}"))
    return [f"{name}{end}:{line[match.end() :]}" for end in ends if end is not None]


def turns(lines: list[str], after: int = 0, day: dt.date | None = None) -> list[Passage]:
    """The turns of a transcript of `day`, in order; what stands before one is its context, and what follows the last is cut
    into paragraphs. Nothing without a turn.
    """
    heads: list[tuple[int, str, str, list[str], str, dt.date | None]] = []  # line, speaker, clock, words, context, day
    said: list[str] | None = None
    context: list[str] = []
    rest = 0  # the line behind which no turn stands
    for number, line in enumerate(lines[after:], after + 1):
        match = _TURN.match(line) if line.startswith("- **") else None
        if match:
            speaker, date, time, text = match.groups("")
            over = [heading[1] for above in context if (heading := DAY_HEADING.match(above))] if context else []
            about = " ".join(text.strip("# ") for text in context) if context else ""
            said, context = [text], []
            heads.append((number, speaker, time, said, about, _iso(date or "".join(over[-1:]))))
        elif said is not None and (line.startswith("  ") or not line.strip()):
            said.append(line[2:] if line.startswith("  ") else "")
        elif said is not None:
            said, context, rest = None, [line], number - 1
        elif line.strip():
            context.append(line)
    found = []
    for number, speaker, time, words, about, own in heads:
        while len(words) > 1 and not words[-1]:
            words.pop()
        found.append(Passage(number, number + len(words) - 1, speaker, time, "\n".join(words), about, own))
    if found and said is None:
        found += paragraphs(lines, rest)
    days = turn_days([(passage.day, passage.time) for passage in found], day)
    return [one._replace(day=own) if own != one.day else one for one, own in zip(found, days, strict=True)]


def turn_days(heads: Sequence[tuple[dt.date | None, str]], day: dt.date | None) -> list[dt.date | None]:
    """The day of each turn whose head has a date or None and a clock or nothing; None where it is `day`, the file's own.

    A date holds until the next one. Before the first, a clock that runs backwards means the next day, as versions that
    wrote no dates left it; unless that would lead past the first date.
    """
    first = next((place for place, (named, _) in enumerate(heads) if named), len(heads))
    days, current, last = list[dt.date | None](), day, ""
    for place, (named, time) in enumerate(heads):
        clock = time.rjust(5, "0") if time else last
        if named:
            current = named
        elif place < first and current and clock < last and current < dt.date.max:
            current += dt.timedelta(1)
        last = clock
        days.append(current)
    named = heads[first][0] if first < len(heads) else None
    if named and (before := days[:first][-1:]) and before[0] and before[0] > named:
        days[:first] = [day] * first
    return [None if own == day else own for own in days]


def _iso(text: str) -> dt.date | None:
    """The day of an ISO date; None for anything else, or for a day that does not exist."""
    try:
        return dt.date.fromisoformat(text) if text else None
    except ValueError:
        return None


def format_turn(speaker: str, time: str, text: str, day: dt.date | None = None) -> str:
    """One turn as a list item, with its last newline; `turns` reads it back, but for outer white space and controls.

    `day` is given where it is another than that of the turn before.
    """
    name = " ".join(printable(speaker).replace("*", " ").split()) or "unknown"
    first, *rest = printable(text).replace("\r\n", "\n").replace("\r", "\n").strip().split("\n")
    body = "".join(f"  {line}\n" if line else "\n" for line in rest)
    said_at = "".join(f" {part}" for part in (day.isoformat() if day else "", time) if part)
    return f"- **{name}**{said_at}: {first}\n{body}"


def needed_day(at: dt.datetime, day: dt.date | None, last: str) -> dt.date | None:
    """The day that a turn said `at` must carry behind one of `day` at `last` (a clock, or nothing); None where its clock does.

    A clock set back on the same day, as each autumn, would else be taken for the next day's.
    """
    return at.date() if at.date() != day or (last and f"{at:%H:%M}" < last.rjust(5, "0")) else None


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


def paragraphs(lines: list[str], after: int) -> Iterator[Passage]:
    """Paragraphs and list items, each under its headings; a heading with nothing under it stands for itself."""
    heading: tuple[int, str] | None = None
    used = True
    start, said = 0, list[str]()
    for number, line in enumerate([*lines[after:], "#  end"], after + 1):
        starts_new = _ITEM.match(line) or _HEADING.match(line)
        if start and (starts_new or not line.strip()):
            yield Passage(start, start + len(said) - 1, "", "", "\n".join(said), heading[1] if heading else "")
            start, used = 0, True
        if _HEADING.match(line):
            if heading and not used:
                yield Passage(heading[0], heading[0], "", "", heading[1])
            heading, used = (number, line.strip("# ")), False
        elif line.strip():
            if not start:
                start, said = number, []
            said.append(line)


def pauses(times: Sequence[str]) -> list[bool]:
    """Whether each turn, by its clock, comes PAUSE minutes or longer after the one before it, or earlier in the day."""
    found, last = list[bool](), -1
    for time in times:
        clock = int(time[:-3]) * 60 + int(time[-2:]) if time else last
        found.append(last >= 0 and not 0 <= clock - last < PAUSE)
        last = clock
    return found


def windows(text: str) -> list[tuple[int, int]]:
    """The windows of a passage's text, as places in it: what is scored and shown of it. A long one ends with a sentence,
    else with a word, where it can."""
    found: list[tuple[int, int]] = []
    start, end = 0, len(text)
    while end - start > (LONGEST if found else WHOLE):
        sentence = _SENTENCE.search(text, start + SHORTEST, start + LONGEST)
        space = text.rfind(" ", start + SHORTEST, start + LONGEST) + 1
        found.append((start, sentence.end() if sentence else space or start + LONGEST))
        start = found[-1][1]
    return [*found, (start, end)] if start < end or not found else found


def top_heading(lines: list[str], after: int) -> str:
    """The heading with which the body begins; empty where it begins otherwise, or has another of the same rank."""
    first = next((line for line in lines[after:] if line.strip()), "")
    rank = _HEADING.match(first)
    unfenced = _FENCED.sub("", "\n".join(lines[after:])).split("\n")
    return first.strip("# ") if rank and sum(line.startswith(rank[0]) for line in unfenced) == 1 else ""
