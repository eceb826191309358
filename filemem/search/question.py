"""What a question asks: its words and what else may be said for them, whom it names, whether it asks for a time or an order;
and what a search is limited to: files by path and date, passages by speaker, days; and what a file counts that no longer holds.
"""

import datetime as dt
import functools
import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from filemem.errors import FilememError, NotFound
from filemem.files import globs
from filemem.files.folder import Folder
from filemem.index import Corpus, IndexedFile
from filemem.text import dates, terms
from filemem.text.plain import one_line

RELATED, MEMBER = (
    0.4,
    0.5,
)  # what a related word counts, and a member of the kind that is asked for
LIGHT = 0.5  # what the words count that any question may be put with
HALF = 0.25  # what a Chinese character counts that is a part of a word
ACROSS = 0.4  # what a pair counts whose characters are of two words
ASIDE = 0.3  # what the words of a date count, and the name of a person asked about: few passages repeat them

_WHEN = re.compile(
    r"\s*(?:when|since when|what (?:year|month|date|day|time)|how long|how many (?:years|months|weeks|days))\b"
    r"|什么时候|何时|哪[一]?[年天月]|几[月号点]|多久|多长时间|什么时间",
    re.IGNORECASE,
)
_LIGHT_WORDS = (
    "make get go have take give say tell mention describe come become use keep find put let bring do attend participate "
    "receive start begin plan decide want need try happen involve kind type way thing sort example number list "
    "name anything something 事 做 要 开始"
)
_ASKED = re.compile(
    r"\bhow (?:many|much)\b|\bwe (?:talk|spoke|speak|chat|discuss)\w*(?: about)?\b|[聊谈][了过到]?(?=些?什么)"
    "|为什么|什么时候|什么时间|什么样|什么|哪一?[年天月日些里儿个种家座次]|哪一|哪|几[月号点]|怎么样|怎么"
    "|怎样|如何|为何|何时|能不能|可不可以|不能|能够|可以|应该|谁|多少|多久|多长|几次|几个|是否|有没有|是不是|发生|事情|[吗呢吧啊]|(?<!目)的(?!确)|了(?!解)"
)
_LETTER = f"[^\\W_{terms.CJK}]"  # of a word between spaces; in `Ann和Ben` 和 is none
_SPELT = re.compile(f"{_LETTER}+")
_JOINED = re.compile(r"[\s,，、&]*(?:\b(?:and|or)\b|[和与跟及或])?\s*")
_PAST = re.compile(
    r"\b(?:used to|previous(?:ly)?|former(?:ly)?|originally|in the past|back then|at that time)\b"
    r"|\bbefore\s*[?.!]*\s*$|以前|之前|从前|曾经|曾經|过去|過去|原来|原來|当时|當時",
    re.IGNORECASE,
)
# In a folded question: how things are is what every memory says.
_PRESENT = re.compile(
    r"\b(?:(?:right |by |until )?now|currently|nowadays|at (?:the moment|present)|these days|as of (?:now|today))\b"
    r"|(?<=[a-z])\s+current\b(?=\s+[a-z])"
    "|现在|目前|如今|眼下|当前|当下"
)
_LATEST = re.compile(
    r"\b(?:latest|newest|most recent(?:ly)?|(?:the|my|our|his|her|their|your|'s) last (?:time|one))\b|\blast time\b"
    r"|(?<!离)最近(?!的)|最近的?一次|最后一次|最後一次|上一次|最新",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"\b(?:in|by) (?:time |date |chronological )?order(?! to\b)|\bin (?:the )?order of (?:time|date)\b|\bchronolog\w*"
    r"|\btimeline\b|\bover time\b|按时间(?:顺序|先后)?|按時間|时间顺序|時間順序|时间线|時間線|先后|先後|依次",
    re.IGNORECASE,
)
_FIRST = re.compile(
    r"\b(?:(?:the|my|our|his|her|their|your|'s) (?:(?:very )?first(?! name)|earliest)|for the first time|earliest"
    r"|when .{0,60}\bfirst)\b(?! (?:time )?(?:after|since)\b| (?:n|few|\d+|two|three|four|five|ten|hundred)\b)"
    r"|(?<!后)(?<!後)第一次(?!.{1,12}[之以]?[后後])|最早|首次",
    re.IGNORECASE,
)


