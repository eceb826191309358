"""Modules that only some calls need: importing YAML, git or the index takes several times a grep's own work."""

import importlib
from typing import Any


def later(name: str) -> Any:
    """A module of filemem, imported now."""
    return importlib.import_module(f"filemem.{name}")
