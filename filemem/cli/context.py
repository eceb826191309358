"""What every command shares: `Context`, the store, user and moment of its call; the options that several take; and the one place
that prints, where memory text is made safe, and asks. It imports little: `--help` and `grep` must be quick."""

import contextlib
import datetime as dt
import functools
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, NamedTuple, TextIO

import click

from filemem.errors import FilememError, in_words
from filemem.files import trust
from filemem.files.folder import Folder, StoreFolder, mistyped
from filemem.files.memory import REFERENCE
from filemem.files.trust import REMEDY, Content, Trust
from filemem.text.plain import escape_controls, first_few, json_visible, one_line


class Context:
    """One call: the values of the options that every command may have, and what is made of them."""

    store = user = scheduler = ""
    today: dt.datetime | None = None
    as_of: dt.datetime | None = None
    trust = json = new = all_users = told = (
        False  # told: of what is not trusted, in this call
    )
    talking: Folder | None = (
        None  # the user of a chat, whose commands are for nobody else
    )
    renamed: dict[str, str] = {}  # paths that a deletion has given another name
    remembered = ""  # the path of what a command has kept

    @property
    def named_store(self) -> str:
        """The store that the person named, as FILEMEM_STORE does; else empty."""
        return self.store or os.environ.get("FILEMEM_STORE") or ""

    def folder_of_store(self) -> str:
        """Where the store is: as named, ./memory_store where there is one, else the platform's data folder."""
        return self.named_store or (
            "memory_store" if os.path.isdir("memory_store") else data_folder()
        )

    @functools.cached_property
    def answers(self) -> Trust:
        """What the person has agreed to."""
        return Trust(given=self.trust)

    def open_store(
        self, *, begins: bool = False, must_exist: bool = False
    ) -> StoreFolder:
        """The store of this call; raises FilememError where its place is taken by a file. One that `begins`, as others will write
        to it, was not named by a slip: that is asked about on a terminal, else it takes --new."""
        store = StoreFolder(self.folder_of_store(), self.answers)
        if os.path.lexists(store.root) and not os.path.isdir(store.root):
            raise FilememError(
                f"{store.root} is not a folder; name the store's folder with --store or FILEMEM_STORE."
            )
        if must_exist and not os.path.isdir(store.root):
            raise FilememError(
                f"there is no store {store.root}; name another --store, or make it with filemem init."
            )
        new = begins and not self.new and not os.path.isdir(store.root)
        if new and not confirmed(
            f"Begin a new store in {store.root}?", default=not self.named_store
        ):
            raise FilememError(
                f"there is no store {store.root}; make it with filemem init, or add --new."
            )
        if self.trust:
            from filemem.files import config  # noqa: PLC0415  loads YAML

            with contextlib.suppress(
                FilememError
            ):  # settings that are broken say so where they are used
                if asked := config.asked(store.root):
                    self.answers.settle(config.place(store.root), asked)
        return store

    def the_user(self, *, must_exist: bool = True) -> Folder:
        """The user of this call: as named, FILEMEM_USER, the only one there is, else the login name; as of the day of --as-of."""
        if self.talking:
            return self.talking
        store, named = (
            self.open_store(must_exist=must_exist),
            self.user or os.environ.get("FILEMEM_USER"),
        )
        names = store.users()
        name = named or (
            names[0]
            if len(names) == 1
            else os.environ.get("LOGNAME") or os.environ.get("USER") or "me"
        )
        if names and name not in names and not named:
            raise FilememError(
                f"{store.root} has {len(names)} users; name one with --user: {first_few(names, 8)}."
            )
        user = store.folder(name)
        if must_exist and not user.exists():
            known = f"which has {first_few(names, 8) or 'nobody'}; name another --user or --store, or begin a chat"
            raise FilememError(
                f"there is no user {user.name} in {store.root}, {known}."
            )
        if (at := self.as_of) is None:
            return user
        from filemem.git.history import as_of  # noqa: PLC0415  loads what runs git

        past = as_of(user, at if at.time() != dt.time() else at.date())
        say_dim(
            f"As of {past.commit.at:%Y-%m-%d %H:%M}, commit {past.commit.commit[:8]}: {past.commit.subject}"
        )
        return past

    def writer(self, *, begins: bool = True) -> Folder:
        """The user of this call, who may be new, in a store that may be new, which is said if it `begins` now. FilememError tells
        of a name that is a slip away from another's, and of a new store that was not agreed to."""
        user = self.the_user(must_exist=False)
        if (
            near := ""
            if self.new or user.exists()
            else mistyped(user.name, self.open_store().users())
        ):
            raise FilememError(
                f"there is no user {user.name}, but {near}; use --user {near}, or --new to begin one."
            )
        if begins and not user.exists():
            self.open_store(begins=True)
            user.trust.keep(trust.wishes(user.root), trust.WISHES, trusted=True)
            say_dim(f"New user {user.name} in {user.store}.")
        return user

    def model(
        self, folder: Folder, name: str | None
    ) -> Any:  # an OpenAIModel, whose module loads YAML
        """The model that the person has named, or the settings; None, too, where the store names an endpoint that they have not
        agreed to: no other was meant. What of the settings they have not agreed to is said once."""
        from filemem.files import config  # noqa: PLC0415  loads YAML
        from filemem.models.offline import chosen_model  # noqa: PLC0415

        where, held = (
            config.place(folder.store),
            config.withheld(folder.store, trust=folder.trust),
        )
        if held:
            says = ", ".join(
                f"{key}: {config.spelt(value)}" for key, value in held.items()
            )
            self.say_unused(
                where,
                config.asked(folder.store),
                f"{says} in {one_line(where)}",
                folder,
            )
        return chosen_model(folder, name) if "base_url" not in held else None

    def say_unused(
        self, where: str, content: Content, what: str, folder: Folder
    ) -> None:
        """Say once, in one line, what is not used as the person has not agreed to it, and how to agree."""
        if (
            self.answers.settle(where, content)
            or not self.answers.first(where, content)
            or self.told
        ):
            return
        self.told = True
        say(f"Not trusted, so not used: {what}; {REMEDY}.", err=True)

    @functools.cached_property
    def now(self) -> dt.datetime:
        """The moment of this command: the clock is read once."""
        return self.clock()

    def clock(self) -> dt.datetime:
        """The person's local time now, or what --today says, or --as-of: what was believed then is asked as it was then."""
        return (self.today or self.as_of or dt.datetime.now()).astimezone()

    def many(self) -> bool:
        """Is this command for all users, as on a cluster? Raises FilememError for --user beside that, and without a store."""
        self.open_store(must_exist=True)
        every = self.all_users or bool(self.scheduler)
        if every and self.user:
            raise FilememError(
                "--user and --all-users exclude each other; give one of them."
            )
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
    above, name = os.path.split(path)
    place = os.path.join(os.path.realpath(above), name)
    if place.startswith(folder.root + os.sep) and os.path.lexists(place):
        path = os.path.relpath(place, folder.root).replace(os.sep, "/")
    return path, int(line) if line else None


