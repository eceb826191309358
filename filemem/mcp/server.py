"""The server: the four tools, the memories as resources, the profile as a prompt, in the Model Context Protocol's messages.

The protocol is JSON-RPC of eleven methods, spoken here over a pipe and in `http` over HTTP, so that nothing needs to be installed
for it and the first answer waits for no package. Every client has one user, and nothing that it reaches is another's.
"""

import datetime as dt
import importlib.metadata
import json
import threading
from collections.abc import Callable, Iterator
from importlib import resources as files
from typing import Any, BinaryIO

from filemem.api import User
from filemem.errors import FilememError, in_words
from filemem.files.folder import Folder, StoreFolder
from filemem.mcp import resources, writing
from filemem.mcp.writing import Writing
from filemem.remembering.sessions import display
from filemem.text.plain import escape_controls, one_line
from filemem.tools.toolbox import LONGEST_ERROR, Toolbox, checked

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")  # of the protocol
LARGEST = 16_000_000  # bytes of one message
BROKEN = "this is no JSON-RPC message of at most 16 MB; send one JSON object, over a pipe on a line of its own."
PARSE, METHOD, PARAMS, INTERNAL = -32700, -32601, -32602, -32603  # errors of JSON-RPC
TEXT_ALONE = (
    "claude-code",
    "codex-mcp-client",
)  # show a model a structured result for the text, its line ends escaped
TITLES = {
    "grep": "Find lines",
    "search_files": "Search memory",
    "open": "Open a file",
    "close": "Close a file",
}
CAPABILITIES = {
    "prompts": {"listChanged": False},
    "resources": {"listChanged": True, "subscribe": True},
    "tools": {"listChanged": False},
}
_TEXT = {"type": "string"}
RESULT = {  # of every tool but those of CONNECTOR
    "type": "object",
    "properties": {
        "answer": {**_TEXT, "description": "the text of the answer"},
        "places": {
            "type": "array",
            "items": _TEXT,
            "description": "what it shows, as path:line",
        },
        "found": {
            "type": "integer",
            "description": "of a search, how many lines or passages",
        },
    },
    "required": ["answer"],
}
_FOUND = {
    "type": "object",
    "properties": dict.fromkeys(("id", "title", "text", "url"), _TEXT),
}
CONNECTOR = {  # what ChatGPT's connectors want instead of the four
    "search": (
        *(
            "Search memory",
            "Find the memories that answer a question.",
            writing.schema(["query"], query=_TEXT),
        ),
        {
            "type": "object",
            "properties": {"results": {"type": "array", "items": _FOUND}},
            "required": ["results"],
        },
    ),
    "fetch": (
        "Read a memory",
        "One memory in whole, by the id that search gave.",
        writing.schema(["id"], id=_TEXT),
        _FOUND,
    ),
}
PROFILE = {
    "name": "profile",
    "title": "Profile",
    "description": "Who this is, and how to talk to them: profile.md.",
}
Message = dict[str, Any]


class _NotAsked(Exception):
    """What a message asks for is not there, or not said as it must be: JSON-RPC's number and a sentence."""


class ServedUser:
    """One user's memories as all clients see them; `write` offers tools that write, `connector` ChatGPT's instead of the four."""

    def __init__(
        self,
        folder: Folder,
        now: Callable[[], dt.datetime],
        *,
        write: bool,
        connector: bool = False,
    ) -> None:
        self.folder = folder
        self.now = now
        self.write = write
        self.connector = connector
        self.following = resources.Following(folder)
        self.writing = Writing(folder)


