"""Commands on what git remembers: log, undo, sync."""

import shutil

import click

from filemem.cli.common import complete_path, now, the_user
from filemem.cli.options import json_option
from filemem.cli.screen import colours, put, say, say_aside, say_working, tell, wrapped
from filemem.history import History
from filemem.history.past import Commit, log, undo
from filemem.history.sync import sync
from filemem.text.plain import counted, one_line


@click.command("log")
@click.argument("path", required=False, shell_complete=complete_path)
@click.option("--about", metavar="WORDS", default="", help="Only commits that added, took out or name these words.")
@click.option("--limit", "-n", type=click.IntRange(1), help="Most commits to show.")
@json_option
def log_command(path: str | None, about: str, limit: int | None) -> int:
    """Show the diary that git keeps: who changed the memories, when and why; of one file or folder where PATH is given.

    Example: filemem log --about oolong

    Exit code 1 where nothing was found.
    """
    history = History(the_user())
    found = log(history, path or "", about, limit or 0)
    for commit in found:
        tell({**commit._asdict(), "author": commit.author._asdict(), "who": commit.who}, _line(commit), how=put)
    if not found:
        say_aside("there is no such commit.")
    return 0 if found else 1


def _line(commit: Commit, before: str = "") -> str:
    """A commit in one line behind some words; on a terminal its further lines begin under its subject."""
    name, when = commit.commit[:8], f"  {commit.at:%Y-%m-%d %H:%M}  "
    text = f"{one_line(commit.subject)}  ({one_line(commit.who)})"
    if not colours():
        return before + name + when + text
    lead = len(before + name + when)
    lines = wrapped(text, shutil.get_terminal_size().columns - lead).replace("\n", "\n" + " " * lead)
    return before + click.style(name, fg="yellow") + when + lines


@click.command("undo")
@click.argument("commit", required=False)
def undo_command(commit: str | None) -> None:
    """Take back what COMMIT did, or else filemem's last commit; what was done since stays.

    Where the same lines have changed since, nothing is undone, and it says what is in the way.

    Example: filemem undo
    """
    done = undo(History(the_user()), commit or "", now())
    put(_line(done.commit, "Undid "))
    say(*done.said)


@click.command("sync")
@click.argument("remote", required=False)
def sync_command(remote: str | None) -> None:
    """Bring these memories together with those of your other machines: fetch, merge, push, to and from a git REMOTE.

    Nothing is ever forced. Where two machines changed one line, both versions stay in the file, and it is named.

    Example: filemem sync origin
    """
    history = History(the_user())
    say_working("Fetching, merging and sending")
    done = sync(history, remote, now())
    say(*done.notes)
    for path in done.doubled:
        say(f"{path} was changed on both machines in the same lines; both versions are in it.")
    if done.fetched or done.pushed:
        say(f"Brought in {counted(done.fetched, 'commit')}, sent {done.pushed}.")
    else:
        say("Everything is the same here and there.")
