"""The first answer over a pipe, given before the SDK is imported, which takes a second: some clients' first turn goes without the
tools of a server that is slow to begin."""

import importlib.metadata
import json
from importlib import resources
from typing import Any, BinaryIO

# Of the protocol, in which a client says `initialize`.
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
LONGEST = 100_000  # bytes of a line that is answered here
HELLO = (
    b'{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": '
    b'{"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "check", "version": "1"}}}\n'
)


def called(name: str) -> str:
    """A user's name as a sentence has it: mara is Mara."""
    return name[:1].upper() + name[1:] if name.isalpha() and name.islower() else name


def instructions(user: str | None) -> str:
    """What a client's model is told of the server."""
    text = (resources.files("filemem") / "prompts" / "mcp.md").read_text(encoding="utf-8")
    return text.replace("{name}", called(user) if user else "The person").strip()


def version() -> str:
    """This program's version."""
    return importlib.metadata.version("filemem")


def greet(user: str, into: BinaryIO, out: BinaryIO) -> tuple[bytes, Any]:
    """Answer a client's first line where that is `initialize`: the line, for the SDK, and its id where it was answered."""
    line = into.readline(LONGEST)
    try:
        asked = json.loads(line)
        spoken, number = asked["params"]["protocolVersion"], asked["id"]
        known = asked["method"] == "initialize" and asked["jsonrpc"] == "2.0" and spoken in VERSIONS
        whole = isinstance(number, int | str) and {"capabilities", "clientInfo"} <= asked["params"].keys()
        if not (known and whole):
            return line, None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return line, None
    result = {
        "protocolVersion": spoken,
        "capabilities": {
            "prompts": {"listChanged": False},
            "resources": {"listChanged": True, "subscribe": True},
            "tools": {"listChanged": False},
        },
        "serverInfo": {"name": "filemem", "version": version()},
        "instructions": instructions(user),
    }
    out.write(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode() + b"\n")
    out.flush()
    return line, number
