"""Keep one fact on request, in the words in which it was told."""

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
from filemem.remembering import consolidation
from filemem.remembering.consolidation import BatchPlan
from filemem.remembering.consolidation_log import ConsolidationLog
from filemem.remembering.supersession import ADD, SUPERSEDE, UPDATE, Claim, Decision, KnownMemories
from filemem.text.own_patterns import OwnPatterns
from filemem.text.plain import printable
from filemem.text.redaction import kinds, redact

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
) -> Remembered:
    """Keep one fact of the day of `at`, said at `source` (`path:line`), if in a conversation; raises FilememError for empty
    text or a wrong importance.

    Secrets are taken out, which a note says, unless `with_secrets` or the store's settings keep them. Told again it stays
    one memory, with the importance, pin and tags that are given now.
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
        )
        one = KnownMemories(user, ConsolidationLog(user)).decided(claim)
        done = consolidation.apply(user, BatchPlan((), at.isoformat(), (one,)))
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
    return [f"Knew that already: {one.path}"]


def subject(decisions: Sequence[Decision], paths: Iterable[str]) -> str:
    """What a person would write of a consolidation that wrote these memories."""
    written = [one for one in decisions if one.action in (ADD, SUPERSEDE)]
    if len(written) == 1:
        return f"Learn: {written[0].claim.text}"
    if written:
        return f"Learn {len(written)} facts"
    if any(one.action == UPDATE for one in decisions):
        return "Confirm what was known"
    return (
        "Sum up what was said" if all(kind_of(path) == "sessions" for path in paths) else "Bring the profile up to date"
    )
