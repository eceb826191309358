"""The text that the four tools answer with: written for a language model, and to be read by a person as it stands."""

import datetime as dt
import json
from typing import Any

from filemem import dates, reading, tokens
from filemem.errors import FilememError
from filemem.folder import Folder
from filemem.grep import Grepped
from filemem.memory import ARCHIVE, When, when_of
from filemem.plain import visible
from filemem.search import Found, Hit

LONGEST_LINE = 2000  # characters shown of one line


def heading(path: str, when: When | None, note: str = "") -> str:
    """The line over a file's lines: path, date, weekday, time."""
    date = ""
    if when:
        date = (
            f"  {when.date:%B %Y}"
            if when.month
            else f"  {dates.heading(when.date)}{' ' + when.time if when.time else ''}"
        )
    archived = "  archived" if path.startswith(ARCHIVE + "/") else ""
    return f"{path}{date}{archived}{'  ' + note if note else ''}"


def next_call(tool: str, arguments: dict[str, Any]) -> str:
    """A call as the model may send it."""
    return f"{tool} {json.dumps(arguments, ensure_ascii=False)}"


def line_text(text: str, when: When | None) -> str:
    """A line as the tools show it: clipped, without control characters, its relative dates resolved in brackets."""
    shown = visible(text[:LONGEST_LINE])
    if when and not when.month:
        shown = dates.annotate(shown, when.date)
    return shown + (f" [clipped: {len(text):,} characters]" if len(text) > LONGEST_LINE else "")


# -- open --------------------------------------------------------------------------------------------------------


def page(folder: Folder, path: str, line: int, lines: int | None, budget: int, moved_from: str) -> str:
    """The lines of a file from `line` on, numbered, within `budget` tokens; what is left out says how to see it."""
    when, wanted = when_of(path), lines or 10**9
    shown: list[str] = []
    spent = total = last = 0
    for total, text in enumerate(reading.lines(folder, path, 8 * LONGEST_LINE), 1):
        if total < line or last:
            continue
        entry = f"{total:>4}  {line_text(text, when)}"
        spent += tokens.count(entry)
        if len(shown) >= wanted or (spent > budget and shown):
            last = total - 1
        else:
            shown.append(entry)
    if total and line > total:
        raise FilememError(f"{path} has {total} lines; open it with a line from 1 to {total}.")
    note = f"moved from {moved_from}" if moved_from != path and moved_from.removeprefix("./") != path else ""
    head = f"{heading(path, when, note)}  {total} line{'s' * (total != 1)}"
    if not total:
        return f"{head}\n(no text)"
    if last:
        more = next_call("open", {"path": path, "line": last + 1, **({"lines": lines} if lines else {})})
        shown.append(f"Lines {line} to {last} of {total}; {more} shows the next.")
    return "\n".join([head, *shown])


# -- grep --------------------------------------------------------------------------------------------------------


def grepped(found: Grepped, asked: dict[str, Any]) -> str:
    """The lines that grep found, by file, newest first."""
    out = [
        f"{_count(found.total, 'line')} in {_count(found.matching_files, '', of=found.files)}{_archived(found.archived_files)}"
    ]
    path = ""
    for shown in found.lines:
        if shown.path != path:
            path = shown.path
            out.append(heading(path, when_of(path)))
        elif shown.gap:
            out.append("      …")
        out.append(f"{shown.line:>4}{'  ' if shown.matches else '- '}{line_text(shown.text, when_of(path))}")
    out += found.notes
    if found.next_offset:
        more = next_call("grep", {**asked, "offset": found.next_offset})
        out.append(f"Matches {found.offset + 1} to {found.next_offset} of {found.total}; {more} shows the next.")
    return "\n".join(out)


def _count(number: int, noun: str, of: int | None = None) -> str:
    """`1 line`, `12 lines`, `4 of 214 files`."""
    if of is not None:
        return f"{number:,} of {of:,} file{'s' * (of != 1)}"
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _archived(count: int) -> str:
    return f", {count:,} of them archived" if count else ""


# -- search_files ------------------------------------------------------------------------------------------------


def searched(found: Found, asked: dict[str, Any]) -> str:
    """The passages that search_files found, best file first, each file once."""
    files = dict.fromkeys(hit.path for hit in found.hits)
    archived = sum(path.startswith(ARCHIVE + "/") for path in files)
    out = [
        f"{_count(len(found.hits), 'passage')} in {_count(len(files), '', of=found.files)}{_archived(archived)}{found.strength}"
    ]
    out += found.notes
    path = ""
    for hit in found.hits:
        if hit.path != path:
            path = hit.path
            out.append(heading(path, hit.when, hit.note))
        out.append(_passage(hit))
    if found.more:
        more = next_call("search_files", {**asked, "limit": found.more})
        out.append(f"Weaker passages were left out; {more} shows them.")
    return "\n".join(out)


def _passage(hit: Hit) -> str:
    """One passage: its line number, who said it, what; further lines are indented under it."""
    clock = f" {hit.time}" if hit.time and (hit.when is None or hit.time != hit.when.time) else ""
    speaker = f"{visible(hit.speaker)}{clock}: " if hit.speaker else ""
    first, *rest = [line_text(line, hit.when) for line in hit.text.split("\n")]
    return "\n".join([f"{hit.line:>4}  {speaker}{first}", *(f"      {line}" for line in rest)])


def today_heading(now: dt.datetime) -> str:
    """`Fri 20 Nov 2026 09:30`."""
    return f"{dates.heading(now.date())} {now:%H:%M}"
