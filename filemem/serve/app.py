"""The endpoint: who asks, within which limits; an answer as it comes, or in one piece; errors as OpenAI has them.

A model, and whoever writes files, work in threads: a slow or dying client or model holds up nobody but itself.
"""

import asyncio
import datetime as dt
import itertools
import threading
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
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from filemem import overview
from filemem.chat import Event, Notice, Text, ToolCalled, cited
from filemem.errors import Busy, FilememError
from filemem.files.folder import StoreFolder
from filemem.llm.client import OpenAIModel
from filemem.llm.model import Model, ModelError
from filemem.serve import running, wire
from filemem.serve.chats import Chats, Stopped
from filemem.serve.running import BadRequest
from filemem.serve.wire import ChatRequest, Completion, Finished, Form

NAME = "filemem"  # of the model that clients choose
LARGEST = 20_000_000  # bytes of a request
LONGEST = 600.0  # seconds from a request to the end of its answer
MOST, MOST_OF_ONE = 64, 8  # answers under way, in all and of one user
USERS_AT_HAND = 500  # whose index is kept in memory; that of who asked longest ago is read anew from its file
DETAILS = "x-filemem-details"
FORMS: dict[str, Callable[..., Form]] = {
    "/v1/chat/completions": Completion,
    "/v1/responses": wire.Response,
}
PROGRAM = "x-filemem-program"  # says of a prompt that it is a program's and no person's
Log = Callable[[str], None]


