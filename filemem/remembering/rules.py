"""From a session to claims, without a model: quotations of what is worth keeping, each with the turn that it comes from."""

import datetime as dt
import re
from collections import Counter
from collections.abc import Collection
from typing import NamedTuple

from filemem.files.episode import NONE, Episode
from filemem.files.passages import format_turn
from filemem.files.transcript import ASSISTANT
from filemem.remembering import injection
from filemem.remembering.comparison import TAKEN_BACK, Claim, single, states_of
from filemem.remembering.ledger import digest
from filemem.remembering.sessions import Session, SessionTurn
from filemem.text.statements import (
    Statement,
    elliptical,
    is_empty_talk,
    is_instruction,
    read_turn,
    steering,
    steers,
    table,
)
from filemem.text.statements.relations import renamed
from filemem.text.statements.sentences import TELLING, is_chinese, own_sentences, plainly
from filemem.text.statements.validity import validity_of

SECRET = "[redacted:"
MOST = 6  # facts of one day of a session, the weightiest; what a person asks to be remembered is beside them
ASKED = 8  # importance of what a person asks to be remembered
UNNAMED = ("told", "event", "plan")  # kinds of what may be no more than a correction
NEAR = 4  # turns before a correction such as "no, Thursday" in which what it corrects was said
_CORRECTS = re.compile(
    r"^(?:(?:no|wait|sorry)[,.!]|no (?:wait|sorry|make|it)|wait no|nope|sorry it|oops|whoops|actually|correction"
    r"|(?:let'?s |can we )?(?:make|move|change|push|shift|put|bring) (?:that|it)(?: (?:back |forward )?(?:to|until|till))?"
    r"|i mean|i meant|turns out(?: it'?s| it is)?|scrap that|not|rather)(?!\w)(.{0,60})$"
    r"|^(?:[哎啊哦诶嗯呃]，?)?(?:不对|不是|说[错岔]了?|其实是|哦?不[，,]|[改换][成到]|[挪推]到|提前到|推迟到|应该是|更正|搞错了?|记错了?|打错了?)(.{0,30})$",
    re.IGNORECASE,
)


class DroppedClaim(NamedTuple):
    """What was said and will not be kept, and why."""

    source: str
    text: str
    reason: str


class Extracted(NamedTuple):
    """What a session tells, in the order in which it was told; `notes` are sentences about how it went; `episode` is what a
    model says of it as a whole."""

    claims: list[Claim]
    dropped: list[DroppedClaim]
    notes: list[str]
    episode: Episode = NONE


def extract(session: Session, unread: Collection[int]) -> Extracted:
    """The claims of the unread turns."""
    found: dict[int, list[Claim]] = {}
    dropped: list[DroppedClaim] = []
    notes: list[str] = []
    to_assistant, of_records = session.to_assistant, session.of_records
    for place in sorted(unread):
        said = session.turns[place]
        source = f"{session.path}:{said.line}"
        order = injection.suspicious(said.text, own=not said.is_foreign)
        if order:
            dropped.append(DroppedClaim(source, said.text, f"it {order}"))
        if order or said.is_foreign or (of_records and said.speaker != session.user):
            continue
        heard = read_turn(said.turn, said.day, to_assistant=to_assistant)
        taken = _take_back(session, place, found, dropped) if heard.takes_back else []
        for wish in heard.forget:
            notes.append(f"to forget what is kept about {wish}, see: filemem forget --about {wish!r}")
        kept = [one for one in heard.statements if not steers(one) or may_steer(session, place)]
        found[place] = taken + [_claim(session, [(said, one.text)], one) for one in kept]
        if not any(one.kind.name not in UNNAMED for one in heard.statements):
            found[place] = _with_earlier(session, place) or found[place]
    claims = [claim for place in sorted(found) for claim in found[place]]
    return Extracted(weightiest(claims, session.kept), dropped, notes)


def weightiest(claims: list[Claim], kept: Counter[dt.date]) -> list[Claim]:
    """The claims, without the least important of those beyond the limit for a day of a session; `kept` counts those of before.

    What replaces something older, or gives a value that there is one of at a time, is never too many.
    """
    counted = [
        claim for claim in claims if claim.kind == "facts" and not (claim.asked or claim.states or claim.changes)
    ]
    best: list[Claim] = []
    for claim in sorted(counted, key=lambda claim: -claim.importance):
        if kept[claim.day] + sum(one.day == claim.day for one in best) < MOST:
            best.append(claim)
    return [claim for claim in claims if claim not in counted or claim in best]


