"""What is told, beside what is known: is it new, known already, told differently, or known better?

The four decisions are those of Mem0 (Chhikara et al. 2025); its DELETE is a supersession here, so that nothing is lost.
"""

import datetime as dt
import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from filemem.archive import live
from filemem.consolidation.ledger import Ledger
from filemem.errors import FilememError
from filemem.facts import plain, sources
from filemem.memory import ARCHIVE, LARGEST, Memory, kind_of, when_of
from filemem.statements.retelling import Scene, retold
from filemem.statements.salience import content
from filemem.statements.topics import Topic, exclusive, slot
from filemem.statements.utterance import ASSISTANT, FIRST, is_chinese, regex
from filemem.store import User

ADD, UPDATE, SUPERSEDE, NOOP, DROP = "ADD", "UPDATE", "SUPERSEDE", "NOOP", "DROP"
LATE = "LATE"  # told of a time before what is known: kept, in the archive, as superseded
KINDS = ("facts", "lessons")
SAME = 0.75  # of the content words of two texts that both have, from which on they say the same
NEARLY = 0.85  # the same where each has words that the other has not
ALIKE = 0.5  # from which on a correction is taken to mean a text
NEWS = 3  # content words beyond those of what is known that make a restatement worth a file of its own
_NEGATED = re.compile(
    r"\b(?:not|no|never|no longer|doesn't|don't|isn't|can't|won't|didn't|hasn't)\b|不|没|别", re.IGNORECASE
)
_FIELD = re.compile(r"^([^\W\d][^:：.。\n]{1,30})[:：]\s*(?=\S)")  # Favourite tea: oolong
_KIN = r"'s \w+$|的(?:妈妈?|爸爸?|姐姐?|妹妹?|哥哥?|弟弟?|朋友|儿子|女儿|妻子|老婆|丈夫|老公)$"
_LINKED = re.compile(r"\[\[([^\[\]]+)\]\]")
_NAMING = frozenset(content("name called 名字 叫 名叫 叫做"))
_SMALL = frozenset("the a an in on at of to his her their".split())


class Fact(NamedTuple):
    """A memory that a claim may agree or disagree with; `since` is the day of its last word: its date, or a person's edit."""

    path: str
    text: str
    since: dt.date
    topic: Topic | None
    value: str | None
    words: frozenset[str]
    own: bool  # just as the program left it
    pinned: bool
    confidence: float
    outright: bool = False  # told to remember, in so many words, and by no turn of a conversation


class Verdict(NamedTuple):
    """What is to be done about a claim, the memories that it concerns, and why, as a phrase."""

    action: str
    facts: tuple[Fact, ...] = ()
    reason: str = ""


class Claim(NamedTuple):
    """Something told that may become a memory; `text` has its links in brackets.

    `sources` are `path:line`, `origins` the digests of the turns and of the statement; `said_by` is empty for what people
    said of themselves.
    """

    text: str
    day: dt.date
    kind: str = "facts"
    sources: tuple[str, ...] = ()
    origins: tuple[tuple[str, str], ...] = ()
    importance: int = 5
    confidence: float = 1.0
    topic: Topic | None = None
    value: str | None = None
    correction: bool = False
    valid_from: dt.date | None = None
    said_by: str = ""
    pinned: bool = False
    tags: tuple[str, ...] = ()
    meant: tuple[str, str] | None = None  # an action and a memory's path: what the one who made it says is to be done


def from_json(value: dict[str, Any]) -> Claim:
    """A claim from its `_asdict` as JSON has it; raises ValueError, TypeError or KeyError for anything else."""
    begun, topic, meant = value.get("valid_from"), value.get("topic"), value.get("meant")
    return Claim(**{
        **value,
        "day": dt.date.fromisoformat(value["day"]),
        "sources": tuple(value["sources"]),
        "origins": tuple((turn, said) for turn, said in value["origins"]),
        "topic": (topic[0], topic[1]) if topic else None,
        "valid_from": dt.date.fromisoformat(begun) if begun else None,
        "tags": tuple(value["tags"]),
        "meant": (meant[0], meant[1]) if meant else None,
    })  # fmt: skip


