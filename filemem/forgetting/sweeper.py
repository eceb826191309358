"""The sweep: it archives what has faded and brings back what was recalled. `plan` looks, `apply` moves, `why` says why.

Only episodes fade: summarised conversations, past events and plans, superseded memories, and trifles. A standing memory is never
archived for its age: it ends when something supersedes it, on its `valid_until`, or by a person's hand. One that an older
version of the program archived comes back.
"""

import contextlib
import datetime as dt
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from filemem.errors import FilememError, NotFound
from filemem.files import config, journal, transcript
from filemem.files.config import Config, ConfigError
from filemem.files.folder import Folder, Progress, no_progress
from filemem.files.journal import RecallHistory
from filemem.files.memory import (
    ARCHIVE,
    IMPORTANCE,
    LARGEST,
    LARGEST_YAML,
    PROFILE,
    SOURCE_MARK,
    Memory,
    is_archived,
    live,
)
from filemem.text.plain import counted, first_few

# -- the curve: how much of a memory is left after some days without recall; days throughout -----------------------------------
#
# Retention is R = exp(-t / S): t the days since the last recall, S the stability in days. The exponential with a
# stability of its own for every memory is Wozniak, Gorzelanczyk and Murakowski's ("Two components of long-term memory",
# Acta Neurobiologiae Experimentalis 55, 1995), after Ebbinghaus's measurements of savings ("Ueber das Gedaechtnis", 1885).
#
# A recall multiplies S by 1 + growth * (1 - R): the more had faded, the more the recall is worth, which is the spacing
# effect (Cepeda et al., "Distributed practice in verbal recall tasks", Psychological Bulletin 132, 2006). Two recalls on
# one day hence count as one. With S' = S * (1 + g * (1 - exp(-t / S))), S' rises with S for any t, so that a more important
# memory never fades sooner; and a recall put in between two others never lowers what follows.


class Curve(NamedTuple):
    """The constants of the curve, as `filemem.yaml` may set them."""

    stability: float = 90.0  # days, at importance 5; design decision: an unremarkable episode lasts seven months
    growth: float = 1.5  # a recall of what had all but faded makes S 2.5 times as long, as SuperMemo 2's first factor
    threshold: float = 0.1  # of retention, below which a memory is archived


DEFAULT = Curve()


class Strength(NamedTuple):
    """How a memory stands on a day: retention 0 to 1, stability in days, the last recall, days since then.
    `last` is the memory's own day if it was never recalled; that day may lie ahead.
    """

    retention: float
    stability: float
    last: dt.date
    days: float

    def left(self, threshold: float, today: dt.date) -> float:
        """The days from `today` after which retention falls to the threshold; below 0 where it has fallen so long since."""
        ahead = max(0, (self.last - today).days)
        return ahead + days_until(self.stability, threshold) - self.days


def strength(
    born: dt.date,
    recalls: Iterable[dt.date],
    today: dt.date,
    importance: float = IMPORTANCE,
    curve: Curve = DEFAULT,
) -> Strength:
    """How a memory of `born` stands today, given the days on which it was recalled (those after today do not count)."""
    stability = curve.stability * importance / IMPORTANCE
    last = born
    for day in sorted(set(recalls)):
        if not born < day <= today:
            continue
        faded = 1 - retention((day - last).days, stability)
        stability *= 1 + curve.growth * faded
        last = day
    days = max(0, (today - last).days)
    return Strength(retention(days, stability), stability, last, days)


def retention(days: float, stability: float) -> float:
    """What is left after `days` without recall: 1 at first, towards 0."""
    return math.exp(-days / stability)


def days_until(stability: float, threshold: float) -> float:
    """The days without recall after which retention falls to the threshold."""
    return -stability * math.log(threshold)


# -- what fades ----------------------------------------------------------------------------------------------------------

CITED = "cited by a memory that stays"
LASTING = 8  # importance from which nothing fades
TRIFLING = 3  # importance up to which a fact fades whatever it tells
YOUNG = "younger than the grace period"
RECALLED = "recalled"  # why something comes back; a standing memory comes back for what it is
_LINES = re.compile(r":[\d,\s-]+$")
_NO_TRAIL = RecallHistory()


