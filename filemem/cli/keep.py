"""Commands by which a person decides what is remembered: remember, review, edit."""

import datetime as dt
import os
import shlex
import subprocess
import sys
from collections.abc import Generator, Iterator
from typing import Any

import click

from filemem.cli.context import (
    Context,
    command,
    complete_path,
    json_option_that,
    new_option,
    split_line,
)
from filemem.cli.screen import Line, Output, Row, Safe, choose, confirmed, dim, say_aside
from filemem.errors import FilememError, Problem
from filemem.files.folder import Folder
from filemem.files.memory import Memory
from filemem.jobs import telling
from filemem.jobs.running import job
from filemem.remembering import remembering
from filemem.remembering.consolidation import Applied
from filemem.remembering.remembering import Proposal, Review
from filemem.remembering.supersession import SUPERSEDE
from filemem.text.plain import escape_controls, one_line

ASK = "[a]ccept, [e]dit, [r]eject, [s]kip, accept a[l]l, [q]uit"


@command(
    "remember",
    click.argument("text", nargs=-1, required=True),
    click.option("--importance", type=click.IntRange(1, 10), help="From 1 to 10; 8 if you do not say."),
    click.option("--pinned", is_flag=True, help="Never fades."),
    click.option("--tag", "tags", multiple=True, metavar="TAG", help="May be given several times."),
    click.option("--with-secrets", is_flag=True, help="Keep passwords, keys and codes in it, too."),
    new_option,
)
def remember_command(call: Context, text: tuple[str, ...], **how: Any) -> Iterator[Line]:
    """Keep one fact.

    TEXT gets a file of its own, dated today. Row twice it stays one fact; told differently, it supersedes what was known.
    Secrets in it are taken out, which is said, unless --with-secrets is given.

    Example: filemem remember "Prefers oolong tea."
    """
    yield from remembered(call.writer(), " ".join(text), call.now, **how)


def remembered(folder: Folder, text: str, at: dt.datetime, **how: Any) -> list[str]:
    """Keep one fact; lines that say what was decided."""
    done, note = telling.remembered(folder, text, at, **how)
    say_aside(note)
    return [*remembering.said(done.decision), *done.notes]


@command(
    "review",
    click.option("--accept-all", is_flag=True, help="Accept every proposal without asking."),
    json_option_that("List the proposals, one JSON object a line, and change nothing."),
)
def review_command(call: Context, accept_all: bool) -> Output:
    """Decide what is remembered, proposal by proposal.

    Proposals come from `filemem consolidate --review`, or from all reading with `review: true` in filemem.yaml; what a model
    noted in a form that cannot be kept waits here, too, with the reason. Each is shown with the turn that it comes from; what is
    skipped is asked again next time. Answers are read by line, so they can be piped. Exit code 1 where nothing waits.

    Example: filemem review
    """
    folder = call.the_user()
    review = Review(folder)
    waiting = list(review.proposals())
    if not waiting:
        yield "Nothing waits for review."
        return 1
    if call.json:
        for found in waiting:
            yield Row(_as_json(found), [])
        return 0
    done: list[Applied] = []
    with job(folder, "review", call.now, alone=False) as run:
        try:
            answer = "all" if accept_all else ""
            for number, found in enumerate(waiting, 1):
                if answer != "all":
                    yield from _shown(found, f"\n{number} of {len(waiting)}")
                answer = yield from _decide(call, review, found, answer, done)
                if answer == "quit":
                    break
        except click.Abort:
            yield "\nThe rest waits."
        finally:
            decisions = [one for each in done for one in each.decisions]
            say_aside(telling.committed(run, Applied(decisions, [p for each in done for p in each.paths], [])))
    return 0


