"""What runs an application over HTTP, on a port that was found free before anything else, and reads its requests."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from typing import Any

import uvicorn
from starlette.requests import ClientDisconnect, Request
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from filemem.errors import FilememError
from filemem.files.keys import LOOPBACK
from filemem.serve.wire import BadRequest

LINGERING = 5  # seconds that answers under way are waited for at the end
MOST_CONNECTIONS = 500  # beyond them a request is told to come again
PATIENCE = 30.0  # seconds in which a connection must have sent the header of a request
SLOWEST = 30.0  # seconds in which the body must come


@contextlib.contextmanager
def bound(host: str, port: int) -> Iterator[tuple[socket.socket, str]]:
    """A socket that listens there, at any free port for 0, and its address; raises FilememError where it cannot."""
    try:
        listening = socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET
        )
    except (OSError, OverflowError) as error:
        what = (getattr(error, "strerror", None) or str(error)).partition(" (while")[0]
        raise FilememError(
            f"cannot listen on {host}:{port}: {what}; choose another with --host and --port."
        ) from None
    with listening:
        yield (
            listening,
            f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}",
        )


def server(
    app: Any, most: int = MOST_CONNECTIONS, patience: float = PATIENCE
) -> uvicorn.Server:
    """A server of an application, for `most` connections, each closed that has sent no whole header within `patience` seconds.

    Nothing that is sent is logged. When it is told to end, what is under way is waited for.
    """

    class Caller(AutoHTTPProtocol):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._look(object())

        def _look(self, before: Any) -> None:
            """Close the connection where no request has begun since `before`; else look again later."""
            idle = self.cycle is None or self.cycle.response_complete
            if idle and self.cycle is before:
                self.transport.close()
            else:
                self._clock = asyncio.get_running_loop().call_later(
                    patience, self._look, self.cycle
                )

        def connection_lost(self, error: Exception | None) -> None:
            self._clock.cancel()
            super().connection_lost(error)

    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=Caller,
            log_level="critical",
            access_log=False,
            server_header=False,
            limit_concurrency=most,
            timeout_keep_alive=15,
            timeout_graceful_shutdown=LINGERING,
        )
    )


async def body(request: Request, largest: int) -> bytes:
    """The body of a request; raises BadRequest for one that is no JSON, too large, or comes too slowly."""
    if (
        request.headers.get("content-type", "").partition(";")[0].strip().lower()
        != "application/json"
    ):
        raise BadRequest(400, "send JSON, with Content-Type: application/json.")
    data = bytearray()
    try:
        async with asyncio.timeout(SLOWEST):
            async for piece in request.stream():
                data += piece
                if len(data) > largest:
                    raise BadRequest(
                        413, f"the request is larger than {largest / 1e6:g} MB."
                    )
    except TimeoutError:
        raise BadRequest(
            408, f"the request did not come within {SLOWEST:g} s."
        ) from None
    except ClientDisconnect:
        raise BadRequest(400, "the client left.") from None
    return bytes(data)


def local(host: str, origin: str) -> bool:
    """Is a request meant for this machine, and not from another site's page? Without their ports, both name this machine."""
    names = (
        one if one.endswith("]") else one.rpartition(":")[0] or one
        for one in (host, origin.partition("://")[2])
    )
    return all(name.strip("[]") in LOOPBACK for name in names)