class ServedClient:
    """A client's session: what it says is answered, one message after the other; `tell` brings it what it did not ask for."""

    def __init__(self, served: ServedUser, tell: resources.Tell) -> None:
        self._served = served
        self._folder = served.folder
        self._tell = tell
        self._toolbox = Toolbox(served.folder, served.now)
        self._lock = threading.Lock()
        self._name = ""

    def answer(self, line: bytes) -> Message | None:
        """The answer to a message; None where there is none to give."""
        try:
            asked = json.loads(line)
            json.dumps(
                asked, ensure_ascii=False
            ).encode()  # half of a surrogate pair is no character
            id, params = asked.get("id"), asked.get("params") or {}
            method = asked.get("method") if asked["jsonrpc"] == "2.0" else None
            if "method" not in asked and {"result", "error"} & set(asked):
                return None  # an answer, which nobody has asked for
            if not isinstance(method, str) or not isinstance(id, str | int | None):
                raise ValueError
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return failed(None, PARSE, BROKEN)
        if id is None:
            return None  # a notification, such as that it is ready
        try:
            with self._lock:
                return {
                    "jsonrpc": "2.0",
                    "id": id,
                    "result": self._result(method, params),
                }
        except _NotAsked as error:
            return failed(id, *error.args)
        except FilememError as error:
            return failed(id, PARAMS, str(error))
        except OSError as error:
            return failed(id, INTERNAL, in_words(error))

    def gone(self) -> None:
        """Tell it nothing more."""
        self._served.following.unsubscribe(self._tell)

    def _result(self, method: str, params: Any) -> Message:
        if not isinstance(params, dict):
            raise _NotAsked(PARAMS, "params must be an object.")
        match method:
            case "initialize":
                return self._greeted(params)
            case "ping":
                return {}
            case "tools/list":
                return {"tools": self._tools()}
            case "tools/call":
                return self._called(
                    _word(params, "name"), params.get("arguments") or {}
                )
            case "prompts/list":
                return {"prompts": [PROFILE]}
            case "prompts/get":
                return self._prompt(_word(params, "name"))
        return self._resource(method, params)

    def _resource(self, method: str, params: Message) -> Message:
        following = self._served.following
        match method:
            case "resources/list":
                if not params.get("cursor"):
                    following.subscribe(self._tell)
                return resources.listed(self._folder, str(params.get("cursor") or ""))
            case "resources/templates/list":
                pattern = resources.uri_of(self._folder, "") + "{+path}"
                found = {
                    "uriTemplate": pattern,
                    "name": "memory",
                    "description": "A memory by its path.",
                }
                return {"resourceTemplates": [found]}
            case "resources/read":
                return resources.read(
                    self._folder, _word(params, "uri"), self._served.now()
                )
            case "resources/subscribe":
                following.subscribe(self._tell, _word(params, "uri"))
                return {}
            case "resources/unsubscribe":
                following.unsubscribe(self._tell, _word(params, "uri"))
                return {}
        raise _NotAsked(METHOD, f"there is no method {one_line(method, 80)!r}.")

    def _greeted(self, params: Message) -> Message:
        info, spoken = params.get("clientInfo"), params.get("protocolVersion")
        self._name = str(info.get("name")) if isinstance(info, dict) else ""
        told = (files.files("filemem") / "prompts" / "mcp.md").read_text(
            encoding="utf-8"
        )
        return {
            "protocolVersion": spoken if spoken in VERSIONS else VERSIONS[-1],
            "capabilities": CAPABILITIES,
            "serverInfo": {
                "name": "filemem",
                "version": importlib.metadata.version("filemem"),
            },
            "instructions": told.replace("{name}", display(self._folder.name)).strip(),
        }

    def _prompt(self, name: str) -> Message:
        """Wishes and the profile as they stand in the prompt of a chat, this marked as data."""
        if name != PROFILE["name"]:
            raise _NotAsked(
                PARAMS, f"there is no prompt {one_line(name, 80)!r}; there is profile."
            )
        text = (
            User(self._folder).prompt_context()
            or f"Nothing is known of {display(self._folder.name)} yet."
        )
        message = {"role": "user", "content": {"type": "text", "text": text}}
        return {"description": PROFILE["description"], "messages": [message]}

    def _tools(self) -> list[Message]:
        four = (one["function"] for one in Toolbox.schemas)
        described: dict[str, Any] = {
            one["name"]: (
                TITLES[one["name"]],
                one["description"],
                one["parameters"],
                RESULT,
            )
            for one in four
        }
        if self._served.connector:
            described = {**CONNECTOR}
        if self._served.write:
            described |= {name: (*of, RESULT) for name, of in writing.TOOLS.items()}
        return [self._tool(name, *of) for name, of in described.items()]

    def _tool(
        self, name: str, title: str, purpose: str, schema: Message, result: Message
    ) -> Message:
        reads = name not in writing.TOOLS or name == "list_recent"
        hints: Message = {
            "title": title,
            "readOnlyHint": reads,
            "destructiveHint": name == "forget",
        }
        hints |= {"openWorldHint": False} | ({"idempotentHint": True} if reads else {})
        tool = {
            "name": name,
            "title": title,
            "description": purpose,
            "inputSchema": schema,
            "annotations": hints,
        }
        return tool if self._name in TEXT_ALONE else {**tool, "outputSchema": result}

    def _called(self, name: str, arguments: Message) -> Message:
        """What a tool answers, as `filemem call` prints it, and for programs; a mistake is an answer too."""
        try:
            text, result = self._answered(name, arguments)
        except (FilememError, OSError) as error:
            sentence = in_words(error)
            text, result = (
                f"Error: {one_line(escape_controls(sentence), LONGEST_ERROR)}",
                {},
            )
        answer: Message = {
            "content": [{"type": "text", "text": text}],
            "isError": text.startswith("Error: "),
        }
        shown = not answer["isError"] and self._name not in TEXT_ALONE
        return {**answer, "structuredContent": result} if shown else answer

    def _answered(self, name: str, arguments: Message) -> tuple[str, Message]:
        served, at, offered = (
            self._served,
            self._served.now(),
            [tool["name"] for tool in self._tools()],
        )
        if name in writing.TOOLS and not served.write:
            raise FilememError(
                f"writing is off; {name} needs a server that was started as filemem mcp --write."
            )
        if name not in offered:
            raise FilememError(
                f"there is no tool {one_line(name)!r}; the tools are {', '.join(offered)}."
            )
        if name in writing.TOOLS:
            answer = escape_controls(served.writing.call(name, arguments, at))
            return answer, {"answer": answer}
        if name in CONNECTOR:
            known = checked(name, arguments, CONNECTOR[name][2])
            if name == "search":
                found = resources.searched(
                    User(self._folder), known["query"], at.date()
                )
            else:
                found = resources.fetched(self._folder, known["id"], at)
            return json.dumps(found, ensure_ascii=False), found
        answer = self._toolbox.call(name, arguments)
        hits = {} if self._toolbox.hits is None else {"found": self._toolbox.hits}
        return answer, {"answer": answer, "places": self._toolbox.places, **hits}


