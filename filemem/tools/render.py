"""The text that the four tools answer with, written for a language model."""

import contextlib
import datetime as dt
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from filemem.errors import FilememError
from filemem.search import validity
from filemem.store.folder import Folder
from filemem.store.passages import TURN_HEAD
from filemem.store.paths import DISTILLED, FileDate, is_archived, when_of
from filemem.text import dates
from filemem.text.plain import (
    clip_tokens,
    count_tokens,
    counted,
    escape_controls,
    json_visible,
    one_line,
)
from filemem.tools.grep import GrepPage, Match, day_of_turn, text_file
from filemem.tools.matcher import Span

if TYPE_CHECKING:
    from filemem.search.results import Hit
    from filemem.search.searching import Found

LINE_CHARS = 2000  # shown of one line among others, or of one passage
OPENED_CHARS = 20_000  # of a line that is opened alone
TITLE_CHARS = 100  # of a note's title
LONG_CHARS = 500  # of a longer line grep shows what stands around its matches
AROUND_CHARS = 60  # on each side of a match, and of each end of a long one
MIN_CUT_CHARS = 200  # that are worth the line which says how to see them
GREP_TOKENS = 1500  # in one answer of grep
MAX_HEAD_BYTES = 8192  # in which a file's front matter is looked for
LATER = "later than today"
MAX_HITS = 200  # passages of a search
_TELLS_WHEN = re.compile(
    rb"^(?:superseded_by|supersedes|status|day|valid_from|valid_until):", re.MULTILINE
)
"""Other front matter is not read, as YAML takes as long as a grep."""


def file_heading(folder: Folder, path: str, today: dt.date, asked: str = "") -> str:
    """Return the line over a file's lines: what became of it, and when it held.

    Args:
        folder: whose memory.
        path: of the file.
        today: a file of a later day says so.
        asked: the path by which it was asked for, if it was.
    """
    told = ["archived" if is_archived(path) else ""]
    with contextlib.suppress(FilememError):
        if _TELLS_WHEN.search(folder.read(path, MAX_HEAD_BYTES)):
            memory = folder.memory(path)
            told[0] = validity.fate(memory.metadata) or told[0]
            told.append(validity.memory_note(memory))
            told.append(validity.replaced_note(folder, memory.metadata))
    if asked.removeprefix("./") not in ("", path):
        told.append(f"moved from {asked}")
    return _heading(path, when_of(path), today, *told)


def _heading(path: str, when: FileDate | None, today: dt.date, *notes: str) -> str:
    """Return a path, its weekday or, if the path does not tell it, its date; notes.

    One that is later than today says so, so that nobody takes it for what holds.
    """
    date = ""
    if when is not None and when != when_of(path):
        date = f"{when.date:%B %Y}" if when.day_unknown else spelt(when.date)
        date = f"{date} {when.time}".strip()
    elif when is not None and not when.day_unknown:
        date = f"{when.date:%a}"
    if when is not None and when.date > today:
        notes = (LATER, *notes)
    return "  ".join(part for part in (path, date, *notes) if part)


def _call(tool: str, **arguments: Any) -> str:
    """Return a call as a model may send it, without arguments that are None."""
    given = {key: value for key, value in arguments.items() if value is not None}
    return f"{tool} {json_visible(json.dumps(given, ensure_ascii=False))}"


# -- lines -----------------------------------------------------------------------------


def line_text(
    text: str, day: dt.date | None, path: str, line: int, longest: int = LINE_CHARS
) -> str:
    """Return a line as the tools show it: no control characters, and clipped.

    Args:
        text: the line.
        day: from which its relative dates count, which are then resolved in brackets.
        path: of its file.
        line: its number.
        longest: characters to show.
    """
    shown = escape_controls(text[:longest])
    if day:
        shown = dates.annotate(shown, day)
    if len(text) <= longest:
        return shown
    rest = f"{_call('open', path=path, line=line, lines=1)} shows more"
    if longest == OPENED_CHARS:
        rest = f"column {longest:,} is the last shown; grep finds what is behind it"
    return f"{shown} [clipped: {len(text):,} characters; {rest}]"


@dataclass(frozen=True)
class DatedLines:
    """The lines of a file, to be shown with their days.

    Attributes:
        path: of the file.
        lines: its lines.
        day: of the file, if it has one.
        days: of each line, from which its relative dates count.
    """

    path: str
    lines: list[str]
    day: dt.date | None
    days: list[dt.date | None]

    def shown(self, line: int, above: int, text: str, longest: int = LINE_CHARS) -> str:
        """Return a line, or what is shown of it, as the tools show it.

        A turn of another day than what stands above has it behind its clock.

        Args:
            line: its number.
            above: that of the line shown above it; 0 if that is the heading.
            text: of it.
            longest: characters to show.
        """
        day = self.days[line - 1]
        told = self.days[above - 1] if above else self.day
        shown = line_text(text, day, self.path, line, longest)
        head = TURN_HEAD.match(shown)
        if head is None or head[2] or day == told:
            return shown
        return f"{head[0][:-1]} [{day}]:{shown[head.end() :]}"


