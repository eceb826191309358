"""Which of what the memories hold answers a question best, and how surely."""

import datetime as dt
import functools
import itertools
import re
from collections.abc import Iterable
from operator import attrgetter
from typing import Any, NamedTuple

from filemem.files.archive import live
from filemem.index.corpus import Corpus
from filemem.models.responder import people, topics
from filemem.models.responder.evidence import Evidence
from filemem.models.responder.people import People, Person
from filemem.models.responder.topics import AnswerType, AskedWord, Topic
from filemem.search import evidence, question
from filemem.text import chinese, dates, terms
from filemem.text.statements import relations, subject_of, table
from filemem.text.statements.sentences import Sentence, plainly

RELATION, TOPIC, KIND = 1.1, 0.9, 0.5  # what it counts to state what is asked for, to hold it, to be of its kind
NOT_OWN = 0.5  # what is left of that where the question is about the one who asks and the passage about another
OTHERS = 0.3  # to hold it of somebody else
OF_OTHERS = 0.7  # what is left of all that counts for a passage which does so, where it is asked of oneself
FURTHER = 0.3  # what each further topic counts
PERSON, FACT, PINNED, ON_DAY = 0.3, 0.15, 0.4, 0.4
NAMES_ONLY = 0.15  # what it counts to do no more than to name whom a question is about
WEIGHTY = 0.01  # what a point of importance counts
COUNTED, ENDED = 0.5, 0.4  # to count what is to be counted; to tell an end
NEWER = 0.4  # what the newest counts more than the oldest of those that answer alike
LITTLE = 0.25  # what is left of that where nothing answers
LATER = 0.03  # and the last of a day more than the first
NOW = 0.8  # the same where one value holds at a time
OVER, REST = 0.7, 0.9  # what is left of what no longer holds; of the rest of what it says
NOT_THEN = 0.7  # what is left of what holds now, where a time is asked for at which it did not
STRAY = 0.5  # what it costs to be about nobody asked about
_NOUN = re.compile(  # somebody, in small letters too, of whom what follows is told: "tylers birthday", "peg cant have"
    r"([a-z]{3,}s (?:\w+ )?|[a-z]{3,} (?=can|turned|loves|hates|likes|won't|doesn't))\w+.*",
    re.IGNORECASE,
)
_OPENING = re.compile(r"^\W*(?:(?:and|so|but|ok|oh|well|also|btw|now)\b\W*)*", re.IGNORECASE)
_OF = re.compile(r"\w*(?: \w+)? (?:of|for) .{0,30}")
_HOW_MANY = re.compile(
    r"\bhow many (?:\w+ )??(\w{3,})\b|(?:几|多少)[个只条口头张辆次根本家间株盆分]?([\u4e00-\u9fff]{1,2})", re.IGNORECASE
)
_COUNT = r"(?:\d[\d,.]*|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen)\b|[一二三四五六七八九十两百]+)"
_WAS = re.compile(r"\b(?:was|were|did)\b", re.IGNORECASE)
_PRONOUN = re.compile(r"\b(?:he|she|him|her|his|they)\b|[他她](?![们爸妈父母])", re.IGNORECASE)
_OPENING_PRONOUN = re.compile(r"\W*(?:and |so |but )?(?:he|she|his|her)\b|\W*[他她](?!们)", re.IGNORECASE)
STANDING = ("partner", "job", "employer", "home")
SURE = evidence.PARTIAL  # share of the question's words from which on a passage answers it without any of these
LIKELY = 0.4  # the same where it is asked whether something is still so
ALIKE = 0.7  # of the best score, from which on passages are told apart by their days
RELATED = 0.4  # what it counts that only neighbours or related words of a passage hold
LONG, LENGTHY = 0.1, 400  # what a passage of that many characters counts less than a short one
LEAST = 0.1
UNKNOWN = 0.4  # share of the question's words that stand nowhere, from which on nothing answers it for sure
A_MONTH = dt.timedelta(days=31)  # what is longer is no day
WORTH, BESIDE = 0.15, 0.4  # of the best score, under which a passage is not shown beside it; beside a sure answer
_NO_SUBJECT = "叫姓在去到回从吃喝用打服对"  # behind these a name says what or where, not who
NEAR = 4  # passages that are looked at for a change of what the first tells
FEW = 2  # words of a question that may leave out whom it is about


