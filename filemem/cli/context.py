"""The store, user and moment of a call, and the options that several commands take.

It imports little, as `grep` must be quick.
"""

import contextlib
import datetime as dt
import functools
import getpass
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import click

from filemem.cli.output import Output, OutputForm, confirmed, say, say_dim, show
from filemem.errors import FilememError
from filemem.store import person
from filemem.store.folder import Folder
from filemem.store.memory import REFERENCE
from filemem.store.roles import ROLE_NAMES
from filemem.store.users import StoreFolder, mistyped
from filemem.store.zones import person_zone
from filemem.text.plain import first_few, nearest, one_line

SHOWN_USERS = 3  # the nearest by name, where one begins


class Context:
    """One call; gathers the values of the options that every command may have.

    Attributes:
        zone: of the user of this call.
        talking: the user of a chat, whose commands are for nobody else.
        heard: what that person said last, in whose language they are answered.
    """

    def __init__(self) -> None:
        self.store = ""
        self.user = ""
        self.scheduler = ""
        self.today: dt.datetime | None = None
        self.zone: dt.tzinfo | None = None
        self.as_of: dt.datetime | None = None
        self.form = OutputForm.TEXT
        self.new = False
        self.all_users = False
        self.talking: Folder | None = None
        self.heard = ""

    @property
    def named_store(self) -> str:
        """The store that the person named, as FILEMEM_STORE does; else empty."""
        return self.store or os.environ.get("FILEMEM_STORE") or ""

    @property
    def store_to_begin(self) -> str:
        """Where `init` makes a store if no folder is named."""
        return self.named_store or "memory_store"

    def folder_of_store(self) -> str:
        """Return where the store is.

        That is as named, else ./memory_store if it exists, else the data folder.
        """
        place = self.store_to_begin
        if self.named_store or os.path.isdir(place):
            return place
        return data_folder()

    def open_store(self, *, must_exist: bool = False) -> StoreFolder:
        """Return the store of this call; raise FilememError if there must be one."""
        place = self.folder_of_store()
        # One that merely lies where the person stands may be a stranger's.
        is_named = bool(self.named_store) or place != self.store_to_begin
        store = StoreFolder(place, named=is_named)
        if os.path.lexists(store.root) and not os.path.isdir(store.root):
            raise FilememError(
                f"{store.root} is not a folder; "
                "name the store's folder with --store or FILEMEM_STORE."
            )
        if must_exist and not os.path.lexists(store.root):
            raise self._no_store()
        return store

    def begin_store(self) -> StoreFolder:
        """Return the store of this call; a new one is agreed to: it may be a slip.

        Raises:
            FilememError: there is none, and neither --new nor a person agrees to one.
        """
        store = self.open_store()
        if self.new or os.path.isdir(store.root):
            return store
        question = f"Begin a new store in {store.root}?"
        if not confirmed(question, default=not self.named_store):
            raise self._no_store()
        return store

    def _no_store(self) -> FilememError:
        place = os.path.realpath(os.path.expanduser(self.store_to_begin))
        return FilememError(
            f"there is no store {place}; make it with filemem init"
            f" {shlex.quote(self.store_to_begin)}, or name another with --store."
        )

    def the_user(self, *, must_exist: bool = True) -> Folder:
        """Return the user of this call, as of the day of --as-of.

        That is as named, else FILEMEM_USER, else the only one, else the login name.

        Raises:
            FilememError: there is no such user, or it is not clear who is meant.
        """
        if self.talking:
            return self.talking
        store = self.open_store(must_exist=must_exist)
        user = store.folder(self._user_name(store))
        self.zone = person_zone(user)
        if must_exist and not user.exists():
            users = first_few(store.users(), 8) or "nobody"
            raise FilememError(
                f"there is no user {user.name} in {store.root}, which has {users}; "
                "name another --user or --store, or begin a chat."
            )
        user.may_begin = not must_exist
        return _as_of(user, self.as_of) if self.as_of else user

    def _user_name(self, store: StoreFolder) -> str:
        named = self.user or os.environ.get("FILEMEM_USER")
        if named:
            return named
        names = store.users()
        if len(names) == 1:
            return names[0]
        login = login_name()
        if login and login in (names or [login]):
            return login
        if not names:
            raise FilememError(
                f"there is nobody in {store.root} yet; name yourself with --user NAME."
            )
        raise FilememError(
            f"{store.root} has {len(names)} users; name one with --user:"
            f" {first_few(names, 8)}."
        )

    def writer(self, *, begins: bool = True) -> Folder:
        """Return the user of this call, who may be new, in a store that may be new.

        That a user is new is said, with the names nearest to theirs: it may be a slip.

        Args:
            begins: a new user begins now.

        Raises:
            FilememError: the name is a slip away from another user's, or a new store
                was not agreed to.
        """
        user = self.the_user(must_exist=False)
        if user.exists() or self.talking:  # a talk's has begun, though it wrote nothing
            return user
        others = self.open_store().users()
        near = mistyped(user.name, others)
        if near and not self.new:
            raise FilememError(
                f"there is no user {user.name}, but {near}; "
                f"use --user {near}, or --new to begin one."
            )
        if begins:
            self.begin_store()
            person.note_begun(user.root)
        beside = first_few(nearest(user.name, others, SHOWN_USERS, 0))
        beside = f", beside {beside}" if beside else ""
        say_dim(f"New user {user.name} in {user.store}{beside}.")
        return user

    def model(self, folder: Folder, name: str | None) -> Any:
        """Return the model that the person or the settings name, or None.

        If a store of before names another than they did, that is said, and nothing is
        sent until they have answered.
        """
        from filemem.llm.choice import chosen_model  # noqa: PLC0415
        from filemem.store import config  # noqa: PLC0415  loads YAML

        question = config.unanswered(folder.store, name or "")
        if question:
            say(one_line(question, 600), err=True)
        return chosen_model(folder, name)

    @functools.cached_property
    def now(self) -> dt.datetime:
        """The moment of this command: the clock is read once."""
        return self.clock()

    def clock(self) -> dt.datetime:
        """Return the person's local time: --today, else --as-of, else now."""
        now = self.today or self.as_of or dt.datetime.now(dt.UTC)
        if self.zone and not now.tzinfo:
            return now.replace(tzinfo=self.zone)
        return now.astimezone(self.zone)

    def many(self) -> bool:
        """Return whether this command is for all users, as on a cluster.

        Raises:
            FilememError: there is no store, or --user is given, too.
        """
        self.open_store(must_exist=True)
        every = self.all_users or bool(self.scheduler)
        if every and self.user:
            raise FilememError(
                "--user and --all-users exclude each other; give one of them."
            )
        return every


