"""Commands that look after the memories: consolidate, compact, sweep, maintain, check and status for one user or all; restore."""

import os
import re
from collections.abc import Generator, Iterator
from typing import Any

import click

from filemem.cli.context import (
    Context,
    command,
    complete_path,
    dry_option,
    json_option,
    many_options,
    model_option,
    split_line,
)
from filemem.cli.screen import Line, Output, Row, progress, say
from filemem.errors import Problem
from filemem.files import config, journal, safe, trust
from filemem.files.folder import StoreFolder
from filemem.forgetting import sweeper
from filemem.jobs import maintenance
from filemem.jobs.maintenance import JobDone
from filemem.jobs.table import JOBS, Order, Outcome, outcomes
from filemem.models.offline import chosen_model
from filemem.text.plain import counted

SHOWN = 12  # lines on one of many users


def _run(call: Context, job: str, label: str, **options: Any) -> Output:
    """Do a job for the user of this call, or with --all-users for each; exit code 1 where it failed for one of these."""
    many, order = call.many(), _order(call, job, options)
    if not many:
        user = call.the_user()
        with progress(f"{label} {user.name}") as show:
            told = JOBS[job](order, user, show)
        for one in told:
            yield Row(_facts(user.name, one), one.said)
        return 0
    users = call.open_store().users()
    failed, _ = yield from _for_each(call, order, label, users, brief=True)
    yield f"{len(users) - failed:,} of {len(users):,} users done."
    return 1 if failed else 0


def _order(call: Context, job: str, options: dict[str, Any]) -> Order:
    """The order that every worker gets; the model's name is resolved here, once."""
    store = call.open_store()
    if "model" in options:
        unsettled = call.unsettled(None if call.all_users else call.the_user())
        model = chosen_model(config.load(store.root, trust=store.trust), options["model"])
        options["model"] = model.name if model and "base_url" not in unsettled else ""
    return Order(job, store.root, call.now, options, call.trust)


def _for_each(
    call: Context, order: Order, label: str, users: list[str], *, brief: bool
) -> Generator[Row, None, tuple[int, int]]:
    """Do a job for many users, and name in the end those for whom it failed; returns how many, and of how much the rest told.

    `brief`: of each user only what is news, in the first lines.
    """
    count, failed = 0, list[Outcome]()
    with progress(label, 1) as show:
        for done, one in enumerate(outcomes(order, users, call.answers, call.scheduler or ""), 1):
            count += sum("followed" not in told.facts for told in one.told)
            if one.error:
                failed.append(one)
            if brief:
                lines = [f"{one.user}: {line}" for told in one.told if told.news for line in told.said]
                more = [f"{one.user}: and {len(lines) - SHOWN:,} more."] * (len(lines) > SHOWN)
                yield Row({}, [*lines[:SHOWN], *more])
            for told in one.told:
                yield Row(_facts(one.user, told), [] if brief else told.said)
            show(done, len(users))
    for one in failed:
        yield Row({"user": one.user, "error": one.error}, [])
        if not call.json:
            say(f"filemem: {one.user}: {one.error}", err=True)
    return len(failed), count


def _facts(user: str, done: JobDone) -> dict[str, Any]:
    """What a job has to tell a script."""
    return {"user": user, **({"job": done.job} if done.job else {}), **done.facts}


@command(
    "consolidate",
    many_options,
    dry_option,
    click.option("--review", is_flag=True, help="Only propose; filemem review then asks you about each."),
    model_option,
    json_option,
)
def consolidate_command(call: Context, **options: Any) -> Output:
    """Have the model make memories of what was said.

    Every conversation is read once, several in a request; what it tells becomes facts, lessons and lines of the profile, each
    with its source. What that takes is said with --dry-run, and before the work. Without a model all conversations wait. With
    --review, or review: true in filemem.yaml, it becomes proposals first. Exit code 1 where the model could not be asked.

    Example: filemem consolidate --dry-run
    """
    return _run(call, "consolidate", "remembering", **options)


class Age(click.ParamType):  # type: ignore[type-arg]  # generic in newer versions of click only
    """A number of days: `30d`, `4w`, `30`."""

    name = "age"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        match = re.fullmatch(r"(\d{1,5})([dw]?)", str(value))
        if not match:
            self.fail(f"{value!r} is not an age; write it as 30d or 4w.", param, ctx)
        return int(match[1]) * (7 if match[2] == "w" else 1)