def sentence(error: Exception) -> str:
    """What went wrong; of a command's arguments with where its help is."""
    if not isinstance(error, click.ClickException):
        return in_words(error)
    command = getattr(getattr(error, "ctx", None), "command_path", "filemem")
    return f"{error.format_message().rstrip('.').strip()}; see {command} --help."


def _day(value: str) -> dt.datetime:
    """A day as people write it, or a day and time: `2026-11-20T09:30`, `2026-05`, `Oct 7`, `last week`, 上周五."""
    if re.match(
        r"0\d{3}|9999", value
    ):  # a file is named by no such year, or no zone has all of its days
        raise click.BadParameter(
            f"{value} is out of reach; name a day of the years 1000 to 9998"
        )
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
        if (
            value is not None and not str(value).strip()
        ):  # a script's unset variable, which must not mean the default
            raise click.UsageError(
                f"--{param.name} is empty; give it a value, or leave it out."
            )
        if value is not None:
            setattr(ctx.ensure_object(Context), str(param.name), value)

    return click.option(
        *names, expose_value=False, callback=keep, **{"default": None, **how}
    )


pass_call = click.make_pass_decorator(Context, ensure=True)

OPTIONS: dict[
    str, Callable[[Any], Any]
] = {  # what all commands take, and several, by name
    "--store": _shared(
        "--store",
        metavar="FOLDER",
        help=f"The store [FILEMEM_STORE, ./memory_store, {data_folder()}]",
    ),
    "--user": _shared(
        "--user",
        metavar="NAME",
        help="Whose memories [FILEMEM_USER, else the only user].",
    ),
    "--today": _shared(
        "--today",
        type=_day,
        is_eager=True,
        metavar="DATE",
        help="Take this day, or moment, as now.",
    ),
    "--trust": _shared(
        "--trust",
        is_flag=True,
        help="Trust the store's settings and git repository from now on.",
    ),
    "PATH": click.argument("path", type=click.Path()),
    "[PATH]": click.argument("path", type=click.Path(), required=False),
    "--limit": click.option(
        "--limit", "-n", type=click.IntRange(1, 10**9), help="Show at most this many."
    ),
    "--json": _shared("--json", is_flag=True, help="One JSON object a line."),
    "--as-of": _shared(
        "--as-of",
        type=_day,
        metavar="DATE",
        help="What the files said at that day's end, from git.",
    ),
    "--new": _shared(
        "--new",
        is_flag=True,
        help="Create a new store or user, even if its name is close to another's.",
    ),
    "--all-users": _shared(
        "--all-users", is_flag=True, help="Every user of the store."
    ),
    "--scheduler": _shared(
        "--scheduler",
        metavar="URL",
        help="All users on this Dask cluster: tcp://10.0.0.5:8786.",
    ),
    "--dry-run": click.option(
        "--dry-run",
        "dry",
        is_flag=True,
        help="Show what would be done, and do nothing.",
    ),
    "--with-secrets": click.option(
        "--with-secrets", is_flag=True, help="Also keep passwords, keys and codes."
    ),
    "--model": click.option(
        "--model",
        metavar="NAME",
        help="The model [FILEMEM_MODEL, else model in filemem.yaml].",
    ),
    "--path": click.option(
        "--path",
        metavar="GLOB",
        help="Only these files, e.g. 'facts/**', 'archive/**'.",
    ),
    "--speaker": click.option(
        "--speaker", metavar="NAME", help="Only what this person said."
    ),
    "--after": click.option(
        "--after",
        metavar="DATE",
        help="Only from this day on: 2026-05-08, 2026-05, 'last week'.",
    ),
    "--before": click.option("--before", metavar="DATE", help="Only up to this day."),
}


