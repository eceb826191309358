"""What happened behind each answer: one JSON line a step in `.filemem/traces/`, so that a bad answer can be explained."""

import contextlib
import datetime as dt
import json
import os
from collections.abc import Iterable
from typing import Any, NamedTuple

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


class Totals(NamedTuple):
    """What some chats cost and found: tokens and milliseconds of all requests; `hits` are the searches that found anything."""

    chats: int
    messages: int
    requests: int
    tokens_in: int
    tokens_out: int
    milliseconds: int
    calls: int
    searches: int
    hits: int
    errors: int


def totals(folder: Folder, names: Iterable[str]) -> Totals:
    """The sums over the traces of some sessions; raises NotFound for one that has none."""
    read_ = [read(folder, name) for name in names]
    steps = [step for found in read_ for step in found]
    of = {kind: [step for step in steps if step.get("kind") == kind] for kind in ("turn", "model", "call", "error")}
    searches = [step for step in of["call"] if step.get("hits") is not None]
    hits = [step for step in searches if step["hits"]]
    spent = [
        sum(int(step.get(key) or 0) for step in of["model"]) for key in ("tokens_in", "tokens_out", "milliseconds")
    ]
    counts = [len(found) for found in (of["call"], searches, hits, of["error"])]
    return Totals(len(read_), len(of["turn"]), len(of["model"]), *spent, *counts)


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
