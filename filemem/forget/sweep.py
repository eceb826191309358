"""The sweep: it archives what has faded and brings back what was recalled.

Only episodes fade: summarised conversations, past events and plans, superseded
memories, and trifles. A standing memory is never archived for its age: it ends when
something supersedes it, on its `valid_until`, or by a person's hand.
"""

import datetime as dt
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from filemem.errors import FilememError, NotFound
from filemem.forget.curve import Strength, first_stability, strength
from filemem.store import compactions, config, recalls, saved_over
from filemem.store.fields import MAX_YAML_CHARS
from filemem.store.folder import (
    Folder,
    JobDone,
    Progress,
    Stat,
    draft_stays,
    no_progress,
)
from filemem.store.memory import (
    IMPORTANCE,
    LARGEST,
    SOURCE_MARK,
    Memory,
    parse,
)
from filemem.store.paths import PROFILE, archived, is_archived, kind_of, live
from filemem.store.recalls import RecallHistory
from filemem.text.plain import counted, first_few

LASTING_IMPORTANCE = 8  # from which nothing fades
TRIFLING_IMPORTANCE = 3  # up to which a fact fades whatever it tells
UNREADABLE = "unreadable or too large"
CITED = "cited by a memory that stays"
FRESH = "still fresh"
RECALLED = "recalled"
LASTING = {
    "profile": "It stands in every prompt.",
    "pinned": "It is pinned.",
    "summaries": "It is a summary.",
    "without a date": "It has no date, in its name or its front matter.",
    "what the profile rests on": "The profile rests on it.",
    "important": f"Its importance is {LASTING_IMPORTANCE} or more.",
    "not summarised": "It is a conversation that no summary stands for.",
    "standing": "It tells what holds: it ends when something supersedes it, on its"
    " valid_until, or by your hand.",
    UNREADABLE: "It cannot be read.",
}
"""Why a memory does not fade: the word by which it is counted, and a sentence."""
_LINES = re.compile(r":[\d,\s-]+$")


@dataclass(frozen=True)
class MemoryState:
    """How one memory stands on a day.

    Attributes:
        path: of its file.
        date: its own day, if it has one.
        front: its well-formed front matter.
        size: of the file in bytes.
        recalls: the days of its recalls.
        strength: None for a memory without a date.
        has_ended: it held until a day that has passed, and is swept whatever its
            strength.
        lasts: why it does not fade, a key of LASTING; '' if it does.
        returns: why the next sweep brings it back from the archive; '' if it does not.
    """

    path: str
    date: dt.date | None
    front: Mapping[str, Any]
    size: int
    recalls: RecallHistory
    strength: Strength | None
    has_ended: bool
    lasts: str
    returns: str

    @property
    def archived(self) -> bool:
        """Whether it lies in the archive."""
        return is_archived(self.path)

    @property
    def kind(self) -> str:
        """Its kind, as its path has it."""
        return kind_of(self.path)

    @property
    def sources(self) -> list[str]:
        """The paths that it names as its source, without lines."""
        named = self.front.get("source", [])
        if isinstance(named, str):
            named = [named]
        return [_LINES.sub("", str(place)) for place in named]

    def days_left(self, threshold: float, today: dt.date) -> int | None:
        """Return the days without recall until it falls under a threshold, 0 where it
        has; None for what does not fade."""
        if self.archived or self.lasts or self.strength is None:
            return None
        return max(0, math.ceil(self.strength.days_left(threshold, today)))

    def why_due(self, threshold: float) -> str:
        """Return why the next sweep archives it; '' if it does not."""
        if self.archived or self.lasts or self.strength is None:
            return ""
        if self.has_ended:
            return f"held until {self.front['valid_until']}"
        retention = self.strength.retention
        return f"retention {retention:.3f}" if retention < threshold else ""


def memory_states(
    folder: Folder, today: dt.date, progress: Progress = no_progress
) -> Iterator[MemoryState]:
    """Yield every memory as it stands on a day, in no order."""
    observer = _Observer(folder, today)
    files = list(folder.files())
    for done, stat in enumerate(files, 1):
        progress(done, len(files))
        state = observer.state(stat)
        if state:
            yield state


