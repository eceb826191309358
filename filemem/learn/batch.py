"""What one request holds: several conversations, and the memories like them."""

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby

from filemem.learn import profile
from filemem.learn.decide import KnownMemories, machine_of
from filemem.learn.sessions import SaidTurn, Session, display
from filemem.llm import prompt
from filemem.store.facts import plain
from filemem.store.learned import LearnLog, digest
from filemem.store.memory import Memory
from filemem.store.paths import PROFILE, Kind, live
from filemem.store.profile_sections import own_text
from filemem.text import dates
from filemem.text.plain import count_tokens
from filemem.text.redaction import redact

_LABEL = re.compile(r"\b(?:\d+:\d+|[MF]\d+)\b")


@dataclass(frozen=True)
class Request:
    """One request to a model.

    Attributes:
        text: what it reads.
        turns: by the label under which each is shown.
        memories: likewise.
    """

    text: str
    turns: dict[str, SaidTurn]
    memories: dict[str, Memory]

    def cited(self, value: object) -> list[SaidTurn]:
        """Return the turns that were shown under the labels that a value names."""
        return [self.turns[label] for label in labels(value) if label in self.turns]


def labels(value: object) -> list[str]:
    """Return the labels that a value of an answer names, in a list or in one text."""
    return list(dict.fromkeys(_LABEL.findall(str(value).upper())))


def asked_for(known: KnownMemories, log: LearnLog) -> Iterator[SaidTurn]:
    """Yield the facts that rest on no turn, such as those of `filemem remember`, once.

    They are read as what the person said, beside the other memories, as they may
    contradict one. A fact alone contradicts nothing.
    """
    memories = known.all()
    if len(memories) < 2:
        return
    owner = display(known.folder.person)
    unread: dict[str, str] = {}  # by path as what the log would know it
    for one in memories:
        known_as = _known_as(live(one.path), one.statement)
        if known_as in log.read:
            continue
        is_asked_for = not one.sources and not machine_of(one)
        if one.kind == Kind.FACTS and is_asked_for:
            unread[one.path] = known_as
    for one in known.by_day(one for one in memories if one.path in unread):
        known_as = unread[one.path]
        session = Session(live(one.path), frozenset([known_as]))
        line = one.passages[0].line
        text = plain(one.statement)
        yield SaidTurn(session, line, owner, text, known.since(one), known_as)


@lru_cache(maxsize=10_000)
def _known_as(path: str, statement: str) -> str:
    return digest(f"{path}\0{plain(statement)}")


def batches(turns: Iterable[SaidTurn]) -> list[list[SaidTurn]]:
    """Pack unread turns, in order, into requests of some size.

    Args:
        turns: as `sessions.unread` yields them; one session may go into two requests.

    Returns:
        For each request as many as fit into REQUEST_TOKENS, one at least.
    """
    packed: list[list[SaidTurn]] = []
    room = 0
    for turn in turns:
        tokens = count_tokens(turn.shown)
        # The first may be one without words, for which there is always room.
        if not packed or tokens > room:
            packed.append([])
            room = prompt.REQUEST_TOKENS
        packed[-1].append(turn)
        room -= tokens
    return packed


def build_request(
    known: KnownMemories, batch: list[SaidTurn], today: dt.date
) -> Request:
    """Write what a model is to read: the profile, memories, and conversations.

    Args:
        known: the memories, of which those like the turns are shown.
        batch: the turns to read, those of one session side by side.
        today: the day of reading.

    Returns:
        The text, without secrets, and what each label in it means.
    """
    page = known.folder.find(PROFILE)
    body = page.body if page else ""
    owner = display(known.folder.person)
    lines = [f"Today is {day_in_words(today)}. The memories are {owner}'s."]
    own = own_text(body)
    if own:
        lines += ["The profile:", prompt.data(PROFILE, own)]
    said = [turn.text for turn in batch]
    listed: list[str] = []
    memories: dict[str, Memory] = {}
    turns: dict[str, SaidTurn] = {}
    for memory in known.alike(said, profile.sources(body)):
        label = f"M{len(listed) + 1}"
        memories[label] = memory
        until = memory.metadata.get("valid_until")
        end = f", until {until}" if until else ""
        told = f"{label} ({known.since(memory)}{end}): {memory.statement}"
        listed.append(told)
    if listed:
        lines.append("The memories, each with the day of its last word and any end:")
        lines.append(prompt.data("memories", "\n".join(listed)))
    for number, (session, unread) in enumerate(groupby(batch, key=session_of), 1):
        lines += _conversation(turns, number, session, list(unread))
    return Request(redact("\n".join(lines)).text, turns, memories)


def day_in_words(day: dt.date) -> str:
    """Write a day for a model, with its weekday: Friday 8 May 2026 (2026-05-08)."""
    return f"{day:%A} {day.day} {day:%B %Y} ({day})"


def session_of(turn: SaidTurn) -> Session:
    """Return the conversation that a turn is of."""
    return turn.session


def _conversation(
    turns: dict[str, SaidTurn], number: int, session: Session, unread: list[SaidTurn]
) -> list[str]:
    """Write a conversation's unread turns, with a few before them, under their days.

    Args:
        turns: get each turn that is shown, by its label.
        number: of the conversation in the request.
        session: the conversation.
        unread: its turns to be read.

    Returns:
        Its heading, and its text between marks.
    """
    lines: list[str] = []
    day = None
    before = unread[0].before
    for turn in [*before, *unread]:
        shown = replace(turn, text=redact(turn.text).text)
        if not shown.shown.strip():
            continue
        if turn.day != day:
            lines.append(f"{day_in_words(turn.day)}:")
            day = turn.day
        label = f"{number}:{turn.line}"
        turns[label] = shown
        mark = "(read before) " if turn in before else ""
        words = dates.annotate(shown.shown.strip(), turn.day)
        indented = words.replace("\n", "\n  ")
        lines.append(f"[{label}] {mark}{turn.speaker}: {indented}")
    heading = f"Conversation {number}."
    if session.path.startswith("facts/"):
        heading += " It was asked to be remembered."
    return [heading, prompt.data(session.path, "\n".join(lines))]
