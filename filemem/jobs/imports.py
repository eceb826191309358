"""What an import has to say, as lines and for scripts, and its commit."""

import datetime as dt
import os
from collections.abc import Iterator
from typing import Any

from filemem.files.store import StoreFolder
from filemem.history import History
from filemem.importers import ImportReport
from filemem.text.plain import counted

SHOWN = 10  # lines of each list in the report


def taken_in(report: ImportReport, *, dry: bool) -> list[str]:
    """The report of an import in words; of long lists the beginning."""
    words = ("would add", "would update", "to be taken in") if dry else ("added", "updated", "taken in")
    said = []
    for word, taken in zip(words, (report.added, report.updated), strict=False):
        for entry in taken[:SHOWN]:
            said.append(
                f"{word} {entry.user}/{entry.path}" + (f", {counted(entry.turns, 'turn')}" if entry.turns else "")
            )
        if len(taken) > SHOWN:
            said.append(f"{word} {len(taken) - SHOWN:,} more; --json lists them all")
    said += [f"note: {skipped.what}: {skipped.why}" for skipped in report.skipped[:SHOWN]]
    if len(report.skipped) > SHOWN:
        said.append(f"note: {len(report.skipped) - SHOWN:,} more; --json lists them all")
    turns = sum(entry.turns for entry in (*report.added, *report.updated))
    counts = f"{len(report.added):,} added, {len(report.updated):,} updated, {len(report.unchanged):,} unchanged"
    return [*said, f"{'Nothing was written: ' if dry else ''}{counts}, {counted(turns, 'turn')} {words[2]}."]


def import_json(report: ImportReport) -> dict[str, Any]:
    """The report of an import for a script."""
    return {name: [entry._asdict() for entry in entries] for name, entries in report._asdict().items()}


def committed_imports(
    store: StoreFolder, report: ImportReport, format_: str, file: str, at: dt.datetime
) -> Iterator[str]:
    """Commit what was taken in, user by user, where their memories are kept in git; what git says of it."""
    taken: dict[str, list[str]] = {}
    for entry in (*report.added, *report.updated):
        taken.setdefault(entry.user, []).append(entry.path)
    for name, paths in taken.items():
        subject = f"Import {counted(len(paths), 'memory', 'memories')} from {os.path.basename(file)}"
        trailers = {"Job": "import", "Source": f"{format_}:{os.path.basename(file)}"}
        note = History(store.folder(name)).record(subject, paths, trailers, at).note
        if note:
            yield note
