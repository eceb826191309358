"""Secrets taken out of text: keys, tokens, passwords, codes, card and account numbers, national ids. Pure functions.

What has a shape of its own (an issuer's prefix, a check digit) is found wherever it stands, all else beside words that tell
it, in English, Chinese, German, Spanish, Portuguese and French. The facts stand in tables under `data/`; docs/security.md
measures them.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from filemem.text.own_patterns import NONE, OwnPatterns
from filemem.text.redaction import issued, listed, near, numbers, told
from filemem.text.redaction.words import Finder, blanked, blanked_text

API_KEY, TOKEN, PRIVATE_KEY, PASSWORD, CODE = "api key", "token", "private key", "password", "code"
CARD, ACCOUNT, NATIONAL_ID, ON_REQUEST = "card number", "bank account", "national id", "on request"
OWN = "own pattern"
KINDS = (API_KEY, TOKEN, PRIVATE_KEY, PASSWORD, CODE, CARD, ACCOUNT, NATIONAL_ID, ON_REQUEST)

_DONE = rf"\[redacted: (?:{'|'.join((*KINDS, OWN))})\]"

Span = tuple[int, int]
Finds = tuple[str, Callable[[str], Iterator[Span]]]


class Redaction(NamedTuple):
    """What was taken out: its kind, one of KINDS or OWN, and where it stood in the text that was given."""

    kind: str
    start: int
    end: int


def redact(text: str, own: OwnPatterns = NONE) -> tuple[str, list[Redaction]]:
    """`text` with every secret as `[redacted: kind]`, all else character by character, and what was taken out, in order.

    `own` are patterns that a person has for what else is a secret, and for what is none.
    """
    seen = blanked_text(text, _DONE)
    blanks = [match.span() for match in re.finditer("\0+", seen)]
    found = [Redaction(OWN, start, end) for start, end in own.spans(blanked(text, blanks))]
    seen = blanked(seen, [(at.start, at.end) for at in found])
    while new := _sweep(seen):
        found += [at for at in new if not own.allows(text[at.start : at.end])]
        seen = blanked(seen, [(at.start, at.end) for at in new])
    found.sort(key=lambda at: at.start)
    pieces, done = [], 0
    for at in found:
        pieces += [text[done : at.start], f"[redacted: {at.kind}]"]
        done = at.end
    return "".join([*pieces, text[done:]]), found


def kinds(found: list[Redaction]) -> str:
    """What was taken out, in words: each kind once, in the order of the text."""
    return ", ".join(dict.fromkeys(one.kind for one in found))


def _sweep(seen: str) -> list[Redaction]:
    """What every finder finds, each not looking where one before it found something."""
    found: list[Redaction] = []
    for kind, find in _finders(seen):
        if spans := list(find(seen)):
            found += [Redaction(kind, start, end) for start, end in spans]
            seen = blanked(seen, spans)
    return sorted(found, key=lambda at: at.start)


def _finders(seen: str) -> Iterator[Finds]:
    """The finders that can find something in this text, the surest first; most need a certain word in it."""
    lower = seen.lower()
    yield PRIVATE_KEY, listed.private_keys
    yield from _beside(issued.finders(), lower)
    yield PASSWORD, listed.seed_phrases
    yield CODE, listed.recovery_codes
    yield from _beside(told.finders(), lower)
    yield from near.finders()
    if len(re.findall("[0-9]", seen)) >= numbers.FEWEST_DIGITS:
        yield from numbers.finders()
    yield ON_REQUEST, listed.asked


def _beside(finders: tuple[Finder, ...], lower: str) -> Iterator[Finds]:
    """Those whose words the text has, in lower case."""
    for finder in finders:
        if any(anchor in lower for anchor in finder.anchors):
            yield finder.kind, finder.spans
