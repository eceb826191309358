"""Commands that find and show: search, grep, open, list, timeline, report; call."""

import itertools
import os
import pathlib
import sys
import tempfile
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
from filemem.cli.output import Output, Progress, Row, Safe, at_terminal, dim, say_dim
from filemem.errors import FilememError
from filemem.store import files, globs, usage
from filemem.store.folder import Folder
from filemem.store.paths import is_archived, kind_of, live, when_of
from filemem.text.plain import counted, one_line
from filemem.tools import render
from filemem.tools.grep import by_day, grep, text_file

ALL = 10**9
MAX_LINE_CHARS = 2_000  # of a longer line grep shows what is around its matches
REPORT = "tmp/report/report.html"  # in the bookkeeping, emptied by the next job
_HIT_KEYS = (
    "path line end_line date score text archived speaker time strength note title "
    "sources parts"
).split()
_MATCH_KEYS = "path line text archived".split()


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
    with Progress("indexing") as show:
        index.of(user).corpus(show)
    found = search_files(
        index.of(user), " ".join(query), today=call.now.date(), **filters
    )
    _note_use(call, user)
    for hit in found.hits:
        data = {key: getattr(hit, key) for key in _HIT_KEYS}
        data |= {"superseded_by": hit.newer, "file": f"{user.root}/{hit.path}"}
        yield Row(data)
    yield from render.searched(found, call.now.date()).split("\n")
    yield from render.what_was_cut(found, shell=True)
    if explain:
        yield ""
        for hit in sorted(found.hits, key=lambda hit: -hit.score):
            parts = sorted(hit.parts.items(), key=lambda part: -abs(part[1]))
            told = ", ".join(_explained(name, value) for name, value in parts)
            yield f"{hit.score:6.2f}  {hit.path}:{hit.line}  {told}"
    return 0 if found.hits else 1


def _explained(name: str, value: float) -> str:
    """Say what a part of a score adds, or what all the others are multiplied by."""
    return f"{name} ×{value:.2f}" if name == "(times)" else f"{name} {value:+.2f}"


def _note_use(call: Context, user: Folder) -> None:
    """Note that the person has searched themselves, at a terminal and as of now."""
    if at_terminal() and not call.today:
        usage.note_use(user, call.now.date())


@click.command("call")
@click.argument("tool")
@click.argument("arguments", default="{}")
@prints
def call_command(call: Context, tool: str, arguments: str) -> Output:
    """Call one of the four tools as an agent does.

    ARGUMENTS are JSON; what is printed is exactly what an agent would see. Exit code 1
    if that is an error.

    Example: filemem call search_files '{"query": "What tea does Mara like?"}'"""
    from filemem.overview.briefing import briefing  # noqa: PLC0415  slow to load
    from filemem.tools.toolbox import Toolbox  # noqa: PLC0415  which loads the index

    toolbox = Toolbox(call.the_user(), lambda: call.now, briefing)
    answer = toolbox.call(tool, arguments)
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
    if speaker or after or before:  # a grep for words does without their modules
        from filemem import index  # noqa: PLC0415
        from filemem.search import filters  # noqa: PLC0415

        how["days"] = filters.bounds(after, before, call.now.date())
        if speaker:
            how["speakers"] = filters.speaker_names(index.of(user).corpus(), speaker)
    found = grep(user, pattern, page=ALL, **how)
    _note_use(call, user)
    yield render.looked_at(found)
    path = ""
    for match in found.lines:
        lines = []
        if match.path != path:
            path = match.path
            lines.append(render.file_heading(user, path, call.now.date()))
        elif match.gap:
            lines.append("      …")
        sign = " " if match.matches else "-"
        text = render.around_matches(match, MAX_LINE_CHARS)
        lines.append(f"{match.line:>4}{sign} {text}")
        data = {key: getattr(match, key) for key in _MATCH_KEYS}
        yield Row(data if match.matches else {}, lines)
    yield from found.notes
    if found.next_offset:
        left = found.total - found.next_offset
        say_dim(f"{left:,} more lines match; --path and --after show fewer.")
    return 0 if found.total else 1


