"""The store and its users, as a program uses them: `Store("memory_store").user("alice")`."""

import contextlib
import datetime as dt
import functools
import importlib
import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from filemem import names
from filemem.errors import Refused
from filemem.folder import Folder
from filemem.memory import Memory

if TYPE_CHECKING:
    from filemem.config import Config
    from filemem.grep import Match
    from filemem.index import Index
    from filemem.search import Hit
    from filemem.tools import Toolbox
    from filemem.trust import Trust


def _module(name: str) -> Any:
    """A module that only some questions need: importing ranking, index and git takes several times a grep's own work."""
    return importlib.import_module(f"filemem.{name}")


def local_now() -> dt.datetime:
    """The person's local time, with its zone."""
    return dt.datetime.now().astimezone()


class User(Folder):
    """One person's memories."""

    def __init__(self, root: str, name: str, store: "Store") -> None:
        super().__init__(root, name)
        self.store = store

    def now(self) -> dt.datetime:
        """The moment at which these memories are asked: the person's local time."""
        return local_now()

    @property
    def config(self) -> "Config":
        """The settings of the store."""
        return self.store.config

    @functools.cached_property
    def index(self) -> "Index":
        """The cache that makes search and grep fast."""
        index: Index = _module("index").Index(self)
        return index

    def remember(
        self,
        text: str,
        *,
        importance: int | None = None,
        pinned: bool = False,
        tags: Iterable[str] = (),
        today: dt.date | None = None,
        with_secrets: bool = False,
    ) -> Memory:
        """Keep one fact, dated `today`, and return the memory that holds it: a new one, or the one that says so already.

        What it contradicts is superseded; secrets in it become `[redacted: kind]`, unless `with_secrets`. Raises
        FilememError for empty text or a wrong importance.
        """
        at = dt.datetime.combine(today, dt.time()) if today else local_now()
        keep = _module("consolidation.remembering").remember
        memory: Memory = keep(self, text, at, importance, pinned, tags, with_secrets).memory
        return memory

    def search_files(self, query: str, limit: int = 10, *, today: dt.date | None = None, **filters: Any) -> list["Hit"]:
        """The best passages for a question, best first; `filters` are path, speaker, after, before."""
        day = today or self.now().date()
        hits: list[Hit] = _module("search").search_files(self.index, query, limit=limit, today=day, **filters).hits
        return sorted(hits, key=lambda hit: -hit.score)

    def grep(self, pattern: str, path: str | None = None) -> list["Match"]:
        """Every line that matches a regular expression, newest file first, archived files after live ones."""
        found: list[Match] = _module("grep").matches(self, self.index.corpus(), pattern, path=path)
        return found

    def tools(self, now: Callable[[], dt.datetime] | None = None) -> "Toolbox":
        """The four tools for an agent; `now` gives another moment than that of these memories."""
        toolbox: Toolbox = _module("tools").Toolbox(self, self.index, self.config, now or self.now)
        return toolbox

    def as_of(self, moment: dt.date | dt.datetime) -> "Past":
        """What was believed at `moment`, a date meaning its end in local time: the last commit by then, to read only.

        Raises NotFound where nothing had been committed by then, FilememError without a repository.
        """
        past = _module("history.asof")
        return Past(self, past.end_of(moment), *past.lay_out(self, moment, self.store.trust))


class Past(User):
    """One person's memories as a commit has them: every question is answered as ever, and nothing can be written."""

    def __init__(self, user: User, now: dt.datetime, root: str, commit: str, at: dt.datetime, subject: str) -> None:
        super().__init__(root, user.name, user.store)
        self._now = now
        self.commit = commit
        self.at = at
        self.subject = subject

    def now(self) -> dt.datetime:
        """The moment that was asked for."""
        return self._now

    @contextlib.contextmanager
    def locked(self, wait: float = 10.0) -> Iterator[None]:
        """Refuse to write; raises Refused."""
        raise Refused(f"these are the memories as of {self.at:%Y-%m-%d}, which can be read but not changed.")
        yield


class Store:
    """A folder with one folder per user."""

    def __init__(self, root: str | os.PathLike[str], trust: "Trust | None" = None) -> None:
        """The store at `root`; `trust` has a person's answers on what its settings and repository may decide."""
        self.root = os.path.abspath(os.path.expanduser(root))
        self._trust = trust

    @functools.cached_property
    def trust(self) -> "Trust":
        """What the person has agreed to."""
        given: Trust = self._trust or _module("trust").Trust()
        return given

    @functools.cached_property
    def config(self) -> "Config":
        """The settings in `filemem.yaml`; raises ConfigError where one cannot be used."""
        settings: Config = _module("config").load(self.root, trust=self.trust)
        return settings

    def users(self) -> list[str]:
        """The names of everyone who has a folder here."""
        return names.users(self.root)

    def user(self, name: str) -> User:
        """One user; raises Refused for a name that could lead elsewhere. Nothing is created before something is kept."""
        return User(*names.user_folder(self.root, name), self)
