"""What answers where no model is configured: facts, what was told and what was said just now, quoted with `path:line`."""

import contextlib
import datetime as dt
import re
from collections.abc import Iterator
from typing import NamedTuple

from filemem.errors import FilememError
from filemem.files.archive import live
from filemem.files.folder import CurrentConversation, Folder
from filemem.files.memory import PROFILE, SOURCE_MARK, kind_of, when_of
from filemem.files.passages import Passage
from filemem.files.transcript import ASSISTANT
from filemem.index import Index
from filemem.models.responder import evidence, people, ranking, topics, wording
from filemem.models.responder.evidence import Evidence
from filemem.models.responder.people import People, Person
from filemem.search import Hit, filters
from filemem.search.hits import excerpt
from filemem.text import dates
from filemem.text.statements import is_phrase, names_nobody, steering
from filemem.tools import answers

QUOTES, WEAK_QUOTES = 5, 3
LIMIT = 40  # passages to ask the search for, as questions and requests are left out
ABOUT, NEWEST = 8, 5  # quotes of what is known of somebody at least; of the newest facts, beside the profile
_MARKED = re.compile(r"^[-*+]\s+(?:\*\*(.+?)\*\*)?")  # an item of a list, as a summary has the turns


class Memories(NamedTuple):
    """Where the answers are looked for: a user's folder and index, and the conversation going on, up to its last turn."""

    folder: Folder
    search_index: Index
    now: dt.datetime
    current: CurrentConversation | None

    def is_current(self, path: str) -> bool:
        """Is this the conversation going on?"""
        return self.current is not None and self.current.path == path

    def said(self) -> list[Passage]:
        """The turns of the conversation going on before the one that is answered."""
        if self.current is None:
            return []
        turns = self.folder.memory(self.current.path).passages
        return [turn for turn in turns if turn.line < self.current.line]


def searches(question: str) -> list[str]:
    """What to search for: the question, and other words for what it is about."""
    question = wording.subject(question)
    words = " ".join(topic.words for topic in topics.asked(question)[:3]).split()
    words = [word for word in words if word.isascii() != wording.is_chinese(question)]
    return [question, *([" ".join(dict.fromkeys(words))] if words else [])]


def reply(message: str, hits: list[Hit], memories: Memories) -> str:
    """What is said to a message; `hits` are what the searches for it found, where it looks something up."""
    if small := wording.small_talk(message):
        return small
    if wording.is_about_me(message):
        return about_me(memories, chinese=wording.is_chinese(message))
    if wording.needs_lookup(message):
        return answer(message, hits, memories)
    if is_phrase(message) and not (said := answer(message, hits, memories)).startswith(wording.NOTHING):
        return said  # it names what is known
    before = memories.said()[-steering.NEAR :]
    own = [turn.text for turn in before if turn.speaker != ASSISTANT]
    answered = before[-1].text if before and before[-1].speaker == ASSISTANT else ""
    may_steer = steering.may_steer(message, memories.folder.name, own, answered)
    return wording.acknowledgement(message, may_steer=may_steer)


def about_me(memories: Memories, *, chinese: bool) -> str:
    """The profile, and the newest that is not in it of what was told in this conversation and of the facts."""
    known = evidence.facts(memories.folder, memories.search_index, memories.now.date())
    facts = [one for one in known if not one.over]
    by_path = {live(one.path): one for one in facts}
    profile: list[Evidence] = []
    with contextlib.suppress(FilememError):
        profile = list(evidence.of_profile(memories.folder.memory(PROFILE), by_path))
    going_on = [one for one in _recent(memories) if memories.is_current(one.path)]
    told = [one for one in evidence.said(reversed(going_on)) if wording.statements(one.text)]
    chosen = distinct([*profile, *told, *facts], facts)[: max(ABOUT, len(profile) + NEWEST)]
    return _quoted(wording.ABOUT, chosen, frozenset(), chinese=chinese) if chosen else wording.NOTHING[chinese]


def _recent(memories: Memories) -> list[evidence.RecentTurn]:
    return list(evidence.recent(memories.folder, memories.search_index, memories.current))


def _quoted(opening: tuple[str, str], chosen: list[Evidence], stems: frozenset[str], *, chinese: bool) -> str:
    return "\n".join([opening[chinese], *(shown(one, stems, chinese=chinese) for one in chosen)])