def display(name: str) -> str:
    """A user's name as a sentence has it: mara is Mara."""
    return name[:1].upper() + name[1:] if name.isalpha() and name.islower() else name


class Known:
    """The facts and lessons of one user that nothing has superseded. `names` are those whose facts they may be."""

    def __init__(self, user: User, ledger: Ledger, names: Iterable[str]) -> None:
        self.user = user
        self.ledger = ledger
        self.names = sorted({display(user.name), *map(display, names)} - {ASSISTANT}, key=len, reverse=True)
        self.facts: dict[str, Fact] = {}
        self.paths: set[str] = set()
        self.replaced: dict[str, Fact] = {}  # by their live paths
        self.cited: dict[str, str] = {}  # which memory names a turn as its source, by path:line, when the run began
        self._topics: dict[Topic, dict[str, None]] = {}
        self._words: dict[str, dict[str, None]] = {}
        for stat in user.files():
            self.paths.add(stat.path)
            if kind_of(stat.path) in KINDS and stat.size <= LARGEST:
                self._read(stat.path)

    def _read(self, path: str) -> None:
        try:
            data = self.user.read(path)
        except FilememError:
            return
        memory = Memory(path, data)
        own, known = self.ledger.untouched(path, data), self.ledger.written.get(live(path))
        if known is None and b"source" in data:
            self.cited.update(dict.fromkeys(sources(memory), path))
        if memory.binary or (b"superseded_by" in data and memory.particular("superseded_by")):
            return
        text = plain(body(memory))
        since = self._since(path, own, known is not None)
        topic, value = (known.topic, known.value) if own and known else self.settled(text, since)
        pinned = b"pinned" in data and bool(memory.particular("pinned"))
        confidence = memory.particular("confidence") if b"confidence" in data else None
        self.put(
            Fact(
                path, text, since, topic, value, frozenset(content(text)), own, pinned,
                1.0 if confidence is None else float(confidence), b"source" not in data,
            )
        )  # fmt: skip

    def _since(self, path: str, own: bool, known: bool) -> dt.date:
        """The date of a memory; the day on which it was saved where a person changed it, or gave it none."""
        when = when_of(path)
        if when and (own or not known):
            return when.date
        saved = os.stat(self.user.absolute(path)).st_mtime
        return max(dt.datetime.fromtimestamp(saved).date(), when.date if when else dt.date.min)

    def settled(self, text: str, day: dt.date) -> tuple[Topic | None, str | None]:
        """What a text of some day settles of somebody; one without a subject, or told by I, is about the user."""
        text = plain(text)
        owner = display(self.user.name)
        if not any(name.casefold() in text.casefold() for name in self.names):
            told = retold(text, Scene(owner, (), day)) if regex(FIRST).search(text) else None
            readings = [told.text] if told else list(_without_subject(text, owner))
            found = next(filter(None, (slot(reading, owner) for reading in readings)), None)
        else:
            found = next(
                filter(None, (slot(text, name) for name in self.names if name.casefold() in text.casefold())), None
            )
        return (found.topic, found.value) if found else (None, None)

    def put(self, fact: Fact) -> None:
        """Take in a fact, in the place of the one at its path."""
        self.drop(fact.path)
        self.facts[fact.path] = fact
        self.paths.add(fact.path)
        if fact.topic:
            self._topics.setdefault(_key(fact.topic), {})[fact.path] = None
        for word in fact.words:
            self._words.setdefault(word, {})[fact.path] = None

    def drop(self, path: str) -> None:
        """Take a fact out."""
        fact = self.facts.pop(path, None)
        if fact and fact.topic:
            self._topics[_key(fact.topic)].pop(path, None)
        for word in fact.words if fact else ():
            self._words[word].pop(path, None)

    def supersede(self, path: str) -> None:
        """Take a fact out that something has superseded."""
        self.replaced[live(path)] = self.facts[path]
        self.drop(path)

    def about(self, topic: Topic) -> list[Fact]:
        """The facts that settle a topic, newest first; of somebody's sister those of the only one that is known by name."""
        whose, what = _key(topic)
        named = [
            key for key in self._topics if key[1] == what and regex(_KIN).search(whose) and key[0].startswith(whose)
        ]
        keys = {key for key in named if self._topics[key]} or {(whose, what)}
        found = [self.facts[path] for path in (self._topics.get(keys.pop(), ()) if len(keys) == 1 else ())]
        return sorted(found, key=lambda fact: (fact.since, fact.path), reverse=True)

    def similar(self, text: str, count: int = 10) -> list[tuple[float, Fact]]:
        """The facts most like a text, best first, each with the share of the content words of both that both have."""
        words = content(plain(text))
        shared: Counter[str] = Counter()
        for word in words:
            paths = self._words.get(word, {})
            for path in paths:
                shared[path] += 1
        rare = {word: math.log(1 + len(self.facts) / (1 + len(self._words.get(word, ())))) for word in words}
        best = sorted(shared, key=lambda path: (-shared[path] / len(words | self.facts[path].words), path))[: 3 * count]
        weighed = [(sum(rare[word] for word in words & self.facts[path].words), path) for path in best]
        chosen = [path for _, path in sorted(weighed, key=lambda item: (-item[0], item[1]))[:count]]
        found = [(shared[path] / len(words | self.facts[path].words), self.facts[path]) for path in chosen]
        return sorted(found, key=lambda item: (-item[0], item[1].path))

    def free(self, path: str) -> str:
        """The path, or the next with a number that no memory has, here or in the archive."""
        stem, extension = os.path.splitext(path)
        for number in range(1, 100_000):
            candidate = path if number == 1 else f"{stem}-{number}{extension}"
            if candidate not in self.paths and f"{ARCHIVE}/{candidate}" not in self.paths:
                break
        return candidate


