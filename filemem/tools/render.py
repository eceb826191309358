"""The text that the four tools answer with, written for a language model."""

import bisect
import contextlib
import datetime as dt
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from filemem.errors import FilememError
from filemem.store import pending
from filemem.store.folder import Folder
from filemem.store.passages import SPOKEN, TURN_HEAD, Passage
from filemem.store.paths import FileDate, is_archived, kind_of, when_of
from filemem.text.plain import (
    clip_tokens,
    count_tokens,
    counted,
    escape_controls,
    json_visible,
    one_line,
)
from filemem.tools.grep import GrepPage, Match, lines_of
from filemem.tools.matcher import Span

if TYPE_CHECKING:
    from filemem.search.results import Hit
    from filemem.search.searching import Found

LONGEST_LINE = 2000  # characters shown of one line among others, or of one passage
MAX_OPENED_CHARS = 20_000  # of a line that is opened alone
LONGEST_LEAD = 160  # characters shown of the turn that a passage leans on
LONGEST_TITLE = 100  # characters shown of a note's title
LONG_CHARS = 500  # of a longer line grep shows what stands around its matches
AROUND_CHARS = 60  # on each side of a match
MIN_CUT_CHARS = 200  # that are worth the line which says how to see them
MAX_FILES_COUNTED = 15  # of which grep says how many lines match
GREP_TOKENS = 1500  # in one answer of grep
MAX_HEAD_BYTES = 8192  # in which a file's front matter is looked for
SHORT_REPLY_TOKENS = 5
MOST_HITS = 200  # passages of a search
_SUPERSEDED_BY = re.compile(rb"---\n(?:(?!---)[^\n]*\n)*?superseded_by: ([\w/.-]+)\n")
KEPT_BACK = "[kept back, as it was asked to be forgotten]"


def _heading(path: str, when: FileDate | None, *notes: str) -> str:
    """Return the line over a file's lines: its path, its weekday, and notes on it.

    The whole date stands there if the path does not tell it.
    """
    parts = [path, _heading_date(path, when), *notes]
    return "  ".join(part for part in parts if part)


def _heading_date(path: str, when: FileDate | None) -> str:
    if when is None:
        return ""
    if when == when_of(path):
        return "" if when.month else f"{when.date:%a}"
    if when.month:
        return f"{when.date:%B %Y}"
    return f"{spelt(when.date)} {when.time or ''}".strip()


def file_heading(folder: Folder, path: str, *notes: str) -> str:
    """Return the line over a file's lines, which says if it is superseded or archived."""
    return _heading(path, when_of(path), _fate(folder, path), *notes)


def _fate(folder: Folder, path: str) -> str:
    """Return what has become of a memory: `superseded by PATH`, or else `archived`."""
    with contextlib.suppress(FilememError):
        by = _superseded_by(folder, path)
        if by:
            return f"superseded by {by}"
    return "archived" if is_archived(path) else ""


def _superseded_by(folder: Folder, path: str) -> str:
    """Return the path that replaced a memory; empty if none did.

    Front matter is loaded as YAML, which takes as long as a grep, only where one plain
    line of it does not tell.
    """
    if kind_of(path) not in ("facts", "lessons"):
        return ""
    data = folder.read(path, MAX_HEAD_BYTES)
    plain = _SUPERSEDED_BY.match(data)
    if plain:
        return plain[1].decode()
    if b"superseded_by" not in data:
        return ""
    return one_line(str(folder.memory(path).metadata.get("superseded_by") or ""))


def _call(tool: str, **arguments: Any) -> str:
    """Return a call as a model may send it, without arguments that are None."""
    given = {key: value for key, value in arguments.items() if value is not None}
    return f"{tool} {json_visible(json.dumps(given, ensure_ascii=False))}"


# -- lines -----------------------------------------------------------------------------


