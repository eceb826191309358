"""The command that deletes: forget."""

import os
import re
import sys
from collections.abc import Iterable

import click

from filemem.cli.common import complete_path, now, split_line, the_user
from filemem.cli.options import chosen, json_option
from filemem.cli.screen import ask, confirmed, for_script, progress, say, say_aside, say_json, say_working, tell
from filemem.errors import FilememError, NotFound
from filemem.files.archive import live
from filemem.files.folder import Folder
from filemem.forgetting import deletion, erasure, purge
from filemem.forgetting.deletion import DeletionItem, DeletionPlan
from filemem.forgetting.erasure import DeletionJob, ErasureReport, planned, report
from filemem.forgetting.purge import StillInHistory
from filemem.forgetting.rewriting import PurgeTarget
from filemem.forgetting.wording import SENTENCE, Wording
from filemem.history import History, UncommittedChanges
from filemem.text.plain import first_few, one_line

SHOWN = 10  # places that still say it
ASK = "forget asks before it deletes, and there is no terminal to ask at; add --yes, or --dry-run to see the list."


@click.command("forget")
@click.argument("path", required=False, shell_complete=complete_path)
@click.option("--about", metavar="WORDS", help="What is about these words; you choose from a list.")
@click.option("--yes", is_flag=True, help="Delete without asking.")
@click.option("--dry-run", is_flag=True, help="Only list what would go.")
@click.option("--purge-history", is_flag=True, help="Rewrite this repository's own history without it, too.")
@json_option
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
    if not (how["yes"] or how["dry_run"] or (sys.stdin.isatty() and not for_script())):
        raise FilememError(ASK)
    user = the_user(must_exist=not how["purge_history"])
    cut_off = _finish_earlier(user, how)
    if not given:
        return cut_off if cut_off is not None and not user.exists() else _forget_user(user, how)
    with progress("looking") as show:
        asked, gone = _named(user, path, how, cut_off) if path else ([], "")
        wanted = deletion.candidates(user, about, show) if about else asked
    asked = _choose(wanted, how) if about else asked
    found = deletion.plan(user, asked, about or "")
    every = len(asked) == len(wanted)
    past = set[str]()
    if how["purge_history"] and every:
        purge.require(History(user))
        past = purge.learn(PurgeTarget(History(user), found.wording, False, every), gone)
    if not asked and not past and (wanted or not _beside(user, found)):
        if cut_off is None:
            say("Nothing was deleted." if wanted else "Nothing was found.")
        return 1 if cut_off is None else cut_off
    return _carry_out(user, DeletionJob(found, False, every, how["purge_history"]), past, how)


def _finish_earlier(folder: Folder, how: dict[str, bool]) -> int | None:
    """Finish what was cut off, as it had been confirmed; the exit code of that, None where there was nothing."""
    job = erasure.unfinished(folder)
    if job is None:
        return None
    if how["dry_run"]:
        say("An earlier forgetting was cut off; the next one without --dry-run finishes it first.")
        return None
    if not for_script():
        say("Finishing a forgetting that was cut off.")
    return _do(folder, job, None)


def _beside(folder: Folder, found: DeletionPlan) -> bool:
    """Do the user's logs, traces or caches still hold it, though no memory does?"""
    return any(line.startswith(f"{folder.name}/") for line in erasure.files_still_saying(folder, found.wording))


def _named(folder: Folder, given: str, how: dict[str, bool], cut_off: int | None) -> tuple[list[DeletionItem], str]:
    """The memory, or the line of one, that a person typed; or the path of one that only the history may know."""
    name, line = split_line(folder, given)
    try:
        return [deletion.item_at(folder, folder.locate(name), line)], ""
    except NotFound:
        if cut_off is None and (line is not None or not how["purge_history"]):
            raise
        return [], live(name)


def _choose(found: list[DeletionItem], how: dict[str, bool]) -> list[DeletionItem]:
    """Those of the candidates that the person means; all of them where nobody is asked."""
    if not found or how["yes"] or how["dry_run"]:
        return found
    for number, item in enumerate(found, 1):
        say(f"{number:>3}  {item.place}  {one_line(item.text, 100) or f'({item.why})'}")
    while True:
        answer = ask("Which of these? all, or numbers such as 1,3-5", default="none").strip()
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


def _carry_out(folder: Folder, job: DeletionJob, past: set[str], how: dict[str, bool]) -> int:
    """Show, ask, delete, report; `past` is what the history tells it in."""
    found = job.plan
    for item in found.items if for_script() else ():
        say_json({"event": "plan", **item._asdict()})
    if not for_script():
        say(*planned(found), *_past(past))
    if how["dry_run"]:
        return 0
    if how["purge_history"]:
        purge.require(History(folder))
    if not _confirmed("Delete all this for good?", folder, how):
        return 1
    return _do(folder, *erasure.start_job(folder, job, now()))


