"""How a user's memories stand: counts and sizes by kind, tokens in the prompt, what fades soon, how retention is spread."""

import datetime as dt
import math
from typing import NamedTuple

from filemem.chat.conversation import Conversation
from filemem.files import config
from filemem.files.folder import Folder, Progress, no_progress
from filemem.forgetting.sweeper import YOUNG, curve, standings
from filemem.models.offline import OfflineModel
from filemem.text.plain import count_tokens

SOON = 30  # days
BARS = 10


class KindCount(NamedTuple):
    """The memories of one kind: how many are live and archived, and their bytes."""

    live: int
    live_bytes: int
    archived: int
    archived_bytes: int


class Status(NamedTuple):
    """`fading` are the days and paths of what falls under the threshold within SOON days, soonest first; `spread` counts
    the live memories that fade by retention, in BARS steps from 0 to 1; `staying` counts the others by reason.
    """

    kinds: dict[str, KindCount]
    prompt_tokens: dict[str, int]
    fading: list[tuple[dt.date, str]]
    spread: list[int]
    staying: dict[str, int]


def status(folder: Folder, now: dt.datetime, progress: Progress = no_progress) -> Status:
    """How the memories stand now."""
    kinds: dict[str, KindCount] = {}
    staying: dict[str, int] = {}
    spread = [0] * BARS
    fading = []
    today, threshold = now.date(), curve(config.of(folder)).threshold
    for entry, size, reason, strength, *_ in standings(folder, today, progress):
        kind = kinds.get(entry.kind, KindCount(0, 0, 0, 0))
        if entry.archived:
            kinds[entry.kind] = kind._replace(archived=kind.archived + 1, archived_bytes=kind.archived_bytes + size)
            continue
        kinds[entry.kind] = kind._replace(live=kind.live + 1, live_bytes=kind.live_bytes + size)
        if reason and reason != YOUNG:
            staying[reason] = staying.get(reason, 0) + 1
        elif strength:
            spread[min(BARS - 1, int(strength.retention * BARS))] += 1
            left = math.ceil(strength.left(threshold, today))
            if left <= SOON:
                fading.append((today + dt.timedelta(max(0, left)), entry.path))
    system = Conversation(folder, OfflineModel(), lambda: now).view().system
    counted = {name: count_tokens(text) for name, text in system}
    return Status(dict(sorted(kinds.items())), counted, sorted(fading), spread, staying)


def in_words(found: Status, width: int = 40, most: int = 12) -> list[str]:
    """The status as lines for a terminal; the histogram is `width` characters wide."""
    said = []
    for name, kind in found.kinds.items():
        kept = f", {kind.archived:,} archived ({_bytes(kind.archived_bytes)})" if kind.archived else ""
        said.append(f"{name:<10} {kind.live:>7,} live ({_bytes(kind.live_bytes)}){kept}")
    parts = ", ".join(f"{name} {count:,}" for name, count in found.prompt_tokens.items())
    said.append(f"In every prompt: {sum(found.prompt_tokens.values()):,} tokens ({parts}).")
    said += ["", f"Fading within {SOON} days: {len(found.fading):,}."]
    said += [f"  {day}  {path}" for day, path in found.fading[:most]]
    if len(found.fading) > most:
        said.append(f"  and {len(found.fading) - most:,} more; --json lists them all.")
    top = max(found.spread)
    said += ["", f"Retention of the {sum(found.spread):,} live memories that fade:"] if top else [""]
    for step in range(BARS - 1, -1, -1) if top else ():
        count = found.spread[step]
        bar = "█" * math.ceil(width * count / top)
        said.append(f"  {step / BARS:.1f} to {(step + 1) / BARS:.1f}  {bar}{' ' if bar else ''}{count:,}")
    if found.staying:
        staying = ", ".join(f"{count:,} {reason}" for reason, count in sorted(found.staying.items()))
        said.append(f"Not fading: {staying}.")
    return said


def _bytes(count: int) -> str:
    """A size as people write it, in units of 1,000."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"
