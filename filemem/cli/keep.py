"""Commands by which a person decides what is remembered: remember, review, edit, forget."""

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import click

from filemem.cli.context import Context, command, split_line
from filemem.cli.screen import Line, Output, Row, choose, confirmed, dim, progress, say, say_dim
from filemem.errors import FilememError, NotFound, Problem
from filemem.files.folder import Folder
from filemem.files.memory import PROFILE, Memory, live
from filemem.forgetting import deletion, purge
from filemem.forgetting.deletion import DeletionPlan, Finding
from filemem.history import History
from filemem.jobs import committed, delete, job, lines, remembered
from filemem.remembering import consolidation
from filemem.remembering.consolidation import Applied, Proposal, Review
from filemem.remembering.supersession import SUPERSEDE, Decision
from filemem.text.plain import counted, one_line

ASK = "[a]ccept, [e]dit, [r]eject, [s]kip, accept a[l]l, [q]uit"


@command(
    "remember",
    click.argument("text", nargs=-1, required=True),
    click.option("--importance", type=click.IntRange(1, 10), help="From 1 to 10; 8 by default."),
    click.option("--pinned", is_flag=True, help="Never fades."),
    click.option("--tag", "tags", multiple=True, metavar="TAG", help="May be given several times."),
    click.option("--with-secrets", is_flag=True, help="Also keep passwords, keys and codes."),
    "--new",
)
def remember_command(call: Context, text: tuple[str, ...], **how: Any) -> Iterator[Line]:
    """Keep one fact.

    TEXT gets its own file, dated today; a fact told twice is kept once. A fact that it contradicts stays
    until you edit or forget it. Secrets are taken out, and you are told so, unless you give --with-secrets.

    Example: filemem remember "Prefers oolong tea."
    """
    yield from consolidation.said(remembered(call.writer(), " ".join(text), call.now, **how))


@command("review", click.option("--accept-all", is_flag=True, help="Accept every proposal without asking."), "--json")
def review_command(call: Context, accept_all: bool) -> Output:
    """Decide what is remembered, one proposal at a time.

    Proposals come from `filemem consolidate --review`, or from every consolidation with `review: true` in
    filemem.yaml. What a model noted in a form that cannot be kept waits here too, with the reason. Each is
    shown with the turn it comes from; what you skip is asked again next time. Answers are read line by line,
    so they can be piped. --json lists the proposals and changes nothing. Exit code 1 if nothing waits.

    Example: filemem review
    """
    folder = call.the_user()
    review = Review(folder)
    waiting = list(review.proposals())
    if not waiting:
        yield "Nothing waits for review."
        return 1
    if call.json:
        yield from (Row(_as_json(found), []) for found in waiting)
        return 0
    decisions, paths, answer = list[Decision](), list[str](), "l" if accept_all else ""
    with job(folder, "review", call.now, alone=False) as commit:
        try:
            for number, found in enumerate(waiting, 1):
                text = ""
                if answer != "l":
                    yield from _shown(found, f"\n{number} of {len(waiting)}")
                    while (answer := choose(ASK)) == "e":
                        text = " ".join((click.edit(found.claim.text + "\n", extension=".md") or "").split())
                        if text not in ("", found.claim.text):
                            break
                        say("The text is unchanged.")
                if answer == "q":
                    break
                if answer == "r":
                    review.reject(found.claim)
                    yield "rejected"
                elif answer in ("a", "e") or (answer == "l" and not found.because):
                    made = review.accept(found.claim, call.now, text)
                    decisions, paths = decisions + made.decisions, paths + made.paths
                    yield from (line for one in made.decisions for line in lines(one, whole=True))
                    yield from made.notes
        except click.Abort:
            yield "\nThe rest waits."
        finally:
            say_dim(*committed(commit, Applied(decisions, paths, [])).notes)
    return 0


