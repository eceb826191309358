"""A question as the search understands it: its words, whom it names, its days."""

import functools
import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from filemem.search.days import NamedDays
from filemem.search.weights import Weights
from filemem.text import chinese, terms
from filemem.text.dayrange import DayRange

_LIGHT_WORDS = (
    "make get go have take give say tell mention describe come become use keep find "
    "put let bring do attend participate receive start begin plan decide want need try "
    "happen involve kind type way thing sort example number list name anything "
    "something remember remind many much 事 做 干 要 开始"
)
_ASKED = frozenset("是有多少几")  # for a number, which stands in their place
_LETTER = f"[^\\W_{terms.CJK}]"  # of a word between spaces: in `Ann和Ben` 和 is none
_WORD = re.compile(f"{_LETTER}+")
_ASKING = re.compile("|".join(sorted(terms.ASKING, key=len, reverse=True)))
_ASKS_ASSISTANT = re.compile(
    r"\b(?:did|had|were|was|have) you\b|\byou (?:\w+[^e]ed|said|told|gave|made|wrote)\b"
    r"|\byour? (?:\w+ ){0,2}(?:advice|suggestions?|recommendations?|ideas?|tips?"
    r"|answers?|words|drafts?|lists?|plans?)\b"
    r"|[你您](?:当时|那时|上次|之前|刚才|昨天)?(?:说|推荐|建议|给|列|写|提|讲|告诉|教)"
    r"|\bremind me\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class QueryWord:
    """A word to look for.

    Attributes:
        text: as it was asked, folded.
        stem: what it is compared by.
        weight: what it counts, of a word in full.
        alternatives: stems that may stand for it.
        is_context: it belongs to a date, names the person asked about or asks for a
            number, which no passage need repeat to answer.
        is_light: any question may contain it.
    """

    text: str
    stem: str
    weight: float
    alternatives: tuple[str, ...] = ()
    is_context: bool = False
    is_light: bool = False

    @property
    def is_content(self) -> bool:
        """Say whether it tells what is asked for."""
        return not self.is_context and not self.is_light


@dataclass(frozen=True)
class Query:
    """A question, parsed.

    Attributes:
        text: as it was asked.
        words: what to look for.
        stems: of all that it says.
        rest: its folded text without the names and days in it.
        about: the number of the speaker it is about; None for nobody.
        days: those that it names.
        asks_assistant: whether an assistant's words are asked for.
    """

    text: str
    words: tuple[QueryWord, ...]
    stems: frozenset[str] = frozenset()
    rest: str = ""
    about: int | None = None
    days: tuple[DayRange, ...] = ()
    asks_assistant: bool = False

    @functools.cached_property
    def content(self) -> list[QueryWord]:
        """Return the words that tell what is asked for."""
        return [word for word in self.words if word.is_content]


def parse(
    question: str,
    speaker_names: Sequence[str],
    aliases: Sequence[Sequence[str]],
    days: NamedDays,
    weights: Weights,
) -> Query:
    """Return what a question asks for.

    Args:
        question: its text.
        speaker_names: of everybody who speaks in the memory, folded; '' for nobody.
        aliases: groups of names that stand for one thing, in folded words.
        days: that it names.
        weights: what each kind of word counts.
    """
    names = _names_in(question, speaker_names)
    pieces = _longest_first(days.pieces)
    rest = terms.fold(question)
    for part in [*(name.part for name in names), *pieces]:
        rest = _without(rest, part)
    words = _without_ornament(list(_content_words(_ASKING.sub(" ", rest), weights)))
    words = _with_compounds(words, terms.compounds(rest), weights)
    speakers = dict.fromkeys(name.speaker for name in names)
    sought = map(terms.words, _longest_first(days.sought))
    context = list(itertools.chain.from_iterable(sought))
    for text in [*context, *(speaker_names[speaker] for speaker in speakers)]:
        words += _context_words(text, weights)
    by_stem: dict[str, QueryWord] = {}
    for word in words:
        by_stem.setdefault(word.stem, word)
    return Query(
        text=question,
        words=_with_aliases(by_stem.values(), question, aliases),
        stems=frozenset(terms.content(question)),
        rest=rest,
        about=next(iter(speakers), None),
        days=days.ranges,
        asks_assistant=_ASKS_ASSISTANT.search(terms.simplified(question)) is not None,
    )


def _longest_first(pieces: Iterable[str]) -> list[str]:
    """Return pieces of a question, folded, so that none is cut from a longer one."""
    return sorted(map(terms.fold, pieces), key=len, reverse=True)


# -- words -----------------------------------------------------------------------------


def _content_words(text: str, weights: Weights) -> Iterator[QueryWord]:
    """Yield the words of a folded text, of Chinese its characters and pairs."""
    for run in terms.words(text):
        pieces = chinese.chinese_content(run) if terms.is_cjk(run) else [run]
        for token, is_whole in itertools.chain.from_iterable(map(_pieces, pieces)):
            if token in terms.STOP:
                continue
            stem = terms.stem(token)
            is_light = _is_light(stem)
            weight = 1.0 if is_whole else weights.lesser_word
            if is_light:
                weight *= weights.lesser_word
            others = terms.related(token)
            is_asked = _ASKED.issuperset(token)
            yield QueryWord(token, stem, weight, others, is_asked, is_light)


def _without_ornament(words: list[QueryWord]) -> list[QueryWord]:
    """Return words of which an emoji that names nothing need not be repeated.

    Where there are emoji alone, they are what is asked for.
    """
    plain = []
    for word in words:
        is_sign = not word.text[0].isalnum() and not word.alternatives
        plain.append(replace(word, is_context=word.is_context or is_sign))
    return plain if any(word.is_content for word in plain) else words


def _with_compounds(
    words: Sequence[QueryWord], names: Sequence[Sequence[str]], weights: Weights
) -> list[QueryWord]:
    """Return the words with names that `-` or `_` joins, whose parts weigh less.

    Their parts may be said for the name, but none is asked for by itself.
    """
    all_parts = set(itertools.chain.from_iterable(names))
    found: list[QueryWord] = []
    for word in words:
        if word.text in all_parts:
            weight = word.weight * weights.lesser_word
            word = replace(word, weight=weight, is_light=True)
        found.append(word)
    for parts in names:
        whole = "".join(parts)
        stems = tuple(word.stem for word in words if word.text in parts)
        found.append(QueryWord(whole, terms.stem(whole), 1.0, stems))
    return found


class _Piece(NamedTuple):
    """A token, and whether it is a word, or inside of one."""

    token: str
    is_whole: bool = True


def _pieces(run: str) -> Iterator[_Piece]:
    """Yield the tokens of a run.

    Of Chinese a character that is a part of a word is not whole, nor a pair that is of
    two.
    """
    if not terms.is_cjk(run):
        yield _Piece(run)
        return
    words = chinese.segments(run)
    for token in terms.cjk_tokens(run):
        is_inside = len(token) > 1 and any(token in word for word in words)
        yield _Piece(token, is_inside or token in words)


def _context_words(text: str, weights: Weights) -> Iterator[QueryWord]:
    """Yield the words of a date or a name, which together count as one.

    A letter alone is none, as in `'s`; a digit is.
    """
    tokens = [
        token
        for token in terms.tokens(text)
        if token not in terms.STOP and not (token.isalpha() and len(token) == 1)
    ]
    for token in tokens:
        weight = weights.lesser_word / len(tokens)
        yield QueryWord(token, terms.stem(token), weight, is_context=True)


def _is_light(stem: str) -> bool:
    """Say whether any question may contain a word with this stem."""
    light = _light_stems()
    if not terms.is_cjk(stem):
        return stem in light
    return stem in light or all(one in light or one in terms.STOP for one in stem)


@functools.cache
def _light_stems() -> frozenset[str]:
    return frozenset(terms.stem(word) for word in _LIGHT_WORDS.split())


def _with_aliases(
    words: Iterable[QueryWord], question: str, aliases: Sequence[Sequence[str]]
) -> tuple[QueryWord, ...]:
    """Return the words, those of a name with what else the thing is called."""
    folded = f" {' '.join(terms.words(question))} "
    stems = defaultdict[str, list[str]](list)
    for group in aliases:
        for name in group:
            if (f" {name} " if name.isascii() else name) in folded:
                others = sorted(terms.content(" ".join(group)))
                for token in terms.tokens(name):
                    # A lone digit or character of a name stands for no other.
                    stems[token] += [stem for stem in others if len(stem) > 1]
    return tuple(
        replace(word, alternatives=(*word.alternatives, *stems[word.text]))
        for word in words
    )


# -- whom a question names -------------------------------------------------------------


class _Name(NamedTuple):
    """Where a question names a speaker, and by which part of the name."""

    place: int
    speaker: int
    part: str


def _names_in(question: str, speaker_names: Sequence[str]) -> list[_Name]:
    """Return the names of speakers in a question, in their order there.

    Any part of a name will do. In a question with capitals a name has one too, so that
    asking for joy does not ask for Joy.
    """
    has_no_capitals = question == question.lower()
    places: dict[str, int] = {}
    for word in _WORD.finditer(question):
        if has_no_capitals or not word[0][0].islower():
            places.setdefault(terms.fold(word[0]), word.start())
    folded = terms.fold(question)
    names: list[_Name] = []
    for speaker, name in enumerate(speaker_names):
        for part in _name_parts(name):
            place = places.get(part, -1)
            if place < 0 and terms.is_cjk(part):
                place = folded.find(part)
            if place >= 0:
                names.append(_Name(place, speaker, part))
    return sorted(names)


def _without(text: str, part: str) -> str:
    """Return a folded text without a name or a date, and the `'s` behind it."""
    if terms.is_cjk(part):
        return text.replace(part, " ")
    whole = f"(?<!{_LETTER}){re.escape(part)}(?!{_LETTER})(?:['’]s\\b)?"
    return re.sub(whole, " ", text)


def _name_parts(name: str) -> list[str]:
    """Return the words that name a speaker alone.

    Of a Chinese name of three characters these are also the last two.
    """
    words = terms.words(name)
    parts = [word for word in words if len(word) > 1 and word not in terms.STOP]
    given = [part[1:] for part in parts if terms.is_cjk(part) and len(part) == 3]
    return parts + given