class Service:
    """A store's endpoint. `open_to` is the user whose memories need no key, where there is one; `origins` are the other sites
    whose pages may ask.

    `chats` makes the chats of a user, `log` gets a line a request: whose, how it ended, how long it took.
    """

    def __init__(
        self,
        store: StoreFolder,
        chats: Callable[[str], Chats],
        model: str,
        log: Log,
        open_to: str = "",
        origins: Sequence[str] = (),
    ) -> None:
        self._store = store
        self._make = chats
        self._names = list(dict.fromkeys([NAME, model]))
        self._log = log
        self._open_to = open_to
        self._origins = [
            origin.rstrip("/") for origin in origins
        ]  # as a browser says it
        self._threads = ThreadPoolExecutor(MOST, "answer")
        self._chats: dict[str, Chats] = {}
        self._under_way: Counter[str] = Counter()

    def app(self) -> Starlette:
        """The application for a server."""
        pages = Middleware(
            CORSMiddleware,
            allow_origins=self._origins,
            allow_methods=["*"],
            allow_headers=["*"],
        )
        return Starlette(
            middleware=[pages] if self._origins else [],
            routes=[
                Route("/", self._page),
                Route("/healthz", self._health),
                Route("/v1/models", self._models),
                Route("/v1/models/{name:path}", self._one_model),
                *(Route(path, self._answered, methods=["POST"]) for path in FORMS),
            ],
            exception_handlers=dict.fromkeys(
                (FilememError, OSError, HTTPException, Stopped, Exception), self._failed
            ),
        )

    # -- what is asked -------------------------------------------------------------------------------------------

    async def _health(self, request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def _page(self, request: Request) -> Response:
        user = self._store.folder(await self._user(request))
        return HTMLResponse(
            (
                await asyncio.to_thread(
                    overview.page, user, dt.datetime.now().astimezone()
                )
            )[0]
        )

    async def _models(self, request: Request) -> Response:
        await self._user(request)
        return JSONResponse(
            {"object": "list", "data": [_model(name) for name in self._names]}
        )

    async def _one_model(self, request: Request) -> Response:
        await self._user(request)
        return JSONResponse(_model(self._known(request.path_params["name"])))

    async def _answered(self, request: Request) -> Response:
        user, form = await self._user(request), FORMS[request.url.path]
        asked = wire.parsed(
            await running.read_body(request, LARGEST), response=form is wire.Response
        )
        began, model = time.monotonic(), self._known(asked.model)
        if request.headers.get(PROGRAM):
            asked = asked._replace(program=True)
        answer = _UnderWay(request, asked, form(asked, model))
        self._begin(user, answer)
        answer.ended.add_done_callback(
            lambda _: self._log(
                f"{user}: {answer.outcome}, {time.monotonic() - began:.1f} s"
            )
        )
        return await answer.response()

    def _known(self, name: str) -> str:
        if name not in self._names:
            raise BadRequest(
                404,
                f"there is no model {name[:80]!r} here; take {NAME}.",
                "model_not_found",
            )
        return name

    async def _user(self, request: Request) -> str:
        """Return whose memories the request may see; raises BadRequest if nobody's."""
        try:
            return await running.find_user(request, self._store.root)
        except BadRequest as error:
            if error.status != 401 or not self._open_to:
                self._log(f"refused: {error}")
                raise
        running.check_local(request, tuple(self._origins))
        return self._open_to

    def _begin(self, user: str, answer: "_UnderWay") -> None:
        """Let a thread answer; raises BadRequest if too many are busy."""
        if self._under_way[user] >= MOST_OF_ONE or self._under_way.total() >= MOST:
            self._log(f"{user}: refused, too many answers are under way")
            raise BadRequest(
                429,
                "too many answers are under way; try again in a moment.",
                "rate_limit_exceeded",
            )
        self._chats[user] = (
            self._chats.pop(user) if user in self._chats else self._make(user)
        )
        for oldest in list(self._chats)[:-USERS_AT_HAND]:
            del self._chats[oldest]
        self._under_way[user] += 1
        answer.start(self._threads, self._chats[user])
        answer.ended.add_done_callback(lambda _: self._under_way.subtract([user]))

    # -- what went wrong -----------------------------------------------------------------------------------------

    async def _failed(self, request: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException):
            what = f"{request.method} {request.url.path[:80]} is not known"
            error = BadRequest(
                error.status_code,
                f"{what}; here are /v1/models, {', '.join(FORMS)} and /healthz.",
            )
        status, sentence, code = client_error(error)
        if status == 500:
            self._log(f"error: {error}")
        headers = (
            {"x-should-retry": "false"}
            if status >= 500
            else {"retry-after": "1"}
            if status == 429
            else {}
        )
        if status in (408, 413):
            headers["connection"] = "close"
        return JSONResponse(wire.error(status, sentence, code), status, headers)


def client_error(error: BaseException) -> tuple[int, str, str | None]:
    """An error as a client may see it, without what belongs in the server's own log."""
    match error:
        case BadRequest():
            return error.status, str(error), error.code
        case ModelError():
            return 502, str(error), "model_error"
        case Busy():
            return 503, str(error), None
        case FilememError():
            return 500, str(error), None
        case Stopped():
            return 499, "the client left.", None
        case TimeoutError():
            return 504, "the answer took too long; what came of it is kept.", None
    return (
        500,
        "the server failed; its log says why, and what was said before is kept.",
        None,
    )


class _UnderWay:
    """One answer under way: a thread that makes it, a client that may leave."""

    def __init__(self, request: Request, asked: ChatRequest, form: Form) -> None:
        self._request = request
        self._asked = asked
        self._form = form
        self._end = time.monotonic() + LONGEST
        self._events: asyncio.Queue[Event | None] = asyncio.Queue()
        self._stop = threading.Event()
        self._asking: Model | None = None
        self._called: list[dict[str, Any]] = []
        self._notices: list[str] = []
        self.ended: asyncio.Future[Finished]
        self.outcome = "answered"

    def start(self, threads: ThreadPoolExecutor, chats: Chats) -> None:
        """Start the thread that makes the answer."""
        loop = asyncio.get_running_loop()

        def listen(event: Event) -> None:
            if self._stop.is_set():
                raise Stopped
            loop.call_soon_threadsafe(self._events.put_nowait, event)

        def begun(model: Model) -> None:
            self._asking = model

        self.ended = loop.run_in_executor(
            threads, chats.answer, self._asked, self._stop, listen, begun
        )
        self.ended.add_done_callback(lambda _: self._events.put_nowait(None))
        self.ended.add_done_callback(self._note)

    def _note(self, ended: "asyncio.Future[Finished]") -> None:
        error = None if ended.cancelled() else ended.exception()
        if error is not None and self.outcome == "answered":
            told = (
                client_error(error)[1]
                if isinstance(error, FilememError)
                else repr(error)
            )
            self.outcome = f"failed ({told})"

    def _hang_up(self, why: str) -> None:
        """Stop the thread and the model, as nobody waits for them any more."""
        if not self.ended.done():
            self.outcome = why
            self._stop.set()
            if isinstance(self._asking, OpenAIModel):
                self._asking.hang_up()

    async def response(self) -> Response:
        """The answer in the form that the client wants; raises what kept it from coming."""
        pieces = self._pieces()
        left = asyncio.ensure_future(self._left())
        try:
            first = await anext(
                pieces, ""
            )  # so that an error before the first word is no stream
            if not self._asked.stream:
                async for _ in pieces:
                    pass
        finally:
            left.cancel()
        if self._asked.stream:
            return StreamingResponse(
                self._stream(first, pieces), media_type="text/event-stream"
            )
        done = await self.ended
        return JSONResponse(self._form.whole(done, self._details(done)))

    async def _left(self) -> None:
        """Wait until the client leaves, then hang up."""
        while (await self._request.receive())["type"] != "http.disconnect":
            pass
        self._hang_up("the client left")

    async def _pieces(self) -> AsyncIterator[str]:
        """The answer's text as it comes; raises what ended it. Whoever stops reading hangs up."""
        try:
            while (
                event := await asyncio.wait_for(
                    self._events.get(), self._end - time.monotonic()
                )
            ) is not None:
                match event:
                    case Text():
                        yield event.text
                    case ToolCalled():
                        self._called.append(
                            {
                                "name": event.name,
                                "arguments": event.arguments,
                                "answer": event.brief,
                            }
                        )
                    case Notice():
                        self._notices.append(event.text)
            await self.ended
        except TimeoutError:
            self._hang_up("took too long")
            raise
        finally:
            self._hang_up("the client left")

    async def _stream(
        self, first: str, rest: AsyncIterator[str]
    ) -> AsyncIterator[bytes]:
        try:
            for event in itertools.chain(
                self._form.begin(), self._form.piece(first) if first else ()
            ):
                yield event
            async for piece in rest:
                for event in self._form.piece(piece):
                    yield event
            done = await self.ended
            for event in self._form.end(done, self._details(done)):
                yield event
        except (FilememError, OSError, TimeoutError) as error:
            yield self._form.failed(wire.error(*client_error(error)))
        finally:
            self._hang_up("the client left")

    def _details(self, done: Finished) -> dict[str, Any]:
        """What the header asks for: where it is kept, what was looked up, what is cited."""
        if not self._request.headers.get(DETAILS):
            return {}
        details = {
            "session": done.session,
            "calls": self._called,
            "citations": cited(done.text),
        }
        return {"filemem": {**details, "notices": self._notices}}


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "filemem"}
