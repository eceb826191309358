"""The memories as resources, `filemem://mara/facts/2026/…`: names, a page of their list, text; who is told of changes."""

import contextlib
import datetime as dt
import itertools
import threading
import unicodedata
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, unquote

from filemem.api import User
from filemem.errors import FilememError, NotFound
from filemem.files import journal
from filemem.files.folder import Folder, Stat
from filemem.files.memory import live
from filemem.text.plain import escape_controls, one_line
from filemem.tools import answers

PAGE = 100  # resources of one answer
EVERY = 1.0  # seconds between two looks for changes
MOST = 1000  # subscriptions of a user; the oldest one ends where there are more
SCHEME = "filemem://"
KINDS = {"md": "text/markdown", "yaml": "application/yaml", "yml": "application/yaml"}
Tell = Callable[[dict[str, Any]], object]


def uri_of(folder: Folder, path: str) -> str:
    """The name of a memory as a resource."""
    return f"{SCHEME}{quote(folder.name)}/{quote(path)}"


def path_of(folder: Folder, uri: str) -> str:
    """The path that a resource's name means; raises NotFound for another user's, in the same words whether there is one."""
    user, _, path = uri.removeprefix(SCHEME).partition("/")
    named = unicodedata.normalize("NFC", unquote(user)) == folder.name
    if not uri.startswith(SCHEME) or not named or not path:
        raise NotFound(
            f"{one_line(uri, 200)} is not a memory of {folder.name}; resources/list names them."
        )
    return unquote(path)


def listed(folder: Folder, cursor: str) -> dict[str, Any]:
    """The memories in order of their paths, those behind the one that `cursor` names; what is withheld is not listed."""
    hidden = journal.pending_deletions(folder)
    stats = sorted(
        stat
        for stat in folder.files()
        if not hidden.hides(stat.path, 0) and stat.path > cursor
    )
    page = [
        {
            "uri": uri_of(folder, stat.path),
            "name": stat.path,
            "title": stat.path.rpartition("/")[2],
            "mimeType": _kind(stat.path),
            "size": stat.size,
            "annotations": {
                "lastModified": f"{dt.datetime.fromtimestamp(stat.changed // 10**9, dt.UTC):%FT%TZ}"
            },
        }
        for stat in itertools.islice(stats, PAGE)
    ]
    return {
        "resources": page,
        **({"nextCursor": page[-1]["name"]} if len(stats) > PAGE else {}),
    }


def read(folder: Folder, uri: str, at: dt.datetime) -> dict[str, Any]:
    """A memory's lines as they are on disk now, without control characters and what is withheld; it counts as a recall."""
    where = folder.locate(path_of(folder, uri))
    memory = folder.memory(where)
    if memory.binary:
        raise NotFound(f"{one_line(where)} is not text; read another memory.")
    hidden = answers.hidden_lines(folder, where)
    lines = [
        answers.KEPT_BACK if hidden & {0, number} else line
        for number, line in enumerate(memory.lines, 1)
    ]
    journal.note_recall(folder, where, journal.OPENED, at)
    text = escape_controls("\n".join(lines)) + (
        "\n" if memory.data.endswith(b"\n") else ""
    )
    return {"contents": [{"uri": uri, "mimeType": _kind(where), "text": text}]}


def searched(user: User, query: str, today: dt.date) -> dict[str, Any]:
    """The memories that answer a question, as ChatGPT's connectors want them of a tool `search`."""
    best = {hit.path: hit for hit in reversed(user.search_files(query, today=today))}
    found = [
        {
            "id": path,
            "title": one_line(hit.text, 80),
            "text": escape_controls(hit.text),
            "url": uri_of(user.folder, path),
        }
        for path, hit in reversed(best.items())
    ]
    return {"results": found}


def fetched(folder: Folder, id: str, at: dt.datetime) -> dict[str, Any]:
    """One memory in whole, as they want it of a tool `fetch`; raises NotFound."""
    uri = uri_of(folder, id.removeprefix(uri_of(folder, "")))
    return {
        "id": id,
        "title": one_line(id),
        "text": read(folder, uri, at)["contents"][0]["text"],
        "url": uri,
    }


def _kind(path: str) -> str:
    return KINDS.get(path.rpartition(".")[2], "text/plain")


class Following:
    """Who is told of changes in one user's files, which a thread looks for while there is somebody."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        # By who is told and of what resource, empty for the list: its path.
        self._told: dict[tuple[Tell, str], str] = {}
        self._known: dict[str, Stat] = {}
        self._looking = False

    def subscribe(self, tell: Tell, uri: str = "") -> None:
        """Have changes be told, without a `uri` those of the list; raises FilememError for what is no memory of this user."""
        path = path_of(self._folder, uri) if uri else ""
        self._folder.absolute(path or "notes")  # refuses one that leads out
        with self._lock:
            begins, self._looking = not self._looking, True
            self._known = self._files() if begins else self._known
            self._told[tell, uri] = path
            for oldest in list(self._told)[:-MOST]:
                del self._told[oldest]
        if begins:
            threading.Thread(target=self._look, daemon=True).start()

    def unsubscribe(self, tell: Tell, uri: str | None = None) -> None:
        """Tell no more, of one resource or of any."""
        with self._lock:
            for key in [
                key for key in self._told if key[0] == tell and uri in (None, key[1])
            ]:
                del self._told[key]

    def _look(self) -> None:
        waiting = threading.Event()
        while not waiting.wait(EVERY):
            now = self._files()
            with self._lock:
                before, self._known = self._known, now
                told = list(self._told.items())
                self._looking = bool(told)
            if not told:
                return
            changed = {
                path for path in before | now if before.get(path) != now.get(path)
            }
            for (tell, uri), path in told:
                with contextlib.suppress(RuntimeError):  # the server is ending
                    if uri and {path, live(path), f"archive/{path}"} & changed:
                        tell(_notice("updated", {"uri": uri}))
                    elif not uri and before.keys() != now.keys():
                        tell(_notice("list_changed", {}))

    def _files(self) -> dict[str, Stat]:
        with contextlib.suppress(FilememError, OSError):
            return {stat.path: stat for stat in self._folder.files()}
        return self._known


def _notice(what: str, params: dict[str, str]) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "method": f"notifications/resources/{what}",
        "params": params,
    }