class Word(NamedTuple):
    """A word of the question: its stem, and what may stand for it, as stems with what each counts of the word itself.

    `is_context_word`: it is part of a date or names the person asked about, which no passage need repeat to answer.
    """

    text: str
    stem: str
    weight: float
    others: tuple[tuple[str, float], ...]
    is_context_word: bool


# The assistant is the subject, of something past: "what did you suggest", "you told me", "your advice"; 你 that begins a clause.
_OF_ASSISTANT = re.compile(
    r"\b(?:did|had|have|were|was) you\b(?! (?:know|remember))"
    r"|\byou (?:(?:just|once|first|last|also) )?(?:\w+ed|said|told|gave|wrote|made|put|came|drew|chose)\b"
    r"|\byour (?:\w+ ){0,2}(?:advice|suggestions?|recommendations?|ideas?|tips?|answers?|words|drafts?|lists?|plans?)\b"
    r"|(?:^|[，,。；;：:、？?\s])(?:当时|那时|上次|之前|刚才|昨天|后来|以前)?[你您](?!还?(?:知道|记得|能|可以|会|认识|有没有|觉得|帮))",
    re.IGNORECASE,
)
# What a passage counts by `Corpus.voices`: one of an assistant less, as do a question put to it and a quotation of memory.
VOICES = (1.0, 0.4, 0.3, 0.3)
IF_ASKED = (
    1.0,
    1.0,
    *VOICES[2:],
)  # where the question is about what the assistant said


class Query(NamedTuple):
    """A question, parsed: whom it is `about`, as places of speakers; `spans` are days that it names, as ordinals of the first and
    the last.

    `runs` are its Chinese, Japanese and Korean runs, which have no spaces between words. `order` is 1 where it asks for
    what was first or for an order in time, -1 where it asks for what was last or how things are now, else 0. `past`: it asks
    how things were; `own`: it is in the first person.
    """

    words: tuple[Word, ...]
    about: frozenset[int] = frozenset()
    asks_when: bool = False
    spans: tuple[tuple[int, int], ...] = ()
    runs: tuple[str, ...] = ()
    order: int = 0
    past: bool = False
    voices: tuple[float, ...] = VOICES
    own: bool = False

    @property
    def pieces(self) -> list[str]:
        """The words to search for, besides those of dates and names; of Chinese by the dictionary, and what that does not know in
        one piece, a name mostly, between words that any question may contain."""
        found = [
            word.text
            for word in self.words
            if not word.is_context_word and not terms.is_cjk(word.text)
        ]
        for run in self.runs:
            for alone, group in itertools.groupby(
                terms.segments(run), lambda word: len(word) == 1
            ):
                words = list(group)
                found += (
                    "".join(
                        f" {one} " if is_light(one) else one for one in words
                    ).split()
                    if alone
                    else words
                )
        return [*dict.fromkeys(found)]

    @property
    def content(self) -> list[str]:
        """Those of them that not any question may contain."""
        return [text for text in self.pieces if not is_light(terms.stem(text))]