def login_name() -> str:
    """Return the name of the login; '' if there is none, or it is that of a role."""
    with contextlib.suppress(KeyError, OSError):
        name = getpass.getuser()
        if name.casefold() not in ROLE_NAMES:
            return name
    return ""


def _as_of(user: Folder, at: dt.datetime) -> Folder:
    """Return a user's memories as git has them of a moment, or of a day's end."""
    from filemem.git.past import as_of  # noqa: PLC0415  loads what runs git

    past = as_of(user, at if at.time() != dt.time() else at.date())
    commit = past.commit
    say_dim(
        f"As of {commit.at:%Y-%m-%d %H:%M}, "
        f"commit {commit.commit[:8]}: {commit.subject}"
    )
    return past


def data_folder() -> str:
    """Return the store of a person who names none."""
    home = os.path.expanduser("~")
    share = os.environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share")
    if sys.platform == "darwin":
        share = os.path.join(home, "Library", "Application Support")
    return os.path.join(share, "filemem", "memory_store")


class NamedLine(NamedTuple):
    """A memory, and perhaps a line of it, as a person named them."""

    path: str
    line: int | None


def split_line(folder: Folder, given: str) -> NamedLine:
    """Return the path and line that a person named.

    They type `PATH` or `PATH:LINE`, or the place on disk, as a shell completes it.
    """
    path = given
    line = None
    cited = REFERENCE.match(given)
    if cited:
        path = cited["path"]
        line = int(cited["line"]) if cited["line"] else None
    above, name = os.path.split(path)
    place = os.path.join(os.path.realpath(above), name)
    if place.startswith(folder.root + os.sep) and os.path.lexists(place):
        path = os.path.relpath(place, folder.root).replace(os.sep, "/")
    return NamedLine(path, line)


# -- commands and their options --------------------------------------------------------

pass_call = click.make_pass_decorator(Context, ensure=True)


def prints(function: Callable[..., Output]) -> Callable[..., int]:
    """Make a command of a generator: pass it its Context, and print what it yields.

    It yields lines for a person and rows, and returns the exit code, or None.
    """

    @pass_call
    @functools.wraps(function)
    def run(call: Context, *given: Any, **options: Any) -> int:
        told = function(call, *given, **options)
        return show(told, call.form, talking=call.talking is not None)

    made: Callable[..., int] = run
    return made


