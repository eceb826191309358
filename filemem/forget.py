"""Deletion on request: the one way in which anything leaves the store for good."""

import os

from filemem import recalls
from filemem.folder import Folder
from filemem.importers import origins


def forget(folder: Folder, path: str) -> list[str]:
    """Delete one memory and its recalls; returns sentences on what was deleted and what still remembers."""
    with folder.locked():
        memory = folder.memory(path)
        os.unlink(folder.absolute(path))
        recalls.drop(folder, path)
        origins.forget(folder, memory)
    said = [f"Deleted {path}."]
    source = memory.particular("source")
    for entry in source if isinstance(source, list) else [source] if source else []:
        said.append(f"{entry} still says it; edit that line to remove it there too.")
    said.append("Git history and backups, where there are any, still have it.")
    return said