@command(
    "compact",
    click.option(
        "--older-than", type=Age(), metavar="AGE", help="Sessions more than this old: 30d, 4w [30d, or as set]."
    ),
    model_option,
    many_options,
    dry_option,
    json_option,
)
def compact_command(call: Context, **options: Any) -> Output:
    """Summarise old conversations by month, and archive them.

    Every line of a summary links to its source. Without a model, it holds the most telling turns in their own words.

    Example: filemem compact --older-than 60d --dry-run
    """
    return _run(call, "compact", "compacting", **options)


@command("sweep", many_options, dry_option, json_option)
def sweep_command(call: Context, **options: Any) -> Output:
    """Archive what is no longer used; bring back what was opened or cited in the archive.

    Only what was fades: summarised conversations, past events and plans, trifles. Nothing is deleted: what is archived still
    answers, and filemem restore brings it back. filemem status PATH says why.

    Example: filemem sweep --dry-run
    """
    return _run(call, "sweep", "sweeping", **options)


@command("maintain", model_option, many_options, dry_option, json_option)
def maintain_command(call: Context, **options: Any) -> Output:
    """Do all that keeps a memory in order: consolidate, compact, sweep, index. Safe at any time, from cron or a git hook.

    The files that imports: in filemem.yaml lists are imported first, as far as they are new.

    Example: filemem maintain --all-users --dry-run
    """
    return _run(call, "maintain", "maintaining", **options)


@command(
    "restore",
    click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=complete_path),
    click.option("--let-go", is_flag=True, help="Stop offering the turns that an editor saved over."),
)
def restore_command(call: Context, paths: tuple[str, ...], let_go: bool) -> Iterator[Line]:
    """Bring memories back from the archive, to where they were, byte for byte. Counts as a recall.

    A session gets back the turns that an editor has saved over, which filemem check names; or --let-go ends the offer.

    Example: filemem restore archive/facts/2025/2025-11-23-drinks-four-coffees-a-day.md
    """
    user = call.the_user()
    names = [split_line(user, path)[0] for path in paths]
    if not let_go:
        yield from maintenance.restore(user, names, call.now).said
    for path in map(user.locate, names if let_go else ()):
        journal.let_go(user, [path])
        yield f"No turn of {path} that was saved over is offered any more."


@command("status", click.argument("path", required=False, shell_complete=complete_path), many_options, json_option)
def status_command(call: Context, path: str | None) -> Output:
    """Show counts and sizes by kind, tokens in the prompt, what fades within a month, and the distribution of retention.

    With PATH how that memory stands: why it is where it is, and when it will fade. With --all-users a line of counts for each.

    Example: filemem status facts/2026/2026-03-14-prefers-oolong-tea.md
    """
    if path is None:
        return (yield from _run(call, "status", "looking at"))
    if call.many():
        raise click.UsageError("PATH belongs to one user; leave out --all-users.")
    user = call.the_user()
    name = split_line(user, path)[0]
    said = sweeper.why(user, name, call.now.date())
    yield Row({"path": name, "said": said}, said)
    return 0


@command("check", many_options, json_option)
def check_command(call: Context) -> Output:
    """List every problem in the files, with its remedy.

    Checks one user, or all of them where --user is not given and there are several. Exit code 1 where there is a problem.

    Example: filemem check
    """
    store = call.open_store()
    named = not call.many() and (call.user or os.environ.get("FILEMEM_USER"))
    names = [call.the_user().name] if named else store.users()
    found = _settings_problems(store)
    for problem in found:
        yield Row({"user": "", **problem._asdict()}, [str(problem)])
    failed, count = yield from _for_each(call, _order(call, "check", {}), "checking", names, brief=False)
    problems, files = len(found) + count, sum(1 for name in names for _ in store.folder(name).files())
    yield f"{counted(files, 'file')} of {counted(len(names), 'user')}: {counted(problems, 'problem')}."
    return 1 if failed or problems else 0


def _settings_problems(store: StoreFolder) -> list[Problem]:
    """What is wrong with the store's settings file."""
    path = os.path.join(store.root, config.NAME)
    data = safe.read(path, config.LARGEST) if os.path.lexists(path) else b""
    found = []
    try:
        for key in config.withheld(store.root, trust=store.trust):
            at = config.line_of(data.decode(errors="replace"), key)
            found.append(Problem(config.NAME, at, f"{key} is not used, as you have not agreed to it", trust.REMEDY))
    except config.ConfigError as error:
        found = found or [Problem(config.NAME, *error.fault)]
    return found