class Entry(NamedTuple):
    """A memory's file: its date as an ordinal, 0 where it has none, and what its front matter says (`Memory.particulars`)."""

    path: str
    kind: str
    archived: bool
    date: int
    particulars: dict[str, Any]


class References(NamedTuple):
    """What the user's files say of other memories: which the profile rests on, which conversations are summarised."""

    rested_on: frozenset[str]
    summarised: frozenset[str]
    today: str


def _importance(entry: Entry) -> int:
    given: int = entry.particulars.get("importance", IMPORTANCE)
    return given


def _stands(entry: Entry, known: References) -> bool:
    """Is it no event, plan or trifle, nor a fact or lesson that is superseded or past its `valid_until`?"""
    told, fact = entry.particulars, entry.kind == "facts"
    episode = fact and ("kind" in told or _importance(entry) <= TRIFLING)
    replaced = bool(told.get("superseded_by")) and (fact or entry.kind == "lessons")
    return not (episode or replaced or expired(entry, known.today))


def expired(entry: Entry, today: str) -> bool:
    """Is it a fact or lesson that held until a day before this one, and is not to hold anew from a later one?"""
    since, until = (entry.particulars.get(key, "") for key in ("valid_from", "valid_until"))
    return entry.kind in ("facts", "lessons") and "" < until < today and since <= today


LASTS: dict[str, tuple[Callable[[Entry, References], bool], str]] = {
    "profile": (lambda e, _: e.path == PROFILE, "It stands in every prompt."),
    "pinned": (lambda e, _: bool(e.particulars.get("pinned")), "It is pinned."),
    "summaries": (lambda e, _: e.kind == "summaries", "It is a summary."),
    "without a date": (lambda e, _: not e.date, "It has no date, in its name or its front matter."),
    "what the profile rests on": (lambda e, k: live(e.path) in k.rested_on, "The profile rests on it."),
    "important": (
        lambda e, k: _importance(e) >= LASTING and not expired(e, k.today),
        f"Its importance is {LASTING} or more.",
    ),
    "not summarised": (
        lambda e, k: e.kind == "sessions" and live(e.path) not in k.summarised,
        "It is a conversation that no summary stands for.",
    ),
    "standing": (
        lambda e, k: e.kind != "sessions" and _stands(e, k),
        "It tells what holds: it ends when something supersedes it, on its valid_until, or by your hand.",
    ),
}
"""Why a memory does not fade, in the word by which it is counted: the test, and the sentence. The first that holds counts."""


def _known(folder: Folder, today: dt.date) -> References:
    """What the user's files say today to keep memories from fading."""
    logged, lines = journal.compacted(folder).items(), list[str]()
    with contextlib.suppress(FilememError):
        lines = folder.memory(PROFILE).lines
    return References(
        frozenset(path for mark in map(SOURCE_MARK.search, lines) if mark for path in mark[1].split(" ")),
        frozenset(path for path, entry in logged if entry.state == journal.DONE),
        today.isoformat(),
    )


# -- how it stands -----------------------------------------------------------------------------------------------


def _born(entry: Entry) -> dt.date:
    days = [entry.particulars.get(key, "") for key in ("day", "valid_from", "valid_until")]
    own = dt.date.fromordinal(max(1, entry.date))
    return max([own, *(dt.date.fromisoformat(day) for day in days if day)])


def curve(config: Config) -> Curve:
    """The curve with the store's constants; raises ConfigError for a threshold that everything is under."""
    if config.threshold >= 1:
        raise ConfigError(f"threshold is {config.threshold}, but retention is never above 1; set it between 0 and 1.")
    return Curve(config.stability_days, config.spacing_growth, config.threshold)


class MemoryStatus(NamedTuple):
    """A memory, its recalls, and how it stands where it has a date.

    `reason`: why it is not swept, empty where it may be; in the archive why it comes back, `archive` where it does not.
    What is `over` is swept, whatever its strength.
    """

    entry: Entry
    size: int
    reason: str
    strength: Strength | None
    trail: RecallHistory
    over: bool


