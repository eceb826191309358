"""The sweep: what has faded goes to the archive, what was recalled there comes back. `plan` looks, `apply` moves.

Never swept are what is pinned, profile.md, what is younger than the grace period, what has no date to count from, and what
a memory that stays cites as its `source`. Summaries are not swept either: they are what is left of conversations, and
compaction makes them shorter instead.
"""

import bisect
import datetime as dt
import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from filemem import archive, disk, recalls, retention
from filemem.archive import Progress, unwatched
from filemem.config import Config, ConfigError
from filemem.errors import NotFound, Refused
from filemem.index.corpus import Entry
from filemem.memory import ARCHIVE, LARGEST, PROFILE, Memory, kind_of
from filemem.plain import few
from filemem.recalls import Trail
from filemem.retention import Curve, Elapsed, Strength
from filemem.store import User

HEAD = 8192  # bytes of a file in which its front matter is looked for
_LINES = re.compile(r":[\d,\s-]+$")
_NO_TRAIL = Trail()
COMING = "coming"  # out of the archive


class Faded(NamedTuple):
    """A memory and how it stands."""

    path: str
    strength: Strength


class Plan(NamedTuple):
    """What a sweep would move, and of the rest how many stay for which reason."""

    going: list[Faded]
    coming: list[Faded]
    staying: Counter[str]
    today: dt.date


class Swept(NamedTuple):
    """What a sweep moved, and a sentence for each memory that stayed where it was."""

    archived: list[str]
    restored: list[str]
    notes: list[str]


class Rules(NamedTuple):
    """The curve and the grace period of one user, and how days are counted."""

    curve: Curve
    grace: int
    elapsed: Elapsed

    def strength(self, born: dt.date, trail: Trail, today: dt.date, importance: float) -> Strength:
        """How a memory stands."""
        return retention.strength(born, trail, today, importance, self.curve, self.elapsed)


def curve(config: Config) -> Curve:
    """The curve with the store's constants; raises ConfigError for a threshold that everything is under."""
    if config.threshold >= 1:
        raise ConfigError(f"threshold is {config.threshold}, but retention is never over 1; set it between 0 and 1.")
    return Curve(config.stability_days, config.spacing_growth, config.threshold)


def rules(config: Config, entries: Iterable[Entry], trails: dict[str, Trail]) -> Rules:
    """The rules as set; with `active_days` only days with a session or a recall count."""
    if not config.active_days:
        return Rules(curve(config), config.grace_days, retention.calendar_days)
    days = {entry.date for entry in entries if entry.date and kind_of(entry.path) == "sessions"}
    for trail in trails.values():
        days.update(day.toordinal() for day in set(trail))
    return Rules(curve(config), config.grace_days, _active_days(sorted(days)))


def _active_days(days: list[int]) -> Elapsed:
    """The number of active days behind one date, up to another."""

    def elapsed(start: dt.date, end: dt.date) -> float:
        return float(max(0, bisect.bisect(days, end.toordinal()) - bisect.bisect(days, start.toordinal())))

    return elapsed


# -- the plan ----------------------------------------------------------------------------------------------------


class Standing(NamedTuple):
    """A memory of the index: the reason why it is not swept, empty where it may be, and how it stands where it has a date."""

    entry: Entry
    size: int
    reason: str
    strength: Strength | None


def standings(user: User, today: dt.date, progress: Progress = unwatched) -> Iterator[Standing]:
    """Every memory as it stands today, in no order; of those in the archive the reason is `coming` or `archived`."""
    corpus = user.index.corpus(progress)
    trails = recalls.trails(user)
    rule = rules(user.config, corpus.entries(), trails)
    unread = set(corpus.unread())
    for entry, stat in zip(corpus.entries(), corpus.listing(), strict=True):
        trail = trails.get(archive.live(entry.path), _NO_TRAIL)
        strength = _strength(rule, entry, trail, today) if entry.date else None
        if entry.archived:
            reason = COMING if _comes_back(entry, trail, strength, rule) else ARCHIVE
        elif entry.path in unread or stat.size > LARGEST:
            reason = "unreadable or too large"
        else:
            reason = _exempt(entry, rule, today)
        yield Standing(entry, stat.size, reason, strength)


