"""Servers over a store on several disks: processes side by side serve the users of all shards, lose nothing of what two clients
say at once, and follow a user who is moved.
"""

import asyncio
import concurrent.futures
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from scripted_server import ScriptedServer, say

for package in ("starlette", "uvicorn", "mcp"):
    pytest.importorskip(package, reason="needs filemem[serve,mcp]")

import mcp
from test_serve import FILEMEM, Served, ask

from filemem import Store
from filemem.files.trust import Trust


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A store of two shards, with mara in the one and joao in the other."""
    for shard, user in (("a", "mara"), ("b", "joao")):
        (tmp_path / shard / user).mkdir(parents=True)
        (tmp_path / shard / "filemem.yaml").touch()
    (tmp_path / "store").mkdir()
    (tmp_path / "store/filemem.yaml").write_text("stores: [../a, ../b]\n")
    monkeypatch.setenv("FILEMEM_TRUST", str(tmp_path))
    yield tmp_path


def said(root: Path, name: str) -> list[list[str]]:
    user = Store(root / "store", Trust(given=True)).user(name)
    paths = [path for path in user.folder.paths() if path.startswith("sessions/")]
    return sorted([passage.text for passage in user.open_file(path).passages] for path in paths)


def test_two_endpoints_serve_the_users_of_all_shards_and_follow_who_is_moved(root: Path) -> None:
    with ScriptedServer() as model:
        model.default = say("Noted.")
        both = [Served(root, model), Served(root, model)]
        clients = {
            (place, name): both[place].client(name).with_options(timeout=120)
            for place in (0, 1)
            for name in ("mara", "joao")
        }
        with concurrent.futures.ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda one: ask(one[1], f"I am {one[0][1]}, at {one[0][0]}."), [*clients.items()] * 2))
        for name in ("mara", "joao"):
            assert said(root, name) == sorted(
                [f"I am {name}, at {place}.", "Noted."] for place in (0, 1) for _ in range(2)
            )
        moved = both[0].run("users", "move", "mara", "../b")
        assert moved.returncode == 0, moved.stderr
        for place in (0, 1):
            ask(clients[place, "mara"], f"I am mara, at {place}.", "Noted.", f"I have moved, says {place}.")
        assert len([chat for chat in said(root, "mara") if "moved" in chat[-2]]) == 2
        for one in both:
            one.end()
    assert (root / "b/mara/sessions").is_dir() and not (root / "a/mara").exists()


def test_two_mcp_servers_of_one_user_follow_a_move(root: Path) -> None:
    def client() -> mcp.Client:
        arguments = [*FILEMEM[1:], "mcp", "--write", "--store", str(root / "store"), "--user", "mara"]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
        server = mcp.StdioServerParameters(command=sys.executable, args=arguments, env=environment)
        return mcp.Client(mcp.stdio_client(server), mode="auto")

    async def talk() -> None:
        async with client() as one, client() as two:
            kept = await asyncio.gather(
                one.call_tool("remember", {"text": "Mara rows on Tuesdays."}),
                two.call_tool("remember", {"text": "Mara plays the viola."}),
            )
            assert not any(result.is_error for result in kept)
            environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
            move = [*FILEMEM, "--store", str(root / "store"), "users", "move", "mara", "../b"]
            await asyncio.to_thread(subprocess.run, move, env=environment, check=True, capture_output=True)
            await two.call_tool("remember", {"text": "Mara lives in Braga."})
            for word in ("Tuesdays", "viola", "Braga"):
                assert word in str((await one.call_tool("grep", {"pattern": word})).content)

    asyncio.run(talk())
    assert not (root / "a/mara").exists() and len(list((root / "b/mara/facts").rglob("*.md"))) == 3
