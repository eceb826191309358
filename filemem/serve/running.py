"""The server that runs the endpoint, on a port that was found free before anything else."""

import contextlib
import socket
from collections.abc import Iterator

import uvicorn
from starlette.applications import Starlette

from filemem.errors import FilememError

LINGERING = 5  # seconds that answers under way are waited for at the end
MOST_CONNECTIONS = 500


@contextlib.contextmanager
def bound(host: str, port: int) -> Iterator[socket.socket]:
    """A socket that listens there; raises FilememError where it cannot."""
    try:
        listening = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, OverflowError) as error:
        what = getattr(error, "strerror", None) or str(error)
        raise FilememError(
            f"{host}:{port} cannot be listened on: {what}; choose another with --host and --port."
        ) from None
    with listening:
        yield listening


def run(app: Starlette, listening: socket.socket) -> None:
    """Serve until the process is told to end; then what is under way is waited for."""
    uvicorn.Server(
        uvicorn.Config(
            app,
            log_level="critical",
            access_log=False,
            server_header=False,
            lifespan="off",
            limit_concurrency=MOST_CONNECTIONS,
            timeout_keep_alive=15,
            timeout_graceful_shutdown=LINGERING,
        )
    ).run(sockets=[listening])
