"""A question as the search understands it: its words, whom it names, its days."""

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from filemem.index import Corpus
from filemem.search.days import NamedDays
from filemem.search.weights import Weights
from filemem.text import terms
from filemem.text.dayrange import DayRange

_LIGHT_WORDS = (
    "make get go have take give say tell mention describe come become use keep find "
    "put let bring do attend participate receive start begin plan decide want need try "
    "happen involve kind type way thing sort example number list name anything "
    "something remember remind many much 事 做 干 要 开始"
)
_LETTER = f"[^\\W_{terms.CJK}]"  # of a word between spaces: in `Ann和Ben` 和 is none
_WORD = re.compile(f"{_LETTER}+")
_JOINED = re.compile(r"[\s,，、&]*(?:\b(?:and|or)\b|[和与跟及或])?\s*")
_ASKING = re.compile("|".join(sorted(terms.ASKING, key=len, reverse=True)))
_ASKS_ASSISTANT = re.compile(
    r"\b(?:did|had|were|was|have) you\b|\byou (?:\w+ed|said|told|gave|made|wrote)\b"
    r"|\byour? (?:\w+ ){0,2}(?:advice|suggestions?|recommendations?|ideas?|tips?"
    r"|answers?|words|drafts?|lists?|plans?)\b"
    r"|[你您](?:当时|那时|上次|之前|刚才|昨天)?(?:说|推荐|建议|给|列|写|提|讲|告诉|教)|\bremind me\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class QueryWord:
    """A word to look for.

    `alternatives` are stems that may stand for it, each with its share of the word's
    weight. `is_context`: it belongs to a date or names the person asked about, which no
    passage need repeat to answer.
    """

    text: str
    stem: str
    weight: float
    alternatives: tuple[tuple[str, float], ...] = ()
    is_context: bool = False


@dataclass(frozen=True)
class Query:
    """A question, parsed.

    `about` are the numbers of the speakers it is about, `days` those that it names,
    `date_pieces` the parts of its text that name them.
    """

    words: tuple[QueryWord, ...]
    about: frozenset[int] = frozenset()
    days: tuple[DayRange, ...] = ()
    date_pieces: tuple[str, ...] = ()
    asks_assistant: bool = False

    @functools.cached_property
    def content(self) -> list[QueryWord]:
        """Return the words that not any question may contain."""
        return [
            word
            for word in self.words
            if not word.is_context and not is_light(word.stem)
        ]

    @functools.cached_property
    def stems(self) -> frozenset[str]:
        """Return the stems of every word of the question."""
        return frozenset(word.stem for word in self.words)


def parse(question: str, corpus: Corpus, days: NamedDays, weights: Weights) -> Query:
    """Return what a question asks for."""
    speaker_names = corpus.speaker_names
    names = _named_speakers(question, speaker_names)
    rest = names.rest
    pieces = sorted((terms.fold(piece) for piece in days.pieces), key=len, reverse=True)
    for piece in pieces:
        rest = rest.replace(piece, " ")
    rest = _ASKING.sub(" ", rest)
    found: dict[str, QueryWord] = {}
    for run in _runs(rest):
        for word in _words_of_run(run, weights):
            found.setdefault(word.stem, word)
    for piece in pieces:
        for run in terms.words(piece):
            for word in _words_of_run(run, weights):
                weight = word.weight * weights.context_word
                context = replace(word, weight=weight, is_context=True)
                found.setdefault(word.stem, context)
    for speaker in names.mentioned:
        for word in _words_of_name(speaker_names[speaker], weights):
            found.setdefault(word.stem, word)
    query = Query(
        words=tuple(found.values()),
        about=frozenset(names.about),
        days=days.ranges,
        date_pieces=days.pieces,
        asks_assistant=_ASKS_ASSISTANT.search(question) is not None,
    )
    return _with_aliases(query, question, corpus, weights)


def _runs(text: str) -> Iterator[str]:
    """Yield the words of a folded text; of Chinese the runs between joining words."""
    for run in terms.words(text):
        if terms.is_cjk(run):
            yield from terms.chinese_content(run)
        else:
            yield run


def _words_of_run(run: str, weights: Weights) -> Iterator[QueryWord]:
    """Yield a word, or the characters and pairs of a Chinese run."""
    for token, share in _weighed_tokens(run, weights):
        if token in terms.STOP:
            continue
        stem = terms.stem(token)
        weight = share
        if stem in _light_stems():
            weight *= weights.light_word
        related, members = terms.related(token)
        alternatives = dict.fromkeys(related, weights.related_word)
        alternatives |= dict.fromkeys(members, weights.kind_member)
        yield QueryWord(token, stem, weight, tuple(alternatives.items()))


def _weighed_tokens(run: str, weights: Weights) -> Iterator[tuple[str, float]]:
    """Yield the tokens of a run, each with its share.

    A pair of characters that are of two words counts less, and so does a character
    that is a part of a word.
    """
    if not terms.is_cjk(run):
        yield run, 1.0
        return
    ends = {0, *itertools.accumulate(map(len, terms.segments(run)))}
    for position, token in enumerate(terms.cjk_tokens(run)):
        start = position // 2
        if len(token) > 1:
            crosses = start + 1 in ends
            yield token, weights.split_pair if crosses else 1.0
        else:
            is_word = len(run) == 1 or {start, start + 1} <= ends
            yield token, 1.0 if is_word else weights.lone_character


def _words_of_name(name: str, weights: Weights) -> list[QueryWord]:
    """Return the words of a speaker's name, which together count as one of a date."""
    tokens = [
        token
        for token in terms.tokens(name)
        if len(token) > 1 and token not in terms.STOP
    ]
    return [
        QueryWord(
            token,
            terms.stem(token),
            weights.context_word / len(tokens),
            is_context=True,
        )
        for token in tokens
    ]


def is_light(stem: str) -> bool:
    """Say whether any question may contain a word with this stem."""
    if stem in _light_stems():
        return True
    if not terms.is_cjk(stem):
        return False
    return all(one in _light_stems() or one in terms.STOP for one in stem)


@functools.cache
def _light_stems() -> frozenset[str]:
    return frozenset(terms.stem(word) for word in _LIGHT_WORDS.split())


# -- whom a question names ---------------------------------------------------------


@dataclass(frozen=True)
class NamedSpeakers:
    """Whom a question is about, whom else it mentions, and the rest of its text."""

    rest: str
    about: list[int]
    mentioned: list[int]


@dataclass(frozen=True, order=True)
class _NameFound:
    start: int
    end: int
    speaker: int


def _named_speakers(question: str, speaker_names: Sequence[str]) -> NamedSpeakers:
    """Find the speakers that a question names; any part of a name will do.

    It is about the first one and whoever is joined to them: Ann and Ben in `What did
    Ann and Ben tell Joy?`. In a question with capitals a name has one too, so that
    asking for joy does not ask for Joy.
    """
    has_no_capitals = question == question.lower()
    spelt = {
        terms.fold(word)
        for word in _WORD.findall(question)
        if has_no_capitals or not word[0].islower()
    }
    folded = terms.fold(question)
    rest = folded
    found: list[_NameFound] = []
    for speaker, name in enumerate(speaker_names):
        for part in _name_parts(name):
            if part not in spelt and not (terms.is_cjk(part) and part in folded):
                continue
            for match in _name_pattern(part).finditer(folded):
                found.append(_NameFound(match.start(), match.end(), speaker))
                blank = " " * len(match[0])
                rest = rest[: match.start()] + blank + rest[match.end() :]
    found.sort()
    about: list[int] = []
    end_of_last = 0
    for name_found in found:
        is_new = name_found.speaker not in about
        gap = folded[end_of_last : name_found.start]
        if about and is_new and not _JOINED.fullmatch(gap):
            break
        about.append(name_found.speaker)
        end_of_last = name_found.end
    mentioned = sorted({name_found.speaker for name_found in found})
    return NamedSpeakers(rest, about, mentioned)


def _name_pattern(part: str) -> re.Pattern[str]:
    if terms.is_cjk(part):
        return re.compile(re.escape(part))
    return re.compile(f"(?<!{_LETTER}){re.escape(part)}(?!{_LETTER})(?:['’]s\\b)?")


def _name_parts(name: str) -> list[str]:
    """Return the words that name a speaker alone.

    Of a Chinese name of three characters these are also the last two.
    """
    words = terms.words(name)
    parts = [word for word in words if len(word) > 1 and word not in terms.STOP]
    given = [part[1:] for part in parts if terms.is_cjk(part) and len(part) == 3]
    return parts + given


def _with_aliases(
    query: Query, question: str, corpus: Corpus, weights: Weights
) -> Query:
    """Return the query with what else its names are called, by `aliases` of files."""
    folded = f" {' '.join(terms.words(question))} "
    words = list(query.words)
    for group in corpus.names:
        for name in group:
            spelt = f" {name} " if name.isascii() else name
            if spelt in folded:
                others = [other for other in group if other != name]
                _add_aliases(words, name, others, weights)
    return replace(query, words=tuple(words))


def _add_aliases(
    words: list[QueryWord], name: str, others: Iterable[str], weights: Weights
) -> None:
    """Add other names of a thing to the first word of its name."""
    tokens = terms.tokens(name)
    for place, word in enumerate(words):
        if word.text in tokens:
            stems = {
                terms.stem(token)
                for other in others
                for token in terms.tokens(other)
                if token not in terms.STOP
            }
            added = tuple((stem, weights.alias) for stem in sorted(stems))
            alternatives = tuple(dict.fromkeys([*word.alternatives, *added]))
            words[place] = replace(word, alternatives=alternatives)
            return
