"""Commands for the history that git keeps of the memories."""

import dataclasses
import os
import sys

import click

from filemem.cli.context import (
    Context,
    json_option,
    limit_option,
    optional_path_argument,
    prints,
    split_line,
)
from filemem.cli.output import Output, Row, confirmed, say_dim
from filemem.git.commits import Commit, log
from filemem.git.history import History
from filemem.git.sync import sync
from filemem.git.undo import next_to_undo, undo
from filemem.text.plain import one_line


@click.command("log")
@optional_path_argument
@limit_option
@json_option
@prints
def log_command(call: Context, path: str | None, limit: int | None) -> Output:
    """Show the diary that git keeps of the memories.

    It says who changed them, when and why; of one file or folder if PATH is given. Exit
    code 1 if nothing was found.

    Example: filemem log profile.md"""
    user = call.the_user()
    name = split_line(user, path.rstrip("/")).path if path else ""
    found = log(History(user), name, limit or 0)
    for commit in found:
        yield Row({**dataclasses.asdict(commit), "who": commit.who}, [_line(commit)])
    if not found:
        say_dim("There is no such commit.")
    return 0 if found else 1


def _line(commit: Commit) -> str:
    """Return a commit in one line."""
    return (
        f"{commit.commit[:8]}  {commit.at:%Y-%m-%d %H:%M}  "
        f"{one_line(commit.subject)}  ({one_line(commit.who)})"
    )


@click.command("undo")
@click.argument("commit", required=False)
@prints
def undo_command(call: Context, commit: str | None) -> Output:
    """Undo COMMIT, by default filemem's last one; later changes stay.

    If the same lines have changed since, nothing is undone, and the message says what
    is in the way.

    Example: filemem undo"""
    history = History(call.the_user())
    if call.talking and not commit:
        # What the talk itself changed is committed when it ends, so this may be older.
        last = next_to_undo(history)
        if last and not confirmed(f"Undo {_line(last)}?"):
            return 1
        commit = last.commit if last else None
    undone = undo(history, commit, call.now)
    yield f"Undid {_line(undone.commit)}"
    yield from undone.sentences
    return 0


@click.command("sync")
@click.argument("remote", required=False)
@prints
def sync_command(call: Context, remote: str | None) -> Output:
    """Share the memories with your other machines through git.

    This fetches, merges and pushes, with a REMOTE if one is named: a name that git
    knows, an address, or a folder from where you stand. Nothing is ever forced. If two
    machines changed the same line, the file keeps both versions, and is named.

    Example: filemem sync origin"""
    history = History(call.the_user())
    if remote and os.path.isdir(remote):
        remote = os.path.abspath(remote)
    if sys.stderr.isatty():
        say_dim("Fetching, merging and sending …")
    yield from sync(history, remote, call.now)
