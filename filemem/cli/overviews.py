"""Commands that show memories as a whole: timeline, report."""

import datetime as dt
import os

import click

from filemem.cli.common import complete_path, now, reader, the_user
from filemem.cli.options import after_option, as_of_option, before_option, json_option
from filemem.cli.screen import dim, progress, put, say, tell
from filemem.errors import FilememError
from filemem.files import archive, globs, safe
from filemem.files.folder import Folder
from filemem.overview import report
from filemem.overview import timeline as times
from filemem.text.dates import parse_bound
from filemem.text.plain import escape_controls, one_line

_BEGINNING = 2_000  # bytes, in which a report says whose it is


@click.command("timeline")
@click.argument("glob", default="facts/**", shell_complete=complete_path)
@after_option
@before_option
@json_option
@as_of_option
def timeline_command(glob: str, after: str | None, before: str | None) -> int:
    """Show what happened when, oldest first.

    Each fact stands at the day that it tells of, else at its own date; what has ended says when. GLOB names other memories,
    such as 'sessions/**' or '**'; archived ones are shown, too. Exit code 1 where there is nothing.

    Example: filemem timeline --after 2026-05
    """
    user, wanted, today = reader(), globs.matcher(glob), now().date()
    first = _bound(after, today, end=False) or dt.date.min
    last = _bound(before, today, end=True) or dt.date.max
    events = times.timeline(user, lambda path: wanted(archive.live(path)), first, last)
    for one in events:
        ended = f" (until {one.until})" if one.until else " (archived)" if one.archived else ""
        where = dim(escape_controls(f"{one.path}:{one.line}"))
        said = f"{one.day():10}  {escape_controls(one_line(one.text, 160))}{ended}  {where}"
        tell(one.as_json(), said, how=put)
    return 0 if events else 1


def _bound(given: str | None, today: dt.date, *, end: bool) -> dt.date | None:
    try:
        return parse_bound(given, today, end) if given else None
    except ValueError as error:
        raise FilememError(str(error)) from None


@click.command("report")
@click.option("--output", "-o", required=True, metavar="FILE", type=click.Path(), help="The page to write.")
@click.option("--force", "-f", is_flag=True, help="Overwrite a file that is no report.")
def report_command(output: str, force: bool) -> None:
    """Write a page to read: the profile, what holds by topic, what happened when, what fades and what was archived, and why.

    It is one HTML file that needs no network and no script. An earlier report is overwritten; another file is only with -f.

    Example: filemem report -o report.html
    """
    user = the_user()
    where = _place(user, output)
    _spare(where, force=force)
    with progress("looking") as show:
        text, memories = report.page(user, now(), show)
    _spare(where, force=force)
    safe.write(where, text.encode())
    say(f"Wrote {output}: {memories:,} memories.")


def _place(folder: Folder, output: str) -> str:
    """Where the page goes; raises FilememError for a folder, a missing one, or a place among somebody's memories."""
    where = os.path.join(os.path.realpath(os.path.dirname(output) or "."), os.path.basename(output))
    root = os.path.realpath(folder.above)
    if os.path.isdir(where):
        raise FilememError(f"{one_line(output)} is a folder; name a file.")
    if os.path.dirname(where).startswith(root + os.sep):
        raise FilememError(f"{one_line(output)} lies among the memories, and would become one; name a place outside.")
    if not os.path.isdir(os.path.dirname(where)):
        raise FilememError(f"the folder of {one_line(output)} does not exist; make it first.")
    return where


def _spare(where: str, *, force: bool) -> None:
    """Raise FilememError where writing would overwrite anything but a report."""
    if force or not os.path.lexists(where):
        return
    if os.path.islink(where) or not report.is_our_page(safe.read(where, _BEGINNING).decode(errors="replace")):
        raise FilememError(f"{one_line(where)} is no report of filemem's; name another file, or overwrite it with -f.")
