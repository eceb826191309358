"""The command that takes in conversations and notes from elsewhere."""

import json
import os
import sys

import click

from filemem.cli.all_users import for_all, many, order
from filemem.cli.common import a_user, now, settled, the_store, welcome
from filemem.cli.options import json_option_that, many_options, new_user_option
from filemem.cli.screen import for_script, progress, say_aside, say_dim, tell
from filemem.errors import FilememError
from filemem.importers import FORMATS, import_file
from filemem.jobs.telling import committed_imports, import_json, taken_in

LONGEST_CALL = 1_000_000  # bytes that a hook says of what happened
NEXT = "Next: filemem consolidate makes facts of it; filemem review shows what waits for your word."
NEXT_OF_NOTES = "Next: filemem search finds it already; filemem chat answers from it."


@click.command("import")
@click.argument("format_", metavar="FORMAT", type=click.Choice(list(FORMATS)))
@click.argument("file", type=click.Path(exists=True, allow_dash=True))
@click.option("--dry-run", is_flag=True, help="Only report what would be taken.")
@click.option("--with-secrets", is_flag=True, help="Take passwords, keys and codes in them, too.")
@many_options
@json_option_that("The whole report as one JSON object.")
@new_user_option
def import_command(format_: str, file: str, dry_run: bool, with_secrets: bool) -> int:
    """Take in conversations and notes from elsewhere.

    A second run adds only what is new. FORMAT is locomo, chatgpt or claude (the export as it came: zip, folder or
    conversations.json), openai-jsonl (messages by line), claude-code or codex (a session of theirs or their folder of them),
    agents-sessions (the SQLite file of the OpenAI Agents SDK) or markdown (a folder of notes). FILE may be - where a hook of
    Claude Code calls, which says on standard input which session has ended. Secrets are left out, which the
    report says, unless --with-secrets is given. Exit code 1 where there was nothing to take in. With --all-users FILE is a folder
    of exports, a file or folder for each user, named as they are: ann.zip, bob.json.

    Example: filemem import chatgpt conversations.json
    """
    if many():
        how = {"format": format_, "dry_run": dry_run, "with_secrets": with_secrets, "folder": os.path.abspath(file)}
        settled(the_store())
        return for_all(order("import", how), "importing", _exports(file))
    user = None if format_ == "locomo" else a_user()
    store = the_store()
    file = _ended_session() if file == "-" else file
    settled(store)
    if user and not dry_run:
        welcome(user)
    with progress("importing") as show:
        name = user.name if user else None
        report = import_file(store, format_, file, user=name, seen=show, dry_run=dry_run, with_secrets=with_secrets)
    tell(import_json(report), *taken_in(report, dry=dry_run))
    turns = sum(entry.turns for entry in (*report.added, *report.updated))
    if (report.added or report.updated) and not dry_run and not for_script():
        say_dim(NEXT if turns else NEXT_OF_NOTES)
    for note in () if dry_run else committed_imports(store, report, format_, file, now()):
        say_aside(note)
    return 0 if report.added or report.updated or report.unchanged else 1


def _exports(folder: str) -> dict[str, str]:
    """The exports in a folder by the user whose name each bears; raises FilememError where two bear the same."""
    if not os.path.isdir(folder):
        raise FilememError(f"{folder} is no folder; with --all-users name one that holds an export for each user.")
    found: dict[str, str] = {}
    with os.scandir(folder) as entries:
        for entry in sorted((entry for entry in entries if entry.name[0] != "."), key=lambda entry: entry.name):
            name = entry.name if entry.is_dir() else os.path.splitext(entry.name)[0]
            if name in found:
                raise FilememError(
                    f"{found[name]} and {entry.path} are both of {name}; leave one export for each user."
                )
            found[name] = os.path.abspath(entry)
    return found


def _ended_session() -> str:
    """The session that a hook of Claude Code names on standard input; what follows is done by a process of its own.

    Claude Code gives all hooks of a session's end a second and a half (CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS), and ends
    then what they started.
    """
    try:
        said = json.loads(sys.stdin.buffer.read(LONGEST_CALL))
        path = said["transcript_path"]
        if not isinstance(path, str) or not os.path.isfile(path):
            raise FilememError("the hook names no session that is a file.")
    except (ValueError, KeyError, TypeError, RecursionError):
        raise FilememError(
            "- is for a hook of Claude Code, which names the session as JSON: transcript_path."
        ) from None
    sys.stdout.flush()
    if os.fork():
        os._exit(0)
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    return path
