"""Commands for your own editor: edit and schema."""

import os
import shlex
import subprocess
import sys
from importlib import resources

import click

from filemem.cli.common import complete_path, split_line, the_user
from filemem.cli.screen import confirmed, put, say
from filemem.errors import FilememError, Problem
from filemem.files.folder import Folder
from filemem.files.memory import Memory

_PLUS = frozenset("vi vim nvim gvim nano pico emacs emacsclient micro kak joe ne gedit ed".split())  # +12 FILE
_COLON = frozenset("subl sublime_text zed hx helix".split())  # FILE:12
_GOTO = frozenset("code code-insiders codium cursor windsurf".split())  # --goto FILE:12
# Else they return at once.
_WAIT = frozenset("code code-insiders codium cursor windsurf subl sublime_text zed gedit".split())


@click.command("edit")
@click.argument("path", shell_complete=complete_path)
def edit_command(path: str) -> int:
    """Open a memory in your editor.

    The editor is $VISUAL or $EDITOR; PATH:LINE opens it at a line. What was saved is checked; on a terminal the editor can be
    opened again at what is wrong. Exit code 1 where there is a problem left.

    Example: filemem edit profile.md
    """
    user = the_user()
    name, line = split_line(user, path)
    where = user.locate(name)
    problems = edited(user, where, line)
    while problems:
        say(*map(str, problems))
        again = f"Open it again at line {problems[0].line}?"
        if not (sys.stdin.isatty() and sys.stdout.isatty()) or not confirmed(again, default=True):
            return 1
        problems = edited(user, where, problems[0].line)
    return 0


def edited(folder: Folder, path: str, line: int | None) -> list[Problem]:
    """Open one memory in the editor; returns the problems of what was saved."""
    folder.read(path, 1)  # refuses what is no plain file, on which an editor could hang
    editor = (os.environ.get("VISUAL") or os.environ.get("EDITOR") or "").strip() or "vi"
    try:
        command = _command(shlex.split(editor), folder.absolute(path), line)
    except ValueError:
        raise FilememError(f"{editor} has a quote that is never closed; set EDITOR to an editor of yours.") from None
    try:
        code = subprocess.run(command, check=False).returncode
    except OSError as error:
        raise FilememError(
            f"{editor} cannot be started ({error.strerror}); set EDITOR to an editor of yours."
        ) from None
    if code:
        raise FilememError(f"{editor} ended with code {code}; {path} is as it left it.")
    return Memory(path, folder.read(path)).problems


def _command(editor: list[str], file: str, line: int | None) -> list[str]:
    """The editor's command line for a file, at a line where the editor is known to take one."""
    name = os.path.basename(editor[0])
    wait = ["--wait"] if name in _WAIT and not {"--wait", "-w"} & set(editor) else []
    if line and name in _PLUS:
        return [*editor, *wait, f"+{line}", file]
    if line and name in _COLON | _GOTO:
        return [*editor, *wait, *(["--goto"] if name in _GOTO else []), f"{file}:{line}"]
    return [*editor, *wait, file]


@click.command("schema")
@click.argument("what", type=click.Choice(["settings", "memory"]))
def schema_command(what: str) -> None:
    """Print the JSON Schema of the settings or of a memory.

    Editors that know YAML complete and check by it: see docs/editing.md.

    Example: filemem schema settings
    """
    put((resources.files("filemem") / "schemas" / f"{what}.schema.json").read_text(encoding="utf-8"), nl=False)
