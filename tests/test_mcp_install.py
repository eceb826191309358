"""`filemem mcp install` tells a client of the server: it asks, keeps what is there byte for byte, and never guesses; the server
needs nothing over a pipe, over HTTP an extra.
"""

import datetime as dt
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import clean, filemem, lay
from terminal import Terminal

from filemem.errors import FilememError
from filemem.files import keys
from filemem.mcp import clients

SETTINGS = {
    "claude-code": ".claude.json",
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
    "zed": ".config/zed/settings.json",
    "windsurf": ".codeium/windsurf/mcp_config.json",
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "memory_store/mara").mkdir(parents=True)
    return tmp_path


def run(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return filemem("mcp", *words, env=clean(home), cwd=home)


def servers(client: str, path: Path) -> dict[str, Any]:
    key = clients.CLIENTS[client].key
    found = (
        tomllib.loads(path.read_text())
        if path.suffix == ".toml"
        else json.loads(path.read_text())
    )
    return dict(found[key])


@pytest.mark.skipif(sys.platform == "darwin", reason="the paths are those of Linux")
@pytest.mark.parametrize("client", list(SETTINGS))
def test_each_client_is_told_where_it_looks_and_once(home: Path, client: str) -> None:
    place = home / SETTINGS[client]
    printed = run(home, "install", client)
    assert (
        printed.returncode == 0 and str(place) in printed.stderr and not place.exists()
    )
    assert run(home, "install", client, "--yes", "--write").returncode == 0
    server = servers(client, place)["filemem"]
    assert server["args"] == [
        "mcp",
        "--store",
        str(home / "memory_store"),
        "--user",
        "mara",
        "--write",
    ]
    assert (
        server.get("required", client != "codex") is True
    )  # codex's first turn waits for its tools
    before = place.read_bytes()
    assert (
        "has it already" in run(home, "install", client, "--yes", "--write").stderr
        and place.read_bytes() == before
    )
    other = run(home, "install", client, "--yes")
    assert (
        other.returncode == 2
        and "differs" in other.stderr
        and place.read_bytes() == before
    )
    assert run(home, "install", client, "--yes", "--name", "second").returncode == 0
    assert (
        set(servers(client, place)) == {"filemem", "second"}
        and servers(client, place)["filemem"] == server
    )


@pytest.mark.parametrize("there", [
    '// my {\n{ // "context_servers": {\n "theme": "a // b", /* } */\n "context_servers": {"a": {"command": ""},}, // x\n}',
    '{\n  // "x": 1,\n  "font": "/* no */", }\n',
    "// nothing yet\n",
    "",
    '\ufeff{\n"a": 1}\n',
])  # fmt: skip
def test_comments_and_a_last_comma_stay(home: Path, there: str) -> None:
    place = home / SETTINGS["zed"]
    lay(home, {SETTINGS["zed"]: there})
    assert run(home, "install", "zed", "--yes").returncode == 0
    after = place.read_text()
    assert all(
        line in after for line in there.splitlines() if "context_servers" not in line
    )
    assert (
        '"filemem": {' in after
        and "has it already" in run(home, "install", "zed", "--yes").stderr
    )
    assert run(home, "install", "zed", "--yes", "--name", "second").returncode == 0


def test_the_entry_of_a_project_names_nobody_s_folders(home: Path) -> None:
    assert run(home, "install", "project", "--yes").returncode == 0
    [server] = json.loads((home / ".mcp.json").read_text())["mcpServers"].values()
    assert server == {"command": "filemem", "args": ["mcp"]}


@pytest.mark.parametrize("there", ["[1]", '{"servers": [1]}', "{broken", "caf\udce9"])
def test_what_cannot_be_read_is_left_to_the_person(home: Path, there: str) -> None:
    place = home / ".config/Code/User/mcp.json"
    place.parent.mkdir(parents=True)
    place.write_text(there, errors="surrogateescape")
    done = run(home, "install", "vscode", "--yes")
    assert done.returncode == 2 and done.stderr.splitlines()[-1].startswith(
        "filemem: /"
    )
    assert place.read_text(errors="surrogateescape") == there


def test_on_a_terminal_it_asks_and_a_no_writes_nothing(home: Path) -> None:
    for answer, told in (("n\r", "Nothing was written."), ("y\r", "Written")):
        assert not (home / ".cursor").exists()
        with Terminal(
            ["filemem", "mcp", "install", "cursor"], clean(home), str(home)
        ) as terminal:
            terminal.expect("[y/N]")
            terminal.type(answer)
            terminal.expect(told)
    assert "filemem" in servers("cursor", home / ".cursor/mcp.json")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
NAMED = st.dictionaries(
    st.sampled_from(["mcpServers", "projects", 'a"mcpServers": {', "é"]),
    JSON,
    max_size=3,
)


@given(
    NAMED,
    st.dictionaries(st.text(max_size=5), JSON, max_size=2),
    st.sampled_from([None, 0, 2, "\t"]),
)
def test_only_the_entry_is_added_to_any_settings(
    there: dict[str, Any], known: dict[str, Any], indent: Any
) -> None:
    client = clients.CLIENTS["cursor"]
    there = {**there, "nested": {"mcpServers": {}}, "mcpServers": known}
    command = ["/bin/fm", "mcp", "--store", '/a "b" \\ é']
    before = json.dumps(there, indent=indent)
    try:
        after = json.loads(clients.settings(client, "filemem", command, before))
    except FilememError:
        assert "filemem" in known
        return
    assert after["mcpServers"].pop("filemem") == {
        "command": "/bin/fm",
        "args": command[1:],
    }
    assert after == there


@given(
    st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20
    )
)
def test_any_folder_s_name_is_what_codex_reads(folder: str) -> None:
    client = clients.CLIENTS["codex"]
    before = '# mine\nmodel = "x"\n[mcp_servers.a]\ncommand = "b"'
    after = clients.settings(
        client, "filemem", ["fm", "mcp", "--store", folder], before
    )
    found = tomllib.loads(after)
    assert found["mcp_servers"]["filemem"]["args"][-1] == folder and found[
        "mcp_servers"
    ]["a"] == {"command": "b"}


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
    assert re.search(
        r"nobody has a key for .*/memory_store yet|is not installed", done.stderr
    )


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