def dated_lines(folder: Folder, path: str) -> DatedLines:
    """Return the lines of a file; raise FilememError if it cannot be read."""
    memory = text_file(folder, path)
    day = memory.day
    days: list[dt.date | None] = []
    for text in memory.lines:
        head = TURN_HEAD.match(text)
        if head:
            day = day_of_turn(head) or day
        days.append(day)
    return DatedLines(path, memory.lines, memory.day, days)


# -- open ------------------------------------------------------------------------------


def page(
    folder: Folder,
    path: str,
    line: int,
    lines: int | None,
    budget: int,
    today: dt.date,
    asked: str,
) -> str:
    """Return the numbered lines of a file, whole, as many as the budget holds.

    What is left out says how to see it. A line that alone exceeds the budget is
    clipped; opened by itself it is shown up to OPENED_CHARS.

    Args:
        folder: whose memory.
        path: of the file.
        line: the first line to show.
        lines: how many; None for all.
        budget: in tokens.
        today: a file of a later day says so.
        asked: the path by which it was asked for.

    Raises:
        FilememError: there is no such line, or the file cannot be read.
    """
    dated = dated_lines(folder, path)
    total = len(dated.lines)
    shown = [f"{file_heading(folder, path, today, asked)}  {counted(total, 'line')}"]
    if not total:
        return f"{shown[0]}\n(no text)"
    check_line(path, line, total)
    end = total if lines is None else min(total, line - 1 + lines)
    left = budget
    last = 0
    for number in range(line, end + 1):
        text = dated.lines[number - 1]
        longest = OPENED_CHARS
        if lines != 1:
            longest = max(1, len(clip_tokens(text[:OPENED_CHARS], budget)))
        entry = f"{number:>4}  {dated.shown(number, last, text, longest)}"
        left -= count_tokens(entry)
        if last and (left < 0 or len(text) > longest):
            break
        shown.append(entry)
        last = number
    if last < total:
        more = _call("open", path=path, line=last + 1, lines=lines)
        shown.append(f"Lines {line} to {last} of {total}; {more} shows the next.")
    return "\n".join(shown)


def check_line(path: str, line: int, total: int) -> None:
    """Raise FilememError if a file of so many lines has no such line."""
    if line > total > 0:
        raise FilememError(
            f"{path} has {total} lines; open it with a line from 1 to {total}."
        )


# -- grep ------------------------------------------------------------------------------


def grepped(
    folder: Folder, found: GrepPage, asked: dict[str, Any], today: dt.date
) -> str:
    """Return the lines that grep found, by file, within GREP_TOKENS, with their days.

    Args:
        folder: whose memories.
        found: a page of matches with their context.
        asked: the arguments of the call, for the calls that show more.
        today: a file of a later day says so.
    """
    shown = [looked_at(found)]
    if not found.total:
        shown.append("search_files finds what is said in other words.")
    next_offset = found.next_offset
    clipped: Match | None = None
    matched = 0
    tokens = 0
    path = ""
    for match in found.lines:
        # To show the last one costs no more than to tell that there is one.
        is_last = found.offset + matched == found.total - 1
        if tokens > GREP_TOKENS and not is_last:
            if not match.matches:
                continue
            next_offset = found.offset + matched
            break
        matched += match.matches
        if match.path != path:
            path = match.path
            above = 0
            dated = dated_lines(folder, path)
            shown.append(file_heading(folder, path, today))
        elif match.gap:
            shown.append("      …")
        text = around_matches(match) if match.matches else match.text
        if text != match.text and not clipped:
            clipped = match
        sign = " " if match.matches else "-"
        text = dated.shown(match.line, above, text)
        shown.append(f"{match.line:>4}{sign} {text}")
        above = match.line
        tokens += count_tokens(shown[-1])
    shown += found.notes
    if clipped:
        call = _call("open", path=clipped.path, line=clipped.line, lines=1)
        shown.append(
            f"… marks what was left out of long lines; {call} shows the first whole."
        )
    if next_offset:
        more = _call("grep", **{**asked, "offset": next_offset})
        shown.append(
            f"Matches {found.offset + 1:,} to {next_offset:,} "
            f"of {found.total:,}; {more} shows the next."
        )
    return "\n".join(shown)


