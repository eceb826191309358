"""What happened behind each answer: one JSON line a step in `.filemem/traces/`, so that a bad answer can be explained."""

import contextlib
import datetime as dt
import json
import os
from typing import Any

from filemem.errors import FilememError, NotFound
from filemem.files import disk
from filemem.files.folder import Folder
from filemem.files.places import listed

FOLDER = "traces"


class Trace:
    """The trace of one session, named as its file. A trace that cannot be written never stops a conversation."""

    def __init__(self, folder: Folder, session: str) -> None:
        self.path = folder.bookkeeping(f"{FOLDER}/{os.path.basename(session).rpartition('.')[0]}.jsonl")

    def note(self, at: dt.datetime, kind: str, **values: Any) -> None:
        """Append one step: `call`, `model`, `notice` or `error`, with whatever explains it."""
        line = json.dumps({"at": f"{at:%Y-%m-%dT%H:%M:%S}", "kind": kind, **values}, ensure_ascii=False) + "\n"
        try:
            disk.make_folder(self.path.folder)
            with open(disk.open_regular(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab") as file:
                file.write(line.encode("utf-8", "replace"))
        except (OSError, FilememError):
            return


def sessions(folder: Folder) -> list[str]:
    """The names of the sessions that have a trace, the one last written to last."""
    with contextlib.suppress(FilememError, OSError), listed(folder.bookkeeping(FOLDER)) as entries:
        written = [(entry.stat().st_mtime_ns, entry.name) for entry in entries if entry.name.endswith(".jsonl")]
        return [name.removesuffix(".jsonl") for _, name in sorted(written)]
    return []


def read(folder: Folder, session: str) -> list[dict[str, Any]]:
    """The steps of a session's trace, named by its file with or without folder and ending; raises NotFound."""
    name = os.path.basename(session).removesuffix(".md")
    if name not in sessions(folder):
        known = sessions(folder)[-3:]
        raise NotFound(
            f"there is no trace of {name}; {'the latest are ' + ', '.join(known) if known else 'no chat has left one yet'}."
        )
    steps = []
    for line in disk.read(folder.bookkeeping(f"{FOLDER}/{name}.jsonl")).decode(errors="replace").split("\n"):
        try:
            step = json.loads(line or "null")
        except ValueError:
            continue
        if isinstance(step, dict):
            steps.append(step)
    return steps