def _shown(found: Proposal, place: str) -> Iterator[str]:
    """A proposal beside what it would change and the turns that it comes from."""
    yield f"{place}, {'a lesson' if found.claim.kind == 'lessons' else 'new' if not found.instead_of else 'a change'}"
    yield f"  {found.claim.text}"
    if found.instead_of:
        how = "supersedes" if found.claim.action == SUPERSEDE else "updates"
        yield f"  {how} {found.claim.target}: {one_line(found.instead_of, 200)}"
    if found.because:
        yield f"  refused: {found.because}"
    for source, speaker, text in found.turns:
        yield dim(f"  {source}  {f'{speaker}: {one_line(text, 400)}' if text else '(the turn is gone)'}")


def _as_json(found: Proposal) -> dict[str, Any]:
    """A proposal for a script."""
    claim = {key: getattr(found.claim, key) for key in ("text", "kind", "importance", "confidence", "target")}
    turns = [dict(zip(("source", "speaker", "text"), turn, strict=True)) for turn in found.turns]
    return {"action": found.claim.action.lower(), **claim, "because": found.because, "turns": turns}


_PLUS = frozenset("vi vim nvim gvim nano pico emacs emacsclient micro kak joe ne gedit ed".split())  # +12 FILE


@command("edit", "PATH")
def edit_command(call: Context, path: str) -> Output:
    """Open a memory in your editor.

    The editor is $VISUAL or $EDITOR; PATH:LINE opens it at that line if it understands +LINE. What you save is
    checked; on a terminal you can reopen the editor at a line with a problem. Exit code 1 if a problem is left.

    Example: filemem edit profile.md
    """
    user = call.the_user()
    name, line = split_line(user, path)
    if name == PROFILE and not os.path.lexists(user.absolute(PROFILE)):
        user.create(PROFILE, "")
    where = user.locate(name)
    while problems := _edited(user, where, line):
        yield from map(str, problems)
        line = problems[0].line
        if not confirmed(f"Fix line {line} now?", default=True):
            return 1
    return 0


def _edited(folder: Folder, path: str, line: int | None) -> list[Problem]:
    """Open one memory in the editor; returns the problems of what was saved."""
    folder.read(path, 1)  # refuses what is not a regular file, on which an editor could hang
    editor = (os.environ.get("VISUAL") or os.environ.get("EDITOR") or "").strip() or "vi"
    try:
        words = shlex.split(editor)
        at = [f"+{line}"] if line and os.path.basename(words[0]) in _PLUS else []
        subprocess.run([*words, *at, folder.absolute(path)], check=False)
    except (ValueError, OSError) as error:
        raise FilememError(f"{editor} cannot be started ({error}); set EDITOR to an editor of yours.") from None
    return Memory(path, folder.read(path)).problems


