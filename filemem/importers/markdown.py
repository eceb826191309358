"""A folder of notes: an Obsidian vault, a journal, any folder of text files. Their bytes are given as they stand."""

import os
from collections.abc import Iterator
from datetime import tzinfo

from filemem.errors import Refused
from filemem.files import safe
from filemem.files.folder import is_temporary_name
from filemem.files.memory import LARGEST
from filemem.files.safe import DEEPEST, listed, too_far
from filemem.importers.exports import IMAGES, ImportedNote, Item, Skipped

ATTACHMENTS = (*IMAGES, ".pdf", ".rtf", ".ps", ".eps")  # those that may hold no NUL
SNIFFED = 8192  # bytes in which a NUL marks a file as binary, as git does it


def parse(path: str, zone: tzinfo | None) -> Iterator[Item]:
    """Every text file under the folder `path` (or the one file that it names), by path; nothing is dated by `zone`."""
    if not os.path.isdir(path):
        yield _note(os.path.basename(path), path)
        return
    top = os.path.realpath(path)
    for entry in list(_walk(top, "")):
        yield entry if isinstance(entry, Skipped) else _note(entry, f"{top}/{entry}")


def _walk(root: str, folder: str) -> Iterator[str | Skipped]:
    """The paths under `folder`, relative to `root`, sorted; hidden folders and links are named, not entered."""
    with listed(f"{root}/{folder}") as entries:
        found = sorted((entry.name, entry.is_symlink(), entry.is_dir(follow_symlinks=False)) for entry in entries)
    for name, link, deeper in found:
        path = os.path.join(folder, name)
        if is_temporary_name(name):
            yield Skipped(path, "hidden, or an editor's temporary file")
        elif link:
            yield Skipped(path, "a link; import the file that it leads to")
        elif deeper and too_far(path):
            yield Skipped(path, f"more than {DEEPEST} folders deep, or too long a path; move it further up")
        elif deeper:
            yield from _walk(root, path)
        else:
            yield path


def _note(path: str, full: str) -> ImportedNote | Skipped:
    """The file at `full` as the note `path`, unless it is binary or cannot be read."""
    if path.lower().endswith(ATTACHMENTS):
        return Skipped(path, "an attachment, not a text file")
    try:
        data = safe.read(full, LARGEST + 1)
    except Refused as error:
        return Skipped(path, str(error))
    if b"\0" in data[:SNIFFED]:
        return Skipped(path, "an attachment, not a text file")
    if len(data) > LARGEST:
        return Skipped(path, f"larger than {LARGEST // 1_000_000} MB; split it into smaller files")
    return ImportedNote(path, data)
