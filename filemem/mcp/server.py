"""The server: the four tools, the memories as resources, the profile as a prompt, over stdio or over HTTP.

It is made with the SDK's low-level `Server`, as the schemas and the texts are those of `Toolbox`. Over stdio it serves one user;
over HTTP each request that of its token, and nothing that a handler reaches is another's.
"""

import asyncio
import contextlib
import datetime as dt
import json
import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, BinaryIO

import anyio
import mcp_types as types
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage

from filemem.api import User
from filemem.errors import FilememError, in_words
from filemem.files.folder import Folder, StoreFolder
from filemem.mcp import greeting, resources, writing
from filemem.mcp.writing import Writing
from filemem.serve import keys, running
from filemem.text.plain import escape_controls, one_line
from filemem.tools.toolbox import LONGEST_ERROR, Toolbox, checked

LARGEST = 16_000_000  # bytes of one message
PATH = "/mcp"
ALL_SESSIONS, OF_ONE = 1000, 16  # over HTTP at a time, in all and of one user
SESSION = b"mcp-session-id"  # the header that names one
IDLE = 1800.0  # seconds after which a session ends that nobody uses
UNREAD = 16  # messages that wait to be read
BROKEN = "this is no JSON-RPC message of at most 16 MB; send one JSON object, over a pipe on a line of its own."
SESSIONS = 64  # of one user whose open files are known; the one that was used least recently begins anew
TEXT_ALONE = ("claude-code", "codex-mcp-client")  # show a model a structured result for the text, its line ends escaped
TITLES = {"grep": "Find lines", "search_files": "Search memory", "open": "Open a file", "close": "Close a file"}
_TEXT = {"type": "string"}
RESULT = {  # of every tool but those of CONNECTOR
    "type": "object",
    "properties": {
        "answer": {**_TEXT, "description": "the text of the answer"},
        "places": {"type": "array", "items": _TEXT, "description": "what it shows, as path:line"},
        "found": {"type": "integer", "description": "of a search, how many lines or passages"},
    },
    "required": ["answer"],
}
_FOUND = {"type": "object", "properties": dict.fromkeys(("id", "title", "text", "url"), _TEXT)}
CONNECTOR = {  # what ChatGPT's connectors want instead of the four
    "search": (
        *("Search memory", "Find the memories that answer a question.", writing.schema(["query"], query=_TEXT)),
        {"type": "object", "properties": {"results": {"type": "array", "items": _FOUND}}, "required": ["results"]},
    ),
    "fetch": (
        "Read a memory",
        "One memory in whole, by the id that search gave.",
        writing.schema(["id"], id=_TEXT),
        _FOUND,
    ),
}
PROFILE = types.Prompt(
    name="profile",
    title="Profile",
    description="Who this is, and how to talk to them: profile.md and the blocks beside it.",
)

Now = Callable[[], dt.datetime]


