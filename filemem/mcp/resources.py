"""The memories as resources, `filemem://mara/facts/2026/…`: their names, a page of their list, their text; subscriptions to them.

These are a look at the files now and then while somebody has one, and a word to whom it concerns. A client of the protocol up to
2025 subscribes to one resource after the other, `resources/subscribe`; one of 2026 listens on a stream of its own,
`subscriptions/listen`, which the SDK serves from a bus. Each user has a bus, so that nobody hears of others.
"""

import asyncio
import contextlib
import datetime as dt
import itertools
import unicodedata
from typing import Any
from urllib.parse import quote, unquote

import anyio
import mcp_types as types
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourcesListChanged, ResourceUpdated
from mcp.shared.exceptions import MCPError

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
STREAMS = 64  # of one user
SCHEME = "filemem://"
KINDS = {"md": "text/markdown", "yaml": "application/yaml", "yml": "application/yaml"}


def uri_of(folder: Folder, path: str) -> str:
    """The name of a memory as a resource."""
    return f"{SCHEME}{quote(folder.name)}/{quote(path)}"


def path_of(folder: Folder, uri: str) -> str:
    """The path that a resource's name means; raises NotFound for another user's, in the same words whether there is one."""
    user, _, path = uri.removeprefix(SCHEME).partition("/")
    named = unicodedata.normalize("NFC", unquote(user)) == folder.name
    if not uri.startswith(SCHEME) or not named or not path:
        raise NotFound(f"{one_line(uri, 200)} is no memory of {folder.name}; resources/list names them.")
    return unquote(path)


def listed(folder: Folder, cursor: str | None) -> types.ListResourcesResult:
    """The memories in order of their paths, those behind the one that `cursor` names; what is withheld is not listed."""
    hidden = journal.pending_deletions(folder)
    stats = sorted(stat for stat in folder.files() if not hidden.hides(stat.path, 0) and stat.path > (cursor or ""))
    page = [
        types.Resource(
            uri=uri_of(folder, stat.path),
            name=stat.path,
            title=stat.path.rpartition("/")[2],
            mime_type=_kind(stat.path),
            size=stat.size,
            annotations=types.Annotations(
                last_modified=f"{dt.datetime.fromtimestamp(stat.changed // 10**9, dt.UTC):%FT%TZ}"
            ),
        )
        for stat in itertools.islice(stats, PAGE)
    ]
    return types.ListResourcesResult(resources=page, next_cursor=page[-1].name if len(stats) > PAGE else None)


def read(folder: Folder, uri: str, at: dt.datetime) -> types.ReadResourceResult:
    """A memory's lines as they are on disk now, without control characters and what is withheld; it counts as a recall."""
    where = folder.locate(path_of(folder, uri))
    memory = folder.memory(where)
    if memory.binary:
        raise NotFound(f"{one_line(where)} is not text; read another memory.")
    hidden = answers.hidden_lines(folder, where)
    lines = [
        answers.KEPT_BACK if number in hidden or 0 in hidden else line for number, line in enumerate(memory.lines, 1)
    ]
    journal.note_recall(folder, where, journal.OPENED, at)
    text = escape_controls("\n".join(lines)) + ("\n" if memory.data.endswith(b"\n") else "")
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=_kind(where), text=text)])


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
    return {"id": id, "title": one_line(id), "text": read(folder, uri, at).contents[0].text, "url": uri}


def _kind(path: str) -> str:
    return KINDS.get(path.rpartition(".")[2], "text/plain")


class Following:
    """The subscriptions to one user's memories."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus, max_subscriptions=STREAMS)
        self._streams = 0
        self._named: dict[str, str] = {}  # the path that each resource means that somebody has subscribed to
        self._sessions: dict[tuple[str, str], Any] = {}  # by session and resource, which is empty for the list of all
        self._known: dict[str, Stat] | None = None

    async def subscribe(self, session: str, context: Any, uri: str = "") -> None:
        """Have a session be told of changes, without a `uri` of those of the list; raises NotFound for another user's memory."""
        await self._name([uri] if uri else [])
        self._sessions[session, uri] = context.session
        for oldest in list(self._sessions)[:-MOST]:
            del self._sessions[oldest]

    def unsubscribe(self, session: str, uri: str) -> None:
        """Have it be told no more."""
        self._sessions.pop((session, uri), None)

    async def listen(self, context: Any, asked: types.SubscriptionsListenRequestParams) -> Any:
        """Serve a stream until its client leaves; raises NotFound for another user's memory."""
        await self._name(list(asked.notifications.resource_subscriptions or ())[:MOST])
        self._streams += 1
        try:
            return await self._listen(context, asked)
        finally:
            self._streams -= 1

    async def look(self) -> None:
        """Tell whoever waits for it what has changed since the last look."""
        if not self._streams and not self._sessions:
            self._known = None
            return
        before, self._known = self._known or {}, await asyncio.to_thread(self._files)
        changed = {path for path in before | self._known if before.get(path) != self._known.get(path)}
        if before.keys() != self._known.keys():
            await self._bus.publish(ResourcesListChanged())
            for key in [key for key in self._sessions if not key[1]]:
                await self._tell(key)
        for uri in [uri for uri, path in self._named.items() if {path, live(path), f"archive/{path}"} & changed]:
            await self._bus.publish(ResourceUpdated(uri))
            for key in [key for key in self._sessions if key[1] == uri]:
                await self._tell(key)

    async def _tell(self, key: tuple[str, str]) -> None:
        try:
            session = self._sessions[key]
            said = session.send_resource_updated(key[1]) if key[1] else session.send_resource_list_changed()
            await asyncio.wait_for(said, EVERY)
        except (MCPError, anyio.BrokenResourceError, anyio.ClosedResourceError, TimeoutError):  # its client is gone
            self._sessions.pop(key, None)

    async def _name(self, uris: list[str]) -> None:
        for uri in uris:
            path = path_of(self._folder, uri)
            self._folder.absolute(path)  # refuses one that leads out
            self._named.pop(uri, None)
            self._named[uri] = path
        for oldest in list(self._named)[:-MOST]:
            del self._named[oldest]
        if self._known is None:
            self._known = await asyncio.to_thread(self._files)

    def _files(self) -> dict[str, Stat]:
        with contextlib.suppress(FilememError, OSError):
            return {stat.path: stat for stat in self._folder.files()}
        return self._known or {}