@click.command("open")
@path_argument
@as_of_option
@prints
def open_command(call: Context, path: str) -> Output:
    """Read a memory by line.

    PATH:LINE reads from that line on.

    Example: filemem open profile.md"""
    user = call.the_user()
    name, line = split_line(user, path)
    found = user.locate(name)
    texts = text_file(user, found).lines
    first = line or 1
    render.check_line(found, first, len(texts))
    heading = render.file_heading(user, found, call.now.date(), name)
    yield f"{heading}  {counted(len(texts), 'line')}"
    for number in range(first, len(texts) + 1):
        yield f"{number:>4}  {texts[number - 1]}"
    if not texts:
        yield "(no text)"


@click.command("list")
@click.argument("glob", default="**")
@limit_option
@json_option
@as_of_option
@prints
def list_command(call: Context, glob: str, limit: int | None) -> Output:
    """List memories, newest first, archived ones last.

    GLOB names the files to list. Exit code 1 if there is none.

    Example: filemem list 'facts/**'"""
    user = call.the_user()
    is_wanted = globs.matcher(glob)
    stats = by_day(stat for stat in user.files() if is_wanted(stat.path))
    for stat in itertools.islice(stats, limit):
        when = when_of(stat.path)
        row = {
            "path": stat.path,
            "kind": kind_of(stat.path),
            "date": when.date if when else None,
            "size": stat.size,
            "archived": is_archived(stat.path),
        }
        yield Row(row, [stat.path])
    if not stats:
        say_dim(str(user.no_match(glob)))
    return 0 if stats else 1


@click.command("timeline")
@click.argument("glob", default="{facts,sessions}/**")
@after_option
@before_option
@json_option
@as_of_option
@prints
def timeline_command(
    call: Context, glob: str, after: str | None, before: str | None
) -> Output:
    """Show what happened when, oldest first.

    A fact is listed on each day it is about, or else on its own date; one that has
    ended says when. A conversation is listed on each of its days, by the first words.
    GLOB
    names other memories, such as 'facts/**' or '**'; archived ones are shown too. Exit
    code 1 if there is nothing.

    Example: filemem timeline --after 2026-05"""
    from filemem import overview  # noqa: PLC0415  which a grep does without
    from filemem.search import filters  # noqa: PLC0415

    user = call.the_user()
    matches = globs.matcher(glob)
    days = filters.bounds(after, before, call.now.date())
    paths = [one for one in user.paths() if matches(one) or matches(live(one))]
    events = overview.timeline(user, paths, days)
    for event in events:
        ended = ""
        if event.until:
            ended = f" (until {event.until})"
        elif event.archived:
            ended = " (archived)"
        what = f"{event.day():10}  {one_line(event.text, 160)}{ended}"
        place = dim(f"{'':12}{event.path}:{event.line}")
        yield Row(asdict(event), [what, place])
    if not events:
        say_dim("Nothing is of that; filemem timeline '**' shows everything.")
    return 0 if events else 1


@click.command("report")
@click.option(
    "--output", "-o", metavar="FILE", help="Write the page there, and open nothing."
)
@prints
def report_command(call: Context, output: str | None) -> Output:
    """Open one page: who, what holds, what comes, what fades.

    It is one HTML file without scripts or network access. It lies in the store until
    the next job, or where -o says; nothing is overwritten there. Of a store that cannot
    be written it goes to a temporary folder.

    Example: filemem report -o report.html"""
    import webbrowser  # noqa: PLC0415  which a grep does without

    from filemem import overview  # noqa: PLC0415

    user = call.the_user()
    with Progress("looking") as show:
        text = overview.page(user, call.now, show)
    if output:
        if not output.endswith(".html"):  # else it might become a memory
            raise FilememError(f"{one_line(output)} does not end in .html; let it.")
        files.create(os.path.abspath(output), text.encode())
        yield f"Wrote {output}."
        return
    place = user.bookkeeping(REPORT)
    if user.is_read_only:
        place = os.path.join(tempfile.mkdtemp(), "report.html")
    files.make_folder(os.path.dirname(place))
    files.write(place, text.encode())
    yield f"Wrote {place}."
    if sys.stdout.isatty():
        webbrowser.open(pathlib.Path(place).as_uri())
