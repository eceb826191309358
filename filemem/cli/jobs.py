"""Commands that look after the memories: compact, sweep, restore, maintain; and status, which shows how they stand."""

import re
from typing import Any

import click

from filemem.cli.all_users import many, run_job
from filemem.cli.common import complete_path, now, split_line, the_user
from filemem.cli.options import json_option, many_options, model_option
from filemem.cli.screen import say, tell
from filemem.files import transcript
from filemem.forgetting import fading
from filemem.jobs import maintenance
from filemem.text.plain import counted

_dry = click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")


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
@many_options
@_dry
@json_option
def compact_command(**options: Any) -> int:
    """Summarise old conversations by month, and archive them.

    Every line of a summary links to its source. Without a model, it holds the most telling turns in their own words.

    Example: filemem compact --older-than 60d --dry-run
    """
    return run_job("compact", "compacting", **options)


@click.command("sweep")
@many_options
@_dry
@json_option
def sweep_command(**options: Any) -> int:
    """Archive what is no longer used; bring back what was opened or cited in the archive.

    Only what was fades: summarised conversations, past events and plans, trifles. Nothing is deleted: what is archived still
    answers, and filemem restore brings it back. filemem status PATH says why.

    Example: filemem sweep --dry-run
    """
    return run_job("sweep", "sweeping", **options)


@click.command("maintain")
@model_option
@many_options
@_dry
@json_option
def maintain_command(**options: Any) -> int:
    """Do all that keeps a memory in order: consolidate, compact, sweep, index. Safe at any time, from cron or a git hook.

    What imports: in filemem.yaml lists is taken in first, as far as it is new.

    Example: filemem maintain --all-users --dry-run
    """
    return run_job("maintain", "maintaining", **options)


@click.command("restore")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=complete_path)
@click.option("--let-go", is_flag=True, help="Offer the turns that an editor saved over back no more.")
def restore_command(paths: tuple[str, ...], let_go: bool) -> None:
    """Bring memories back from the archive, to where they were, byte for byte. Counts as a recall.

    A session gets back the turns that an editor has saved over, which filemem check names; or --let-go ends the offer.

    Example: filemem restore archive/facts/2025/2025-11-23-drinks-four-coffees-a-day.md
    """
    user = the_user()
    if let_go:
        for path in (user.locate(split_line(user, path)[0]) for path in paths):
            gone = transcript.let_go(user, path)
            say(f"{counted(gone, 'turn')} of {path} let go.")
        return
    say(*maintenance.restore(user, [split_line(user, path)[0] for path in paths], now()).said)


@click.command("status")
@click.argument("path", required=False, shell_complete=complete_path)
@many_options
@json_option
def status_command(path: str | None) -> int:
    """Show counts and sizes by kind, tokens in the prompt, what fades within a month, and how retention is spread.

    With PATH how that memory stands: why it is where it is, and when it will fade. With --all-users a line of counts for each.

    Example: filemem status facts/2026/2026-03-14-prefers-oolong-tea.md
    """
    if path is None:
        return run_job("status", "looking at")
    if many():
        raise click.UsageError("PATH is of one user; leave out what is for many.")
    user = the_user()
    said = fading.why(user, split_line(user, path)[0], now().date())
    tell({"path": split_line(user, path)[0], "said": said}, *said)
    return 0
