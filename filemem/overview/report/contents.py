"""What a report on a user's memories shows, as values: `gather` looks, `page` writes it up.

Everything follows from the files, the logs of the jobs and the day: the same for the same. Lists are cut, so that a page on
ten thousand memories is as long as one on some hundreds.
"""

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from filemem.errors import FilememError
from filemem.files import archive, sections
from filemem.files.archive import Progress, no_progress
from filemem.files.facts import plain
from filemem.files.folder import Folder
from filemem.files.memory import LARGEST, PROFILE, SOURCE_MARK, Memory
from filemem.files.passages import Passage
from filemem.files.sections import Compacted
from filemem.forgetting.fading import MemoryStatus, standings
from filemem.overview import check, status
from filemem.overview import timeline as times
from filemem.overview.timeline import Event
from filemem.remembering.profile import HEADINGS

FACTS, EVENTS, FADED, FADING = 300, 100, 60, 20  # rows at most, of what holds, happened, has faded, and is going to
BINS = 48  # bars of the chart at most
STEPS = (1, 3, 12, 60, 120, 1200)  # months in a bar
CHANGES = ("kind", "valid_from", "valid_until", "superseded_by")  # front matter of what happened on a day
TITLES = {section: english for section, (english, _) in HEADINGS.items()}
OTHER = "Other"
_HEAD = 20_000  # bytes of a file in which its first words are looked for


class ShownFact(NamedTuple):
    """What holds: its words, its day, the first day on which it does not hold any more, if any, and its `path:line`."""

    text: str
    day: dt.date | None
    until: dt.date | None
    where: str


class ArchivedMemory(NamedTuple):
    """A memory in the archive: its words, the day when a job put it there (empty: none did), why, and its path."""

    text: str
    when: str
    why: str
    path: str


class Chart(NamedTuple):
    """Dated memories: live and archived ones for each `step` months from the month `start` (12 × year + month - 1) on;
    `undated` have no date.
    """

    start: int
    step: int
    bins: list[tuple[int, int]]
    undated: int

    def name(self, place: int) -> str:
        """The first month of a bin, or its year where it has whole ones."""
        year, month = divmod(self.start + place * self.step, 12)
        return f"{year:04}" if self.step >= 12 else f"{year:04}-{month + 1:02}"


class Report(NamedTuple):
    """All that is shown. The counts are of everything, the lists are cut; `fading` are days and words, soonest first."""

    user: str
    today: dt.date
    live: int
    archived: int
    profile: list[str]
    topics: dict[str, list[ShownFact]]
    holding: int
    events: list[Event]
    happened: int
    faded: list[ArchivedMemory]
    fading: list[tuple[dt.date, ShownFact]]
    fading_soon: int
    chart: Chart
    problems: int


def gather(folder: Folder, now: dt.datetime, progress: Progress = no_progress) -> Report:
    """The report as of `now`; `progress` is told the files checked, which takes longest."""
    standing = list(standings(folder, now.date()))
    standing.sort(key=lambda item: (-item.entry.date, archive.live(item.entry.path)))
    archived = [item for item in standing if item.entry.archived]
    happened = [item for item in standing if item.entry.kind == "facts" and _told(item, *CHANGES)]
    holding = [item for item in standing if _holds(item, now.date())]
    wanted = {item.entry.path for item in happened[:EVENTS]}
    coming = status.status(folder, now).fading
    return Report(
        folder.name,
        now.date(),
        len(standing) - len(archived),
        len(archived),
        _profile(folder),
        _topics(folder, holding),
        len(holding),
        times.timeline(folder, wanted.__contains__)[::-1],
        len(happened),
        _faded(folder, archived),
        [(day, _fact(folder, path)) for day, path in coming[:FADING]],
        len(coming),
        _chart(standing),
        len(check.problems(folder, progress)),
    )


def _told(item: MemoryStatus, *keys: str) -> bool:
    """Does the front matter say one of these?"""
    return any(item.entry.particulars.get(key) for key in keys)


