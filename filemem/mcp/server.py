"""The server for agents that speak the Model Context Protocol: one dispatcher.

The protocol is JSON-RPC of five methods, spoken here over a pipe and in `http` over
HTTP, so that nothing needs to be installed for it. Since its revision of 2026-07-28
each message says itself which revision it speaks; of the greeting of the older ones
only the revision is kept, over a pipe, as one of them has batches.
"""

import contextlib
import datetime as dt
import importlib.metadata
import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from filemem.errors import FilememError, in_words
from filemem.importers.base import dig
from filemem.learn.background import start_in_passing
from filemem.learn.sessions import PAUSE, display
from filemem.mcp import writing
from filemem.overview.briefing import briefing
from filemem.store.folder import Folder
from filemem.text.plain import escape_controls, one_line
from filemem.tools.toolbox import LONGEST_ERROR, Toolbox

GREETED = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]  # older revisions
REVISION = "2026-07-28"
BATCHING = "2025-03-26"  # the one revision that has batches
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
SERVER_KEY = "io.modelcontextprotocol/serverInfo"
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022
CAPABILITIES = {"tools": {"listChanged": False}}
CACHING = {"ttlMs": 3_600_000, "cacheScope": "private"}
BROKEN = "this is no JSON-RPC message; send one JSON object, over a pipe on one line."
INSTRUCTIONS = Path(__file__).parents[1] / "prompts/mcp.md"
Message = dict[str, Any]


class ProtocolError(Exception):
    """A message that cannot be answered.

    Args:
        code: JSON-RPC's number.
        sentence: what is wrong.
        data: what else a client may read.
    """

    def __init__(self, code: int, sentence: str, data: Message | None = None) -> None:
        super().__init__(sentence)
        self.code = code
        self.data = data


@dataclass(frozen=True)
class Call:
    """A message that wants an answer; `version` is empty in the older revisions."""

    id: str | int
    method: str
    params: Message
    version: str


class Dispatcher:
    """Answers messages about one user's memories, from any number of clients.

    Args:
        folder: the user's memories.
        now: returns the moment of a call, with its zone.
        write: offer the tools that write, too.
    """

    def __init__(
        self, folder: Folder, now: Callable[[], dt.datetime], *, write: bool
    ) -> None:
        self._folder = folder
        self._now = now
        self._toolbox = Toolbox(folder, now, briefing)
        self._turn = threading.Lock()
        self._greeted = ""  # the revision in which the client of a pipe was greeted
        self._writes = write
        self._next_look = 0.0  # for what has ended, by the process's clock

    def answer(
        self, data: bytes, headers: Mapping[str, str] | None = None
    ) -> Message | list[Message] | None:
        """Return the answer to a message, or to each of a batch; None if none is due.

        Args:
            data: the message.
            headers: those of HTTP, which must name the same version and method; None
                over a pipe.
        """
        try:
            given = json.loads(data)
            json.dumps(given, ensure_ascii=False).encode()  # raises for half a sign
        except (ValueError, RecursionError):
            return failed(ProtocolError(PARSE_ERROR, BROKEN))
        if not (isinstance(given, list) and given and self._takes_batches(headers)):
            return self._answer_one(given, headers)
        answers = [self._answer_one(one, headers) for one in given]
        return [answer for answer in answers if answer] or None

    def _takes_batches(self, headers: Mapping[str, str] | None) -> bool:
        """Return whether the client speaks the revision that has batches.

        Over HTTP its messages name no revision, those of later ones do.
        """
        if headers is None:
            return self._greeted == BATCHING
        return headers.get("mcp-protocol-version", BATCHING) == BATCHING

    def _answer_one(
        self, given: Any, headers: Mapping[str, str] | None
    ) -> Message | None:
        """Return the answer to one message; None to one that wants none."""
        id = None
        try:
            call = _parse(given)
            if call is None:
                return None
            id = call.id
            _check(call, headers)
            result = self._result(call)
        except ProtocolError as error:
            return failed(error, id)
        except (FilememError, OSError) as error:
            return failed(ProtocolError(INVALID_PARAMS, in_words(error)), id)
        if call.version:
            result = {"resultType": "complete", "_meta": _server_info(), **result}
        return {"jsonrpc": "2.0", "id": id, "result": result}

    def _result(self, call: Call) -> Message:
        """Return the result of a call.

        Raises:
            ProtocolError: there is no such method, or its parameters are wrong.
        """
        match call.method:
            case "initialize":
                return self._greeting(call.params)
            case "server/discover":
                versions = [*GREETED, REVISION]
                return {"supportedVersions": versions, **self._offer(), **CACHING}
            case "ping":
                return {}
            case "tools/list":
                schemas = list(Toolbox.schemas)
                if self._writes:
                    schemas += writing.SCHEMAS
                return {"tools": list(map(_tool, schemas)), **CACHING}
            case "tools/call":
                return self._call(call.params)
        method = one_line(call.method, 80)
        raise ProtocolError(METHOD_NOT_FOUND, f"there is no method {method!r}.")

    def _greeting(self, params: Message) -> Message:
        """Greet a client in the older revision that it speaks, else in the newest."""
        version = params.get("protocolVersion")
        if version not in GREETED:
            version = GREETED[-1]
        self._greeted = version
        server = _server_info()[SERVER_KEY]
        return {"protocolVersion": version, "serverInfo": server, **self._offer()}

    def _offer(self) -> Message:
        """Return what the server can do, and how its tools are to be used."""
        name = display(self._folder.person)
        text = INSTRUCTIONS.read_text("utf-8").replace("{name}", name)
        return {"capabilities": CAPABILITIES, "instructions": text.strip()}

    def _call(self, params: Message) -> Message:
        """Call a tool; a mistake is an answer too, for the model to read."""
        name = params.get("name")
        if not isinstance(name, str):
            raise ProtocolError(INVALID_PARAMS, "params must have name, a text.")
        with self._turn:
            text = self._called(name, params.get("arguments") or {})
            self._have_read()
        content = [{"type": "text", "text": text}]
        return {"content": content, "isError": text.startswith("Error: ")}

    def _have_read(self) -> None:
        """Have what has ended read in the background; look for it once a PAUSE."""
        clock = time.monotonic()
        if clock >= self._next_look:
            self._next_look = clock + PAUSE.total_seconds()
            start_in_passing(self._folder, self._now())

    def _called(self, name: str, arguments: Any) -> str:
        """Return the answer of a tool; `Error: …` for a call that is wrong."""
        if name not in writing.PARAMETERS or not self._writes:
            return self._toolbox.call(name, arguments)
        try:
            done = writing.write(self._folder, name, arguments, self._now())
            return escape_controls(done)
        except (FilememError, OSError) as error:
            return f"Error: {_sentence(in_words(error))}"


