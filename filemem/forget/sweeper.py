"""The sweep: it archives what has faded and brings back what was recalled. `plan` looks, `apply` moves, `why` says why.

Only episodes fade: summarised conversations, past events and plans, superseded memories, and trifles. A standing memory is never
archived for its age: it ends when something supersedes it, on its `valid_until`, or by a person's hand.
"""

import datetime as dt
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from filemem.errors import FilememError, NotFound
from filemem.store import compactions, config, pending, recalls, saved_over
from filemem.store.config import Config
from filemem.store.folder import Folder, JobDone, Progress, draft_stays, no_progress
from filemem.store.memory import (
    IMPORTANCE,
    LARGEST,
    LARGEST_YAML,
    REFERENCE,
    SOURCE_MARK,
    Memory,
    parse,
)
from filemem.store.paths import ARCHIVE, PROFILE, archived, is_archived, live
from filemem.store.recalls import RecallHistory
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
#
# The constants are settings (`files.config`): S at importance 5 is 90 days, a design decision, so an unremarkable episode
# lasts seven months; a recall of what had all but faded makes S 2.5 times as long, as SuperMemo 2's first factor.

DEFAULT = Config()


class Strength(NamedTuple):
    """How a memory stands on a day: retention 0 to 1, stability in days, the last recall, days since then. `last` is the memory's
    own day if it was never recalled; that day may lie ahead."""

    retention: float
    stability: float
    last: dt.date
    days: float

    def left(self, threshold: float, today: dt.date) -> float:
        """The days from `today` after which retention falls to the threshold; below 0 where it has fallen so long since."""
        return (
            max(0, (self.last - today).days)
            + days_until(self.stability, threshold)
            - self.days
        )


def strength(
    born: dt.date,
    recalls: Iterable[dt.date],
    today: dt.date,
    importance: float = IMPORTANCE,
    curve: Config = DEFAULT,
) -> Strength:
    """How a memory of `born` stands today, given the days on which it was recalled until then, on the curve of the settings."""
    stability, last = curve.stability_days * importance / IMPORTANCE, born
    for day in sorted(set(recalls)):
        if born < day <= today:
            stability *= 1 + curve.spacing_growth * (
                1 - retention((day - last).days, stability)
            )
            last = day
    days = max(0, (today - last).days)
    return Strength(retention(days, stability), stability, last, days)


def retention(days: float, stability: float) -> float:
    """What is left after `days` without recall: 1 at first, towards 0."""
    return math.exp(-days / stability)


def days_until(stability: float, threshold: float) -> float:
    """The days without recall after which retention falls to the threshold."""
    return -stability * math.log(threshold)


# -- how a memory stands -----------------------------------------------------------------------------------------------

LASTING = 8  # importance from which nothing fades
TRIFLING = 3  # importance up to which a fact fades whatever it tells
CITED, FRESH = "cited by a memory that stays", "still fresh"  # why it is not swept
RECALLED = (
    "recalled"  # why something comes back; a standing memory comes back for what it is
)
LASTS = {
    "profile": "It stands in every prompt.",
    "pinned": "It is pinned.",
    "summaries": "It is a summary.",
    "without a date": "It has no date, in its name or its front matter.",
    "what the profile rests on": "The profile rests on it.",
    "important": f"Its importance is {LASTING} or more.",
    "not summarised": "It is a conversation that no summary stands for.",
    "standing": "It tells what holds: it ends when something supersedes it, on its valid_until, or by your hand.",
    "unreadable or too large": "It cannot be read.",
}
"""Why a memory does not fade, in the word by which it is counted, and in a sentence. The first that holds counts."""
_LINES = re.compile(r":[\d,\s-]+$")
_NO_TRAIL = RecallHistory()


