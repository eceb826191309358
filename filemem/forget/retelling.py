"""A model tells what came of old conversations; code checks that each line cites turns."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from filemem.forget import sections
from filemem.llm import prompt
from filemem.llm.model import Model, ModelError
from filemem.store.bullets import Bullet
from filemem.store.compactions import Compacted
from filemem.store.memory import Memory
from filemem.store.passages import Passage
from filemem.store.paths import live
from filemem.store.roles import Role
from filemem.text import dates
from filemem.text.lenient_json import read_list
from filemem.text.plain import clip_tokens, count_tokens, one_line
from filemem.text.redaction import redact

MAX_REQUEST_TOKENS = 6_000  # of turns
MACHINE_TOKENS = 120  # of an assistant's turn that are read along
MAX_TITLE_CHARS = 80
MAX_LINE_CHARS = 400


@dataclass(frozen=True)
class Source:
    """A conversation that is due.

    Attributes:
        memory: its file.
        turns: what may be told of it.
        digest: of the file.
        old: what the log says of it, if anything.
    """

    memory: Memory
    turns: tuple[Passage, ...]
    digest: str
    old: Compacted | None

    @property
    def path(self) -> str:
        """Where it lies when it is live: the name by which it is logged and linked."""
        return live(self.memory.path)

    @property
    def max_tokens(self) -> int:
        """The tokens that its lines may have: its section is under half of it."""
        heading = sections.section(self.path, []).decode()
        return (count_tokens(self.memory.text) - 1) // 2 - count_tokens(heading)


@dataclass(frozen=True)
class Part:
    """Turns of one conversation that one request holds; a long one is in several."""

    source: Source
    turns: tuple[Passage, ...]


@dataclass
class Retold:
    """What a model told.

    Attributes:
        titles: by path of the conversation.
        lines: by path; each cites turns.
        error: why the model told no more, if it failed.
    """

    titles: dict[str, str] = field(default_factory=dict)
    lines: dict[str, list[Bullet]] = field(default_factory=dict)
    error: str = ""


def retell(sources: Sequence[Source], model: Model) -> tuple[dict[str, bytes], str]:
    """Have a model tell conversations, several a request.

    Returns:
        The sections, by the path of the conversation: none of what the model failed to
        tell, or told in no less than half of it. And why it failed, if it did.
    """
    told = Retold()
    unread: set[str] = set()
    for batch in _batches(sources):
        if not told.error:
            _tell(batch, model, told)
        if told.error:
            unread.update(part.source.path for part in batch)
    found = {}
    for source in sources:
        section = _section(source, told)
        if section and source.path not in unread:
            found[source.path] = section
    return found, told.error


def _batches(sources: Sequence[Source]) -> Iterator[list[Part]]:
    """Pack turns, in order, into requests that are not too long."""
    batch: list[Part] = []
    spent = 0
    for source in sources:
        turns: list[Passage] = []
        for turn in source.turns:
            tokens = count_tokens(_shown(source.memory, turn))
            if spent and spent + tokens > MAX_REQUEST_TOKENS:
                yield [*batch, Part(source, tuple(turns))] if turns else batch
                batch = []
                turns = []
                spent = 0
            spent += tokens
            turns.append(turn)
        batch.append(Part(source, tuple(turns)))
    if batch:
        yield batch


def _tell(batch: list[Part], model: Model, told: Retold) -> None:
    """Have one batch told, and take in each line that cites turns of its own."""
    request = "\n".join(
        _conversation(number, part) for number, part in enumerate(batch, 1)
    )
    messages = [
        {"role": "system", "content": prompt.template("retell").strip()},
        {"role": "user", "content": redact(request)[0]},
    ]
    tools = json.loads(prompt.template("retell.json"))
    try:
        reply = model.ask(messages, tools, lambda text: None)
    except ModelError as error:
        told.error = str(error)
        return
    texts = [*(call.arguments for call in reply.calls), reply.text]
    listed = [read_list(text, "conversations") for text in texts]
    entries = [entry for one in listed if one for entry in one.elements]
    if not entries:
        told.error = f"{model.name} told nothing that can be read."
    for entry in entries:
        if isinstance(entry, dict):
            _take_in(entry, batch, told)


def _take_in(entry: dict[str, Any], batch: list[Part], told: Retold) -> None:
    """Take in what is told of one conversation; a line that cites none of it is not."""
    number = str(entry.get("conversation"))
    if not number.isdecimal() or not 1 <= int(number) <= len(batch):
        return
    part = batch[int(number) - 1]
    path = part.source.path
    known = {str(turn.line): turn.line for turn in part.turns}
    title = redact(one_line(str(entry.get("title") or ""), MAX_TITLE_CHARS))[0]
    told.titles.setdefault(path, title)
    lines = entry.get("lines")
    for line in lines if isinstance(lines, list) else []:
        text = str(line.get("text") or "") if isinstance(line, dict) else ""
        named = str(line.get("turns")) if isinstance(line, dict) else ""
        cited = re.findall(rf"\b{number}:(\d+)", named)
        places = tuple(known[one] for one in dict.fromkeys(cited) if one in known)
        text = redact(one_line(text, MAX_LINE_CHARS))[0]
        if places and text:
            bullet = Bullet("", text, path, places)
            told.lines.setdefault(path, []).append(bullet)


def _section(source: Source, told: Retold) -> bytes:
    """The section of a conversation, its last lines left out where it is too long."""
    kept: list[Bullet] = []
    title = told.titles.get(source.path, "")
    tokens = source.max_tokens - count_tokens(title)
    for line in told.lines.get(source.path, []):
        tokens -= line.tokens
        if tokens < 0:
            break
        kept.append(line)
    return sections.section(source.path, kept, title) if kept else b""


def _conversation(number: int, part: Part) -> str:
    """Write a conversation for a model: each turn under its day, with a label."""
    memory = part.source.memory
    lines: list[str] = []
    day = None
    for turn in part.turns:
        said_on = turn.day or memory.date
        if said_on and said_on != day:
            lines.append(f"{said_on:%A} {said_on}:")
            day = said_on
        text = _shown(memory, turn)
        if day:
            text = dates.annotate(text, day)
        indented = text.replace("\n", "\n  ")
        lines.append(f"[{number}:{turn.line}] {turn.speaker}: {indented}")
    data = prompt.data(part.source.path, "\n".join(lines))
    return f"Conversation {number}.\n{data}"


def _shown(memory: Memory, turn: Passage) -> str:
    """What a model reads of a turn: a person's words whole, an assistant's clipped."""
    if memory.role(turn.speaker) is Role.ASSISTANT:
        return clip_tokens(turn.text, MACHINE_TOKENS)
    return turn.text
