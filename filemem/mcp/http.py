"""The server over HTTP: each message is one POST, which has a key and no session."""

import asyncio
import datetime as dt
import functools
from collections.abc import Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from filemem.mcp.server import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    REVISION,
    Dispatcher,
    ProtocolError,
    failed,
)
from filemem.serve import running
from filemem.serve.running import BadRequest
from filemem.store.users import StoreFolder

PATH = "/mcp"
MAX_MESSAGE_BYTES = 16_000_000
MAX_USERS_AT_HAND = 500  # whose index stays in memory


class Endpoint:
    """Answers those who have a key about their own memories.

    Args:
        store: whose users are served.
        now: returns the moment of a call, with its zone.
        write: offer the tools that write, too.
        local: only this machine can ask, so nothing else may be named in a request.
    """

    def __init__(
        self,
        store: StoreFolder,
        now: Callable[[], dt.datetime],
        *,
        write: bool,
        local: bool,
    ) -> None:
        self._store = store
        self._now = now
        self._write = write
        self._local = local
        self._dispatcher = functools.lru_cache(MAX_USERS_AT_HAND)(self._make)

    def app(self) -> Starlette:
        """Return the application for a server."""
        return Starlette(
            routes=[
                Route("/healthz", running.say_healthy),
                Route(PATH, self._answer, methods=["POST"]),
            ],
            exception_handlers={BadRequest: _refused},
        )

    def _make(self, user: str) -> Dispatcher:
        """Return the dispatcher of a user, who has a key."""
        return Dispatcher(self._store.folder(user), self._now, write=self._write)

    async def _answer(self, request: Request) -> Response:
        """Answer one message, or a batch; raise BadRequest for who may not ask."""
        if self._local:
            running.check_local(request)
        user = await running.find_user(request, self._store.root)
        body = await running.read_body(request, MAX_MESSAGE_BYTES)
        dispatcher = self._dispatcher(user)
        answer = await asyncio.to_thread(dispatcher.answer, body, request.headers)
        if answer is None:
            return Response(status_code=202)
        code = 0
        if isinstance(answer, dict):
            code = answer.get("error", {}).get("code", 0)
        return JSONResponse(answer, _status(code, request))


def _status(code: int, request: Request) -> int:
    """Return the HTTP status of an answer.

    The older revisions have one for what is no message alone.

    Args:
        code: JSON-RPC's number of the error; 0 where there is none.
        request: whose header tells the revision.
    """
    if code in (PARSE_ERROR, INVALID_REQUEST):
        return 400
    version = request.headers.get("mcp-protocol-version", "")
    if not code or version < REVISION:
        return 200
    return 404 if code == METHOD_NOT_FOUND else 400


async def _refused(request: Request, error: Exception) -> Response:
    """Answer a request that is refused before its message is read."""
    status = error.status if isinstance(error, BadRequest) else 500
    code = INVALID_PARAMS if status != 400 else PARSE_ERROR
    return JSONResponse(failed(ProtocolError(code, str(error))), status)