class ServedUser:
    """One user's memories as clients see them."""

    def __init__(self, folder: Folder, now: Now) -> None:
        self.folder = folder
        self.following = resources.Following(folder)
        self._now = now
        self._writing = Writing(folder)
        self._tools: dict[str, tuple[Toolbox, threading.Lock]] = {}  # of each session, for one thread at a time
        self._lock = threading.Lock()

    def call(self, session: str, name: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """What a tool answers, as `filemem call` prints it, and for programs; one that writes, in the same manner."""
        try:
            if name in CONNECTOR:
                return self._connected(name, checked(name, arguments, CONNECTOR[name][2]))
            if name in writing.TOOLS:
                answer = escape_controls(self._writing.call(name, arguments, self._now()))
                return answer, {"answer": answer}
            with self._lock:
                tools = self._tools.pop(session, None) or (Toolbox(self.folder, self._now), threading.Lock())
                self._tools[session] = toolbox, lock = tools
                for oldest in list(self._tools)[:-SESSIONS]:
                    del self._tools[oldest]
            with lock:
                answer = toolbox.call(name, arguments)
                found = {} if toolbox.hits is None else {"found": toolbox.hits}
                return answer, {"answer": answer, "places": toolbox.places, **found}
        except (FilememError, OSError) as error:
            sentence = in_words(error) if isinstance(error, OSError) else str(error)
            return f"Error: {one_line(escape_controls(sentence), LONGEST_ERROR)}", {}

    def _connected(self, name: str, known: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        if name == "search":
            found = resources.searched(User(self.folder), known["query"], self._now().date())
        else:
            found = resources.fetched(self.folder, known["id"], self._now())
        return json.dumps(found, ensure_ascii=False), found

    def profile(self) -> str:
        """Wishes, the profile and the other blocks as they stand in the prompt of a chat, these marked as data."""
        return User(self.folder).prompt_context() or f"Nothing is known of {greeting.called(self.folder.name)} yet."


class MemoryServer:
    """A server of one user, or of all who have a token; `write` offers the tools that write, `connector` ChatGPT's two instead of
    the four."""

    def __init__(self, store: StoreFolder, user: str | None, now: Now, *, write: bool, connector: bool = False) -> None:
        self._store = store
        self._user = user
        self._now = now
        self._write = write
        self._connector = connector
        self._served: dict[str, ServedUser] = {}

    def build(self) -> Server[Any]:
        """The SDK's server with its handlers, which logs nothing: a log is no place for words of clients, or for tokens."""
        logging.getLogger("mcp").setLevel(logging.CRITICAL)
        return _Server(
            "filemem",
            version=greeting.version(),
            instructions=greeting.instructions(self._user),
            lifespan=self._lifespan,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_subscribe_resource=self._subscribe,
            on_unsubscribe_resource=self._unsubscribe,
            on_subscriptions_listen=self._listen,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )

    def _whose(self) -> ServedUser:
        """The user of this request: the only one there is, or the one whose token it has."""
        token = get_access_token()
        name = self._user or (token.subject if token else None)
        if not name:
            raise MCPError(types.INVALID_REQUEST, "this request has no user; send a token.")
        if name not in self._served:
            self._served[name] = ServedUser(self._store.folder(name), self._now)
        return self._served[name]

    @contextlib.asynccontextmanager
    async def _lifespan(self, server: Server[Any]) -> AsyncIterator[dict[str, Any]]:
        async def look() -> None:
            while True:
                await asyncio.sleep(resources.EVERY)
                for served in list(self._served.values()):
                    await served.following.look()

        task = asyncio.create_task(look())
        try:
            yield {}
        finally:
            task.cancel()

    # -- tools ---------------------------------------------------------------------------------------------------

    async def _list_tools(self, context: Any, params: Any) -> types.ListToolsResult:
        if self._connector:
            tools = [_tool(name, *of[:3], writes=False, result=of[3]) for name, of in CONNECTOR.items()]
        else:
            four = (one["function"] for one in Toolbox.schemas)
            described = ((one["name"], one["description"], one["parameters"]) for one in four)
            tools = [_tool(name, TITLES[name], *more, writes=False) for name, *more in described]
        if self._write:
            tools += [_tool(name, *of, writes=name != "list_recent") for name, of in writing.TOOLS.items()]
        if _reads_text_alone(context):
            tools = [tool.model_copy(update={"output_schema": None}) for tool in tools]
        return types.ListToolsResult(tools=tools)

    async def _call_tool(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        name, result = params.name, dict[str, Any]()
        if name in writing.TOOLS and not self._write:
            answer = f"Error: writing is off; {name} needs a server that was started as filemem mcp --write."
        else:
            served, given = self._whose(), dict(params.arguments or {})
            answer, result = await asyncio.to_thread(served.call, _session(context), name, given)
        content: list[Any] = [types.TextContent(type="text", text=answer)]
        if answer.startswith("Error: "):
            return types.CallToolResult(content=content, is_error=True)
        return types.CallToolResult(content=content, structured_content=None if _reads_text_alone(context) else result)

    # -- resources -----------------------------------------------------------------------------------------------

    async def _list_resources(self, context: Any, params: Any) -> types.ListResourcesResult:
        cursor = params.cursor if params else None
        if not cursor and context.session.protocol_version in greeting.VERSIONS:  # later ones listen
            await self._whose().following.subscribe(_session(context), context)
        return await _told(asyncio.to_thread(resources.listed, self._whose().folder, cursor))

    async def _list_templates(self, context: Any, params: Any) -> types.ListResourceTemplatesResult:
        pattern = resources.uri_of(self._whose().folder, "") + "{+path}"
        found = types.ResourceTemplate(uri_template=pattern, name="memory", description="A memory by its path.")
        return types.ListResourceTemplatesResult(resource_templates=[found])

    async def _read_resource(self, context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        return await _told(asyncio.to_thread(resources.read, self._whose().folder, params.uri, self._now()))

    async def _subscribe(self, context: Any, params: types.SubscribeRequestParams) -> types.EmptyResult:
        await _told(self._whose().following.subscribe(_session(context), context, params.uri))
        return types.EmptyResult()

    async def _unsubscribe(self, context: Any, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        self._whose().following.unsubscribe(_session(context), params.uri)
        return types.EmptyResult()

    async def _listen(self, context: Any, params: types.SubscriptionsListenRequestParams) -> Any:
        return await _told(self._whose().following.listen(context, params))

    # -- prompts -------------------------------------------------------------------------------------------------

    async def _list_prompts(self, context: Any, params: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[PROFILE])

    async def _get_prompt(self, context: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name != PROFILE.name:
            raise MCPError(types.INVALID_PARAMS, f"there is no prompt {one_line(params.name, 80)!r}; there is profile.")
        text = await _told(asyncio.to_thread(self._whose().profile))
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(description=PROFILE.description, messages=[message])


class _Server(Server[Any]):
    """The SDK's, which says that it tells of changes in the list of resources."""

    def get_capabilities(self, options: Any = None, *more: Any, **how: Any) -> types.ServerCapabilities:
        return super().get_capabilities(NotificationOptions(resources_changed=True), *more, **how)


async def _told(work: Awaitable[Any]) -> Any:
    """What the work yields; a mistake becomes the protocol's error with its sentence."""
    try:
        return await work
    except FilememError as error:
        raise MCPError(types.INVALID_PARAMS, one_line(escape_controls(str(error)), LONGEST_ERROR)) from None
    except OSError as error:
        raise MCPError(types.INTERNAL_ERROR, one_line(escape_controls(in_words(error)), LONGEST_ERROR)) from None


def _reads_text_alone(context: Any) -> bool:
    client = context.session.client_params
    return client is not None and client.client_info.name in TEXT_ALONE


def _session(context: Any) -> str:
    """The session of a request over HTTP; empty over stdio, and for clients of 2026, which have none."""
    return str(context.request.headers.get("mcp-session-id", "")) if context.request else ""


def _tool(
    name: str, title: str, purpose: str, schema: dict[str, Any], *, writes: bool, result: dict[str, Any] = RESULT
) -> types.Tool:
    hints = types.ToolAnnotations(
        title=title,
        read_only_hint=not writes,
        destructive_hint=name == "forget",
        idempotent_hint=not writes or None,
        open_world_hint=False,
    )
    return types.Tool(
        name=name, title=title, description=purpose, input_schema=schema, output_schema=result, annotations=hints
    )


async def over_stdio(server: Server[Any], wire: BinaryIO, first: bytes, greeted: Any) -> None:
    """Serve the client at the other end of `wire` until it closes it, or is gone.

    `first` is the line that was read of it, `greeted` the id of that request where it has been answered, else None.
    """
    lines: Any = _lines(wire, first)
    async with stdio_server(stdin=lines) as (read, write):
        into, out = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        said, told = anyio.create_memory_object_stream[SessionMessage](0)

        async def forward() -> None:
            """Hand on what the client says; what is no message is answered, and costs nothing else."""
            async with into:
                async for message in read:
                    if isinstance(message, Exception):
                        error = types.ErrorData(code=types.PARSE_ERROR, message=BROKEN)
                        await write.send(SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=None, error=error)))
                    else:
                        await into.send(message)

        async def answer() -> None:
            """Hand on what the server says, but for the greeting that the client has."""
            waiting = greeted is not None
            async with told, write:
                async for message in told:
                    if waiting and getattr(message.message, "id", None) == greeted:
                        waiting = False
                    else:
                        await write.send(message)

        async with anyio.create_task_group() as group:
            group.start_soon(forward)
            group.start_soon(answer)
            with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, BrokenPipeError):
                await server.run(out, said, server.create_initialization_options())
            group.cancel_scope.cancel()


async def _lines(wire: BinaryIO, first: bytes) -> AsyncIterator[str]:
    """The client's lines, of which the first has begun; of one that is too long nothing. The thread that waits for them holds up
    no end of the program."""
    loop, waiting, room = asyncio.get_running_loop(), asyncio.Queue[str | None](), threading.Semaphore(UNREAD)

    def read() -> None:
        with contextlib.suppress(RuntimeError, OSError, ValueError):  # the loop has ended, or the pipe is closed
            data = first if first.endswith(b"\n") else first + wire.readline(LARGEST + 1)
            while data:
                while len(data) > LARGEST and not data.endswith(b"\n"):
                    data = b" " * LARGEST + wire.readline(LARGEST + 1)
                room.acquire()
                line = data.decode("utf-8", "replace") if len(data) <= LARGEST else ""
                loop.call_soon_threadsafe(waiting.put_nowait, line)
                data = wire.readline(LARGEST + 1)
            loop.call_soon_threadsafe(waiting.put_nowait, None)

    threading.Thread(target=read, daemon=True).start()
    while (line := await waiting.get()) is not None:
        room.release()
        yield line


class TokenCheck:
    """Whose token a request has, as the SDK asks; `only` is the one user who is served, where there is but one."""

    def __init__(self, root: str, only: str | None) -> None:
        self._root = root
        self._only = only

    async def verify_token(self, token: str) -> AccessToken | None:
        """The user of a token; None where it is nobody's, or not of those served here."""
        user = await asyncio.to_thread(keys.MCP.user_of, self._root, token)
        if user is None or user != (self._only or user):
            return None
        # What is kept of a request tells no token.
        return AccessToken(token="", client_id=user, subject=user, scopes=[])


def shared(app: Any) -> Any:
    """An application in which a user has at most OF_ONE sessions; of more, the one that was used longest ago ends."""
    sessions: dict[str, dict[bytes, None]] = {}  # of each user, that used last at the end

    async def silent(*_: Any) -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def serve(scope: Any, receive: Any, send: Any) -> None:
        asked = dict(scope)

        async def note(event: dict[str, Any]) -> None:
            if event["type"] == "http.response.start" and event["status"] < 300:
                session = dict(event["headers"]).get(SESSION, b"")
                mine = sessions.setdefault(scope["user"].username, {})
                mine.pop(session, None)
                if session and asked["method"] != "DELETE":
                    mine[session] = None
                for oldest in list(mine)[:-OF_ONE]:
                    del mine[oldest]
                    headers = [*(pair for pair in asked["headers"] if pair[0] != SESSION), (SESSION, oldest)]
                    await app({**asked, "method": "DELETE", "headers": headers}, silent, silent)
            await send(event)

        await app(scope, receive, note)

    return serve


def over_http(
    server: Server[Any], root: str, only: str | None, host: str, port: int, told: Callable[[str], None]
) -> None:
    """Serve at `host` and `port` (0: any that is free) until a signal ends it; `told` hears the address."""
    with running.bound(host, port) as (listening, where):
        app = server.streamable_http_app(
            streamable_http_path=PATH,
            max_request_body_size=LARGEST,
            session_idle_timeout=IDLE,
            max_sessions=ALL_SESSIONS,
            host=host,
            auth=AuthSettings(issuer_url=where, resource_server_url=None),
            token_verifier=TokenCheck(root, only),
        )
        told(where + PATH)
        running.server(shared(app)).run(sockets=[listening])
