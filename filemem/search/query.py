"""A question as the search understands it: its words, whom it names, its days."""

import functools
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

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
_LETTER = f"[^\\W_{terms.CJK}]"  # of a word between spaces: in `Ann和Ben` 和 is none
_WORD = re.compile(f"{_LETTER}+")
_ASKING = re.compile("|".join(sorted(terms.ASKING, key=len, reverse=True)))
_ASKS_ASSISTANT = re.compile(
    r"\b(?:did|had|were|was|have) you\b|\byou (?:\w+ed|said|told|gave|made|wrote)\b"
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
        is_context: it belongs to a date or names the person asked about, which no
            passage need repeat to answer.
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
        words: what to look for.
        stems: of all that it says, of Chinese the pairs of characters.
        about: the number of the speaker it is about; None for nobody.
        days: those that it names.
        date_pieces: the parts of its text that name them.
        asks_assistant: whether an assistant's words are asked for.
    """

    words: tuple[QueryWord, ...]
    stems: frozenset[str] = frozenset()
    about: int | None = None
    days: tuple[DayRange, ...] = ()
    date_pieces: tuple[str, ...] = ()
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
    speakers = _named_speakers(question, speaker_names)
    rest = terms.fold(question)
    for part in itertools.chain.from_iterable(speakers.values()):
        rest = _without(rest, part)
    pieces = sorted((terms.fold(piece) for piece in days.pieces), key=len, reverse=True)
    for piece in pieces:
        rest = _without(rest, piece)
    found: dict[str, QueryWord] = {}
    for run in _runs(_ASKING.sub(" ", rest)):
        for word in _words_of_run(run, weights):
            found.setdefault(word.stem, word)
    for name in terms.compounds(rest):
        stem = terms.stem(name)
        word = QueryWord(name, stem, weights.lesser_word, is_light=True)
        found.setdefault(stem, word)
    context = list(itertools.chain.from_iterable(map(terms.words, pieces)))
    context += [speaker_names[speaker] for speaker in speakers]
    for text in context:
        for word in _context_words(text, weights):
            found.setdefault(word.stem, word)
    words = _with_aliases(list(found.values()), question, aliases)
    asks_assistant = _ASKS_ASSISTANT.search(terms.simplified(question)) is not None
    return Query(
        words=tuple(words),
        stems=frozenset(terms.content(question)),
        about=next(iter(speakers), None),
        days=days.ranges,
        date_pieces=days.pieces,
        asks_assistant=asks_assistant,
    )


# -- words -----------------------------------------------------------------------------


def _runs(text: str) -> Iterator[str]:
    """Yield the words of a folded text; of Chinese the runs between joining words."""
    for run in terms.words(text):
        if terms.is_cjk(run):
            yield from chinese.chinese_content(run)
        else:
            yield run


def _words_of_run(run: str, weights: Weights) -> Iterator[QueryWord]:
    """Yield a word, or the characters and pairs of a Chinese run."""
    for token, is_whole in _pieces(run):
        if token in terms.STOP:
            continue
        stem = terms.stem(token)
        weight = 1.0 if is_whole else weights.lesser_word
        if stem in _light_stems() or terms.is_sign(stem):
            weight *= weights.lesser_word
        related = terms.related(token)
        alternatives = tuple(dict.fromkeys(related.others + related.members))
        yield QueryWord(token, stem, weight, alternatives, is_light=_is_light(stem))


def _pieces(run: str) -> Iterator[tuple[str, bool]]:
    """Yield the tokens of a run, and whether each is a word, or inside of one.

    Of Chinese a character that is a part of a word is not, nor a pair that is of two.
    """
    if not terms.is_cjk(run):
        yield run, True
        return
    ends = {0, *itertools.accumulate(map(len, chinese.segments(run)))}
    for position, token in enumerate(terms.cjk_tokens(run)):
        start = position // 2
        if len(token) > 1:
            yield token, start + 1 not in ends
        else:
            yield token, len(run) == 1 or {start, start + 1} <= ends


def _context_words(text: str, weights: Weights) -> Iterator[QueryWord]:
    """Yield the words of a date or a name, which together count as one."""
    tokens = [
        token
        for token in terms.tokens(text)
        if token not in terms.STOP and not (token.isalpha() and len(token) == 1)
    ]
    for token in tokens:
        weight = weights.context_word / len(tokens)
        yield QueryWord(token, terms.stem(token), weight, is_context=True)


def _is_light(stem: str) -> bool:
    """Say whether any question may contain a word with this stem."""
    light = _light_stems()
    if not terms.is_cjk(stem):
        return stem in light or terms.is_sign(stem)
    return stem in light or all(one in light or one in terms.STOP for one in stem)


@functools.cache
def _light_stems() -> frozenset[str]:
    return frozenset(terms.stem(word) for word in _LIGHT_WORDS.split())


def _with_aliases(
    words: list[QueryWord], question: str, aliases: Sequence[Sequence[str]]
) -> list[QueryWord]:
    """Return the words, those of a name with what else the thing is called."""
    folded = f" {' '.join(terms.words(question))} "
    stems: dict[str, list[str]] = {}
    for group in aliases:
        others = sorted(terms.content(" ".join(group)))
        for name in group:
            if (f" {name} " if name.isascii() else name) in folded:
                stems.update(dict.fromkeys(terms.tokens(name), others))
    return [
        replace(word, alternatives=(*word.alternatives, *stems.get(word.text, ())))
        for word in words
    ]


# -- whom a question names ---------------------------------------------------------


def _named_speakers(
    question: str, speaker_names: Sequence[str]
) -> dict[int, list[str]]:
    """Return the speakers in the order in which a question names them, and by what.

    Any part of a name will do. In a question with capitals a name has one too, so that
    asking for joy does not ask for Joy.
    """
    has_no_capitals = question == question.lower()
    places: dict[str, int] = {}
    for word in _WORD.finditer(question):
        if has_no_capitals or not word[0][0].islower():
            places.setdefault(terms.fold(word[0]), word.start())
    folded = terms.fold(question)
    parts: dict[int, list[str]] = {}
    first: dict[int, int] = {}
    for speaker, name in enumerate(speaker_names):
        for part in _name_parts(name):
            place = places.get(part, -1)
            if place < 0 and terms.is_cjk(part):
                place = folded.find(part)
            if place >= 0:
                parts.setdefault(speaker, []).append(part)
                first[speaker] = min(place, first.get(speaker, place))
    return {speaker: parts[speaker] for speaker in sorted(parts, key=first.__getitem__)}


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
