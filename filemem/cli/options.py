"""The options that every command takes: --store, --user, --today, --trust. Imports no more than click: `--help` must be quick."""

import datetime as dt
import functools
import importlib
from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])
_OPTIONS = ("store", "user", "today", "trust")


class Moment(click.ParamType):  # type: ignore[type-arg]  # generic in newer versions of click only
    """A day, or a day and time: `2026-11-20` or `2026-11-20T09:30`."""

    name = "date"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dt.datetime:
        try:
            return dt.datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is no date; write it as 2026-11-20 or 2026-11-20T09:30.", param, ctx)


def shared_options(command: F) -> F:
    """--store, --user, --today and --trust, accepted before and after a command's name; the later one counts."""

    @click.option("--store", metavar="FOLDER", help="The store [FILEMEM_STORE, else ./memory_store].")
    @click.option(
        "--user", metavar="NAME", help="Whose memories [FILEMEM_USER, else the only user].", shell_complete=_users
    )
    @click.option("--today", type=Moment(), metavar="DATE", help="The day, or day and time, taken as now.")
    @click.option(
        "--trust", is_flag=True, default=None, help="Trust the store's settings and git repository from now on."
    )
    @click.pass_context
    @functools.wraps(command)
    def wrapped(ctx: click.Context, /, **values: Any) -> Any:
        chosen = ctx.ensure_object(dict)
        for name in _OPTIONS:
            given = values.pop(name)
            if (
                given is not None and not str(given).strip()
            ):  # a script's unset variable, which must not mean the default
                raise click.UsageError(f"--{name} is empty; give it a value, or leave it out.")
            if given is not None:
                chosen[name] = given
        return ctx.invoke(command, **values)

    return wrapped  # type: ignore[return-value]


def as_of_option(command: F) -> F:
    """--as-of, for a command that only reads: the user is then as git had them by that day."""

    def keep(ctx: click.Context, param: click.Parameter, value: dt.datetime | None) -> None:
        ctx.ensure_object(dict)["as_of"] = value

    what = "What was believed at the end of that day, from git."
    named = click.option("--as-of", type=Moment(), metavar="DATE", expose_value=False, callback=keep, help=what)
    return named(command)


def chosen(name: str) -> Any:
    """What was given for one of the shared options or --as-of, None where it was not."""
    return click.get_current_context().find_object(dict).get(name)  # type: ignore[union-attr]


def kept(name: str, make: Callable[[], Any]) -> Any:
    """What is made once for the whole of this call."""
    values: dict[str, Any] = click.get_current_context().ensure_object(dict)
    if name not in values:
        values[name] = make()
    return values[name]


def _users(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    complete: Callable[[click.Context, str], list[str]] = importlib.import_module("filemem.cli.common").complete_user
    return complete(ctx, incomplete)
