"""Reflection: what several sessions tell together and none alone, as a model sees it; proposed for review, never kept unasked."""

import datetime as dt
from typing import Any, NamedTuple

from filemem.errors import FilememError
from filemem.files import config, pending_deletion
from filemem.files.facts import plain
from filemem.files.folder import Folder
from filemem.models import Model, prompt
from filemem.remembering import sessions, verification
from filemem.remembering.comparison import ADD, Claim, FactIndex, compare
from filemem.remembering.ledger import Ledger, digest
from filemem.remembering.rules import DroppedClaim
from filemem.remembering.sessions import Session, SessionTurn
from filemem.remembering.structured import filled, objects, request, tool
from filemem.text import bounded, tokens
from filemem.text.bounded import DatedText
from filemem.text.plain import one_line
from filemem.text.redaction import redact
from filemem.text.statements.steering import speaks_of_steering

MOST, SESSIONS = 6000, 30  # tokens, and sessions, the newest, that are looked over at a time
GUESSED = 0.5  # confidence in what nobody said
_INSIGHT = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "description": "One sentence that stands alone."},
        "labels": {"type": "array", "items": {"type": "string"}, "description": "Lines of two sessions at least."},
    },
    "required": ["text", "labels"],
}


class Reflected(NamedTuple):
    """How many sessions were looked over, 0 where nothing is new in them; what is proposed, and what was dropped and why."""

    sessions: int
    proposed: list[Claim]
    dropped: list[DroppedClaim]


def sessions_to_reflect_on(folder: Folder) -> list[Session]:
    """The newest sessions that a request holds, oldest first; of fewer than two none."""
    found, spent, hidden = list[Session](), 0, pending_deletion.read(folder)
    for path in reversed(sessions.in_order(folder)):
        memory = sessions.load(folder, path)
        if memory:
            told = sessions.users_turns(memory, folder.name, hidden, config.of(folder).own)
            spent += sum(tokens.count(one.text) for one in told.turns)
            if spent > MOST or len(found) == SESSIONS:
                break
            found.insert(0, told)
    return found if len(found) > 1 else []


def reflect(folder: Folder, model: Model, at: dt.datetime) -> Reflected:
    """Ask a model once about what is new since the last time, and propose what holds; raises ModelError."""
    book, found = Ledger(folder), sessions_to_reflect_on(folder)
    seen = digest("\n".join(one.digest for session in found for one in session.turns))
    if not found or seen in book.reflected:
        return Reflected(0, [], [])
    asked = request("patterns", "\n".join(_told(number, one) for number, one in enumerate(found, 1)))
    notice = tool("notice", "Note what several sessions tell together.", "insights", _INSIGHT)
    answered = objects(filled(model, asked, notice), "insights") or []
    judged = [_judged(entry, found, model.name, at) for entry in answered]
    known = FactIndex(folder, book, {name for session in found for name in session.speakers})
    proposed = []
    for claim in (one for one in judged if isinstance(one, Claim)):
        origin, claim = claim.origins[0], claim._replace(states=known.states(claim.text))
        if origin not in book.refused | book.proposed.keys() and compare(claim, known).action == ADD:
            proposed.append(claim)
    book.add([*({"proposed": claim._asdict()} for claim in proposed), {"reflected": seen}])
    return Reflected(len(found), proposed, [one for one in judged if isinstance(one, DroppedClaim)])


def _told(number: int, session: Session) -> str:
    """One session as the model reads it."""
    lines = [f"[{number}:{one.line}] {one.day} {one.speaker}: {' '.join(one.text.split())}" for one in session.turns]
    return f"Session {number}:\n{prompt.data(session.path, chr(10).join(lines))}"


def _judged(entry: dict[str, Any], found: list[Session], by: str, at: dt.datetime) -> Claim | DroppedClaim:
    """An insight as a claim, or why it is dropped: it cites what there is, of two sessions, and adds no detail to it."""
    text, cited = entry.get("text"), dict[str, SessionTurn]()
    for label in entry["labels"] if isinstance(entry.get("labels"), list) else []:
        number, _, line = str(label).strip("[] ").partition(":")
        session = found[int(number) - 1] if number.isdecimal() and 0 < int(number) <= len(found) else None
        cited |= (
            {f"{session.path}:{one.line}": one for one in session.turns if str(one.line) == line} if session else {}
        )
    text = " ".join(redact(text, found[0].own)[0].split()) if isinstance(text, str) else ""
    several = len({place.rpartition(":")[0] for place in cited}) > 1
    reason = _wrong(text, list(cited.values()), found) if text and several else "it cites no two sessions"
    if reason:
        return DroppedClaim(next(iter(cited), "-"), text or one_line(str(entry), 80), reason)
    return Claim(
        text,
        max((one.day for one in cited.values()), default=at.date()),
        sources=tuple(cited),
        origins=tuple((one.digest, digest(plain(text))) for one in cited.values()),
        confidence=GUESSED,
        retold_by=by,
    )


def _wrong(text: str, said: list[SessionTurn], found: list[Session]) -> str:
    """Why an insight is no memory; how many lines it rests on it may say."""
    if speaks_of_steering(plain(text)):
        return "it steers the assistant"
    names = ", ".join(name for session in found for name in session.speakers)
    known = [DatedText(f"{one.speaker}: {one.text}", one.day) for one in said]
    extra = bounded.unsupported_details([text], [*known, DatedText(f"{names}, {len(said)}", None)])
    extra_said = f"the lines do not have {', '.join(one_line(item, 40) for item in extra[:3])}" if extra else ""
    return verification.unfit(text, said) or verification.foreign_orders(said) or extra_said


def needs(model: Model | None) -> Model:
    """The model; raises FilememError where there is none, as rules see no pattern."""
    if model is None or model.name == "offline":
        raise FilememError("to reflect takes a model; name one with --model, or set model in filemem.yaml.")
    return model
