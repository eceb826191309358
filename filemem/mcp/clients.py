"""How a client is told of the server: what to paste, or its own command."""

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Client:
    """Where a client has its servers: the file, and the key in it."""

    settings: str
    key: str = "mcpServers"


CLIENTS = {
    "claude-desktop": Client("claude_desktop_config.json"),
    "cursor": Client("~/.cursor/mcp.json"),
    "gemini": Client("~/.gemini/settings.json"),
    "vscode": Client("mcp.json of your profile", "servers"),
    "windsurf": Client("~/.codeium/windsurf/mcp_config.json"),
    "zed": Client("~/.config/zed/settings.json", "context_servers"),
}
COMMANDS = {
    "claude-code": ["claude", "mcp", "add", "--scope", "user", "filemem", "--"],
    "codex": ["codex", "mcp", "add", "filemem", "--"],
}
"""The clients that have a command for it, which begins so."""


def entry(client: Client, command: list[str]) -> str:
    """Return what to paste into a client's settings for it to start `command`."""
    program, *arguments = command
    server = {"command": program, "args": arguments}
    servers = {client.key: {"filemem": server}}
    return json.dumps(servers, indent=2, ensure_ascii=False)
