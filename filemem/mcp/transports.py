"""The two ways to a client: its own pipe, and HTTP for those who have a token."""

import asyncio
import contextlib
import logging
import sys
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any, BinaryIO

import anyio
import mcp_types as types
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage

from filemem.serve import keys, running

LARGEST = 16_000_000  # bytes of one message
PATH = "/mcp"
SESSIONS, OF_ONE = 1000, 16  # over HTTP at a time, in all and of one user
SESSION = b"mcp-session-id"  # the header that names one
IDLE = 1800.0  # seconds after which a session ends that nobody uses
UNREAD = 16  # messages that wait to be read
BROKEN = "this is no JSON-RPC message of at most 16 MB; send one JSON object, over a pipe on a line of its own."


def over_stdio(server: Server[Any], wire: BinaryIO, first: bytes, greeted: Any) -> None:
    """Serve the client at the other end of `wire` until it closes it, or is gone.

    `first` is the line that was read of it, `greeted` the id of that request where it has been answered, else None.
    """
    _quiet()
    asyncio.run(_serve(server, wire, first, greeted))


async def _serve(server: Server[Any], wire: BinaryIO, first: bytes, greeted: Any) -> None:
    lines: Any = _lines(wire, first)
    async with stdio_server(stdin=lines) as (read, write):
        into, out = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        said, told = anyio.create_memory_object_stream[SessionMessage](0)

        async def forward() -> None:
            """Hand on what the client says; what is no message is answered, and costs nothing else."""
            async with into:
                async for message in read:
                    if isinstance(message, Exception):
                        error = types.ErrorData(code=types.PARSE_ERROR, message=BROKEN)
                        await write.send(SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=None, error=error)))
                    else:
                        await into.send(message)

        async def answer() -> None:
            """Hand on what the server says, but for the greeting that the client has."""
            waiting = greeted is not None
            async with told, write:
                async for message in told:
                    if waiting and getattr(message.message, "id", None) == greeted:
                        waiting = False
                    else:
                        await write.send(message)

        async with anyio.create_task_group() as group:
            group.start_soon(forward)
            group.start_soon(answer)
            with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, BrokenPipeError):
                await server.run(out, said, server.create_initialization_options())
            group.cancel_scope.cancel()


async def _lines(wire: BinaryIO, first: bytes) -> AsyncIterator[str]:
    """The client's lines, of which the first has begun; of one that is too long nothing. The thread that waits for them holds up
    no end of the program."""
    loop, waiting, room = asyncio.get_running_loop(), asyncio.Queue[str | None](), threading.Semaphore(UNREAD)

    def read() -> None:
        with contextlib.suppress(RuntimeError, OSError, ValueError):  # the loop has ended, or the pipe is closed
            data = first if first.endswith(b"\n") else first + wire.readline(LARGEST + 1)
            while data:
                while len(data) > LARGEST and not data.endswith(b"\n"):
                    data = b" " * LARGEST + wire.readline(LARGEST + 1)
                room.acquire()
                line = data.decode("utf-8", "replace") if len(data) <= LARGEST else ""
                loop.call_soon_threadsafe(waiting.put_nowait, line)
                data = wire.readline(LARGEST + 1)
            loop.call_soon_threadsafe(waiting.put_nowait, None)

    threading.Thread(target=read, daemon=True).start()
    while (line := await waiting.get()) is not None:
        room.release()
        yield line


class TokenCheck:
    """Whose token a request has, as the SDK asks; `only` is the one user who is served, where there is but one."""

    def __init__(self, root: str, only: str | None) -> None:
        self._root = root
        self._only = only

    async def verify_token(self, token: str) -> AccessToken | None:
        """The user of a token; None where it is nobody's, or not of those served here."""
        user = await asyncio.to_thread(keys.MCP.user_of, self._root, token)
        if user is None or user != (self._only or user):
            return None
        # What is kept of a request tells no token.
        return AccessToken(token="", client_id=user, subject=user, scopes=[])


class Shares:
    """An application in which a user has at most `most` sessions; of more, the one that was used longest ago ends."""

    def __init__(self, app: Any, check: TokenCheck, most: int = OF_ONE) -> None:
        self._app = app
        self._check = check
        self._most = most
        self._sessions: dict[str, dict[bytes, None]] = {}  # of each user, that used last at the end

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request."""
        asked = dict(scope)

        async def note(event: dict[str, Any]) -> None:
            if event["type"] == "http.response.start" and event["status"] < 300:
                await self._used(asked, dict(event["headers"]).get(SESSION, b""))
            await send(event)

        await self._app(scope, receive, note)

    async def _used(self, asked: dict[str, Any], session: bytes) -> None:
        key = dict(asked["headers"]).get(b"authorization", b"").decode("latin-1").partition(" ")[2]
        user = await self._check.verify_token(key) if session else None
        if not user:
            return
        sessions = self._sessions.setdefault(user.client_id, {})
        sessions.pop(session, None)
        if asked["method"] != "DELETE":
            sessions[session] = None
        while len(sessions) > self._most:
            oldest = next(iter(sessions))
            del sessions[oldest]
            await self._end(asked, oldest)

    async def _end(self, asked: dict[str, Any], session: bytes) -> None:
        """Delete a session, as its client would."""
        kept = [pair for pair in asked["headers"] if pair[0] in (b"authorization", b"host", b"accept", b"origin")]

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def unheard(event: dict[str, Any]) -> None:
            pass

        headers = [*kept, (SESSION, session)]
        await self._app({**asked, "method": "DELETE", "headers": headers}, receive, unheard)


def over_http(
    server: Server[Any], root: str, only: str | None, host: str, port: int, told: Callable[[str], None]
) -> None:
    """Serve at `host` and `port` (0: any that is free) until a signal ends it; `told` hears the address."""
    _quiet()
    with running.bound(host, port) as (listening, where):
        check = TokenCheck(root, only)
        app = server.streamable_http_app(
            streamable_http_path=PATH,
            max_request_body_size=LARGEST,
            session_idle_timeout=IDLE,
            max_sessions=SESSIONS,
            host=host,
            auth=AuthSettings(issuer_url=where, resource_server_url=None),
            token_verifier=check,
        )
        told(where + PATH)
        running.run(Shares(app, check), listening)


def _quiet() -> None:
    """Say nothing of what clients send: a log is no place for words of theirs, or for tokens."""
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    sys.stdout.flush()