def answer(question: str, hits: list[Hit], memories: Memories) -> str:
    """The best quotes, or a plain word that nothing was found or that it is not clear whom the question means."""
    chinese, question = wording.is_chinese(question), wording.subject(question)
    today = memories.now.date()
    named = [span for mention in dates.mentioned(question, today) for span in mention.spans]
    time = filters.time_asked(((span.start.toordinal(), span.end.toordinal()) for span in named), today)
    facts = list(evidence.facts(memories.folder, memories.search_index, today, time))
    recent = _recent(memories)
    corpus = memories.search_index.corpus()
    known = People([*(one.text for one in facts), *(one.turn.text for one in recent)], corpus.names())
    who = known.asked(question)
    if (pronoun := people.pronoun(question)) and not who:
        who, called = _last_named(pronoun, known, memories)
        if not who:
            return wording.WHOM[chinese].format(pronoun)
        question = f"{question} {called}"
    asked = ranking.understood(question, memories.folder.name, known, who, corpus, today)
    told = evidence.said(
        one for one in recent if memories.is_current(one.path) or ranking.is_related(asked, one.turn.text)
    )
    found = evidence.together([evidence.found(that_tell(hits, memories.folder)), told, facts])
    best, sure = ranking.ranked(asked, found)
    most = QUOTES if sure else WEAK_QUOTES
    chosen = distinct(best, found, past=asked.past or time is not None)[:most]
    if not chosen:
        return wording.NOTHING[chinese]
    stems = frozenset(stem for unit in asked.units for stem, _ in unit.stems)
    opening = wording.FOUND if sure else wording.WEAK
    old, born = ranking.telling("age", asked, best), ranking.telling("birthday", asked, found)
    if (age := people.now(old, born, today)) is not None:
        opening = (
            f"{opening[0]}\n\n{wording.BY_NOW[0].format(age)}",
            f"{opening[1]}\n\n{wording.BY_NOW[1].format(age)}",
        )
    return _quoted(opening, chosen, stems, chinese=chinese)


def that_tell(hits: list[Hit], folder: Folder) -> list[Hit]:
    """The hits without headings of the profile, which tell nothing, and without how a program's tools fare."""
    lines = folder.memory(PROFILE).lines if any(hit.path == PROFILE for hit in hits) else []
    lessons = {hit.path for hit in hits if kind_of(hit.path) == "lessons"}
    on_tools = {path for path in lessons if evidence.is_on_tool(folder, path)}
    hits = [hit for hit in hits if hit.path not in on_tools]
    return [hit for hit in hits if hit.path != PROFILE or not lines[hit.line - 1].startswith("#")]


def _last_named(pronoun: str, known: People, memories: Memories) -> tuple[list[Person], str]:
    """Whom this conversation named last of those whom a pronoun may mean, and by what word."""
    for turn in reversed(memories.said()):
        if who := people.meant_by_pronoun(pronoun, known.asked(turn.text)):
            return who, who[0].word_in(turn.text)
    return [], ""


def distinct(best: list[Evidence], found: list[Evidence], *, past: bool = False) -> list[Evidence]:
    """One of each: no turn beside the fact that was made of it, no line of the profile beside its fact, no text twice; what
    was superseded stands below what replaced it, unless the `past` is asked for."""
    out: list[Evidence] = []
    told: set[str] = set()
    turns: set[str] = set()
    for one in best if past else _current_above(best, found):
        rests = SOURCE_MARK.search(one.text) if one.path == PROFILE else None
        place = rests[1] if rests else f"{live(one.path)}:{one.line}"
        # What corrects it may quote it.
        quoted = one.over and any(one.text in other.text for other in best if other.text != one.text)
        if told.isdisjoint({place, one.text}) and turns.isdisjoint(one.sources) and not quoted:
            out.append(one)
            turns |= {place} if not one.sources else set()
        told |= {place, one.text, *one.sources, live(one.path) if one.sources else place}
    return out


def _current_above(best: list[Evidence], found: list[Evidence]) -> Iterator[Evidence]:
    """The same, above each memory that was superseded what holds now, and below what replaced others of them these; above one
    that was corrected in part what corrects it, where that does not say of whom it tells."""
    newer = {old: one for one in found for old in one.replaces}
    made = {source: live(one.path) for one in found for source in one.sources if one.over}
    for one in best:
        path = live(one.path) if live(one.path) in newer else made.get(f"{live(one.path)}:{one.line}", "")
        chain = [newer[path]] if one.partly and path in newer and names_nobody(newer[path].text) else []
        while one.over and (after := newer.get(path)) and after not in chain:
            chain.append(after)
            path = live(after.path)
        yield from chain[-1:]
        yield one
        yield from (old for old in best if live(old.path) in one.replaces)


def shown(one: Evidence, stems: frozenset[str], *, chinese: bool) -> str:
    """A quote as a list item under a blank line: its lines, then its date and `path:line`; of a long one what holds `stems`."""
    start, end = excerpt(one.text, stems)
    text = ("… " if start else "") + one.text[start:end] + (" …" if end < len(one.text) else "")
    when = when_of(one.path)
    lines = [answers.line_text(line, one.day, one.path, one.line) for line in text.split("\n")]
    first, *rest = [SOURCE_MARK.sub("", line).rstrip() for line in lines]
    first = _MARKED.sub(r"\1", first)
    speaker = f"{one.speaker or one.title}: " if one.speaker or one.title else ""
    date = wording.date(one.day, month=bool(when and when.month), chinese=chinese) + ", " if one.day else ""
    date += f"{wording.HELD[one.held][chinese]}, " if one.held else ""
    head = f"- {speaker}{first}"
    return "\n".join(["", head, *(f"  {line}" for line in rest), f"  {date}{one.path}:{one.line}"])
