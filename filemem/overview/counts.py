"""How many memories there are, and what fades."""

import datetime as dt
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from filemem.chat.conversation import Conversation
from filemem.forget.sweep import memory_states
from filemem.learn import proposals
from filemem.llm.choice import OfflineModel
from filemem.store import config, pending
from filemem.store.folder import Folder, JobDone, Progress, no_progress
from filemem.text.plain import count_tokens, counted

SOON_DAYS = 30
MAX_FADING_LINES = 12


@dataclass
class KindCount:
    """How many memories of a kind there are, and their bytes."""

    live: int = 0
    live_bytes: int = 0
    archived: int = 0
    archived_bytes: int = 0


@dataclass(frozen=True)
class Counts:
    """How a user's memories stand on a day.

    `fading` has the day and path of what falls under the threshold within SOON_DAYS,
    soonest first; `staying` counts what does not fade, by reason; `proposals` counts
    what waits for the person, `pending` what they asked an earlier version to forget.
    """

    kinds: dict[str, KindCount]
    prompt_tokens: dict[str, int]
    fading: list[tuple[dt.date, str]]
    staying: dict[str, int]
    proposals: int
    pending: int


def status(
    folder: Folder,
    now: dt.datetime,
    progress: Progress = no_progress,
    *,
    brief: bool = False,
) -> JobDone:
    """Return how the memories stand now, in lines and as data; `brief`: in one line."""
    found = _counts(folder, now, progress)
    lines = [_in_one_line(found)] if brief else list(_in_lines(found))
    return JobDone("", lines, asdict(found))


def _counts(folder: Folder, now: dt.datetime, progress: Progress) -> Counts:
    today = now.date()
    threshold = config.of(folder).threshold
    kinds: dict[str, KindCount] = {}
    fading: list[tuple[dt.date, str]] = []
    staying: Counter[str] = Counter()
    for one in memory_states(folder, today, progress):
        count = kinds.setdefault(one.kind, KindCount())
        if one.archived:
            count.archived += 1
            count.archived_bytes += one.size
            continue
        count.live += 1
        count.live_bytes += one.size
        if one.lasts:
            staying[one.lasts] += 1
        days = one.days_left(threshold, today)
        if days is not None and days <= SOON_DAYS:
            fading.append((today + dt.timedelta(days), one.path))
    system = Conversation(folder, OfflineModel(), lambda: now).view().system
    return Counts(
        kinds=dict(sorted(kinds.items())),
        prompt_tokens={name: count_tokens(text) for name, text in system},
        fading=sorted(fading),
        staying=dict(staying),
        proposals=proposals.count(folder),
        pending=len(pending.pending_deletions(folder)),
    )


def _in_one_line(found: Counts) -> str:
    live = sum(count.live for count in found.kinds.values())
    archived = sum(count.archived for count in found.kinds.values())
    return (
        f"{live:,} live, {archived:,} archived, "
        f"{len(found.fading):,} fading within {SOON_DAYS} days"
    )


def _in_lines(found: Counts) -> Iterator[str]:
    for name, count in found.kinds.items():
        line = f"{name:<10} {count.live:>7,} live ({_kilobytes(count.live_bytes)})"
        if count.archived:
            size = _kilobytes(count.archived_bytes)
            line += f", {count.archived:,} archived ({size})"
        yield line
    if found.proposals:
        waits = "waits" if found.proposals == 1 else "wait"
        yield f"{counted(found.proposals, 'proposal')} {waits} for you: filemem review."
    if found.pending:
        places = counted(found.pending, "place")
        yield (
            f"{places} to be forgotten, hidden and not deleted yet:"
            " filemem forget --pending."
        )
    tokens = found.prompt_tokens
    parts = ", ".join(f"{name} {count:,}" for name, count in tokens.items())
    yield f"In every prompt: {sum(tokens.values()):,} tokens ({parts})."
    yield ""
    yield f"Fading within {SOON_DAYS} days: {len(found.fading):,}."
    for day, path in found.fading[:MAX_FADING_LINES]:
        yield f"  {day}  {path}"
    more = len(found.fading) - MAX_FADING_LINES
    if more > 0:
        yield f"  and {more:,} more; --json lists them all."
    if found.staying:
        reasons = sorted(found.staying.items())
        told = ", ".join(f"{count:,} {reason}" for reason, count in reasons)
        yield f"Not fading: {told}."


def _kilobytes(size: int) -> str:
    return f"{size / 1000:,.1f} kB"
