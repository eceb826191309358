"""The text that the four tools answer with: written for a language model, and to be read by a person as it stands."""

import bisect
import contextlib
import datetime as dt
import itertools
import json
import re
from typing import TYPE_CHECKING, Any

from filemem.errors import FilememError
from filemem.files import journal, sections
from filemem.files.folder import Folder
from filemem.files.memory import (
    SPOKEN,
    TURN_HEAD,
    FileDate,
    Passage,
    is_archived,
    kind_of,
    live,
    when_of,
)
from filemem.grep.lines import GrepPage, Match, lines_of
from filemem.text.plain import (
    count_tokens,
    counted,
    escape_controls,
    json_visible,
    one_line,
)

if TYPE_CHECKING:
    from filemem.search.searching import Found, Hit

LONGEST_LINE = 2000  # characters shown of one line among others, or of one passage
WHOLE_LINE = 20_000  # characters shown of a line that is opened alone
UNCLIPPED = 1_000_000  # characters shown of a line to a person
LONGEST_LEAD = 160  # characters shown of the turn that a passage leans on
LONGEST_TITLE = 100  # characters shown of a note's title
LONG, AROUND = (
    500,
    60,
)  # characters of a line, of a longer one grep shows so many on each side of a match
LEAST_CUT = 200  # characters that are worth the line that says how to see them
MOST_FILES = 15  # of which grep says how many lines match
GREP_TOKENS = 1500  # in one answer of grep
MOST_HITS = 200  # passages of a search
HEAD = 8192  # bytes of a file in which its front matter is looked for
_SUPERSEDED_BY = re.compile(rb"---\n(?:(?!---)[^\n]*\n)*?superseded_by: ([\w/.-]+)\n")
KEPT_BACK = "[kept back, as it was asked to be forgotten]"


def _heading(path: str, when: FileDate | None, *notes: str) -> str:
    """The line over a file's lines: path, weekday, and what is to be noted of it; the date where the path does not tell it."""
    told = when == when_of(path)
    if when and when.month:
        date = "" if told else f"{when.date:%B %Y}"
    else:
        date = (
            (
                f"{when.date:%a}"
                if told
                else f"{spelt(when.date)} {when.time or ''}".strip()
            )
            if when
            else ""
        )
    return "  ".join(filter(None, (path, date, *notes)))


def _fate(folder: Folder, path: str) -> str:
    """What has become of a memory: `superseded by PATH`, else `archived` if it lies there."""
    with contextlib.suppress(FilememError):
        data = folder.read(path, HEAD) if kind_of(path) in ("facts", "lessons") else b""
        if plainly := _SUPERSEDED_BY.match(
            data
        ):  # to load YAML takes as long as a grep
            return f"superseded by {plainly[1].decode()}"
        if b"superseded_by" in data and (
            by := folder.memory(path).particular("superseded_by")
        ):
            return f"superseded by {one_line(by)}"
    return "archived" if is_archived(path) else ""


def _call(tool: str, **arguments: Any) -> str:
    """A call as a model may send it, without arguments that are None."""
    given = {key: value for key, value in arguments.items() if value is not None}
    return f"{tool} {json_visible(json.dumps(given, ensure_ascii=False))}"


def line_text(
    text: str, day: dt.date | None, path: str, line: int, longest: int = LONGEST_LINE
) -> str:
    """A line as the tools show it: clipped, no control characters, relative dates resolved in brackets where `day`, from which
    they count, is known."""
    shown = escape_controls(text[:longest])
    if day:
        from filemem.text import dates  # noqa: PLC0415  whose patterns take as long to import as a person's grep to run

        shown = dates.annotate(shown, day)
    if len(text) <= longest:
        return shown
    more = (
        f"; {_call('open', path=path, line=line, lines=1)} shows more"
        if longest < WHOLE_LINE
        else ""
    )
    return f"{shown} [clipped: {len(text):,} characters{more}]"