@functools.cache
def _sign(name: str) -> re.Pattern[str]:
    """A pattern of the table."""
    return table.compiled("|".join(topics.table()["subject"][name]))


class UnderstoodQuestion(NamedTuple):
    """A question as it is understood; `names` are those of everybody whom the memories tell of."""

    text: str
    owner: str
    topics: list[Topic]
    relations: list[str]
    people: list[Person]
    of_self: bool
    past: bool
    still: bool
    sorts: list[AnswerType]
    names: frozenset[str]
    spans: list[dates.Span]
    bare: bool
    units: list[AskedWord]

    @property
    def unknown(self) -> float:
        """The share of its words, by weight, that stand nowhere in the memories."""
        whole = sum(unit.weight for unit in self.units)
        return sum(unit.weight for unit in self.units if not unit.known) / whole if whole else 0.0

    @property
    def rarest(self) -> AskedWord | None:
        """The weightiest of its words that stand in the memories."""
        return max((unit for unit in self.units if unit.known), key=lambda unit: unit.weight, default=None)


class Ranked(NamedTuple):
    """What answers best first; `sure`: the first of them does, as far as can be told."""

    best: list[Evidence]
    sure: bool


def understood(
    text: str, owner: str, known: People, who: list[Person], corpus: Corpus, today: dt.date
) -> UnderstoodQuestion:
    """What a question of `owner` asks; `who` are those of the `known` whom it is about, days count from `today`."""
    about = topics.asked(text)
    if not any(topic.name == "name" for topic in about):
        who = [one for one in who if not any(topic.person == one.name for topic in about if topic.person)]
    # A topic that is but the name of somebody asked about is no topic.
    about = [topic for topic in about if not any(topic.ask.fullmatch(one.name) for one in who)]
    mentioned = dates.mentioned(text, today)
    spans = [one.span for one in mentioned]
    parsed = question.parse(text, corpus.speaker_names)
    bare = question.parse(
        text, corpus.speaker_names, dates=[text[one.start : one.end] for one in mentioned]
    ).has_no_content_words
    named = dict.fromkeys([*relations.asked(text), *(name for topic in about for name in topic.relations)])
    wanted = [name for name in named if not who or "{" in name or any(name == one.name for one in who)]
    units = topics.units_of(parsed, corpus)
    wanted = wanted if who or len(units) <= FEW or people.is_about_self(text) else []  # it is somebody else's
    return UnderstoodQuestion(
        text,
        owner,
        about,
        wanted,
        who,
        not who and people.is_about_self(text),
        parsed.past or bool(_WAS.search(text) and set(wanted) & set(STANDING)),
        _sign("still").search(text) is not None,
        topics.answer_types(text),
        known.every_name,
        spans,
        bare and bool(spans),
        units,
    )


class Answering(NamedTuple):
    """A passage with what it counts, and for how much of that it states or holds what is asked for; `sure`: that is enough
    to be an answer; `named`: it names what the question is about."""

    score: float
    answers: float
    sure: bool
    named: bool
    evidence: Evidence

    @property
    def names(self) -> bool:
        """Does it do no more than to name whom a question is about?"""
        return self.named and not self.answers and self.score <= PERSON

    @property
    def day(self) -> int:
        """Its day as an ordinal, 0 for none."""
        return self.evidence.day.toordinal() if self.evidence.day else 0

    @property
    def place(self) -> tuple[str, int]:
        """Where it stands: path and line."""
        return self.evidence.path, self.evidence.line

    @property
    def moment(self) -> tuple[int, str, int]:
        """When it was said: its day, and in which session and line where it quotes one."""
        place = self.evidence.sources[-1] if self.evidence.sources else f"{self.evidence.path}:{self.evidence.line}"
        path, _, line = place.rpartition(":")
        return self.day, live(path), int(line) if line.isdecimal() else 0