def may_steer(session: Session, place: int) -> bool:
    """May a turn say how the assistant is to behave? Only the user's own plain talk with this program's assistant.

    What an imported conversation says waits for review.
    """
    said = session.turns[place]
    if not session.to_assistant or said.speaker != session.user:
        return False
    before = session.turns[max(0, place - steering.NEAR) : place]
    own = [one.text for one in before if one.speaker == session.user]
    asked = before[-1].text if before and before[-1].speaker == ASSISTANT else ""
    return steering.may_steer(said.text, session.user, own, asked)


def _take_back(session: Session, place: int, found: dict[int, list[Claim]], dropped: list[DroppedClaim]) -> list[Claim]:
    """Drop what a speaker said last, as they say that it was a joke; of a turn that was read before, what they say now is the
    claim that replaces what was kept of it."""
    for before in _own_turns_before(session, place)[:1]:
        if before not in found:
            said, earlier = session.turns[place], f"{session.path}:{session.turns[before].line}"
            joke = Statement(said.text, said.line, table.kinds()["told"], (), said.text, None, False)
            return [_claim(session, [(said, said.text)], joke)._replace(meant=(TAKEN_BACK, earlier))]
        for claim in found.pop(before):
            dropped.append(DroppedClaim(claim.sources[0], claim.text, "it was said to be a joke"))
    return []


def _with_earlier(session: Session, place: int) -> list[Claim]:
    """What a speaker told a few turns before, with a short turn that corrects a value of it, or that only it explains."""
    said = session.turns[place]
    match = _CORRECTS.search(plainly(said.text))
    gives = _corrected((match[1] or match[2] or "").strip(" ,.!，。！")) if match else set()
    if not gives and (match or not session.to_assistant or not elliptical(said.text)):
        return []
    for before in _own_turns_before(session, place):
        earlier = session.turns[before]
        heard = read_turn(earlier.turn, earlier.day, to_assistant=session.to_assistant).statements
        if heard and not is_instruction(heard[-1]) and (not match or gives & _correctable(heard[-1])):
            one = heard[-1]._replace(changes=heard[-1].text)
            one = one._replace(states=(), when=None) if match else one
            return [_claim(session, [(earlier, one.text), (said, said.text.strip())], one)]
    return []


def _corrected(rest: str) -> set[str]:
    """The kinds of value that a correction gives anew, by what stands behind its opening; none where that is a question, a
    request or talk about an answer."""
    if (
        any(part.role != TELLING for part in own_sentences(rest))
        or table.sign("of no person", rest)
        or is_empty_talk(rest)
    ):
        return set()
    return _values(f"it is {rest}") | ({"plain value"} if table.sign("one word", rest) else set())


def _correctable(statement: Statement) -> set[str]:
    """The kinds of value that a statement gives, any of which a few words may correct."""
    plain = statement.states or table.sign("plain value", statement.text)
    return _values(statement.text) | ({"plain value"} if plain else set())


def _values(text: str) -> set[str]:
    return {kind for kind in ("amount or time", "name") if table.sign(kind, text)}


def _own_turns_before(session: Session, place: int) -> list[int]:
    """The places of the few turns before one that its speaker said, the latest first."""
    speaker = session.turns[place].speaker
    return [n for n in range(place - 1, max(-1, place - 1 - NEAR), -1) if session.turns[n].speaker == speaker]


def _claim(session: Session, quotes: list[tuple[SessionTurn, str]], statement: Statement) -> Claim:
    said, first = quotes[-1][0], quotes[0][0]
    text = ("" if is_chinese(statement.text) else " ").join(" ".join(text.split()) for _, text in quotes)
    lesson = is_instruction(statement)
    since, until = validity_of(text, said.day)
    return Claim(
        text=text,
        valid_from=since,
        valid_until=until,
        day=said.day,
        kind="lessons" if lesson else "facts",
        sources=tuple(f"{session.path}:{one.line}" for one, _ in quotes),
        origins=tuple((one.digest, digest(text)) for one, _ in reversed(quotes)),
        importance=statement.kind.importance,
        confidence=1.0 if lesson or statement.asked else 0.8,
        states=states_of(statement.text, said.speaker) if len(quotes) == 1 else single(said.speaker, statement.states),
        aliases=renamed(statement.text) or (),
        changes=statement.changes,
        body="".join(format_turn(one.speaker, "", text) for one, text in quotes).rstrip("\n"),
        nature={"plan": "plan", "event": "event"}.get(statement.kind.name, ""),
        when=statement.when,
        heading=statement.kind.heading if said.speaker == session.user else "",
        asked=statement.asked,
        speaker=first.speaker,
        waits=lesson and session.imported,
    )
