"""The endpoint: who asks, an answer in one piece or as a stream, errors as OpenAI's.

A model, and whoever writes files, work in threads, so that a slow client or model
holds up nobody but itself.
"""

import asyncio
import datetime as dt
import functools
import json
import secrets
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from filemem.api import User
from filemem.errors import Busy, FilememError
from filemem.llm.client import OpenAIModel
from filemem.llm.model import Model, ModelError
from filemem.serve import running
from filemem.serve.proxy import Answer, Answering
from filemem.serve.request import ChatRequest, parse
from filemem.serve.running import BadRequest
from filemem.store.folder import StoreFolder

NAME = "filemem"  # of the model that clients choose
TASK_NAME = "filemem-task"  # the model without memory, for a program's own prompts
PATHS = "/v1/models, /v1/chat/completions and /healthz"
MAX_REQUEST_BYTES = 20_000_000
MAX_ANSWERS = 64  # under way
MAX_ANSWERS_OF_USER = 8
MAX_USERS_AT_HAND = 500  # whose index stays in memory
ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}


class ClientLeft(Exception):
    """Nobody wants an answer any more."""


class Service:
    """A store's endpoint.

    Args:
        store: whose users are served.
        make_model: returns a model for one answer.
        now: returns the moment, with its zone.
        log: gets a line for each request: whose, how it ended, how long it took.
        open_to: the user whose memories need no key; empty for none.
        origins: the sites whose pages may ask.
    """

    def __init__(
        self,
        store: StoreFolder,
        make_model: Callable[[], Model],
        now: Callable[[], dt.datetime],
        log: Callable[[str], None],
        open_to: str = "",
        origins: Sequence[str] = (),
    ) -> None:
        self._store = store
        self._make_model = make_model
        self._now = now
        self._log = log
        self._open_to = open_to
        self._origins = tuple(origin.rstrip("/") for origin in origins)
        self._names = list(dict.fromkeys([NAME, TASK_NAME, make_model().name]))
        self._threads = ThreadPoolExecutor(MAX_ANSWERS, "answer")
        self._under_way: Counter[str] = Counter()
        self._user = functools.lru_cache(MAX_USERS_AT_HAND)(self._make_user)

    def app(self) -> Starlette:
        """Return the application for a server."""
        cors = Middleware(
            CORSMiddleware,
            allow_origins=self._origins,
            allow_methods=["*"],
            allow_headers=["*"],
        )
        errors = (FilememError, OSError, HTTPException, ClientLeft, Exception)
        return Starlette(
            middleware=[cors] if self._origins else [],
            routes=[
                Route("/healthz", self._health),
                Route("/v1/models", self._models),
                Route("/v1/models/{name:path}", self._one_model),
                Route("/v1/chat/completions", self._complete, methods=["POST"]),
            ],
            exception_handlers=dict.fromkeys(errors, self._failed),
        )

    def _make_user(self, name: str) -> User:
        return User(self._store.folder(name))

    async def _health(self, request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def _models(self, request: Request) -> Response:
        await self._find_user(request)
        models = [_model(name) for name in self._names]
        return JSONResponse({"object": "list", "data": models})

    async def _one_model(self, request: Request) -> Response:
        await self._find_user(request)
        name = request.path_params["name"]
        self._check_model(name)
        return JSONResponse(_model(name))

    async def _complete(self, request: Request) -> Response:
        user = await self._find_user(request)
        body = await running.read_body(request, MAX_REQUEST_BYTES)
        chat = parse(body, request.headers)
        self._check_model(chat.model)
        self._admit(user)
        model = self._make_model()
        answering = Answering(self._user(user), chat, model, self._now)
        work = answering.answer
        if chat.model == TASK_NAME:
            work = answering.pass_on
        thread = AnswerThread(self._threads, work, model)
        began = time.monotonic()

        def ended(future: asyncio.Future[Answer]) -> None:
            self._under_way[user] -= 1
            seconds = time.monotonic() - began
            outcome = "the client left" if thread.is_left else _outcome(future)
            self._log(f"{user}: {outcome}, {seconds:.1f} s")

        thread.ended.add_done_callback(ended)
        if chat.is_streamed:
            first = await thread.first_piece(request)
            stream = _stream(thread, first, chat)
            return StreamingResponse(stream, media_type="text/event-stream")
        return JSONResponse(_completion(await thread.whole(request), chat.model))

    async def _find_user(self, request: Request) -> str:
        """Return whose memories a request may see; raise BadRequest if nobody's."""
        try:
            return await running.find_user(request, self._store.root)
        except BadRequest as error:
            if error.status != 401 or not self._open_to:
                self._log(f"refused: {error}")
                raise
        running.check_local(request, self._origins)
        return self._open_to

    def _check_model(self, name: str) -> None:
        if name not in self._names:
            sentence = f"there is no model {name[:80]!r} here; take {NAME}."
            raise BadRequest(404, sentence, "model_not_found")

    def _admit(self, user: str) -> None:
        """Count an answer as under way; raise BadRequest where too many are."""
        is_full = self._under_way.total() >= MAX_ANSWERS
        if is_full or self._under_way[user] >= MAX_ANSWERS_OF_USER:
            self._log(f"{user}: refused, too many answers are under way")
            sentence = "too many answers are under way; try again in a moment."
            raise BadRequest(429, sentence, "rate_limit_exceeded")
        self._under_way[user] += 1

    async def _failed(self, request: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException):
            asked = f"{request.method} {request.url.path[:80]}"
            sentence = f"{asked} is not known; here are {PATHS}."
            error = BadRequest(error.status_code, sentence)
        status, body = error_body(error)
        headers = {}
        if status >= 500:
            self._log(f"error: {error}")
            headers["x-should-retry"] = "false"
        elif status == 429:
            headers["retry-after"] = "1"
        elif status in (408, 413):
            headers["connection"] = "close"
        return JSONResponse(body, status, headers)


class AnswerThread:
    """A thread that makes an answer, and a client that may leave."""

    def __init__(
        self,
        threads: ThreadPoolExecutor,
        work: Callable[[Callable[[str], None]], Answer],
        model: Model,
    ) -> None:
        self._model = model
        self.is_left = False
        self._loop = asyncio.get_running_loop()
        self._pieces: asyncio.Queue[str] = asyncio.Queue()
        self.ended = self._loop.run_in_executor(threads, work, self._put)
        self.ended.add_done_callback(lambda _: self._pieces.put_nowait(""))

    def _put(self, text: str) -> None:
        if self.is_left:
            raise ClientLeft
        if text:
            self._loop.call_soon_threadsafe(self._pieces.put_nowait, text)

    def leave(self) -> None:
        """End the answer: what had come of it is kept."""
        if self.ended.done():
            return
        self.is_left = True
        if isinstance(self._model, OpenAIModel):
            self._model.hang_up()

    async def whole(self, request: Request) -> Answer:
        """Return the answer; end it where the client leaves before it has come."""
        leaving = asyncio.ensure_future(self._watch(request))
        try:
            return await self.ended
        finally:
            leaving.cancel()

    async def first_piece(self, request: Request) -> str:
        """Return the first piece of the text, '' if there is none.

        What kept it from coming is raised, so that it is an error and no stream.
        """
        leaving = asyncio.ensure_future(self._watch(request))
        try:
            piece = await self._pieces.get()
        finally:
            leaving.cancel()
        if not piece:
            await self.ended
        return piece

    async def rest(self) -> AsyncIterator[str]:
        """Yield the other pieces; raise what ended the answer too soon."""
        while not self.ended.done() or not self._pieces.empty():
            piece = await self._pieces.get()
            if piece:
                yield piece
        await self.ended

    async def _watch(self, request: Request) -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        self.leave()


def error_body(error: BaseException) -> tuple[int, dict[str, Any]]:
    """Return the status and body of an error, without what only the log may say."""
    status = 500
    code = None
    sentence = "the server failed; its log says why, and what was said is kept."
    match error:
        case BadRequest():
            status, sentence, code = error.status, str(error), error.code
        case ModelError():
            status, sentence, code = 502, str(error), "model_error"
        case Busy():
            status, sentence = 503, str(error)
        case FilememError():
            sentence = str(error)
        case ClientLeft():
            status, sentence = 499, "the client left."
    kind = ERROR_TYPES.get(status, "api_error")
    told = {"message": sentence, "type": kind, "param": None, "code": code}
    return status, {"error": told}


def _outcome(ended: asyncio.Future[Answer]) -> str:
    """Return how an answer ended, for the log."""
    error = ended.exception()
    if error is None:
        return "answered"
    if isinstance(error, FilememError):
        return f"failed ({error})"
    return f"failed ({error!r})"


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "filemem"}


