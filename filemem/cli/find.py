"""Commands that find and show: search, grep, open, list, timeline, report; call."""

import itertools
import os
import pathlib
import shlex
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import click

from filemem.cli.context import (
    Context,
    after_option,
    as_of_option,
    before_option,
    json_option,
    limit_option,
    path_argument,
    path_option,
    prints,
    speaker_option,
    split_line,
)
from filemem.cli.output import Output, Row, Safe, dim, progress, say_dim
from filemem.errors import FilememError
from filemem.store import files, globs
from filemem.store.folder import Folder, Stat
from filemem.store.memory import Memory, parse
from filemem.store.paths import is_archived, kind_of, live, when_of
from filemem.text.plain import counted, one_line
from filemem.tools import render
from filemem.tools.grep import GrepPage, by_day, grep

LINES_ON_SCREEN = 200  # matches shown on a terminal at once
MAX_LINE_CHARS = 2_000  # of a longer line grep shows what is around its matches
REPORT = "tmp/report/report.html"  # in the bookkeeping, emptied by the next job
MAX_TITLE_BYTES = 20_000  # of a file, in which list looks for what it says
_SHOWN = (
    "path line end_line date score text archived speaker time strength note title "
    "sources parts"
).split()


@click.command("search")
@click.argument("query", nargs=-1, required=True)
@limit_option
@path_option
@speaker_option
@after_option
@before_option
@click.option("--explain", is_flag=True, help="Show what made each passage's score.")
@json_option
@as_of_option
@prints
def search_command(
    call: Context, query: tuple[str, ...], explain: bool, **filters: Any
) -> Output:
    """Find the passages that best answer a question.

    --as-of DATE asks what the files said on a day; --today DATE what was true that day,
    by what is known now. Exit code 1 if nothing was found.

    Example: filemem search 'what tea does Mara like?'"""
    from filemem import index  # noqa: PLC0415  which a grep does without
    from filemem.search.searching import search_files  # noqa: PLC0415

    user = call.the_user()
    with progress("indexing") as show:
        index.of(user).corpus(show)
    anchor = call.today.date() if call.today else None
    found = search_files(
        index.of(user), " ".join(query), today=call.now.date(), anchor=anchor, **filters
    )
    for hit in found.hits:
        data = {key: getattr(hit, key) for key in _SHOWN}
        data |= {"superseded_by": hit.newer, "file": f"{user.root}/{hit.path}"}
        yield Row(data, [])
    yield "\n".join([render.searched(found), *render.what_was_cut(found, shell=True)])
    if explain:
        yield ""
        for hit in sorted(found.hits, key=lambda hit: -hit.score):
            parts = sorted(hit.parts.items(), key=lambda part: -abs(part[1]))
            told = ", ".join(f"{name} {value:+.2f}" for name, value in parts)
            yield f"{hit.score:6.2f}  {hit.path}:{hit.line}  {told}"
    return 0 if found.hits else 1


@click.command("call")
@click.argument("tool")
@click.argument("arguments", default="{}")
@prints
def call_command(call: Context, tool: str, arguments: str) -> Output:
    """Call one of the four tools as an agent does.

    ARGUMENTS are JSON; what is printed is exactly what an agent would see. Exit code 1
    if that is an error.

    Example: filemem call search_files '{"query": "What tea does Mara like?"}'"""
    from filemem.tools.toolbox import Toolbox  # noqa: PLC0415  which loads the index

    answer = Toolbox(call.the_user(), lambda: call.now).call(tool, arguments)
    yield Safe(answer)
    return 1 if answer.startswith("Error: ") else 0