def with_shared_options(command: click.Command) -> click.Command:
    """The command, and those of its group, with --store, --user, --today and --trust; of one before and one after a command's
    name the later one counts."""
    for name in ("--store", "--user", "--today", "--trust"):
        OPTIONS[name](command)
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        with_shared_options(inner)
    return command


def command(
    name: str, *parameters: str | Callable[[Any], Any], within: Any = click
) -> Callable[[Any], Any]:
    """A command, or one `within` a group: a function of its Context and parameters, some by their name in OPTIONS, that yields
    what there is to tell, to a person or with --json as JSON, and returns the exit code or None."""

    def made(function: Callable[..., Iterator[Line]]) -> Any:
        @pass_call
        @functools.wraps(function)
        def run(call: Context, *given: Any, **options: Any) -> int:
            return show(
                function(call, *given, **options),
                as_json=call.json,
                talking=call.talking is not None,
            )

        built: Any = run
        for some in reversed(parameters):
            for one in (
                [OPTIONS[word] for word in reversed(some.split())]
                if isinstance(some, str)
                else [some]
            ):
                built = one(built)
        return within.command(name)(built)

    return made


# -- what a person sees and is asked -------------------------------------------------------------------------------


class Safe(str):
    """A line that is safe to print as it is, colours and all."""


class Row(NamedTuple):
    """One thing to tell: facts for a script, lines for a person."""

    facts: dict[str, Any]
    lines: Iterable[str]


Line = (
    str | Row
)  # what a command tells: a line for a person only, or facts with the lines that say them
Output = Generator[
    Line, None, Any
]  # all that a command tells, and its exit code in the end


def show(told: Iterator[Line], *, as_json: bool, talking: bool = False) -> int:
    """Print what a command yields, as it comes, as lines or JSON, in a chat's what is for a person too; returns its exit code."""
    while True:
        try:
            one = next(told)
        except StopIteration as end:
            return int(end.value or 0)
        row = (
            one
            if isinstance(one, Row)
            else Row({"event": "notice", "text": one} if talking else {}, [one])
        )
        if not as_json:  # a page, of several lines, stays as it is
            say(
                *(
                    one
                    if isinstance(one, Safe) or "\n" in one
                    else wrapped(one, sys.stdout)
                    for one in row.lines
                )
            )
        elif row.facts:
            click.echo(
                json_visible(json.dumps(row.facts, ensure_ascii=False, default=str))
            )


def say(*lines: str, err: bool = False, nl: bool = True) -> None:
    """Print lines of memory text, with anything that could control the terminal spelt out."""
    for line in lines:
        click.echo(
            line if isinstance(line, Safe) else escape_controls(line), err=err, nl=nl
        )


