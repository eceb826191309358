"""An OpenAI-compatible endpoint on loopback that answers by a script, for tests over real HTTP.

    with ScriptedServer(calls(("grep", {"pattern": "tea"})), say("Oolong.")) as server:
        model = OpenAIModel("test", server.base_url)
        ...
        assert server.requests[1].body["messages"][-1]["role"] == "tool"

Each request takes the next step of the script:

    say("Hello ", "world")              text, streamed in these pieces (one long piece is cut up)
    calls(("grep", {...}), ...)         tool calls; arguments as a mapping, or as the raw text to send (malformed, say)
    deltas({...}, ...)                  stream deltas exactly as given
    fail(429, "slow down", retry_after=0, code=...)   an HTTP error in OpenAI's shape
    cut("Hel", ...)                     the connection breaks after this text (before any answer without text)
    cut("Hel", cleanly=True)            the stream ends properly, yet without a finish reason
    hang("Hel", ...)                    silence after this text, until the client hangs up or the test is over
    raw(b"...", content_type=...)       any body
    flood(STREAM, b"...", pause=...)    these bytes, headers and all, then others again and again, without end
    sent_on(url, status=307)            a redirect
    a function of the request's body that returns one of these

`server.script(*steps)` adds steps later; `server.default` answers when the script has run out. `server.refuses` is a
set of request fields ("tools", "stream", "stream_options") that are answered with 400 without taking a step;
`server.plain = True` answers a request for a stream with one JSON completion; `server.vector`, from a text to a list of
numbers, answers those for embeddings, which take no step. `server.requests` records every request;
`server.forget()` starts afresh; `server.hung_up` is set once a client has closed the connection during `hang` or `flood`.

The bytes of a stream are sent in slices of seven, so that characters are split between network chunks.
"""

import contextlib
import json
import select
import socket
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self

Usage = tuple[int, int] | None  # tokens in, tokens out

SLICE = 7  # bytes of a network chunk
PIECE = 5  # characters of a delta where a step leaves it open


class Request(NamedTuple):
    """What a client sent: the path, the headers by lower-case name, the JSON body.

    `port` is that of the connection.
    """

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    port: int = 0


class Step(NamedTuple):
    """One answer of the script; made by the functions below."""

    deltas: tuple[dict[str, Any], ...] = ()
    message: dict[str, Any] = {}
    finish: str | None = "stop"
    usage: Usage = None
    end: str = "done"  # or "cut", "quiet", "hang", "flood"
    status: int = 200
    body: bytes | None = None
    headers: dict[str, str] = {}
    piece: bytes = b""  # of a flood
    pause: float = 0.0


Answer = Step | Callable[[dict[str, Any]], Step]


def pieces_of(data: Any, size: int) -> list[Any]:
    """Cut a text or bytes into pieces of a size."""
    return [data[at : at + size] for at in range(0, len(data), size)]


def say(
    *pieces: str,
    finish: str | None = "stop",
    usage: Usage = (100, 10),
    end: str = "done",
) -> Step:
    """Text, one delta a piece; `usage` is None for an endpoint that reports none."""
    text = "".join(pieces)
    parts = pieces_of(text, PIECE) if len(pieces) == 1 else pieces
    deltas = tuple({"content": part} for part in parts)
    message = {"role": "assistant", "content": text}
    return Step(deltas, message, finish, usage, end)


def calls(*wanted: tuple[str, Any], text: str = "", usage: Usage = (100, 10)) -> Step:
    """Tool calls in one step, each (name, arguments), behind a text.

    Their ids are call_a, call_b, …
    """
    whole = []
    parts = [*say(text).deltas]
    for index, (name, given) in enumerate(wanted):
        arguments = given
        if not isinstance(given, str):
            arguments = json.dumps(given, ensure_ascii=False)
        call = {
            "id": f"call_{chr(97 + index)}",
            "type": "function",
        }
        whole.append({**call, "function": {"name": name, "arguments": arguments}})
        told = [{**call, "function": {"name": name, "arguments": ""}}]
        for piece in pieces_of(arguments, PIECE):
            told.append({"function": {"arguments": piece}})
        parts += [{"tool_calls": [{**one, "index": index}]} for one in told]
    message = {
        "role": "assistant",
        "content": text or None,
        "tool_calls": whole,
    }
    return Step(tuple(parts), message, "tool_calls", usage)


def deltas(
    *parts: dict[str, Any], finish: str | None = "stop", usage: Usage = None
) -> Step:
    """Stream deltas exactly as given."""
    return Step(parts, {"role": "assistant", "content": ""}, finish, usage)


def fail(
    status: int, message: str = "", retry_after: object = None, code: str | None = None
) -> Step:
    """An HTTP error in OpenAI's shape."""
    error = {
        "message": message,
        "type": "error",
        "param": None,
        "code": code,
    }
    headers = {}
    if retry_after is not None:
        headers["Retry-After"] = str(retry_after)
    body = json.dumps({"error": error}).encode()
    return Step(status=status, body=body, headers=headers)


def cut(*pieces: str, cleanly: bool = False) -> Step:
    """A stream that ends in the middle."""
    end = "quiet" if cleanly else "cut"
    return say(*pieces or ("",), finish=None, usage=None, end=end)


def hang(*pieces: str) -> Step:
    """Silence after this text; without text even the headers do not come."""
    return say(*pieces or ("",), finish=None, usage=None, end="hang")


def flood(begin: bytes, piece: bytes, pause: float = 0.0) -> Step:
    """An answer, headers and all, that goes on with a piece until the client hangs up.

    Between two there is a `pause` in seconds.
    """
    return Step(body=begin, piece=piece, pause=pause, end="flood")


STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"