def standings(folder: Folder, today: dt.date, progress: Progress = no_progress) -> Iterator[MemoryStatus]:
    """Every memory as it stands today, in no order."""
    trails, settings, known = journal.recalled(folder), config.of(folder), _known(folder, today)
    shape, stats = curve(settings), list(folder.files())
    for done, stat in enumerate(stats):
        if done % 500 == 0:
            progress(done, len(stats))
        data, readable = b"", stat.size <= LARGEST
        try:
            data = folder.read(stat.path, LARGEST_YAML)
        except NotFound:
            continue
        except (FilememError, OSError):
            readable = False
        memory = Memory(stat.path, data)
        day = memory.date.toordinal() if memory.date else 0
        entry = Entry(memory.path, memory.kind, memory.archived, day, memory.particulars)
        trail, now = trails.get(live(entry.path), _NO_TRAIL), None
        if entry.date:  # an episode's days count from the last day that it names
            now = strength(_born(entry), trail, today, _importance(entry), shape)
        over, reason = expired(entry, known.today), _lasting(entry, known)
        if entry.archived:
            fresh = trail.since and not over and now is not None and now.retention >= shape.threshold
            replaced = entry.particulars.get("superseded_by") or entry.kind == "summaries"
            back = reason or (RECALLED if fresh else "")
            reason = back if back and trail.archived and not replaced else ARCHIVE
        elif not readable:
            reason = "unreadable or too large"
        elif not reason and not over and today.toordinal() - entry.date < settings.grace_days:
            reason = YOUNG
        yield MemoryStatus(entry, stat.size, reason, now, trail, over)
    progress(len(stats), len(stats))


def _lasting(entry: Entry, known: References) -> str:
    """Why a memory does not fade, a key of LASTS; empty for an episode, which does."""
    return next((reason for reason, (holds, _) in LASTS.items() if holds(entry, known)), "")


def sources(entry: Entry) -> list[str]:
    """The paths that a memory's `source` names, without lines."""
    named = entry.particulars.get("source", ())
    return [_LINES.sub("", text) for text in ([named] if isinstance(named, str) else named)]


class SweepPlan(NamedTuple):
    """What a sweep would move, by path with why: `retention 0.052`, `held until 2026-08-31`, or for what comes back a key of
    `LASTS` or that it was recalled; and of the rest how many stay for which reason."""

    going: dict[str, str]
    coming: dict[str, str]
    staying: Counter[str]


class Swept(NamedTuple):
    """What a sweep moved, and a sentence for each memory that stayed where it was."""

    archived: list[str]
    restored: list[str]
    notes: list[str]


def plan(folder: Folder, today: dt.date, progress: Progress = no_progress) -> SweepPlan:
    """What has faded by `today`, and what comes back from the archive; nothing is moved."""
    threshold, hidden = curve(config.of(folder)).threshold, journal.pending_deletions(folder)
    found, staying = SweepPlan({}, {}, Counter()), list[Entry]()
    faded = dict[str, Entry]()
    for entry, _, reason, strength, _, over in sorted(
        standings(folder, today, progress), key=lambda one: one.entry.path
    ):
        if entry.archived:
            if reason != ARCHIVE and not hidden.hides(entry.path, 0):
                found.coming[entry.path] = reason
        elif not reason and strength and (over or strength.retention < threshold):
            why = f"held until {entry.particulars['valid_until']}" if over else f"retention {strength.retention:.3f}"
            found.going[entry.path], faded[entry.path] = why, entry
        else:
            found.staying[reason or "still fresh"] += 1
            staying.append(entry)
    while staying:  # what a memory that stays cites as its source stays too, and what this cites
        cited = {path for entry in staying for path in sources(entry) if found.going.pop(path, "")}
        found.staying.update([CITED] * len(cited))
        staying = [faded[path] for path in cited]
    return found


def apply(folder: Folder, found: SweepPlan, at: dt.datetime, progress: Progress = no_progress) -> Swept:
    """Move what the plan says."""
    stayed = journal.archive(folder, found.going, at, progress) | folder.bring_back(found.coming)
    archived, restored = ([path for path in paths if path not in stayed] for paths in (found.going, found.coming))
    return Swept(archived, list(map(live, restored)), list(stayed.values()))


# -- one memory --------------------------------------------------------------------------------------------------


