"""`filemem mcp install` tells a client of the server; the server needs an extra over HTTP alone."""

import datetime as dt
import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from programs import clean, filemem, lay
from terminal import Terminal

from filemem.mcp import clients
from filemem.store import keys


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "memory_store/mara").mkdir(parents=True)
    return tmp_path


def run(home: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    env = {**clean(home), "PATH": f"{home / 'bin'}:/usr/bin:/bin", **more}
    return filemem("mcp", *words, env=env, cwd=home)


def client_program(home: Path, name: str, code: int = 0) -> Path:
    """Put a client's program on the path, which notes how it is called."""
    place = home / "bin" / name
    called = home / f"{name}.called"
    place.parent.mkdir(exist_ok=True)
    place.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {called}\nexit {code}\n')
    place.chmod(0o755)
    return called


@pytest.mark.parametrize("client", clients.CLIENTS)
def test_each_client_is_told_what_to_paste_and_where(home: Path, client: str) -> None:
    """Nothing is written; a text of any letters is right in TOML too."""
    store = home / 'my "store"'
    (store / "zoë").mkdir(parents=True)
    words = ["--store", str(store), "--user", "zoë", "--write"]
    done = run(home, "install", client, *words)
    assert done.returncode == 0 and clients.CLIENTS[client].settings in done.stderr
    if clients.CLIENTS[client].settings.endswith(".toml"):
        entry = tomllib.loads(done.stdout)
    else:
        entry = json.loads(done.stdout)
    [[key, servers]] = entry.items()
    assert key == clients.CLIENTS[client].key
    server = servers["filemem"]
    assert server["args"] == ["mcp", *words]
    assert {path.name for path in home.iterdir()} == {"memory_store", store.name}


@pytest.mark.parametrize("client", ["claude", "codex"])
def test_a_client_s_own_command_is_run_where_one_agrees(
    home: Path, client: str
) -> None:
    called = client_program(home, client)
    name = {"claude": "claude-code"}.get(client, client)
    told = run(home, "install", name)
    assert f"or run: {client} mcp add" in told.stderr and not called.exists()
    done = run(home, "install", name, "--yes")
    assert done.returncode == 0
    words = called.read_text().splitlines()
    assert words[:2] == ["mcp", "add"] and "filemem" in words
    started = words[words.index("--") + 1 :]
    store = str(home / "memory_store")
    assert started[1:] == ["mcp", "--store", store, "--user", "mara"]
    client_program(home, client, code=3)
    failed = run(home, "install", name, "--yes")
    assert failed.returncode == 2 and "ended with 3" in failed.stderr


def test_it_asks_on_a_terminal(home: Path) -> None:
    called = client_program(home, "claude")
    env = {**clean(home), "PATH": f"{home / 'bin'}:/usr/bin:/bin"}
    for answer, ran in (("n", False), ("y", True)):
        call = ["filemem", "mcp", "install", "claude-code"]
        with Terminal(call, env, str(home)) as terminal:
            terminal.expect("[y/N]")
            terminal.type(f"{answer}\r")
            assert terminal.end() == 0
        assert called.exists() == ran


def test_the_hooks_that_import_sessions_are_printed(home: Path) -> None:
    lay(home / "memory_store/mara", {"profile.md": "Mara is a nurse.\n"})
    done = run(home, "install", "codex", "--sessions")
    hooks = json.loads(done.stdout)["hooks"]
    assert list(hooks) == ["SessionStart", "UserPromptSubmit", "PreCompact", "Stop"]
    command = shlex.split(hooks["Stop"][0]["hooks"][0]["command"])
    assert command[1:4] == ["mcp", "hook", "codex"]
    assert "~/.codex/hooks.json" in done.stderr
    refused = run(home, "install", "cursor", "--sessions")
    assert refused.returncode == 2 and "claude-code and codex have" in refused.stderr


def test_only_http_needs_the_extra_and_a_sentence_says_what_to_install(
    home: Path,
) -> None:
    """Nor is a heavy package loaded before the first answer, which a client's first turn waits for."""
    block = "import sys; sys.modules |= dict.fromkeys('starlette uvicorn openai httpx pydantic numpy sqlite3'.split())"
    call = [
        sys.executable,
        "-c",
        f"{block}; from filemem.cli import main; main()",
        "mcp",
    ]
    how: dict[str, Any] = {
        "env": clean(home),
        "cwd": home,
        "capture_output": True,
        "text": True,
        "check": False,
    }
    lines = "\n".join(
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": one})
        for one in ("initialize", "tools/list")
    )
    done = subprocess.run([*call, "--user", "mara", "--new"], input=lines, **how)
    greeted, listed = (json.loads(line)["result"] for line in done.stdout.splitlines())
    assert greeted["serverInfo"]["name"] == "filemem" and len(listed["tools"]) == 4
    done = subprocess.run([*call, "--http", "--new"], **how)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert re.match(
        r"filemem: [\w.]+ is not installed; install it with: .*\[serve\]'\n",
        done.stderr,
    )


def test_nobody_is_served_over_http_without_a_key(home: Path) -> None:
    done = run(home, "--http", "--port", "0")
    assert done.returncode == 2
    assert re.search(r"nobody has a key yet|is not installed", done.stderr)


def test_a_key_opens_for_its_user_until_it_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    root, day = str(tmp_path / "store"), dt.date(2026, 11, 20)
    zoe, rui = (keys.add_key(root, name, day) for name in ("zo\u00eb", "rui"))
    assert [keys.find_user(root, key) for key in (zoe, rui, zoe[:-1])] == [
        "zo\u00eb",
        "rui",
        "",
    ]
    assert keys.revoke_user(root, "zoe\u0308") == 1, "as some keyboards send it"
    assert [keys.find_user(root, key) for key in (zoe, rui)] == ["", "rui"]