class _Days:
    """One file's lines as they are shown below each other: a turn of another day than the last has its own, and what is
    withheld is left out unless a person looks, who sees the `whole`."""

    def __init__(self, folder: Folder, path: str, *, whole: bool = False) -> None:
        self._path = path
        self._hidden = set() if whole else hidden_lines(folder, path)
        self._last = self._file = _day_of(when_of(path))
        turns = (
            _passages(folder, path) if kind_of(path) in SPOKEN and self._file else []
        )
        self._turns = [
            (0, self._file),
            *((turn.line, turn.day or self._file) for turn in turns),
        ]

    def shown(self, text: str, line: int, longest: int = LONGEST_LINE) -> str:
        """A line as the tools show it, its day in brackets behind its clock where neither it nor the line above tells."""
        if line in self._hidden or 0 in self._hidden:
            return KEPT_BACK
        start, day = self._turns[
            bisect.bisect_right(self._turns, line, key=lambda turn: turn[0]) - 1
        ]
        head = TURN_HEAD.match(text) if start == line and day != self._last else None
        self._last = day
        shown = line_text(text, day, self._path, line, longest)
        if head and day and str(day) not in head[0] and shown.startswith(head[0]):
            return f"{head[0][:-1]} [{day}]:{shown[head.end() :]}"
        return shown


def hidden_lines(folder: Folder, path: str) -> set[int]:
    """The lines of a file that are withheld, 0 where all of them are."""
    found = journal.pending_deletions(folder)
    if not found or found.hides(path, 0):
        return {0} if found else set()
    hidden = (one for one in _passages(folder, path) if found.hides(path, one.line))
    return {number for one in hidden for number in range(one.line, one.end_line + 1)}


def _passages(folder: Folder, path: str) -> list[Passage]:
    """The passages of a file that can be read, and is small enough to have some."""
    memory = folder.find(path)
    return memory.passages if memory else []


def _day_of(when: FileDate | None) -> dt.date | None:
    """The day of a file, None if it names only a month."""
    return when.date if when and not when.month else None


# -- open --------------------------------------------------------------------------------------------------------


def page(
    folder: Folder,
    path: str,
    line: int,
    lines: int | None,
    budget: int,
    moved_from: str,
    *,
    whole: bool = False,
) -> str:
    """The lines of a file from `line` on, numbered, within `budget` tokens; what is left out says how to see it.

    For a model a line is clipped at LONGEST_LINE characters, at WHOLE_LINE where it is the only one asked for.
    """
    wanted, days = lines or 10**9, _Days(folder, path, whole=whole)
    longest = UNCLIPPED if whole else WHOLE_LINE if wanted == 1 else LONGEST_LINE
    shown: list[str] = []
    spent, of_file = 0, lines_of(folder, path)
    total = len(of_file)
    for number, text in enumerate(of_file[line - 1 :], line):
        entry = f"{number:>4}  {days.shown(text[: 4 * longest], number, longest)}"
        spent += count_tokens(entry)
        if len(shown) >= wanted or (spent > budget and shown):
            break
        shown.append(entry)
    if total and line > total:
        raise FilememError(
            f"{path} has {total} lines; open it with a line from 1 to {total}."
        )
    note = f"moved from {moved_from}" if moved_from.removeprefix("./") != path else ""
    head = f"{_heading(path, when_of(path), _fate(folder, path), note)}  {counted(total, 'line')}"
    if not total:
        return f"{head}\n(no text)"
    last = line + len(shown) - 1
    if last < total:
        more = _call("open", path=path, line=last + 1, lines=lines)
        shown.append(f"Lines {line} to {last} of {total}; {more} shows the next.")
    return "\n".join([head, *shown])


# -- grep --------------------------------------------------------------------------------------------------------


