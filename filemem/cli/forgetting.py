"""The command that deletes: forget."""

import os
import re
import sys
from collections.abc import Iterable

import click

from filemem import disk, forget
from filemem.archive import live
from filemem.cli.common import complete_path, now, progress, say, say_aside, say_json, say_working, split_line, the_user
from filemem.cli.options import chosen, shared_options
from filemem.errors import FilememError, NotFound
from filemem.forget import Item, Plan, erasure, purge
from filemem.forget.erasure import Done
from filemem.forget.purge import Target
from filemem.forget.wording import SENTENCE, Wording
from filemem.history import History
from filemem.plain import one_line
from filemem.store import User

ASK = "forget asks before it deletes, and there is no terminal to ask at; add --yes, or --dry-run to see the list."


@click.command("forget")
@click.argument("path", required=False, shell_complete=complete_path)
@click.option("--about", metavar="WORDS", help="What is about these words; you choose from a list.")
@click.option("--yes", is_flag=True, help="Delete without asking.")
@click.option("--dry-run", is_flag=True, help="Only list what would go.")
@click.option("--purge-history", is_flag=True, help="Rewrite this repository's own history without it, too.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@shared_options
def forget_command(path: str | None, about: str | None, **how: bool) -> int:
    """Delete a memory for good, and all that tells of it.

    With it go the turns that it came from (their lines stay, saying [forgotten]), what was distilled from these or cites
    them, copies, archive, recalls, traces and index. PATH:LINE forgets one turn; --user NAME with neither PATH nor --about
    forgets the whole user. It shows the list and asks first, and reports what still remembers.

    Example: filemem forget --about "Bergen" --dry-run

    Exit code 1 where nothing was found or nothing was deleted.
    """
    given = [words for words in (path, about) if words is not None]
    # An empty word is what a script's unset variable leaves: it must never stand for the whole user.
    if len(given) > 1 or not all(words.strip() for words in given) or not (given or chosen("user")):
        raise FilememError("name one thing to forget: a PATH, --about WORDS, or a whole user with --user NAME.")
    if not (how["yes"] or how["dry_run"] or (sys.stdin.isatty() and not how["as_json"])):
        raise FilememError(ASK)
    user = the_user(must_exist=not how["purge_history"])
    if not given:
        return _forget_user(user, how)
    if erasure.unfinished(user) and not how["dry_run"]:
        with user.locked():
            erasure.clear(user)
    asked, gone = _named(user, path, how) if path else ([], "")
    with progress("looking") as show:
        wanted = forget.candidates(user, about, show) if about else asked
    asked = _choose(wanted, how) if about else asked
    found = forget.plan(user, asked, about or "")
    target = Target(History(user), found.wording, False, every=len(asked) == len(wanted))
    past = purge.learn(target, gone) if how["purge_history"] and target.every else set()
    if not asked and not past and (wanted or not _beside(user, found)):
        say("Nothing was deleted." if wanted else "Nothing was found.")
        return 1
    return _carry_out(user, found, target, past, how)


def _beside(user: User, found: Plan) -> bool:
    """Does a record or a cache of the user's still say it, though no memory does?"""
    return any(line.startswith(f"{user.name}/") for line in erasure.remaining(user, found.wording))


def _named(user: User, given: str, how: dict[str, bool]) -> tuple[list[Item], str]:
    """The memory, or the line of one, that a person typed; or the path of one that only the history may know."""
    name, line = split_line(user, given)
    try:
        return [forget.at(user, user.locate(name), line)], ""
    except NotFound:
        if line is not None or not how["purge_history"]:
            raise
        return [], live(name)


def _choose(found: list[Item], how: dict[str, bool]) -> list[Item]:
    """Those of the candidates that the person means; all of them where nobody is asked."""
    if not found or how["yes"] or how["dry_run"]:
        return found
    for number, item in enumerate(found, 1):
        say(f"{number:>3}  {item.place}  {one_line(item.text, 100) or f'({item.why})'}")
    while True:
        answer = click.prompt("Which of these? all, or numbers such as 1,3-5", default="none").strip()
        if answer in ("none", "all"):
            return found if answer == "all" else []
        if re.fullmatch(r"\d+(?:-\d+)?(?:[, ]+\d+(?:-\d+)?)*", answer):
            wanted = _numbers(answer, len(found))
            if wanted <= set(range(1, len(found) + 1)):
                return [item for number, item in enumerate(found, 1) if number in wanted]
        say(f"Answer all, none, or numbers from 1 to {len(found)}.")


def _numbers(answer: str, most: int) -> set[int]:
    """The numbers that an answer names, `most` + 1 for each that is larger."""
    found: set[int] = set()
    for part in re.findall(r"\d+(?:-\d+)?", answer):
        first, _, last = part.partition("-")
        found.update(range(min(int(first), most + 1), min(int(last or first), most + 1) + 1))
    return found


def show_plan(found: Plan) -> Iterable[str]:
    """What would go, a line each."""
    whole = [item for item in found.items if not item.line]
    lines = [item for item in found.items if item.line]
    for heading, items in (("These files go:", whole), ("These passages go, their lines stay:", lines)):
        if items:
            yield heading
        for item in items:
            text = f"  {one_line(item.text, 80)}" if item.text else ""
            yield f"  {item.place}{text}  ({item.why})"
    for old, new in found.moved.items():
        yield f"  {old} is renamed {new}, as its name told of it"
    yield from found.notes


def _carry_out(user: User, found: Plan, target: Target, past: set[str], how: dict[str, bool]) -> int:
    """Show, ask, delete, report; `past` are the memories that the history tells it of."""
    if how["as_json"]:
        for item in found.items:
            say_json({"event": "plan", **item._asdict()})
    else:
        for line in [*show_plan(found), *_past(past)]:
            say(line)
    if how["dry_run"]:
        return 0
    paths = [*found.whole, *found.lines, *found.moved]
    if how["purge_history"]:
        purge.require(target.history, paths)
    if (found.items or found.moved) and not how["yes"] and not click.confirm("Delete all this for good?"):
        say("Nothing was deleted.")
        return 1
    done = erasure.apply(user, found, now())
    _report(done, erasure.remaining(user, found.wording), how)
    say_aside(done.note)
    _git(target, paths, how)
    return 1 if done.stayed else 0


def _past(paths: set[str]) -> Iterable[str]:
    """What the history would lose, a line each."""
    if paths:
        yield "The history tells it in versions of:"
    yield from (f"  {one_line(path)}" for path in sorted(paths))


def _report(done: Done, still: list[str], how: dict[str, bool]) -> None:
    """What went, what stayed, what still says it."""
    if how["as_json"]:
        say_json({"event": "done", **done._asdict(), "still": still})
        return
    for line in report(done, still):
        say(line)


def report(done: Done, still: list[str]) -> Iterable[str]:
    """Sentences on what was deleted, and what of it is still to be found."""
    yield from (f"Deleted {path}." for path in done.deleted)
    if done.redacted:
        yield f"Redacted {', '.join(done.redacted)}."
    if done.beside:
        yield f"Cleared {', '.join(done.beside)}."
    yield from done.stayed
    for line in still:
        yield f"Still says it: {line}"
    if not still:
        yield "No file of the store says it any more."


def _git(target: Target, paths: list[str], how: dict[str, bool]) -> None:
    """Purge the history where that was asked for, else tell what git remembers."""
    said: list[str]
    if how["purge_history"]:
        repository = target.history.repository
        what = f"This gives commits in {repository.where} new names, empties its reflog and prunes what nothing names."
        if how["yes"] or click.confirm(f"{what} Rewrite its history?"):
            say_working("Rewriting the history")
            purged = purge.purge(target)
            said = [f"Rewrote {purged.commits} commits; {', '.join(purged.refs) or 'no branch'} moved.", *purged.notes]
        else:
            said = ["The history was left as it is."]
    else:
        said = purge.remembers(target.history, target.wording, paths, everything=target.all)
        said += ["The same command with --purge-history rewrites this repository's own history."] if said else []
    said.append("Backups, where there are any, have it too.")
    for sentence in said:
        if how["as_json"]:
            say_json({"event": "notice", "text": sentence})
        else:
            say(sentence)


def _forget_user(user: User, how: dict[str, bool]) -> int:
    """Delete everything of one user."""
    history = History(user)
    if not user.exists():
        return _forget_gone(user, history, how)
    owned = os.path.lexists(os.path.join(user.root, ".git"))
    if how["purge_history"] and not owned:
        purge.require(history, user.paths())
    paths = user.paths()
    what = f"{len(paths)} memories of {user.name} in {user.root}, with archive, recalls, traces and index"
    if owned:
        what += ", and its git repository" if how["purge_history"] else "; its git repository stays"
    if how["as_json"]:
        say_json({"event": "plan", "user": user.name, "memories": len(paths), "folder": user.root})
    else:
        say(f"{what}.")
    if how["dry_run"]:
        return 0
    if not how["yes"] and not click.confirm(f"Delete everything of {user.name} for good?"):
        say("Nothing was deleted.")
        return 1
    wording = _wording(user, paths)
    target = Target(history, wording, True)
    told = history.found is not None and bool(history.inside or history.home) and not (owned and how["purge_history"])
    done = erasure.remove_user(user, now(), with_git=how["purge_history"])
    _report(done, erasure.remaining(user, wording), how)
    say_aside(done.note)
    if told:
        _git(target, paths, {**how, "purge_history": how["purge_history"] and not owned})
    return 0


def _forget_gone(user: User, history: History, how: dict[str, bool]) -> int:
    """Purge the history of a user whose memories are gone already."""
    target = Target(history, Wording(), True)
    told = purge.remembers(history, target.wording, [], everything=True)
    if not told:
        raise NotFound(f"there is no user {user.name} in {user.store.root}, and no history of one.")
    if how["dry_run"]:
        say("\n".join(told))
        return 0
    purge.require(history, [])
    _git(target, [], how)
    return 0


def _wording(user: User, paths: list[str]) -> Wording:
    """What the memories of a user say, to look for it elsewhere."""
    wording = Wording()
    for path in paths:
        memory = user.memory(path)
        if len(memory.data) <= disk.PAGE * 1000:
            for passage in memory.passages:
                wording.add(passage.text, SENTENCE)
    return wording