def _day(value: str) -> dt.datetime:
    """Return a day as people write it, or a day and time.

    `2026-11-20T09:30`, `2026-05`, `Oct 7`, `last week` and 上周五 are such.
    """
    # A file is named by no such year, or no zone has all of its days.
    if re.match(r"0\d{3}|9999", value):
        raise click.BadParameter(
            f"{value} is out of reach; name a day of the years 1000 to 9998"
        )
    with contextlib.suppress(ValueError):
        return dt.datetime.fromisoformat(value)
    from filemem.text.dates import parse_bound  # noqa: PLC0415  slow to load

    today = click.get_current_context().ensure_object(Context).now.date()
    try:
        return dt.datetime.combine(parse_bound(value, today, end=True), dt.time())
    except ValueError as error:
        raise click.BadParameter(str(error).rstrip(".")) from None


def _kept(*names: str, **how: Any) -> Callable[[Any], Any]:
    """Return an option whose value goes to the Context, not to the command."""

    def keep(ctx: click.Context, param: click.Parameter, value: Any) -> None:
        if value is None:
            return
        if not str(value).strip():  # a script's unset variable is no default
            raise click.UsageError(
                f"--{param.name} is empty; give it a value, or leave it out."
            )
        setattr(ctx.ensure_object(Context), str(param.name), value)

    how = {"default": None, **how}
    return click.option(*names, expose_value=False, callback=keep, **how)


# -- options of every command ----------------------------------------------------------

store_option = _kept(
    "--store",
    metavar="FOLDER",
    help=f"The store [FILEMEM_STORE, ./memory_store, {data_folder()}]",
)
user_option = _kept(
    "--user", metavar="NAME", help="Whose memories [FILEMEM_USER, else the only user]."
)
today_option = _kept(
    "--today",
    type=_day,
    is_eager=True,
    metavar="DATE",
    help="Take this day, or moment, as now.",
)
SHARED = (store_option, user_option, today_option)


class _Formatter(click.HelpFormatter):
    """Gives what options do two thirds of a line, however narrow the terminal is."""

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        super().write_dl(rows, min(col_max, self.width // 3), col_spacing)


class HelpContext(click.Context):
    """A command's context, whose help fits a narrow terminal."""

    formatter_class = _Formatter


def with_shared_options(command: click.Command) -> click.Command:
    """Return the command, and those of its group, with the SHARED options.

    Of one before and one after a command's name the later one counts.
    """
    command.context_class = HelpContext
    for option in SHARED:
        option(command)
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            with_shared_options(inner)
    return command


# -- options of several commands -------------------------------------------------------

json_lines_option = _kept(
    "--json-lines", "form", flag_value=OutputForm.LINES, help="One JSON object a line."
)


def json_option(command: Any) -> Any:
    """Give a command --json and --json-lines."""
    as_document = _kept(
        "--json",
        "form",
        flag_value=OutputForm.DOCUMENT,
        help="One JSON document, a list.",
    )
    return as_document(json_lines_option(command))


as_of_option = _kept(
    "--as-of",
    type=_day,
    metavar="DATE",
    help="What the files said at that day's end, from git.",
)
new_option = _kept(
    "--new",
    is_flag=True,
    help="Create a new store or user, even if its name is close to another's.",
)


def many_option(command: Any) -> Any:
    """Give a command --all-users and --scheduler."""
    all_users = _kept("--all-users", is_flag=True, help="Every user of the store.")
    scheduler = _kept(
        "--scheduler",
        metavar="URL",
        help="All users on this Dask cluster: tcp://10.0.0.5:8786.",
    )
    return all_users(scheduler(command))


limit_option = click.option(
    "--limit", "-n", type=click.IntRange(1, 10**9), help="Show at most this many."
)
dry_run_option = click.option(
    "--dry-run", "dry", is_flag=True, help="Show what would be done, and do nothing."
)
with_secrets_option = click.option(
    "--with-secrets", is_flag=True, help="Also keep passwords, keys and codes."
)
model_option = click.option(
    "--model",
    metavar="NAME",
    help="The model [FILEMEM_MODEL, else as in your own configuration].",
)
path_option = click.option(
    "--path", metavar="GLOB", help="Only these files, e.g. 'facts/**', 'archive/**'."
)
speaker_option = click.option(
    "--speaker", metavar="NAME", help="Only what this person said."
)
after_option = click.option(
    "--after",
    metavar="DATE",
    help="Only from this day on: 2026-05-08, 2026-05, 'last week'.",
)
before_option = click.option("--before", metavar="DATE", help="Only up to this day.")
path_argument = click.argument("path", type=click.Path())
optional_path_argument = click.argument("path", type=click.Path(), required=False)
