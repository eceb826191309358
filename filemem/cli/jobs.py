"""Commands that look after the memories: compact, sweep, restore, maintain; why and status, which show how they stand."""

import re
import sys
from collections.abc import Callable
from typing import Any

import click

from filemem.cli.common import complete_path, now, split_line, the_store, the_user
from filemem.cli.options import all_users_option, chosen, json_option, kept, model_option, shared_options
from filemem.cli.screen import for_script, progress, put, say, tell
from filemem.cli.talk import the_model
from filemem.endpoint.completions import FailFastModel
from filemem.errors import FilememError, in_words
from filemem.files import said
from filemem.files.folder import Folder
from filemem.forgetting import fading, maintenance
from filemem.forgetting.maintenance import JobDone
from filemem.models import Model
from filemem.overview import status

_dry = click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
SHOWN = 12  # lines of a job for one of many users
Show = Callable[[int, int], None]
Job = Callable[[Folder, Show], list[JobDone]]


class Age(click.ParamType):  # type: ignore[type-arg]  # generic in newer versions of click only
    """A number of days: `30d`, `4w`, `30`."""

    name = "age"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        match = re.fullmatch(r"(\d{1,5})([dw]?)", str(value))
        if not match:
            self.fail(f"{value!r} is no age; write it as 30d or 4w.", param, ctx)
        return int(match[1]) * (7 if match[2] == "w" else 1)


@click.command("compact")
@click.option("--older-than", type=Age(), metavar="AGE", help="Sessions more than this old: 30d, 4w [30d, or as set].")
@model_option
@all_users_option
@_dry
@json_option
@shared_options
def compact_command(older_than: int | None, model: str | None, all_users: bool, dry_run: bool) -> int:
    """Summarise old conversations by month, and archive them.

    Every line of a summary links to its source. Without a model, it holds the most telling turns in their own words.

    Example: filemem compact --older-than 60d --dry-run
    """

    def work(folder: Folder, show: Show) -> list[JobDone]:
        return [maintenance.compact(folder, now(), _model(folder, model), older_than, _finer(show), dry=dry_run)]

    return _run(work, all_users=all_users, label="compacting")


@click.command("sweep")
@all_users_option
@_dry
@json_option
@shared_options
def sweep_command(all_users: bool, dry_run: bool) -> int:
    """Archive what has faded; bring back what was opened or cited in the archive.

    Only what was fades: summarised conversations, past events and plans, trifles. Nothing is deleted: what is archived still
    answers, and filemem restore brings it back. filemem why says why.

    Example: filemem sweep --dry-run
    """

    def work(folder: Folder, show: Show) -> list[JobDone]:
        return [maintenance.sweep(folder, now(), show, dry=dry_run)]

    return _run(work, all_users=all_users, label="sweeping")


@click.command("maintain")
@click.option(
    "--reflect", is_flag=True, help="Have the model look for what several sessions tell together; proposed only."
)
@model_option
@all_users_option
@_dry
@json_option
@shared_options
def maintain_command(model: str | None, all_users: bool, dry_run: bool, reflect: bool) -> int:
    """Do all that keeps a memory in order: consolidate, compact, sweep, index. Safe at any time, from cron or a git hook.

    What imports: in filemem.yaml lists is taken in first, as far as it is new. What --reflect finds waits for filemem review.

    Example: filemem maintain --all-users --dry-run
    """

    def work(folder: Folder, show: Show) -> list[JobDone]:
        return maintenance.maintain(folder, now(), _model(folder, model), _finer(show), dry=dry_run, reflecting=reflect)

    return _run(work, all_users=all_users, label="maintaining")


@click.command("restore")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=complete_path)
@click.option("--let-go", is_flag=True, help="Offer the turns that an editor saved over back no more.")
@shared_options
def restore_command(paths: tuple[str, ...], let_go: bool) -> int:
    """Bring memories back from the archive, to where they were, byte for byte. Counts as a recall.

    A session gets back the turns that an editor has saved over, which filemem check names; or --let-go ends the offer.

    Example: filemem restore archive/facts/2025/2025-11-23-drinks-four-coffees-a-day.md
    """
    user = the_user()
    if let_go:
        for path in (user.locate(split_line(user, path)[0]) for path in paths):
            gone = said.forget_lost(user, path)
            say(f"{gone:,} {'turn' if gone == 1 else 'turns'} of {path} let go.")
        return 0
    say(*maintenance.restore(user, [split_line(user, path)[0] for path in paths], now()).said)
    return 0


@click.command("why")
@click.argument("path", shell_complete=complete_path)
@shared_options
def why_command(path: str) -> int:
    """Say in words and numbers why the memory at PATH is where it is, and when it will fade.

    Example: filemem why facts/2026/2026-03-14-prefers-oolong-tea.md
    """
    user = the_user()
    say(*fading.why(user, split_line(user, path)[0], now().date()))
    return 0


@click.command("status")
@json_option
@shared_options
def status_command() -> int:
    """Show counts and sizes by kind, tokens in the prompt, what fades within a month, and how retention is spread.

    Example: filemem status
    """
    user = the_user()
    with progress("looking") as show:
        found = status.status(user, now(), show)
    kinds = {name: kind._asdict() for name, kind in found.kinds.items()}
    tell({"user": user.name, **found._asdict(), "kinds": kinds}, *status.in_words(found))
    return 0


def _model(folder: Folder, name: str | None) -> Model:
    """The model for all users of a command; the store's settings are the same for each."""
    model: Model = kept("model", lambda: FailFastModel(the_model(folder, name)))
    return model


def _run(job: Job, *, all_users: bool, label: str) -> int:
    """Do a job for one user or for all; one whose memories cannot be worked on does not stop the others. Exit code 1 then."""
    if not all_users:
        user = the_user()
        with progress(f"{label} {user.name}") as show:
            done = job(user, show)
        _report(user.name, done)
        return 0
    if chosen("user"):
        raise FilememError("--user and --all-users exclude each other; give one of them.")
    store, failed = the_store(), 0
    names = store.users()
    with progress(label) as bar:
        show = _finer(bar)
        for number, name in enumerate(names):
            show(number, len(names))
            try:
                done = job(store.folder(name), _unseen)
                _clear_bar()
                _report(name, done, quiet=True)
            except (FilememError, OSError) as error:
                failed += 1
                _clear_bar()
                reason = in_words(error) if isinstance(error, OSError) else str(error)
                tell(
                    {"user": name, "error": reason}, f"filemem: {name}: {reason}", how=lambda line: put(line, err=True)
                )
        show(len(names), len(names))
    if not for_script():
        say(f"{len(names) - failed:,} of {len(names):,} users done.")
    return 1 if failed else 0


def _unseen(done: int, total: int) -> None:
    """One user's progress, where the bar shows that over all users."""


def _clear_bar() -> None:
    """Make room for a line on the terminal where the bar stands; it is drawn again below."""
    if sys.stderr.isatty():
        put("\r\x1b[K", nl=False, err=True)


def _finer(show: Show) -> Show:
    """Progress in so few steps that the bar would leave it out, each step a long one."""
    return lambda done, total: show(1000 * done, 1000 * total)


def _report(name: str, done: list[JobDone], *, quiet: bool = False) -> None:
    """What the jobs did; `quiet`: only where there was something to do, the first lines, each with the user in front."""
    for job in done:
        lines = job.said
        if quiet:
            more = [f"and {len(lines) - SHOWN:,} more."] if len(lines) > SHOWN else []
            lines = [f"{name}: {line}" for line in [*lines[:SHOWN], *more] if job.paths]
        tell({"user": name, "job": job.job, **job.facts}, *lines)
