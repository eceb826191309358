"""What marks a passage as an answer, beside its words, in shares of the question's weight: who says it, that it replies, tells
when, has a name; and how a file's passages lie one beside the other. Both are the same for most questions, so they are kept."""

import functools
import itertools
import math
import sys
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from filemem.index.corpus import Corpus, IndexedFile
from filemem.text import terms

REACH = (1.0, 0.87, 0.75, 0.62, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1)  # what a word counts so many half steps away; the
# next passage is two half steps away, or one where the same person goes on speaking, as in chats of short messages
NOTES = 4  # half steps from a paragraph or list item to the next: unlike a reply, it says again what it speaks of
ASKED, OWN_WORDS = 0.2, 0.08  # shares of the question's weight: said by a person named; and in the first person
OWN = 0.05  # in the first person, where the question is
TIME = 0.2  # a time word where the question asks when
ASKING, ANSWERING = -0.08, 0.06  # ends in a question; follows one
NAMING, OPENING = 0.05, 0.05  # has a name; opens its file, where people say what is new
LENGTH = -0.05  # a fold in length: at equal merit the shorter passage leaves more room for others
BARE_QUERY_LENGTH = 0.1  # likewise, where the question has no word to look for
SLIGHT = (0.2, 0.15, 0.1)  # held back for having 0, 1 or 2 words besides stop words: there is little to learn from it
OPENS, ANSWERS = 256, 512  # marks of a passage beside the flags of its text
_MARKS = terms.HAS_TIME_WORD | terms.IS_QUESTION | terms.FIRST_PERSON | terms.HAS_NAME
Share = tuple[str, float]  # what a part of a score is for, and how much


def _mark(flags: bytes, speakers: tuple[int, ...], place: int) -> int:
    """What marks a passage, whatever the question, as flags."""
    mark = flags[place] & _MARKS
    if not speakers[place]:
        mark |= terms.FIRST_PERSON  # what nobody speaks is told of whom it names
    elif not any(speakers[:place]) and not flags[place] & terms.IS_DERIVED:  # a quotation opens nothing
        return mark | OPENS
    before = place - 1  # and before what the same person said just before
    while before > max(0, place - 4) and speakers[before] == speakers[place]:
        before -= 1
    return mark | (ANSWERS if before >= 0 and flags[before] & terms.IS_QUESTION else 0)


@functools.lru_cache(maxsize=4096)
def marks(named: float, mark: int, when: bool, own: bool) -> tuple[Share, ...]:
    """What marks a passage as an answer, as shares of the question's weight: `named` is what it counts who says it, `when`
    that the question asks for a time."""
    found = []
    if named:
        found.append(("speaker", named))
        if mark & terms.FIRST_PERSON:
            found.append(("own words", OWN_WORDS))
    elif own and mark & terms.FIRST_PERSON:
        found.append(("own words", OWN))
    if when and mark & terms.HAS_TIME_WORD:
        found.append(("time word", TIME))
    if mark & terms.IS_QUESTION:
        found.append(("question", ASKING))
    if mark & terms.HAS_NAME:
        found.append(("name", NAMING))
    if mark & OPENS:
        found.append(("opening", OPENING))
    elif mark & ANSWERS:
        found.append(("answer", ANSWERING))
    return tuple(found)


class Marks(NamedTuple):
    """What marks of an answer a question asks for: speakers, and the time; whether it is bare."""

    about: frozenset[int]
    others: frozenset[int]
    when: bool
    bare: bool
    own: bool


@functools.lru_cache(maxsize=65536)
def _most_share(mark: int, speaker: int, length: int, asked: Marks) -> float:
    """The most that a passage's marks and length count, as a share of the question's weight."""
    named = ASKED if speaker in asked.about else ASKED / 2 if speaker in asked.others else 0.0
    return sum([share for _, share in marks(named, mark, asked.when, asked.own) + LENGTHS[asked.bare][length]])


def _lengths(fold: float) -> tuple[tuple[Share, ...], ...]:
    """By its length in tokens what a passage gets for it, where a fold counts `fold`."""
    slight = (*SLIGHT, *[0.0] * (256 - len(SLIGHT)))
    return tuple((("length", fold * math.log1p(length) - slight[length]),) for length in range(256))


