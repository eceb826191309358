"""The store and its users, as a program uses them: `Store("memory_store").user("alice")`."""

import contextlib
import datetime as dt
import functools
import importlib
import os
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from filemem import config, grep, search
from filemem.config import Config
from filemem.errors import FilememError, Refused
from filemem.folder import Folder
from filemem.index import Index
from filemem.memory import Memory, quoted, slug
from filemem.plain import one_line
from filemem.tools import Toolbox

LONGEST_NAME = 200  # bytes; a file name may have 255
_RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))}


def local_now() -> dt.datetime:
    """The person's local time, with its zone."""
    return dt.datetime.now().astimezone()


class User(Folder):
    """One person's memories."""

    def __init__(self, root: str, name: str, settings: Config) -> None:
        super().__init__(root, name)
        self.config = settings

    @functools.cached_property
    def index(self) -> Index:
        """The cache that makes search and grep fast."""
        return Index(self)

    def remember(
        self,
        text: str,
        *,
        importance: int | None = None,
        pinned: bool = False,
        tags: Iterable[str] = (),
        today: dt.date | None = None,
    ) -> Memory:
        """Keep one fact as a file of its own, dated `today`; raises FilememError for empty text or a wrong importance."""
        body = text.replace("\r\n", "\n").replace("\0", "").strip()
        if not body:
            raise FilememError("there is nothing to remember; say what, as in: filemem remember 'Prefers oolong tea.'")
        if importance is not None and not 1 <= importance <= 10:
            raise FilememError(f"importance is a whole number from 1 to 10, not {importance}.")
        day = today or local_now().date()
        front: dict[str, str] = {}
        if importance is not None:
            front["importance"] = str(importance)
        if pinned:
            front["pinned"] = "true"
        if tags:
            front["tags"] = f"[{', '.join(quoted(tag) for tag in tags)}]"
        head = "".join(f"{key}: {value}\n" for key, value in front.items())
        name = f"facts/{day:%Y}/{day}-{slug(body) or 'fact'}.md"
        path = self.create(name, f"---\n{head}---\n\n{body}\n" if head else f"{body}\n")
        return self.memory(path)

    def search_files(
        self, query: str, limit: int = 10, *, today: dt.date | None = None, **filters: Any
    ) -> list[search.Hit]:
        """The best passages for a question, best first; `filters` are path, speaker, after, before."""
        day = today or local_now().date()
        found = search.search_files(self.index, query, limit=limit, today=day, **filters)
        return sorted(found.hits, key=lambda hit: -hit.score)

    def grep(self, pattern: str, path: str | None = None) -> list[grep.Match]:
        """Every line that matches a regular expression, newest file first, archived files after live ones."""
        return grep.matches(self.index, pattern, path=path)

    def tools(self, now: Callable[[], dt.datetime] = local_now) -> Toolbox:
        """The four tools for an agent; `now` gives the person's local time."""
        return Toolbox(self, self.index, self.config, now)

    def as_of(self, moment: dt.date | dt.datetime) -> "Past":
        """What was believed at `moment`, a date meaning its end in local time: the last commit by then, to read only.

        Raises NotFound where nothing had been committed by then, FilememError without a repository.
        """
        asof = importlib.import_module(
            "filemem.asof"
        )  # only this question needs git, and git's modules are slow to load
        return Past(self, *asof.lay_out(self, moment))


class Past(User):
    """One person's memories as a commit has them: every question is answered as ever, and nothing can be written."""

    def __init__(self, user: User, root: str, commit: str, at: dt.datetime, subject: str) -> None:
        super().__init__(root, user.name, user.config)
        self.commit = commit
        self.at = at
        self.subject = subject

    @contextlib.contextmanager
    def locked(self, wait: float = 10.0) -> Iterator[None]:
        """Refuse to write; raises Refused."""
        raise Refused(f"these are the memories as of {self.at:%Y-%m-%d}, which can be read but not changed.")
        yield


class Store:
    """A folder with one folder per user."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = os.path.abspath(os.path.expanduser(root))

    @functools.cached_property
    def config(self) -> Config:
        """The settings in `filemem.yaml`; raises ConfigError where one cannot be used."""
        return config.load(self.root)

    def users(self) -> list[str]:
        """The names of everyone who has a folder here."""
        try:
            with os.scandir(self.root) as entries:
                return sorted(e.name for e in entries if e.is_dir(follow_symlinks=False) and not wrong_name(e.name))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def user(self, name: str) -> User:
        """One user; raises Refused for a name that could lead elsewhere. Nothing is created before something is kept."""
        name = unicodedata.normalize("NFC", name)
        wrong = wrong_name(name)
        if wrong:
            raise Refused(f"{one_line(name) or 'an empty name'} cannot be a user's name: {wrong}.")
        root = os.path.join(self.root, name)
        if os.path.islink(root) or (os.path.exists(root) and not os.path.isdir(root)):
            raise Refused(f"{name} cannot be a user: {Path(root).name} in the store is no folder of its own.")
        return User(root, name, self.config)


def wrong_name(name: str) -> str:
    """What is wrong with a user's name, as the end of a sentence; empty for a good one."""
    if not name:
        return "it is empty"
    if name[0] in ".-" or name[-1] == ".":
        return "it may not start with a dot or hyphen, nor end with a dot"
    bad = [c for c in name if unicodedata.category(c)[0] not in "LMN" and c not in "-_."]
    if bad:
        return f"it may hold letters and digits of any script, -, _ and . but not {one_line(repr(bad[0]))}"
    if len(name.encode()) > LONGEST_NAME:
        return f"it is longer than {LONGEST_NAME} bytes"
    if name.lower().partition(".")[0] in _RESERVED or name.lower() == config.NAME:
        return "that name is reserved"
    return "" if unicodedata.normalize("NFC", name) == name else "it is not in Unicode's normal form NFC"
