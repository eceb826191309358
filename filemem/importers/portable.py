"""One user's memories in one file, to be moved to another store: as they lie, in a zip,
or as JSON to be read by other programs."""

import contextlib
import json
import os
import re
import zipfile
from collections.abc import Iterator
from io import BytesIO

from filemem.errors import FilememError, Refused
from filemem.importers.base import Document
from filemem.importers.intake import ImportedMemory, ImportReport
from filemem.store import files
from filemem.store.folder import BOOKKEEPING, Folder
from filemem.text.plain import one_line

FORMAT = "filemem"
MAX_UNPACKED_BYTES = 2_000_000_000
_LOG = re.compile(rf"{BOOKKEEPING}/(?:\w+\.(?:log|jsonl)|key)")
"""What of the bookkeeping goes along: the logs, and the key of their digests."""


def pack(folder: Folder, file: str) -> list[str]:
    """Write all of a user's to a file: memories, proposals, what else lies there, logs.

    Args:
        folder: whose.
        file: where to; one that ends in `.json` gets JSON, with the text of each memory
            by its path, any other a zip of the folder as it lies.

    Returns:
        The paths that are in it: no hidden files and links, and in JSON nothing but
        memories and proposals.
    """
    logs = {}
    for name in sorted(os.listdir(folder.bookkeeping())):
        path = f"{BOOKKEEPING}/{name}"
        if _LOG.fullmatch(path):
            logs[path] = files.read(folder.bookkeeping(name))
    if file.endswith(".json"):
        paths = [*folder.paths(), *folder.proposals()]
        document = {
            "user": folder.name,
            "memories": {path: folder.memory(path).text for path in paths},
            "logs": {
                path: data.decode(errors="replace") for path, data in logs.items()
            },
        }
        files.write(file, json.dumps(document, ensure_ascii=False, indent=1).encode())
        return paths
    paths = []
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in folder.everything():
            with contextlib.suppress(Refused):  # no import could take it in
                archive.writestr(path, folder.read(path))
                paths.append(path)
        for path, data in logs.items():
            archive.writestr(path, data)
    files.write(file, packed.getvalue())
    return paths


def unpack(folder: Folder, file: str, *, dry_run: bool = False) -> ImportReport:
    """Take in what `pack` wrote, a zip or JSON.

    A memory that is there already, with the same bytes, stays as it is; one with
    another text gets the next free name. The logs come only to a user who is new.

    Args:
        folder: whose memories these become.
        file: what `pack` wrote.
        dry_run: report the same and write nothing.

    Raises:
        FilememError: it is no such file, or a path in it leads out.
    """
    report = ImportReport()
    unpacked = list(_unpacked(file))
    if not unpacked:
        return report
    with_logs = not folder.exists()
    with contextlib.nullcontext() if dry_run else folder.locked():
        for path, data in unpacked:
            there = next(folder.existing(path), "")
            if _LOG.fullmatch(path):
                if with_logs and not dry_run:
                    files.write(folder.bookkeeping(os.path.basename(path)), data)
            elif there and folder.read(there) == data:
                report.unchanged.append(ImportedMemory(folder.name, there, 0))
            else:
                kept = path if dry_run else folder.create(path, data)
                report.added.append(ImportedMemory(folder.name, kept, 0))
    if not dry_run:
        folder.tell("kept", len(report.added))
    return report


def _unpacked(file: str) -> Iterator[Document]:
    """Yield what a file holds, each by its path; raise FilememError."""
    data = files.read(file)
    try:
        if data[:2] != b"PK":
            document = json.loads(data)
            texts = {**document["memories"], **document.get("logs", {})}
            for path, text in texts.items():
                yield Document(path, text.encode())
            return
        archive = zipfile.ZipFile(BytesIO(data))
        size_bytes = sum(entry.file_size for entry in archive.infolist())
        if size_bytes > MAX_UNPACKED_BYTES:
            raise ValueError("it holds too much")
        for name in archive.namelist():
            yield Document(name, archive.read(name))
    except (ValueError, LookupError, TypeError, AttributeError, zipfile.error) as error:
        raise FilememError(
            f"{one_line(file)} is no export of filemem ({one_line(str(error), 80)}); "
            "make one with store.export."
        ) from None
