"""`filemem mcp install` tells a client of the server; only over HTTP it needs an extra."""

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


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "memory_store/mara").mkdir(parents=True)
    return tmp_path


def path_of(home: Path) -> dict[str, str]:
    return {**clean(home), "PATH": f"{home / 'bin'}:/usr/bin:/bin"}


def run(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return filemem("mcp", *words, env=path_of(home), cwd=home)


def client_program(home: Path, name: str, code: int = 0) -> Path:
    """Put a client's program on the path, which notes how it is called."""
    called = home / f"{name}.called"
    script = f'#!/bin/sh\nprintf "%s\\n" "$@" > {called}\nexit {code}\n'
    lay(home, {f"bin/{name}": script})
    (home / "bin" / name).chmod(0o755)
    return called


@pytest.mark.parametrize("client", clients.CLIENTS)
def test_each_client_is_told_what_to_paste_and_where(home: Path, client: str) -> None:
    """Nothing is written; a text of any letters is right in TOML too."""
    store = home / 'my "store"'
    (store / "zoë").mkdir(parents=True)
    words = ["--store", str(store), "--user", "zoë", "--write"]
    done = run(home, "install", client, *words)
    settings = clients.CLIENTS[client].settings
    assert done.returncode == 0 and settings in done.stderr
    read = tomllib.loads if settings.endswith(".toml") else json.loads
    servers = read(done.stdout)[clients.CLIENTS[client].key]
    assert servers["filemem"]["args"] == ["mcp", *words]
    assert {path.name for path in home.iterdir()} == {"memory_store", store.name}


def test_what_is_to_be_pasted_is_not_wrapped(home: Path) -> None:
    command = ["filemem", "mcp", "install", "cursor"]
    with Terminal(command, path_of(home), str(home), columns=40) as term:
        assert term.end() == 0
        assert json.loads(term.screen.partition("Put this")[0])


@pytest.mark.parametrize(
    ("client", "program"), [("claude-code", "claude"), ("codex", "codex")]
)
def test_a_client_s_own_command_is_run_where_one_agrees(
    home: Path, client: str, program: str
) -> None:
    called = client_program(home, program)
    told = run(home, "install", client)
    assert f"or run: {program} mcp add" in told.stderr and not called.exists()
    done = run(home, "install", client, "--yes")
    words = called.read_text().splitlines()
    assert done.returncode == 0 and words[:2] == ["mcp", "add"] and "filemem" in words
    store = str(home / "memory_store")
    start = words.index("--") + 2
    assert words[start:] == ["mcp", "--store", store, "--user", "mara"]
    client_program(home, program, code=3)
    failed = run(home, "install", client, "--yes")
    assert failed.returncode == 2 and "ended with 3" in failed.stderr


def test_the_hooks_that_import_sessions_are_printed(home: Path) -> None:
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
    """Nor is a heavy package loaded before the first answer, for which a client's first
    turn waits."""
    heavy = "'starlette uvicorn openai httpx pydantic numpy sqlite3'.split()"
    block = f"import sys; sys.modules |= dict.fromkeys({heavy})"
    code = f"{block}; from filemem.cli import main; main()"
    how: dict[str, Any] = {"cwd": home, "capture_output": True, "text": True}

    def started(*words: str, **more: Any) -> subprocess.CompletedProcess[str]:
        call = [sys.executable, "-c", code, "mcp", "--new", *words]
        return subprocess.run(call, env=clean(home), check=False, **how, **more)

    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": method}
        for method in ("initialize", "tools/list")
    ]
    done = started("--user", "mara", input="\n".join(map(json.dumps, asked)))
    greeted, listed = (json.loads(line)["result"] for line in done.stdout.splitlines())
    assert greeted["serverInfo"]["name"] == "filemem" and len(listed["tools"]) == 4
    add_key = "serve keys add mara"
    subprocess.run(
        [sys.executable, "-m", "filemem", *add_key.split()],
        env=clean(home),
        check=True,
        **how,
    )
    done = started("--http")
    assert (done.returncode, done.stdout) == (2, "")
    sentence = r"filemem: [\w.]+ is not installed; install it with: .*\[serve\]'\n"
    assert re.fullmatch(sentence, done.stderr)
