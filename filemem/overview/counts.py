"""How many memories there are, and what fades."""

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

from filemem.chat.core_memory import core_memory
from filemem.forget.states import ArchiveUse, MemoryState, archive_use, memory_states
from filemem.forget.sweep import waiting_line
from filemem.store import config, usage
from filemem.store.folder import Folder
from filemem.text.plain import count_tokens, counted
from filemem.work import JobDone, Progress, no_progress

SOON_DAYS = 30
MAX_FADING_LINES = 12


@dataclass(frozen=True)
class KindCount:
    """How many memories of a kind there are, and their bytes."""

    live: int
    live_bytes: int
    archived: int
    archived_bytes: int


class Fading(NamedTuple):
    """A memory that will fall under the threshold unless it is recalled."""

    day: dt.date
    path: str


@dataclass(frozen=True)
class Counts:
    """How a user's memories stand on a day.

    Attributes:
        kinds: by kind.
        fading: what falls under the threshold within SOON_DAYS.
        staying: how many do not fade, by reason.
        prompt_tokens: what stands in every prompt, by its name.
        proposals: how many wait for the person.
        waiting: how many faded facts wait for a yes.
        archive_use: how often facts are recalled out of the archive.
    """

    kinds: dict[str, KindCount]
    fading: list[Fading]
    staying: dict[str, int]
    prompt_tokens: dict[str, int]
    proposals: int
    waiting: int
    archive_use: ArchiveUse


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
    today = now.date()
    settings = config.of(folder)
    states = list(memory_states(folder, today, progress))
    live = [state for state in states if not state.archived]
    fading = []
    for state in live:
        left = state.days_left(settings.threshold, today)
        if left is not None and left <= SOON_DAYS:
            fading.append(Fading(today + dt.timedelta(left), state.path))
    core = core_memory(folder, today)
    standing = core.parts(folder.person, has_tools=settings.offers_tools)
    return Counts(
        kinds=_by_kind(states),
        fading=sorted(fading),
        staying=dict(Counter(state.lasts for state in live if state.lasts)),
        prompt_tokens={name: count_tokens(text) for name, text in standing},
        proposals=len(folder.proposals()),
        waiting=usage.waiting_for_a_yes(folder),
        archive_use=archive_use(folder, states, today),
    )


def _by_kind(states: Sequence[MemoryState]) -> dict[str, KindCount]:
    """Count memories by kind."""
    counts: dict[str, KindCount] = {}
    for kind in sorted({state.kind for state in states}):
        of_kind = [state for state in states if state.kind == kind]
        live = [state.size for state in of_kind if not state.archived]
        archived = [state.size for state in of_kind if state.archived]
        counts[kind] = KindCount(len(live), sum(live), len(archived), sum(archived))
    return counts


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
