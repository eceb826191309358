"""Subscriptions to resources: a look at the files now and then while somebody has one, and a word to whom it concerns.

A client of the protocol up to 2025 subscribes to one resource after the other, `resources/subscribe`; one of 2026 listens on a
stream of its own, `subscriptions/listen`, which the SDK serves from a bus. Each user has a bus, so that nobody hears of others.
"""

import asyncio
import contextlib
from typing import Any

import anyio
import mcp_types as types
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourcesListChanged, ResourceUpdated
from mcp.shared.exceptions import MCPError

from filemem.errors import FilememError
from filemem.files.folder import Folder, Stat
from filemem.files.memory import live
from filemem.mcp.resources import path_of

EVERY = 1.0  # seconds between two looks
MOST = 1000  # subscriptions of a user; the oldest one ends where there are more
STREAMS = 64  # of one user


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
