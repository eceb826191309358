"""Commands that make memories of what was said: remember, consolidate."""

import contextlib
from typing import Any

import click

from filemem.cli.common import a_user, now, the_store, the_user, welcome
from filemem.cli.options import json_option, model_option, new_user_option, shared_options
from filemem.cli.screen import progress, put, say, say_json
from filemem.cli.talk import the_model
from filemem.cli.telling import as_json as decision_json
from filemem.cli.telling import committed, lines, remembered, waiting
from filemem.errors import FilememError
from filemem.files import archive
from filemem.files.folder import Folder
from filemem.history import History
from filemem.remembering import consolidation
from filemem.remembering.comparison import ADD, DROP, LATE, NOOP, SUPERSEDE, UPDATE
from filemem.remembering.consolidation import Applied, Decision
from filemem.remembering.extraction import listener


@click.command("remember")
@click.argument("text", nargs=-1, required=True)
@click.option(
    "--importance",
    type=click.IntRange(1, 10),
    help="From 1 to 10; by what it is about, at least 8, where it is not given.",
)
@click.option("--pinned", is_flag=True, help="Never fades.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="May be given several times.")
@click.option("--with-secrets", is_flag=True, help="Keep passwords, keys and codes in it, too.")
@new_user_option
@shared_options
def remember_command(text: tuple[str, ...], **how: Any) -> int:
    """Keep one fact.

    TEXT gets a file of its own, dated today. Told twice it stays one fact; told otherwise, it supersedes what was known.
    Secrets in it are taken out, which is said, unless --with-secrets is given.

    Example: filemem remember "Prefers oolong tea."
    """
    user = a_user()
    welcome(user)
    for line in remembered(user, " ".join(text), **how)[1]:
        say(line)
    return 0


@click.command("consolidate")
@click.option("--all-users", is_flag=True, help="Every user of the store, one after the other.")
@click.option("--dry-run", is_flag=True, help="Say what would be remembered, and write nothing.")
@click.option("--review", is_flag=True, help="Only propose; filemem review then asks you about each.")
@model_option
@json_option
@shared_options
def consolidate_command(all_users: bool, model: str | None, as_json: bool, **how: bool) -> int:
    """Make memories of what was said.

    Every session is read once; what it tells becomes facts, lessons and lines of the profile, each with its source. With
    --review, or review: true in filemem.yaml, it becomes proposals first. Exit code 2 where it failed for one of the users.

    Example: filemem consolidate --dry-run
    """
    store = the_store()
    users = [store.folder(name) for name in store.users()] if all_users else [the_user()]
    failed = False
    for user in users:
        try:
            _consolidate(user, model, as_json=as_json, named=all_users, **how)
        except FilememError as error:
            if not all_users:
                raise
            failed = True
            put(f"{user.name}: {error}", err=True)
    return 2 if failed else 0


def _consolidate(user: Folder, model: str | None, *, dry_run: bool, review: bool, as_json: bool, named: bool) -> None:
    listen = listener(the_model(user, model), lambda sentence: put(sentence, err=True))
    label = f"remembering {user.name}" if named else "remembering"
    found: list[Applied] = []
    with contextlib.nullcontext() if dry_run else archive.job_lock(user), progress(label) as show:
        if dry_run:
            for plan in consolidation.plan(user, now(), listen, None, show):
                found.append(Applied(list(plan.decisions), [], list(plan.notes)))
        else:
            history = History(user)
            before = history.before(now())
            for session, done in consolidation.run(user, now(), listen, None, show, review=review):
                found.append(done)
                committed(user, done, session, before)
                before = history.before(now())
    _report(user, found, dry_run=dry_run, as_json=as_json, named=named)


def _report(user: Folder, found: list[Applied], *, dry_run: bool, as_json: bool, named: bool) -> None:
    whose = {"user": user.name} if named else {}
    notes = [note for done in found for note in done.notes]
    for done in found:
        for one in done.decisions:
            if as_json:
                say_json({**whose, **decision_json(one, staged=done.staged)})
            else:
                for line in lines(one, whole=True, staged=done.staged):
                    say(line)
    if as_json:
        for note in notes:
            say_json({**whose, "event": "notice", "text": note})
        return
    for note in notes:
        say(note)
    made = [one for done in found for one in done.decisions if not done.staged]
    staged = sum(len(done.decisions) for done in found if done.staged)
    said = " ".join([*([_summary(made)] if made or not staged else []), *([f"{waiting(staged)}."] if staged else [])])
    say(f"{user.name + ': ' if named else ''}{said}{' Nothing was written.' if dry_run else ''}")


def _summary(made: list[Decision]) -> str:
    """What was decided, in one sentence."""
    counts = [
        (sum(one.action in (ADD, SUPERSEDE, LATE) for one in made), "new"),
        (sum(len(one.replaces) for one in made if one.action == SUPERSEDE), "superseded"),
        (sum(one.action == UPDATE for one in made), "told again"),
        (sum(one.action == NOOP for one in made), "known"),
        (sum(one.action == DROP for one in made), "dropped"),
    ]
    told = ", ".join(f"{count:,} {word}" for count, word in counts if count)
    return f"{told[:1].upper()}{told[1:]}." if told else "Nothing new was said."
