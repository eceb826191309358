"""What a search is limited to: files by path and day, passages by speaker."""

import datetime as dt
from collections.abc import Collection
from dataclasses import dataclass

from filemem.errors import FilememError, NotFound
from filemem.index import Corpus, IndexedFile
from filemem.search.validity import event_days
from filemem.store import globs
from filemem.store.folder import Folder
from filemem.store.paths import Kind
from filemem.text import dates, terms
from filemem.text.dayrange import DayRange
from filemem.text.plain import one_line

MAX_NAMES = 20  # of speakers, which an error lists
ASSISTANT = "assistant"  # every assistant, whatever its name


@dataclass(frozen=True)
class Filters:
    """What was asked for by arguments: only that is searched, everything where None.

    Attributes:
        path: a glob of files.
        speakers: the folded names of those whose words are searched.
        days: of which a passage must be.
        limits: what was asked for, in words; '' if everything is searched.
    """

    path: str | None = None
    speakers: frozenset[str] | None = None
    days: DayRange | None = None
    limits: str = ""

    def admits_file(self, entry: IndexedFile) -> bool:
        """Say whether passages of a file may be shown."""
        if self.path and not globs.matcher(self.path)(entry.path):
            return False
        if self.days is None or any(map(self.days.holds, entry.days)):
            return True
        return bool(_telling_of(self.days, entry))

    def admits(self, corpus: Corpus, number: int) -> bool:
        """Say whether a passage may be shown.

        An event's days count for all that its file says. A fact is also of the days
        that it names, a turn of its own alone.
        """
        entry = corpus.file(number)
        if not self.admits_file(entry):
            return False
        if self.speakers is not None:
            name = corpus.speaker_names[corpus.speakers[number]]
            if name not in self.speakers:
                return False
        if self.days is None or self.days.holds(entry.day(number)):
            return True
        return number in _telling_of(self.days, entry)


def _telling_of(days: DayRange, entry: IndexedFile) -> Collection[int]:
    """Return the passages of an event on some days, or of a fact that name one."""
    event = event_days(entry.particulars)
    if event and days.overlaps(event):
        return entry.numbers
    return entry.passages_naming([days]) if entry.kind == Kind.FACTS else ()


def read_filters(
    folder: Folder,
    corpus: Corpus,
    today: dt.date,
    *,
    path: str | None,
    speaker: str | None,
    after: str | None,
    before: str | None,
) -> Filters:
    """Return the filters of a search.

    Args:
        folder: whose memories.
        corpus: its passages.
        today: the day from which words such as `last week` count.
        path: a glob of the files to search.
        speaker: a name, or a part of one, of whose words to search.
        after, before: the first and the last day.

    Raises:
        NotFound: no file has this path, or nobody has this name.
        FilememError: no day is meant.
    """
    days = bounds(after, before, today)
    if path and not any(globs.matcher(path)(file.path) for file in corpus.files):
        raise folder.no_match(path)
    speakers = None if speaker is None else speaker_names(corpus, speaker)
    given = {"path": path, "speaker": speaker, "after": after, "before": before}
    limits = [f"{name} {one_line(value, 60)}" for name, value in given.items() if value]
    return Filters(path, speakers, days, ", ".join(limits))


def speaker_names(corpus: Corpus, speaker: str) -> frozenset[str]:
    """Return the folded names of the speakers that a name means.

    A whole name is looked for first, then words of one, or a part of a Chinese one;
    `assistant` means every assistant.

    Raises:
        NotFound: nobody has this name.
    """
    wanted = terms.fold(speaker).strip()
    names = list(filter(None, corpus.names_heard))
    found = [name for name in names if name == wanted]
    if wanted == ASSISTANT:
        found += corpus.assistants
    if not found:
        found = [name for name in names if _is_part(wanted, name)]
    if not found or not wanted:
        known = ", ".join(names[:MAX_NAMES])
        raise NotFound(
            f"nobody named {one_line(speaker)} speaks in these memories; "
            f"the speakers are {one_line(known or 'none yet')}."
        )
    return frozenset(found)


def _is_part(wanted: str, name: str) -> bool:
    """Say whether a name has all words of another, or that stands in it in Chinese."""
    words = terms.words(wanted)
    if words and set(words) <= set(terms.words(name)):
        return True
    return terms.is_cjk(wanted) and wanted in name


def bounds(after: str | None, before: str | None, today: dt.date) -> DayRange | None:
    """Return the days from `after` to `before`; None if neither is given.

    Args:
        after: the first day, or words for a time that begins with it.
        before: the last day, or words for a time that ends with it.
        today: the day from which words such as `last week` count.

    Raises:
        FilememError: one of them is no day, or the last comes before the first.
    """
    if after is None and before is None:
        return None
    first = dt.date.min
    last = dt.date.max
    try:
        if after is not None:
            first = dates.parse_bound(after, today, end=False)
        if before is not None:
            last = dates.parse_bound(before, today, end=True)
    except ValueError as error:
        raise FilememError(str(error)) from None
    if last < first:
        raise FilememError(
            f"after {first} and before {last} leave no day; give the earlier as after."
        )
    return DayRange(first.toordinal(), last.toordinal())
