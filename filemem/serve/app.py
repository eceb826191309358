"""The endpoint: who asks, an answer in one piece or as a stream, errors as OpenAI's.

A model, and whoever writes files, work in threads, so that a slow client or model
holds up nobody but itself.
"""

import asyncio
import copy
import datetime as dt
import functools
import json
import secrets
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NamedTuple

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from filemem.errors import FilememError, NotFound
from filemem.learn import background
from filemem.learn.sessions import PAUSE
from filemem.llm.client import OpenAIModel
from filemem.llm.model import ModelError, PromptTooLong
from filemem.serve import running
from filemem.serve.proxy import Answer, Answering
from filemem.serve.request import ChatRequest, parse
from filemem.serve.running import BadRequest
from filemem.store.folder import Found
from filemem.store.users import StoreFolder

NAME = "filemem"  # of the model that clients choose
TASK_NAME = "filemem-task"  # the model without memory, for a program's own prompts
MAX_USERS_AT_HAND = 500  # whose index stays in memory


class ClientLeft(Exception):
    """Nobody wants an answer any more."""


class Service:
    """A store's endpoint.

    Args:
        store: whose users are served.
        model: what answers; each answer is asked of a copy.
        now: returns the moment, with its zone.
        log: gets a line for each request: whose, how it ended, how long it took.
        open_to: the user whom this machine may ask about without a key; '' for none.
        answers: how many may be under way; later ones wait.
        answers_of_user: how many of these for one user; later ones are refused.
        request_mb: how large a request may be, in millions of bytes.
        body_seconds: in which its body must come.
    """

    def __init__(
        self,
        store: StoreFolder,
        model: OpenAIModel,
        now: Callable[[], dt.datetime],
        log: Callable[[str], None],
        open_to: str = "",
        *,
        answers: int = 64,
        answers_of_user: int = 8,
        request_mb: int = 20,
        body_seconds: int = 30,
    ) -> None:
        self._store = store
        self._open_to = open_to
        self._model = model
        self._now = now
        self._log = log
        self._names = list(dict.fromkeys([NAME, TASK_NAME, model.name]))
        self._threads = ThreadPoolExecutor(answers, "answer")
        self._answers_of_user = answers_of_user
        self._limits = (request_mb * 1_000_000, body_seconds)
        self._under_way: Counter[str] = Counter()
        self._folder = functools.lru_cache(MAX_USERS_AT_HAND)(store.folder)

    def app(self) -> Starlette:
        """Return the application for a server."""
        errors = (FilememError, OSError, HTTPException, ClientLeft, Exception)
        return Starlette(
            routes=[
                Route("/healthz", running.say_healthy),
                Route("/v1/models", self._models),
                Route("/v1/chat/completions", self._complete, methods=["POST"]),
            ],
            exception_handlers=dict.fromkeys(errors, self._failed),
        )

    async def _models(self, request: Request) -> Response:
        """List the models that a client may name."""
        await self._find_user(request)
        rest = {"object": "model", "created": 0, "owned_by": "filemem"}
        models = [{"id": name, **rest} for name in self._names]
        return JSONResponse({"object": "list", "data": models})

    async def _complete(self, request: Request) -> Response:
        """Answer a chat, in one piece or as a stream.

        A stream begins with the first piece, so that what keeps that from coming is an
        error with its own status.
        """
        user = await self._find_user(request)
        body = await running.read_body(request, *self._limits)
        chat = parse(body, request.headers)
        if chat.model not in self._names:
            sentence = f"there is no model {chat.model[:80]!r} here; take {NAME}."
            raise BadRequest(404, sentence, "model_not_found")
        folder = self._folder(user)
        found = folder.found()
        if await self._find_user(request) != user:  # while the body came
            raise folder.gone()
        thread = self._begin(user, found, chat)
        watch = asyncio.ensure_future(thread.watch(request))
        try:
            if not chat.is_streamed:
                return JSONResponse(_completion(await thread.ended, chat.model))
            first = await thread.piece()
        finally:
            watch.cancel()
        stream = _stream(thread, first, chat)
        return StreamingResponse(stream, media_type="text/event-stream")

    def _begin(self, user: str, found: Found, chat: ChatRequest) -> "AnswerThread":
        """Begin an answer in a thread of its own.

        Args:
            user: whose memories are asked.
            found: who that was while the key was theirs.
            chat: what the client sent.

        Raises:
            BadRequest: too many answers of this user are under way.
        """
        if self._under_way[user] >= self._answers_of_user:
            sentence = "too many answers are under way; try again in a moment."
            raise BadRequest(429, sentence, "rate_limit_exceeded")
        self._under_way[user] += 1
        model = copy.copy(self._model)
        thread = AnswerThread(model)
        answering = Answering(self._folder(user), chat, model, self._now, thread.put)
        work: Callable[[], Answer] = functools.partial(answering.answer, found)
        if chat.model == TASK_NAME:
            work = answering.pass_on
        thread.start(self._threads, work)
        ended = functools.partial(self._ended, user, thread, time.monotonic())
        thread.ended.add_done_callback(ended)
        return thread

    def _ended(
        self,
        user: str,
        thread: "AnswerThread",
        began: float,
        future: asyncio.Future[Answer],
    ) -> None:
        """Say in the log how an answer ended; have read what has ended of the chats.

        That is at once those of before, and this one once nothing has followed.
        """
        self._under_way[user] -= 1
        error = future.exception()
        outcome = "answered"
        if thread.is_left:
            outcome = "the client left"
        elif error:
            outcome = f"failed ({error!r})"
        self._log(f"{user}: {outcome}, {time.monotonic() - began:.1f} s")
        loop = asyncio.get_running_loop()
        for delay in (0.0, PAUSE.total_seconds()):
            loop.call_later(delay, self._threads.submit, self._have_read, user)

    def _have_read(self, user: str) -> None:
        """Have the model read what has ended of a user's conversations."""
        with suppress(FilememError, OSError):
            background.start(self._folder(user), self._model, self._now())

    async def _find_user(self, request: Request) -> str:
        """Return whose memories a request may see.

        Raises:
            BadRequest: its key is nobody's, or, where no key is needed, it does not
                come from this machine.
        """
        try:
            return await running.find_user(request, self._store.root)
        except BadRequest as error:
            if error.status != 401 or not self._open_to:
                raise
        running.check_local(request)
        return self._open_to

    async def _failed(self, request: Request, error: Exception) -> Response:
        """Tell the client of an error, and whether to try again."""
        if isinstance(error, HTTPException):
            asked = f"{request.method} {request.url.path[:80]}"
            sentence = f"{asked} is not known here."
            error = BadRequest(error.status_code, sentence)
        status, body = error_body(error)
        self._log(f"refused: {error}")
        headers = {}
        if status >= 500:
            headers["x-should-retry"] = "false"
        elif status == 429:
            headers["retry-after"] = "1"
        return JSONResponse(body, status, headers)