def _frame(model: str, kind: str) -> dict[str, Any]:
    id = f"chatcmpl-{secrets.token_hex(12)}"
    return {"id": id, "object": kind, "created": int(time.time()), "model": model}


def _usage(answer: Answer) -> dict[str, int]:
    spent = answer.usage
    return {
        "prompt_tokens": spent.tokens_in,
        "completion_tokens": spent.tokens_out,
        "total_tokens": spent.tokens_in + spent.tokens_out,
    }


def _completion(answer: Answer, model: str) -> dict[str, Any]:
    """Return an answer in one piece."""
    message = {**answer.reply.as_sent(), "content": answer.text or None}
    choice = {"index": 0, "message": message, "finish_reason": answer.reply.finish}
    frame = _frame(model, "chat.completion")
    return {**frame, "choices": [choice], "usage": _usage(answer)}


async def _stream(
    thread: AnswerThread, first: str, chat: ChatRequest
) -> AsyncIterator[bytes]:
    """Yield an answer's events; a client that reads no more ends it."""
    frame = _frame(chat.model, "chat.completion.chunk")

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _event({**frame, "choices": [choice]})

    try:
        yield chunk({"role": "assistant", "content": first})
        async for piece in thread.rest():
            yield chunk({"content": piece})
        answer = await thread.ended
        sent = answer.reply.as_sent()
        last = {key: sent[key] for key in sent if key not in ("role", "content")}
        for number, call in enumerate(last.get("tool_calls", ())):
            call["index"] = number
        if last:
            yield chunk(last)
        yield chunk({}, answer.reply.finish)
        if chat.wants_usage:
            yield _event({**frame, "choices": [], "usage": _usage(answer)})
        yield b"data: [DONE]\n\n"
    except (FilememError, OSError) as error:
        yield _event(error_body(error)[1])
    finally:
        thread.leave()


def _event(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False)
    return b"data: " + text.encode("utf-8", "backslashreplace") + b"\n\n"
