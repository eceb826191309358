"""`filemem mcp install` tells a client of the server.

Only over HTTP the server needs an extra.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from programs import clean, filemem, lay
from terminal import Terminal

from filemem.mcp import clients

CALLED = """\
#!/bin/sh
printf "%s\\n" "$@" > called
exit 3
"""
WITHOUT = """\
import sys
for name in "starlette uvicorn openai httpx pydantic numpy sqlite3".split():
    sys.modules[name] = None
from filemem.cli import main
main()
"""
LISTING = '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A person's home, with a store of one user in it."""
    (tmp_path / "memory_store/mara").mkdir(parents=True)
    return tmp_path


def path_of(home: Path) -> dict[str, str]:
    return {**clean(home), "PATH": f"{home / 'bin'}:/usr/bin:/bin"}


def install(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return filemem("mcp", "install", *words, env=path_of(home), cwd=home)


@pytest.mark.parametrize("client", clients.COMMANDS)
def test_a_command_that_is_not_here_is_said_to_be_run_elsewhere(
    home: Path, client: str
) -> None:
    """Nothing was set up, and nobody is to believe so."""
    done = install(home, client, "--store", "memory_store")
    program = clients.COMMANDS[client][0]
    assert done.stdout.startswith(f"{program} mcp add ")
    assert done.stderr == f"There is no {program} here; run that line where it is.\n"


@pytest.mark.parametrize("client", clients.CLIENTS)
def test_each_client_is_told_what_to_paste_and_where(home: Path, client: str) -> None:
    """Nothing is written; a client has no path on which to look for a program."""
    words = ["--store", "memory_store", "--user", "zoë", "--write"]
    done = install(home, client, *words)
    known = clients.CLIENTS[client]
    assert done.returncode == 0
    assert known.settings in done.stderr
    server = json.loads(done.stdout)[known.key]["filemem"]
    assert Path(server["command"]).is_absolute()
    assert os.access(server["command"], os.X_OK)
    assert server["args"][-3:] == ["--user", "zoë", "--write"]
    assert list((home / "memory_store").iterdir()) == [home / "memory_store/mara"]


def test_what_is_to_be_pasted_is_not_wrapped(home: Path) -> None:
    command = ["filemem", "mcp", "install", "cursor"]
    with Terminal(command, path_of(home), str(home), columns=40) as term:
        assert term.end() == 0
        assert json.loads(term.screen.partition("Put this")[0])


@pytest.mark.parametrize("client", clients.COMMANDS)
def test_a_client_s_own_command_is_printed_and_run_where_one_agrees(
    home: Path, client: str
) -> None:
    program, *words = clients.COMMANDS[client]
    lay(home, {f"bin/{program}": CALLED})
    (home / "bin" / program).chmod(0o755)
    told = install(home, client)
    assert not (home / "called").exists()
    done = install(home, client, "--yes")
    assert done.returncode == 3
    given = (home / "called").read_text().splitlines()
    assert shlex.split(told.stdout) == [program, *given]
    assert given[: len(words)] == words
    assert given[-4:] == ["--store", str(home / "memory_store"), "--user", "mara"]


def test_the_hooks_that_import_sessions_are_printed(home: Path) -> None:
    done = install(home, "codex", "--sessions")
    assert "~/.codex/hooks.json" in done.stderr
    hooks = json.loads(done.stdout)["hooks"]
    assert list(hooks) == ["SessionStart", "UserPromptSubmit", "PreCompact", "Stop"]
    command = hooks["Stop"][0]["hooks"][0]["command"]
    assert "mcp hook codex" in command
    refused = install(home, "cursor", "--sessions")
    assert refused.returncode == 2
    assert "claude-code and codex have" in refused.stderr


def started(
    home: Path, *words: str, given: str = ""
) -> subprocess.CompletedProcess[str]:
    """Start a server that has no package but those it cannot do without."""
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, "mcp", *words],
        env=clean(home),
        cwd=home,
        input=given,
        capture_output=True,
        text=True,
    )


def test_only_http_needs_an_extra_and_a_sentence_says_which(home: Path) -> None:
    """Nor is a heavy package loaded before the first answer."""
    done = started(home, given=LISTING)
    assert len(json.loads(done.stdout)["result"]["tools"]) == 4
    filemem("serve", "keys", "add", "mara", env=clean(home), cwd=home)
    done = started(home, "--http")
    assert done.returncode == 2
    sentence = r"filemem: [\w.]+ is not installed; install it with: .*\[serve\]'\n"
    assert re.fullmatch(sentence, done.stderr)
