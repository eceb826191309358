"""From a session to claims, without a model: the turns that carry something, told as sentences that stand alone."""

import re
from collections.abc import Collection
from typing import NamedTuple

from filemem.consolidation import injection
from filemem.consolidation.comparison import Claim
from filemem.consolidation.ledger import digest
from filemem.consolidation.sessions import Said, Session
from filemem.statements import Statement, linked, statements, takes_back
from filemem.statements.salience import THRESHOLD, Heard, scores
from filemem.statements.utterance import ASSISTANT, is_chinese

SECRET = "[redacted:"
NEAR = 6  # turns within which what states nothing by itself is taken to go with what the same person stated before
_LASTING = ("home", "job", "relationship status", "diet", "favourite ", "liking ")


class Dropped(NamedTuple):
    """What was said and will not be kept, and why."""

    source: str
    text: str
    reason: str


class Distilled(NamedTuple):
    """What a session tells, in the order in which it was told; `notes` are sentences about how it went."""

    claims: list[Claim]
    dropped: list[Dropped]
    notes: list[str]


def distilled(session: Session, unread: Collection[int], heard: Heard) -> Distilled:
    """The claims of the unread turns; `heard` are the earlier conversations."""
    turns = [said.turn for said in session.turns]
    found: dict[int, list[Claim]] = {}
    dropped: list[Dropped] = []
    wanted = set(unread)
    previous = None
    for place, value in enumerate(scores(turns, heard)):
        said = session.turns[place]
        before, previous = previous, said.turn
        if takes_back(said.turn):
            _take_back(session, place, found, dropped)
        order = injection.suspicious(said.text) if foreign(session, said) else None
        if order:
            previous = None  # so that no answer is told together with it
            dropped += [Dropped(f"{session.path}:{said.line}", said.text, f"it {order}")] if place in wanted else []
        if place not in wanted or value < THRESHOLD or foreign(session, said):
            continue
        others = tuple(name for name in session.speakers if name != said.speaker)
        told = statements(said.turn, before, said.day, others)
        if told:
            found[place] = [_claim(session, said, statement) for statement in told if SECRET not in statement.text]
            for statement in told:
                if SECRET in statement.text:
                    dropped.append(Dropped(f"{session.path}:{said.line}", statement.text, "it is about a secret"))
        else:
            _lean(session, place, found)
    return Distilled([claim for place in sorted(found) for claim in found[place]], dropped, [])


def foreign(session: Session, said: Said) -> bool:
    """Is this not what a person says, but an assistant, a tool or a document?"""
    return said.speaker.casefold() in (ASSISTANT, "tool", "system", "document")


def _take_back(session: Session, place: int, found: dict[int, list[Claim]], dropped: list[Dropped]) -> None:
    """Drop what a speaker said last, as they say that it was a joke."""
    speaker = session.turns[place].speaker
    before = [n for n in range(max(0, place - 2), place) if session.turns[n].speaker == speaker]
    for claim in found.pop(before[-1], []) if before else []:
        dropped.append(Dropped(claim.sources[0], claim.text, "it was said to be a joke"))


def _lean(session: Session, place: int, found: dict[int, list[Claim]]) -> None:
    """Have a turn that states nothing by itself stand as a further source of its speaker's last statement."""
    said = session.turns[place]
    for before in range(place - 1, max(-1, place - 1 - NEAR), -1):
        if session.turns[before].speaker == said.speaker and found.get(before):
            last = found[before][-1]
            sources = (*last.sources, f"{session.path}:{said.line}")
            origins = (*last.origins, (said.digest, last.origins[0][1]))
            found[before][-1] = last._replace(sources=sources, origins=origins)
            return


def _claim(session: Session, said: Said, statement: Statement) -> Claim:
    text = _with_home(linked(statement), statement)
    lasting = statement.topic is not None and statement.topic[1].startswith(_LASTING)
    begun = statement.about_date if lasting and statement.about_date and statement.about_date <= said.day else None
    return Claim(
        text=text,
        day=said.day,
        kind="lessons" if statement.kind == "lesson" else "facts",
        sources=(f"{session.path}:{said.line}",),
        origins=((said.digest, digest(statement.text)),),
        importance=statement.importance,
        confidence=statement.confidence,
        topic=statement.topic,
        value=statement.value,
        correction=statement.correction,
        valid_from=begun,
    )


def _with_home(text: str, statement: Statement) -> str:
    """A move told so that it also answers where somebody lives now."""
    if not statement.topic or statement.topic[1] != "home" or not statement.value or statement.value.startswith("not "):
        return text
    whose = statement.topic[0]
    if is_chinese(text):
        return text if "住" in text else f"{text}{whose}现在住在{statement.value}。"
    return (
        text
        if re.search(r"\blive[ds]?\b|\bliving\b", text)
        else f"{text} {whose} has lived in {statement.value} since then."
    )
