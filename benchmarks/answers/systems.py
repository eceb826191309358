"""The memories under test. An adapter is one function: it takes a history in, and says what the model gets for a question.

    def mine(sessions: list[Session], folder: Path) -> Offer: ...

It sees what was said and nothing else: no question, no key. `folder` is empty and its own, and is deleted afterwards.
`--system mine.py:mine` tests an adapter from a file.
"""

import datetime as dt
import functools
import json
import math
import os
import re
import runpy
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import anyio.to_thread
from inspect_ai.tool import ToolDef, ToolParams

from benchmarks.answers.data import Session, Turn
from filemem import Store, Toolbox, User, index
from filemem.files.store import StoreFolder
from filemem.files.trust import Trust
from filemem.importers.intake import import_file
from filemem.jobs.maintenance import compact, sweep
from filemem.search import semantic


class Offer(NamedTuple):
    """What a system gives the model: how to use it, text for a question at a moment, tools at a moment."""

    how: str
    context: Callable[[str, dt.datetime], str] = lambda question, at: ""
    tools: Callable[[dt.datetime], list[ToolDef]] = lambda at: []


Adapter = Callable[[list[Session], Path], Offer]


class Absent(NamedTuple):
    """A system that cannot be tested here, and why."""

    reason: str


def told(session: Session, turns: list[Turn]) -> str:
    """Turns as lines under the day of their session."""
    lines = (f"{turn.at:%H:%M} {turn.speaker}: {turn.text}" for turn in turns)
    return f"{session.at:%A, %d %B %Y}\n" + "\n".join(lines)


# -- without a memory system -------------------------------------------------------------------------------------------


def no_memory(sessions: list[Session], folder: Path) -> Offer:
    """Nothing but the question: what a model guesses."""
    return Offer("")


def full_context(sessions: list[Session], folder: Path) -> Offer:
    """Everything that was ever said, in order; what does not fit the model's window is an error of that question."""
    whole = "\n\n".join(told(session, session.turns) for session in sessions)
    return Offer("Everything that was said stands in <memory>.", lambda question, at: whole)


BEST = 20  # turns that BM25 gives
K1, B = 1.2, 0.75  # BM25's usual constants
_WORDS = re.compile(r"[^\W_\u3400-\u9fff]+|[\u3400-\u9fff]+")


def words(text: str) -> list[str]:
    """Words in small letters, and pairs of Chinese characters."""
    found: list[str] = []
    for word in _WORDS.findall(text.lower()):
        pairs = [word[at : at + 2] for at in range(max(1, len(word) - 1))]
        found += pairs if "\u3400" <= word[0] <= "\u9fff" else [word]
    return found


def bm25(sessions: list[Session], folder: Path, best: int = BEST) -> Offer:
    """The turns that match the question best, by plain BM25, the best first."""
    turns = [(session, turn) for session in sessions for turn in session.turns]
    counts = [Counter(words(f"{turn.speaker} {turn.text}")) for _, turn in turns]
    sizes = [count.total() for count in counts]
    mean = sum(sizes) / max(len(sizes), 1) or 1
    where: dict[str, list[int]] = {}
    for number, count in enumerate(counts):
        for word in count:
            where.setdefault(word, []).append(number)

    def context(question: str, at: dt.datetime) -> str:
        scores: Counter[int] = Counter()
        for word in set(words(question)):
            rare = math.log(1 + (len(turns) - len(where.get(word, ())) + 0.5) / (len(where.get(word, ())) + 0.5))
            for number in where.get(word, ()):
                often = counts[number][word]
                scores[number] += rare * often * (K1 + 1) / (often + K1 * (1 - B + B * sizes[number] / mean))
        found = (turns[number] for number, _ in scores.most_common(best))
        return "\n".join(f"{session.at:%d %B %Y}, {turn.speaker}: {turn.text}" for session, turn in found)

    return Offer("What matches the question best stands in <memory>, the best first.", context)


# -- filemem -----------------------------------------------------------------------------------------------------------

