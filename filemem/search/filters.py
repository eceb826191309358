"""What a search is limited to: files by path and date, passages by speaker, the days that a question names; and what a file
counts that no longer holds."""

import datetime as dt
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from filemem.errors import FilememError, NotFound
from filemem.files import globs
from filemem.files.folder import Folder
from filemem.index.corpus import Corpus, IndexedFile
from filemem.text import dates, terms
from filemem.text.plain import one_line

ARCHIVED = 0.85  # what an archived memory counts beside a live one: it stands below one of like strength
SURE = 0.75  # confidence from which on a memory counts in full; one of which nothing is certain counts DOUBTED
DOUBTED = 0.7
OUTDATED = 0.5  # what one counts that is superseded, expired or not yet true
REPLACED = 0.3  # one that is archived for it: too little to be shown beside what holds now

_EVER = (1, dt.date.max.toordinal())
_SINCE = re.compile(r"\b(?:since|after)\s+(?:the\s+)?$|$(?<=[自从])", re.IGNORECASE)
_UNTIL = re.compile(r"\b(?:before|until|till)\s+(?:the\s+)?$", re.IGNORECASE)
_ZH_SINCE = re.compile(r"[之以](?:来|后)|后(?![期面来天])")
_ZH_UNTIL = re.compile(r"[之以]前|前(?![期面后天])")
_TO = re.compile(r"\s*(?:\b(?:to|until|till|through)\b|[-–—~～到至])\s*", re.IGNORECASE)
_AND, _BETWEEN = re.compile(r"\s*(?:and\b|[和与])\s*", re.IGNORECASE), re.compile(r"\bbetween\s+$", re.IGNORECASE)

Ordinals = tuple[int, int]  # of the first day and the last
Worth = Callable[[IndexedFile], float]


class Asked(NamedTuple):
    """Which files, whose passages and those of which days (the first and the last, as ordinals) are asked for."""

    test: Callable[[IndexedFile], bool] | None
    files: int
    speakers: frozenset[int] | None
    days: tuple[int, int] | None

    @property
    def for_all(self) -> bool:
        """Is nothing left out?"""
        return self.test is None and self.speakers is None

    def worth(self, today: dt.date, *, past: bool) -> Worth:
        """What a file counts: nothing where it is not asked for, less where it is archived or no longer true, unless the
        question is about the past."""

        def factor(entry: IndexedFile) -> float:
            if self.test and not self.test(entry):
                return 0.0
            lapsed, archived = not past and lapse(entry, today), not past and entry.archived
            held = (REPLACED if archived else OUTDATED) if lapsed else ARCHIVED if archived else 1.0
            return held * (DOUBTED + (1 - DOUBTED) * min(1.0, confidence(entry) / SURE))

        return factor


def asked(folder: Folder, corpus: Corpus, path: str | None, speaker: str | None, days: tuple[int, int] | None) -> Asked:
    """The filters; raises NotFound where the path or the speaker is unknown."""
    wanted = globs.matcher(path) if path else None

    def test(entry: IndexedFile) -> bool:
        if days and not any(days[0] <= day <= days[1] for day in entry.days):
            return False
        return wanted is None or wanted(entry.path)

    if wanted is None and days is None:
        return Asked(None, corpus.files, speakers(corpus, speaker), None)
    files = sum(map(test, corpus.entries()))
    if wanted and not any(wanted(entry.path) for entry in corpus.entries()):
        raise NotFound(globs.no_match_message(path or "", folder.nearest(path or "")))
    return Asked(test, files, speakers(corpus, speaker), days)


def speakers(corpus: Corpus, speaker: str | None) -> frozenset[int] | None:
    """The numbers of the speakers that a name means: the whole name, else any word of it, or of a Chinese one any part."""
    if speaker is None:
        return None
    wanted = terms.fold(speaker).strip()
    names = [terms.fold(name) for name in corpus.speaker_names]
    found = [n for n, name in enumerate(names) if name == wanted] or [
        n for n, name in enumerate(names) if wanted in name.split() or (terms.is_cjk(wanted) and wanted in name)
    ]
    if not found or not wanted:
        known = ", ".join(name for name in corpus.speaker_names[:20] if name) or "none yet"
        raise NotFound(
            f"nobody named {one_line(speaker)} speaks in these memories; the speakers are {one_line(known)}."
        )
    return frozenset(found)


def said_by(corpus: Corpus, speaker: str | None) -> Callable[[str], bool] | None:
    """Is a name that of the speaker asked for? None where none is."""
    found = speakers(corpus, speaker)
    names = {terms.fold(corpus.speaker_names[number]) for number in found or ()}
    return None if found is None else lambda name: terms.fold(name) in names


def bounds(after: str | None, before: str | None, today: dt.date) -> tuple[int, int] | None:
    """The days given by `after` and `before`, as ordinals; None where neither is. Raises FilememError for one that cannot be
    read."""
    if after is None and before is None:
        return None
    try:
        first = dates.parse_bound(after, today, end=False) if after is not None else dt.date.min
        last = dates.parse_bound(before, today, end=True) if before is not None else dt.date.max
    except ValueError as error:
        raise FilememError(str(error)) from None
    return first.toordinal(), last.toordinal()