def grepped(
    folder: Folder, found: GrepPage, asked: dict[str, Any], *, whole: bool = False
) -> str:
    """The lines that grep found, by file, newest first: for a model those within GREP_TOKENS, with their days; else the
    `whole`, as the files have them."""
    shown, following, cut = _lines_within(folder, found, whole=whole)
    looked_at = _looked_at(
        found.total, "line", len(found.by_file), found.files, found.archived_files
    )
    out = [looked_at, *shown, *found.notes]
    if cut:
        call = _call("open", path=cut.path, line=cut.line, lines=1)
        out.append(
            f"… marks what was left out of long lines; {call} shows the first whole."
        )
    if following:
        more = _call("grep", **{**asked, "offset": following})
        if len(found.by_file) > 1:
            counts = [
                f"{path} {count:,}"
                for path, count in itertools.islice(found.by_file.items(), MOST_FILES)
            ]
            left = len(found.by_file) - len(counts)
            out.append(
                f"By file: {', '.join(counts)}{f', and {left:,} more files' if left else ''}."
            )
        out.append(
            f"Matches {found.offset + 1:,} to {following:,} of {found.total:,}; {more} shows the next."
        )
    return "\n".join(out)


def _around(text: str, places: list[tuple[int, int]]) -> str:
    """A long line, shortened to how it begins as a turn and what stands AROUND its matches, or to its beginning."""
    head = TURN_HEAD.match(text)
    start = end = head.end() if head else 0
    kept = text[:end]
    for first, last in places or [(end, end + AROUND)]:
        first, last = (
            max(first - AROUND, start),
            min(max(last, start) + AROUND, first + LONG),
        )
        if last <= end:
            continue
        kept += (
            text[max(first, end) : last] if first <= end else f" … {text[first:last]}"
        )
        end = last
    return kept if end >= len(text) else f"{kept} …"


def _told_again(
    folder: Folder, found: GrepPage
) -> dict[tuple[str, int], list[tuple[str, int]]]:
    """A fact, its line in a summary and its turn tell the same: the first shown, with the others and what describes it."""
    first: dict[str, tuple[str, int]] = {}
    out: dict[tuple[str, int], list[tuple[str, int]]] = {}
    paths = {
        line.path for line in found.lines if kind_of(line.path) in ("facts", "lessons")
    }
    facts = {path: memory for path in paths if (memory := folder.find(path))}

    def describes(line: Match) -> bool:
        return line.path in facts and not any(
            one.line <= line.line <= one.end_line for one in facts[line.path].passages
        )

    for line in sorted(found.lines, key=describes):
        here, places = (line.path, line.line), [f"{live(line.path)}:{line.line}"]
        if line.path in facts:
            places += map(live, facts[line.path].sources)
        elif kind_of(line.path) == "summaries" and (
            bullet := sections.parse(line.text, *here)
        ):
            places += [f"{live(bullet.path)}:{number}" for number in bullet.lines]
        top = next((first[place] for place in places if place in first), here)
        first |= {place: top for place in places if place not in first}
        if top != here and (top[0] != here[0] or describes(line)):
            out.setdefault(top, []).append(here)
    return out


def _lines_within(
    folder: Folder, found: GrepPage, *, whole: bool
) -> tuple[list[str], int, Match | None]:
    """The lines that fit, under their files' headings, one match at least; the offset of the next, 0 at the end; and the first
    that is shown in part. For a model what tells the same is one."""
    out: list[str] = []
    again = (
        {}
        if whole or not all(line.matches for line in found.lines)
        else _told_again(folder, found)
    )
    folded, kept_back = (
        {place for others in again.values() for place in others},
        journal.pending_deletions(folder),
    )
    path, spent, matched, skipped, days, cut = "", 0, 0, False, None, None
    for shown in found.lines:
        here, before = (shown.path, shown.line), len(out)
        if here in folded or (
            not whole and kept_back.hides(shown.path, 0)
        ):  # its name may tell it, too
            matched += 1
            continue
        if spent > GREP_TOKENS:
            if shown.matches:
                return out, found.offset + matched, cut
            skipped = True
            continue
        if shown.path != path:
            path, days = shown.path, None if whole else _Days(folder, shown.path)
            out.append(_heading(path, when_of(path), _fate(folder, path)))
        elif shown.gap or skipped:
            out.append("      …")
        text = shown.text
        if days and shown.matches and len(text) > LONG:
            around = _around(text, found.pattern.places(text))
            if len(text) - len(around) > LEAST_CUT:
                text, cut = around, cut or shown
        text = (
            days.shown(text, shown.line)
            if days
            else line_text(text, None, path, shown.line)
        )
        if others := [
            f"{other}:{line}"
            for other, line in again.get(here, ())
            if not kept_back.hides(other, line)
        ]:
            text += f" [also {', '.join(others)}]"
        out.append(f"{shown.line:>4}{'  ' if shown.matches else '- '}{text}")
        spent += sum(count_tokens(entry) for entry in out[before:]) if not whole else 0
        matched += shown.matches
    return out, found.next_offset, cut