def _holds(item: MemoryStatus, today: dt.date) -> bool:
    """Is it a live fact or lesson that tells how things stand today?"""
    if item.entry.archived or item.entry.kind not in ("facts", "lessons") or _told(item, "kind", "superseded_by"):
        return False
    return not "" < item.entry.particulars.get("valid_until", "") < str(today)


def _profile(folder: Folder) -> list[str]:
    """The lines of profile.md, without the marks of what they rest on."""
    try:
        return [plain(SOURCE_MARK.sub("", line)).rstrip() for line in folder.memory(PROFILE).lines]
    except FilememError:
        return []


def _first(folder: Folder, path: str, most: int = _HEAD) -> tuple[Memory, Passage]:
    """A memory and its first passage; one that cannot be read says why."""
    try:
        memory = Memory(path, folder.read(path, most))
        return memory, next(iter(memory.passages), Passage(1, 1, "", "", path))
    except (FilememError, OSError) as error:
        return Memory(path, b""), Passage(1, 1, "", "", str(error))


def _words(passage: Passage) -> str:
    """What a passage says, and who says it, on one line."""
    said = plain(" ".join(passage.text.split()))
    return f"{passage.speaker}: {said}" if passage.speaker else said


def _fact(folder: Folder, path: str) -> ShownFact:
    memory, passage = _first(folder, path, LARGEST)
    until = memory.particular("valid_until")
    return ShownFact(_words(passage), memory.particular("valid_from") or memory.date, until, f"{path}:{passage.line}")


def _topics(folder: Folder, holding: list[MemoryStatus]) -> dict[str, list[ShownFact]]:
    """What holds by what it is about: a profile's sections first, then others by name; in each the newest first."""
    found: dict[str, list[ShownFact]] = {}
    for item in holding[:FACTS]:
        memory, _ = _first(folder, item.entry.path)
        found.setdefault(_topic(memory), []).append(_fact(folder, item.entry.path))
    order = [*TITLES.values(), *sorted(found.keys() - {OTHER}), OTHER]
    return {topic: found[topic] for topic in dict.fromkeys(order) if topic in found}


def _topic(memory: Memory) -> str:
    """What a memory is about: how to talk, for a lesson; its first tag; else what is left."""
    tags = memory.particular("tags")
    tag = str((tags[0] if isinstance(tags, list) else tags) if tags else "")
    if memory.kind == "lessons":
        return TITLES["talk"]
    return TITLES.get(tag.casefold(), tag) or OTHER


def _faded(folder: Folder, archived: Sequence[MemoryStatus]) -> list[ArchivedMemory]:
    """What the archive holds, put away last first, and why each memory is there."""
    known = sections.compacted(folder)
    when = {item.entry.path: item.trail.archived[:10].decode(errors="replace") for item in archived}
    latest = sorted(archived, key=lambda item: when[item.entry.path], reverse=True)[:FADED]
    rows = ((item, _words(_first(folder, item.entry.path)[1])) for item in latest)
    return [
        ArchivedMemory(said, when[i.entry.path], _why(i, known.get(archive.live(i.entry.path))), i.entry.path)
        for i, said in rows
    ]


def _why(item: MemoryStatus, compacted: Compacted | None) -> str:
    by = item.entry.particulars.get("superseded_by")
    if by:
        return f"superseded by {by}"
    if compacted and compacted.state == sections.DONE:
        return f"summarised in {compacted.summary}"
    return "not recalled for long" if item.trail.archived else "put there by hand"


def _chart(standing: list[MemoryStatus]) -> Chart:
    """The memories by month, or by longer spans where the months are too many."""
    dated = [(_month(item.entry.date), item.entry.archived) for item in standing if item.entry.date]
    first, last = min(dated, default=(0, False))[0], max(dated, default=(0, False))[0]
    step = next((step for step in STEPS if last // step - first // step < BINS), STEPS[-1])
    start = first // step * step
    counts = Counter(((month - start) // step, archived) for month, archived in dated)
    bins = [(counts[place, False], counts[place, True]) for place in range((last - start) // step + 1)]
    return Chart(start, step, bins if dated else [], len(standing) - len(dated))


def _month(ordinal: int) -> int:
    day = dt.date.fromordinal(ordinal)
    return 12 * day.year + day.month - 1
