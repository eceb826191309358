"""Commands that run a job, for one user or for all, and tell how the memories stand."""

import os
from collections.abc import Collection, Generator
from dataclasses import asdict, replace
from typing import Any

import click

from filemem import jobs, overview
from filemem.cli.context import (
    Context,
    dry_run_option,
    json_option,
    many_option,
    model_option,
    optional_path_argument,
    prints,
    split_line,
)
from filemem.cli.output import Output, OutputForm, Progress, Row, say, say_dim
from filemem.errors import Busy, FilememError, Problem, in_words
from filemem.forget.states import explain
from filemem.forget.sweep import Large
from filemem.jobs import Job, UserJob
from filemem.learn import background
from filemem.learn.consolidate import cost
from filemem.learn.sessions import Ended
from filemem.store import config
from filemem.store.users import StoreFolder
from filemem.text.plain import counted
from filemem.work import JobDone

NOBODY = "There is nobody in {} yet; start with: filemem chat"


@click.command("consolidate")
@click.option(
    "--review",
    is_flag=True,
    help="Only propose; filemem review then asks you about each.",
)
@click.option(
    "--for-later",
    "later",
    is_flag=True,
    hidden=True,
    help="Read what is over, and leave what there is to tell for the next chat.",
)
@click.option(
    "--ended",
    multiple=True,
    hidden=True,
    help="A session that is over.",
)
@model_option
@many_option
@dry_run_option
@json_option
@prints
def consolidate_command(
    call: Context, later: bool, ended: tuple[str, ...], **options: Any
) -> Output:
    """Part of maintain: make facts of what was said.

    The model reads every conversation once, several per request, and makes facts,
    lessons and lines of the profile, each with its source. The cost is shown first, and
    by --dry-run. Without a model, conversations wait.

    Example: filemem consolidate --dry-run"""
    if later:
        _read_for_later(call, options["model"], ended)
        return 0
    return (yield from _run(call, jobs.consolidate, **options))


def _read_for_later(call: Context, model: str | None, named: Collection[str]) -> None:
    """Read what is over, and leave one line on it for the next chat.

    Args:
        call: the command that it is.
        model: who reads.
        named: the paths of sessions that end now; others have ended after a pause.
    """
    user = call.the_user()
    at = call.now
    ended = Ended(at, named)
    try:
        reader = call.model(user, model)
        told = jobs.read_conversations(user, at, reader, ended=ended).news
    except Busy:
        return  # who is at it reads this, too
    except (FilememError, OSError) as error:
        told = in_words(error)
    if told:
        background.leave_news(user, told, at)


@click.command("compact")
@model_option
@many_option
@dry_run_option
@json_option
@prints
def compact_command(call: Context, **options: Any) -> Output:
    """Part of maintain: summarise old conversations.

    Those older than 30 days, or as set, are archived. The model tells what came of
    each, what was decided and what is open, each line with a link to the turns that say
    it. Without a model a few of your own sentences are quoted, and told anew once there
    is one.

    Example: filemem compact --dry-run"""
    return _run(call, jobs.compact, **options)


@click.command("sweep")
@click.option(
    "--yes", is_flag=True, help="Also where more than a fifth of all facts go."
)
@many_option
@dry_run_option
@json_option
@prints
def sweep_command(call: Context, yes: bool, **options: Any) -> Output:
    """Part of maintain: archive what has faded.

    Events, plans and trifles fade, and much more slowly facts of conversations; what
    you asked for does not. Days on which you do not use it do not count, but for a
    week. Nothing is deleted: what is archived is still found, and filemem restore
    brings it back. filemem status PATH says why.

    Example: filemem sweep --dry-run"""
    large = Large.ALL if yes else Large.WAITS
    return _run(call, jobs.sweep, large=large, **options)


@click.command("maintain")
@model_option
@many_option
@dry_run_option
@json_option
@prints
def maintain_command(call: Context, **options: Any) -> Output:
    """Do the work of a night: learn, summarise, archive.

    It runs consolidate, compact and sweep, and is safe at any time, from cron or a git
    hook. Exit code 1 if the model failed: what it did not read or tell waits.

    Example: filemem maintain --all-users --dry-run"""
    return _run(call, jobs.maintain, **options)


@click.command("restore")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path())
@prints
def restore_command(call: Context, paths: tuple[str, ...]) -> Output:
    """Bring memories back from the archive.

    They go where they were, byte for byte; this counts as a recall. A session also gets
    back turns that an editor saved over; filemem check names them. Exit code 1 if there
    is nothing to bring back, or another text is where one would go.

    Example: filemem restore archive/facts/2025/2025-11-23-drinks-four-coffees-a-day.md
    """
    user = call.the_user()
    named = [split_line(user, given).path for given in paths]
    done = jobs.restore(user, call.now, named)
    yield from done.said
    return int(done.facts["failed"])