def ranked(asked: UnderstoodQuestion, found: Iterable[Evidence]) -> Ranked:
    """The evidence that has to do with a question, best first."""
    found = list(found)
    asked = _weighed(asked, found)
    scored: list[Answering] = [Answering(*score, one) for one in found if (score := _score(asked, one))[0] > LEAST]
    if asked.people and not any(one.score > PERSON for one in scored):  # nothing that is known of them answers
        named = [one.evidence for one in sorted(scored, key=lambda one: (-one.score, -one.day))]
        return Ranked([*ranked(asked._replace(people=[]), found).best, *named], False)
    if not scored:
        return Ranked([], False)
    telling = (one for one in scored if one.answers or asked.bare or one.names or _says_more(asked, one.evidence))
    scored = list(telling) or scored
    best = max(scored, key=lambda one: one.score)
    same = {one.place: one for one in scored if _alike(asked, one, best)}
    days, moments = (_lateness(map(when, same.values())) for when in (attrgetter("day"), attrgetter("moment")))
    one_holds = asked.relations or asked.still or _sign("now").search(asked.text)
    of_day = (NOW if one_holds else NEWER) * (-1 if asked.past else 1)
    of_line = LATER * (-1 if asked.past else 1)
    share = 1.0 if asked.still or best.answers >= KIND or _sign("current").search(asked.text) else LITTLE

    def key(one: Answering) -> tuple[float, int, str, int]:
        newer = of_day * days[one.day] + of_line * moments[one.moment] if one.place in same else 0.0
        total = one.score + share * newer
        return -total, -one.day, one.evidence.path, -one.evidence.line

    scored.sort(key=key)
    _put_current_first(asked, scored)
    if scored[0].evidence.held == "now":  # and not at the time that is asked for
        then = (n for n, one in enumerate(scored) if one.evidence.held == "then" and one.score >= LIKELY * best.score)
        scored.insert(0, scored.pop(next(then, 0)))
    worth = BESIDE if scored[0].sure else WORTH
    scored = [one for one in scored if one.sure or one.score >= worth * best.score]
    return Ranked([one.evidence for one in scored], scored[0].sure)


def _alike(asked: UnderstoodQuestion, one: Answering, best: Answering) -> bool:
    """Does a passage answer about as well as the best one, so that their days decide?"""
    if asked.still:
        telling = one.answers or not best.answers
        return bool(telling and one.score >= LIKELY * best.score and (one.named or one.answers >= KIND))
    own = asked.of_self and any(subject_of(sentence.text) != "other" for sentence in one.evidence.telling)
    as_named = one.named >= best.named or bool(asked.people) or own
    least = RELATION if asked.relations and best.answers >= RELATION else best.answers - FURTHER
    return as_named and one.score >= ALIKE * best.score and one.answers >= least


def _lateness(times: Iterable[Any]) -> dict[Any, float]:
    """How late each of some times is among them, from 0 to 1."""
    times = sorted(set(times))
    return {time: number / max(1, len(times) - 1) for number, time in enumerate(times)}


def _put_current_first(asked: UnderstoodQuestion, scored: list[Answering]) -> None:
    """Put a newer passage that tells of a change in the same matter before the first one."""
    first, same = scored[0], _about(asked, scored[0].evidence)
    for one in scored[1:NEAR]:
        changes = any(
            table.sign("change", plainly(part.text)) or _sign("ended").search(part.text)
            for part in one.evidence.telling
        )
        still = asked.still and (one.named or one.answers >= KIND)
        answers = still or (one.named and asked.people) or one.answers >= first.answers - 2 * FURTHER
        meant = asked.of_self or (bool(asked.people) and (asked.still or _may_mean(asked, one.evidence.text)))
        answers = answers and (meant or one.named >= first.named)
        newer = one.day > first.day and one.score >= LIKELY * first.score and answers
        if newer and changes and not asked.past and not one.evidence.over and same & _about(asked, one.evidence):
            scored.remove(one)
            scored.insert(0, one)
            return


