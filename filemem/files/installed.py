"""How this program was installed, so that it can say how an extra is."""

import importlib.metadata
import json
import os
import sys
from urllib.parse import unquote, urlsplit


def adding(extra: str) -> str:
    """The command that installs an extra, as the person installed filemem: by uv, pipx or pip, from a clone or an index."""
    home, parts = sys.prefix, sys.prefix.split(os.sep)
    wanted = f"'filemem[{extra}]'"
    try:
        found = json.loads(importlib.metadata.distribution("filemem").read_text("direct_url.json") or "{}")
        if found.get("dir_info", {}).get("editable"):
            wanted = f"-e '{unquote(urlsplit(found['url']).path)}[{extra}]'"
        with open(os.path.join(home, "pyvenv.cfg"), encoding="utf-8") as file:
            by_uv = any(line.startswith("uv =") for line in file)
    except (importlib.metadata.PackageNotFoundError, OSError, ValueError, KeyError, AttributeError):
        by_uv = False
    if "uv" in parts and "tools" in parts:
        return f"uv tool install {wanted}"
    if "pipx" in parts:
        return f"pipx install --force {wanted}"
    return f"{'uv ' if by_uv else ''}pip install {wanted}"