def sent_on(url: str, status: int = 307) -> Step:
    """A redirect."""
    return Step(status=status, body=b"", headers={"Location": url})


def raw(
    body: bytes, content_type: str = "text/event-stream", status: int = 200
) -> Step:
    """Any body at all."""
    return Step(status=status, body=body, headers={"Content-Type": content_type})


class ScriptedServer(ThreadingHTTPServer):
    """The endpoint: it listens on a free port of 127.0.0.1 while it is entered."""

    def __init__(self, *steps: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.base_url = f"http://127.0.0.1:{self.server_port}/v1"
        self.requests: list[Request] = []
        self.refuses: set[str] = set()
        self.plain = False
        self.vector: Callable[[str], Any] | None = None
        self.default: Answer = fail(400, "the script has run out")
        self.hung_up = threading.Event()
        self._steps = deque(steps)
        self._open: set[socket.socket] = set()
        self._thread = threading.Thread(target=self.serve_forever, args=(0.01,))

    @property
    def environment(self) -> dict[str, str]:
        """What has filemem talk with this endpoint."""
        return {
            "OPENAI_BASE_URL": self.base_url,
            "OPENAI_API_KEY": "sk-test",
            "FILEMEM_MODEL": "gpt-x",
        }

    def script(self, *steps: Answer) -> None:
        """Add steps to the script."""
        self._steps.extend(steps)

    def forget(self) -> None:
        """Drop what is left of the script, and the requests so far."""
        self._steps.clear()
        self.requests.clear()

    def answer(self, path: str, body: dict[str, Any]) -> Step:
        """The answer to a request; one for embeddings takes no step."""
        if path == "/v1/embeddings" and self.vector:
            vectors = map(self.vector, body["input"])
            found = [{"index": n, "embedding": one} for n, one in enumerate(vectors)]
            return raw(json.dumps({"data": found}).encode(), "application/json")
        if path != "/v1/chat/completions":
            return raw(b'{"detail": "Not Found"}', "application/json", 404)
        for field in sorted(self.refuses & body.keys()):
            return fail(400, f"{field} is not supported by this endpoint")
        step = self._steps.popleft() if self._steps else self.default
        return step(body) if callable(step) else step

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.shutdown()
        self._thread.join()
        for connection in list(self._open):
            hang_up(connection)
        self.server_close()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        # Some tests have the client hang up.
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def hang_up(connection: socket.socket) -> None:
    """Close a connection at once, whoever is waiting on it."""
    with suppress(OSError):  # the client may have been faster
        connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: ScriptedServer

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(length))
        headers = {name.lower(): value for name, value in self.headers.items()}
        port = self.client_address[1]
        self.server.requests.append(Request(self.path, headers, body, port))
        step = self.server.answer(self.path, body)
        try:
            if step.end == "flood":
                self._flood(step)
            elif step.body is not None:
                self._send(step.status, step.body, step.headers)
            elif step.end != "done" and not step.deltas:
                self._end(step)
            elif body.get("stream") and not self.server.plain:
                self._stream(step, body.get("stream_options", {}))
            else:
                choice = {
                    "index": 0,
                    "message": step.message,
                    "finish_reason": step.finish,
                }
                whole = _frame("chat.completion", step.usage, choice)
                self._send(200, whole.encode(), {})
        except ConnectionError:
            self.close_connection = True  # the client hung up, as some tests have it do

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        usual = {
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
        }
        for name, value in {**usual, **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, step: Step, options: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in _events(step, bool(options.get("include_usage"))):
            # Half a character as JSON's \\ud83c.
            data = f"data: {event}\n\n".encode("utf-8", "backslashreplace")
            for part in pieces_of(data, SLICE):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        if step.end in ("done", "quiet"):
            self.wfile.write(b"0\r\n\r\n")
        self._end(step)

    def _flood(self, step: Step) -> None:
        self.close_connection = True
        try:
            self.wfile.write(step.body or b"")
            while not select.select([self.connection], [], [], step.pause)[0]:
                self.wfile.write(step.piece)
        finally:
            self.server.hung_up.set()

    def _end(self, step: Step) -> None:
        if step.end == "hang":
            heard = b""
            with contextlib.suppress(ConnectionError):  # it had not read all
                heard = self.connection.recv(1)
            if not heard:
                self.server.hung_up.set()
        if step.end in ("hang", "cut"):
            hang_up(self.connection)
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        pass


_FIRST: dict[str, Any] = {"role": "assistant", "content": ""}
"""What a stream begins with."""


def _events(step: Step, counted: bool) -> Iterator[str]:
    """The data of each event of a stream."""
    kind = "chat.completion.chunk"
    choices = [{"delta": delta} for delta in (_FIRST, *step.deltas)]
    if step.finish:
        choices.append({"delta": {}, "finish_reason": step.finish})
    for choice in choices:
        usual = {
            "index": 0,
            "finish_reason": None,
        }
        yield _frame(kind, None, {**usual, **choice})
    if counted and step.usage:
        yield _frame(kind, step.usage)
    if step.end == "done":
        yield "[DONE]"


def _frame(kind: str, usage: Usage, *choices: dict[str, Any]) -> str:
    """A completion, or a part of one, as an endpoint sends it."""
    frame: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": kind,
        "created": 1,
        "model": "scripted",
        "choices": choices,
    }
    if usage:
        frame["usage"] = {
            "prompt_tokens": usage[0],
            "completion_tokens": usage[1],
            "total_tokens": sum(usage),
        }
    return json.dumps(frame, ensure_ascii=False)


if __name__ == "__main__":
    with ScriptedServer() as endpoint:
        endpoint.default = say("The scripted server says the same to everyone.")
        print(f"OPENAI_BASE_URL={endpoint.base_url}", flush=True)
        threading.Event().wait()