def say_dim(*notes: str) -> None:
    """Print dim notes on standard error, wrapped by words on a terminal; nothing for ""."""
    for text in filter(None, notes):
        say(dim(wrapped(escape_controls(text), sys.stderr)), err=True)


def confirmed(question: str, default: bool = False) -> bool:
    """Ask for a yes, on a terminal, again after what is neither yes nor no; an interrupt ends the command."""
    return (
        sys.stdin.isatty()
        and sys.stderr.isatty()
        and click.confirm(question, default=default, err=True)
    )


def choose(question: str) -> str:
    """Ask until the answer is one of the letters that the question has in brackets."""
    letters = click.Choice(re.findall(r"\[(\w)\]", question), case_sensitive=False)
    return str(click.prompt(question, type=letters, show_choices=False))


def dim(text: str) -> Safe:
    """`text` dimmed; click takes the colours out of what goes to no terminal, or where the person wants none."""
    return Safe(click.style(escape_controls(text), dim=True))


@contextlib.contextmanager
def progress(label: str) -> Iterator[Callable[[int, int], None]]:
    """A function of (done, total) that draws a bar on standard error, on a terminal only and for what takes half a second."""
    with contextlib.ExitStack() as shown:
        drawn: Any = None
        began = 0.0  # when what is counted now began

        def show(done: int, total: int) -> None:
            nonlocal drawn, began
            began = began or time.monotonic()
            if (
                drawn is None
                and sys.stderr.isatty()
                and done < total
                and time.monotonic() - began > 0.5
            ):
                made: Any = click.progressbar(
                    length=total, label=label, show_pos=True, file=sys.stderr
                )
                drawn = shown.enter_context(made)
            if drawn is not None:
                drawn.update(done - drawn.pos)
            if done >= total:
                shown.close()
                drawn, began = None, 0.0

        yield show


_WIDE = "\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\U0001f300-\U0003ffff"
_COLUMNS = re.compile(
    f"([{_WIDE}])|[\u0300-\u036f\u200d\ufe0f]"
)  # two of a wide character, none of one that combines
_STOPS = "，。！？；：、）」』】》〉”’…ー々,.!?;:)\\]%\u0300-\u036f"  # open no line, as brackets end none
# A word with the blanks before it; up to where a word or clause has ended.
_WORD = re.compile(
    f"\n|[^\\S\n]*(?:[（「『【《〈“‘(\\[]*[{_WIDE}]|[^\\s{_WIDE}]+)[{_STOPS}]*|[^\\S\n]+"
)
_WHOLE = re.compile(f"(?s).*(?:\\S(?=\\s)|[，。！？；：、](?=[^\\s{_STOPS}]))")


def columns(text: str) -> int:
    """The columns that `text` takes in a terminal: two for a wide character, none for a combining one."""
    return len(text) + sum(1 if wide else -1 for wide in _COLUMNS.findall(text))


class Wrapper:
    """Breaks a text that comes in pieces between words, and Chinese between characters, where a line of the terminal ends.

    Code between ``` lines stays as it is. What is shown is first put through `change`, by whole words."""

    def __init__(self, change: Callable[[str], str] = str) -> None:
        self._change = change
        self._waiting = list[str]()
        self._last = self._line = self._written = ""
        self._code = False

    def feed(self, text: str, *, end: bool = False) -> str:
        """What of the text so far may be shown now; a word, and the blanks behind one, wait until more has come or its `end`."""
        came = (
            self._last + text
        )  # of what waits, the last character alone may end a word now
        found = _WHOLE.match(came)
        self._waiting.append(text)
        self._last = came[-1:]
        if not (end or found):
            return ""
        rest = "" if end or not found else came[found.end() :]
        whole, self._waiting = "".join(self._waiting).removesuffix(rest), [rest]
        width = (
            shutil.get_terminal_size().columns
        )  # asked anew, as a window may change its size
        return "".join(
            self._placed(word, width) for word in _WORD.findall(self._change(whole))
        )

    def _placed(self, word: str, width: int) -> str:
        if word == "\n":
            self._code ^= self._written.lstrip().startswith("```")
            self._line = self._written = ""
            return word
        self._written += word
        breaks = self._line and not self._code and columns(self._line + word) > width
        word = word.lstrip() if breaks else word
        self._line = word if breaks else self._line + word
        return "\n" * bool(breaks and word) + word


def wrapped(text: str, stream: TextIO) -> str:
    """A whole text, broken between words where the stream is a terminal."""
    return Wrapper().feed(text, end=True) if stream.isatty() else text
