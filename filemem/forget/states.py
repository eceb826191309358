"""How each memory stands on a day: how strong it is, and why it stays or returns.

Events, plans and trifles fade, and summarised conversations, and superseded memories;
facts of conversations fade, too, much more slowly. What a person wrote or asked for
never does: it ends when something supersedes it, on its `valid_until`, or by hand.
"""

import datetime as dt
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from filemem.errors import FilememError, NotFound
from filemem.forget.curve import (
    STANDING_FACTOR,
    Clock,
    Strength,
    first_stability,
    strength,
)
from filemem.search import validity
from filemem.store import compactions, config, recalls, usage
from filemem.store.fields import MAX_YAML_CHARS, texts
from filemem.store.folder import Folder, Stat
from filemem.store.imports import NOTE_LETTERS, Record
from filemem.store.learned import LearnLog
from filemem.store.memory import IMPORTANCE, LARGEST, SOURCE_MARK, Memory, parse
from filemem.store.paths import DISTILLED, PROFILE, Kind, is_archived, kind_of, live
from filemem.store.profile_sections import HEADING, own_text
from filemem.store.recalls import RecallHistory
from filemem.text import dates
from filemem.text.plain import counted, digest, first_few
from filemem.work import Progress, no_progress

LASTING_IMPORTANCE = 8  # from which nothing fades
TRIFLING_IMPORTANCE = 3  # up to which a fact fades as an event does
USE_DAYS = 90  # of recalls that tell whether jobs archive too soon
MANY_RETURNS = 0.1  # of these, out of the archive, are too many
STABILITY_STEP_DAYS = 10  # in which a longer stability is looked for
MAX_STABILITY_DAYS = 3650
_LINES = re.compile(r":[\d,\s-]+$")


class Lasting(StrEnum):
    """Why a memory does not fade, or comes back: the word by which it is counted.

    Attributes:
        sentence: that says so.
    """

    sentence: str

    def __new__(cls, word: str, sentence: str) -> Self:
        """Make the reason of a word and a sentence."""
        reason = str.__new__(cls, word)
        reason._value_ = word
        reason.sentence = sentence
        return reason

    PROFILE = "profile", "It stands in every prompt."
    PINNED = "pinned", "It is pinned."
    SUMMARY = "summaries", "It is a summary."
    UNDATED = "without a date", "It has no date, in its name or its front matter."
    CITED = "what the profile rests on", "The profile rests on it."
    IMPORTANT = "important", f"Its importance is {LASTING_IMPORTANCE} or more."
    UNTOLD = "not summarised", "It is a conversation that no summary stands for."
    NO_FACT = "lessons and notes", "It is no fact: lessons and notes stay."
    OWN = (
        "your own",
        "You wrote it, or asked for it: no conversation is its source. It ends when"
        " something supersedes it, on its valid_until, or by your hand.",
    )
    UNREADABLE = "unreadable or too large", "It cannot be read."
    RECALLED = "recalled", "It was recalled since."


@dataclass(frozen=True)
class MemoryState:
    """How one memory stands on a day.

    Attributes:
        path: of its file.
        date: its own day, if it has one.
        front: its well-formed front matter.
        size: of the file in bytes.
        own_digest: of a file that the person wrote or changed; '' for the program's.
        recalls: what the log says of it.
        strength: None for a memory without a date.
        last_day: after which it is swept whatever its strength; None if it stays.
        has_ended: it held until a day that has passed.
        lasts: why it does not fade; None if it does.
        returns: why the next sweep brings it back from the archive, likewise.
    """

    path: str
    date: dt.date | None
    front: Mapping[str, Any]
    size: int
    own_digest: str
    recalls: RecallHistory
    strength: Strength | None
    last_day: dt.date | None
    has_ended: bool
    lasts: Lasting | None
    returns: Lasting | None

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
        return [_LINES.sub("", place) for place in texts(self.front.get("source"))]

    def days_left(self, threshold: float, today: dt.date) -> int | None:
        """Return the days of use without recall until it falls under a threshold, or
        its last day has passed, 0 where it has; None for what stays."""
        if self.archived or self.strength is None:
            return None
        ends = []
        if not self.lasts:
            ends.append(math.ceil(self.strength.days_left(threshold, today)))
        if self.last_day:
            ends.append((self.last_day - today).days + 1)
        if not ends:
            return None
        return max(0, min(ends))

    def why_due(self, threshold: float) -> str:
        """Return why the next sweep archives it; '' if it does not."""
        if self.archived or self.lasts or self.strength is None:
            return ""
        if self.has_ended:
            return f"held until {self.front['valid_until']}"
        retention = self.strength.retention
        return f"retention {retention:.3f}" if retention < threshold else ""

    @property
    def is_past(self) -> bool:
        """Whether it tells what was: it has ended, or another replaced it."""
        return self.has_ended or bool(validity.fate(self.front))


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


