"""How a client is told of the server: what to paste, or its own command."""

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Client:
    """A client's settings: the file, the key of its servers, its own command."""

    settings: str
    key: str = "mcpServers"
    add: tuple[str, ...] = ()


CLIENTS = {
    "claude-code": Client(
        "~/.claude.json", add=("claude", "mcp", "add", "--scope", "user")
    ),
    "codex": Client("~/.codex/config.toml", "mcp_servers", ("codex", "mcp", "add")),
    "claude-desktop": Client("claude_desktop_config.json"),
    "cursor": Client("~/.cursor/mcp.json"),
    "gemini": Client("~/.gemini/settings.json"),
    "vscode": Client("mcp.json of your profile", "servers"),
    "windsurf": Client("~/.codeium/windsurf/mcp_config.json"),
    "zed": Client("~/.config/zed/settings.json", "context_servers"),
}


def entry(client: Client, name: str, command: list[str]) -> str:
    """Return what to paste into a client's settings for it to start `command`."""
    program, *arguments = command
    if client.settings.endswith(".toml"):  # whose texts are written as JSON's
        lines = [
            f"[{client.key}.{name}]",
            f"command = {json.dumps(program, ensure_ascii=False)}",
            f"args = {json.dumps(arguments, ensure_ascii=False)}",
        ]
        return "\n".join(lines)
    server = {"command": program, "args": arguments}
    return json.dumps({client.key: {name: server}}, indent=2, ensure_ascii=False)