@command(
    "forget",
    click.argument("what", type=click.Path(), required=False),
    click.option("--about", metavar="WORDS", help="All that contains all these words, even if they look like a path."),
    click.option("--yes", is_flag=True, help="Delete without asking, and list what else holds the words."),
    "--dry-run",
    click.option("--purge-history", is_flag=True, help="Also have git filter-repo rewrite the repository without it."),
    "--json",
)
def forget_command(call: Context, what: str | None, about: str | None, **how: bool) -> Output:
    """Delete something for good, with what derives from it.

    That is a memory, a PATH:LINE, or everything that contains some words. The turns that it came from go too (their
    lines stay and say [forgotten]), with facts, lines of summaries and of the profile that rest on it. Words match
    whole words; in Chinese, anywhere. --user NAME alone forgets the whole user. It shows a list and asks first, then
    searches every file for the words and lists what still contains them. Exit code 1 if nothing was found or deleted,
    or something could not be.

    Example: filemem forget Bergen --dry-run
    """
    given, purges = [words for words in (what, about) if words is not None], how["purge_history"]
    # An empty word is what a script's unset variable leaves: it must never stand for the whole user.
    if len(given) > 1 or not all(words.strip() for words in given) or not (given or call.user):
        raise FilememError("name one thing to forget: a PATH, some WORDS, or a whole user with --user NAME.")
    if not (how["yes"] or how["dry"] or (sys.stdin.isatty() and not call.json)):
        raise FilememError("forget asks before it deletes, and here is no terminal; add --yes, or --dry-run to look.")
    user = call.the_user(must_exist=not purges)
    finished, begun = None, None if how["dry"] else deletion.unfinished(user)
    if begun is not None:
        yield "Finishing a deletion that was cut off."
        finished = yield from _do(call, user, begun)
    if rewrites := purges and (given or not _owns_git(user)):
        purge.require(History(user))
    found = _to_delete(user, what or "", about or "", known=finished is not None or purges)._replace(purge=purges)
    there = user.exists() if found.everything else bool(found)
    past = purge.remembers(History(user), found) if purges and not there else []
    if not there and not past:
        yield "Nothing was found."
        yield from map(str, found.left)
        return 1 if finished is None else finished
    yield from past
    yield from (Row({"event": "plan", "path": one.path, "line": one.line, "text": one.text}, []) for one in found.items)
    if found.everything and there:
        git = (", and its git repository" if purges else "; its git repository stays") if _owns_git(user) else ""
        count, where = len(found.items), user.root
        yield f"{counted(count, 'memory', 'memories')} of {user.name} in {where}, with archive, recalls, traces and index{git}."
    else:
        yield from deletion.planned(found)
    if how["dry"]:
        return 0
    if not how["yes"]:
        others = [one for one in found.left if one.line]
        if others and confirmed(f"Delete {counted(len(others), 'other line')} that hold it, too?"):
            found = deletion.with_left(user, found)
        if rewrites:
            yield "Commits get new names; the reflog is emptied, and unreferenced objects are pruned."
        if not confirmed("Delete all this for good?"):
            yield "Nothing was deleted."
            return 1
    return (yield from _do(call, user, deletion.start(user, found)))


def _to_delete(user: Folder, what: str, about: str, *, known: bool) -> DeletionPlan:
    """What would go: the whole user where nothing is named. Git alone, or a deletion that has ended, may have `known` a path."""
    if not (what or about):
        return DeletionPlan([Finding(path) for path in user.paths()], everything=True)
    name, line = split_line(user, what) if what else ("", None)
    try:
        with progress("looking") as show:
            return deletion.plan(user, f"{name}:{line}" if line is not None else name, about=about, progress=show)
    except NotFound:
        if not known or line is not None:
            raise
        return DeletionPlan(names={live(name): ""})


def _do(call: Context, folder: Folder, found: DeletionPlan) -> Output:
    """Carry a job out, from the start or from where it was cut off, and report what it reached and what it could not."""
    done = delete(folder, found, call.now)
    call.renamed = found.names
    history, said, failed = History(folder), list[str](), bool(done.stayed)
    if found.purge and history.home:
        say_dim("Rewriting the history …")
        said = purge.purge(history, found)
        deletion.clear_records(folder, found)
        held = purge.search(history, found)
        failed = failed or bool(held)
        said += [f"Git still says it: {line}" for line in held]
        if not held and found.matcher:
            said.append("Nothing of this user's in git says it any more: every object and every file was read.")
    else:
        said = purge.remembers(history, found)
        said += ["The same command with --purge-history rewrites this repository's own history."] * bool(said)
    others = deletion.search_under(os.path.realpath(folder.above), found.matcher, but=(folder.name, ".git"))
    deletion.end(folder, found)
    if others:
        places = ", ".join(one_line(one.place) for one in others)
        said.append(f"Outside this user's folder, and untouched, the words are in: {places}.")
    said = [*done.said, *said, "Backups, where there are any, have it too."]
    yield Row({"event": "done", "deleted": done.gone, "stayed": done.stayed, "said": said}, said)
    say_dim(done.note)
    return int(failed)


def _owns_git(folder: Folder) -> bool:
    """Has the user a git repository of their own?"""
    return os.path.lexists(os.path.join(folder.root, ".git"))