def plan(user: User, today: dt.date, progress: Progress = unwatched) -> Plan:
    """What has faded by `today`, and what was recalled since it was archived; nothing is moved."""
    staying: Counter[str] = Counter()
    kept: list[Entry] = []
    going: dict[str, tuple[Entry, Strength]] = {}
    coming: list[Faded] = []
    threshold = curve(user.config).threshold
    for entry, _, reason, strength in standings(user, today, progress):
        if entry.archived:
            if reason == COMING and strength:
                coming.append(Faded(entry.path, strength))
        elif not reason and strength and strength.retention < threshold:
            going[entry.path] = (entry, strength)
        else:
            staying[reason or "still fresh"] += 1
            kept.append(entry)
    cited = _cited(kept, going)
    if cited:
        staying["cited by a memory that stays"] = len(cited)
    left = [Faded(path, strength) for path, (_, strength) in going.items() if path not in cited]
    return Plan(sorted(left), sorted(coming), staying, today)


def _exempt(entry: Entry, rule: Rules, today: dt.date) -> str:
    """Why a live memory is not swept whatever its retention; empty where it may be."""
    if entry.path == PROFILE:
        return "profile"
    if entry.particulars.get("pinned"):
        return "pinned"
    if entry.kind == "summaries":
        return "summaries"
    if not entry.date:
        return "without a date"
    return "younger than the grace period" if today.toordinal() - entry.date < rule.grace else ""


def _strength(rule: Rules, entry: Entry, trail: Trail, today: dt.date) -> Strength:
    importance = entry.particulars.get("importance", retention.IMPORTANCE)
    return rule.strength(dt.date.fromordinal(max(1, entry.date)), trail, today, importance)


def _comes_back(entry: Entry, trail: Trail, strength: Strength | None, rule: Rules) -> bool:
    """Was it recalled since a job archived it, and has not faded again since?

    What something else replaced stays there, and so does a summary that was gathered into another.
    """
    if not trail.since or not trail.archived or entry.particulars.get("superseded_by") or entry.kind == "summaries":
        return False
    return strength is not None and strength.retention >= rule.curve.threshold


def _cited(kept: list[Entry], going: dict[str, tuple[Entry, Strength]]) -> set[str]:
    """Of the memories that are going, those that one which stays cites as its source; these stay, and what they cite."""
    found: set[str] = set()
    asked = kept if going else []
    while asked:
        new = {path for entry in asked for path in sources(entry) if path in going} - found
        found |= new
        asked = [going[path][0] for path in new]
    return found


def sources(entry: Entry) -> list[str]:
    """The paths that a memory's `source` names, without lines."""
    named = entry.particulars.get("source", ())
    return [_LINES.sub("", text) for text in ([named] if isinstance(named, str) else named)]


# -- apply -------------------------------------------------------------------------------------------------------


def apply(user: User, found: Plan, at: dt.datetime, progress: Progress = unwatched) -> Swept:
    """Move what the plan says. A memory that was pinned meanwhile, or whose front matter cannot be read, stays."""
    notes: list[str] = []
    going = []
    for item in found.going:
        reason = _held(user, item.path)
        if reason:
            notes.append(f"{item.path} stays: {reason}.")
        else:
            going.append(item.path)
    stayed = archive.put(user, going, at, progress)
    coming = [item.path for item in found.coming]
    stayed |= archive.back(user, coming)
    return Swept(
        [path for path in going if path not in stayed],
        [archive.live(path) for path in coming if path not in stayed],
        [*notes, *stayed.values()],
    )


def _held(user: User, path: str) -> str:
    """What keeps a faded memory where it is, looked at the moment before it is moved; mostly nothing."""
    try:
        if b"pinned" not in disk.read(os.path.join(user.root, path), HEAD):
            return ""
        memory = user.memory(path)
    except NotFound:
        return "it is gone"
    except Refused as error:
        return str(error).rstrip(".")
    if memory.particular("pinned"):
        return "it was pinned meanwhile"
    broken = memory.problems and not memory.front
    return "its front matter speaks of a pin but is broken" if broken else ""


# -- one memory --------------------------------------------------------------------------------------------------


def restore(user: User, paths: Iterable[str], at: dt.datetime) -> list[str]:
    """Bring memories back from the archive, byte for byte, and note a recall; a sentence for each.

    Raises NotFound or Refused for a path that is no memory, before anything is moved.
    """
    said: list[str] = []
    found = [user.locate(path) for path in paths]
    for path in dict.fromkeys(found):
        if not path.startswith(ARCHIVE + "/"):
            said.append(f"{path} is not in the archive.")
            continue
        recalls.note_all(user, [path], recalls.RESTORED, at)  # first, so that a run that is cut off reinforces it too
        stayed = archive.back(user, [path])
        said.append(stayed.get(path, f"Restored {archive.live(path)}."))
    return said