def line_text(
    text: str, day: dt.date | None, path: str, line: int, longest: int = LONGEST_LINE
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
        from filemem.text import dates  # noqa: PLC0415  takes as long to load as a grep takes

        shown = dates.annotate(shown, day)
    if len(text) <= longest:
        return shown
    if longest == MAX_OPENED_CHARS:
        return f"{shown} [clipped: {len(text):,} characters; grep finds in the rest]"
    call = _call("open", path=path, line=line, lines=1)
    return f"{shown} [clipped: {len(text):,} characters; {call} shows more]"


class DatedLines:
    """Shows one file's lines below each other, a turn of another day with its day.

    What is withheld is not shown, unless `everything` is.
    """

    def __init__(self, folder: Folder, path: str, *, everything: bool = False) -> None:
        self._path = path
        self._hidden = set() if everything else hidden_lines(folder, path)
        file_day = _day_of(when_of(path))
        self._last_day = file_day
        self._starts = [0]
        self._days = [file_day]
        if kind_of(path) in SPOKEN and file_day:
            for turn in _passages(folder, path):
                self._starts.append(turn.line)
                self._days.append(turn.day or file_day)

    def shown(self, text: str, line: int, longest: int = LONGEST_LINE) -> str:
        """Return a line as the tools show it.

        Its day stands behind its clock if neither it nor the line above tells it.
        """
        if line in self._hidden or 0 in self._hidden:
            return KEPT_BACK
        turn = bisect.bisect_right(self._starts, line) - 1
        day = self._days[turn]
        is_new_day = day != self._last_day
        self._last_day = day
        shown = line_text(text, day, self._path, line, longest)
        if not is_new_day or self._starts[turn] != line:
            return shown
        head = TURN_HEAD.match(text)
        if head and str(day) not in head[0] and shown.startswith(head[0]):
            return f"{head[0][:-1]} [{day}]:{shown[head.end() :]}"
        return shown


def hidden_lines(folder: Folder, path: str) -> set[int]:
    """Return the lines of a file that are withheld; 0 stands for all of them."""
    withheld = pending.pending_deletions(folder)
    if not withheld:
        return set()
    if withheld.hides(path, 0):
        return {0}
    hidden: set[int] = set()
    for passage in _passages(folder, path):
        if withheld.hides(path, passage.line):
            hidden.update(range(passage.line, passage.end_line + 1))
    return hidden


def _passages(folder: Folder, path: str) -> list[Passage]:
    """Return the passages of a file; none if it is too large, or cannot be read."""
    memory = folder.find(path)
    return memory.passages if memory else []


def _day_of(when: FileDate | None) -> dt.date | None:
    """Return the day of a file; None if it names only a month."""
    return when.date if when and not when.month else None


# -- open ------------------------------------------------------------------------------


def page(
    folder: Folder,
    path: str,
    line: int,
    lines: int | None,
    budget: int,
    moved_from: str = "",
) -> str:
    """Return the numbered lines of a file, whole, as many as the budget holds.

    What is left out says how to see it. A line that alone exceeds the budget is
    clipped; opened by itself it is shown up to MAX_OPENED_CHARS.

    Args:
        folder: whose memory.
        path: of the file.
        line: the first line to show.
        lines: how many; None for all.
        budget: in tokens.
        moved_from: the path that was asked for.

    Raises:
        FilememError: there is no such line, or the file cannot be read.
    """
    texts = lines_of(folder, path)
    total = len(texts)
    if total and line > total:
        raise FilememError(
            f"{path} has {total} lines; open it with a line from 1 to {total}."
        )
    was_moved = moved_from and moved_from.removeprefix("./") != path
    note = f"moved from {moved_from}" if was_moved else ""
    heading = f"{file_heading(folder, path, note)}  {counted(total, 'line')}"
    if not total:
        return f"{heading}\n(no text)"
    end = total if lines is None else min(total, line - 1 + lines)
    dated = DatedLines(folder, path)
    if lines == 1:
        shown = [f"{line:>4}  {dated.shown(texts[line - 1], line, MAX_OPENED_CHARS)}"]
    else:
        shown = _lines_within(dated, texts[:end], line, budget)
    last = line + len(shown) - 1
    if last < total:
        more = _call("open", path=path, line=last + 1, lines=lines)
        shown.append(f"Lines {line} to {last} of {total}; {more} shows the next.")
    return "\n".join([heading, *shown])


def _lines_within(
    dated: DatedLines, texts: list[str], line: int, budget: int
) -> list[str]:
    """Return the numbered lines from `line` on that fit into a budget of tokens.

    The first is clipped if it does not.
    """
    shown: list[str] = []
    left = budget
    for number in range(line, len(texts) + 1):
        text = texts[number - 1]
        longest = max(1, len(clip_tokens(text[:MAX_OPENED_CHARS], budget)))
        if len(text) > longest and shown:
            break
        entry = f"{number:>4}  {dated.shown(text, number, longest)}"
        left -= count_tokens(entry)
        if left < 0 and shown:
            break
        shown.append(entry)
    return shown


# -- grep ------------------------------------------------------------------------------


@dataclass
class _ShownMatches:
    """What one answer of grep shows."""

    lines: list[str] = field(default_factory=list)
    next_offset: int = 0
    clipped: Match | None = None


def grepped(folder: Folder, found: GrepPage, asked: dict[str, Any]) -> str:
    """Return the lines that grep found, by file, within GREP_TOKENS, with their days.

    Args:
        folder: whose memories.
        found: a page of matches.
        asked: the arguments of the call, for the calls that show more.
    """
    out = [looked_at(found)]
    if not found.total:
        out.append("search_files finds what is said in other words.")
    shown = _matches_within(folder, found)
    out += [*shown.lines, *found.notes]
    if shown.clipped:
        call = _call("open", path=shown.clipped.path, line=shown.clipped.line, lines=1)
        out.append(
            f"… marks what was left out of long lines; {call} shows the first whole."
        )
    if shown.next_offset:
        out += _rest(found, shown.next_offset)
        more = _call("grep", **{**asked, "offset": shown.next_offset})
        out.append(
            f"Matches {found.offset + 1:,} to {shown.next_offset:,} of {found.total:,}; "
            f"{more} shows the next."
        )
    return "\n".join(out)


def _matches_within(folder: Folder, found: GrepPage) -> _ShownMatches:
    """Return the matches that fit, one at least, under their files' headings."""
    shown = _ShownMatches(next_offset=found.next_offset)
    withheld = pending.pending_deletions(folder)
    matched = 0
    tokens = 0
    path = ""
    left_out = False
    for match in found.lines:
        if withheld.hides(match.path, 0):  # its name may tell it, too
            matched += match.matches
            continue
        if tokens > GREP_TOKENS:
            if match.matches:
                shown.next_offset = found.offset + matched
                break
            left_out = True
            continue
        before = len(shown.lines)
        if match.path != path:
            path = match.path
            dated = DatedLines(folder, path)
            shown.lines.append(file_heading(folder, path))
        elif match.gap or left_out:
            shown.lines.append("      …")
        text = match.text
        if match.matches:
            text = around_matches(text, match.spans)
            matched += 1
        if text != match.text and not shown.clipped:
            shown.clipped = match
        sign = " " if match.matches else "-"
        shown.lines.append(f"{match.line:>4}{sign} {dated.shown(text, match.line)}")
        tokens += sum(map(count_tokens, shown.lines[before:]))
    return shown


def around_matches(
    text: str, spans: tuple[Span, ...], longest: int = LONG_CHARS
) -> str:
    """Return a line, if it is a long one only how it begins and what is around matches.

    Args:
        text: the line.
        spans: where it matches.
        longest: characters of a line that is shown whole.
    """
    if len(text) <= longest:
        return text
    head = TURN_HEAD.match(text)
    begin = head.end() if head else 0
    kept = text[:begin]
    end = begin
    places: list[Span] = []
    for first, last in spans:
        if last - first > LONG_CHARS:  # both of its ends are shown
            places += [(first, first), (last, last)]
        else:
            places.append((first, last))
    for first, last in places:
        start = max(first - AROUND_CHARS, begin)
        stop = max(last, begin) + AROUND_CHARS
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


def _rest(found: GrepPage, shown: int) -> list[str]:
    """Return a line on the files of which nothing was shown yet, on the first page."""
    counts = []
    before = 0
    for path, count in found.by_file.items():
        if before >= shown:
            counts.append(f"{path} {count:,}")
        before += count
    if not counts or found.offset:
        return []
    named = counts[:MAX_FILES_COUNTED]
    more = len(counts) - len(named)
    tail = f", and {counted(more, 'more file')}" if more else ""
    return [f"By file, the rest: {', '.join(named)}{tail}."]


def looked_at(found: GrepPage) -> str:
    """Return the first line of an answer: `12 lines in 4 of 214 files`."""
    return _looked_at(
        found.total, "line", len(found.by_file), found.files, found.archived_files
    )


def _looked_at(number: int, noun: str, files: int, of: int, archived: int) -> str:
    """Return `12 lines in 4 of 214 files, 2 of them archived`."""
    kept = f", {archived:,} of them archived" if archived else ""
    return f"{counted(number, noun)} in {files:,} of {counted(of, 'file')}{kept}"


# -- search_files ------------------------------------------------------------------------------------------------


def searched(found: "Found", *, shell: bool = False, calls: bool = True) -> str:
    """Return the passages that search_files found, as an agent or a person reads them.

    Args:
        shell: name what to do next as a shell command, not as a tool's call.
        calls: name what to do next at all.
    """
    hits = found.hits
    paths = dict.fromkeys(hit.path for hit in hits)
    archived = sum(is_archived(path) for path in paths)
    out = [_looked_at(len(hits), "passage", len(paths), found.files, archived)]
    out += found.notes
    shown = {(hit.path, hit.line) for hit in hits}
    headed: set[str] = set()
    path = ""
    for hit in hits:
        if hit.path != path:
            path = hit.path
            out.append(_hit_heading(hit, is_more=path in headed))
            headed.add(path)
        lead = _lead(hit)
        if lead is not None and (path, lead.line) not in shown:
            shown.add((path, lead.line))
            out.append(_lead_line(lead, hit))
        out.append(_passage(hit))
    if calls:
        out += _what_was_cut(found, shell=shell)
    return "\n".join(out)


def _hit_heading(hit: "Hit", *, is_more: bool) -> str:
    """Return the heading of a file: its title, whether it holds, what it rests on."""
    if is_more:
        return _heading(hit.path, hit.when, "more")
    notes: list[str] = []
    if hit.title:
        notes.append(f'"{one_line(hit.title, LONGEST_TITLE)}"')
    if hit.archived and not hit.newer:
        notes.append("archived")
    if hit.note:
        notes.append(hit.note)
    if hit.sources:
        notes.append(f"from {one_line(', '.join(hit.sources))}")
    return _heading(hit.path, hit.when, *notes)


def _lead(hit: "Hit") -> Passage | None:
    """Return the turn that a short reply answers, without which it says little."""
    lead = hit.previous
    if lead is None or not hit.speaker or lead.speaker in ("", hit.speaker):
        return None
    return lead if count_tokens(hit.text) <= SHORT_REPLY_TOKENS else None


def _lead_line(lead: Passage, hit: "Hit") -> str:
    """Return the end of the turn before a short reply."""
    text = " ".join(lead.text.split())
    if len(text) > LONGEST_LEAD:
        text = f"… {text[-LONGEST_LEAD:]}"
    day = lead.day or _day_of(hit.when)
    text = line_text(text, day, hit.path, lead.line)
    return f"{lead.line:>4}- {escape_controls(lead.speaker)}: {text}"


def _what_was_cut(found: "Found", *, shell: bool) -> list[str]:
    """Return the calls that show the rest of a clipped passage, and more passages."""
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
    limit = min(2 * max(len(found.hits), 5), MOST_HITS)
    if found.more and found.hits and limit > len(found.hits):
        how = f"filemem search --limit {limit}" if shell else f'"limit": {limit}'
        lines.append(f"There are weaker ones; {how} shows more.")
    return lines


def _passage(hit: "Hit") -> str:
    """Return a passage: its line number, who said it when, what.

    Further lines are indented under the first.
    """
    is_of_another_day = hit.when is not None and hit.date != hit.when.date
    said = ""
    if hit.speaker:
        said = escape_controls(hit.speaker)
        if is_of_another_day:
            said += f" {hit.date}"
        has_own_time = hit.when is None or hit.time != hit.when.time
        if hit.time and (is_of_another_day or has_own_time):
            said += f" {hit.time}"
        said += ": "
    day = hit.date if is_of_another_day else _day_of(hit.when)
    first, *rest = [
        line_text(line, day, hit.path, hit.line) for line in hit.excerpt.split("\n")
    ]
    lines = [f"{hit.line:>4}  {said}{first}"]
    lines += [f"      {line}" for line in rest]
    return "\n".join(lines)


def spelt(day: dt.date) -> str:
    """`Fri 20 November 2026`."""
    return f"{day:%a} {day.day} {day:%B %Y}"
