"""What a report on a user's memories shows, as figures: `gather` looks, `page` writes it up.

Everything follows from the files, the logs of the jobs and the day: the same for the same. What would be as long as the
number of memories is cut or counted, so that a page on ten thousand memories is as long as one on a hundred.
"""

import datetime as dt
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from filemem import archive, check, recalls, retention, sections, status, sweeper
from filemem.archive import Progress, unwatched
from filemem.errors import FilememError
from filemem.fading import YOUNG, Rules, Standing, after, rules, standings
from filemem.memory import KINDS, Memory
from filemem.plain import one_line
from filemem.problems import Problem
from filemem.recalls import Trail
from filemem.report import links
from filemem.report.links import Web
from filemem.status import Status
from filemem.store import User
from filemem.sweeper import Plan

BINS, ROWS = 48, 6  # of the timeline
STEPS = (1, 3, 12, 60, 120, 1200)  # months in a bin
SOONEST, STRONGEST, RECENT = 7, 5, 3  # curves
BEHIND, AHEAD = 60, 365  # days that the curves show at most
LISTED, FADED, NAMED = 40, 15, 3  # rows of a table, of it for what has faded already; pinned memories that are named
LATEST = 20  # memories put away last
_HEAD = 20_000  # bytes of a file in which its title is looked for
_MARKS = re.compile(r"^[-*+] |\[\[|\]\]|\*\*")


class Timeline(NamedTuple):
    """The memories by kind and date: `bins` have the live and the archived ones of `step` months each, from the month
    `start` on (12 × year + month - 1); `undated` have no date.
    """

    start: int
    step: int
    bins: dict[str, list[tuple[int, int]]]
    undated: int

    def name(self, place: int) -> str:
        """The first month of a bin, or its year where it has whole ones."""
        year, month = divmod(self.start + place * self.step, 12)
        return f"{year:04}" if self.step >= 12 else f"{year:04}-{month + 1:02}"


class Fading(NamedTuple):
    """A memory that falls under the threshold on `ends`, today where it has, and what becomes of it then."""

    path: str
    title: str
    importance: int
    retention: float
    ends: dt.date
    fate: str


class Line(NamedTuple):
    """The curve that `many` memories share, one of them named: retention by day until `ends`, as far as it is shown."""

    title: str
    many: int
    ends: dt.date
    points: list[tuple[dt.date, float]]


class Moved(NamedTuple):
    """What went to the archive on a day (`2026-11-20`), or in a month or year where these are many: by a sweep, by
    compaction; how many of it are back.
    """

    when: str
    swept: int
    compacted: int
    back: int


class Gone(NamedTuple):
    """A memory that a job has put away and that is still there: when, and the summary that stands for it, if any."""

    path: str
    title: str
    when: str
    summary: str


class Summed(NamedTuple):
    """A summary: its sources, their bytes and its own, the day of compaction as the log has it (empty: it has none)."""

    path: str
    sources: int
    when: str
    before: int
    after: int


class Report(NamedTuple):
    """All that is shown: `going` memories leave with the next sweep, `unlogged` archived ones stand in no log. Lists are cut,
    but for `problems` and `summaries`.
    """

    user: str
    today: dt.date
    threshold: float
    status: Status
    timeline: Timeline
    soonest: list[Line]
    strongest: list[Line]
    pinned: list[str]
    going: int
    fading: list[Fading]
    moved: list[Moved]
    latest: list[Gone]
    unlogged: int
    summaries: list[Summed]
    web: Web
    problems: list[Problem]


def gather(user: User, now: dt.datetime, progress: Progress = unwatched) -> Report:
    """The report as of `now`; `progress` is told the files checked, which takes longest."""
    today = now.date()
    standing = sorted(standings(user, today), key=lambda item: item.entry.path)
    plan, found, trails = sweeper.plan(user, today), status.status(user, now), recalls.trails(user)
    rule = rules(user.config, (item.entry for item in standing), trails)
    soonest, strongest = _lines(user, standing, rule, today)
    moved, unlogged = _moved(user, standing, trails)
    pinned = [item.entry.path for item in standing if item.reason == "pinned"]
    return Report(
        user=user.name,
        today=today,
        threshold=rule.curve.threshold,
        status=found,
        timeline=_timeline(standing),
        soonest=soonest,
        strongest=strongest,
        pinned=[_title(user, path) for path in pinned[:NAMED]],
        going=len(plan.going),
        fading=_fading(user, found, plan, standing),
        moved=moved,
        latest=_latest(user, standing, trails),
        unlogged=unlogged,
        summaries=_summaries(user, standing, trails),
        web=links.web(user, [item.entry.path for item in standing]),
        problems=check.problems(user, progress),
    )


