"""The official client of MCP, whatever version is installed, over a pipe and over HTTP."""

import asyncio
import contextlib
import json
import re
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from importlib import import_module, util
from pathlib import Path
from typing import Any

import pytest
from programs import COLD, clean, lay, sample

pytest.importorskip("starlette", reason="needs the extra filemem[serve]")

from test_mcp import DAY, META, NO_MESSAGES, QUESTION, message

FACT = "facts/2026/2026-03-14-prefers-oolong-tea.md"
HARBOUR = "facts/2026/2026-05-01-harbour.md"


class Place:
    """A store of two users, served over HTTP."""

    def __init__(self, root: Path) -> None:
        self.store = sample(root / "store")
        self.log = root / "log"
        self.url = ""
        lay(self.store / "zoe", {HARBOUR: "Zoe's secret harbour is Setubal.\n"})
        self.env = clean(XDG_CONFIG_HOME=str(root / "config"), HOME=str(root))
        self.keys: dict[str, str] = {}
        for name in ("mara", "zoe"):
            call = [*COLD, "serve", "keys", "add", name, "--store", str(self.store)]
            made = subprocess.check_output(call, env=self.env, text=True)
            self.keys[name] = made.strip()

    def asked(self, user: str, body: str, **headers: str) -> tuple[int, Any]:
        """Return the status and body of an answer to a user's message."""
        given = {"Content-Type": "application/json", **headers}
        given.setdefault("Authorization", f"Bearer {self.keys[user]}")
        request = urllib.request.Request(self.url, body.encode(), given)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.loads(answer.read() or "null")
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def transport(self, way: str) -> Any:
        """Return the official client's way to mara's memories."""
        mcp = pytest.importorskip("mcp", reason="needs the official client")
        if way == "pipe":
            words = ["mcp", "--store", str(self.store), "--user", "mara", "--write"]
            server = mcp.StdioServerParameters(
                command=COLD[0], args=[*COLD[1:], *words, *DAY], env=self.env
            )
            return mcp.stdio_client(server)
        web = import_module("mcp.client.streamable_http")
        headers = {"Authorization": f"Bearer {self.keys['mara']}"}
        if not hasattr(web, "streamable_http_client"):
            return web.streamablehttp_client(self.url, headers=headers)
        library = import_module("httpx2" if util.find_spec("httpx2") else "httpx")
        client = library.AsyncClient(headers=headers, timeout=60)
        return web.streamable_http_client(self.url, http_client=client)

    @contextlib.asynccontextmanager
    async def client(self, way: str, revision: str) -> AsyncIterator[Any]:
        """Yield the official client, greeted in a revision; the newest needs version 2."""
        mcp = pytest.importorskip("mcp")
        if revision == "newest":
            if not hasattr(mcp, "Client"):
                pytest.skip("the client that is installed does not speak it")
            async with mcp.Client(self.transport(way), mode="auto") as client:
                assert client.protocol_version == "2026-07-28"
                yield client
            return
        async with (
            self.transport(way) as wire,
            mcp.ClientSession(*wire[:2]) as client,
        ):
            await client.initialize()
            yield client


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A server for all tests of this file, with all that it says in a log."""
    found = Place(tmp_path_factory.mktemp("mcp"))
    words = ["mcp", "--http", "--port", "0", "--write", "--store", str(found.store)]
    with found.log.open("wb") as log:
        command = [*COLD, *words, *DAY]
        process = subprocess.Popen(command, env=found.env, stdout=log, stderr=log)
    while not (said := re.search(r"http://\S+/mcp", found.log.read_text())):
        assert process.poll() is None, found.log.read_text()
    found.url = said[0]
    yield found
    process.send_signal(signal.SIGINT)
    assert process.wait(60) in (0, 130)
    assert not any(key in found.log.read_text() for key in found.keys.values())


@pytest.mark.parametrize("revision", ["older", "newest"])
@pytest.mark.parametrize("way", ["pipe", "http"])
def test_the_official_client_lists_and_calls(
    place: Place, way: str, revision: str
) -> None:
    async def talk() -> None:
        async with place.client(way, revision) as client:
            listed = await client.list_tools()
            names = [tool.name for tool in listed.tools]
            four = ["grep", "search_files", "open", "close"]
            assert names == [*four, "remember", "update", "forget"]
            for arguments in (QUESTION, {**QUESTION, "limit": 2.0}):
                answer = await client.call_tool("search_files", arguments)
                assert FACT in answer.content[0].text
            wrong = await client.call_tool("grep", {"patern": "x"})
            told = wrong.model_dump(by_alias=True)
            assert told["isError"] and told["content"][0]["text"].startswith("Error: ")

    asyncio.run(talk())


def test_one_post_is_answered_without_a_session(place: Place) -> None:
    """A notification gets no answer; there is nothing to listen to or to end."""
    status, said = place.asked("mara", message("tools/list"))
    assert status == 200 and len(said["result"]["tools"]) == 7
    note = '{"jsonrpc": "2.0", "method": "notifications/initialized"}'
    assert place.asked("mara", note) == (202, None)
    for method in ("GET", "DELETE"):
        request = urllib.request.Request(place.url, method=method)
        with pytest.raises(urllib.error.HTTPError, match="405"):
            urllib.request.urlopen(request, timeout=60)


def test_headers_must_say_what_the_message_says(place: Place) -> None:
    def asked(method: str, said: str) -> tuple[int, int]:
        headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": said}
        status, told = place.asked("mara", message(method, _meta=META), **headers)
        return status, told.get("error", {}).get("code", 0)

    assert asked("tools/list", "tools/list") == (200, 0)
    assert asked("tools/list", "tools/call") == (400, -32020)
    assert asked("resources/list", "resources/list") == (404, -32601)


def test_what_is_no_message_too_large_or_without_a_key_is_refused(
    place: Place,
) -> None:
    asked = message("tools/list")
    for key in ("", "Bearer fm-x", "Bearer " + "x" * 30_000):
        status, said = place.asked("mara", asked, Authorization=key)
        assert status in (400, 401)
        assert "fm-x" not in str(said)
    later = {"MCP-Protocol-Version": "2025-06-18"}
    for body, code in NO_MESSAGES.items():
        status, told = place.asked("mara", body, **later)
        assert (status, told["error"]["code"]) == (400, code)
    status, answers = place.asked("mara", f"[{asked}]")  # of 2025-03-26
    assert status == 200
    assert "result" in answers[0]
    assert place.asked("mara", "x" * 16_000_001)[0] == 413
    for header in ("Host", "Origin"):
        assert place.asked("mara", asked, **{header: "http://evil.example"})[0] == 403


def test_each_key_reaches_its_own_user(place: Place) -> None:
    call = message("tools/call", name="grep", arguments={"pattern": "harbour"})
    assert "Setubal" in str(place.asked("zoe", call))
    assert "Setubal" not in str(place.asked("mara", call))


def test_whether_the_server_runs_anybody_may_ask(place: Place) -> None:
    with urllib.request.urlopen(place.url.replace("/mcp", "/healthz")) as answer:
        assert json.load(answer) == {"status": "ok"}
