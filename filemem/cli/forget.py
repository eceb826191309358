"""The command that deletes: forget."""

import os
import re
import sys
from collections.abc import Generator

import click

from filemem.cli.context import Context, command, complete_path, dry_option, json_option, split_line
from filemem.cli.screen import Line, Row, ask, confirmed, progress, say_aside, say_working
from filemem.errors import FilememError, NotFound
from filemem.files.archive import live
from filemem.files.folder import Folder
from filemem.forgetting import deletion, purge
from filemem.forgetting.deletion import DeletionItem, DeletionPlan, TextMatcher
from filemem.history import History
from filemem.jobs.running import delete
from filemem.text.plain import one_line

Plan = Generator[Line, None, DeletionPlan]
Code = Generator[Line, None, int]
SHOWN = 10  # places in git that are named
ASK = "forget asks before it deletes, and there is no terminal to ask at; add --yes, or --dry-run to see the list."


@command(
    "forget",
    click.argument("what", required=False, shell_complete=complete_path),
    click.option("--about", metavar="WORDS", help="What holds all these words, even where they look like a path."),
    click.option("--yes", is_flag=True, help="Delete without asking, and list what else holds the words."),
    dry_option,
    click.option("--purge-history", is_flag=True, help="Have git filter-repo rewrite this repository without it, too."),
    json_option,
)
def forget_command(call: Context, what: str | None, about: str | None, **how: bool) -> Code:
    """Delete for good: a memory, a PATH:LINE, or all that holds some words.

    With it go the turns that it came from (their lines stay, saying [forgotten]), and what cites these: facts, lines of
    summaries and of the profile, with everything derived from it. Words count as whole words, in Chinese wherever they stand.
    --user NAME alone forgets the whole user. It shows the list and asks first, searches every file of yours for the words,
    and says what still holds them.

    Example: filemem forget Bergen --dry-run

    Exit code 1 where nothing was found or deleted, or where something could not be.
    """
    _check(call, what, about, how)
    given = what or about
    user = call.the_user(must_exist=not how["purge_history"])
    cut_off, begun = None, deletion.unfinished(user)
    if begun is not None and how["dry_run"]:
        yield "An earlier deletion was cut off; the next one without --dry-run finishes it first."
    elif begun is not None:
        yield "Finishing a deletion that was cut off."
        cut_off = yield from _do(call, user, begun)
    if how["purge_history"] and not (not given and os.path.lexists(os.path.join(user.root, ".git"))):
        purge.require(History(user))
    if not given:
        if cut_off is not None and not user.exists():
            return cut_off
        return (yield from _forget_user(call, user, how))
    found = yield from _found(user, what or "", about or "", how, cut_off)
    past = purge.search(History(user), found).own if how["purge_history"] and found.every and not found else []
    if not found and not past:
        yield "Nothing was deleted." if found.left and not found.every else "Nothing was found."
        yield from map(str, found.left)
        return 1 if cut_off is None else cut_off
    yield from (f"Git says it: {line}" for line in past[:SHOWN])
    for item in found.items:
        yield Row({"event": "plan", **item._asdict()}, [])
    yield from deletion.planned(found)
    if how["dry_run"]:
        return 0
    if not how["yes"]:
        lines = [one for one in found.left if one.line]
        if lines and found.every and confirmed(f"Delete the other {len(lines)} lines that hold it, too?"):
            found = deletion.with_left(user, found)
        if not (yield from _confirmed("Delete all this for good?", user, how)):
            return 1
    return (yield from _do(call, user, deletion.start(user, found._replace(purge=how["purge_history"]))))


def _check(call: Context, what: str | None, about: str | None, how: dict[str, bool]) -> None:
    """Raise FilememError unless one thing is named, and somebody can be asked or need not be."""
    given = [words for words in (what, about) if words is not None]
    # An empty word is what a script's unset variable leaves: it must never stand for the whole user.
    if len(given) > 1 or not all(words.strip() for words in given) or not (given or call.user):
        raise FilememError("name one thing to forget: a PATH, some WORDS, or a whole user with --user NAME.")
    if not (how["yes"] or how["dry_run"] or (sys.stdin.isatty() and not call.json)):
        raise FilememError(ASK)


def _found(user: Folder, what: str, about: str, how: dict[str, bool], cut_off: int | None) -> Plan:
    """What would go; nothing but a name where only the history may know the path."""
    name, line = split_line(user, what) if what else ("", None)
    what = f"{name}:{line}" if line is not None else name
    try:
        with progress("looking") as show:
            found = deletion.plan(user, what, about=about, progress=show)
        if not (how["yes"] or how["dry_run"]) and found.matcher.about and len(found.items) > 1:
            yield from (
                f"{number:>3}  {item.place}  {one_line(item.text, 100) or f'({item.why})'}"
                for number, item in enumerate(found.items, 1)
            )
            found = deletion.plan(user, what, about=about, choose=_choose)
        return found
    except NotFound:
        if cut_off is None and (line is not None or not how["purge_history"]):
            raise
        return DeletionPlan([], {}, {}, {live(name): ""}, TextMatcher())


