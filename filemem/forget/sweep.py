"""The sweep: it archives what has faded and brings back what was recalled."""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from filemem.forget.states import MemoryState, memory_states
from filemem.store import config, recalls, saved_over, usage
from filemem.store.folder import Folder, draft_stays
from filemem.store.paths import Kind, archived, is_archived, live
from filemem.text.plain import counted, digest, first_few
from filemem.work import JobDone, Progress, no_progress

MANY_FACTS = 20  # more of them, and more than a share of all, are a large sweep
LARGE_SHARE = 5  # of all live facts: a fifth
LARGE_WITHIN_DAYS = 30  # in which no job archives more without a yes


class Large(Enum):
    """What becomes of a sweep that is large: of more than a fifth of all facts."""

    WAITS = "none of these facts is archived"
    A_FIFTH = "the fifth that faded longest ago is archived"
    ALL = "all are archived"


@dataclass(frozen=True)
class SweepPlan:
    """What a sweep would move.

    Attributes:
        to_archive: by path why: `retention 0.052` or `held until 2026-08-31`.
        to_restore: by path in the archive why.
        waiting: the faded facts that wait for a yes.
        own_files: the digest of all files that the person wrote or changed.
    """

    to_archive: dict[str, str]
    to_restore: dict[str, str]
    waiting: list[str]
    own_files: str


def plan_sweep(
    folder: Folder,
    today: dt.date,
    progress: Progress = no_progress,
    *,
    large: Large = Large.WAITS,
) -> SweepPlan:
    """Return what has faded by a day, and what comes back; nothing is moved."""
    threshold = config.of(folder).threshold
    states = sorted(
        memory_states(folder, today, progress), key=lambda state: state.path
    )
    left = _left_to_wait(states, threshold, today, large)
    waiting = set(left)
    to_archive: dict[str, str] = {}
    to_restore: dict[str, str] = {}
    own = list[str]()
    kept = list[MemoryState]()
    for state in states:
        if state.own_digest:
            own.append(f"{live(state.path)} {state.own_digest}")
        if state.archived:
            if state.returns:
                to_restore[state.path] = state.returns
        elif state.why_due(threshold) and state.path not in waiting:
            to_archive[state.path] = state.why_due(threshold)
        else:
            kept.append(state)
    _keep_cited({state.path: state for state in states}, kept, to_archive)
    own_files = digest("\n".join(sorted(own)))
    return SweepPlan(to_archive, to_restore, left, own_files)


def _left_to_wait(
    states: list[MemoryState],
    threshold: float,
    today: dt.date,
    large: Large,
) -> list[str]:
    """Return the paths of the faded facts that a large sweep leaves.

    What jobs have archived of late counts, so that no row of nights archives all; one
    that somebody watches waits only if it is large itself.
    """
    since = today - dt.timedelta(LARGE_WITHIN_DAYS)
    faded = list[tuple[float, str]]()
    alive = 0
    of_late = 0
    for state in states:
        if state.kind != Kind.FACTS:
            continue
        if state.archived:
            of_late += state.recalls.archived >= f"{since}" and not state.is_past
            continue
        alive += 1
        if state.why_due(threshold) and state.strength:
            faded.append((state.strength.days_left(threshold, today), state.path))
    many = max(MANY_FACTS, (alive + of_late) // LARGE_SHARE)
    taken = 0
    if large is Large.A_FIFTH:
        taken = max(0, many - of_late)
    elif large is Large.ALL or len(faded) <= many:
        taken = len(faded)
    return [path for _, path in sorted(faded)[taken:]]


def _keep_cited(
    states: Mapping[str, MemoryState],
    kept: list[MemoryState],
    to_archive: dict[str, str],
) -> None:
    """Take out of `to_archive` what a memory that stays names as its source, and what
    this names."""
    while kept:
        for source in kept.pop().sources:
            if to_archive.pop(source, ""):
                kept.append(states[source])


def apply_sweep(
    folder: Folder, plan: SweepPlan, at: dt.datetime, *, dry: bool = False
) -> JobDone:
    """Move what the plan says, and say what stayed.

    Args:
        folder: whose memories.
        plan: what goes to the archive, and what comes back.
        at: the moment that counts as now.
        dry: only say it.
    """
    if dry:
        drafts = folder.drafts.intersection({*plan.to_archive, *plan.to_restore})
        stayed = {path: draft_stays(path) for path in sorted(drafts)}
    else:
        waiting = len(plan.waiting)
        usage.note_sweep(folder, plan.own_files, waiting, at.date())
        stayed = recalls.archive(folder, plan.to_archive, at)
        stayed |= folder.move({path: live(path) for path in plan.to_restore})
    went = [path for path in plan.to_archive if path not in stayed]
    came = [path for path in plan.to_restore if path not in stayed]
    back = [*map(live, came)]
    brought = "Would bring" if dry else "Brought"
    put_away = "Would archive" if dry else "Archived"
    said = [
        *stayed.values(),
        *(f"{brought} back {live(path)}: {plan.to_restore[path]}." for path in came),
        *(f"{put_away} {path}: {plan.to_archive[path]}." for path in went),
        *waiting_line(len(plan.waiting)),
    ]
    facts = {
        "archived": went,
        "restored": back,
        "waiting": plan.waiting,
        "notes": [*stayed.values()],
    }
    subject = f"Archive {counted(len(went), 'faded memory', 'faded memories')}"
    if came:
        subject += f", bring back {len(came)}"
    said = said or ["Nothing has faded."]
    return JobDone("sweep", said, facts, _both_places([*went, *back]), subject)


def waiting_line(count: int) -> list[str]:
    """Return a sentence on the facts that wait for a yes; none if there are none."""
    if not count:
        return []
    faded = counted(count, "faded fact waits", "faded facts wait")
    return [f"{faded} for your yes: filemem sweep --yes, with --dry-run to look."]


def _both_places(paths: Iterable[str]) -> list[str]:
    """Return live paths, then where they lie in the archive."""
    places = list(paths)
    return [*places, *map(archived, places)]


# -- one memory ------------------------------------------------------------------------


def restore_memories(folder: Folder, named: Iterable[str], at: dt.datetime) -> JobDone:
    """Bring memories back from the archive, byte for byte, and note a recall.

    A session gets back turns that an editor saved over.

    Returns:
        The fact `failed` tells whether one had none of this, or something is in the
        way.

    Raises:
        NotFound, Refused: one is no memory; nothing was done.
    """
    paths = dict.fromkeys([folder.locate(path) for path in named])
    said = list[str]()
    failed = False
    for path in paths:
        if is_archived(path):
            # The recall comes first, so that a run that is cut off reinforces it too.
            recalls.note_recalls(folder, [path], recalls.How.RESTORED, at)
            stayed = folder.move({path: live(path)})
            said.append(stayed.get(path, f"Restored {live(path)}."))
            failed |= bool(stayed)
            continue
        count = saved_over.put_back(folder, path)
        if count:
            turns = counted(count, "turn that was", "turns that were")
            said.append(f"Put {turns} saved over back into {path}.")
        else:
            said.append(f"{path} is not in the archive.")
            failed = True
    alive = [live(path) for path in paths]
    facts = {"paths": alive, "failed": failed}
    subject = f"Restore {first_few(alive)}"
    return JobDone("restore", said, facts, _both_places(alive), subject)
