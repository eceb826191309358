"""What the index takes from a memory's file: its passages, window by window."""

import re
from typing import Any

from filemem.index import snapshot
from filemem.index.snapshot import Builder, IndexedFile, Stats
from filemem.store.memory import LARGEST, SOURCE_MARK, Memory, in_iso, parse
from filemem.store.passages import Passage, pauses, windows
from filemem.store.paths import PROFILE, when_of
from filemem.store.roles import Role
from filemem.text import terms
from filemem.text.plain import LINK

_SOURCE = re.compile(r"\.\w+:\d+\b")  # a line of another file


def add_file(
    builder: Builder, path: str, stats: Stats, data: bytes | None, *, is_settled: bool
) -> None:
    """Add a file to those of a builder.

    Args:
        data: None if it could not be read; it then has a date, but no passages.
    """
    first = builder.next
    memory = parse(path, data or b"")
    particulars: dict[str, Any] = {}
    day_starts: list[tuple[int, int]] = []
    if data is None or len(data) > LARGEST or memory.binary:
        when = when_of(path)
        date = when.date if when else None
    else:
        date = memory.date
        particulars = _particulars(memory)
        day_starts = _add_passages(builder, memory)
        event = memory.metadata.get("day")
        if event:  # behind the passages, which were said on other days
            day_starts.append((builder.next - first, event.toordinal()))
    builder.files.append(
        IndexedFile(
            path=path,
            stats=stats,
            is_settled=is_settled,
            date=date.toordinal() if date else 0,
            first=first,
            count=builder.next - first,
            particulars=particulars,
            day_starts=day_starts,
        )
    )


def _particulars(memory: Memory) -> dict[str, Any]:
    """Return the front matter's values, with the names that stand for one thing."""
    names = [list(link) for link in LINK.findall(memory.text) if link[1]]
    if memory.aliases:
        names.insert(0, [memory.title, *memory.aliases])
    particulars = in_iso(memory.metadata)
    if names:
        particulars["names"] = names
    return particulars


def _add_passages(builder: Builder, memory: Memory) -> list[tuple[int, int]]:
    """Add the passages of a memory; return where days begin in it."""
    first = builder.next
    passages = memory.passages
    speakers: dict[str, int] = {}
    roles: dict[str, int] = {}
    for name in dict.fromkeys(passage.speaker for passage in passages):
        speakers[name] = builder.speaker(name)
        is_assistant = memory.role(name) is Role.ASSISTANT
        roles[name] = snapshot.BY_ASSISTANT * is_assistant
    file_flags = 0
    if _SOURCE.search(str(memory.metadata.get("source", ""))):
        file_flags = snapshot.RETELLS  # a fact, its turns
    day_starts: list[tuple[int, int]] = []
    day = None
    before: Passage | None = None
    has_paused = pauses([passage.time for passage in passages])
    for passage, paused in zip(passages, has_paused, strict=True):
        if passage.day != day:
            day = passage.day
            ordinal = day.toordinal() if day else 0
            day_starts.append((builder.next - first, ordinal))
        flags = roles[passage.speaker] | file_flags
        if paused or _is_apart(memory, passage, before):
            flags |= snapshot.APART
        if _retells(memory, passage):
            flags |= snapshot.RETELLS
        before = passage
        _add_windows(builder, passage, speakers[passage.speaker], flags)
    return day_starts


def _is_apart(memory: Memory, passage: Passage, before: Passage | None) -> bool:
    """Tell whether a passage has nothing to do with the one before it.

    Each line of the profile is a memory, each section of a summary a conversation.
    """
    if before is None or memory.path == PROFILE:
        return True
    return memory.kind == "summaries" and passage.context != before.context


def _retells(memory: Memory, passage: Passage) -> bool:
    """Tell whether a line of a summary or of the profile names what it retells."""
    if memory.kind == "summaries":
        return _SOURCE.search(passage.text) is not None
    return memory.path == PROFILE and SOURCE_MARK.search(passage.text) is not None


def _add_windows(builder: Builder, passage: Passage, speaker: int, flags: int) -> None:
    """Add the windows of a passage; the words of its context are found in each."""
    context = _tokens(passage.context)
    for start, end in windows(passage.text):
        speech, caption = terms.split_captions(passage.text[start:end])
        shown = [f"[{token}" for token in _tokens(caption)]
        asks = snapshot.ASKS * terms.ends_in_question(speech)
        builder.add_passage(
            passage.line, speaker, flags | asks, _tokens(speech), context + shown
        )
        flags |= snapshot.APART


def _tokens(text: str) -> list[str]:
    """Return the tokens of a text without the stop words."""
    if not text:
        return []
    return [token for token in terms.tokens(text) if token not in terms.STOP]