def _confirmed(question: str, folder: Folder, how: dict[str, bool], whole: bool = False) -> bool:
    """Does the person mean it? `whole`: the repository goes, or stays, as a whole."""
    if how["purge_history"] and not how["yes"] and not whole:
        where = History(folder).repository.where
        say(f"Commits in {where} get new names; its reflog is emptied, and what nothing names is pruned.")
    if how["yes"] or confirmed(question):
        return True
    say("Nothing was deleted.")
    return False


def _do(folder: Folder, job: DeletionJob, before: UncommittedChanges | None) -> int:
    """Carry a job out, from the start or from where it was cut off, search for what is left, and report."""
    wording = job.plan.wording
    owned = job.all and os.path.lexists(os.path.join(folder.root, ".git"))
    done = erasure.remove_user(folder, job, now()) if job.all else erasure.erase(folder, job, now(), before)
    history, said, held = History(folder), list[str](), None
    if job.purge and not owned and history.home:
        say_working("Rewriting the history")
        target = PurgeTarget(history, wording, job.all, job.every, job.plan.lines)
        purged = purge.purge(target)
        said = [f"Rewrote {purged.commits} commits; {', '.join(purged.refs) or 'no branch'} moved.", *purged.notes]
        erasure.clear_note(folder, job.plan)
        held = purge.search(target)
    elif not (job.purge and owned):
        said = purge.remembers(history, wording, job.paths, everything=job.all)
        said += ["The same command with --purge-history rewrites this repository's own history."] if said else []
    still = erasure.files_still_saying(folder, wording)
    (erasure.end_user if job.all else erasure.end)(folder)
    _report(done, still, said, held)
    say_aside(done.note)
    return 1 if done.stayed or (held and held.own) else 0


def _past(paths: set[str]) -> Iterable[str]:
    """What the history would lose, a line each."""
    if paths:
        yield "The history tells it in versions of:"
    yield from (f"  {one_line(path)}" for path in sorted(paths))


def _report(done: ErasureReport, still: list[str], said: list[str], held: StillInHistory | None) -> None:
    """What went, what stayed, what still says it."""
    lines = [*said, *(_held(held) if held and done.sought else ()), "Backups, where there are any, have it too."]
    tell({"event": "done", **done._asdict(), "still": still}, *report(done, still))
    for line in lines:
        tell({"event": "notice", "text": line}, line)


def _held(held: StillInHistory) -> Iterable[str]:
    """What a search of the whole repository has shown."""
    for line in held.own[:SHOWN]:
        yield f"Git still says it: {line}"
    if len(held.own) > SHOWN:
        yield f"Git still says it in {len(held.own) - SHOWN} more places."
    if held.others:
        yield f"Git has it from elsewhere too, which is none of this user's: {first_few(held.others)}."
    if not held.own:
        yield f"Nothing of this user's in git says it any more: {held.searched:,} objects and every file were read."


def _forget_user(folder: Folder, how: dict[str, bool]) -> int:
    """Delete everything of one user; of one who is gone already, what the history has."""
    history, paths = History(folder), folder.paths()
    owned, purges = os.path.lexists(os.path.join(folder.root, ".git")), how["purge_history"]
    if folder.exists():
        what = f"{len(paths)} memories of {folder.name} in {folder.root}, with archive, recalls, traces and index"
        stays = ", and its git repository" if purges else "; its git repository stays"
        what += f"{stays if owned else ''}."
    else:
        what = "\n".join(purge.remembers(history, Wording(), [], everything=True))
        if not what:
            raise NotFound(f"there is no user {folder.name} in {folder.store}, and no history of one.")
    if purges and not owned:
        purge.require(history)
    tell({"event": "plan", "user": folder.name, "memories": len(paths), "folder": folder.root}, what)
    if how["dry_run"]:
        return 0
    if not _confirmed(f"Delete everything of {folder.name} for good?", folder, how, owned):
        return 1
    wording = _wording(folder, paths)
    if purges and not owned:
        purge.learn_all(PurgeTarget(history, wording, True))
    job = DeletionJob(DeletionPlan([], dict.fromkeys(paths, ""), {}, {}, wording, []), True, True, purges)
    return _do(folder, *erasure.start_job(folder, job, now()))


def _wording(folder: Folder, paths: list[str]) -> Wording:
    """What the memories of a user say, to look for it elsewhere."""
    wording = Wording()
    for path in paths:
        memory = deletion.bounded(folder, path)
        for passage in memory.passages:
            wording.add(passage.text, SENTENCE)
    return wording
