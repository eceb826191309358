"""Keep one fact on request, compared with what is known by the same rules as what is said in a conversation."""

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from filemem.errors import FilememError
from filemem.files import config
from filemem.files.facts import set_fronts
from filemem.files.folder import Folder
from filemem.files.front import quoted
from filemem.files.memory import Memory, kind_of
from filemem.files.passages import format_turn
from filemem.remembering import consolidation
from filemem.remembering.comparison import ADD, LATE, SUPERSEDE, UPDATE, Claim, FactIndex, display
from filemem.remembering.consolidation import Decision, SessionPlan
from filemem.remembering.ledger import Ledger
from filemem.text.own_patterns import OwnPatterns
from filemem.text.plain import printable
from filemem.text.redaction import kinds, redact
from filemem.text.statements import remember_request
from filemem.text.statements.relations import renamed
from filemem.text.statements.validity import validity_of

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
) -> Remembered:
    """Keep one fact of the day of `at`; raises FilememError for empty text or a wrong importance.

    Secrets are taken out, which a note says, unless `with_secrets` or the store's settings keep them. Told again it stays
    one memory, with the importance, pin and tags that are given now; told otherwise, it supersedes.
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
        book = Ledger(user)
        known = FactIndex(user, book, ())
        claim = _claim(user, body, at.date(), known)._replace(pinned=pinned, tags=tuple(tags))
        claim = claim._replace(importance=importance or claim.importance)
        one = consolidation.decided(claim, known)
        done = consolidation.apply(user, SessionPlan("", at.isoformat(), (), 0, (one,), ()))
        one = done.decisions[0] if done.decisions else one
        where = user.locate(one.path)
        if one.action not in (ADD, SUPERSEDE):
            given = {"importance": str(importance or ""), "pinned": "true" if pinned else ""}
            given["tags"] = f"[{', '.join(map(quoted, claim.tags))}]" if claim.tags else ""
            done.paths.extend(_set(user, where, {key: given[key] for key in given if given[key]}))
    return Remembered(user.memory(where), one, [*(left.paths if left else ()), *done.paths], [*notes, *done.notes])


def _without_secrets(text: str, own: OwnPatterns) -> tuple[str, list[str]]:
    """The text without secrets, and a sentence that says what they were; refused where nothing else was said."""
    clean, found = redact(text, own)
    if not found:
        return text, []
    if not re.search(r"\w", re.sub(r"\[redacted: [^]]*\]", "", clean)):
        raise FilememError(f"that is a secret and nothing else ({kinds(found)}), so it was not kept; {ON_PURPOSE}.")
    return clean, [f"Taken out: {kinds(found)}; {ON_PURPOSE}."]


def _claim(user: Folder, text: str, day: dt.date, known: FactIndex) -> Claim:
    """What the person tells, as a claim: a quotation where they say I, else the words as they are."""
    name = display(user.name)
    kind, quotes, changes = remember_request(text, name)
    since, until = validity_of(text, day)
    return Claim(
        " ".join(text.split()),
        day,
        kind="lessons" if kind.name == "instruction" else "facts",
        importance=kind.importance,
        states=known.states(text),
        valid_from=since,
        valid_until=until,
        aliases=renamed(text) or (),
        changes=changes,
        body=format_turn(name, "", text).rstrip("\n") if quotes else text,
        heading=kind.heading,
        speaker=name if quotes else "",
    )


def _set(user: Folder, path: str, front: dict[str, str]) -> list[str]:
    """Set front matter as the person wishes it now; returns the path where that changed anything."""
    try:
        return [path] if front and user.edit(path, lambda data: set_fronts(path, data, front)) else []
    except ValueError as error:
        raise FilememError(f"{path} says so already, but its front matter cannot be changed: {error}.") from None


def said(one: Decision) -> list[str]:
    """What was decided, as lines for the one who told it."""
    if one.action in (ADD, SUPERSEDE):
        return [f"Remembered {one.path}", *(f"Superseded {old}" for old in one.replaces)]
    if one.replaces:
        return [f"Remembered {one.path}; {one.reason}"]
    return [f"Knew that already: {one.path}"]


def subject(decisions: Sequence[Decision], paths: Iterable[str]) -> str:
    """What a person would write of a consolidation that wrote these memories."""
    written = [one for one in decisions if one.action in (ADD, SUPERSEDE, LATE)]
    if len(written) == 1:
        return f"Learn: {written[0].claim.text}"
    if not written:
        told_again = any(one.action == UPDATE for one in decisions)
        summed = all(kind_of(path) == "sessions" for path in paths)
        changed = "Sum up what was said" if summed else "Bring the profile up to date"
        return "Confirm what was known" if told_again else changed
    return f"Learn {len(written)} facts"