class MemoryStatus(NamedTuple):
    """A memory's file, what its front matter says, its recalls, and how it stands where it has a date. `reason`: why it is not
    swept, empty where it may be; in the archive why it comes back, `archive` where it does not. What is `over` held until a day
    that has passed, and is swept whatever its strength."""

    path: str
    kind: str
    archived: bool
    date: dt.date | None
    particulars: dict[str, Any]
    size: int
    reason: str
    strength: Strength | None
    trail: RecallHistory
    over: bool

    @property
    def sources(self) -> list[str]:
        """The paths that its `source` names, without lines."""
        named = self.particulars.get("source", ())
        return [
            _LINES.sub("", text)
            for text in ([named] if isinstance(named, str) else named)
        ]


def standings(
    folder: Folder, today: dt.date, progress: Progress = no_progress
) -> Iterator[MemoryStatus]:
    """Every memory as it stands today, in no order."""
    trails, settings, stats = (
        recalls.recalled(folder),
        config.of(folder),
        list(folder.files()),
    )
    profile, summarised = folder.find(PROFILE), compactions.compacted(folder)
    rested_on = {
        mark[1]
        for mark in map(SOURCE_MARK.search, profile.lines if profile else ())
        if mark
    }
    for done, stat in enumerate(stats, 1):
        progress(done, len(stats))
        data, readable = b"", stat.size <= LARGEST
        try:
            data = folder.read(stat.path, LARGEST_YAML)
        except NotFound:
            continue
        except (FilememError, OSError):
            readable = False
        memory = parse(stat.path, data)
        told, trail, now = (
            memory.particulars,
            trails.get(live(memory.path), _NO_TRAIL),
            None,
        )
        if memory.date:
            now = strength(
                _born(memory.date, told),
                trail,
                today,
                told.get("importance", IMPORTANCE),
                settings,
            )
        since, until = (told.get(key, "") for key in ("valid_from", "valid_until"))
        over = (
            memory.kind in ("facts", "lessons")
            and "" < until < str(today)
            and since <= str(today)
        )
        reason = _lasting(
            memory,
            over,
            live(memory.path) in rested_on,
            live(memory.path) in summarised,
        )
        if memory.archived:
            fresh = (
                trail.since
                and not over
                and now is not None
                and now.retention >= settings.threshold
            )
            back = reason or (RECALLED if fresh else "")
            replaced = told.get("superseded_by") or memory.kind == "summaries"
            reason = back if back and trail.archived and not replaced else ARCHIVE
        elif not readable:
            reason = "unreadable or too large"
        place = (memory.path, memory.kind, memory.archived, memory.date)
        yield MemoryStatus(*place, told, stat.size, reason, now, trail, over)


def _born(own: dt.date, told: dict[str, Any]) -> dt.date:
    """The day from which a memory fades: of an episode the last that it names."""
    days = [told.get(key, "") for key in ("day", "valid_from", "valid_until")]
    return max([own, *(dt.date.fromisoformat(day) for day in days if day)])


def _lasting(memory: Memory, over: bool, rested_on: bool, summarised: bool) -> str:
    """Why a memory does not fade, a key of LASTS; empty for an episode, which does."""
    told, kind, importance = (
        memory.particulars,
        memory.kind,
        memory.particulars.get("importance", IMPORTANCE),
    )
    episode = kind == "facts" and ("kind" in told or importance <= TRIFLING)
    replaced = kind in ("facts", "lessons") and bool(told.get("superseded_by"))
    holds = {
        "profile": memory.path == PROFILE,
        "pinned": bool(told.get("pinned")),
        "summaries": kind == "summaries",
        "without a date": memory.date is None,
        "what the profile rests on": rested_on,
        "important": importance >= LASTING and not over,
        "not summarised": kind == "sessions" and not summarised,
        "standing": kind != "sessions" and not (episode or replaced or over),
    }
    return next((reason for reason in holds if holds[reason]), "")


# -- the sweep -----------------------------------------------------------------------------------------------------------


class SweepPlan(NamedTuple):
    """What a sweep would move, by path with why: `retention 0.052`, `held until 2026-08-31`, or for what comes back a key of
    `LASTS` or that it was recalled; and of the rest how many stay for which reason."""

    going: dict[str, str]
    coming: dict[str, str]
    staying: Counter[str]


