"""Where clients keep their list of servers, and this one's entry in it, which leaves all else there byte for byte.

Claude Code: docs.claude.com, MCP, "Where MCP servers are stored"; Claude Desktop: modelcontextprotocol.io, "Connect to local
MCP servers"; Cursor: docs.cursor.com, MCP; VS Code: code.visualstudio.com, MCP configuration reference; Codex:
developers.openai.com/codex/mcp, config.toml; Gemini CLI: its docs/tools/mcp-server.md; Zed: zed.dev/docs/ai/mcp; Windsurf:
docs.windsurf.com, MCP.
"""

import json
import os
import re
import sys
import tomllib
from typing import Any, NamedTuple

from filemem.errors import FilememError
from filemem.files import safe
from filemem.text.plain import one_line

_HOMES = {"darwin": "~/Library/Application Support", "win32": "~/AppData/Roaming"}
_CONFIG = _HOMES.get(sys.platform, "~/.config")
_ZED = "~/.config" if sys.platform == "darwin" else _CONFIG
_ASIDE = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/|,(?=(?:\s|//[^\n]*|/\*.*?\*/)*[}\]])|^\ufeff',
    re.DOTALL,
)
"""What JSON has not and settings have: comments, a last comma, a byte order mark; texts, which may hold what looks so."""


class Client(NamedTuple):
    """A client's settings: their file, the key of its servers, what an entry has besides, what a new entry asks of a person."""

    path: str
    key: str
    more: dict[str, str]
    then: str


CLIENTS = {
    "claude-code": Client(
        "~/.claude.json",
        "mcpServers",
        {"type": "stdio"},
        "Start claude anew; /mcp lists it.",
    ),
    "claude-desktop": Client(
        f"{_CONFIG}/Claude/claude_desktop_config.json",
        "mcpServers",
        {},
        "Start Claude anew.",
    ),
    "cursor": Client(
        "~/.cursor/mcp.json", "mcpServers", {}, "Cursor's settings, under MCP, list it."
    ),
    "vscode": Client(
        f"{_CONFIG}/Code/User/mcp.json",
        "servers",
        {"type": "stdio"},
        "MCP: List Servers in VS Code starts it.",
    ),
    "gemini": Client(
        "~/.gemini/settings.json", "mcpServers", {}, "Start gemini anew; /mcp lists it."
    ),
    "zed": Client(
        f"{_ZED}/zed/settings.json",
        "context_servers",
        {},
        "The agent panel's settings list it.",
    ),
    "windsurf": Client(
        "~/.codeium/windsurf/mcp_config.json",
        "mcpServers",
        {},
        "Refresh its list of MCP servers.",
    ),
    "project": Client(
        "./.mcp.json",
        "mcpServers",
        {},
        "Claude Code asks each who opens this folder whether to use it.",
    ),
    "codex": Client(
        "$CODEX_HOME/config.toml",
        "mcp_servers",
        {"required": "true"},
        "Start codex anew; /mcp lists it.",
    ),
}


def expanded(path: str) -> str:
    """A path with this person's folders in the place of their names."""
    return os.path.abspath(
        os.path.expanduser(
            path.replace("$CODEX_HOME", os.environ.get("CODEX_HOME") or "~/.codex")
        )
    )


def entry(client: Client, name: str, command: list[str]) -> str:
    """The entry alone, as one would paste it into empty settings."""
    if client.path.endswith(".toml"):
        more = "".join(f"{key} = {value}\n" for key, value in client.more.items())
        arguments = ", ".join(map(_toml, command[1:]))
        return f"[{client.key}.{name}]\ncommand = {_toml(command[0])}\nargs = [{arguments}]\n{more}"
    return (
        json.dumps(
            {client.key: {name: _server(client, command)}}, indent=2, ensure_ascii=False
        )
        + "\n"
    )


def settings(client: Client, name: str, command: list[str], before: str) -> str:
    """The settings with the entry; the same where they have it. Raises FilememError where it cannot be put in safely."""
    where = expanded(client.path)
    servers = _parsed(client, before, where).get(client.key, {})
    wanted = _parsed(client, entry(client, name, command), where)[client.key][name]
    if not isinstance(servers, dict):
        raise FilememError(
            f"{where}: {client.key} is not a list of servers; check the file."
        )
    if name in servers:
        if servers[name] == wanted:
            return before
        raise FilememError(
            f"{where} has a server {one_line(name)} that differs; change it there, or take another --name."
        )
    return _with(client, name, command, before, where)


def standing(client: Client) -> str:
    """The settings as they are, empty where there are none; raises FilememError for what is no text."""
    where = os.path.realpath(expanded(client.path))
    try:
        return safe.read(where).decode() if os.path.lexists(where) else ""
    except UnicodeDecodeError:
        raise FilememError(f"{where} is not UTF-8; add the entry by hand.") from None


def write(client: Client, before: str, after: str) -> None:
    """Write the settings, unless they have changed since; an earlier version is beside them as `.before-filemem`."""
    where = os.path.realpath(expanded(client.path))
    if not os.path.lexists(where):
        safe.make_folder(os.path.dirname(where))
        safe.create(where, after.encode())
        return
    safe.write(f"{where}.before-filemem", before.encode())
    if not safe.edit(
        where, lambda data: after.encode() if data == before.encode() else None
    ):
        raise FilememError(
            f"{where} has changed meanwhile; nothing was written, so try again."
        )


def _with(
    client: Client, name: str, command: list[str], before: str, where: str
) -> str:
    """The text with the entry put in at the place where reading it gives what is wanted, and nothing else has changed."""
    toml = client.path.endswith(".toml")
    plain = before if toml else _plain(before)
    if toml or not plain.strip():
        gap = "\n" * (2 - before[-2:].count("\n")) if before.strip() else ""
        return before + gap + entry(client, name, command)
    wanted = _parsed(client, before, where)
    wanted[client.key] = {**wanted.get(client.key, {}), name: _server(client, command)}
    inner = json.dumps({name: _server(client, command)}, indent=2, ensure_ascii=False)[
        2:-2
    ].replace("\n", "\n  ")
    for found in re.finditer(rf'"{client.key}"\s*:\s*\{{', plain):
        comma = "" if plain[found.end() :].lstrip().startswith("}") else ","
        after = f"{before[: found.end()]}\n  {inner}{comma}{'' if comma else chr(10)}{before[found.end() :]}"
        if _same(after, wanted):
            return after
    start = plain.index("{") + 1
    comma = (
        "\n" * (plain[start] == "}") if plain[start:].lstrip().startswith("}") else ","
    )
    after = f'{before[:start]}\n  "{client.key}": {{\n  {inner}\n  }}{comma}{before[start:]}'
    if not _same(after, wanted):
        raise FilememError(
            f"{where} is too unusual to be changed safely; add the entry by hand."
        )
    return after


def _parsed(client: Client, text: str, where: str) -> dict[str, Any]:
    """The settings that a text holds; raises FilememError where it is none that can be kept as it is."""
    try:
        found = (
            tomllib.loads(text)
            if client.path.endswith(".toml")
            else json.loads(_plain(text).strip() or "{}")
        )
    except (ValueError, RecursionError):
        raise FilememError(
            f"{where} cannot be read as it is; add the entry by hand."
        ) from None
    if not isinstance(found, dict):
        raise FilememError(f"{where} contains no settings; check the file.")
    return found


def _plain(text: str) -> str:
    """A text of settings as JSON, each character in its place."""
    return _ASIDE.sub(
        lambda found: found[0] if found[0][0] == '"' else re.sub(r"\S", " ", found[0]),
        text,
    )


def _same(text: str, wanted: dict[str, Any]) -> bool:
    try:
        return bool(json.loads(_plain(text)) == wanted)
    except ValueError:
        return False


def _server(client: Client, command: list[str]) -> dict[str, Any]:
    return {**client.more, "command": command[0], "args": command[1:]}


def _toml(text: str) -> str:
    """A text as a basic string of TOML, which escapes as JSON does, but for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