def _about(asked: UnderstoodQuestion, one: Evidence) -> frozenset[str]:
    """Which topics and weighty words of a question a passage holds."""
    held = [unit.text for unit in asked.units if unit.known and topics.stands(unit, one.text)]
    return frozenset([topic.hold.pattern for topic in asked.topics if topic.hold.search(one.text)] + held)


def telling(name: str, asked: UnderstoodQuestion, found: Iterable[Evidence]) -> list[tuple[Evidence, str]]:
    """The sentences that hold a trait of whom a question about an age is about, each with its passage; none for others."""
    if not any(topic.name == "age" for topic in asked.topics):
        return []
    topic = topics.named(name)
    held = ((one, part) for one in found if not one.over for part in one.telling if topic.holds(part.text))
    return [(one, part.text) for one, part in held if _fits(asked, one, topic, [part])]


def _weighed(asked: UnderstoodQuestion, found: list[Evidence]) -> UnderstoodQuestion:
    """The question with which of its words any passage holds: those of the question itself are in the index as well. A word for
    somebody that none does, `father` where it is 爸爸 there, is looked for as a person alone."""
    forms = [topics.forms(one.titled_text) for one in found]
    units = [unit._replace(known=any(topics.held(unit, *form) > topics.HALF for form in forms)) for unit in asked.units]
    alone = [
        unit
        for unit in units
        if unit.known or not any(person.word_in(unit.text) == unit.text for person in asked.people)
    ]
    return asked._replace(units=alone or units)


def _score(asked: UnderstoodQuestion, one: Evidence) -> tuple[float, float, bool, bool]:
    """The numbers and marks of `Answering` for one passage."""
    own = topics.word_share(asked.units, one.titled_text)
    lexical = own + RELATED * max(0.0, one.strength - own)
    states = _states(asked, one)
    answers = max(states, _holds(asked, one))
    people = any(person.named(one.titled_text) for person in asked.people)
    total = lexical + answers
    dated = any(one.day and span.start <= one.day <= span.end for span in asked.spans)
    dated = dated or (asked.bare and one.day is not None and _tells_of_days(one.text, one.day, asked.spans))
    if total + dated <= LEAST or (asked.bare and not dated):
        return (NAMES_ONLY + WEIGHTY * one.importance if people and not asked.bare else 0.0), 0.0, False, people
    strays = asked.people and not people and not _may_mean(asked, one.text)
    total += PERSON * people - STRAY * bool(strays)
    total += FACT * (one.kind in ("facts", "lessons")) + PINNED * (one.importance >= 10 and total >= SURE)
    total += WEIGHTY * one.importance
    own = max((_held_of(topic, asked, one) for topic in asked.topics if topic.own), default=0.0)
    total *= OF_OTHERS if asked.of_self and 0.0 < own <= OTHERS and not states else 1.0
    total += ON_DAY * dated - min(len(one.text), LENGTHY) / LENGTHY * LONG
    total += _of_sort(asked, one)
    total += ENDED * (asked.still and bool(_sign("ended").search(one.text)))
    total *= OVER if one.partly and states and not asked.past else 1.0
    total *= NOT_THEN if one.held == "now" else 1.0
    total *= 1.0 if not one.over or asked.past else OVER if _was_asked(asked, one) else REST
    needed = [topic for topic in asked.topics if topic.sure]
    lacking = needed and not states and not any(_held_of(topic, asked, one) >= KIND for topic in needed)
    # Whose heading may have the words.
    of_note = one.kind not in ("facts", "lessons", "sessions") and one.strength >= SURE
    enough = (of_note or asked.unknown < UNKNOWN) and (answers >= KIND or lexical >= SURE)
    sure = (not lacking and (answers >= TOPIC or enough)) or (dated and asked.bare)
    # A note is of another.
    sure = sure and not (one.title and asked.of_self and any(topic.own for topic in asked.topics))
    named = people if asked.people else bool(asked.rarest and topics.stands(asked.rarest, one.titled_text))
    return total, answers, sure and not (asked.people and not people), named


def _may_mean(asked: UnderstoodQuestion, text: str) -> bool:
    """May a text without their name speak of whom is asked about: with a pronoun, and the weightiest word of the question?"""
    rarest = asked.rarest
    return rarest is not None and topics.stands(rarest, text) and _PRONOUN.search(text) is not None