def failed(error: ProtocolError, id: str | int | None = None) -> Message:
    """Return an error as JSON-RPC has it."""
    told: Message = {"code": error.code, "message": _sentence(str(error))}
    if error.data is not None:
        told["data"] = error.data
    return {"jsonrpc": "2.0", "id": id, "error": told}


def serve_pipe(dispatcher: Dispatcher, wire: BinaryIO, out: BinaryIO) -> None:
    """Answer each line of `wire` until the client closes it, or is gone."""
    with contextlib.suppress(BrokenPipeError):
        for line in wire:
            answer = dispatcher.answer(line) if line.strip() else None
            if answer is not None:
                out.write(json.dumps(answer).encode() + b"\n")
                out.flush()


def _parse(given: Any) -> Call | None:
    """Return the call in a message; None for a notification or somebody's answer.

    Raises:
        ProtocolError: it is no single message.
    """
    if not isinstance(given, dict) or given.get("jsonrpc") != "2.0":
        raise ProtocolError(INVALID_REQUEST, BROKEN)
    method = given.get("method")
    is_answer = method is None and given.keys() & {"result", "error"}
    if is_answer or "id" not in given:
        return None
    if not isinstance(method, str) or not isinstance(given["id"], str | int):
        raise ProtocolError(INVALID_REQUEST, BROKEN)
    params = given.get("params") or {}
    version = dig(params, "_meta", VERSION_KEY)
    return Call(given["id"], method, params, str(version or ""))


def _check(call: Call, headers: Mapping[str, str] | None) -> None:
    """Refuse a call that this server cannot take as it is.

    Args:
        call: the call.
        headers: those of HTTP; None over a pipe.

    Raises:
        ProtocolError: it is of another revision, or its headers say otherwise.
    """
    if not isinstance(call.params, dict):
        raise ProtocolError(INVALID_PARAMS, "params must be an object.")
    if not call.version:
        return
    if CAPABILITIES_KEY not in call.params["_meta"]:
        raise ProtocolError(INVALID_PARAMS, f"_meta must have {CAPABILITIES_KEY}.")
    if headers is not None:
        told = (headers.get("mcp-protocol-version"), headers.get("mcp-method"))
        if told != (call.version, call.method):
            sentence = "the headers name another version or method than the message."
            raise ProtocolError(HEADER_MISMATCH, sentence)
    if call.version != REVISION:
        data = {"supported": [REVISION], "requested": call.version}
        sentence = f"the version {one_line(call.version, 40)} is not supported."
        raise ProtocolError(UNSUPPORTED_VERSION, sentence, data)


def _tool(schema: Message) -> Message:
    """Return a tool as the protocol describes it."""
    function = schema["function"]
    name = function["name"]
    hints = {
        "readOnlyHint": name not in writing.PARAMETERS,
        "destructiveHint": name == "forget",
        "openWorldHint": False,
    }
    return {
        "name": name,
        "description": function["description"],
        "inputSchema": function["parameters"],
        "annotations": hints,
    }


def _server_info() -> Message:
    """Return the name and version of this program, as the protocol has them."""
    version = importlib.metadata.version("filemem")
    return {SERVER_KEY: {"name": "filemem", "version": version}}


def _sentence(text: str) -> str:
    """Return what went wrong on one line, that no terminal obeys."""
    return one_line(escape_controls(text), LONGEST_ERROR)