def _decide(
    call: Context, review: Review, found: Proposal, last: str, done: list[Applied]
) -> Generator[str, None, str]:
    """Ask about a proposal, unless the person has accepted all, and do what they want with it; returns their answer.

    What form forbade is never accepted along with all others.
    """
    answer, text = last, ""
    while last != "all" and (answer := choose(ASK)) == "edit":
        text = " ".join((click.edit(found.claim.text + "\n", extension=".md") or "").split())
        if text and text != found.claim.text:
            answer = "accept"
            break
        yield "The text is unchanged."
    if answer == "reject":
        review.reject(found.claim)
        yield "rejected"
    elif answer == "accept" or (answer == "all" and not found.because):
        made = review.accept(found.claim, call.now, text)
        done.append(made)
        yield from (line for one in made.decisions for line in telling.lines(one, whole=True))
        yield from made.notes
    return answer


def _shown(found: Proposal, place: str) -> Iterator[str]:
    """A proposal beside what it would change and the turns that it comes from."""
    yield f"{place}, {'a lesson' if found.claim.kind == 'lessons' else 'new' if not found.instead_of else 'a change'}"
    yield f"  {found.claim.text}"
    if found.instead_of:
        how = "supersedes" if found.claim.action == SUPERSEDE else "updates"
        yield f"  {how} {found.claim.target}: {one_line(found.instead_of, 200)}"
    if found.because:
        yield f"  refused: {found.because}"
    for turn in found.turns:
        said = f"{turn.speaker}: {one_line(turn.text, 400)}" if turn.text else "(the turn is gone)"
        yield Safe(dim(f"  {escape_controls(turn.source)}  {escape_controls(said)}"))


def _as_json(found: Proposal) -> dict[str, Any]:
    """A proposal for a script."""
    claim = {key: getattr(found.claim, key) for key in ("text", "kind", "importance", "confidence", "target")}
    turns = [turn._asdict() for turn in found.turns]
    return {"action": found.claim.action.lower(), **claim, "because": found.because, "turns": turns}


# -- the editor --------------------------------------------------------------------------------------------------

_PLUS = frozenset("vi vim nvim gvim nano pico emacs emacsclient micro kak joe ne gedit ed".split())  # +12 FILE
_COLON = frozenset("subl sublime_text zed hx helix".split())  # FILE:12
_GOTO = frozenset("code code-insiders codium cursor windsurf".split())  # --goto FILE:12
_WAIT = _GOTO | {"subl", "sublime_text", "zed", "gedit"}  # else they return at once


@command("edit", click.argument("path", shell_complete=complete_path))
def edit_command(call: Context, path: str) -> Output:
    """Open a memory in your editor.

    The editor is $VISUAL or $EDITOR; PATH:LINE opens it at a line. What was saved is checked; on a terminal the editor can be
    opened again at the line that is wrong. Exit code 1 where there is a problem left.

    Example: filemem edit profile.md
    """
    user = call.the_user()
    name, line = split_line(user, path)
    where = user.locate(name)
    while problems := edited(user, where, line):
        yield from map(str, problems)
        line = problems[0].line
        asks = sys.stdin.isatty() and sys.stdout.isatty()
        if not asks or not confirmed(f"Fix line {line} now?", default=True):
            return 1
    return 0


def edited(folder: Folder, path: str, line: int | None) -> list[Problem]:
    """Open one memory in the editor; returns the problems of what was saved."""
    folder.read(path, 1)  # refuses what is no plain file, on which an editor could hang
    editor = (os.environ.get("VISUAL") or os.environ.get("EDITOR") or "").strip() or "vi"
    try:
        command = _command(shlex.split(editor), folder.absolute(path), line)
        code = subprocess.run(command, check=False).returncode
    except ValueError:
        raise FilememError(f"{editor} has a quote that is never closed; set EDITOR to an editor of yours.") from None
    except OSError as error:
        raise FilememError(
            f"{editor} cannot be started ({error.strerror}); set EDITOR to an editor of yours."
        ) from None
    if code:
        raise FilememError(f"{editor} ended with code {code}; {path} is as the editor left it.")
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
