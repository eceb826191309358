"""`Context`, which every command gets: what its call was told, and the store, user and moment that this means.

And the options that several commands take. It imports little: `--help` and `grep` must be quick."""

from __future__ import annotations

import contextlib
import datetime as dt
import functools
import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from filemem.cli import screen
from filemem.cli.screen import Line, say_dim
from filemem.errors import FilememError
from filemem.files import trust
from filemem.files.folder import Folder, StoreFolder, mistyped
from filemem.files.memory import REFERENCE
from filemem.files.trust import REMEDY, Content, Trust
from filemem.text.plain import first_few, one_line

if TYPE_CHECKING:
    from filemem.models.endpoint import OpenAIModel


class Context:
    """One call: the values of the options that every command may have, and what is made of them."""

    store: str | None = None
    user: str | None = None
    today: dt.datetime | None = None
    as_of: dt.datetime | None = None
    scheduler: str | None = None
    trust = json = new = all_users = told = False  # told: of what is not trusted, in this call
    talking: Folder | None = None  # the user of a chat, whose commands are for nobody else
    renamed: dict[str, str] = {}  # paths that a deletion has given another name

    @property
    def named_store(self) -> str:
        """The store that the person named, as FILEMEM_STORE does; else empty."""
        return self.store or os.environ.get("FILEMEM_STORE") or ""

    def folder_of_store(self) -> str:
        """Where the store is: as named, ./memory_store where there is one, else the platform's data folder."""
        return self.named_store or ("memory_store" if os.path.isdir("memory_store") else data_folder())

    @functools.cached_property
    def answers(self) -> Trust:
        """What the person has agreed to."""
        return Trust(given=self.trust)

    def open_store(self, *, begins: bool = False) -> StoreFolder:
        """The store of this call; raises FilememError where its place is taken by a file. One that `begins`, as others will write
        to it, was not named by a slip: that is asked about on a terminal, else it takes --new."""
        store = StoreFolder(self.folder_of_store(), self.answers)
        if os.path.lexists(store.root) and not os.path.isdir(store.root):
            raise FilememError(f"{store.root} is not a folder; name the store's folder with --store or FILEMEM_STORE.")
        new = begins and not self.new and not os.path.isdir(store.root)
        if new and not screen.confirmed(f"Begin a new store in {store.root}?", default=not self.named_store):
            raise FilememError(f"there is no store {store.root}; make it with filemem init, or add --new.")
        if self.trust:
            from filemem.files import config  # noqa: PLC0415  loads YAML

            with contextlib.suppress(FilememError):  # settings that are broken say so where they are used
                if asked := config.asked(store.root):
                    self.answers.settle(config.place(store.root), asked)
        return store

    def the_user(self, *, must_exist: bool = True) -> Folder:
        """The user of this call: as named, FILEMEM_USER, the only one there is, else the login name; as of the day of --as-of."""
        if self.talking:
            return self.talking
        store, named = self.open_store(), self.user or os.environ.get("FILEMEM_USER")
        names = store.users()
        name = named or (names[0] if len(names) == 1 else os.environ.get("LOGNAME") or os.environ.get("USER") or "me")
        if names and name not in names and not named:
            raise FilememError(f"{store.root} has {len(names)} users; name one with --user: {first_few(names, 8)}.")
        user = store.folder(name)
        if must_exist and not user.exists():
            known = f"which has {first_few(names, 8) or 'nobody'}; name another --user or --store, or begin a chat"
            raise FilememError(f"there is no user {user.name} in {store.root}, {known}.")
        if (at := self.as_of) is None:
            return user
        from filemem.history import as_of  # noqa: PLC0415  loads what runs git

        past = as_of(user, at if at.time() != dt.time() else at.date())
        say_dim(f"As of {past.commit.at:%Y-%m-%d %H:%M}, commit {past.commit.commit[:8]}: {past.commit.subject}")
        return past

    def unmistaken(self) -> Folder:
        """The user of this call, who may be new; raises FilememError where the name is a slip away from another's."""
        user = self.the_user(must_exist=False)
        if near := "" if self.new or user.exists() else mistyped(user.name, self.open_store().users()):
            raise FilememError(f"there is no user {user.name}, but {near}; use --user {near}, or --new to begin one.")
        return user

    def writer(self) -> Folder:
        """The same, in a store that may be new; raises FilememError where that was not agreed to."""
        user = self.unmistaken()
        if user.exists():
            return user
        self.open_store(begins=True)
        user.trust.keep(trust.wishes(user.root), trust.WISHES, trusted=True)
        say_dim(f"New user {user.name} in {user.store}.")
        return user

    def model(self, folder: Folder, name: str | None) -> OpenAIModel | None:
        """The model that the person has named, or the settings; None, too, where the store names an endpoint that they have not
        agreed to: no other was meant. What of the settings they have not agreed to is said once."""
        from filemem.files import config  # noqa: PLC0415  loads YAML
        from filemem.models.offline import chosen_model  # noqa: PLC0415

        store = self.open_store()
        where, held = config.place(store.root), config.withheld(store.root, trust=store.trust)
        if held:
            says = ", ".join(f"{key}: {config.spelt(value)}" for key, value in held.items())
            self.say_unused(where, config.asked(store.root), f"{says} in {one_line(where)}", folder)
        return chosen_model(config.of(folder), name) if "base_url" not in held else None

    def say_unused(self, where: str, content: Content, what: str, folder: Folder) -> None:
        """Say once, in one line, what is not used as the person has not agreed to it, the repository too, and how to agree."""
        if self.answers.settle(where, content) or not self.answers.first(where, content) or self.told:
            return
        from filemem.history import History, Untrusted  # noqa: PLC0415  loads what runs git

        try:
            _ = History(folder).home
        except Untrusted as error:
            what += f"; {error.what}" if self.answers.first(*error.about) else ""
        except FilememError:
            pass  # the job says it
        self.told = True
        screen.say(f"Not trusted, so not used: {what}; {REMEDY}.", err=True)

    @functools.cached_property
    def now(self) -> dt.datetime:
        """The moment of this command: the clock is read once."""
        return self.clock()

    def clock(self) -> dt.datetime:
        """The person's local time now, or what --today says, or --as-of: what was believed then is asked as it was then."""
        return (self.today or self.as_of or dt.datetime.now()).astimezone()

    def many(self) -> bool:
        """Is this command for all users, as on a cluster? Raises FilememError for --user beside that, and without a store."""
        every, store = self.all_users or bool(self.scheduler), self.open_store().root
        if every and self.user:
            raise FilememError("--user and --all-users exclude each other; give one of them.")
        if not os.path.isdir(store):
            raise FilememError(f"there is no store {store}; name another --store, or make it with filemem init.")
        return every