def parse(
    question: str,
    speaker_names: Sequence[str] = (),
    spans: Iterable[tuple[int, int]] = (),
    dates: Iterable[str] = (),
) -> Query:
    """The words of a question, the speakers (places in `speaker_names`, folded names) that it is about, and what it asks.

    `dates` are the pieces of the question that name the spans: no passage needs their words to answer it.
    """
    rest, about, named_all = _without_names(question, speaker_names)
    for date in (named := sorted(map(terms.fold, dates), key=len, reverse=True)):
        rest = rest.replace(date, " ")
    for asking in (_PRESENT, _LATEST, _ORDER, _ASKED):
        rest = asking.sub(" ", rest)
    runs = [
        one
        for run in terms.words(rest)
        for one in (terms.chinese_content(run) if terms.is_cjk(run) else [run])
    ]
    found: dict[str, Word] = {}
    for run, aside in [
        *((run, False) for run in runs),
        *((run, True) for date in named for run in terms.words(date)),
    ]:
        for token, share in _weighed(run) if terms.is_cjk(run) else ((run, 1.0),):
            stem = terms.stem(token)
            if token not in terms.STOP and stem not in found:
                weight = share * (
                    ASIDE if aside else LIGHT if stem in _light_stems() else 1.0
                )
                near, members = terms.related(token)
                others = (
                    dict.fromkeys(near, RELATED) | dict.fromkeys(members, MEMBER)
                ).items()
                found[stem] = Word(token, stem, weight, tuple(others), aside)
    for place in sorted(named_all):
        tokens = [
            token
            for token in terms.tokens(speaker_names[place])
            if len(token) > 1 and token not in terms.STOP
        ]
        for token, stem in zip(tokens, map(terms.stem, tokens), strict=True):
            found.setdefault(stem, Word(token, stem, ASIDE / len(tokens), (), True))
    past, now = (
        _PAST.search(question) is not None,
        _PRESENT.search(terms.fold(question)) is not None,
    )
    return Query(
        tuple(found.values()),
        frozenset(about),
        _WHEN.search(question) is not None,
        tuple(spans),
        tuple(filter(terms.is_cjk, runs)),
        -1
        if _LATEST.search(question) or (now and not past)
        else 1
        if _ORDER.search(question) or _FIRST.search(question)
        else 0,
        past,
        IF_ASKED if _OF_ASSISTANT.search(question) else VOICES,
        bool(terms.flags(question) & terms.FIRST_PERSON),
    )


def _weighed(run: str) -> Iterator[tuple[str, float]]:
    """The tokens of a Chinese run with what each counts: a character less, as most words have two."""
    ends = {0, *itertools.accumulate(map(len, terms.segments(run)))}
    for place, token in enumerate(terms.cjk_tokens(run)):
        at = place // 2
        word = len(token) > 1 or len(run) == 1
        across = len(token) > 1 and at + 1 in ends
        yield token, ACROSS if across else 1.0 if word or {at, at + 1} <= ends else HALF


def is_light(stem: str) -> bool:
    """Is it that of a word that any question may contain?"""
    light = _light_stems()
    return stem in light or (
        terms.is_cjk(stem) and all(one in light or one in terms.STOP for one in stem)
    )


@functools.cache
def _light_stems() -> frozenset[str]:
    return frozenset(map(terms.stem, _LIGHT_WORDS.split()))


def _without_names(
    question: str, speaker_names: Sequence[str]
) -> tuple[str, list[int], set[int]]:
    """The folded question without the names of speakers; whom it is about, as places, and all whom it names.

    Any part of a name will do. It is about the first and whoever is joined to them: Ann and Ben in `What did Ann and Ben
    tell Joy?`. In a question with capitals a name has one too, so that asking for joy does not ask for Joy.
    """
    small = question == question.lower()
    said = {
        terms.fold(word)
        for word in _SPELT.findall(question)
        if small or not word[0].islower()
    }
    rest = question = terms.fold(question)
    spots = []
    for place, name in enumerate(speaker_names):
        for part in _name_parts(name):
            if part in said or (terms.is_cjk(part) and part in question):
                edges = (
                    ("", "")
                    if terms.is_cjk(part)
                    else (f"(?<!{_LETTER})", f"(?!{_LETTER})(?:['’]s\\b)?")
                )
                for match in re.finditer(
                    edges[0] + re.escape(part) + edges[1], question
                ):
                    spots.append((*match.span(), place))
                    rest = (
                        rest[: match.start()]
                        + " " * len(match[0])
                        + rest[match.end() :]
                    )
    about, last = list[int](), 0
    spots.sort()
    for start, end, place in spots:
        if (
            about
            and place not in about
            and not _JOINED.fullmatch(question, last, start)
        ):
            break
        about.append(place)
        last = end
    return rest, about, {place for *_, place in spots}


def _name_parts(name: str) -> list[str]:
    """The words of a name that name it by themselves; of a Chinese name of three characters also the last two."""
    parts = [
        part for part in terms.words(name) if len(part) > 1 and part not in terms.STOP
    ]
    return parts + [part[1:] for part in parts if terms.is_cjk(part) and len(part) == 3]


# -- what a search is limited to ---

ARCHIVED = 0.85  # what an archived memory counts beside a live one: it stands below one of like strength
SURE = 0.75  # confidence from which on a memory counts in full; one of which nothing is certain counts DOUBTED
DOUBTED = 0.7
OUTDATED = 0.5  # what one counts that is superseded, expired or not yet true
REPLACED = (
    0.3  # one that is archived for it: too little to be shown beside what holds now
)
HOLDS_FROM = "holds from "  # of what is not yet true

