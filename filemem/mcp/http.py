"""The server over HTTP, the protocol's *streamable HTTP*: each message is a request, what a client is told unasked a stream."""

import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator, Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from filemem.files import keys
from filemem.mcp.server import LARGEST, PARSE, Message, ServedClient, Users, failed
from filemem.serve import running
from filemem.serve.wire import BadRequest

PATH = "/mcp"
ALL_SESSIONS, OF_ONE = (
    1000,
    16,
)  # at a time, in all and of one user; one more ends that which was used longest ago
IDLE = 1800.0  # seconds after which a session ends that nobody uses
UNHEARD = 100  # messages that wait for a client to listen; the oldest goes where there are more
SESSION = "mcp-session-id"  # the header that names one
REFUSED = -32600  # JSON-RPC's number of a request that is none


class _HttpSession:
    """A client's session, and what it has not been told yet."""

    def __init__(self, users: Users, user: str) -> None:
        loop = asyncio.get_running_loop()
        self.user = user
        self.used = time.monotonic()
        self.news: asyncio.Queue[Message | None] = asyncio.Queue()

        self.client: ServedClient = users.client(
            user, lambda message: loop.call_soon_threadsafe(self._put, message)
        )

    def _put(self, message: Message | None) -> None:
        if self.news.qsize() >= UNHEARD:
            self.news.get_nowait()
        self.news.put_nowait(message)

    def end(self) -> None:
        """Tell the client nothing more."""
        self.client.gone()
        self._put(None)

    async def told(self) -> AsyncIterator[bytes]:
        """What the client is told, as events of a stream, until the session ends."""
        yield b": here\n\n"
        while (message := await self.news.get()) is not None:
            yield b"event: message\ndata: " + json.dumps(message).encode() + b"\n\n"


class Endpoint:
    """The endpoint of all who have a key for the store at `root`; `only` is the one user who is served, where there is but one,
    `here` says that it is for this machine alone."""

    def __init__(
        self, users: Users, root: str, only: str | None, *, here: bool
    ) -> None:
        self._users = users
        self._root = root
        self._only = only
        self._here = here
        self._sessions: dict[str, _HttpSession] = {}  # that used last at the end

    def app(self) -> Starlette:
        """The application for a server."""
        route = Route(PATH, self._answered, methods=["GET", "POST", "DELETE"])
        return Starlette(routes=[route], exception_handlers={BadRequest: _refused})

    async def _answered(self, request: Request) -> Response:
        if self._here:
            if not running.local(request.headers.get("host", ""), "://localhost"):
                raise BadRequest(421, "this is for this machine alone.")
            if not running.local(
                "localhost", request.headers.get("origin", "://localhost")
            ):
                raise BadRequest(403, "no other site's page may ask.")
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        user = (
            await asyncio.to_thread(keys.find_user, self._root, key.strip())
            if scheme.lower() == "bearer"
            else ""
        )
        if not user or user != (self._only or user):
            raise BadRequest(
                401,
                "a key is needed, as Authorization: Bearer …; filemem serve keys add makes one.",
            )
        if request.method == "POST":
            return await self._posted(request, user)
        session = self._session(request, user)
        if request.method == "GET":
            return StreamingResponse(session.told(), media_type="text/event-stream")
        self._end(request.headers[SESSION])
        return Response(status_code=204)

    async def _posted(self, request: Request, user: str) -> Response:
        data = await running.body(request, LARGEST)
        session = (
            self._session(request, user)
            if SESSION in request.headers
            else _HttpSession(self._users, user)
        )
        answer = await asyncio.to_thread(session.client.answer, data)
        headers = {}
        if SESSION not in request.headers:
            if answer and "protocolVersion" in answer.get("result", {}):
                headers[SESSION] = self._began(session)
            else:
                session.end()  # what needs no session is answered without one
        if not answer:
            return Response(status_code=202)
        return JSONResponse(
            answer,
            400 if answer.get("error", {}).get("code") == PARSE else 200,
            headers,
        )

    def _began(self, session: _HttpSession) -> str:
        """The name of a session that begins, while those end that are too many or have not been used for long."""
        name = secrets.token_hex(16)
        self._sessions[name] = session
        mine = [
            other for other, one in self._sessions.items() if one.user == session.user
        ]
        old = [
            other
            for other, one in self._sessions.items()
            if session.used - one.used > IDLE
        ]
        for other in {*mine[:-OF_ONE], *list(self._sessions)[:-ALL_SESSIONS], *old}:
            self._end(other)
        return name

    def _end(self, name: str) -> None:
        self._sessions.pop(name).end()

    def _session(self, request: Request, user: str) -> _HttpSession:
        """The session that a request names; raises BadRequest for one that is over, or another user's."""
        name = request.headers.get(SESSION, "")
        session = self._sessions.get(name)
        if session is None or session.user != user:
            raise BadRequest(
                404 if name else 400,
                "there is no such session; say initialize to begin one.",
            )
        session.used = time.monotonic()
        self._sessions[name] = self._sessions.pop(name)
        return session


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, BadRequest)
    headers = {"WWW-Authenticate": "Bearer"} if error.status == 401 else {}
    return JSONResponse(failed(None, REFUSED, str(error)), error.status, headers)


def serve(
    users: Users,
    root: str,
    only: str | None,
    host: str,
    port: int,
    told: Callable[[str], None],
) -> None:
    """Serve at `host` and `port` (0: any that is free) until a signal ends it; `told` hears the address."""
    with running.bound(host, port) as (listening, where):
        told(where + PATH)
        app = Endpoint(users, root, only, here=host in keys.LOOPBACK).app()
        running.server(app).run(sockets=[listening])
