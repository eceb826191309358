"""What a person decides themselves: one fact is kept on request, in their words, and what waits for their word is reviewed.

What consolidation would remember waits in its log until the person has accepted, changed or rejected it. So does what form
forbade a model to keep: the person may want it all the same.
"""

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from filemem.errors import FilememError, NotFound
from filemem.files import archive, config
from filemem.files.folder import Folder
from filemem.files.memory import Memory, kind_of
from filemem.remembering import consolidation, sessions
from filemem.remembering.consolidation import Applied, BatchPlan
from filemem.remembering.sessions import ConsolidationLog
from filemem.remembering.supersession import ADD, SUPERSEDE, WRITTEN, Claim, Decision, KnownMemories
from filemem.text.plain import one_line, printable
from filemem.text.redaction import OwnPatterns, kinds, redact

ASKED = 8  # importance of what a person asks to be remembered
ON_PURPOSE = "filemem remember --with-secrets keeps it all"


class Remembered(NamedTuple):
    """The memory that holds the fact, what was decided about it, the paths that changed, sentences for the person."""

    memory: Memory
    decision: Decision
    paths: list[str]
    notes: list[str]


def remember(
    user: Folder,
    text: str,
    at: dt.datetime,
    importance: int | None = None,
    pinned: bool = False,
    tags: Iterable[str] = (),
    with_secrets: bool = False,
    source: str = "",
    replaces: str = "",
) -> Remembered:
    """Keep one fact of the day of `at`, said at `source` (`path:line`), if in a conversation, superseding the fact at the path
    `replaces`, if any; raises FilememError for empty text, a wrong importance, a path that is no fact which may be superseded.

    Secrets are taken out, which a note says, unless `with_secrets` or the store's settings keep them. Told again it stays
    the memory that it was.
    """
    body = printable(text.replace("\r\n", "\n")).strip()
    if not body:
        raise FilememError("there is nothing to remember; say what, as in: filemem remember 'Prefers oolong tea.'")
    if importance is not None and not 1 <= importance <= 10:
        raise FilememError(f"importance is a whole number from 1 to 10, not {importance}.")
    keeps = with_secrets or not config.of(user).redact
    body, notes = (body, []) if keeps else _without_secrets(body, config.of(user).own)
    with user.locked():
        left = consolidation.resume(user)  # what a killed run has left is known once it is finished
        claim = Claim(
            " ".join(body.split()),
            at.date(),
            sources=(source,) if source else (),
            importance=importance or ASKED,
            pinned=pinned,
            tags=tuple(tags),
            body=body,
            action=SUPERSEDE if replaces else ADD,
            target=replaces,
        )
        known = KnownMemories(user, ConsolidationLog(user))
        old = known.live.get(replaces)
        if replaces and (old is None or old.pinned or old.since > at.date() or kind_of(replaces) != "facts"):
            why = "is no fact that holds and may be superseded; name one as a search does."
            raise NotFound(f"{one_line(replaces)} {why}")
        one = known.decided(claim)
        done = consolidation.apply(user, BatchPlan((), at.isoformat(), (one,)))
        one = done.decisions[0] if done.decisions else one
    return Remembered(
        user.memory(user.locate(one.path)), one, [*(left.paths if left else ()), *done.paths], [*notes, *done.notes]
    )


def _without_secrets(text: str, own: OwnPatterns) -> tuple[str, list[str]]:
    """The text without secrets, and a sentence that says what they were; refused where nothing else was said."""
    clean, found = redact(text, own)
    if not found:
        return text, []
    if not re.search(r"\w", re.sub(r"\[redacted: [^]]*\]", "", clean)):
        raise FilememError(f"that is a secret and nothing else ({kinds(found)}), so it was not kept; {ON_PURPOSE}.")
    return clean, [f"Taken out: {kinds(found)}; {ON_PURPOSE}."]


def said(one: Decision) -> list[str]:
    """What was decided, as lines for the one who told it."""
    if one.action in (ADD, SUPERSEDE):
        return [f"Remembered {one.path}", *(f"Superseded {old}" for old in one.replaces)]
    return [f"Knew that already: {one.path}"]


def subject(decisions: Iterable[Decision]) -> str:
    """What a person would write of a consolidation that wrote these memories."""
    written = [one for one in decisions if one.action in (ADD, SUPERSEDE)]
    if len(written) == 1:
        return f"Learn: {written[0].claim.text}"
    return f"Learn {len(written)} facts" if written else "Bring what was known up to date"


# -- review ------------------------------------------------------------------------------------------------------------


class Proposal(NamedTuple):
    """A claim that waits, why its form was refused (empty where it was not), the turns that it comes from as the sessions have
    them now (the place, who speaks and the text, empty where it is gone), and the text of the memory that it would update or
    supersede, empty where it is new."""

    claim: Claim
    because: str
    turns: tuple[tuple[str, str, str], ...]
    instead_of: str


class Review:
    """The proposals of one user that wait, oldest first; each is answered by `accept` or `reject`."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.log = ConsolidationLog(folder)
        self.known = KnownMemories(folder, self.log)

    def proposals(self) -> Iterator[Proposal]:
        """Each beside what is known when it is asked for. What is known by then is no proposal any more."""
        for origin, (entry, because) in [*self.log.proposed.items()]:
            if origin in self.log.made or origin in self.log.refused:
                continue
            try:
                claim = Claim.from_json(entry)
            except (ValueError, TypeError, KeyError):
                continue  # written by another version; its session can be read again
            if self.known.same(claim):
                self.reject(claim)
                continue
            target = self.known.live.get(claim.target)
            yield Proposal(claim, because, tuple(map(self._turn, claim.sources)), target.text if target else "")

    def _turn(self, source: str) -> tuple[str, str, str]:
        path, _, line = source.rpartition(":")
        memory = archive.read(self.folder, path)
        turns = [one for one in memory.passages if one.speaker and str(one.line) == line] if memory else []
        return (source, sessions.speaker(memory, turns[0]), turns[0].text) if memory and turns else (source, "", "")

    def accept(self, claim: Claim, at: dt.datetime, text: str = "") -> Applied:
        """Remember a claim, in the person's words where `text` is given; raises FilememError where it cannot be written."""
        if text:
            claim = claim._replace(text=text, confidence=1.0, body="", retold_by="")
        with self.folder.locked():
            decision = self.known.decided(claim)
            if decision.action not in WRITTEN:
                self.reject(claim)
                return Applied([decision], [], [])
            done = consolidation.apply(self.folder, BatchPlan((), at.isoformat(), (decision,)), self.log)
            for one in done.decisions if text else ():
                # What a person wrote is theirs: no digest is the file's, so that no job takes it for its own.
                self.log.add([{"wrote": archive.live(one.path), "digest": "", "from": []}])
        return done

    def reject(self, claim: Claim) -> None:
        """Do not remember a claim, and do not propose it again."""
        self.log.add([{"refused": list(claim.origins[0])}])
