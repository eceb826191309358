"""Do the turns that a model cites support what it noted? Checked by code."""

import datetime as dt
import re
from collections.abc import Collection
from typing import Any

from filemem.files.facts import plain
from filemem.files.transcript import ASSISTANT
from filemem.remembering import injection
from filemem.remembering.comparison import Claim, Fact
from filemem.remembering.ledger import digest
from filemem.remembering.rules import SECRET, DroppedClaim, may_steer
from filemem.remembering.sessions import Session, SessionTurn
from filemem.text import bounded, dates
from filemem.text.bounded import DatedText
from filemem.text.own_patterns import OwnPatterns
from filemem.text.plain import one_line
from filemem.text.redaction import redact
from filemem.text.statements import heading_of
from filemem.text.statements.sentences import is_chinese, own_sentences
from filemem.text.statements.steering import speaks_of_steering
from filemem.text.statements.words import amount, content

LONGEST = 400  # characters of a fact
AROUND = 2  # turns before and after a cited one whose words count as said, names, numbers and dates aside
BORNE = 0.6  # of a fact's content words, the least that the turns must have
SURE = 0.8  # confidence in what a person said and a model told
_PRONOUN = re.compile(
    r"(?:he|she|it|they|we|i|you|his|her|their|my|this|that|user|the user)\b|[他她它我你这那]", re.IGNORECASE
)


def verify(entry: dict[str, Any], session: Session, part: Collection[int]) -> Claim | DroppedClaim:
    """A fact as a model gave it, as a claim, or why it is dropped; `part` are the places of the turns it may cite."""
    text = entry.get("text")
    where = {session.turns[place].line: place for place in range(len(session.turns))}
    lines = entry.get("lines", entry.get("line"))
    cited = [whole(line) for line in (lines if isinstance(lines, list) else [lines])]
    shown = f"{session.path}:{cited[0] if cited else 0}"
    if not isinstance(text, str) or not text.strip():
        return DroppedClaim(shown, one_line(str(entry), 80), "it has no text")
    text = " ".join(redact(text, session.own)[0].split())
    invented = [line for line in cited if line not in where]
    if not cited or invented:
        return DroppedClaim(
            shown, text, f"it cites {'a line' if cited else 'no line'} that is no turn of the conversation"
        )
    places = [where[line] for line in cited]
    if not any(place in part for place in places):
        return DroppedClaim(shown, text, "it cites only turns that were read before")
    said = [session.turns[place] for place in places]
    steers = entry.get("kind") == "lesson" or speaks_of_steering(plain(text))
    own = any(one.is_foreign or own_sentences(one.text) for one in said)
    handed_over = "" if own else "what it cites is a text that was handed over, and nobody's own words"
    reason = unfit(text, said) or handed_over or (steers and _foreign_wish(session, places))
    reason = reason or foreign_orders(said) or _unborne(text, session, places, 0 if steers else AROUND)
    return DroppedClaim(shown, text, reason) if reason else _claim(entry, text, session, said)


def unfit(text: str, said: list[SessionTurn]) -> str:
    """What is wrong with the fact as a sentence."""
    if len(text) > LONGEST:
        return f"it is longer than {LONGEST} characters"
    if SECRET in text:
        return "it is about a secret"
    if _PRONOUN.match(plain(text)):
        return "it does not name its subject"
    if is_chinese(plain(text)) != is_chinese(" ".join(one.text for one in said)):
        return "it is not in the speaker's language"
    return "it " + order if (order := injection.suspicious(text)) else ""


def _foreign_wish(session: Session, places: list[int]) -> str:
    """Why a wish on the assistant's behaviour is dropped: only the user may say it, in plain talk of their own."""
    if all(may_steer(session, place) for place in places):
        return ""
    return "it steers the assistant, and what it cites is not the user's own plain talk"


def foreign_orders(said: list[SessionTurn]) -> str:
    """What orders to its reader a turn that is cited holds."""
    for one in said:
        if order := injection.suspicious(one.text, own=not one.is_foreign):
            return f"what it cites {order}"
    return ""


def _unborne(text: str, session: Session, places: list[int], around: int) -> str:
    """The details of the fact that neither the turns that it cites nor the few around them have."""
    near = sorted(
        {n for place in places for n in range(place - around, place + around + 1) if 0 <= n < len(session.turns)}
    )
    turns = [session.turns[place] for place in near]
    names = ", ".join(session.speakers)
    cited = [session.turns[place] for place in places]
    extra = bounded.unsupported_details(
        [text], [DatedText(f"{one.speaker}: {one.text}", one.day) for one in cited] + [DatedText(names, None)]
    )
    if extra:
        return f"the turns that it cites do not have {', '.join(one_line(item, 40) for item in extra[:3])}"
    words = content(plain(text)) - content(names)
    known = content(" ".join(dates.annotate(one.text, one.day) for one in turns))
    known |= content(" ".join(f"{one.day:%d %B %Y %A}" for one in turns))
    share = amount(words & known) / (amount(words) or 1)
    return "" if share >= BORNE else f"the turns bear out only {share:.0%} of its words"


def _claim(entry: dict[str, Any], text: str, session: Session, said: list[SessionTurn]) -> Claim:
    importance = whole(entry.get("importance")) or 5
    since, until = (_day(entry.get(key), said) for key in ("valid_from", "valid_until"))
    by = ASSISTANT if all(one.is_foreign for one in said) else ""
    about = session.user if plain(text).casefold().startswith(session.user.casefold()) else ""
    return Claim(
        text=text,
        heading="talk" if entry.get("kind") == "lesson" else heading_of(plain(text), about) if about else "",
        day=said[0].day,
        kind="lessons" if entry.get("kind") == "lesson" else "facts",
        sources=tuple(dict.fromkeys(f"{session.path}:{one.line}" for one in said)),
        origins=tuple((one.digest, digest(plain(text))) for one in said),
        importance=max(1, min(10, importance)),
        confidence=0.3 if by else SURE,
        valid_from=since,
        valid_until=until,
        said_by=by,
        waits=entry.get("kind") == "lesson" and session.imported,
    )


def merged(text: str, fact: Fact, claim: Claim, own: OwnPatterns) -> str:
    """A model's words for a memory and what is new of it, on one line; empty where they have more or less than both."""
    text = " ".join(redact(text, own)[0].split())
    both = [DatedText(fact.text, fact.since), DatedText(claim.text, claim.day)]
    invented = amount(content(plain(text)) - fact.words - content(plain(claim.text))) > 1
    strange = invented or bounded.unsupported_details([text], both)
    lost = [
        item for item in bounded.archive_only(both, [DatedText(text, claim.day)]) if not content(item) <= content(text)
    ]
    said = [SessionTurn(0, claim.speaker, claim.text, claim.day, "")]
    return "" if strange or lost or unfit(text, said) else text


def whole(value: Any) -> int:
    """A whole number from what a model wrote for one, 0 for anything else."""
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return 0


def _day(value: Any, said: list[SessionTurn]) -> dt.date | None:
    """A day that a model gives, where the turns name it, or a time that begins or ends with it."""
    named = [span for one in said for mention in dates.mentioned(one.text, one.day) for span in mention.spans]
    try:
        day = dt.date.fromisoformat(str(value)[:10])
    except ValueError:
        return None
    return day if any(day in span for span in [*named, *((one.day,) for one in said)]) else None