EVER = (1, dt.date.max.toordinal())
_SINCE = re.compile(r"\b(?:since|after)\s+(?:the\s+)?$|$(?<=[自从])", re.IGNORECASE)
_UNTIL = re.compile(r"\b(?:before|until|till)\s+(?:the\s+)?$", re.IGNORECASE)
_ZH_SINCE = re.compile(r"[之以](?:来|后)|后(?![期面来天])")
_ZH_UNTIL = re.compile(r"[之以]前|前(?![期面后天])")
_TO = re.compile(r"\s*(?:\b(?:to|until|till|through)\b|[-–—~～到至])\s*", re.IGNORECASE)
_AND, _BETWEEN = (
    re.compile(r"\s*(?:and\b|[和与])\s*", re.IGNORECASE),
    re.compile(r"\bbetween\s+$", re.IGNORECASE),
)


Ordinals = tuple[int, int]  # of the first day and the last
Worth = Callable[[IndexedFile], float]


class Limits(NamedTuple):
    """Which files, whose passages and those of which days (the first and the last, as ordinals) are asked for."""

    test: Callable[[IndexedFile], bool] | None
    files: int
    speakers: frozenset[int] | None
    days: tuple[int, int] | None

    def worth(self, days: Collection[dt.date], *, past: bool) -> Worth:
        """What a file counts: nothing where it is not asked for, less where it is archived, or true on none of these days, unless
        the question is about the past."""

        def factor(entry: IndexedFile) -> float:
            if self.test and not self.test(entry):
                return 0.0
            lapsed, archived = (
                not past and all(lapse(entry, day) for day in days),
                not past and entry.archived,
            )
            held = (
                (REPLACED if archived else OUTDATED)
                if lapsed
                else ARCHIVED
                if archived
                else 1.0
            )
            return held * (DOUBTED + (1 - DOUBTED) * min(1.0, confidence(entry) / SURE))

        return factor


def limits(
    folder: Folder,
    corpus: Corpus,
    path: str | None,
    speaker: str | None,
    days: tuple[int, int] | None,
) -> Limits:
    """The filters; raises NotFound where the path or the speaker is unknown."""
    wanted = globs.matcher(path) if path else None

    def test(entry: IndexedFile) -> bool:
        of_days = not days or any(days[0] <= day <= days[1] for day in entry.days)
        return of_days and (wanted is None or wanted(entry.path))

    if wanted is None and days is None:
        return Limits(None, corpus.files, speakers(corpus, speaker), None)
    files = sum(map(test, corpus.entries()))
    if wanted and not any(wanted(entry.path) for entry in corpus.entries()):
        raise folder.no_match(path or "")
    return Limits(test, files, speakers(corpus, speaker), days)


def speakers(corpus: Corpus, speaker: str | None) -> frozenset[int] | None:
    """The numbers of the speakers that a name means: the whole name, else any word of it, or of a Chinese one any part."""
    if speaker is None:
        return None
    wanted = terms.fold(speaker).strip()
    names = [terms.fold(name) for name in corpus.speaker_names]
    found = [n for n, name in enumerate(names) if name == wanted] or [
        n
        for n, name in enumerate(names)
        if wanted in name.split() or (terms.is_cjk(wanted) and wanted in name)
    ]
    if not found or not wanted:
        known = one_line(
            ", ".join(name for name in corpus.speaker_names[:20] if name) or "none yet"
        )
        raise NotFound(
            f"nobody named {one_line(speaker)} speaks in these memories; the speakers are {known}."
        )
    return frozenset(found)


def said_by(corpus: Corpus, speaker: str | None) -> Callable[[str], bool] | None:
    """Is this the name of the speaker asked for? None if no speaker is."""
    found = speakers(corpus, speaker)
    names = {terms.fold(corpus.speaker_names[number]) for number in found or ()}
    return None if found is None else lambda name: terms.fold(name) in names