def _clock(folder: Folder) -> Clock:
    """Return a person's clock of fading.

    It runs since the first day of use, or since the program first wrote a memory, if
    that was earlier: what was only ever taken in does not fade.

    Args:
        folder: whose it is.

    Raises:
        FilememError, OSError: a log cannot be read.
    """
    written = LearnLog.of(folder).written.values()
    entered = sorted(day for one in written for day in one.days)
    return Clock([*usage.days_of_use(folder), *entered[:1]])


class _Observer:
    """What one looks at every memory of a user with, on a day."""

    def __init__(self, folder: Folder, today: dt.date) -> None:
        self.folder = folder
        self.today = today
        self.settings = config.of(folder)
        self.clock = _clock(folder)
        self.recalls = recalls.recalled(folder)
        self.summarised = compactions.compacted(folder)
        self.log = LearnLog.of(folder)
        self.imports = Record(folder)
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
        last_day = _last_day(memory)
        has_ended = last_day is not None and last_day < self.today
        now = self._strength(memory, history)
        lasts = self._lasts(memory, has_ended=has_ended)
        if self._lasts(memory, has_ended=True):
            last_day = None
        if not (is_readable or memory.archived):
            lasts = Lasting.UNREADABLE
        is_fresh = now is not None and now.retention >= self.settings.threshold
        returns = None
        if memory.archived and history.archived and not _is_past(memory):
            returns = lasts
            if not lasts and history.since and is_fresh and not has_ended:
                returns = Lasting.RECALLED
        return MemoryState(
            path=memory.path,
            date=memory.date,
            front=memory.metadata,
            size=stat.size,
            own_digest=self._own_digest(memory),
            recalls=history,
            strength=now,
            last_day=last_day,
            has_ended=has_ended,
            lasts=lasts,
            returns=returns,
        )

    def _own_digest(self, memory: Memory) -> str:
        """Return the digest of a file that is the person's; '' for the program's: a
        summary, a conversation, a memory as it was left, imported or superseded.

        Of the profile only what stands outside of the program's block counts.
        """
        if memory.path == PROFILE:
            own = own_text(memory.body)
            return "" if HEADING.fullmatch(own) else digest(own)
        is_told = memory.kind in (Kind.SUMMARIES, Kind.SESSIONS)
        is_left = self.log.is_untouched(memory.path, memory.data)
        is_left |= bool(self.imports.owners(digest(memory.data, NOTE_LETTERS)))
        if is_told or is_left or "superseded_by" in memory.metadata:
            return ""
        return digest(memory.data)

    def _strength(self, memory: Memory, history: RecallHistory) -> Strength | None:
        """Return how strong a memory is. It fades from the last day that it names, or
        from the day on which it was written, if that is later."""
        if memory.date is None:
            return None
        said = memory.body if memory.kind == Kind.FACTS else ""
        start = max(
            memory.date,
            *(span.end for span in dates.settled(said, memory.date)),
            *(memory.metadata.get(key, memory.date) for key in _DAYS),
            min(self.log.written_of(memory.path).days, default=memory.date),
        )
        importance = memory.metadata.get("importance", IMPORTANCE)
        stability_days = first_stability(importance, self.settings.stability_days)
        if _is_standing(memory):
            stability_days *= STANDING_FACTOR
        return strength(
            start,
            history.days,
            self.today,
            stability_days,
            spacing_growth=self.settings.spacing_growth,
            clock=self.clock,
        )

    def _lasts(self, memory: Memory, *, has_ended: bool) -> Lasting | None:
        """Return why a memory does not fade; None if it does.

        The first reason that holds counts.
        """
        importance = memory.metadata.get("importance", IMPORTANCE)
        if memory.path == PROFILE:
            return Lasting.PROFILE
        if memory.metadata.get("pinned"):
            return Lasting.PINNED
        if memory.kind == Kind.SUMMARIES:
            return Lasting.SUMMARY
        if memory.date is None:
            return Lasting.UNDATED
        if live(memory.path) in self.profile_sources:
            return Lasting.CITED
        if importance >= LASTING_IMPORTANCE and not has_ended:
            return Lasting.IMPORTANT
        if memory.kind == Kind.SESSIONS:
            is_told = live(memory.path) in self.summarised
            return None if is_told else Lasting.UNTOLD
        if has_ended or (_is_past(memory) and memory.kind in DISTILLED):
            return None
        if memory.kind != Kind.FACTS:
            return Lasting.NO_FACT
        is_own = _is_standing(memory) and not memory.sources
        return Lasting.OWN if is_own else None