def around_matches(match: Match, longest: int = LONG_CHARS) -> str:
    """Return a line; of one longer than `longest` how it begins, and its matches."""
    text = match.text
    if len(text) <= longest:
        return text
    head = TURN_HEAD.match(text)
    end = head.end() if head else 0
    kept = text[:end]
    for start, stop in _places_around(match.spans):
        if stop <= end:
            continue
        if start > end:
            kept += f" … {text[start:stop]}"
        else:
            kept += text[end:stop]
        end = stop
    if end < len(text):
        kept += " …"
    return kept if len(text) - len(kept) > MIN_CUT_CHARS else text


def _places_around(spans: tuple[Span, ...]) -> list[Span]:
    """Return what to show around matches: of a long match both of its ends.

    Args:
        spans: where a line matches, in characters.
    """
    places: list[Span] = []
    for first, last in spans:
        if last - first > LONG_CHARS:
            places.append((first - AROUND_CHARS, first + AROUND_CHARS))
            first = last
        places.append((first - AROUND_CHARS, last + AROUND_CHARS))
    return places


def looked_at(found: GrepPage) -> str:
    """Return the first line of an answer of grep: `12 lines in 4 of 214 files`."""
    return _looked_at(found.total, "line", list(found.by_file), found.files)


def _looked_at(number: int, noun: str, paths: list[str], of: int) -> str:
    """Return `12 lines in 4 of 214 files, 2 of them archived`."""
    said = f"{counted(number, noun)} in {len(paths):,} of {counted(of, 'file')}"
    archived = sum(map(is_archived, paths))
    return f"{said}, {archived:,} of them archived" if archived else said


# -- search_files ----------------------------------------------------------------------


def searched(found: "Found", today: dt.date) -> str:
    """Return the passages that search_files found, by file, as they are read."""
    paths = list(dict.fromkeys(hit.path for hit in found.hits))
    out = [_looked_at(len(found.hits), "passage", paths, found.files), *found.notes]
    headed: set[str] = set()
    path = ""
    for hit in found.hits:
        if hit.path != path:
            path = hit.path
            out.append(_hit_heading(hit, today, is_more=path in headed))
            headed.add(path)
        out.append(_passage(hit))
    return "\n".join(out)


def _hit_heading(hit: "Hit", today: dt.date, *, is_more: bool) -> str:
    """Return the heading of a file: its title, whether it holds, what it rests on."""
    if is_more:
        return _heading(hit.path, hit.when, today, "more")
    title = f'"{one_line(hit.title, TITLE_CHARS)}"' if hit.title else ""
    archived = "archived" if hit.archived and not hit.newer else ""
    sources = ""
    if hit.sources and hit.kind in DISTILLED:  # others name them themselves
        sources = f"from {one_line(', '.join(hit.sources))}"
    notes = (title, archived, hit.note, hit.replaced, sources)
    return _heading(hit.path, hit.when, today, *notes)


def _passage(hit: "Hit") -> str:
    """Return a passage: its line number, who said it, the rest of it indented.

    When it was said stands there if the heading does not tell it.
    """
    said = ""
    if hit.speaker:
        day = str(hit.date or "")
        time = hit.time
        if hit.when and hit.date == hit.when.date:
            day = ""
            if time == hit.when.time:
                time = ""
        parts = (escape_controls(hit.speaker), day, time)
        said = f"{' '.join(filter(None, parts))}: "
    lines = hit.excerpt.split("\n")
    shown = [line_text(line, hit.date, hit.path, hit.line) for line in lines]
    text = "\n      ".join(shown)
    return f"{hit.line:>4}  {said}{text}"


def what_was_cut(found: "Found", *, shell: bool = False) -> list[str]:
    """Return how to see the rest of a clipped passage, and more passages.

    Args:
        shell: as a command, not as a tool's call.
    """
    lines: list[str] = []
    cut = next((hit for hit in found.hits if hit.is_cut), None)
    if cut is not None:
        count = cut.end_line - cut.line + 1
        call = _call("open", path=cut.path, line=cut.line, lines=count)
        if shell:
            call = f"filemem open '{escape_controls(cut.path)}:{cut.line}'"
        lines.append(
            f"… marks what was left out of long passages; {call} shows one whole."
        )
    limit = min(2 * max(len(found.hits), 5), MAX_HITS)
    if found.has_more and found.hits and limit > len(found.hits):
        how = f"filemem search --limit {limit}" if shell else f'"limit": {limit}'
        lines.append(f"There are weaker ones; {how} shows more.")
    return lines


def spelt(day: dt.date) -> str:
    """`Fri 20 November 2026`."""
    return f"{day:%a} {day.day} {day:%B %Y}"