def _without_subject(text: str, owner: str) -> Iterator[str]:
    """A note as sentences about its owner: Lives in Ghent; Birthday: 14 May; 最喜欢的茶：乌龙茶."""
    said = _FIELD.sub(lambda field: f"{field[1]}{'是' if is_chinese(field[1]) else ' is '}", text, count=1)
    if is_chinese(said):
        yield from (f"{owner}{said}", f"{owner}的{said}")
    else:
        said = said[:1].lower() + said[1:]
        yield from (f"{owner} {said}", f"{owner}'s {said}")


def compare(claim: Claim, known: Known) -> Verdict:
    """What is to be done about a claim: as its maker means, where the memory that they mean still holds, else by rules."""
    if meant := _as_meant(claim, known):
        return meant
    if claim.topic and claim.kind == "facts":
        verdict = _of_topic(claim, known)
        if verdict:
            return verdict
    words, numbers = content(plain(claim.text)), _numbers(claim.text)
    for share, fact in known.similar(claim.text):
        if kind_of(fact.path) != claim.kind or bool(_NEGATED.search(fact.text)) != bool(_NEGATED.search(claim.text)):
            continue
        if numbers <= _numbers(fact.text) and _says_as_much(words, claim.text, share, fact):
            return restated(fact)
        if claim.correction and share >= ALIKE and fact.since <= claim.day and not claim.topic:
            return replacing(claim, [fact])
    return Verdict(ADD)


def _says_as_much(words: set[str], text: str, share: float, fact: Fact) -> bool:
    """Does a fact say what a text says, but for a word that both lack? Another name or another word is another fact."""
    news, lost = words - fact.words, fact.words - words
    if not news:
        return len(words) >= 4 or share >= SAME
    named = any(name not in fact.text for name in _LINKED.findall(text))
    return share >= (NEARLY if lost else SAME) and not named