@click.command("grep")
@click.argument("pattern")
@path_option
@speaker_option
@after_option
@before_option
@click.option(
    "--context",
    "-C",
    type=click.IntRange(0, 20),
    default=0,
    help="Lines to show around each match.",
)
@click.option(
    "--order",
    type=click.Choice(["newest", "oldest"]),
    default="newest",
    help="Which files come first; newest by default.",
)
@click.option(
    "--offset", type=click.IntRange(0), default=0, help="Skip this many matches."
)
@json_option
@as_of_option
@prints
def grep_command(
    call: Context,
    pattern: str,
    speaker: str | None,
    after: str | None,
    before: str | None,
    **how: Any,
) -> Output:
    r"""Find the lines that match a regular expression.

    Newest file first, archived files last. Case matters only if PATTERN has a capital
    letter. \b marks the edge of a word. Exit code 1 if nothing was found.

    Example: filemem grep 'oolong|乌龙'"""
    user = call.the_user()
    speakers = None
    days = None
    if speaker:
        from filemem import index  # noqa: PLC0415  which a grep for words does without
        from filemem.search import filters  # noqa: PLC0415

        speakers = filters.speaker_names(index.of(user).corpus(), speaker)
    if after or before:
        from filemem.search import filters  # noqa: PLC0415

        days = filters.bounds(after, before, call.now.date())
    page = LINES_ON_SCREEN if sys.stdout.isatty() and not call.json else 10**9
    found = grep(user, pattern, speakers=speakers, days=days, page=page, **how)
    if call.json:
        for match in found.lines:
            if match.matches:
                keys = ("path", "line", "text", "archived")
                yield Row({key: getattr(match, key) for key in keys}, [])
    else:
        yield "\n".join(_matches(user, found))
    if found.next_offset:
        left = found.total - found.next_offset
        say_dim(
            f"{left:,} more lines match; --offset {found.next_offset} shows the next."
        )
    return 0 if found.total else 1


def _matches(folder: Folder, found: GrepPage) -> Iterator[str]:
    """Yield matching lines for a person, as the files have them, by file."""
    yield render.looked_at(found)
    path = ""
    for match in found.lines:
        if match.path != path:
            path = match.path
            yield render.file_heading(folder, path)
        elif match.gap:
            yield "      …"
        sign = " " if match.matches else "-"
        text = render.around_matches(match, MAX_LINE_CHARS)
        yield f"{match.line:>4}{sign} {text}"
    yield from found.notes


@click.command("open")
@path_argument
@click.option(
    "--lines", type=click.IntRange(1), default=10**9, help="How many lines to show."
)
@as_of_option
@prints
def open_command(call: Context, path: str, lines: int) -> Output:
    """Read a memory by line.

    PATH:LINE reads from that line on.

    Example: filemem open profile.md"""
    user = call.the_user()
    name, line = split_line(user, path)
    yield "\n".join(_opened(user, name, line or 1, lines))


def _opened(folder: Folder, name: str, line: int, lines: int) -> Iterator[str]:
    """Yield the numbered lines of a memory for a person."""
    path = folder.locate(name)
    dated = render.DatedLines(folder, path, everything=True)
    texts = dated.lines
    render.check_line(path, line, len(texts))
    moved = f"moved from {name}" if name.removeprefix("./") != path else ""
    heading = render.file_heading(folder, path, moved)
    yield f"{heading}  {counted(len(texts), 'line')}"
    end = min(len(texts), line - 1 + lines)
    for number in range(line, end + 1):
        text = texts[number - 1]
        yield f"{number:>4}  {dated.shown(number, text, len(text))}"
    if not texts:
        yield "(no text)"
    elif end < len(texts):
        yield (
            f"Lines {line} to {end} of {len(texts)}; "
            f"filemem open {shlex.quote(f'{path}:{end + 1}')} shows the next."
        )


@click.command("list")
@click.argument("glob", required=False)
@limit_option
@json_option
@as_of_option
@prints
def list_command(call: Context, glob: str | None, limit: int | None) -> Output:
    """List memories, newest first, archived ones last.

    GLOB names the files to list. Exit code 1 if there is none.

    Example: filemem list 'facts/**'"""
    user = call.the_user()
    wanted = globs.matcher(glob or "**")
    stats = by_day(stat for stat in user.files() if wanted(stat.path))
    for stat in itertools.islice(stats, limit):
        row = _listed(user, stat)
        yield Row(row, [f"{row['path']}  {one_line(row['title'], 80)}"])
    if not stats and not call.json:
        say_dim(str(user.no_match(glob or "**")))
    return 0 if stats else 1