HOW = (
    "You have a long-term memory: dated files, which you read with grep, search_files, open and close. Call search_files with "
    "the question itself first; use grep for exact words, names and numbers, and open to read on around a line. Where two "
    "memories disagree, the newer one holds; one marked `superseded by` tells what was."
)
YEAR = dt.timedelta(days=365)


def compacted(user: User, last: dt.datetime) -> None:
    """A year later: everything summarised, and what has faded put into the archive."""
    compact(user.folder, (last + YEAR).astimezone(), None, older_than=0)
    sweep(user.folder, (last + YEAR).astimezone())


def embedded(user: User, last: dt.datetime) -> None:
    """The vector of every passage; raises ModelError where the endpoint fails."""
    known = semantic.of(user.folder)
    if known:
        known.update(index.of(user.folder), lambda *_: None)


class Agreed(Trust):
    """Agrees to the settings that whoever runs the benchmark has written, and keeps no note of that."""

    def known(self, path: str, content: Any) -> bool:
        """Yes."""
        return True


def filemem(
    sessions: list[Session],
    folder: Path,
    jobs: tuple[Callable[[User, dt.datetime], None], ...] = (),
    settings: str = "",
) -> Offer:
    """filemem's four tools over the sessions, once these jobs are done; the profile, where there is one, in the prompt."""
    chats = folder / "chats.jsonl"
    chats.write_text("\n".join(map(_exported, sessions)), encoding="utf-8")
    store = folder / "store"
    store.mkdir()
    import_file(StoreFolder(store), "openai-jsonl", str(chats), user="person")
    (store / "filemem.yaml").write_text(settings, encoding="utf-8")
    user = Store(store, Agreed()).user("person")
    for job in jobs:
        job(user, sessions[-1].at)
    user.search_files("what is there?", limit=1)  # the index is made now, and not on the time of the first question
    profile = user.profile

    def tools(at: dt.datetime) -> list[ToolDef]:
        box = Toolbox(user.folder, at.astimezone)
        box.noting = False  # what one question opens is not to change the next one's answer
        return [_tool(box, schema["function"]) for schema in box.schemas]

    return Offer(HOW, lambda question, at: profile, tools)


def _exported(session: Session) -> str:
    """A session as a line that `filemem import openai-jsonl` takes in."""
    messages = [
        {"role": "user", "name": turn.speaker, "content": turn.text, "timestamp": turn.at.isoformat()}
        for turn in session.turns
    ]
    return json.dumps({"id": session.id, "created_at": session.at.isoformat(), "messages": messages})


def _tool(box: Toolbox, schema: dict[str, Any]) -> ToolDef:
    """One of the four tools as Inspect calls it."""

    async def execute(**kwargs: Any) -> str:
        return await anyio.to_thread.run_sync(box.call, schema["name"], kwargs)

    parameters = ToolParams.model_validate(schema["parameters"])
    return ToolDef(execute, schema["name"], schema["description"], parameters, max_output=0)


SETTINGS = os.environ.get("ANSWERS_EMBEDDINGS", "")
SYSTEMS: dict[str, Adapter | Absent] = {
    "no-memory": no_memory,
    "full-context": full_context,
    "bm25": bm25,
    "filemem": filemem,
    "filemem-compacted": functools.partial(filemem, jobs=(compacted,)),
    "filemem-vectors": functools.partial(filemem, jobs=(embedded,), settings=Path(SETTINGS).read_text(encoding="utf-8"))
    if SETTINGS
    else Absent("ANSWERS_EMBEDDINGS names no file with filemem's `embeddings:` setting"),
}


def adapter(name: str) -> Adapter | Absent:
    """A system by its name, or `FILE.py:FUNCTION`; raises SystemExit with the names for one that is not there."""
    path, _, function = name.rpartition(":")
    if path.endswith(".py") and Path(path).is_file():
        found = runpy.run_path(path).get(function)
        if callable(found):
            return found
        raise SystemExit(f"{path} has no function {function}.")
    if name not in SYSTEMS:
        raise SystemExit(f"There is no system {name}; there are {', '.join(SYSTEMS)}, or FILE.py:FUNCTION.")
    return SYSTEMS[name]