class _Observer:
    """What one looks at every memory of a user with, on a day."""

    def __init__(self, folder: Folder, today: dt.date) -> None:
        self.folder = folder
        self.today = today
        self.settings = config.of(folder)
        self.recalls = recalls.recalled(folder)
        self.summarised = compactions.compacted(folder)
        self.profile_sources = set[str]()
        profile = folder.find(PROFILE)
        if profile:
            for line in profile.lines:
                self.profile_sources.update(SOURCE_MARK.findall(line))

    def state(self, stat: Stat) -> MemoryState | None:
        """Return how the memory in a file stands; None if the file is gone."""
        data = b""
        is_readable = stat.size <= LARGEST
        try:
            data = self.folder.read(stat.path, MAX_YAML_CHARS)
        except NotFound:
            return None
        except (FilememError, OSError):
            is_readable = False
        memory = parse(stat.path, data)
        history = self.recalls.get(live(memory.path), RecallHistory())
        has_ended = self._has_ended(memory)
        now = self._strength(memory, history)
        lasts = self._lasts(memory, has_ended=has_ended)
        if not (is_readable or memory.archived):
            lasts = UNREADABLE
        is_fresh = now is not None and now.retention >= self.settings.threshold
        returns = ""
        if memory.archived and history.archived and not _is_past(memory):
            returns = lasts
            if not lasts and history.since and is_fresh and not has_ended:
                returns = RECALLED
        return MemoryState(
            path=memory.path,
            date=memory.date,
            front=memory.metadata,
            size=stat.size,
            recalls=history,
            strength=now,
            has_ended=has_ended,
            lasts=lasts,
            returns=returns,
        )

    def _strength(self, memory: Memory, history: RecallHistory) -> Strength | None:
        if memory.date is None:
            return None
        return strength(
            _fades_from(memory.date, memory.metadata),
            history,
            self.today,
            memory.metadata.get("importance", IMPORTANCE),
            stability_days=self.settings.stability_days,
            spacing_growth=self.settings.spacing_growth,
        )

    def _has_ended(self, memory: Memory) -> bool:
        if memory.kind not in ("facts", "lessons"):
            return False
        since = memory.metadata.get("valid_from", dt.date.min)
        until = memory.metadata.get("valid_until", dt.date.max)
        return bool(until < self.today and since <= self.today)

    def _lasts(self, memory: Memory, *, has_ended: bool) -> str:
        """Return why a memory does not fade, a key of LASTING; '' if it does. The first
        reason that holds counts."""
        importance = memory.metadata.get("importance", IMPORTANCE)
        if memory.path == PROFILE:
            return "profile"
        if memory.metadata.get("pinned"):
            return "pinned"
        if memory.kind == "summaries":
            return "summaries"
        if memory.date is None:
            return "without a date"
        if live(memory.path) in self.profile_sources:
            return "what the profile rests on"
        if importance >= LASTING_IMPORTANCE and not has_ended:
            return "important"
        if memory.kind == "sessions":
            return "" if live(memory.path) in self.summarised else "not summarised"
        return "" if has_ended or _is_episode(memory) else "standing"


def _is_past(memory: Memory) -> bool:
    """Tell whether a memory in the archive stays there whatever is recalled."""
    return memory.kind == "summaries" or bool(memory.metadata.get("superseded_by"))


def _is_episode(memory: Memory) -> bool:
    """Tell whether a memory is an event, a plan, a trifle, or replaced by another."""
    if memory.kind == "lessons":
        return _is_past(memory)
    importance = memory.metadata.get("importance", IMPORTANCE)
    is_trifle = importance <= TRIFLING_IMPORTANCE
    if memory.kind != "facts":
        return False
    return "kind" in memory.metadata or is_trifle or _is_past(memory)


def _fades_from(own_day: dt.date, front: Mapping[str, Any]) -> dt.date:
    """Return the day from which a memory fades: the last that it names."""
    days = [own_day]
    for key in ("day", "valid_from", "valid_until"):
        days.append(front.get(key, own_day))
    return max(days)


# -- the sweep -------------------------------------------------------------------------


@dataclass
class SweepPlan:
    """What a sweep would move.

    Attributes:
        to_archive: by path why: `retention 0.052` or `held until 2026-08-31`.
        to_restore: by path in the archive why: a key of LASTING, or RECALLED.
        kept: how many stay, by reason.
    """

    to_archive: dict[str, str] = field(default_factory=dict)
    to_restore: dict[str, str] = field(default_factory=dict)
    kept: Counter[str] = field(default_factory=Counter)


def plan_sweep(
    folder: Folder, today: dt.date, progress: Progress = no_progress
) -> SweepPlan:
    """Return what has faded by a day, and what comes back; nothing is moved."""
    threshold = config.of(folder).threshold
    plan = SweepPlan()
    faded = dict[str, MemoryState]()
    kept = list[MemoryState]()
    states = memory_states(folder, today, progress)
    for state in sorted(states, key=lambda state: state.path):
        if state.archived:
            if state.returns:
                plan.to_restore[state.path] = state.returns
        elif state.why_due(threshold):
            faded[state.path] = state
        else:
            plan.kept[state.lasts or FRESH] += 1
            kept.append(state)
    _keep_cited(faded, kept, plan)
    for path, state in faded.items():
        plan.to_archive[path] = state.why_due(threshold)
    return plan


def _keep_cited(
    faded: dict[str, MemoryState], kept: list[MemoryState], plan: SweepPlan
) -> None:
    """Keep what a memory that stays names as its source, and what this names."""
    waiting = list(kept)
    while waiting:
        for source in waiting.pop().sources:
            if source in faded:
                waiting.append(faded.pop(source))
                plan.kept[CITED] += 1