_DAYS = ("day", "valid_from", "valid_until")


def _last_day(memory: Memory) -> dt.date | None:
    """Return the day on which a memory ceases to hold by itself; an event stays true,
    and fades from its last day."""
    until = memory.metadata.get("valid_until")
    if memory.kind not in DISTILLED or until is None or "day" in memory.metadata:
        return None
    since = memory.metadata.get("valid_from", until)
    return until if since <= until else None


def _is_past(memory: Memory) -> bool:
    """Tell whether a memory in the archive stays there whatever is recalled."""
    return memory.kind == Kind.SUMMARIES or bool(validity.fate(memory.metadata))


def _is_standing(memory: Memory) -> bool:
    """Tell whether a memory is a fact on how things stand: no event, no plan, no
    trifle, and not replaced by another."""
    importance = memory.metadata.get("importance", IMPORTANCE)
    is_episode = "kind" in memory.metadata or importance <= TRIFLING_IMPORTANCE
    return memory.kind == Kind.FACTS and not (is_episode or _is_past(memory))


# -- too soon --------------------------------------------------------------------------


@dataclass(frozen=True)
class ArchiveUse:
    """How often facts that still hold were recalled in the last USE_DAYS.

    Attributes:
        recalls: all of them.
        returns: those that came out of the archive.
        stability_days: that would have kept those live; None where they are few, or
            none would have.
    """

    recalls: int = 0
    returns: int = 0
    stability_days: int | None = None

    def __str__(self) -> str:
        said = (
            f"Of {counted(self.recalls, 'recall')} in {USE_DAYS} days {self.returns}"
            " came out of the archive"
        )
        if self.stability_days:
            said += f"; stability_days: {self.stability_days} would have kept them"
        return f"{said}."


def archive_use(
    folder: Folder, states: Iterable[MemoryState], today: dt.date
) -> ArchiveUse:
    """Return how often jobs have archived too soon, by the recalls of facts.

    Args:
        folder: whose facts.
        states: of all memories.
        today: the last of the USE_DAYS.
    """
    since = today - dt.timedelta(USE_DAYS)
    count = 0
    returned = list[tuple[MemoryState, dt.date]]()
    for state in states:
        if state.kind == Kind.FACTS and not state.is_past:
            count += sum(since < day <= today for day in state.recalls.days)
            for day in state.recalls.returns:
                if since < day <= today:
                    returned.append((state, day))
    if len(returned) <= count * MANY_RETURNS:
        return ArchiveUse(count, len(returned))
    settings = config.of(folder)
    clock = _clock(folder)
    first = round(settings.stability_days)
    for wanted in range(first, MAX_STABILITY_DAYS + 1, STABILITY_STEP_DAYS):
        factor = wanted / settings.stability_days
        if all(_stays(*one, factor, settings, clock) for one in returned):
            return ArchiveUse(count, len(returned), wanted)
    return ArchiveUse(count, len(returned))