def _says_more(asked: UnderstoodQuestion, one: Evidence) -> bool:
    """Does a passage itself hold a word of the question, beside what the title of its note holds?"""
    rest = [unit for unit in asked.units if not (one.title and topics.held(unit, *topics.forms(one.title)))]
    return not rest or topics.word_share(rest, one.text) > 0


def _was_asked(asked: UnderstoodQuestion, one: Evidence) -> bool:
    """Was a superseded memory superseded in the very relation that the question asks for, as far as can be told?"""
    stated = _relations_of(one, asked.owner)
    return not stated or any(_same(name, relation, asked) for name in asked.relations for relation in stated)


def _of_sort(asked: UnderstoodQuestion, one: Evidence) -> float:
    """The score for having the sort of thing that is asked for: a day, or a number before the noun that is counted."""
    found = 0.0
    for sort in asked.sorts:
        if sort.hold:
            found += sort.worth * (sort.hold.search(one.text) is not None)
        elif one.day:
            days = [
                mention.span for mention in _days(one.text, one.day) if mention.span.end - mention.span.start < A_MONTH
            ]
            found += sort.worth * bool(days)
    if counted := _HOW_MANY.search(asked.text):
        found += COUNTED * (_counting(counted[1] or counted[2]).search(one.text) is not None)
    return found


def _tells_of_days(text: str, day: dt.date, spans: list[dates.Span]) -> bool:
    """Does a text said on a day name one that lies within a span?"""
    named = [one.span for one in _days(text, day)]
    return any(span.start <= one.start and one.end <= span.end for one in named for span in spans)


@functools.lru_cache(maxsize=10_000)
def _days(text: str, day: dt.date) -> list[dates.Mention]:
    return dates.mentioned(text, day)


@functools.lru_cache(maxsize=100)
def _counting(noun: str) -> re.Pattern[str]:
    """A number right before a noun."""
    stem = re.escape(re.sub(r"(?:ies|es|s)$", "", noun.lower()))
    near = r"\W+(?:[\w'-]+ ){0,2}" if noun.isascii() else "[\u4e00-\u9fff]{0,3}"
    return re.compile(_COUNT + near + stem, re.IGNORECASE)


def is_related(asked: UnderstoodQuestion, text: str) -> bool:
    """Has a text anything to do with a question, at a glance?"""
    if asked.spans or any(topic.holds(text) for topic in asked.topics):
        return True
    return topics.word_share(asked.units, text) > LEAST


def _states(asked: UnderstoodQuestion, one: Evidence) -> float:
    """The score for stating a relation that is asked for."""
    stated = _relations_of(one, asked.owner) if asked.relations else ()
    return RELATION * any(_same(name, relation, asked) for name in asked.relations for relation in stated)


def _relations_of(one: Evidence, owner: str) -> list[str]:
    """The relations that a passage states: of its speaker, or of the owner where nobody speaks."""
    name = "" if one.speaker else owner
    return [found.relation for sentence in one.telling for found in relations.relation_values(sentence.text, name)]


def _same(wanted: str, stated: str, asked: UnderstoodQuestion) -> bool:
    """Is a stated relation the one wanted, whose part in braces is told by the question?"""
    if "{" not in wanted:
        return wanted == stated
    pattern = re.escape(wanted).replace(r"\{thing\}", "(.+)").replace(r"\{kin\}", "(.+)").replace(r"\{pet\}", "(.+)")
    match = re.fullmatch(pattern, stated)
    if not match:
        return False
    thing = match[1]
    return thing in asked.text.lower() or any(person.named(thing) for person in asked.people)


def _holds(asked: UnderstoodQuestion, one: Evidence) -> float:
    """The score for holding what the topics ask for, said of the person asked about."""
    named = asked.people and any(topic.name == "name" for topic in asked.topics)
    # To name somebody tells not what they are called.
    about = [topic for topic in asked.topics if not (named and topic.person)]
    found = [value for topic in about if (value := _held_of(topic, asked, one))]
    return max(found) + FURTHER * (len(found) - 1) if found else 0.0


