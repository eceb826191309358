"""How many memories there are, and what fades."""

import datetime as dt
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

from filemem.chat.conversation import Conversation
from filemem.forget.states import ArchiveUse, archive_use, memory_states
from filemem.forget.sweep import waiting_line
from filemem.llm.choice import OfflineModel
from filemem.store import config, usage
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


@dataclass
class Counts:
    """How a user's memories stand on a day.

    Attributes:
        kinds: by kind.
        fading: the day and path of what falls under the threshold within SOON_DAYS.
        staying: how many do not fade, by reason.
        prompt_tokens: what stands in every prompt, by its name.
        proposals: how many wait for the person.
        waiting: how many faded facts wait for a yes.
        archive_use: how often facts are recalled out of the archive.
    """

    kinds: dict[str, KindCount] = field(default_factory=dict)
    fading: list[tuple[dt.date, str]] = field(default_factory=list)
    staying: dict[str, int] = field(default_factory=dict)
    prompt_tokens: dict[str, int] = field(default_factory=dict)
    proposals: int = 0
    waiting: int = 0
    archive_use: ArchiveUse = field(default_factory=ArchiveUse)


def status(
    folder: Folder,
    now: dt.datetime,
    progress: Progress = no_progress,
    *,
    brief: bool = False,
) -> JobDone:
    """Return how the memories stand, in lines and as data; `brief`: in one line."""
    counts = count(folder, now, progress)
    lines = [_in_one_line(counts)] if brief else list(_in_lines(counts))
    return JobDone("", lines, asdict(counts))


def count(folder: Folder, now: dt.datetime, progress: Progress = no_progress) -> Counts:
    """Return how the memories stand.

    Args:
        folder: whose memories.
        now: the moment as of which they are counted.
        progress: told how many have been looked at.
    """
    counts = Counts()
    _count_memories(counts, folder, now.date(), progress)
    system = Conversation(folder, OfflineModel(), lambda: now).view().system
    counts.prompt_tokens = {name: count_tokens(text) for name, text in system}
    counts.proposals = len(folder.proposals())
    counts.waiting = usage.waiting_for_a_yes(folder)
    return counts


def _count_memories(
    counts: Counts, folder: Folder, today: dt.date, progress: Progress
) -> None:
    """Count the memories by kind, and what fades."""
    threshold = config.of(folder).threshold
    staying = Counter[str]()
    states = list(memory_states(folder, today, progress))
    counts.archive_use = archive_use(folder, states, today)
    for state in states:
        kind = counts.kinds.setdefault(state.kind, KindCount())
        if state.archived:
            kind.archived += 1
            kind.archived_bytes += state.size
            continue
        kind.live += 1
        kind.live_bytes += state.size
        if state.lasts:
            staying[state.lasts] += 1
        left = state.days_left(threshold, today)
        if left is not None and left <= SOON_DAYS:
            counts.fading.append((today + dt.timedelta(left), state.path))
    counts.kinds = dict(sorted(counts.kinds.items()))
    counts.staying = dict(staying)
    counts.fading.sort()


def _in_one_line(counts: Counts) -> str:
    """Return how the memories stand, as a list of many users shows it."""
    live = sum(kind.live for kind in counts.kinds.values())
    archived = sum(kind.archived for kind in counts.kinds.values())
    return (
        f"{live:,} live, {archived:,} archived, "
        f"{len(counts.fading):,} fading within {SOON_DAYS} days"
    )


def _in_lines(counts: Counts) -> Iterator[str]:
    """Yield how the memories of one user stand."""
    for name, kind in counts.kinds.items():
        line = f"{name:<10} {kind.live:>7,} live ({kind.live_bytes / 1000:,.1f} kB)"
        if kind.archived:
            size = f"{kind.archived_bytes / 1000:,.1f} kB"
            line += f", {kind.archived:,} archived ({size})"
        yield line
    if counts.proposals:
        yield f"{counted(counts.proposals, 'proposal')} for you: filemem review."
    yield from waiting_line(counts.waiting)
    if counts.archive_use.returns:
        yield str(counts.archive_use)
    tokens = counts.prompt_tokens
    parts = ", ".join(f"{name} {count:,}" for name, count in tokens.items())
    yield f"In every prompt: {sum(tokens.values()):,} tokens ({parts})."
    yield ""
    yield f"Fading within {SOON_DAYS} days: {len(counts.fading):,}."
    for day, path in counts.fading[:MAX_FADING_LINES]:
        yield f"  {day}  {path}"
    if len(counts.fading) > MAX_FADING_LINES:
        yield "  and more; --json lists them all."
    if counts.staying:
        reasons = sorted(counts.staying.items())
        told = ", ".join(f"{count:,} {reason}" for reason, count in reasons)
        yield f"Not fading: {told}."
