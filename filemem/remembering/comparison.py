"""What is told, beside what is known: is it new, known already, told differently, or known better?

The four decisions are those of Mem0 (Chhikara et al. 2025); its DELETE is a supersession here, so that nothing is lost.
"""

import datetime as dt
import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from filemem.errors import FilememError
from filemem.files.archive import live
from filemem.files.facts import plain, sources
from filemem.files.folder import Folder, numbered
from filemem.files.memory import ARCHIVE, LARGEST, Memory, kind_of, when_of
from filemem.files.transcript import ASSISTANT
from filemem.remembering.ledger import Ledger
from filemem.text.statements import relations, subject_of, table, tells_more
from filemem.text.statements.relations import RelationValue, Topic, of_somebody, relation_values
from filemem.text.statements.sentences import is_chinese
from filemem.text.statements.words import amount, content

ADD, UPDATE, SUPERSEDE, NOOP, DROP = "ADD", "UPDATE", "SUPERSEDE", "NOOP", "DROP"
DOUBT = "DOUBT"  # one contrary remark on what was told again and again: it waits for the person's word
TAKEN_BACK = "TAKEN BACK"  # meant of what a turn before told, which is named by `path:line`: it was a joke
LATE = "LATE"  # told of a time before what is known: kept, in the archive, as superseded
KINDS = ("facts", "lessons")
SAME = 0.75  # of the content words of two texts that both have, from which on they say the same
NEARLY = 0.85  # the same where each has words that the other has not
FIRM = 3  # days on which something was told, from which on one contrary remark does not overturn it
NEWS = 3  # content words beyond those of what is known that make a restatement worth a file of its own
MATTER = 1.5  # content words of a fact, from which on another that has them all tells more of the same matter
ROOM = 1_200  # characters of what a file tells of one matter; what is told beyond that begins another
BESIDE = 2  # content words beside those of a change, from which on what it changes tells something else as well
OFTEN = 200  # facts that have a word, from which on it finds none that no other word finds
COMMON = 3  # live facts that have a word, from which on it does not tell which of them a change means
MEMORABLE = 400  # days after which a change is not taken to mean what was told before
_NEGATED = re.compile(
    r"\b(?:not|no|never|no longer|doesn't|don't|isn't|can't|won't|didn't|hasn't|used to)\b|不|没|别|以前|曾经",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[a-z,;\[] )[A-Z]\w+|(?<=\[\[)[^\[\]]+")
_SMALL = frozenset("the a an in on at of to his her their".split())
_TIME = content(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september "
    "october november december week weeks month months year years day days today tomorrow yesterday time next last now "
    "morning afternoon evening night back start new really still get got one two three moved changed pushed put brought shifted "
    "sorry wait instead "
    "现在 今天 明天 昨天 下周 上周 周一 周二 周三 周四 周五 周六 周日 以前 时候 时间 不是 改成 改到 推迟 取消"
)

# Characters with which two of a Chinese text are no word that names anything.
_BETWEEN = frozenset("号日点月年周的了我你他她在到改")


States = tuple[tuple[Topic, str], ...]  # relations that have one value at a time, with their values


_ADDED = _BETWEEN | set("都也就和每常")  # those that may come between two others


class Fact(NamedTuple):
    """A memory that a claim may agree or disagree with; `since` is the day of its last word, or of a person's edit.

    `speaker`, `nature` and `when` are what they are of a claim; `sources` as its file names them.
    """

    path: str
    text: str
    since: dt.date
    states: States
    words: frozenset[str]
    own: bool  # just as the program left it
    pinned: bool
    confidence: float
    sources: tuple[str, ...] = ()
    speaker: str = ""
    nature: str = ""
    when: dt.date | None = None

    @property
    def days(self) -> int:
        """On how many days it was told."""
        told = {when.date for when in map(when_of, (source.rpartition(":")[0] for source in self.sources)) if when}
        return max(1, len(told))

    @property
    def is_told_to_remember(self) -> bool:
        """Was it told to remember, in so many words, and by no turn of a conversation?"""
        return not self.sources


class Verdict(NamedTuple):
    """What is to be done about a claim, the memories that it concerns, and why, as a phrase."""

    action: str
    facts: tuple[Fact, ...] = ()
    reason: str = ""


class Claim(NamedTuple):
    """Something told that may become a memory; `body` is what its file says, `text` the same on one line.

    `sources` are `path:line`, `origins` the digests of the turns and of the statement; `said_by` is empty for what people
    said of themselves. `nature` is `plan` or `event`, empty for what stands until something else is told; `when` is the day
    of a plan; `heading` is the section of the profile that it goes under, if any; `changes` are the words in which it moves
    or ends something.
    """

    text: str
    day: dt.date
    kind: str = "facts"
    sources: tuple[str, ...] = ()
    origins: tuple[tuple[str, str], ...] = ()
    importance: int = 5
    confidence: float = 1.0
    states: States = ()
    changes: str = ""
    valid_from: dt.date | None = None
    valid_until: dt.date | None = None
    said_by: str = ""
    pinned: bool = False
    tags: tuple[str, ...] = ()
    meant: tuple[str, str] | None = None  # an action and a memory's path: what the one who made it says is to be done
    aliases: tuple[str, ...] = ()  # of whom it says that they changed their name, the old one and the new
    merged: str = ""  # for an UPDATE: that memory and this claim, as a model tells both in one
    body: str = ""
    nature: str = ""
    when: dt.date | None = None
    heading: str = ""
    speaker: str = ""  # whose words `body` quotes
    retold_by: str = ""  # the model whose words these are
    asked: bool = False  # the person asked for it to be remembered
    waits: bool = False  # it steers the assistant and comes from elsewhere: only the person may have it kept


def from_json(value: dict[str, Any]) -> Claim:
    """A claim from its `_asdict` as JSON has it; raises ValueError, TypeError or KeyError for anything else."""
    begun, ended, meant, when = (value.get(key) for key in ("valid_from", "valid_until", "meant", "when"))
    return Claim(**{
        **value,
        "day": dt.date.fromisoformat(value["day"]),
        "sources": tuple(value["sources"]),
        "origins": tuple((turn, said) for turn, said in value["origins"]),
        "states": tuple(((subject_of, what), said) for (subject_of, what), said in value["states"]),
        "valid_from": dt.date.fromisoformat(begun) if begun else None,
        "valid_until": dt.date.fromisoformat(ended) if ended else None,
        "when": dt.date.fromisoformat(when) if when else None,
        "tags": tuple(value["tags"]),
        "aliases": tuple(value.get("aliases", ())),
        "meant": (meant[0], meant[1]) if meant else None,
    })  # fmt: skip


def single(owner: str, found: Iterable[RelationValue]) -> States:
    """Those of the relations of somebody that have one value at a time."""
    return tuple(((owner.casefold(), one.relation), one.value) for one in found if one.single)


def states_of(text: str, speaker: str) -> States:
    """The relations that a speaker's words state of them, else of whom they name first."""
    own = relation_values(text)
    return single(speaker, own) if own or subject_of(text) == "self" else single(*of_somebody(text))


def display(name: str) -> str:
    """A user's name as a sentence has it: mara is Mara."""
    return name[:1].upper() + name[1:] if name.isalpha() and name.islower() else name


class FactIndex:
    """The facts and lessons of one user that nothing has superseded. `names` are those whose facts they may be."""

    def __init__(self, user: Folder, ledger: Ledger, names: Iterable[str]) -> None:
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
        named = tuple(sources(memory)) if b"source" in data else ()
        if known is None:
            self.cited.update(dict.fromkeys(named, path))
        if memory.binary or (b"superseded_by" in data and memory.particular("superseded_by")):
            return
        if b"withheld" in data and memory.front.get("withheld"):
            return
        speaker, text = said_in(memory)
        pinned = b"pinned" in data and bool(memory.particular("pinned"))
        confidence = memory.particular("confidence") if b"confidence" in data else None
        told = [when.date for when in map(when_of, (source.rpartition(":")[0] for source in named)) if when]
        since = max([self._since(path, own, known is not None), *told])
        nature = str(memory.front.get("kind", "")) if b"kind" in data else ""
        self.put(
            Fact(
                path, text, since, self.states(text, speaker), frozenset(content(text)), own, pinned,
                1.0 if confidence is None else float(confidence), named, speaker, nature,
                memory.particular("day") if nature else None,
            )
        )  # fmt: skip

    def _since(self, path: str, own: bool, known: bool) -> dt.date:
        """The date of a memory; the day on which it was saved where a person changed it, or gave it none."""
        when = when_of(path)
        if when and (own or not known):
            return when.date
        saved = os.stat(self.user.absolute(path)).st_mtime
        return max(dt.datetime.fromtimestamp(saved).date(), when.date if when else dt.date.min)

    def states(self, text: str, speaker: str = "") -> States:
        """The relations that a text states: of its speaker, else of whom it begins with, else of the user."""
        text = plain(text)
        if speaker:
            return states_of(text, display(speaker))
        owner = next(
            (name for name in self.names if text.casefold().startswith(name.casefold())), display(self.user.name)
        )  # fmt: skip
        return single(owner, relation_values(text, owner))

    def put(self, fact: Fact) -> None:
        """Take in a fact, in the place of the one at its path."""
        self.drop(fact.path)
        self.facts[fact.path] = fact
        self.paths.add(fact.path)
        for topic, _ in fact.states:
            self._topics.setdefault(topic, {})[fact.path] = None
        for word in fact.words:
            self._words.setdefault(word, {})[fact.path] = None

    def drop(self, path: str) -> None:
        """Take a fact out."""
        fact = self.facts.pop(path, None)
        for topic, _ in fact.states if fact else ():
            self._topics[topic].pop(path, None)
        for word in fact.words if fact else ():
            self._words[word].pop(path, None)

    def supersede(self, path: str) -> None:
        """Take a fact out that something has superseded."""
        self.replaced[live(path)] = self.facts[path]
        self.drop(path)

    def about(self, topic: Topic) -> list[Fact]:
        """The facts that state a relation, newest first."""
        found = [self.facts[path] for path in self._topics.get(topic, ())]
        return sorted(found, key=lambda fact: (fact.since, fact.path), reverse=True)

    def by_topic(self) -> Iterator[list[tuple[Fact, str]]]:
        """What the live facts state of each relation that several state, with the values, newest first."""
        for topic in sorted(self._topics):
            found = [fact for fact in self.about(topic) if fact.path.startswith("facts/")]
            if len(found) > 1:
                yield [(fact, dict(fact.states)[topic]) for fact in found]

    def similar(self, text: str, count: int = 10) -> list[tuple[float, Fact]]:
        """The facts most like a text, best first, each with the share of the content words of both that both have."""
        words = content(plain(text))
        shared: Counter[str] = Counter()
        for word in sorted(words, key=lambda word: (len(self._words.get(word, ())), word)):
            paths = self._words.get(word, {})
            if len(paths) <= OFTEN or not shared:
                shared.update(islice(reversed(paths), OFTEN))
            else:  # a word that many facts have brings no further one
                shared.update(paths.keys() & shared.keys())
        rare = {word: math.log(1 + len(self.facts) / (1 + len(self._words.get(word, ())))) for word in words}
        best = sorted(shared, key=lambda path: (-shared[path] / len(words | self.facts[path].words), path))[: 3 * count]
        weighed = [(sum(rare[word] for word in words & self.facts[path].words), path) for path in best]
        chosen = [path for _, path in sorted(weighed, key=lambda item: (-item[0], item[1]))[:count]]
        found = [(shared[path] / len(words | self.facts[path].words), self.facts[path]) for path in chosen]
        return sorted(found, key=lambda item: (-item[0], item[1].path))

    def meant_by(self, change: Claim) -> Fact | None:
        """The fact that a change is about: the one with the most words of it that few facts have, the latest of such."""
        shared: Counter[str] = Counter()
        for word in content(plain(change.changes)) - _TIME:
            paths = self._words.get(word, {})
            if not word.isdigit() and len(paths) <= COMMON and not _BETWEEN & {*word}:
                shared.update(list(paths))
        late = change.day - dt.timedelta(days=MEMORABLE)
        facts = [self.facts[path] for path in shared if kind_of(path) == change.kind]
        near = [fact for fact in facts if late <= fact.since <= change.day]
        return max(near, key=lambda fact: (shared[fact.path], fact.since, fact.path), default=None)

    def free(self, path: str) -> str:
        """The path, or the next with a number that no memory has, here or in the archive."""
        return next(name for name in numbered(path) if self.paths.isdisjoint((name, f"{ARCHIVE}/{name}")))


def compare(claim: Claim, known: FactIndex) -> Verdict:
    """What is to be done about a claim: as its maker means, where the memory that they mean still holds, else by rules.

    One remark that only says otherwise than what was told on FIRM days puts that in doubt; a second one replaces it.
    """
    verdict = _compared(claim, known)
    firm = max((fact.days for fact in verdict.facts), default=0) >= FIRM and verdict.action == SUPERSEDE
    flat = not (claim.changes or claim.meant or claim.asked or table.sign("tells of a change", claim.text))
    if not (firm and flat and claim.sources) or claim.origins[0] in known.ledger.proposed or _said_before(claim, known):
        return verdict
    told = max(verdict.facts, key=lambda fact: fact.days)
    return Verdict(DOUBT, (told,), f"{told.path} was told on {told.days} days; see filemem review")


def _said_before(claim: Claim, known: FactIndex) -> bool:
    """Does a claim that waits, of another day, state the same?"""
    waiting = [entry for origin, entry in known.ledger.proposed.items() if origin not in known.ledger.refused]
    other = [stated for entry in waiting if entry.get("day") != str(claim.day) for stated in entry.get("states", ())]
    return any(
        [*topic] == [*about] and same_value(said, value) for about, said in other for topic, value in claim.states
    )


def _compared(claim: Claim, known: FactIndex) -> Verdict:
    if meant := _as_meant(claim, known):
        return meant
    if claim.states and (verdict := _by_relations(claim, known)):
        return verdict
    words, numbers, alike = content(plain(claim.text)), _numbers(claim.text), known.similar(claim.text)
    same = next((fact for share, fact in alike if share == 1 and numbers == _numbers(fact.text)), None)
    if claim.changes and not same and (changed := known.meant_by(claim)):
        named = relations.renamed(claim.text)  # that changes nothing but a name
        if not named or (relations.renamed(changed.text) or ("", ""))[1] == named[0]:
            return replacing(claim, [changed])
    for share, fact in alike:
        if kind_of(fact.path) != claim.kind or bool(_NEGATED.search(fact.text)) != bool(_NEGATED.search(claim.text)):
            continue
        if numbers <= _numbers(fact.text) and _says_as_much(words, claim.text, share, fact):
            return restatement(fact)
        if amount(fact.words) >= MATTER and _holds_whole(words, fact) and may_take_detail(fact, claim):
            return restatement(fact)
    return Verdict(ADD)


def adds_detail(fact: Fact, claim: Claim) -> bool:
    """Does a claim say what a fact does not?"""
    return not content(plain(claim.text)) <= fact.words or not _numbers(claim.text) <= _numbers(fact.text)


def may_take_detail(fact: Fact, claim: Claim) -> bool:
    """May a fact's file take up what a claim tells of the same matter: the program's own, with room, of the same subject?

    What was, and what is to come, is another matter each time, unless it is of the same day.
    """
    same = (fact.speaker, fact.nature, fact.when) == (claim.speaker, claim.nature, claim.when)
    once = bool(claim.nature) and claim.when is None
    mine = fact.own and not fact.pinned and not {*claim.sources} <= {*fact.sources}
    roomy = len(fact.text) + len(claim.text) <= ROOM
    return mine and same and not once and roomy and subject_of(fact.text) == subject_of(claim.text)


def _holds_whole(words: set[str], fact: Fact) -> bool:
    """Has a text all words of a fact, but for pairs of Chinese characters that another word came between?"""
    return all(len(word) == 2 and _ADDED & {*word} for word in fact.words - words)


def _says_as_much(words: set[str], text: str, share: float, fact: Fact) -> bool:
    """Does a fact say what a text says, but for a word that both lack? Another name or another word is another fact."""
    news, lost = words - fact.words, fact.words - words
    if not news:
        return len(words) >= 4 or share >= SAME
    named = any(name not in fact.text for name in _NAME.findall(text))
    return share >= (NEARLY if lost else SAME) and not named


def _as_meant(claim: Claim, known: FactIndex) -> Verdict | None:
    action, path = claim.meant or ("", "")
    if action == TAKEN_BACK:
        told = [fact for fact in known.facts.values() if path in fact.sources]
        return replacing(claim, told) if told else Verdict(DROP, (), "nothing was kept of what it takes back")
    fact = known.facts.get(path)
    if action == ADD:
        return Verdict(ADD)
    words = content(plain(claim.text))
    if fact is None or (action == UPDATE and not claim.merged and 2 * amount(words & fact.words) < amount(words)):
        return None  # it is no such matter, so what is told would be lost
    if action == SUPERSEDE:
        return replacing(claim, [fact])
    return restatement(fact) if action == UPDATE else Verdict(NOOP, (fact,), f"{fact.path} says as much")


def _by_relations(claim: Claim, known: FactIndex) -> Verdict | None:
    """The verdict where a relation decides it, which has one value at a time."""
    same, other = dict[str, Fact](), dict[str, Fact]()
    for topic, value in claim.states:
        for fact in known.about(topic):
            if kind_of(fact.path) == claim.kind:
                agrees = same_value(dict(fact.states)[topic], value)
                (same if agrees else other)[fact.path] = fact
    latest = max((fact.since for fact in other.values()), default=dt.date.min)
    # Else they were replaced by what agrees, in part.
    if other and not any(fact.since >= latest for fact in same.values()):
        return replacing(claim, sorted(other.values(), key=lambda fact: (fact.since, fact.path), reverse=True))
    for fact in same.values():
        if dict(claim.states).keys() <= dict(fact.states).keys():
            more = content(plain(claim.text)) - fact.words
            return restatement(fact) if len(more) < NEWS or may_take_detail(fact, claim) else Verdict(ADD)
    return None


def holds_more_than(fact: Fact, claim: Claim) -> bool:
    """Does a fact that a claim replaces tell something beside, so that it stays among the live ones?"""
    if claim.text.startswith(fact.text):
        return False  # it is quoted whole in the claim, with its correction
    topics = {topic for topic, _ in claim.states}
    if common := topics & {topic for topic, _ in fact.states}:
        return tells_more(fact.text, min(common)[0], {what for _, what in topics})
    beside = fact.words - content(plain(claim.text)) - _TIME
    off = fact.nature == "plan" and table.sign("called off", claim.changes)
    return bool(claim.changes) and amount(word for word in beside if not word.isdigit()) >= BESIDE * (2 if off else 1)


def restatement(fact: Fact) -> Verdict:
    """The verdict on a claim that a fact makes already."""
    if fact.own and not fact.pinned:
        return Verdict(UPDATE, (fact,))
    return Verdict(NOOP, (fact,), f"{fact.path} says so already")


def replacing(claim: Claim, other: Sequence[Fact]) -> Verdict:
    """The verdict on a claim that other facts speak against."""
    if claim.said_by:
        return Verdict(DROP, tuple(other), f"{claim.said_by} said so, but {other[0].path} says otherwise")
    same_day = claim.day == other[0].since and other[0].is_told_to_remember and claim.sources and not claim.changes
    if claim.day < other[0].since or same_day:
        reason = "was told outright that day" if same_day else "is newer"
        reason = reason if other[0].own or other[0].pinned else "was put right by hand since"
        return Verdict(LATE, (other[0],), f"{other[0].path} {reason}")
    going = tuple(fact for fact in other if not fact.pinned)
    pinned = [fact.path for fact in other if fact.pinned]
    reason = f"contradicts {', '.join(pinned)}, which is pinned" if pinned else ""
    return Verdict(SUPERSEDE if going else ADD, going, reason)


def said_in(memory: Memory) -> tuple[str, str]:
    """Who says what a memory says, and its words on one line; nobody where it quotes no one, or several people."""
    passages = memory.passages if not memory.binary else []
    speakers = {passage.speaker for passage in passages}
    if len(speakers) == 1 and (speaker := speakers.pop()):
        return speaker, " ".join(" ".join(passage.text for passage in passages).split())
    return "", plain(body(memory))


def body(memory: Memory) -> str:
    """What a memory says, on one line."""
    if memory.is_yaml:
        return " ".join(passage.text for passage in memory.passages)
    return " ".join(line.strip() for line in memory.lines[memory.front_end :] if line.strip())


def _numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+(?:[.,]\d+)*", plain(text)))


def same_value(one: str | None, other: str | None) -> bool:
    """Do two values name the same, one perhaps more fully: Porto, a flat in Porto?"""
    if one is None or other is None or bool(one) != bool(other):
        return False
    one, other = one.casefold().strip(), other.casefold().strip()
    if is_chinese(one) or is_chinese(other):
        return one == other or (
            not re.search(r"[\d一二三四五六七八九十不]", one + other) and (one in other or other in one)
        )
    first, second = ({word for word in re.findall(r"\w+", said) if word not in _SMALL} for said in (one, other))
    return one == other or bool(first and second and (first <= second or second <= first))
