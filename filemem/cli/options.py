"""The options that every command takes: --store, --user, --today, --trust. Imports no more than click: `--help` must be quick."""

import contextlib
import datetime as dt
import functools
import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from filemem.errors import FilememError
from filemem.files.store import StoreFolder

F = TypeVar("F", bound=Callable[..., Any])


class Moment(click.ParamType):  # type: ignore[type-arg]  # generic in newer versions of click only
    """A day, or a day and time: `2026-11-20` or `2026-11-20T09:30`."""

    name = "date"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dt.datetime:
        try:
            return dt.datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is no date; write it as 2026-11-20 or 2026-11-20T09:30.", param, ctx)


def store_path(given: str | None) -> str:
    """Where the store is: as chosen, FILEMEM_STORE, ./memory_store where there is one, else the platform's data folder."""
    if given or os.environ.get("FILEMEM_STORE"):
        return given or os.environ["FILEMEM_STORE"]
    return "memory_store" if os.path.isdir("memory_store") else data_folder()


def data_folder() -> str:
    """The store of a person who names none."""
    home = os.path.expanduser("~")
    share = os.environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share")
    if sys.platform == "darwin":
        share = os.path.join(home, "Library", "Application Support")
    return os.path.join(share, "filemem", "memory_store")


class _StoreOption(click.Option):
    """--store, whose help names the store that is meant where it is left out."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        self.help = f"The store [FILEMEM_STORE, else ./memory_store, else {data_folder()}; here {store_path(None)}]."
        return super().get_help_record(ctx)


def _kept(*names: str, **how: Any) -> Callable[[F], F]:
    """An option that no command gets as an argument: `chosen` has its value."""

    def keep(ctx: click.Context, param: click.Parameter, value: Any) -> None:
        if value is not None and not str(value).strip():  # a script's unset variable, which must not mean the default
            raise click.UsageError(f"--{param.name} is empty; give it a value, or leave it out.")
        if value is not None:
            ctx.ensure_object(dict)[param.name] = value

    return click.option(*names, expose_value=False, callback=keep, **how)


def _users(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The users whose names begin so."""
    with contextlib.suppress(FilememError):
        names = StoreFolder(store_path(ctx.ensure_object(dict).get("store"))).users()
        return [name for name in names if name.startswith(incomplete)]
    return []


_SHARED = (
    _kept("--store", cls=_StoreOption, metavar="FOLDER", help="The store."),
    _kept("--user", metavar="NAME", help="Whose memories [FILEMEM_USER, else the only user].", shell_complete=_users),
    _kept("--today", type=Moment(), metavar="DATE", help="The day, or day and time, taken as now."),
    _kept("--trust", is_flag=True, default=None, help="Trust the store's settings and git repository from now on."),
)


def with_shared_options(command: click.Command) -> click.Command:
    """The command, and those of its group, with --store, --user, --today and --trust; of one before and one after a command's
    name the later one counts."""
    for option in _SHARED:
        option(command)
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        with_shared_options(inner)
    return command


def json_option_that(does: str) -> Callable[[F], F]:
    """--json, for which `screen.tell` asks; the help says what it does."""
    return _kept("--json", is_flag=True, help=does)


json_option = json_option_that("One JSON object a line.")
as_of_option = _kept(
    "--as-of", type=Moment(), metavar="DATE", help="What was believed at the end of that day, from git."
)
new_user_option = _kept("--new-user", is_flag=True, help="Begin as a new user, however close the name is to another's.")
model_option = click.option(
    "--model", metavar="NAME", help="The model to ask [FILEMEM_MODEL, else model in filemem.yaml]."
)
path_option = click.option("--path", metavar="GLOB", help="Only these files, e.g. 'facts/**', 'archive/**'.")
speaker_option = click.option("--speaker", metavar="NAME", help="Only what this person said.")
after_option = click.option("--after", metavar="DATE", help="Only from this day on: 2026-05-08, 2026-05, 'last week'.")
before_option = click.option("--before", metavar="DATE", help="Only up to this day.")
_MANY = (
    _kept("--all-users", is_flag=True, default=None, help="Every user of the store."),
    _kept("--scheduler", metavar="URL", help="All users on this Dask cluster, such as tcp://10.0.0.5:8786."),
)


def many_options(command: F) -> F:
    """--all-users, and where a job goes for them: --scheduler."""
    return functools.reduce(lambda made, option: option(made), reversed(_MANY), command)


def chosen(name: str) -> Any:
    """What was given for an option that no command gets as an argument, None where it was not."""
    return click.get_current_context().ensure_object(dict).get(name)


def kept(name: str, make: Callable[[], Any]) -> Any:
    """What is made once for the whole of this call."""
    values: dict[str, Any] = click.get_current_context().ensure_object(dict)
    if name not in values:
        values[name] = make()
    return values[name]
