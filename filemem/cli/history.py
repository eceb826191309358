"""Commands on what git remembers: log, undo, sync."""

import sys
from collections.abc import Iterator

import click

from filemem.cli.context import Context, command, complete_path, json_option
from filemem.cli.screen import Line, Output, Row, say_aside, say_dim
from filemem.history import History
from filemem.history.diary import Commit, log, sync, undo
from filemem.text.plain import counted, one_line


@command(
    "log",
    click.argument("path", required=False, shell_complete=complete_path),
    click.option("--about", metavar="WORDS", default="", help="Only commits that added, took out or name these words."),
    click.option("--limit", "-n", type=click.IntRange(1), help="Most commits to show."),
    json_option,
)
def log_command(call: Context, path: str | None, about: str, limit: int | None) -> Output:
    """Show the diary that git keeps: who changed the memories, when and why; of one file or folder where PATH is given.

    Example: filemem log --about oolong

    Exit code 1 where nothing was found.
    """
    found = log(History(call.the_user()), path or "", about, limit or 0)
    for commit in found:
        yield Row({**commit._asdict(), "author": commit.author._asdict(), "who": commit.who}, [_line(commit)])
    if not found:
        say_aside("there is no such commit.")
    return 0 if found else 1


def _line(commit: Commit) -> str:
    """A commit in one line."""
    return f"{commit.commit[:8]}  {commit.at:%Y-%m-%d %H:%M}  {one_line(commit.subject)}  ({one_line(commit.who)})"


@command("undo", click.argument("commit", required=False))
def undo_command(call: Context, commit: str | None) -> Iterator[Line]:
    """Take back what COMMIT did, or else filemem's last commit; what was done since stays.

    Where the same lines have changed since, nothing is undone, and it says what is in the way.

    Example: filemem undo
    """
    done = undo(History(call.the_user()), commit or "", call.now)
    yield f"Undid {_line(done.commit)}"
    yield from done.said


@command("sync", click.argument("remote", required=False))
def sync_command(call: Context, remote: str | None) -> Iterator[Line]:
    """Bring these memories together with those of your other machines: fetch, merge, push, to and from a git REMOTE.

    Nothing is ever forced. Where two machines changed one line, both versions stay in the file, and it is named.

    Example: filemem sync origin
    """
    history = History(call.the_user())
    say_dim("Fetching, merging and sending …" if sys.stderr.isatty() else "")
    done = sync(history, remote, call.now)
    yield from done.notes
    yield from (
        f"{path} was changed on both machines in the same lines; it now holds both versions." for path in done.doubled
    )
    if done.fetched or done.pushed:
        yield f"Brought in {counted(done.fetched, 'commit')}, sent {done.pushed}."
    else:
        yield "Everything is the same here and there."