def apply_sweep(
    folder: Folder,
    plan: SweepPlan,
    at: dt.datetime,
    progress: Progress = no_progress,
    *,
    dry: bool = False,
) -> JobDone:
    """Move what the plan says, and say what stayed; `dry`: only say it."""
    back = {path: live(path) for path in plan.to_restore}
    if dry:
        drafts = folder.drafts.intersection({*plan.to_archive, *back})
        stayed = {path: draft_stays(path) for path in sorted(drafts)}
    else:
        stayed = recalls.archive(folder, plan.to_archive, at, progress)
        stayed |= folder.move(back)
    went = {path: why for path, why in plan.to_archive.items() if path not in stayed}
    came = {
        back[path]: why for path, why in plan.to_restore.items() if path not in stayed
    }
    brought = "Would bring" if dry else "Brought"
    put_away = "Would archive" if dry else "Archived"
    kept = ", ".join(f"{count:,} {why}" for why, count in plan.kept.most_common())
    said = [
        *stayed.values(),
        *(f"{brought} back {path}: {why}." for path, why in came.items()),
        *(f"{put_away} {path}: {why}." for path, why in went.items()),
        f"Staying: {kept or 'nothing'}.",
    ]
    facts = {
        "archived": [*went],
        "restored": [*came],
        "staying": plan.kept,
        "notes": [*stayed.values()],
    }
    subject = f"Archive {counted(len(went), 'faded memory', 'faded memories')}"
    if came:
        subject += f", bring back {len(came)}"
    return JobDone("sweep", said, facts, _both_places([*went, *came]), subject)


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
            recalls.note_recalls(folder, [path], recalls.RESTORED, at)
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


def explain(folder: Folder, path: str, today: dt.date) -> list[str]:
    """Say why a memory is where it is, and when it will fade.

    Raises:
        NotFound, Refused: there is none.
    """
    where = folder.locate(path)
    states = {state.path: state for state in memory_states(folder, today)}
    state = states.get(where)
    if state is None:
        raise NotFound(f"{where} is gone; nothing was done.")
    if state.archived:
        return [f"{where} is in the archive.", _in_archive(state)]
    said = [f"{where} is live."]
    if state.lasts or state.strength is None:
        return [*said, f"It does not fade. {LASTING[state.lasts]}"]
    if state.has_ended:
        until = state.front["valid_until"]
        return [*said, f"It held until {until}, so the next sweep archives it."]
    said += _fading(state, state.strength, config.of(folder), today)
    citing = [
        one.path for one in states.values() if not one.archived and where in one.sources
    ]
    if citing:
        said.append(f"It stays as long as what cites it does: {first_few(citing)}.")
    return said


def _fading(
    state: MemoryState, now: Strength, settings: config.Config, today: dt.date
) -> Iterator[str]:
    """Say what retention comes from, and when the memory will be archived."""
    born = _fades_from(state.date or today, state.front)
    importance = state.front.get("importance", IMPORTANCE)
    first = first_stability(importance, settings.stability_days)
    yield (
        f"It is of {born}; its importance is {importance} of 10, so its stability"
        f" began at {first:.1f} days."
    )
    recalled = {day for day in state.recalls if born < day <= today}
    since = "days since its date"
    if recalled:
        since = "days since its last recall"
        yield (
            f"It was recalled on {counted(len(recalled), 'later day')}, last on"
            f" {now.last}, and its stability has grown to {now.stability_days:.1f}"
            " days."
        )
    yield (
        f"Retention is {now.retention:.3f} = exp(-{now.idle_days} /"
        f" {now.stability_days:.1f}), by the {since}."
    )
    threshold = settings.threshold
    left = now.days_left(threshold, today)
    if left > 0:
        when = day_after(today, math.ceil(left))
        yield (
            f"Without a recall it falls under {threshold:g} in {left:.0f} days, about"
            f" {when}."
        )
    else:
        under = f"It is under the threshold of {threshold:g}"
        yield f"{under}, so the next sweep archives it."


def _in_archive(state: MemoryState) -> str:
    """Say since when a memory is in the archive, and what brings it back."""
    stays = "so it does not come back by itself"
    newer = state.front.get("superseded_by")
    if newer:
        return f"It tells what was: it is superseded by {newer}, {stays}."
    if state.has_ended:
        until = state.front["valid_until"]
        return f"It tells what was: it held until {until}, {stays}."
    if not state.recalls.archived or state.kind == "summaries":
        return f"No job has put it here, {stays}; filemem restore brings it back."
    since = f"A job archived it on {state.recalls.archived[:10]}."
    if state.returns:
        reason = LASTING.get(state.returns, "It was recalled since.")
        return f"{since} The next sweep brings it back. {reason}"
    return (
        f"{since} As far as is known it is still true. When it is opened or cited, the"
        " next sweep brings it back."
    )


def day_after(today: dt.date, days: int) -> dt.date:
    """Return the day so many days from today, at most the calendar's last."""
    return dt.date.fromordinal(min(today.toordinal() + days, dt.date.max.toordinal()))