def bounds(
    after: str | None, before: str | None, today: dt.date
) -> tuple[int, int] | None:
    """The days given by `after` and `before`, as ordinals; None where neither is. Raises FilememError for one that cannot be
    read."""
    if after is None and before is None:
        return None
    try:
        first = (
            dates.parse_bound(after, today, end=False)
            if after is not None
            else dt.date.min
        )
        last = (
            dates.parse_bound(before, today, end=True)
            if before is not None
            else dt.date.max
        )
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
    by, since, until = (
        replaced(entry, today),
        _day(entry, "valid_from"),
        _day(entry, "valid_until"),
    )
    if not since and entry.particulars.get("supersedes") and entry.date:
        since = dt.date.fromordinal(entry.date).isoformat()
    if by:
        return f"superseded by {one_line(by)}"
    if until and until < today.isoformat():
        return f"held until {until}"
    return f"{HOLDS_FROM}{since}" if today.isoformat() < since else ""


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


def named(
    question: str, anchor: dt.date | None, today: dt.date, corpus: Corpus
) -> Named:
    """The days that a question names.

    Relative days, and those without a year, count from `anchor`; where none is given from today, or if no memory is of such
    a day, from the newest memory. Then relative ones are a guess.
    """
    found, guessed = [*dates.mentioned(question, anchor or today)], False
    if found and anchor is None and not _any_of(corpus, found):
        newest = max((entry.date for entry in corpus.entries()), default=0)
        again = [
            *dates.mentioned(
                question, dt.date.fromordinal(max(1, min(newest, today.toordinal())))
            )
        ]
        if _any_of(corpus, again):
            found, guessed = again, True
    past = (
        today.toordinal()
    )  # what may be one of two is the one over, where a memory is of that
    for place, one in enumerate(found):
        if (
            one.other
            and one.other.start.toordinal() > past
            and _any_of(corpus, [one._replace(other=None)])
        ):
            found[place] = one._replace(other=None)
    if any(not mention.relative for mention in found):
        found, guessed = [mention for mention in found if not mention.relative], False
    spans = [_days(question, found, place) for place in range(len(found))]
    asked = [] if guessed else [span for days in spans for span in days]
    dated = [span for span in asked if corpus.dated(*span)]
    pieces = tuple(question[one.start : one.end] for one in found)
    return Named(
        tuple(span for days in spans for span in days),
        pieces,
        tuple(dated or asked),
        bool(dated),
    )


def _days(question: str, found: list[dates.Mention], place: int) -> list[Ordinals]:
    """The days of a mention: to the end of the next one in `from March to May`, all after it in `since May`."""
    here = found[place]
    days = [(span.start.toordinal(), span.end.toordinal()) for span in here.spans]
    if place and _joined(question, found[place - 1], here):
        return []
    if place + 1 < len(found) and _joined(question, here, found[place + 1]):
        ends = (span.end.toordinal() for span in found[place + 1].spans)
        return [
            (first, max(first, end))
            for (first, _), end in zip(days, ends, strict=False)
        ]
    before = question[: here.start]
    if _SINCE.search(before) or _ZH_SINCE.match(question, here.end):
        return [(first, EVER[1]) for first, _ in days]
    if _UNTIL.search(before) or _ZH_UNTIL.match(question, here.end):
        return [(EVER[0], last) for _, last in days]
    return days


def _joined(question: str, first: dates.Mention, last: dates.Mention) -> bool:
    between = _AND.fullmatch(question, first.end, last.start) and _BETWEEN.search(
        question[: first.start]
    )
    return bool(between or _TO.fullmatch(question, first.end, last.start))


def _any_of(corpus: Corpus, mentions: list[dates.Mention]) -> bool:
    """Is a memory dated on one of the days?"""
    spans = (span for mention in mentions for span in mention.spans)
    return any(
        corpus.dated(span.start.toordinal(), span.end.toordinal()) for span in spans
    )


def in_words(spans: Sequence[Ordinals]) -> str:
    """`7 May 2023`, `7 May 2023 and later`."""
    told = []
    for first, last in spans:
        more = (
            " and later"
            if last == EVER[1]
            else " and earlier"
            if first == EVER[0]
            else ""
        )
        days = (last if first == EVER[0] else first, first if last == EVER[1] else last)
        told.append(
            dates.in_words(dates.Span(*map(dt.date.fromordinal, days)), chinese=False)
            + more
        )
    return " or ".join(told)