def restore(folder: Folder, paths: Iterable[str], at: dt.datetime) -> list[str]:
    """Bring memories back from the archive, byte for byte, and note a recall; and turns that an editor saved over into a
    session. A sentence for each.

    Raises NotFound or Refused for a path that is no memory, before anything is moved.
    """
    said: list[str] = []
    found = [folder.locate(path) for path in paths]
    for path in dict.fromkeys(found):
        if not is_archived(path):
            back = transcript.put_back(folder, path)
            turns = "a turn that was" if back == 1 else f"{back:,} turns that were"
            said.append(f"Put {turns} saved over back into {path}." if back else f"{path} is not in the archive.")
            continue
        # The recall comes first, so that a run that is cut off reinforces it too.
        journal.note_recalls(folder, [path], journal.RESTORED, at)
        stayed = folder.bring_back([path])
        said.append(stayed.get(path, f"Restored {live(path)}."))
    return said


# -- in words ----------------------------------------------------------------------------------------------------


def why(folder: Folder, path: str, today: dt.date) -> list[str]:
    """In words and numbers: why a memory is where it is, and when it will fade. Raises NotFound or Refused."""
    where = folder.locate(path)
    every = list(standings(folder, today))
    found = next((item for item in every if item.entry.path == where), None)
    if found is None:
        raise NotFound(f"{where} is gone; nothing was done.")
    if found.entry.archived:
        return [f"{where} is in the archive.", _in_archive(found)]
    said = [f"{where} is live."]
    if found.reason in LASTS:
        return [*said, f"It does not fade. {LASTS[found.reason][1]}"]
    if found.over and not found.reason:
        return [*said, f"It held until {found.entry.particulars['valid_until']}, so the next sweep archives it."]
    if found.strength is None or found.reason not in ("", YOUNG):
        return [*said, f"It does not fade: it is {found.reason}."]
    citing = [item.entry.path for item in every if not item.entry.archived and where in sources(item.entry)]
    stays = [f"It stays as long as what cites it as its source does: {first_few(citing)}."] * bool(citing)
    return [*said, *_fades(found, found.strength, config.of(folder), today), *stays]


def _fades(found: MemoryStatus, now: Strength, config: Config, today: dt.date) -> Iterator[str]:
    """Day, importance, recalls and the retention they give; when the memory will be archived."""
    born, importance = _born(found.entry), _importance(found.entry)
    given = "" if "importance" in found.entry.particulars else " (not given)"
    first = config.stability_days * importance / IMPORTANCE
    yield f"It is of {born}; its importance is {importance}{given} of 10, so its stability began at {first:.1f} days."
    recalled = {day for day in found.trail if born < day <= today}
    if recalled:
        grown = f"its stability has grown to {now.stability:.1f} days"
        yield f"It was recalled on {counted(len(recalled), 'later day')}, last on {now.last}, and {grown}."
    since = f"days since its {'last recall' if recalled else 'date'}"
    yield f"Retention is {now.retention:.3f} = exp(-{now.days:.0f} / {now.stability:.1f}), by the {since}."
    left = now.left(config.threshold, today)
    if left > 0:
        when = after(today, math.ceil(left))
        yield f"Without a recall it falls under {config.threshold:g} in {left:.0f} days, about {when}."
    else:
        yield f"It is under the threshold of {config.threshold:g}, so the next sweep archives it."
    if found.reason == YOUNG:
        yield f"It is younger than the {config.grace_days} days of grace."


def _in_archive(found: MemoryStatus) -> str:
    """Since when a memory is in the archive, and what brings it back."""
    told, itself = found.entry.particulars, "so it does not come back by itself"
    if told.get("superseded_by") or found.over:
        was = (
            f"is superseded by {told['superseded_by']}"
            if told.get("superseded_by")
            else f"held until {told['valid_until']}"
        )
        return f"It tells what was: it {was}, {itself}."
    if not found.trail.archived or found.entry.kind == "summaries":
        return f"No job has put it here, {itself}; filemem restore brings it back."
    rest = "As far as is known it is still true. When it is opened or cited, the next sweep brings it back."
    if found.reason in LASTS:
        rest = f"By the rules of now it does not fade, so the next sweep brings it back. {LASTS[found.reason][1]}"
    elif found.trail.since:
        rest = "It was recalled since, so the next sweep brings it back, unless it has faded again by then."
    return f"A job archived it on {found.trail.archived[:10]}. {rest}"


def after(today: dt.date, days: int) -> dt.date:
    """The day so many days from today; the calendar's last day if that lies beyond it."""
    return dt.date.fromordinal(min(today.toordinal() + days, dt.date.max.toordinal()))