def _looked_at(number: int, noun: str, files: int, of: int, archived: int) -> str:
    """`12 lines in 4 of 214 files, 2 of them archived`."""
    kept = f", {archived:,} of them archived" if archived else ""
    return f"{counted(number, noun)} in {files:,} of {counted(of, 'file')}{kept}"


# -- search_files ------------------------------------------------------------------------------------------------


def searched(found: "Found", *, shell: bool = False, calls: bool = True) -> str:
    """The passages that search_files found, by file; what to do next as a model calls the tools, as a `shell` command, or
    without `calls` not said."""
    hits = found.hits
    files = dict.fromkeys(hit.path for hit in hits)
    archived = sum(is_archived(path) for path in files)
    out = [
        _looked_at(len(hits), "passage", len(files), found.files, archived)
        + found.strength,
        *found.notes,
    ]
    shown, path, begun = {(hit.path, hit.line) for hit in hits}, "", set[str]()
    for hit in hits:
        if hit.path != path:
            path = hit.path
            named = f'"{one_line(hit.title, LONGEST_TITLE)}"' if hit.title else ""
            lies = (
                "archived"
                if is_archived(path) and "superseded by" not in hit.note
                else ""
            )
            out.append(
                _heading(
                    path,
                    hit.when,
                    *(("more",) if path in begun else (named, lies, hit.note)),
                )
            )
            begun.add(path)
        if (lead := hit.before) and (
            path,
            lead.line,
        ) not in shown:  # its end is what was replied to
            shown.add((path, lead.line))
            text = " ".join(lead.text.split())
            text = text if len(text) <= LONGEST_LEAD else "… " + text[-LONGEST_LEAD:]
            text = line_text(text, lead.day or _day_of(hit.when), path, lead.line)
            out.append(f"{lead.line:>4}- {escape_controls(lead.speaker)}: {text}")
        out.append(_passage(hit))
    if calls and (cut := next((hit for hit in hits if hit.cut), None)):
        call = _call(
            "open", path=cut.path, line=cut.line, lines=cut.end_line - cut.line + 1
        )
        call = (
            f"filemem open '{escape_controls(cut.path)}:{cut.line}'" if shell else call
        )
        out.append(
            f"… marks what was left out of long passages; {call} shows the first whole."
        )
    if calls and found.more:
        limit = min(2 * max(len(hits), 5), MOST_HITS)
        more = f"; {'filemem search --limit' if shell else 'limit:'} {limit} shows more"
        out.append(
            f"{found.more:,} weaker left out{more if len(hits) < MOST_HITS else ''}."
        )
    return "\n".join(out)


def _passage(hit: "Hit") -> str:
    """One passage: its line number, who said it, what; further lines are indented under it."""
    other = f" {hit.date}" if hit.when and hit.date != hit.when.date else ""
    clock = (
        f" {hit.time}"
        if hit.time and (other or hit.when is None or hit.time != hit.when.time)
        else ""
    )
    speaker = f"{escape_controls(hit.speaker)}{other}{clock}: " if hit.speaker else ""
    day = hit.date if other else _day_of(hit.when)
    first, *rest = [
        line_text(line, day, hit.path, hit.line) for line in hit.excerpt.split("\n")
    ]
    return "\n".join(
        [f"{hit.line:>4}  {speaker}{first}", *(f"      {line}" for line in rest)]
    )


def spelt(day: dt.date) -> str:
    """`Fri 20 November 2026`."""
    return f"{day:%a} {day.day} {day:%B %Y}"
