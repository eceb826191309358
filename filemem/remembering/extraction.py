"""With a model: from a session to claims. It is asked for facts, asked once more what it missed, and asked how they stand to
what is known; its answers are checked by code. Where it fails, the offline rules take its place.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from filemem.files import running
from filemem.files.episode import NONE
from filemem.models import Model, ModelError, Reply, prompt
from filemem.models.offline import OfflineModel
from filemem.remembering import episodes, sessions, verification
from filemem.remembering.comparison import ADD, NOOP, SUPERSEDE, UPDATE, Claim, Fact, FactIndex, adds_detail, compare
from filemem.remembering.consolidation import Extractor
from filemem.remembering.rules import DroppedClaim, Extracted, extract
from filemem.remembering.sessions import Session, SessionTurn
from filemem.remembering.structured import filled, objects, request, tool
from filemem.text import tokens
from filemem.text.plain import one_line
from filemem.text.redaction import redact
from filemem.text.statements import may_tell
from filemem.text.statements.sentences import own_sentences

BEFORE = 10  # turns before the new ones that a model sees, as in Mem0
MOST = 4000  # tokens of new turns in one request
SIMILAR = 10  # memories beside which a new fact is put, as in Mem0
_ACTIONS = (ADD, UPDATE, SUPERSEDE, NOOP)
_FACT = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "description": "One sentence that stands alone."},
        "lines": {"type": "array", "items": {"type": "integer"}, "description": "Numbers of the turns that say it."},
        "kind": {"type": "string", "enum": ["fact", "lesson"]},
        "importance": {"type": "integer", "minimum": 1, "maximum": 10},
        "valid_from": {"type": "string", "description": "YYYY-MM-DD, where it was said."},
        "valid_until": {"type": "string", "description": "YYYY-MM-DD, where it was said."},
    },
    "required": ["text", "lines"],
}
_DECISION = {
    "type": "object",
    "properties": {
        "fact": {"type": "integer"},
        "action": {"type": "string", "enum": list(_ACTIONS)},
        "memory": {"type": "string", "description": "M and its number."},
        "text": {"type": "string", "description": "For UPDATE: the memory with what is new, in one or two sentences."},
    },
    "required": ["fact", "action"],
}


def listener(model: Model | None, tell: Callable[[str], None]) -> Extractor | None:
    """The function that makes claims of a session with `model` and reports problems in sentences; None for the offline rules."""
    if model is None or model.name == OfflineModel.name:
        return None

    def listen(session: Session, unread: Sequence[int], known: FactIndex) -> Extracted:
        if not any(map(_tells, (session.turns[place] for place in unread))):
            return Extracted([], [], [])
        try:
            return _SessionReading(model, session, unread, known).extracted()
        except ModelError as error:
            tell(f"{session.path} was read by the offline rules: {error}")
            return extract(session, unread)

    return listen


def _tells(said: SessionTurn) -> bool:
    """Does a person tell anything in this turn, so that it is worth a request?"""
    return not said.is_foreign and any(map(may_tell, own_sentences(said.text)))


class _SessionReading:
    """One session read by a model."""

    def __init__(self, model: Model, session: Session, unread: Sequence[int], known: FactIndex) -> None:
        self.model = model
        self.session = session
        self.unread = unread
        self.known = known
        self.dropped: list[DroppedClaim] = []
        self.notes: list[str] = []
        self.episode = NONE

    def extracted(self) -> Extracted:
        """The claims of the unread turns; raises ModelError where the model gave no answer that could be read."""
        claims: list[Claim] = []
        for part in self._parts():
            claims += self._claims(part)
        return Extracted(self._compared(claims), self.dropped, self.notes, self.episode)

    def _parts(self) -> Iterator[list[int]]:
        """The unread turns in pieces that a request holds."""
        part: list[int] = []
        spent = 0
        for place in self.unread:
            size = tokens.count(self.session.turns[place].text)
            if part and spent + size > MOST:
                yield part
                part, spent = [], 0
            part.append(place)
            spent += size
        if part:
            yield part

    def _claims(self, part: list[int]) -> list[Claim]:
        """What the model notes of some turns, asked twice."""
        keep = tool("keep", "Keep what is worth knowing of a conversation.", "facts", _FACT, episode=episodes.FORM)
        asked = request("consolidate", self._told(part))
        reply = filled(self.model, asked, keep)
        answered = objects(reply, "facts")
        if answered is None:
            said = one_line(reply.text, 80)
            raise ModelError(f"{self.model.name} answered with no facts that can be read: {said or 'nothing'}")
        self._cut(reply)
        for entry in (objects(reply, "episode") or [])[:1]:
            self.episode = episodes.borne_out(entry, self.session, self.model.name)
        claims = self._checked(answered, part)
        noted = "\n".join(f"- {claim.text}" for claim in claims) or "(none)"
        again = prompt.template("reflect").strip().replace("{facts}", noted)
        asked += [{"role": "assistant", "content": noted}, {"role": "user", "content": again}]
        try:
            reply = filled(self.model, asked, keep)
        except ModelError as error:
            self.notes.append(f"nothing was asked for twice: {error}")
            return claims
        self._cut(reply)
        texts = {claim.text for claim in claims}
        more = self._checked(objects(reply, "facts") or [], part)
        return claims + [claim for claim in more if claim.text not in texts]

    def _cut(self, reply: Reply) -> None:
        if reply.finish == "length":
            self.notes.append(f"{self.model.name} was cut off; what it had said whole by then is kept")

    def _told(self, part: list[int]) -> str:
        """The turns as the model reads them, with those before."""
        first = self.session.turns[part[0]]
        before = self.session.turns[max(0, part[0] - BEFORE) : part[0]]
        lines = [f"The conversation of {first.day:%A %d %B %Y}. Who speaks: {', '.join(self.session.speakers)}."]
        summary = running.read(self.known.user, self.session.path, sessions.passages(self.session.memory))
        if summary.turns and summary.turns <= part[0]:
            lines += ["What was said before, in short:", prompt.data("summary", redact(summary.text)[0])]
        before_this = self.session.memory.episode
        if so_far := self.episode.text or (before_this.text if before_this.by else ""):
            lines += ["The episode so far:", prompt.data("episode", redact(so_far, self.session.own)[0])]
        if before:
            lines += ["Turns before:", prompt.data(self.session.path, "\n".join(map(_line, before)))]
        new = "\n".join(_line(self.session.turns[place]) for place in part)
        return "\n".join([*lines, "New turns:", prompt.data(self.session.path, new)])

    def _checked(self, answered: list[dict[str, Any]], part: Collection[int]) -> list[Claim]:
        """The facts that the turns bear out, as claims; the others are dropped with a reason."""
        claims = []
        for entry in answered:
            found = verification.verify(entry, self.session, part)
            if isinstance(found, Claim):
                claims.append(found._replace(states=self.known.states(found.text), retold_by=self.model.name))
            else:
                self.dropped.append(found)
        return claims

    # -- beside what is known ------------------------------------------------------------------------------------

    def _compared(self, claims: list[Claim]) -> list[Claim]:
        """The claims with the model's word on those that code cannot decide and that have something like them."""
        open_ones: list[int] = []
        memories: dict[str, Fact] = {}
        for number, claim in enumerate(claims):
            alike = [fact for _, fact in self.known.similar(claim.text, SIMILAR)]
            verdict = compare(claim, self.known) if alike else None
            grows = verdict and verdict.action == UPDATE and adds_detail(verdict.facts[0], claim)
            if verdict and (grows or verdict.action == ADD):
                open_ones.append(number)
                memories.update((fact.path, fact) for fact in alike)
        if not open_ones:
            return claims
        facts = list(memories.values())
        for number, (action, path, text) in self._decisions([claims[number] for number in open_ones], facts).items():
            claim = claims[open_ones[number]]
            merged = (
                verification.merged(text, memories[path], claim, self.session.own) if text and action == UPDATE else ""
            )
            claims[open_ones[number]] = claim._replace(meant=(action, path), merged=merged)
        return claims

    def _decisions(self, claims: list[Claim], facts: list[Fact]) -> dict[int, tuple[str, str, str]]:
        """What the model means by the claim's place: an action, a memory's path, its new text; nothing where it fails."""
        new = "\n".join(f"{number}. {claim.text}" for number, claim in enumerate(claims, 1))
        old = "\n".join(f"M{number} ({fact.since}): {fact.text}" for number, fact in enumerate(facts, 1))
        old = redact(old, self.session.own)[0]
        asked = request("compare", f"New facts:\n{prompt.data('new', new)}\nMemories:\n{prompt.data('known', old)}")
        decide = tool("decide", "Say what is to be done about each new fact.", "decisions", _DECISION)
        try:
            answered = objects(filled(self.model, asked, decide), "decisions")
        except ModelError as error:
            self.notes.append(f"compared by the offline rules: {error}")
            return {}
        if answered is None:
            self.notes.append(f"compared by the offline rules: {self.model.name} gave no decisions that can be read")
        found: dict[int, tuple[str, str, str]] = {}
        for entry in answered or []:
            self._take(entry, len(claims), facts, found)
        return found

    def _take(
        self, entry: dict[str, Any], claims: int, facts: list[Fact], found: dict[int, tuple[str, str, str]]
    ) -> None:
        """Apply one decision, where the fact and the memory that it names exist."""
        place, action = verification.whole(entry.get("fact")), str(entry.get("action", "")).upper()
        memory = verification.whole(str(entry.get("memory") or "").lstrip("mM"))
        if not 1 <= place <= claims or action not in _ACTIONS:
            self.notes.append(f"a decision of {self.model.name} makes no sense: {one_line(str(entry), 80)}")
        elif action == ADD:
            found[place - 1] = (ADD, "", "")
        elif 1 <= memory <= len(facts):
            found[place - 1] = (action, facts[memory - 1].path, str(entry.get("text") or ""))
        else:
            self.notes.append(f"{self.model.name} names a memory that it was not shown: {one_line(str(entry), 80)}")


def _line(said: SessionTurn) -> str:
    return f"[{said.line}] {said.speaker}: {' '.join(said.text.split())}"