def _title(user: User, path: str) -> str:
    """What a memory is about, on one line: its title, else its first words, without the marks of lists and links."""
    try:
        memory = Memory(path, user.read(path, _HEAD))
    except (FilememError, OSError) as error:
        return str(error)
    given = memory.front.get("title")
    said = given if isinstance(given, str) else memory.passages[0].text if memory.passages else ""
    return one_line(_MARKS.sub("", said), 160) or path


# -- when memories are of ----------------------------------------------------------------------------------------


def _timeline(standing: list[Standing]) -> Timeline:
    """The memories by kind and month, or longer spans where the months are too many."""
    dated = [item.entry for item in standing if item.entry.date]
    months = [_month(entry.date) for entry in dated]
    first, last = min(months, default=0), max(months, default=0)
    step = next((step for step in STEPS if last // step - first // step < BINS), STEPS[-1])
    start = first // step * step
    sizes = Counter(entry.kind for entry in dated)
    rows = sorted(sizes, key=lambda kind: (kind not in KINDS, -sizes[kind], kind))[:ROWS]
    rows.sort(key=lambda kind: (KINDS.index(kind) if kind in KINDS else len(KINDS), kind))
    names = [*rows, *(["others"] if len(sizes) > len(rows) else [])]
    count = (last - start) // step + 1
    live = {name: [0] * count for name in names}
    gone = {name: [0] * count for name in names}
    for entry, month in zip(dated, months, strict=True):
        table = gone if entry.archived else live
        table[entry.kind if entry.kind in rows else "others"][(month - start) // step] += 1
    bins = {name: list(zip(live[name], gone[name], strict=True)) for name in names}
    return Timeline(start, step, bins, len(standing) - len(dated))


def _month(ordinal: int) -> int:
    day = dt.date.fromordinal(ordinal)
    return 12 * day.year + day.month - 1


# -- how they fade -----------------------------------------------------------------------------------------------


def _left(item: Standing, threshold: float, today: dt.date) -> int:
    """The days until a memory that fades is under the threshold; below 0 where it is so long since."""
    return math.ceil(item.strength.left(threshold, today)) if item.strength else 0


def _fades(item: Standing) -> bool:
    """Is it live, dated and not exempt? One in its days of grace counts as well."""
    exempt = item.entry.archived or item.reason not in ("", YOUNG)
    return item.strength is not None and not exempt


def _lines(user: User, standing: list[Standing], rule: Rules, today: dt.date) -> tuple[list[Line], list[Line]]:
    """The curves to draw: what faded last and fades soonest, of each day one; and the strongest, where there are more."""
    alike: dict[tuple[int, dt.date, float], list[Standing]] = {}
    for item in filter(_fades, standing):
        if item.strength:
            key = (_left(item, rule.curve.threshold, today), item.strength.last, item.strength.stability)
            alike.setdefault(key, []).append(item)
    largest: dict[int, tuple[int, dt.date, float]] = {}
    for key in sorted(alike, key=lambda key: (-len(alike[key]), key)):
        largest.setdefault(key[0], key)
    days = sorted(largest)
    coming = [day for day in days if day > 0]
    soon = [*[day for day in days if -BEHIND < day <= 0][-RECENT:], *coming[:SOONEST]]
    strong = coming[SOONEST:][-STRONGEST:]

    def drawn(chosen: list[int]) -> list[Line]:
        keys = [largest[day] for day in chosen]
        begin = today - dt.timedelta(
            min(BEHIND, max(((today - last).days for _, last, _ in keys if last < today), default=0))
        )
        return [_line(user, alike[key], rule, today, begin) for key in keys]

    return drawn(soon), drawn(strong)


def _line(user: User, group: list[Standing], rule: Rules, today: dt.date, begin: dt.date) -> Line:
    """The curve of memories that fade alike, from `begin` on, to the day when they fall under the threshold."""
    left = _left(group[0], rule.curve.threshold, today)
    points = list(_points(group[0], rule, today, begin, today + dt.timedelta(min(left, AHEAD))))
    return Line(_title(user, group[0].entry.path), len(group), after(today, left), points)


def _points(
    item: Standing, rule: Rules, today: dt.date, begin: dt.date, end: dt.date
) -> Iterator[tuple[dt.date, float]]:
    """Retention from `begin` or the last recall to `end`, at some sixty days and both ends."""
    if item.strength is None:
        return
    first = max(begin, min(today, item.strength.last))
    days = (end - first).days
    for passed in [*range(0, days, max(1, days // 60)), days]:
        day = first + dt.timedelta(passed)
        gone = rule.elapsed(item.strength.last, day)
        if day > today:
            gone = item.strength.days + max(0, (day - max(today, item.strength.last)).days)
        yield day, retention.retention(gone, item.strength.stability)


def _fading(user: User, found: Status, plan: Plan, standing: list[Standing]) -> list[Fading]:
    """Of what has faded the last, then what does within the month, soonest first; cut where it is too long."""
    by_path = {item.entry.path: item for item in standing}
    left = {path: item.strength.retention for path, item in by_path.items() if item.strength}
    faded = sorted((path for day, path in found.fading if day <= plan.today), key=lambda path: (-left[path], path))
    coming = [(day, path) for day, path in found.fading if day > plan.today]
    room = max(FADED, LISTED - len(coming))
    rows = [*((plan.today, path) for path in faded[:room][::-1]), *coming]
    going = {item.path for item in plan.going}
    fates = {path: _fate(day, plan.today, by_path[path], path in going) for day, path in rows}
    return [
        Fading(path, _title(user, path), _importance(by_path[path]), left[path], day, fates[path])
        for day, path in rows[:LISTED]
    ]


def _importance(item: Standing) -> int:
    given: int = item.entry.particulars.get("importance", retention.IMPORTANCE)
    return given


def _fate(day: dt.date, today: dt.date, item: Standing, going: bool) -> str:
    """What becomes of a memory that fades."""
    if day > today:
        return f"in {(day - today).days} day{'s' * (day > today + dt.timedelta(1))}"
    if going:
        return "next sweep"
    return "in its days of grace" if item.reason else "stays, being cited"


# -- what was put away -------------------------------------------------------------------------------------------


def _moved(user: User, standing: list[Standing], trails: dict[str, Trail]) -> tuple[list[Moved], int]:
    """What the logs know of moves to the archive, newest first; and how many archived memories they do not know."""
    compacted = sections.compacted(user)
    counts: dict[str, list[int]] = {}
    unlogged = 0
    for item in standing:
        path = archive.live(item.entry.path)
        day = _archived_on(trails, path)
        if not day:
            unlogged += item.entry.archived
            continue
        row = counts.setdefault(day, [0, 0, 0])
        row[path in compacted and compacted[path].state == sections.DONE] += 1
        row[2] += not item.entry.archived
    for length in (7, 4):  # the letters of a month, of a year
        if len(counts) > LISTED:
            counts = _by(counts, length)
    return [Moved(day, *row) for day, row in sorted(counts.items(), reverse=True)][:LISTED], unlogged


def _latest(user: User, standing: list[Standing], trails: dict[str, Trail]) -> list[Gone]:
    """What was put away last and is not back, newest first."""
    known = sections.compacted(user)
    paths = [
        item.entry.path
        for item in standing
        if item.entry.archived and _archived_on(trails, archive.live(item.entry.path))
    ]
    paths.sort(key=lambda path: (trails[archive.live(path)].archived, path), reverse=True)
    found = []
    for path in paths[:LATEST]:
        entry = known.get(archive.live(path))
        summary = entry.summary if entry and entry.state == sections.DONE else ""
        found.append(Gone(path, _title(user, path), _archived_on(trails, archive.live(path)), summary))
    return found


def _by(counts: dict[str, list[int]], length: int) -> dict[str, list[int]]:
    """Rows whose names begin alike, added up."""
    found: dict[str, list[int]] = {}
    for name, row in counts.items():
        total = found.setdefault(name[:length], [0, 0, 0])
        total[:] = [one + other for one, other in zip(total, row, strict=True)]
    return found


def _archived_on(trails: dict[str, Trail], path: str) -> str:
    """The day on which a job archived a memory last; empty where none did."""
    return trails[path].archived[:10].decode(errors="replace") if path in trails else ""


def _summaries(user: User, standing: list[Standing], trails: dict[str, Trail]) -> list[Summed]:
    """Every summary that has taken something up, newest first; one that a person wrote counts what it links to."""
    sizes = {archive.live(item.entry.path): item.size for item in standing}
    taken: dict[str, set[str]] = {}
    for source, entry in sections.compacted(user).items():
        if entry.state == sections.DONE and source in sizes:
            taken.setdefault(entry.summary, set()).add(source)
    rows = []
    for item in standing:
        path = archive.live(item.entry.path)
        if item.entry.kind != "summaries":
            continue
        sources = taken.get(path) or _cited(user, item.entry.path, sizes)
        if sources:
            when = max((_archived_on(trails, source) for source in sources), default="")
            rows.append(Summed(item.entry.path, len(sources), when, sum(map(sizes.__getitem__, sources)), item.size))
    return sorted(rows, key=lambda row: archive.live(row.path), reverse=True)


def _cited(user: User, path: str, known: Iterable[str]) -> set[str]:
    try:
        return {archive.live(link) for link in sections.cited(user.memory(path).text)}.intersection(known)
    except (FilememError, OSError):
        return set()
