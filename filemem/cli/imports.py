"""The command that takes in conversations and notes from elsewhere."""

import json
import os
import sys

import click

from filemem.cli.common import a_user, now, settled, the_store, welcome
from filemem.cli.options import json_option_that, new_user_option, shared_options
from filemem.cli.screen import for_script, progress, say, say_aside, say_dim, say_json
from filemem.errors import FilememError
from filemem.history import History
from filemem.importers import FORMATS, ImportReport, import_file
from filemem.text.plain import counted

SHOWN = 10  # lines of each list in the report
LONGEST_CALL = 1_000_000  # bytes that a hook says of what happened
NEXT = "Next: filemem consolidate makes facts of it; filemem review shows what waits for your word."
NEXT_OF_NOTES = "Next: filemem search finds it already; filemem chat answers from it."


@click.command("import")
@click.argument("format_", metavar="FORMAT", type=click.Choice(list(FORMATS)))
@click.argument("file", type=click.Path(exists=True, allow_dash=True))
@click.option("--dry-run", is_flag=True, help="Only report what would be taken.")
@click.option("--with-secrets", is_flag=True, help="Take passwords, keys and codes in them, too.")
@json_option_that("The whole report as one JSON object.")
@new_user_option
@shared_options
def import_command(format_: str, file: str, dry_run: bool, with_secrets: bool) -> int:
    """Take in conversations and notes from elsewhere.

    A second run adds only what is new. FORMAT is locomo, chatgpt or claude (the export as it came: zip, folder or
    conversations.json), openai-jsonl (messages by line), claude-code or codex (a session of theirs or their folder of them),
    agents-sessions (the SQLite file of the OpenAI Agents SDK) or markdown (a folder of notes). FILE may be - where a hook of
    Claude Code calls, which says on standard input which session has ended. Secrets are left out, which the
    report says, unless --with-secrets is given. Exit code 1 where there was nothing to take in.

    Example: filemem import chatgpt conversations.json
    """
    user = None if format_ == "locomo" else a_user()
    store = the_store()
    file = _ended_session() if file == "-" else file
    settled(store)
    if user and not dry_run:
        welcome(user)
    with progress("importing") as show:
        name = user.name if user else None
        report = import_file(store, format_, file, user=name, seen=show, dry_run=dry_run, with_secrets=with_secrets)
    if for_script():
        say_json({name: [entry._asdict() for entry in entries] for name, entries in report._asdict().items()})
    else:
        _show(report, dry_run=dry_run)
    if not dry_run:
        _record(report, format_, file)
    return 0 if report.added or report.updated or report.unchanged else 1


def _record(report: ImportReport, format_: str, file: str) -> None:
    """Commit what was taken in, user by user, where their memories are kept in git."""
    taken: dict[str, list[str]] = {}
    for entry in (*report.added, *report.updated):
        taken.setdefault(entry.user, []).append(entry.path)
    for name, paths in taken.items():
        subject = f"Import {counted(len(paths), 'memory', 'memories')} from {os.path.basename(file)}"
        trailers = {"Job": "import", "Source": f"{format_}:{os.path.basename(file)}"}
        say_aside(History(the_store().folder(name)).record(subject, paths, trailers, now()).note)


def _show(report: ImportReport, *, dry_run: bool) -> None:
    """The report in words; of long lists the beginning."""
    words = ("would add", "would update", "to be taken in") if dry_run else ("added", "updated", "taken in")
    for word, taken in zip(words, (report.added, report.updated), strict=False):
        for entry in taken[:SHOWN]:
            say(f"{word} {entry.user}/{entry.path}" + (f", {counted(entry.turns, 'turn')}" if entry.turns else ""))
        if len(taken) > SHOWN:
            say(f"{word} {len(taken) - SHOWN:,} more; --json lists them all")
    for skipped in report.skipped[:SHOWN]:
        say(f"note: {skipped.what}: {skipped.why}")
    if len(report.skipped) > SHOWN:
        say(f"note: {len(report.skipped) - SHOWN:,} more; --json lists them all")
    turns = sum(entry.turns for entry in (*report.added, *report.updated))
    counts = f"{len(report.added):,} added, {len(report.updated):,} updated, {len(report.unchanged):,} unchanged"
    say(f"{'Nothing was written: ' if dry_run else ''}{counts}, {counted(turns, 'turn')} {words[2]}.")
    if (report.added or report.updated) and not dry_run:
        say_dim(NEXT if turns else NEXT_OF_NOTES)


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