class AnswerThread:
    """A thread that makes an answer, and a client that may leave.

    Args:
        model: what answers; it is stopped where the client leaves.

    Attributes:
        ended: the answer to come, once it was started.
        is_left: nobody wants the answer any more.
    """

    ended: asyncio.Future[Answer]

    def __init__(self, model: OpenAIModel) -> None:
        self._model = model
        self.is_left = False
        self._loop = asyncio.get_running_loop()
        self._pieces: asyncio.Queue[str] = asyncio.Queue()

    def start(self, threads: ThreadPoolExecutor, work: Callable[[], Answer]) -> None:
        """Have a thread do the work, which hands what comes of it to `put`."""
        self.ended = self._loop.run_in_executor(threads, work)
        self.ended.add_done_callback(lambda _: self._pieces.put_nowait(""))

    def put(self, text: str) -> None:
        """Take a piece of the answer; raise ClientLeft where nobody wants it."""
        if self.is_left:
            raise ClientLeft
        if text:
            self._loop.call_soon_threadsafe(self._pieces.put_nowait, text)

    def leave(self) -> None:
        """End the answer: what had come of it is kept."""
        if self.ended.done():
            return
        self.is_left = True
        self._model.stop()

    async def watch(self, request: Request) -> None:
        """End the answer once the client leaves."""
        while (await request.receive())["type"] != "http.disconnect":
            pass
        self.leave()

    async def piece(self) -> str:
        """Return the next piece, '' after the last; raise what ended it too soon."""
        piece = await self._pieces.get()
        if not piece:
            await self.ended
        return piece


