"""What happened behind each answer: one JSON line a step in `.filemem/traces/`, so that a bad answer can be explained."""

import contextlib
import datetime as dt
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from filemem.errors import FilememError, NotFound
from filemem.files import journal, safe
from filemem.files.folder import Folder
from filemem.files.safe import Place, listed

FOLDER = "traces"
SPENT = ("tokens_in", "tokens_out", "milliseconds")
JOBS = "jobs-"  # what the name of a trace begins with that is of no chat, but of the jobs of a month


Prices = Mapping[str, Sequence[float]]


class Trace:
    """The trace of one session, named as its file. A trace that cannot be written never stops a conversation."""

    def __init__(self, folder: Folder, session: str) -> None:
        self._folder = folder
        self._name = os.path.basename(session).rpartition(".")[0]

    @property
    def path(self) -> Place:
        """Where it lies on disk."""
        return self._folder.bookkeeping(f"{FOLDER}/{self._name}.jsonl")

    @classmethod
    def of_jobs(cls, folder: Folder, at: dt.datetime) -> Self:
        """The trace of what the jobs of a month ask of models."""
        return cls(folder, f"{JOBS}{at:%Y-%m}.md")

    def note(self, at: dt.datetime, kind: str, **values: Any) -> None:
        """Append one step: `turn`, `recall`, `saw`, `call`, `model`, `notice` or `error`, with whatever explains it."""
        with contextlib.suppress(OSError, FilememError):
            safe.make_folder(self.path.folder)
            journal.add(self.path, journal.line({"at": f"{at:%Y-%m-%dT%H:%M:%S}", "kind": kind, **values}))


class Totals(NamedTuple):
    """What some chats and jobs cost and found: tokens and milliseconds of all requests; `hits` are the searches that found
    anything, `strength` is the mean of their best hits', 0 to 1; `money` is that of the `priced` requests.
    """

    chats: int
    messages: int
    requests: int
    purposes: dict[str, int]  # of requests that are no answer, how many for what
    tokens_in: int
    tokens_out: int
    milliseconds: int
    calls: int
    searches: int
    hits: int
    strength: float
    errors: int
    priced: int
    money: float


def totals(folder: Folder, names: Iterable[str], prices: Prices = MappingProxyType({})) -> Totals:
    """The sums over some traces, at `prices` by model's name: of a million tokens in, and out; raises NotFound for one that
    there is not."""
    traces = {name: read(folder, name) for name in names}
    steps = [step for found in traces.values() for step in found]
    of = {kind: [step for step in steps if step.get("kind") == kind] for kind in ("turn", "model", "call", "error")}
    searches = [step for step in of["call"] if step.get("hits") is not None]
    hits = [step for step in searches if step["hits"]]
    purposes = Counter(str(step["purpose"]) for step in of["model"] if "purpose" in step)
    strengths = [float(step["strength"]) for step in hits if step.get("strength") is not None]
    priced = [step for step in of["model"] if step.get("model") in prices]
    money = sum(
        prices[step["model"]][at] * int(step.get(key) or 0) / 1_000_000
        for step in priced
        for at, key in enumerate(("tokens_in", "tokens_out"))
    )
    chats = sum(not name.startswith(JOBS) for name in traces)
    return Totals(
        chats,
        len(of["turn"]),
        len(of["model"]),
        dict(purposes),
        **{key: sum(int(step.get(key) or 0) for step in of["model"]) for key in SPENT},
        calls=len(of["call"]),
        searches=len(searches),
        hits=len(hits),
        strength=sum(strengths) / len(strengths) if strengths else 0.0,
        errors=len(of["error"]),
        priced=len(priced),
        money=money,
    )


def sessions(folder: Folder) -> list[str]:
    """The names of the sessions that have a trace, the one last written to last."""
    return [name for name in written(folder) if not name.startswith(JOBS)]


def written(folder: Folder) -> list[str]:
    """The names of all traces, those of jobs too, the one last written to last."""
    with contextlib.suppress(FilememError, OSError), listed(folder.bookkeeping(FOLDER)) as entries:
        found = [(entry.stat().st_mtime_ns, entry.name) for entry in entries if entry.name.endswith(".jsonl")]
        return [name.removesuffix(".jsonl") for _, name in sorted(found)]
    return []


def read(folder: Folder, session: str) -> list[dict[str, Any]]:
    """The steps of a session's trace, named by its file with or without folder and ending; raises NotFound."""
    name = os.path.basename(session).removesuffix(".md")
    if name not in written(folder):
        known = sessions(folder)[-3:]
        raise NotFound(
            f"there is no trace of {name}; {'the latest are ' + ', '.join(known) if known else 'no chat has left one yet'}."
        )
    data = safe.read(folder.bookkeeping(f"{FOLDER}/{name}.jsonl"))
    return [step for step in journal.parsed(data) if isinstance(step, dict)]