def _as_meant(claim: Claim, known: Known) -> Verdict | None:
    action, path = claim.meant or ("", "")
    fact = known.facts.get(path)
    if action == ADD:
        return Verdict(ADD)
    if fact is None:
        return None
    if action == SUPERSEDE:
        return replacing(claim, [fact])
    return restated(fact) if action == UPDATE else Verdict(NOOP, (fact,), f"{fact.path} says as much")


def _of_topic(claim: Claim, known: Known) -> Verdict | None:
    """The verdict where the topic decides it."""
    topic = claim.topic
    assert topic is not None
    settled = known.about(topic)
    for fact in settled:
        if same_value(fact.value, claim.value):
            news = content(plain(claim.text)) - fact.words
            if exclusive(topic):
                return restated(fact) if len(news) < NEWS else Verdict(ADD)
            if news <= _NAMING:
                return restated(fact)
    other = settled if exclusive(topic) or claim.correction else []
    other = other or _liked_before(claim, known)
    return replacing(claim, other) if other else None


def _liked_before(claim: Claim, known: Known) -> list[Fact]:
    """The favourites that somebody says they do not like any more."""
    assert claim.topic is not None
    whose, what = claim.topic
    if not what.startswith("liking ") or claim.value != "no":
        return []
    thing = what.removeprefix("liking ")
    return [
        fact
        for fact in known.facts.values()
        if fact.topic
        and fact.topic[0].casefold() == whose.casefold()
        and fact.topic[1].startswith("favourite ")
        and same_value(fact.value, thing)
    ]


def restated(fact: Fact) -> Verdict:
    """The verdict on a claim that a fact makes already."""
    if fact.own and not fact.pinned:
        return Verdict(UPDATE, (fact,))
    return Verdict(NOOP, (fact,), f"{fact.path} says so already")


def replacing(claim: Claim, other: Sequence[Fact]) -> Verdict:
    """The verdict on a claim that other facts speak against."""
    if claim.said_by:
        return Verdict(DROP, tuple(other), f"{claim.said_by} said so, but {other[0].path} says otherwise")
    same_day = claim.day == other[0].since and other[0].outright and claim.sources and not claim.correction
    if claim.day < other[0].since or same_day:
        reason = "was told outright that day" if same_day else "is newer"
        reason = reason if other[0].own or other[0].pinned else "was put right by hand since"
        return Verdict(LATE, (other[0],), f"{other[0].path} {reason}")
    going = tuple(fact for fact in other if not fact.pinned)
    pinned = [fact.path for fact in other if fact.pinned]
    reason = f"contradicts {', '.join(pinned)}, which is pinned" if pinned else ""
    return Verdict(SUPERSEDE if going else ADD, going, reason)


def body(memory: Memory) -> str:
    """What a memory says, on one line."""
    if memory.is_yaml:
        return " ".join(passage.text for passage in memory.passages)
    return " ".join(line.strip() for line in memory.lines[memory.front_end :] if line.strip())


def _key(topic: Topic) -> Topic:
    return topic[0].casefold(), topic[1].casefold()


def _numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+(?:[.,]\d+)*", plain(text)))


def same_value(one: str | None, other: str | None) -> bool:
    """Do two values name the same, one perhaps more fully: Porto, a flat in Porto?"""
    if one is None or other is None or one.startswith("not ") != other.startswith("not "):
        return False
    one, other = one.casefold().strip(), other.casefold().strip()
    if is_chinese(one) or is_chinese(other):
        return one == other or (
            not re.search(r"[\d一二三四五六七八九十]", one + other) and (one in other or other in one)
        )
    first, second = (_value_words(value) for value in (one, other))
    return one == other or bool(first and second and (first <= second or second <= first))


def _value_words(value: str) -> set[str]:
    return {word for word in re.findall(r"\w+", value) if word not in _SMALL}
