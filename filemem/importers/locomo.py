"""LoCoMo, the benchmark's own JSON: samples with numbered sessions between two named speakers.

Shape: github.com/snap-research/locomo (`session_N`, `session_N_date_time`, turns with `speaker`, `text`, `dia_id` and,
where a picture was sent, `blip_caption`).
"""

import contextlib
import re
from collections.abc import Iterator
from datetime import datetime, tzinfo
from typing import Any

from filemem.importers.exports import (
    ImportedConversation,
    ImportedTurn,
    Item,
    Seen,
    Skipped,
    elements,
    items,
    mapping,
    moment,
    words,
)

_NAMES = re.compile(r"locomo.*\.json")
_SESSION = re.compile(r"session_(\d+)(_date_time)?")


def parse(path: str, zone: tzinfo | None, seen: Seen) -> Iterator[Item]:
    """Every session of every sample, in order; the sample's id is the user. Times are local to the speakers."""
    for place, sample in elements(path, _NAMES, seen):
        if isinstance(sample, Skipped):
            yield sample
            continue
        user, talk = words(sample.get("sample_id")), mapping(sample.get("conversation"))
        if user and talk:
            yield from _sessions(user, talk, zone)
        else:
            yield Skipped(place, "it is no LoCoMo sample: sample_id or conversation is missing")


def _sessions(user: str, talk: dict[str, Any], zone: tzinfo | None) -> Iterator[Item]:
    """The sessions of one sample by number; those without turns are named together at the end."""
    empty = []
    for number in sorted({int(found[1]) for key in talk if (found := _SESSION.fullmatch(key))}):
        key = f"session_{number}"
        turns = [turn for index, raw in enumerate(items(talk.get(key))) if (turn := _turn(mapping(raw), index))]
        started = _date(words(talk.get(f"{key}_date_time"))) or moment(talk.get(f"{key}_date_time"), zone)
        if not turns:
            empty.append(str(number))
        elif started is None:
            yield Skipped(f"{user} {key}", "its date is missing or not of the form 1:56 pm on 8 May, 2023")
        else:
            at_start = [turn._replace(time=started) for turn in turns]
            yield ImportedConversation(f"{user}/{key}", f"Session {number}", started, at_start, user=user)
    if empty:
        yield Skipped(user, f"sessions without turns: {', '.join(empty)}")


def _turn(raw: dict[str, Any], index: int) -> ImportedTurn | None:
    """One turn with its picture's caption; None where nothing was said or shown."""
    text, caption = words(raw.get("text")), " ".join(words(raw.get("blip_caption")).split())
    if caption:
        text = f"{text} [image: {caption}]".strip()
    if not text:
        return None
    return ImportedTurn(words(raw.get("speaker")) or "unknown", None, text, words(raw.get("dia_id")) or str(index))


def _date(text: str) -> datetime | None:
    """`1:56 pm on 8 May, 2023`; None for anything else."""
    with contextlib.suppress(ValueError):
        return datetime.strptime(text, "%I:%M %p on %d %B, %Y")
    return None
