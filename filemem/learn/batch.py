"""What one request holds: several conversations, and the memories like them."""

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby

from filemem.learn import profile
from filemem.learn.decide import KnownMemories, KnownMemory
from filemem.learn.log import LearnLog, ReadFile, digest
from filemem.learn.sessions import SaidTurn, Session, display
from filemem.llm import prompt
from filemem.store.folder import Folder
from filemem.store.paths import PROFILE, live
from filemem.text import dates
from filemem.text.plain import count_tokens
from filemem.text.redaction import redact

MAX_REQUEST_TOKENS = 6_000  # of turns


@dataclass
class Request:
    """One request: the text that a model reads, and what its labels mean."""

    text: str = ""
    turns: dict[str, SaidTurn] = field(default_factory=dict)
    memories: dict[str, KnownMemory] = field(default_factory=dict)


def asked_for(known: KnownMemories, log: LearnLog) -> Iterator[SaidTurn]:
    """Yield the facts that rest on no turn, such as those of `filemem remember`, once.

    They are read as what the person said, beside the other memories, as they may
    contradict one. A fact alone contradicts nothing.
    """
    owner = display(known.folder.name)
    facts = sorted(known.live.values(), key=lambda one: (one.since, one.path))
    for one in facts:
        said = digest(f"{live(one.path)}\0{one.text}")
        is_asked_for = one.kind == "facts" and not one.sources and not one.said_by
        if is_asked_for and said not in log.read and len(facts) > 1:
            file = ReadFile(0, "", 0)
            session = Session(one.path, file, "", "", False, frozenset([said]))
            yield SaidTurn(
                session, one.line, owner, one.text, one.since, said, False, True
            )


def batches(turns: Iterable[SaidTurn]) -> Iterator[list[SaidTurn]]:
    """Pack unread turns, in order, into requests of some size.

    Args:
        turns: as `sessions.unread` yields them; one session may go into two requests.

    Yields:
        As many turns as fit into MAX_REQUEST_TOKENS, one at least.
    """
    batch: list[SaidTurn] = []
    spent = 0
    for turn in turns:
        tokens = count_tokens(turn.shown)
        if batch and spent + tokens > MAX_REQUEST_TOKENS:
            yield batch
            batch = []
            spent = 0
        batch.append(turn)
        spent += tokens
    if batch:
        yield batch


def build_request(
    folder: Folder, batch: list[SaidTurn], known: KnownMemories, today: dt.date
) -> Request:
    """Write what a model is to read: the profile, memories, and conversations.

    Args:
        folder: whose memories these are.
        batch: the turns to read, those of one session side by side.
        known: the memories, of which those like the turns are shown.
        today: the day of reading.

    Returns:
        The text, without secrets, and what each label in it means.
    """
    request = Request()
    page = folder.find(PROFILE)
    body = page.body if page else ""
    owner = display(folder.person)
    lines = [f"Today is {day_in_words(today)}. The memories are {owner}'s."]
    own = profile.own_text(body)
    if own:
        lines += ["The profile:", prompt.data(PROFILE, own)]
    said = [turn.text for turn in batch]
    noted: list[str] = []
    for memory in known.alike(said, set(profile.sources(body))):
        label = f"M{len(noted) + 1}"
        request.memories[label] = memory
        end = f", until {memory.until}" if memory.until else ""
        noted.append(f"{label} ({memory.since}{end}): {memory.text}")
    if noted:
        lines.append("The memories, each with the day of its last word and any end:")
        lines.append(prompt.data("memories", "\n".join(noted)))
    told = groupby(batch, key=session_of)
    for number, (session, turns) in enumerate(told, 1):
        lines += _conversation(request, number, session, list(turns))
    request.text = redact("\n".join(lines))[0]
    return request


def day_in_words(day: dt.date) -> str:
    """Write a day for a model, with its weekday: Friday 8 May 2026 (2026-05-08)."""
    return f"{day:%A} {day.day} {day:%B %Y} ({day})"


def session_of(turn: SaidTurn) -> Session:
    """Return the conversation that a turn is of."""
    return turn.session


def _conversation(
    request: Request, number: int, session: Session, unread: list[SaidTurn]
) -> list[str]:
    """Write a conversation's unread turns, with a few before them, under their days.

    Args:
        request: learns what each label means.
        number: of the conversation in the request.
        session: the conversation.
        unread: its turns to be read.

    Returns:
        Its heading, and its text between marks.
    """
    origin = " They come from another program." if session.is_imported else ""
    if session.path.startswith("facts/"):
        origin = " It was asked to be remembered."
    lines: list[str] = []
    day = None
    before = unread[0].before
    for turn in [*before, *unread]:
        shown = replace(turn, text=redact(turn.text)[0])
        if not shown.text.strip():
            continue
        if turn.day != day:
            clock = f", {session.began}" if session.began and day is None else ""
            lines.append(f"{day_in_words(turn.day)}{clock}:")
            day = turn.day
        label = f"{number}:{turn.line}"
        request.turns[label] = shown
        mark = "(read before) " if turn in before else ""
        words = dates.annotate(shown.shown.strip(), turn.day)
        indented = words.replace("\n", "\n  ")
        lines.append(f"[{label}] {mark}{turn.speaker}: {indented}")
    heading = f"Conversation {number}.{origin}"
    return [heading, prompt.data(session.path, "\n".join(lines))]
