"""Running an application over HTTP: its port, who asks, and reading what they send."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from typing import Any, NamedTuple

import uvicorn
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from filemem.errors import FilememError
from filemem.store import keys

SHUTDOWN_SECONDS = 5  # that answers under way are waited for at the end
MAX_CONNECTIONS = 500
BODY_SECONDS = 30.0  # in which a request's body must come
KEEP_ALIVE_SECONDS = 15


class BadRequest(FilememError):
    """A request that is refused, with its HTTP status, and perhaps OpenAI's code."""

    def __init__(self, status: int, sentence: str, code: str | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.code = code


class Listening(NamedTuple):
    """A socket that listens, and the address by which it is reached."""

    socket: socket.socket
    address: str


@contextlib.contextmanager
def bound(host: str, port: int) -> Iterator[Listening]:
    """Listen on a port, any free one for 0.

    Raises:
        FilememError: nobody can listen there.
    """
    family = socket.AF_INET
    shown = host
    if ":" in host:
        family = socket.AF_INET6
        shown = f"[{host}]"
    try:
        listening = socket.create_server((host, port), family=family)
    except OSError as error:
        raise FilememError(
            f"cannot listen on {host}:{port}: {error.strerror}; choose another with"
            " --host and --port."
        ) from None
    with listening:
        port = listening.getsockname()[1]
        yield Listening(listening, f"http://{shown}:{port}")


def server(app: Any, connections: int = MAX_CONNECTIONS) -> uvicorn.Server:
    """Return a server of an application; nothing that is sent to it is logged.

    Args:
        app: the application.
        connections: beyond which a request is told to come again.
    """
    config = uvicorn.Config(
        app,
        log_level="critical",
        access_log=False,
        server_header=False,
        limit_concurrency=connections,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    return uvicorn.Server(config)


async def say_healthy(request: Request) -> Response:
    """Say that the server runs; anybody may ask."""
    return JSONResponse({"status": "ok"})


async def read_body(
    request: Request, max_bytes: int, seconds: float = BODY_SECONDS
) -> bytes:
    """Return a request's body.

    Raises:
        BadRequest: it is no JSON, too large, or comes too slowly.
    """
    kind = request.headers.get("content-type", "").partition(";")[0]
    if kind.strip().lower() != "application/json":
        raise BadRequest(400, "send JSON, with Content-Type: application/json.")
    data = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for piece in request.stream():
                data += piece
                if len(data) > max_bytes:
                    megabytes = f"{max_bytes / 1e6:g} MB"
                    raise BadRequest(413, f"the request is larger than {megabytes}.")
    except TimeoutError:
        sentence = f"the request did not come within {seconds:g} s."
        raise BadRequest(408, sentence) from None
    except ClientDisconnect:
        raise BadRequest(400, "the client left.") from None
    return bytes(data)


async def find_user(request: Request, root: str) -> str:
    """Return whose key a request has.

    Raises:
        BadRequest: it has none that is known for the store at `root`.
    """
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    user = ""
    if scheme.lower() == "bearer":
        user = await asyncio.to_thread(keys.find_user, root, key.strip())
    if not user:
        raise BadRequest(
            401,
            "a key that is known here is needed, as Authorization: Bearer fm-…;"
            " filemem serve keys add NAME makes one.",
            "invalid_api_key",
        )
    return user


def check_local(request: Request) -> None:
    """Let only this machine ask, and no page of another site.

    Raises:
        BadRequest: the headers name another host, or another site's page.
    """
    host = request.headers.get("host", "")
    page = request.headers.get("origin", "http://localhost")
    if not (_is_local(host) and _is_local(page.partition("://")[2])):
        raise BadRequest(
            403,
            "here only this machine is answered, and no other site's page; serve others"
            " with --host.",
        )


def _is_local(address: str) -> bool:
    """Tell whether an address, with a port or without, names this machine."""
    name = address
    if not address.endswith("]"):
        name = address.rpartition(":")[0] or address
    return name.strip("[]") in keys.LOOPBACK