LENGTHS = {False: _lengths(LENGTH), True: _lengths(BARE_QUERY_LENGTH)}


class Layout:
    """Of a file's passages the places, in half steps from the first, the marks, as flags that `marks` knows, and who
    speaks: what is the same for every question; and what was worked out for some."""

    def __init__(self, flags: bytes, speakers: tuple[int, ...], lengths: bytes) -> None:
        self.places = [0] if speakers else []
        for flag, (last, speaker) in zip(flags[1:], itertools.pairwise(speakers), strict=True):
            step = NOTES if not (speaker or last) else 1 if speaker == last else 2
            self.places.append(self.places[-1] + (len(REACH) if flag & terms.APART else step))
        self.marks = [_mark(flags, speakers, place) for place in range(len(speakers))]
        self.speakers = frozenset(speakers)
        self._rows = list(zip(self.marks, speakers, lengths, strict=True))
        self._shares: dict[Marks, list[float]] = {}
        self._around: dict[int, tuple[int, tuple[float, ...]]] = {}

    def shares(self, asked: Marks) -> list[float]:
        """The most that marks and lengths count for each passage, as shares of the question's weight."""
        known = self._shares.get(asked)
        if known is None:
            known = self._shares[asked] = [_most_share(*row, asked) for row in self._rows]
        return known

    def around(self, at: int) -> tuple[int, tuple[float, ...]]:
        """As the function of this name has it."""
        known = self._around.get(at)
        if known is None:
            known = self._around[at] = around(self.places, at)
        return known


def layout(corpus: Corpus, entry: IndexedFile) -> Layout:
    """The layout of a file, kept for the next question."""
    if entry.layout is None:
        where = slice(entry.first, entry.first + entry.count)
        speakers = tuple(corpus.speakers[where])
        entry.layout = Layout(bytes(corpus.flags[where]), speakers, bytes(corpus.lengths[where]))
    found: Layout = entry.layout
    return found


# -- what neighbours give: places are in half steps, and the distance alone decides (`REACH`) ------------------------

_FINE = 1024  # a share of 1 as a whole number
_SHARES = [math.ceil(share * _FINE) for share in (*REACH[:0:-1], *REACH)]  # from one end of the reach to the other
_KERNEL = sum(share << 32 * place for place, share in enumerate(_SHARES))
_MOST = (1 << 32) // sum(_SHARES) - 2
_LEAST = 1e-9  # as little as a word ever counts; less would overflow the scale


def around(places: Sequence[int], at: int) -> tuple[int, tuple[float, ...]]:
    """The first passage in reach of the one `at` in a file, and what the words of each from there on count for it."""
    here = places[at]
    first, end = bisect_right(places, here - len(REACH)), bisect_left(places, here + len(REACH))
    return first, tuple([REACH[abs(place - here)] for place in places[first:end]])


def context_scores(files: Sequence[tuple[Sequence[int], Sequence[float]]]) -> Iterator[list[float]]:
    """For each file, given the places of its passages and what each holds, what all those in reach of each passage give
    it, or a little more.

    One multiplication of two large numbers finds them all: with what passages hold as the digits of the one, and the shares by
    distance as those of the other, each digit of the product is the sum over one passage's reach.
    """
    sizes = [places[-1] + len(REACH) for places, _ in files]  # so far apart no file reaches the next
    starts = list(itertools.accumulate(sizes, initial=0))
    scale = _MOST / max(_LEAST, max((max(held) for _, held in files), default=_LEAST))
    digits = array("I", bytes(4 * starts[-1]))
    for start, (places, held) in zip(starts, files, strict=False):
        for place, value in zip(places, held, strict=True):
            if value:
                digits[start + place] = math.ceil(value * scale)
    product = int.from_bytes(digits.tobytes(), sys.byteorder) * _KERNEL
    sums = array("I", product.to_bytes(4 * (len(digits) + len(_SHARES) - 1), sys.byteorder))
    unit = 1 / (scale * _FINE)
    for start, (places, _) in zip(starts, files, strict=False):
        middle = start + len(REACH) - 1
        yield [sums[middle + place] * unit for place in places]
