"""Folders of notes: every text file under one, as it stands."""

import os
from collections.abc import Iterator
from datetime import tzinfo

from filemem.errors import Refused
from filemem.importers.base import ImportedNote, Item, Skipped
from filemem.store import files
from filemem.store.folder import SUFFIXES, is_memory_name
from filemem.store.memory import LARGEST, parse
from filemem.text.plain import digest


def markdown(path: str, zone: tzinfo | None) -> Iterator[Item]:
    """Yield every text file under a folder by path, or the one file that is named.

    Nothing is dated by `zone`.
    """
    if not os.path.isdir(path):
        yield _note(os.path.basename(path), path)
        return
    found = files.walk(path, lambda _, entry: not _left_out_because(entry))
    for name, entry in sorted(found, key=lambda one: one.path):
        reason = _left_out_because(entry)
        if reason:
            yield Skipped(name, reason)
        elif not entry.is_dir():
            yield _note(name, entry.path)


def _left_out_because(entry: "os.DirEntry[str]") -> str:
    """Return why a file or a folder is not looked into; empty where it is."""
    if entry.name[0] in ".~":
        return "hidden, or an editor's temporary file"
    if entry.is_symlink():
        return "a link; import the file that it leads to"
    if not os.access(entry.path, os.R_OK):
        return "it may not be read; check its permissions"
    return ""


def _note(path: str, place: str) -> ImportedNote | Skipped:
    """Read the file at `place` as the note `path`, unless it is no text."""
    if not is_memory_name(os.path.basename(path)):
        return Skipped(path, f"not a note: its name has none of {', '.join(SUFFIXES)}")
    try:
        data = files.read(place, LARGEST + 1)
    except Refused as error:
        return Skipped(path, str(error))
    if parse(path, data).binary:
        return Skipped(path, "not a text file")
    if len(data) > LARGEST:
        limit = f"larger than {LARGEST // 1_000_000} MB"
        return Skipped(path, f"{limit}; split it into smaller files")
    return ImportedNote(path, data, digest(os.fsencode(place), 16))
