"""Commands that find and look over: search; call, which does what an agent does; timeline and report."""

import os
import pathlib
import sys
import tempfile
import webbrowser
from collections.abc import Iterator
from typing import Any

import click

from filemem import index
from filemem.cli.context import (
    Context,
    after_option,
    as_of_option,
    before_option,
    command,
    complete_path,
    json_option,
    path_option,
    speaker_option,
)
from filemem.cli.screen import Line, Output, Row, Safe, answer, dim, progress
from filemem.errors import FilememError
from filemem.files import archive, globs, safe
from filemem.overview import report
from filemem.overview import timeline as times
from filemem.search import search_files
from filemem.text.dates import parse_bound
from filemem.text.plain import one_line
from filemem.tools import answers
from filemem.tools.toolbox import Toolbox

_SHOWN = "path line end_line date score text archived speaker time strength note has near lacks".split()  # with --json
_BEGINNING = 2_000  # bytes, in which a report says whose it is


@command(
    "search",
    click.argument("query", nargs=-1, required=True),
    click.option("--limit", "-n", type=click.IntRange(1, 200), help="Most passages to show."),
    path_option,
    speaker_option,
    after_option,
    before_option,
    click.option("--explain", is_flag=True, help="Show what made each passage's score."),
    json_option,
    as_of_option,
)
def search_command(call: Context, query: tuple[str, ...], explain: bool, **filters: Any) -> Output:
    """Find the passages that best answer QUERY, words or a whole question.

    --as-of DATE asks what was believed on a day, --today DATE what was true on it by what is known now.

    Example: filemem search "what tea does Mara like?"

    Exit code 1 where nothing was found.
    """
    user, text = call.the_user(), " ".join(query)
    with progress("indexing") as show:
        index.of(user).corpus(show)
    anchor = call.today.date() if call.today else None
    found = search_files(index.of(user), text, today=call.now.date(), anchor=anchor, **filters)
    if call.json:
        for hit in found.hits:
            more = {"title": hit.title, "sources": hit.sources, "superseded_by": hit.newer, "parts": hit.parts}
            facts = {key: getattr(hit, key) for key in _SHOWN}
            facts |= {key: value for key, value in more.items() if value}
            yield Row({**facts, "file": f"{user.root}/{hit.path}"}, [])
        return 0 if found.hits else 1
    yield from answer(answers.searched(found))
    if explain:
        yield f"\n{found.certainty:.0%} certain"
    for hit in sorted(found.hits, key=lambda hit: -hit.score) if explain else ():
        parts = sorted(hit.parts.items(), key=lambda part: -abs(part[1]))
        yield f"{hit.score:6.2f}  {hit.path}:{hit.line}  {', '.join(f'{name} {value:+.2f}' for name, value in parts)}"
    return 0 if found.hits else 1


@command("call", click.argument("tool"), click.argument("arguments", default="{}"))
def call_command(call: Context, tool: str, arguments: str) -> Output:
    """Call one of the four tools as an agent does.

    ARGUMENTS are JSON; what is printed is exactly what an agent would see. Exit code 1 where that is an error.

    Example: filemem call search_files '{"query": "What tea does Mara like?"}'
    """
    said = Toolbox(call.the_user(), lambda: call.now).call(tool, arguments)
    yield Safe(said)
    return 1 if said.startswith("Error: ") else 0


@command(
    "timeline",
    click.argument("glob", default="facts/**", shell_complete=complete_path),
    after_option,
    before_option,
    json_option,
    as_of_option,
)
def timeline_command(call: Context, glob: str, after: str | None, before: str | None) -> Output:
    """Show what happened when, oldest first.

    Each fact is listed on the day that it is about, else on its own date; what has ended says when. GLOB names other memories,
    such as 'sessions/**' or '**'; archived ones are shown, too. Exit code 1 where there is nothing.

    Example: filemem timeline --after 2026-05
    """
    user, wanted, today = call.the_user(), globs.matcher(glob), call.now.date()
    try:
        days = [parse_bound(given, today, end) if given else None for given, end in ((after, False), (before, True))]
    except ValueError as error:
        raise FilememError(str(error)) from None
    bounds = {key: day for key, day in zip(("after", "before"), days, strict=True) if day}
    events = times.timeline(user, lambda path: wanted(archive.live(path)), **bounds)
    for one in events:
        ended = f" (until {one.until})" if one.until else " (archived)" if one.archived else ""
        said = f"{one.day():10}  {one_line(one.text, 160)}{ended}  "
        yield Row(one.as_json(), [Safe(said + dim(f"{one.path}:{one.line}"))])
    return 0 if events else 1


@command(
    "report",
    click.option("--output", "-o", metavar="FILE", type=click.Path(), help="Write the page there, and open nothing."),
    click.option("--force", "-f", is_flag=True, help="Overwrite a file that is not a report."),
)
def report_command(call: Context, output: str | None, force: bool) -> Iterator[Line]:
    """Open a page to read: the profile, what holds by topic, what happened when, what fades and what was archived, and why.

    It is one HTML file that needs no network and no script, in a temporary folder of yours. With -o it is written where you
    say: an earlier report is overwritten; another file is only with -f.

    Example: filemem report -o report.html
    """
    user, opens = call.the_user(), not output
    output = output or os.path.join(tempfile.mkdtemp(prefix="filemem-"), f"{user.name}.html")
    above, where = os.path.realpath(os.path.dirname(output) or "."), os.path.abspath(output)
    if f"{above}{os.sep}".startswith(os.path.realpath(user.above) + os.sep):
        raise FilememError(f"{one_line(output)} is among the memories, and would become one; name a place outside.")
    if os.path.isdir(where) or not os.path.isdir(above):
        raise FilememError(f"{one_line(output)} cannot be a file there; name one in a folder that exists.")
    if os.path.lexists(where) and not force:
        ours = not os.path.islink(where) and report.is_our_page(safe.read(where, _BEGINNING).decode(errors="replace"))
        if not ours:
            raise FilememError(
                f"{one_line(output)} is not a report of filemem's; name another file, or overwrite it with -f."
            )
    with progress("looking") as show:
        text, memories = report.page(user, call.now, show)
    safe.write(where, text.encode())
    yield f"Wrote {output}: {memories:,} memories."
    if opens and sys.stdout.isatty():
        webbrowser.open(pathlib.Path(output).as_uri())