class ErrorAnswer(NamedTuple):
    """The HTTP status and the body of an error."""

    status: int
    body: dict[str, Any]


def error_body(error: BaseException) -> ErrorAnswer:
    """Return an error in OpenAI's shape.

    What went wrong inside is for the log alone.
    """
    status = 500
    code = None
    sentence = "the server failed; its log says why, and what was said is kept."
    if isinstance(error, FilememError):
        sentence = str(error)
    if isinstance(error, BadRequest):
        status = error.status
        code = error.code
    elif isinstance(error, NotFound):
        status = 404
        code = "user_not_found"
    elif isinstance(error, PromptTooLong):  # by this code clients shorten a history
        status = 400
        code = "context_length_exceeded"
    elif isinstance(error, ModelError):
        status = 502
        code = "model_error"
    kind = "api_error" if status >= 500 else "invalid_request_error"
    told = {"message": sentence, "type": kind, "param": None, "code": code}
    return ErrorAnswer(status, {"error": told})


def _frame(model: str, kind: str) -> dict[str, Any]:
    """Return what every event of an answer begins with."""
    id = f"chatcmpl-{secrets.token_hex(12)}"
    return {"id": id, "object": kind, "created": int(time.time()), "model": model}


def _usage(answer: Answer) -> dict[str, int]:
    """Return the tokens of all requests that led to an answer."""
    return {
        "prompt_tokens": answer.usage.tokens_in,
        "completion_tokens": answer.usage.tokens_out,
        "total_tokens": sum(answer.usage),
    }


def _completion(answer: Answer, model: str) -> dict[str, Any]:
    """Return an answer in one piece."""
    message = {**answer.reply.as_sent(), "content": answer.text or None}
    choice = {"index": 0, "message": message, "finish_reason": answer.reply.finish}
    frame = _frame(model, "chat.completion")
    return {**frame, "choices": [choice], "usage": _usage(answer)}


async def _stream(
    thread: AnswerThread, piece: str, chat: ChatRequest
) -> AsyncIterator[bytes]:
    """Yield an answer's events; a client that reads no more ends it.

    Args:
        thread: which makes the answer.
        piece: the first of its text, '' where it has none.
        chat: what the client sent.
    """
    frame = _frame(chat.model, "chat.completion.chunk")

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _event({**frame, "choices": [choice]})

    try:
        yield chunk({"role": "assistant", "content": piece})
        while piece:
            piece = await thread.piece()
            if piece:
                yield chunk({"content": piece})
        answer = await thread.ended
        last = answer.reply.as_sent()
        for number, call in enumerate(last.get("tool_calls", ())):
            call["index"] = number
        yield chunk({**last, "content": None}, answer.reply.finish)
        if chat.wants_usage:
            yield _event({**frame, "choices": [], "usage": _usage(answer)})
        yield b"data: [DONE]\n\n"
    except (FilememError, OSError) as error:
        yield _event(error_body(error).body)
    finally:
        thread.leave()


def _event(value: Any) -> bytes:
    """Return a value as an event of a stream."""
    text = json.dumps(value, ensure_ascii=False)
    return b"data: " + text.encode("utf-8", "backslashreplace") + b"\n\n"
