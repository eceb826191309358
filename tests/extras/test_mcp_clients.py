"""The official client of MCP, whatever version is installed, over a pipe and over HTTP; keys."""

import asyncio
import contextlib
import datetime as dt
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
from programs import clean, lay, sample

pytest.importorskip("starlette", reason="needs the extra filemem[serve]")

from test_mcp import META, NO_MESSAGES, PROGRAM, QUESTION

from filemem.store import keys

FACT = "facts/2026/2026-03-14-prefers-oolong-tea.md"
HARBOUR = "facts/2026/2026-05-01-harbour.md"
DAY = ["--today", "2026-11-20"]


def message(method: str, **params: Any) -> bytes:
    asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return json.dumps(asked).encode()


class Place:
    """A store of two users, served over HTTP."""

    def __init__(self, root: Path) -> None:
        self.store = sample(root / "store")
        self.log = root / "log"
        self.url = ""
        lay(self.store / "zoe", {HARBOUR: "Zoe's secret harbour is Setubal.\n"})
        self.env = clean(XDG_CONFIG_HOME=str(root / "config"), HOME=str(root))
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_CONFIG_HOME", self.env["XDG_CONFIG_HOME"])
            self.keys = {
                name: keys.add_key(str(self.store), name, dt.date(2026, 11, 20))
                for name in ("mara", "zoe")
            }

    def run(self, *words: str) -> str:
        call = [*PROGRAM, *words, "--store", str(self.store), *DAY]
        done = subprocess.run(call, env=self.env, capture_output=True, text=True)
        return done.stdout

    def post(self, body: bytes, **headers: str) -> tuple[int, str]:
        """Return the status and body of an answer."""
        given = {"Content-Type": "application/json", **headers}
        request = urllib.request.Request(self.url, body, given)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def asked(self, user: str, body: bytes, **headers: str) -> tuple[int, Any]:
        """Return the same for a user's key, the body read."""
        key = {"Authorization": f"Bearer {self.keys[user]}"}
        status, said = self.post(body, **key, **headers)
        return status, json.loads(said or "null")

    def transport(self, way: str) -> Any:
        """Return the official client's way to mara's memories."""
        mcp = pytest.importorskip("mcp", reason="needs the official client")
        if way == "pipe":
            words = ["mcp", "--store", str(self.store), "--user", "mara", "--write"]
            server = mcp.StdioServerParameters(
                command=PROGRAM[0], args=[*PROGRAM[1:], *words, *DAY], env=self.env
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
        process = subprocess.Popen([*PROGRAM, *words, *DAY], env=found.env, stderr=log)
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
    note = b'{"jsonrpc": "2.0", "method": "notifications/initialized"}'
    assert place.asked("mara", note) == (202, None)
    for method in ("GET", "DELETE"):
        request = urllib.request.Request(place.url, method=method)
        with pytest.raises(urllib.error.HTTPError, match="405"):
            urllib.request.urlopen(request, timeout=60)


def test_headers_must_say_what_the_message_says(place: Place) -> None:
    new = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}
    asked = message("tools/list", _meta=META)
    assert place.asked("mara", asked, **new)[0] == 200
    other = {**new, "Mcp-Method": "tools/call"}
    status, said = place.asked("mara", asked, **other)
    assert (status, said["error"]["code"]) == (400, -32020)
    unknown = message("resources/list", _meta=META)
    named = {**new, "Mcp-Method": "resources/list"}
    assert place.asked("mara", unknown, **named)[0] == 404


def test_what_is_no_message_too_large_or_without_a_key_is_refused(
    place: Place,
) -> None:
    asked = message("tools/list")
    wrong = [
        "",
        "Bearer ",
        "Bearer fm-x",
        f"Basic {place.keys['mara']}",
        "Bearer " + "x" * 30_000,
    ]
    for key in wrong:
        status, said = place.post(asked, Authorization=key)
        assert status in (400, 401) and "fm-x" not in said and "mara" not in said
    for body in NO_MESSAGES:
        status, told = place.asked("mara", body)
        assert status == 400 and told["error"]["code"] in (-32700, -32600)
    assert place.asked("mara", b'"' + b"x" * 16_000_000 + b'"')[0] == 413
    for header in ("Host", "Origin"):
        elsewhere = {header: "http://evil.example"}
        assert place.asked("mara", asked, **elsewhere)[0] == 403


def test_each_key_reaches_its_own_user_until_it_is_taken_away(place: Place) -> None:
    def grep(user: str) -> str:
        call = message("tools/call", name="grep", arguments={"pattern": "harbour"})
        return str(place.asked(user, call))

    assert "Setubal" in grep("zoe") and "Setubal" not in grep("mara")
    stored = place.store.parent / "config/filemem/keys.json"
    assert not any(key in stored.read_text() for key in place.keys.values())
    assert "Took 1 key" in place.run("serve", "keys", "remove", "zoe")
    assert place.asked("zoe", message("ping"))[0] == 401
    place.keys["zoe"] = place.run("serve", "keys", "add", "zoe").strip()
    assert "Setubal" in grep("zoe")