def _choose(found: list[DeletionItem]) -> list[DeletionItem]:
    """Those of the candidates that the person means."""
    question = "Which of these? all, or numbers such as 1,3-5"
    while True:
        answer = ask(question, default="none").strip()
        if answer in ("none", "all"):
            return found if answer == "all" else []
        if re.fullmatch(r"\d{1,9}(?:-\d{1,9})?(?:[, ]+\d{1,9}(?:-\d{1,9})?)*", answer):
            pairs = [part.partition("-") for part in re.split(r"[, ]+", answer)]
            wanted = {
                n for first, _, last in pairs for n in range(int(first), min(int(last or first), len(found) + 1) + 1)
            }
            if wanted <= set(range(1, len(found) + 1)):
                return [item for number, item in enumerate(found, 1) if number in wanted]
        question = f"Answer all, none, or numbers from 1 to {len(found)}"


def _confirmed(question: str, folder: Folder, how: dict[str, bool], whole: bool = False) -> Generator[Line, None, bool]:
    """Does the person mean it? `whole`: the repository goes, or stays, as a whole."""
    if how["purge_history"] and not how["yes"] and not whole:
        where = History(folder).repository.where
        yield f"Commits in {where} get new names; its reflog is emptied, and unreferenced objects are pruned."
    if how["yes"] or confirmed(question):
        return True
    yield "Nothing was deleted."
    return False


def _do(call: Context, folder: Folder, found: DeletionPlan) -> Code:
    """Carry a job out, from the start or from where it was cut off, and report what it reached and what it could not."""
    owned = found.everything and os.path.lexists(os.path.join(folder.root, ".git"))
    done = delete(folder, found, call.now)
    history, said, failed = History(folder), list[str](), bool(done.stayed)
    if found.purge and not owned and history.home:
        say_working("Rewriting the history")
        said = purge.purge(history, found)
        deletion.clear_records(folder, found)
        held = purge.search(history, found)
        failed = failed or bool(held.own)
        said += [f"Git still says it: {line}" for line in held.own[:SHOWN]]
        said += [f"Git still says it in {len(held.own) - SHOWN} more places."] * (len(held.own) > SHOWN)
        if held.others:
            said.append(f"Git has it from elsewhere too, which is none of this user's: {held.others[0]}.")
        if not held.own and found.matcher:
            said.append(
                f"Nothing of this user's in git says it any more: {held.searched:,} objects and every file were read."
            )
    elif not (found.purge and owned):
        said = purge.remembers(history, found)
        said += ["The same command with --purge-history rewrites this repository's own history."] * bool(said)
    others = deletion.elsewhere(folder, found.matcher)
    said += [f"Outside this user's folder, and untouched, the words are in: {', '.join(others)}."] * bool(others)
    deletion.end(folder, found)
    lines = deletion.report(done, folder.name) if not found.everything else [f"Deleted {done.deleted[0]}."]
    yield Row({"event": "done", **done._asdict()}, lines)
    for line in [*said, "Backups, where there are any, have it too."]:
        yield Row({"event": "notice", "text": line}, [line])
    say_aside(done.note)
    return int(failed)


def _forget_user(call: Context, folder: Folder, how: dict[str, bool]) -> Code:
    """Delete everything of one user; of one who is gone already, what the history has."""
    history, paths, found = (
        History(folder),
        folder.paths(),
        DeletionPlan([], {}, {}, {}, TextMatcher(), everything=True),
    )
    owned, purges = os.path.lexists(os.path.join(folder.root, ".git")), how["purge_history"]
    what = f"{len(paths)} memories of {folder.name} in {folder.root}, with archive, recalls, traces and index"
    what += (", and its git repository" if purges else "; its git repository stays") if owned else ""
    if not folder.exists():
        what = "\n".join(purge.remembers(history, found))
        if not what:
            raise NotFound(f"there is no user {folder.name} in {folder.store}, and no history of one.")
    yield Row(
        {"event": "plan", "user": folder.name, "memories": len(paths), "folder": folder.root}, [f"{what.rstrip('.')}."]
    )
    if how["dry_run"]:
        return 0
    if not (yield from _confirmed(f"Delete everything of {folder.name} for good?", folder, how, owned)):
        return 1
    found = found._replace(whole=dict.fromkeys(paths, ""), purge=purges)
    return (yield from _do(call, folder, deletion.start(folder, found)))
