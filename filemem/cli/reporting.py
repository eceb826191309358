"""The command that writes a report: one page to look at in a browser, or to print."""

import os

import click

from filemem.cli.common import now, the_user
from filemem.cli.options import shared_options
from filemem.cli.screen import progress, say
from filemem.errors import FilememError
from filemem.files import disk
from filemem.files.folder import Folder
from filemem.overview import report
from filemem.overview.report import page
from filemem.text.plain import one_line

_BEGINNING = 2_000  # bytes, in which a page says whose it is


@click.command("report")
@click.option("--output", "-o", required=True, metavar="FILE", type=click.Path(), help="The page to write.")
@click.option("--force", "-f", is_flag=True, help="Overwrite a file that is no report.")
@shared_options
def report_command(output: str, force: bool) -> int:
    """Write a page to read: the profile, what holds by topic, what happened when, what faded and why.

    It is one HTML file that needs no network and no script. An earlier report is overwritten; another file is only with -f.

    Example: filemem report -o report.html
    """
    user = the_user()
    where = _place(user, output)
    _spare(where, force=force)
    with progress("looking") as show:
        found = report.gather(user, now(), show)
    data = page.page(found).encode()
    _spare(where, force=force)
    disk.write(where, data)
    say(f"Wrote {output}: {found.live + found.archived:,} memories.")
    return 0


def _place(user: Folder, output: str) -> str:
    """Where the page goes; raises FilememError for a folder, a missing one, or a place among somebody's memories."""
    where = os.path.join(os.path.realpath(os.path.dirname(output) or "."), os.path.basename(output))
    root = os.path.realpath(user.store)
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
    if os.path.islink(where) or not page.ours(disk.read(where, _BEGINNING).decode(errors="replace")):
        raise FilememError(f"{one_line(where)} is no report of filemem's; name another file, or overwrite it with -f.")