@click.command("status")
@optional_path_argument
@many_option
@json_option
@prints
def status_command(call: Context, path: str | None) -> Output:
    """Show counts, sizes and what fades; or one memory's state.

    By kind, with the tokens in the prompt; for PATH, why it is where it is and when it
    will fade. With --all-users, a line of counts for each user.

    Example: filemem status facts/2026/2026-03-14-prefers-oolong-tea.md"""
    store = call.open_store(must_exist=True)
    if not (store.users() or call.user):
        yield NOBODY.format(store.root)
        return 0
    if path is None:
        return (yield from _run(call, overview.status, brief=call.many()))
    user = call.the_user()
    said = explain(user, split_line(user, path).path, call.now.date())
    yield Row({"path": path, "said": said}, said)
    return 0


@click.command("check")
@click.option(
    "--okf", is_flag=True, help="Only why it is no bundle of the Open Knowledge Format."
)
@many_option
@json_option
@prints
def check_command(call: Context, okf: bool) -> Output:
    """List every problem in the files, with its remedy.

    Checks one user, or all of them if --user is not given and there are several. Exit
    code 1 if there is a problem.

    Example: filemem check"""
    store = call.open_store(must_exist=True)
    names = store.users()
    if not call.many() and (call.user or os.environ.get("FILEMEM_USER")):
        names = [call.the_user().name]
    found = 0
    for problem in () if okf else _settings_problems(store):
        found += 1
        yield Row({"user": "", **asdict(problem)}, [str(problem)])
    failed = 0
    for row in _for_each(call, jobs.check, names, "/", okf=okf):
        found += "what" in row.data
        failed += "error" in row.data
        yield row
    files = sum(len(store.folder(name).paths()) for name in names)
    looked_at = f"{counted(files, 'file')} of {counted(len(names), 'user')}"
    yield f"{looked_at}: {counted(found, 'problem')}."
    if okf and not (found or failed):
        yield "That is a bundle of the Open Knowledge Format 0.2."
    return int(bool(found or failed))


def _settings_problems(store: StoreFolder) -> list[Problem]:
    """Return what is wrong in the store's settings."""
    try:
        config.load(store.root)
        return config.misplaced(store.root)
    except config.ConfigError as error:
        return [replace(error.problem, path=config.NAME)]


# -- for one user, or for each ---------------------------------------------------------


def _run(call: Context, job: Job, **options: Any) -> Output:
    """Do a job for the user of this call, or with --all-users for each.

    Return exit code 1 if it failed for one of these, or something waits as the model
    failed.
    """
    if call.many():
        return (yield from _run_for_all(call, job, options))
    user = call.the_user()
    if "model" in options:
        options["model"] = call.model(user, options["model"])
    if job is not jobs.compact and options.get("model") and not options["dry"]:
        takes = cost(user, options["model"])
        if takes.facts["requests"]:
            say_dim(*takes.said)
    with Progress(f"{job.__name__} {user.name}") as show:
        results = jobs.do(job, user, call.now, progress=show, **options)
    waits = False
    for result in results:
        waits |= bool(result.facts.get("waits"))
        yield _row(user.name, result, result.said)
    return int(waits)


def _run_for_all(call: Context, job: Job, options: dict[str, Any]) -> Output:
    store = call.open_store()
    if "model" in options:  # its name, which can travel to a cluster
        model = call.model(store.folder("all"), options["model"])
        options["model"] = model.name if model else None
    users = store.users()
    failed = 0
    waits = False
    for row in _for_each(call, job, users, ": ", **options):
        failed += "error" in row.data
        waits |= bool(row.data.get("waits"))
        yield row
    yield f"{len(users) - failed:,} of {len(users):,} users done."
    return int(failed > 0 or waits)


def _for_each(
    call: Context, job: Job, users: list[str], mark: str, **options: Any
) -> Generator[Row, None, None]:
    """Yield what a job tells for many users; who failed is told on standard error.

    For a person there are lines for what is news, with the name and a mark before each.
    """
    run = os.urandom(4).hex()
    work = UserJob(job, call.open_store().root, call.now, options, run)
    with Progress(job.__name__) as show:
        told = jobs.for_each(users, call.scheduler, work)
        for done, (user, results) in enumerate(told, 1):
            for result in results:
                error = result.facts.get("error")
                if error and call.form is OutputForm.TEXT:
                    say(f"filemem: {user}: {error}", err=True)
                is_news = result.paths or result.facts.get("notes") or not result.job
                lines = result.said if is_news else []
                yield _row(user, result, [f"{user}{mark}{line}" for line in lines])
            show(done, len(users))


def _row(user: str, result: JobDone, lines: list[str]) -> Row:
    return Row({"user": user, "job": result.job, **result.facts}, lines)