def plan(folder: Folder, today: dt.date, progress: Progress = no_progress) -> SweepPlan:
    """What has faded by `today`, and what comes back from the archive; nothing is moved."""
    threshold, found = config.of(folder).threshold, SweepPlan({}, {}, Counter())
    faded, staying = dict[str, MemoryStatus](), list[MemoryStatus]()
    for one in sorted(standings(folder, today, progress), key=lambda one: one.path):
        if one.archived:
            if one.reason != ARCHIVE:
                found.coming[one.path] = one.reason
        elif (
            not one.reason
            and one.strength
            and (one.over or one.strength.retention < threshold)
        ):
            ended = f"held until {one.particulars.get('valid_until')}"
            found.going[one.path] = (
                ended if one.over else f"retention {one.strength.retention:.3f}"
            )
            faded[one.path] = one
        else:
            found.staying[one.reason or FRESH] += 1
            staying.append(one)
    while (
        staying
    ):  # what a memory that stays cites as its source stays too, and what this cites
        cited = {
            path for one in staying for path in one.sources if found.going.pop(path, "")
        }
        found.staying.update([CITED] * len(cited))
        staying = [faded[path] for path in cited]
    return found


def apply(
    folder: Folder, found: SweepPlan, at: dt.datetime, progress: Progress, *, dry: bool
) -> JobDone:
    """Move what the plan says, and say what stayed where it was; `dry`: only say what would be moved."""
    back = {path: live(path) for path in found.coming}
    if dry:
        drafts = folder.drafts.intersection({*found.going, *back})
        stayed = {path: draft_stays(path) for path in sorted(drafts)}
    else:
        stayed = recalls.archive(folder, found.going, at, progress) | folder.move(back)
    going = {path: why for path, why in found.going.items() if path not in stayed}
    coming = {
        live(path): why for path, why in found.coming.items() if path not in stayed
    }
    said = [
        *stayed.values(),
        *(
            f"{'Would bring' if dry else 'Brought'} back {path}: {why}."
            for path, why in coming.items()
        ),
        *(
            f"{'Would archive' if dry else 'Archived'} {path}: {why}."
            for path, why in going.items()
        ),
        f"Staying: {', '.join(f'{count:,} {reason}' for reason, count in found.staying.most_common()) or 'nothing'}.",
    ]
    paths, notes = [*going, *coming], [*stayed.values()]
    facts = {
        "archived": [*going],
        "restored": [*coming],
        "staying": found.staying,
        "notes": notes,
    }
    subject = f"Archive {counted(len(going), 'faded memory', 'faded memories')}"
    subject += f", bring back {len(coming)}" if coming else ""
    return JobDone("sweep", said, facts, [*paths, *map(archived, paths)], subject)


# -- one memory --------------------------------------------------------------------------------------------------


def restore(folder: Folder, places: Iterable[str], at: dt.datetime) -> JobDone:
    """Bring memories back from the archive, byte for byte, and note a recall; and turns that an editor saved over into a session.
    What a person asked to be forgotten, here or at a `path:line`, may be shown again. The fact `failed` tells whether there was
    none of this, or something is in the way. Raises NotFound or Refused for what is no memory, before anything is done."""
    asked = {place: REFERENCE.match(place) for place in dict.fromkeys(places)}
    found = {
        place: folder.locate(cited["path"] if cited else place)
        for place, cited in asked.items()
    }
    shown, failed = pending.settle_pending(folder, [*asked, *found.values()]), False
    said = [f"Held back no more: {', '.join(shown)}."] if shown else []
    for path in dict.fromkeys(found.values()):
        if not is_archived(path):
            back = saved_over.put_back(folder, path)
            turns = "a turn that was" if back == 1 else f"{back:,} turns that were"
            said += [f"Put {turns} saved over back into {path}."] if back else []
            if not (back or any(place.startswith(path) for place in shown)):
                said.append(f"{path} is not in the archive.")
                failed = True
            continue
        # The recall comes first, so that a run that is cut off reinforces it too.
        recalls.note_recalls(folder, [path], recalls.RESTORED, at)
        stayed = folder.move({path: live(path)})
        said.append(stayed.get(path, f"Restored {live(path)}."))
        failed |= bool(stayed)
    alive = [*map(live, found.values())]
    facts = {"paths": alive, "failed": failed}
    return JobDone(
        "restore",
        said,
        facts,
        [*alive, *map(archived, alive)],
        f"Restore {first_few(alive)}",
    )