def _held_of(topic: Topic, asked: UnderstoodQuestion, one: Evidence) -> float:
    if topic.name == "name" and asked.people:
        return TOPIC if any(person.introduced(one.text) for person in asked.people) else 0.0
    if "instruction" in topic.kinds and one.kind == "lessons":
        return TOPIC
    for worth, holds in ((TOPIC, topic.holds), (KIND, topic.is_of_kind)):
        sentences = [sentence for sentence in one.telling if holds(sentence.text)]
        if sentences and not topic.name:
            of_others = asked.of_self and all(_subject(sentence, topic, asked) == "other" for sentence in sentences)
            return worth * topics.ALIKE * (NOT_OWN if of_others else 1.0)
        if sentences:
            if topic.name == "name":
                return TOPIC if any(_gives_name(asked, topic, sentence) for sentence in sentences) else OTHERS
            return worth if not topic.own or _fits(asked, one, topic, sentences) else OTHERS
    return 0.0


def _gives_name(asked: UnderstoodQuestion, topic: Topic, sentence: Sentence) -> bool:
    """Does a sentence say what the thing is called that is asked for: "the shop is called …", with all words of it before?"""
    before = _up_to(topic, sentence)
    wanted = [unit for unit in asked.units if not topic.hold.search(unit.text)]
    return bool(wanted) and not asked.people and all(topics.stands(unit, before) for unit in wanted)


def _fits(asked: UnderstoodQuestion, one: Evidence, topic: Topic, sentences: list[Sentence]) -> bool:
    """Are the sentences about whom the question is about, and not what somebody says of another?"""
    if asked.people:
        told = [one.title, *(_up_to(topic, sentence, of=True) for sentence in sentences)]
        pairs = itertools.pairwise(one.telling)
        told += [before.text for before, part in pairs if part in sentences and _OPENING_PRONOUN.match(part.text)]
        about = any(person.named(text) for person in asked.people for text in told)
        reports = any(person.reports(sentence.text) for person in asked.people for sentence in sentences)
        return not reports and about
    if not asked.of_self:
        return True
    return any(
        _subject(sentence, topic, asked, last=last) == "self" for sentence in sentences for last in (False, True)
    )


def _up_to(topic: Topic, sentence: Sentence, *, of: bool = False, last: bool = False) -> str:
    """A sentence up to the end of what first, or `last`, holds a topic, with whom it is `of` where that follows."""
    said = plainly(sentence.text)
    found = list(topic.hold.finditer(said))
    if not found:
        return said
    match = found[-1 if last else 0]
    follows = _OF.match(said, match.end()) if of else None
    return said[: follows.end() if follows else match.end()]


def _subject(sentence: Sentence, topic: Topic, asked: UnderstoodQuestion, *, last: bool = False) -> str:
    """Whose the trait is that a sentence holds first, or `last`: that of whom it names last before it, its speaker's where it
    names nobody."""
    before = _up_to(topic, sentence, last=last)
    before = re.sub(rf"\b{re.escape(asked.owner)}(?='s\b|\b)", "I", before, flags=re.IGNORECASE)
    before = _sign("aside").sub("", before)
    found = [(one.start(), name) for name in ("self", "other") for one in _sign(name).finditer(before)]
    others = [name for name in asked.names if name not in asked.owner and asked.owner not in name]
    for name in (*(name for name in chinese.names(before) if asked.owner not in name), *others):
        pattern = rf"(?<![{_NO_SUBJECT}])(?<!我是){re.escape(name)}" if terms.is_cjk(name) else rf"\b{name}(?:'?s)?\b"
        found += [(one.start(), "other") for one in re.finditer(pattern, before, re.IGNORECASE)]
    if not found and topic.hold.match(_OPENING.sub("", before)):
        return "self"  # the trait comes first: "birthday is in May", whose else
    if not found and (noun := _NOUN.fullmatch(_OPENING.sub("", before))) and not topic.ask.search(noun[1]):
        return "other"
    if found:
        return max(found)[1]
    return "self" if subject_of(sentence.text) == "self" else "other"