def why(user: User, path: str, today: dt.date) -> list[str]:
    """In words and numbers: why a memory is where it is, and when it will fade. Raises NotFound or Refused."""
    where = user.locate(path)
    memory = user.memory(where)
    trails = recalls.trails(user)
    trail = trails.get(archive.live(where), _NO_TRAIL)
    entries = list(user.index.corpus().entries()) if user.config.active_days or not memory.archived else []
    rule = rules(user.config, entries, trails)
    said = [f"{where} is {'in the archive' if memory.archived else 'live'}."]
    if memory.date is None:
        return [*said, "It has no date, in its name or its front matter, so it does not fade."]
    said += _history(memory, trail, rule, today, "active days" if user.config.active_days else "days")
    return said + (_in_archive(memory, trail) if memory.archived else _in_use(user, memory, trail, rule, today))


def _history(memory: Memory, trail: Trail, rule: Rules, today: dt.date, days: str) -> Iterator[str]:
    """Date, importance, recalls and what they come to."""
    born, given = memory.date or today, memory.particular("importance")
    importance = retention.IMPORTANCE if given is None else given
    first = rule.strength(born, _NO_TRAIL, born, importance)
    now = rule.strength(born, trail, today, importance)
    yield (
        f"It is of {born:%Y-%m-%d}; its importance is {importance}{'' if given is not None else ' (not given)'} of 10, "
        f"so its stability began at {first.stability:.1f} days."
    )
    recalled = sorted({day for day in trail if born < day <= today})
    if recalled:
        count = f"{len(recalled)} later day{'s' * (len(recalled) != 1)}"
        yield f"It was recalled on {count}, last on {recalled[-1]}, and its stability has grown to {now.stability:.1f} days."
    else:
        yield "It was never recalled on a later day."
    passed = f"{now.days:.0f} {days} have" if now.days != 1 else f"1 {days.removesuffix('s')} has"
    gone = f"{passed} passed since its {'last recall' if recalled else 'date'}"
    yield f"Retention is {now.retention:.3f} = exp(-{now.days:.0f} / {now.stability:.1f}): {gone}."


def _in_archive(memory: Memory, trail: Trail) -> list[str]:
    if memory.particular("superseded_by"):
        return [f"It was superseded by {memory.particular('superseded_by')}, so it does not come back by itself."]
    if memory.kind == "summaries":
        return [
            "The summary of its year stands for it, so it does not come back by itself; filemem restore brings it back."
        ]
    if not trail.archived:
        return ["No job has put it here, so it does not come back by itself; filemem restore brings it back."]
    then = f"A job archived it on {trail.archived[:10].decode(errors='replace')}."
    if trail.since:
        return [then, "It was recalled since, so the next sweep brings it back, unless it has faded again by then."]
    return [then, "It still answers; when it is opened or cited, the next sweep brings it back."]


def after(today: dt.date, days: int) -> dt.date:
    """The day so many days from today; the last of the calendar for what lies beyond it."""
    return dt.date.fromordinal(min(today.toordinal() + days, dt.date.max.toordinal()))


def _in_use(user: User, memory: Memory, trail: Trail, rule: Rules, today: dt.date) -> list[str]:
    """What becomes of a live memory."""
    exempt = {"profile": memory.path == PROFILE, "pinned": memory.particular("pinned")}
    exempt["a summary, which is gathered and not swept"] = memory.kind == "summaries"
    reason = next((reason for reason, holds in exempt.items() if holds), "")
    if reason:
        return [f"It never fades: it is {reason}."]
    given = memory.particular("importance")
    now = rule.strength(memory.date or today, trail, today, retention.IMPORTANCE if given is None else given)
    left = retention.days_until(now.stability, rule.curve.threshold) - now.days
    said = []
    if left > 0:
        when = after(today, math.ceil(left))
        said.append(f"Without a recall it falls under {rule.curve.threshold:g} in {left:.0f} days, about {when}.")
    else:
        said.append(f"It is under the threshold of {rule.curve.threshold:g}, so the next sweep archives it.")
    if memory.date and (today - memory.date).days < rule.grace:
        said.append(f"It is younger than the {rule.grace} days of grace.")
    live = (entry for entry in user.index.corpus().entries() if not entry.archived)
    citing = [entry.path for entry in live if memory.path in sources(entry)]
    if citing:
        said.append(f"It stays as long as what cites it as its source does: {few(citing)}.")
    return said
