"""What one request holds: several conversations, and the memories that are like them."""

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from filemem.learn import profile
from filemem.learn.decide import KnownMemories, KnownMemory
from filemem.learn.sessions import Session, SessionTurn
from filemem.llm import prompt
from filemem.store.paths import PROFILE
from filemem.text import dates
from filemem.text.plain import count_tokens
from filemem.text.redaction import redact

MAX_REQUEST_TOKENS = 6_000  # of turns
CONTEXT_TURNS = 4  # before the unread ones, to be understood by

Batch = list[Session]


@dataclass(frozen=True)
class ShownTurn:
    """A turn of a request, and the conversation that it is of."""

    session: Session
    turn: SessionTurn

    @property
    def place(self) -> str:
        """Where it stands: `path:line`."""
        return f"{self.session.path}:{self.turn.line}"

    @property
    def is_own(self) -> bool:
        """Whether it is the turn of the person whose memories these are."""
        return not self.turn.is_machine and self.turn.speaker == self.session.user


@dataclass
class Request:
    """One request: the text that a model reads, and what its labels mean."""

    text: str = ""
    turns: dict[str, ShownTurn] = field(default_factory=dict)
    memories: dict[str, KnownMemory] = field(default_factory=dict)


def batches(sessions: Iterable[Session]) -> Iterator[Batch]:
    """Pack the unread turns of sessions, in order, into requests of some size."""
    batch: Batch = []
    spent = 0
    for session in sessions:
        rest = session
        for place in session.unread:
            tokens = count_tokens(session.turns[place].shown)
            if spent and spent + tokens > MAX_REQUEST_TOKENS:
                before, rest = rest.split(place)
                yield [*batch, before] if before.unread else batch
                batch = []
                spent = 0
            spent += tokens
        batch.append(rest)
    if batch:
        yield batch


def halves(batch: Batch) -> list[Batch]:
    """Split a batch by conversations, else by turns; as it is where it is one turn."""
    if len(batch) > 1:
        middle = len(batch) // 2
        return [batch[:middle], batch[middle:]]
    unread = batch[0].unread
    if len(unread) < 2:
        return [batch]
    first, second = batch[0].split(unread[len(unread) // 2])
    return [[first], [second]]


def build_request(batch: Batch, known: KnownMemories, today: dt.date) -> Request:
    """Write what a model is to read: the profile, memories, and conversations."""
    request = Request()
    page = known.folder.find(PROFILE)
    body = page.body if page else ""
    lines = [f"Today is {day_in_words(today)}. The memories are {batch[0].user}'s."]
    own = profile.own_text(body)
    if own:
        lines += ["The profile:", prompt.data(PROFILE, own)]
    said = [session.turns[at].text for session in batch for at in session.waiting]
    memories = known.alike(said, set(profile.sources(body)))
    for number, memory in enumerate(memories, 1):
        request.memories[f"M{number}"] = memory
    if memories:
        noted = [_noted(label, one) for label, one in request.memories.items()]
        lines.append("The memories, each with the day of its last word and any end:")
        lines.append(prompt.data("memories", "\n".join(noted)))
    for number, session in enumerate(batch, 1):
        lines += _conversation(request, number, session)
    request.text = redact("\n".join(lines))[0]
    return request


def day_in_words(day: dt.date) -> str:
    """Write a day for a model, with its weekday: Friday 8 May 2026 (2026-05-08)."""
    return f"{day:%A} {day.day} {day:%B %Y} ({day})"


def _noted(label: str, memory: KnownMemory) -> str:
    end = f", until {memory.until}" if memory.until else ""
    return f"{label} ({memory.since}{end}): {memory.text}"


def _conversation(request: Request, number: int, session: Session) -> list[str]:
    """Write a conversation's unread turns, with a few before them, under their days."""
    unread = session.waiting
    speakers = ", ".join(dict.fromkeys(turn.speaker for turn in session.turns))
    origin = " They come from another program." if session.is_imported else ""
    lines: list[str] = []
    day = None
    for at in [*range(max(0, unread[0] - CONTEXT_TURNS), unread[0]), *unread]:
        turn = session.turns[at]
        turn = replace(turn, text=redact(turn.text)[0])
        if not turn.text.strip():
            continue
        if turn.day != day:
            lines.append(_day_line(session, turn.day, is_first=day is None))
            day = turn.day
        label = f"{number}:{turn.line}"
        request.turns[label] = ShownTurn(session, turn)
        before = "" if at in unread else "(read before) "
        words = dates.annotate(turn.shown.strip(), turn.day)
        indented = words.replace("\n", "\n  ")
        lines.append(f"[{label}] {before}{turn.speaker}: {indented}")
    heading = f"Conversation {number}. Who speaks: {speakers}.{origin}"
    return [heading, prompt.data(session.path, "\n".join(lines))]


def _day_line(session: Session, day: dt.date, *, is_first: bool) -> str:
    when = session.memory.when
    clock = f", {when.time}" if when and is_first else ""
    return f"{day_in_words(day)}{clock}:"
