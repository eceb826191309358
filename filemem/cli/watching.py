"""The command that shows memories as they change: watch."""

import contextlib
import sys
import time

import click

from filemem.cli.common import the_user
from filemem.cli.options import json_option, shared_options
from filemem.cli.screen import colours, put, say, say_json, styled
from filemem.files.follow import MOVED, FileChange, MemoryWatch
from filemem.text.plain import escape_controls

EVERY = 0.5  # seconds between two looks
LONGEST = 200  # characters shown of a line


@click.command("watch")
@json_option
@shared_options
def watch_command(as_json: bool) -> int:
    """Print what changes as memories change.

    New, changed, moved and deleted memories, with the lines that came and went; to see it learn. Ctrl-C ends.

    Example: filemem watch
    """
    user = the_user(must_exist=False)
    watch = MemoryWatch(user)
    with contextlib.suppress(KeyboardInterrupt):
        if as_json:
            say_json({"event": "watching", "user": user.name, "memories": len(watch)})
        else:
            say(f"Watching {len(watch)} memories of {user.name}; Ctrl-C ends.")
        while True:
            sys.stdout.flush()
            time.sleep(EVERY)
            for change in watch.changes():
                _show(change, as_json=as_json)
    return 0


def _show(change: FileChange, *, as_json: bool) -> None:
    if as_json:
        say_json({"event": change.what, "path": change.path, "was": change.was, "lines": change.lines})
        return
    what = f"{change.what}  {change.path}{f'  (was {change.was})' if change.what == MOVED else ''}"
    put(styled(what, bold=True))
    for line in change.lines:
        shown = escape_controls(line) if len(line) <= LONGEST else escape_controls(line[: LONGEST - 1]) + "…"
        put("  " + (click.style(shown, fg={"+": "green", "-": "red"}.get(line[0])) if colours() else shown))
