"""A chat service whose users have a memory each.

    CHAT_STORE=memory_store uvicorn chat_service:app

It needs `filemem[serve]` (starlette, uvicorn), and of a model what filemem needs:
`OPENAI_BASE_URL`, `OPENAI_API_KEY`, `FILEMEM_MODEL`. Who a request comes from is taken
from its path; a real service takes it from its own login.
"""

import asyncio
import contextlib
import os
import tempfile
import threading
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from filemem import Busy, FilememError, NotFound, Refused, Store

STILL_SECONDS = 300  # without a message, after which a user's chats are read
STATUS: dict[type[Exception], int] = {NotFound: 404, Refused: 403, Busy: 503}

store = Store(os.environ.get("CHAT_STORE", "memory_store"))
# For what asks a model to read; no request waits for it.
reading = ThreadPoolExecutor(2)
stopping = threading.Event()
waiting: dict[str, asyncio.TimerHandle] = {}


async def chat(request: Request) -> Response:
    """Answer one message of a chat; both are on disk when this returns."""
    name = request.path_params["name"]
    chat_id = request.path_params["chat"]
    body = await request.json()
    answer = await run_in_threadpool(answered, name, chat_id, body["text"])
    read_when_still(name)
    return JSONResponse({"answer": answer})


def answered(name: str, chat_id: str, text: str) -> str:
    """Return the answer to a message.

    A chat is taken up again by its id, by whichever process has the request.
    """
    conversation = store.user(name).conversation(id=chat_id)
    return conversation.say(text)


def read_when_still(name: str) -> None:
    """Have what a user said become facts once no message has come for some minutes.

    It is not lost by a process that ends before: the next reading finds what is unread.
    """
    if name in waiting:
        waiting[name].cancel()
    loop = asyncio.get_running_loop()
    waiting[name] = loop.call_later(STILL_SECONDS, lambda: reading.submit(read, name))


def read(name: str) -> None:
    """Make facts of what a user said."""
    with contextlib.suppress(Busy):  # another process reads this user's chats
        store.user(name).consolidate(stop=stopping)


async def memories(request: Request) -> Response:
    """Show all that is remembered of a user."""
    user = store.user(request.path_params["name"])
    found = await run_in_threadpool(lambda: list(user.memories()))
    return JSONResponse({one.path: one.text for one in found})


async def export(request: Request) -> Response:
    """Hand a user all that is remembered of them, as a zip."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "memories.zip")
        await run_in_threadpool(store.export, request.path_params["name"], file)
        return Response(file.read_bytes(), media_type="application/zip")


async def delete(request: Request) -> Response:
    """Delete a user; `left` names what is there still, and is empty as a rule."""
    gone = await run_in_threadpool(store.delete, request.path_params["name"])
    return JSONResponse({"deleted": len(gone), "left": gone.left})


async def failed(request: Request, error: Exception) -> Response:
    """Tell a FilememError, whose text is one sentence that says what to do."""
    status = STATUS.get(type(error), 502)
    return JSONResponse({"error": str(error)}, status)


@contextlib.asynccontextmanager
async def running(app: Starlette) -> AsyncGenerator[None, None]:
    """Let a reading that is at work come to its end at shutdown."""
    yield
    stopping.set()  # a reading ends after its request; the next one goes on from there
    reading.shutdown()


app = Starlette(
    routes=[
        Route("/{name}/chats/{chat}", chat, methods=["POST"]),
        Route("/{name}/memories", memories),
        Route("/{name}/export", export),
        Route("/{name}", delete, methods=["DELETE"]),
    ],
    exception_handlers={FilememError: failed},
    lifespan=running,
)