def data_folder() -> str:
    """The store of a person who names none."""
    home = os.path.expanduser("~")
    share = os.environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share")
    if sys.platform == "darwin":
        share = os.path.join(home, "Library", "Application Support")
    return os.path.join(share, "filemem", "memory_store")


def split_line(folder: Folder, given: str) -> tuple[str, int | None]:
    """A memory's path and line from what a person typed: `PATH`, `PATH:LINE`, or the file's place on disk."""
    cited = REFERENCE.match(given)
    path, line = (cited["path"], cited["line"]) if cited else (given, None)
    for place, root in ((os.path.abspath(path), folder.root), (os.path.realpath(path), folder.place)):
        if place.startswith(root + os.sep) and os.path.lexists(place):
            path = os.path.relpath(place, root).replace(os.sep, "/")
    return path, int(line) if line else None


def usage(error: click.ClickException) -> str:
    """What is wrong with a command's arguments, and where its help is."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    path = context.command_path if context else "filemem"
    return f"{error.format_message().rstrip('.').strip()}; see {path} --help."


# -- options -----------------------------------------------------------------------------------------------------


def _day(value: str) -> dt.datetime:
    """A day as people write it, or a day and time: `2026-11-20T09:30`, `2026-05`, `Oct 7`, `last week`, 上周五."""
    if re.match(r"0\d{3}|9999", value):  # a file is named by no such year, or no zone has all of its days
        raise click.BadParameter(f"{value} is out of reach; name a day of the years 1000 to 9998")
    with contextlib.suppress(ValueError):
        return dt.datetime.fromisoformat(value)
    from filemem.text.dates import parse_bound  # noqa: PLC0415  rarely needed, and slow to load

    today = click.get_current_context().ensure_object(Context).now.date()
    try:
        return dt.datetime.combine(parse_bound(value, today, end=True), dt.time())
    except ValueError as error:
        raise click.BadParameter(str(error).rstrip(".")) from None


def _shared(*names: str, **how: Any) -> Callable[[Any], Any]:
    """An option that no command gets as an argument: the Context has its value."""

    def keep(ctx: click.Context, param: click.Parameter, value: Any) -> None:
        if value is not None and not str(value).strip():  # a script's unset variable, which must not mean the default
            raise click.UsageError(f"--{param.name} is empty; give it a value, or leave it out.")
        if value is not None:
            setattr(ctx.ensure_object(Context), str(param.name), value)

    how = {"default": None, **how}
    return click.option(*names, expose_value=False, callback=keep, **how)


_EVERYWHERE = (
    _shared("--store", metavar="FOLDER", help=f"The store [FILEMEM_STORE, else ./memory_store, else {data_folder()}]."),
    _shared("--user", metavar="NAME", help="Whose memories [FILEMEM_USER, else the only user]."),
    _shared("--today", type=_day, is_eager=True, metavar="DATE", help="Take this day, or day and time, as now."),
    _shared("--trust", is_flag=True, help="Trust the store's settings and git repository from now on."),
)


def with_shared_options(command: click.Command) -> click.Command:
    """The command, and those of its group, with --store, --user, --today and --trust; of one before and one after a command's
    name the later one counts."""
    for option in _EVERYWHERE:
        option(command)
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        with_shared_options(inner)
    return command


pass_call = click.make_pass_decorator(Context, ensure=True)

OPTIONS: dict[str, Callable[[Any], Any]] = {  # what several commands take, by name
    "PATH": click.argument("path", type=click.Path()),
    "[PATH]": click.argument("path", type=click.Path(), required=False),
    "--limit": click.option("--limit", "-n", type=click.IntRange(1, 10**9), help="Show at most this many."),
    "--json": _shared("--json", is_flag=True, help="One JSON object a line."),
    "--as-of": _shared("--as-of", type=_day, metavar="DATE", help="What the files said at that day's end, from git."),
    "--new": _shared("--new", is_flag=True, help="Create a new store or user, even if its name is close to another's."),
    "--all-users": _shared("--all-users", is_flag=True, help="Every user of the store."),
    "--scheduler": _shared("--scheduler", metavar="URL", help="All users on this Dask cluster: tcp://10.0.0.5:8786."),
    "--dry-run": click.option("--dry-run", "dry", is_flag=True, help="Show what would be done, and do nothing."),
    "--model": click.option("--model", metavar="NAME", help="The model [FILEMEM_MODEL, else model in filemem.yaml]."),
    "--path": click.option("--path", metavar="GLOB", help="Only these files, e.g. 'facts/**', 'archive/**'."),
    "--speaker": click.option("--speaker", metavar="NAME", help="Only what this person said."),
    "--after": click.option("--after", metavar="DATE", help="Only from this day on: 2026-05-08, 2026-05, 'last week'."),
    "--before": click.option("--before", metavar="DATE", help="Only up to this day."),
}


def command(name: str, *parameters: str | Callable[[Any], Any], within: Any = click) -> Callable[[Any], Any]:
    """A command, or one `within` a group: a function of its Context and parameters, some by their name in OPTIONS, that yields
    what there is to tell, to a person or with --json as JSON, and returns the exit code or None."""

    def made(function: Callable[..., Iterator[Line]]) -> Any:
        @pass_call
        @functools.wraps(function)
        def run(call: Context, *given: Any, **options: Any) -> int:
            return screen.show(function(call, *given, **options), as_json=call.json, talking=call.talking is not None)

        built: Any = run
        for some in reversed(parameters):
            for one in [OPTIONS[word] for word in reversed(some.split())] if isinstance(some, str) else [some]:
                built = one(built)
        return within.command(name)(built)

    return made
