"""The server that runs an application over HTTP, on a port that was found free before anything else."""

import contextlib
import socket
from collections.abc import Iterator
from typing import Any

import uvicorn

from filemem.errors import FilememError

LINGERING = 5  # seconds that answers under way are waited for at the end
MOST_CONNECTIONS = 500  # beyond them a request is told to come again


@contextlib.contextmanager
def bound(host: str, port: int) -> Iterator[tuple[socket.socket, str]]:
    """A socket that listens there, at any free port for 0, and its address; raises FilememError where it cannot."""
    try:
        listening = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, OverflowError) as error:
        what = (getattr(error, "strerror", None) or str(error)).partition(" (while")[0]
        raise FilememError(
            f"{host}:{port} cannot be listened on: {what}; choose another with --host and --port."
        ) from None
    with listening:
        yield listening, f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"


def run(app: Any, listening: socket.socket) -> None:
    """Serve until the process is told to end; then what is under way is waited for. Nothing that is sent is logged."""
    uvicorn.Server(
        uvicorn.Config(
            app,
            log_level="critical",
            access_log=False,
            server_header=False,
            limit_concurrency=MOST_CONNECTIONS,
            timeout_keep_alive=15,
            timeout_graceful_shutdown=LINGERING,
        )
    ).run(sockets=[listening])