def _listed(folder: Folder, stat: Stat) -> dict[str, Any]:
    """Return a memory as `list` shows it."""
    when = when_of(stat.path)
    try:
        memory = parse(stat.path, folder.read(stat.path, MAX_TITLE_BYTES))
        when = memory.when
        title = _title(memory)
    except FilememError as error:
        title = str(error)
    return {
        "path": stat.path,
        "kind": kind_of(stat.path),
        "date": when.date if when else None,
        "size": stat.size,
        "archived": is_archived(stat.path),
        "title": title,
    }


def _title(memory: Memory) -> str:
    """Return what a session calls itself, or else the first line of what it says."""
    if memory.kind == "sessions" and memory.own_title:
        return memory.own_title
    for passage in memory.passages:
        return passage.text.split("\n")[0]
    return ""


@click.command("timeline")
@click.argument("glob", default="facts/**")
@after_option
@before_option
@json_option
@as_of_option
@prints
def timeline_command(
    call: Context, glob: str, after: str | None, before: str | None
) -> Output:
    """Show what happened when, oldest first.

    A fact is listed on the day it is about, or else on its own date; one that has ended
    says when. GLOB names other memories, such as 'sessions/**' or '**'; archived ones
    are shown too. Exit code 1 if there is nothing.

    Example: filemem timeline --after 2026-05"""
    from filemem import overview  # noqa: PLC0415  which a grep does without
    from filemem.search import filters  # noqa: PLC0415

    user = call.the_user()
    matches = globs.matcher(glob)
    days = filters.bounds(after, before, call.now.date())

    def is_wanted(path: str) -> bool:
        return matches(path) or matches(live(path))

    events = overview.timeline(user, is_wanted, days)
    for event in events:
        ended = ""
        if event.until:
            ended = f" (until {event.until})"
        elif event.archived:
            ended = " (archived)"
        line = f"{event.day():10}  {one_line(event.text, 160)}{ended}  "
        place = dim(f"{event.path}:{event.line}")
        yield Row(asdict(event), [Safe(line + place)])
    if not events and not call.json:
        nothing = (
            "Nothing is of that time; filemem timeline '**', without --after and "
            "--before, shows everything."
        )
        say_dim(nothing if days else str(user.no_match(glob)))
    return 0 if events else 1


@click.command("report")
@click.option(
    "--output", "-o", metavar="FILE", help="Write the page there, and open nothing."
)
@prints
def report_command(call: Context, output: str | None) -> Output:
    """Open one page to look at: who, what holds, what comes, what fades.

    It is one HTML file without scripts or network access. It lies in the store until the
    next job, or where -o says; only an earlier report is overwritten there.

    Example: filemem report -o report.html"""
    import webbrowser  # noqa: PLC0415  which a grep does without

    from filemem import overview  # noqa: PLC0415

    user = call.the_user()
    if output:
        place = _place_outside(user, os.path.abspath(output))
        if os.path.lexists(place) and not overview.is_our_page(place):
            raise FilememError(
                f"{one_line(place)} is not a filemem report; name another file."
            )
    else:
        place = user.bookkeeping(REPORT)
        files.make_folder(os.path.dirname(place))
    with progress("looking") as show:
        text, memories = overview.page(user, call.now, show)
    files.write(place, text.encode())
    yield f"Wrote {output or place}: {counted(memories, 'memory', 'memories')}."
    if not output and sys.stdout.isatty():
        webbrowser.open(pathlib.Path(place).as_uri())


def _place_outside(user: Folder, place: str) -> str:
    """Return a place on disk; raise FilememError if it is among the memories."""
    folder = os.path.realpath(os.path.dirname(place))
    if f"{folder}{os.sep}".startswith(user.store + os.sep):
        raise FilememError(
            f"{one_line(place)} is inside the memories and would become one; "
            "name a place outside them."
        )
    return place