# -- in words ----------------------------------------------------------------------------------------------------


def why(folder: Folder, path: str, today: dt.date) -> list[str]:
    """In words and numbers: why a memory is where it is, and when it will fade. Raises NotFound or Refused."""
    where = folder.locate(path)
    every = {one.path: one for one in standings(folder, today)}
    if not (found := every.get(where)):
        raise NotFound(f"{where} is gone; nothing was done.")
    if found.archived:
        return [f"{where} is in the archive.", _in_archive(found)]
    said = [f"{where} is live."]
    if found.reason in LASTS or not found.strength:
        return [*said, f"It does not fade. {LASTS[found.reason]}"]
    if found.over:
        return [
            *said,
            f"It held until {found.particulars['valid_until']}, so the next sweep archives it.",
        ]
    citing = [
        one.path for one in every.values() if not one.archived and where in one.sources
    ]
    stays = [
        f"It stays as long as what cites it as its source does: {first_few(citing)}."
    ] * bool(citing)
    return [*said, *_fades(found, found.strength, config.of(folder), today), *stays]


def _fades(
    found: MemoryStatus, now: Strength, config: Config, today: dt.date
) -> Iterator[str]:
    """Day, importance, recalls and the retention they give; when the memory will be archived."""
    born, importance = (
        _born(found.date or today, found.particulars),
        found.particulars.get("importance", IMPORTANCE),
    )
    first = config.stability_days * importance / IMPORTANCE
    yield f"It is of {born}; its importance is {importance} of 10, so its stability began at {first:.1f} days."
    recalled = {day for day in found.trail if born < day <= today}
    if recalled:
        grown = f"its stability has grown to {now.stability:.1f} days"
        yield f"It was recalled on {counted(len(recalled), 'later day')}, last on {now.last}, and {grown}."
    since = f"days since its {'last recall' if recalled else 'date'}"
    yield f"Retention is {now.retention:.3f} = exp(-{now.days:.0f} / {now.stability:.1f}), by the {since}."
    if (left := now.left(config.threshold, today)) > 0:
        when = after(today, math.ceil(left))
        yield f"Without a recall it falls under {config.threshold:g} in {left:.0f} days, about {when}."
    else:
        yield f"It is under the threshold of {config.threshold:g}, so the next sweep archives it."


def _in_archive(found: MemoryStatus) -> str:
    """Since when a memory is in the archive, and what brings it back."""
    told, itself = found.particulars, "so it does not come back by itself"
    if by := told.get("superseded_by"):
        return f"It tells what was: it is superseded by {by}, {itself}."
    if found.over:
        return f"It tells what was: it held until {told['valid_until']}, {itself}."
    if not found.trail.archived or found.kind == "summaries":
        return f"No job has put it here, {itself}; filemem restore brings it back."
    rest = "As far as is known it is still true. When it is opened or cited, the next sweep brings it back."
    if found.reason != ARCHIVE:
        rest = f"The next sweep brings it back. {LASTS.get(found.reason, 'It was recalled since.')}"
    return f"A job archived it on {found.trail.archived[:10]}. {rest}"


def after(today: dt.date, days: int) -> dt.date:
    """The day so many days from today; the calendar's last day if that lies beyond it."""
    return dt.date.fromordinal(min(today.toordinal() + days, dt.date.max.toordinal()))