def _stays(
    state: MemoryState,
    day: dt.date,
    factor: float,
    settings: config.Config,
    clock: Clock,
) -> bool:
    """Tell whether a memory would still have been live on the day of a recall.

    Args:
        state: how it stands.
        day: of the recall.
        factor: by which its stability had begun longer.
        settings: of the store.
        clock: of the person.
    """
    if state.strength is None:
        return True
    then = strength(
        state.strength.start,
        [recall for recall in state.recalls.days if recall < day],
        day,
        state.strength.first_days * factor,
        spacing_growth=settings.spacing_growth,
        clock=clock,
    )
    return then.retention >= settings.threshold


# -- one memory, in words --------------------------------------------------------------


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
    if state.lasts or state.strength is None:
        why = "It does not fade."
        if state.lasts:
            why += f" {state.lasts.sentence}"
        if state.last_day:
            day = day_after(state.last_day, 1)
            why += f" It ends by itself, and is archived not before {day}."
        return [f"{where} is live.", why]
    said = [f"{where} is live.", *_fading(state, state.strength, folder, today)]
    citing = [
        one.path for one in states.values() if not one.archived and where in one.sources
    ]
    if citing:
        said.append(f"It stays as long as what cites it does: {first_few(citing)}.")
    return said


def _fading(
    state: MemoryState, now: Strength, folder: Folder, today: dt.date
) -> Iterator[str]:
    """Say what retention comes from, and when the memory will be archived."""
    threshold = config.of(folder).threshold
    importance = state.front.get("importance", IMPORTANCE)
    yield (
        f"It fades from {now.start}; its importance is {importance} of 10, so its"
        f" stability began at {now.first_days:.1f} days."
    )
    if now.last > now.start:
        yield (
            f"It was last recalled on {now.last}, and its stability has grown to"
            f" {now.stability_days:.1f} days."
        )
    yield (
        f"Retention is {now.retention:.3f} = exp(-{now.idle_days} /"
        f" {now.stability_days:.1f}), by the days of use since {now.last}."
    )
    left = state.days_left(threshold, today)
    if state.why_due(threshold):
        yield f"The next sweep archives it: {state.why_due(threshold)}."
    elif left is not None:
        fall = f"falls under {threshold:g}"
        if state.last_day:
            fall += f", or has ended on {state.last_day},"
        yield (
            f"Without a recall it {fall} in {left} days of use, not before"
            f" {day_after(today, left)}."
        )


def _in_archive(state: MemoryState) -> str:
    """Say since when a memory is in the archive, and what brings it back."""
    fate = validity.fate(state.front)
    if fate:
        return f"It tells what was: it is {fate}."
    if state.has_ended:
        return f"It tells what was: it held until {state.front['valid_until']}."
    if not state.recalls.archived or state.kind == Kind.SUMMARIES:
        return "No job has put it here; filemem restore brings it back."
    since = f"A job archived it on {state.recalls.archived[:10]}."
    if state.returns:
        reason = state.returns.sentence
        return f"{since} The next sweep brings it back. {reason}"
    return (
        f"{since} As far as is known it is still true. When it is opened or cited, the"
        " next sweep brings it back."
    )


def day_after(today: dt.date, days: int) -> dt.date:
    """Return the day so many days from today, at most the calendar's last."""
    return dt.date.fromordinal(min(today.toordinal() + days, dt.date.max.toordinal()))