def confidence(entry: IndexedFile) -> float:
    """How certain a memory is, from 0 to 1, where it says so; else 1."""
    return float(entry.particulars.get("confidence", 1.0)) if entry.particulars else 1.0


def replaced(entry: IndexedFile, today: dt.date) -> str:
    """The path of what has replaced this memory by `today`, empty where it still held then."""
    by, until = entry.particulars.get("superseded_by"), _day(entry, "valid_until")
    return "" if not by or today.isoformat() < until else str(by)


def lapse(entry: IndexedFile, today: dt.date) -> str:
    """Why a memory does not hold on a day, as its heading says it: replaced, over, or not yet true; empty where it holds."""
    if not entry.particulars:
        return ""
    by, since, until = replaced(entry, today), _day(entry, "valid_from"), _day(entry, "valid_until")
    if not since and entry.particulars.get("supersedes") and entry.date:
        since = dt.date.fromordinal(entry.date).isoformat()
    if by:
        return f"superseded by {one_line(by)}"
    if until and until < today.isoformat():
        return f"held until {until}"
    return f"holds from {since}" if today.isoformat() < since else ""


def _day(entry: IndexedFile, key: str) -> str:
    return str(entry.particulars.get(key) or "")[:10]


# -- the days that a question names ------------------------------------------------------------------------------


class Named(NamedTuple):
    """The days that a question names, the pieces of it that do, and `only`: the days that whatever it asks for is of; whether
    a memory is `dated` so."""

    spans: tuple[Ordinals, ...] = ()
    pieces: tuple[str, ...] = ()
    only: tuple[Ordinals, ...] = ()
    dated: bool = False


def named(question: str, anchor: dt.date | None, today: dt.date, corpus: Corpus) -> Named:
    """The days that a question names.

    Relative days, and those without a year, count from `anchor`; where none is given from today, or if no memory is of such
    a day, from the newest memory. Then relative ones are a guess.
    """
    found, guessed = dates.mentioned(question, anchor or today), False
    if found and anchor is None and not _any_of(corpus, found):
        again = dates.mentioned(question, dt.date.fromordinal(max(1, min(corpus.newest, today.toordinal()))))
        if _any_of(corpus, again):
            found, guessed = again, True
    past = today.toordinal()  # what may be one of two is the one over, where a memory is of that
    for place, one in enumerate(found):
        if one.other and one.other.start.toordinal() > past and _any_of(corpus, [one._replace(other=None)]):
            found[place] = one._replace(other=None)
    if any(not mention.relative for mention in found):
        found, guessed = [mention for mention in found if not mention.relative], False
    spans = [_days(question, found, place) for place in range(len(found))]
    asked = [] if guessed else [span for days in spans for span in days]
    dated = [span for span in asked if corpus.dated(*span)]
    pieces = tuple(question[one.start : one.end] for one in found)
    return Named(tuple(span for days in spans for span in days), pieces, tuple(dated or asked), bool(dated))


def _days(question: str, found: list[dates.Mention], place: int) -> list[Ordinals]:
    """The days of a mention: to the end of the next one in `from March to May`, all after it in `since May`."""
    here = found[place]
    days = [(span.start.toordinal(), span.end.toordinal()) for span in here.spans]
    if place and _joined(question, found[place - 1], here):
        return []
    if place + 1 < len(found) and _joined(question, here, found[place + 1]):
        ends = (span.end.toordinal() for span in found[place + 1].spans)
        return [(first, max(first, end)) for (first, _), end in zip(days, ends, strict=False)]
    before = question[: here.start]
    if _SINCE.search(before) or _ZH_SINCE.match(question, here.end):
        return [(first, _EVER[1]) for first, _ in days]
    if _UNTIL.search(before) or _ZH_UNTIL.match(question, here.end):
        return [(_EVER[0], last) for _, last in days]
    return days


def _joined(question: str, first: dates.Mention, last: dates.Mention) -> bool:
    between = _AND.fullmatch(question, first.end, last.start) and _BETWEEN.search(question[: first.start])
    return bool(between or _TO.fullmatch(question, first.end, last.start))


def _any_of(corpus: Corpus, mentions: list[dates.Mention]) -> bool:
    """Is a memory of one of the days?"""
    spans = (span for mention in mentions for span in mention.spans)
    return any(corpus.dated(span.start.toordinal(), span.end.toordinal()) for span in spans)


def in_words(spans: Sequence[Ordinals]) -> str:
    """`7 May 2023`, `since 7 May 2023`."""
    told = []
    for first, last in spans:
        open_ = "since " if last == _EVER[1] else "until " if first == _EVER[0] else ""
        days = (last if open_ == "until " else first, first if open_ == "since " else last)
        told.append(open_ + dates.in_words(dates.Span(*map(dt.date.fromordinal, days)), chinese=False))
    return " or ".join(told)