class Users:
    """The users who are served of a store; all of a user's clients share what `ServedUser` has."""

    def __init__(
        self, store: StoreFolder, now: Callable[[], dt.datetime], **offered: bool
    ) -> None:
        self._store = store
        self._now = now
        self._offered = offered
        self._served: dict[str, ServedUser] = {}

    def client(self, user: str, tell: resources.Tell) -> ServedClient:
        """A new client of a user's."""
        if user not in self._served:
            self._served[user] = ServedUser(
                self._store.folder(user), self._now, **self._offered
            )
        return ServedClient(self._served[user], tell)


def failed(id: Any, code: int, sentence: str) -> Message:
    """An error as JSON-RPC has it."""
    error = {
        "code": code,
        "message": one_line(escape_controls(sentence), LONGEST_ERROR),
    }
    return {"jsonrpc": "2.0", "id": id, "error": error}


def _word(params: Message, key: str) -> str:
    if not isinstance(params.get(key), str):
        raise _NotAsked(PARAMS, f"params must have {key}, a text.")
    return str(params[key])


def over_pipe(users: Users, user: str, wire: BinaryIO, out: BinaryIO) -> None:
    """Serve the client at the other end of `wire` until it closes it, or is gone."""
    lock = threading.Lock()

    def say(message: Message) -> None:
        with lock:
            out.write(json.dumps(message).encode() + b"\n")
            out.flush()

    def tell(message: Message) -> None:
        try:
            say(message)
        except (OSError, ValueError):  # the client is gone
            client.gone()

    client = users.client(user, tell)
    try:
        for line in _lines(wire):
            if line.strip() and (answer := client.answer(line)):
                say(answer)
    except BrokenPipeError:
        pass


def _lines(wire: BinaryIO) -> Iterator[bytes]:
    """What is said on the wire, by line; of one that is too long its beginning."""
    while line := wire.readline(LARGEST + 1):
        rest = line
        while len(rest) > LARGEST and not rest.endswith(b"\n"):
            rest = wire.readline(LARGEST + 1)
        yield line if len(line) <= LARGEST else b"too long"
