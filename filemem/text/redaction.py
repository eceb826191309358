"""Secrets taken out of text: keys, tokens, passwords, codes, card and account numbers.

A secret is known by its form alone: an issuer's prefix, a check digit, a place in an
address or a command, or a label before a value (`password: …`, "the gate code is …",
密码是…) where the value has a digit or a sign in it or looks random. What a sentence
means is nobody's matter here. The forms stand in `data/secret-patterns.txt`;
docs/security.md measures them. Pure functions.

Forms are looked for in a shadow that has as many characters as the text: full-width
forms and traditional Chinese are folded one for one, and what is already redacted is
NUL, which no pattern matches. Patterns are for re.ASCII, so that a Chinese character
ends a word, and without case but in (?-i:). A match begins at a word, and what repeats
is bounded, so that the work grows with the length of the text alone.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from typing import NamedTuple

from filemem.text import tables
from filemem.text.terms import simplified

KINDS = (
    "api key",
    "token",
    "private key",
    "password",
    "code",
    "card number",
    "bank account",
    "national id",
)

REDACTED = re.compile(rf"\[redacted: (?:{'|'.join(KINDS)})\]")
SEED_PHRASE_WORDS = 12
CONTEXT_CHARS = 24  # that are looked at behind a value

Span = tuple[int, int]
Check = Callable[[str, str], bool]  # of a value, and of what follows it


class Redaction(NamedTuple):
    """What was taken out: its kind, one of KINDS, and where it stood in the text."""

    kind: str
    start: int
    end: int


class Cleaned(NamedTuple):
    """A text as it may be kept, and the secrets that were taken out, in order."""

    text: str
    secrets: list[Redaction]


def redact(text: str) -> Cleaned:
    """Replace every secret by `[redacted: kind]`.

    All else in the text stays, character by character.
    """
    shadow = text
    if not text.isascii():
        shadow = simplified(text.translate(_ONE_FOR_ONE))
    done = [match.span() for match in REDACTED.finditer(shadow)]
    shadow = _blank_out(shadow, done)
    found: list[Redaction] = []
    is_clean = False
    while not is_clean:  # what is taken out can lay bare what stood before it
        is_clean = True
        for form in _possible(shadow):
            spans = list(form.find(shadow))
            if spans:
                is_clean = False
                found += [Redaction(form.kind, *span) for span in spans]
                shadow = _blank_out(shadow, spans)
    found.sort(key=lambda one: one.start)
    clean = text
    for one in reversed(found):
        clean = f"{clean[: one.start]}[redacted: {one.kind}]{clean[one.end :]}"
    return Cleaned(clean, found)


def kinds(found: list[Redaction]) -> str:
    """Name what was taken out, for a person: `token, card number`.

    Args:
        found: what `redact` returned; each kind is named once, in the text's order.
    """
    return ", ".join(dict.fromkeys(one.kind for one in found))


def _blank_out(text: str, spans: list[Span]) -> str:
    """Put NUL in the place of every character of the spans.

    No pattern matches NUL, so that what is done is not found again.
    """
    characters = list(text)
    for start, end in spans:
        characters[start:end] = "\0" * (end - start)
    return "".join(characters)


# Full-width letters, digits and signs, and the many dashes and spaces, one for one.
_WIDE = (
    "０１２３４５６７８９ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺ"
    "ａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ：＝－＠＿"
    "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
    "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u3000"
)
_PLAIN = (
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    "abcdefghijklmnopqrstuvwxyz:=-@_"
    "-------"
    "              "
)
_ONE_FOR_ONE = str.maketrans(_WIDE, _PLAIN)


# -- the table -------------------------------------------------------------------------

_pattern = partial(tables.compiled, "secret-patterns.txt")


@dataclass(frozen=True)
class Form:
    """A form of secrets: the surest stand first in the table.

    Attributes:
        kind: what a secret of this form is called, one of KINDS.
        anchors: texts in lower case of which a text must hold one; none: any text.
        check: what the value must be, a name in _CHECKS.
        pattern: a pattern of the table, whose last group that takes part is the value.
    """

    kind: str
    anchors: list[str]
    check: str
    pattern: str

    def find(self, text: str) -> Iterator[Span]:
        """Yield where values of this form stand in a text, in order, none overlapping.

        A match whose value fails the check is looked at again one character later.
        """
        pattern = _pattern(self.pattern)
        match = pattern.search(text)
        while match:
            start, end = match.span(match.lastindex or 0)
            rest = text[match.end() : match.end() + CONTEXT_CHARS]
            size = self._passing(text[start:end], rest)
            if size:
                yield start, start + size
            at = start + size if size else match.start() + 1
            match = pattern.search(text, at)

    def _passing(self, value: str, rest: str) -> int:
        """Return how many characters of a value pass the check, 0 if it fails.

        A row of groups or words may go on beyond a secret: the longest that passes is
        one.
        """
        check = _CHECKS[self.check]
        sizes = [len(value)]
        if self.check in _ROWS:
            ends = re.finditer(r"\w+", value + rest)
            sizes = [one.end() for one in ends if one.end() <= len(value)]
        passing = (size for size in reversed(sizes) if check(value[:size], rest))
        return next(passing, 0)


@cache
def _forms() -> list[Form]:
    found = []
    for row in tables.rows("secret-patterns.txt"):
        if len(row) == 4:
            kind, anchors, check, pattern = row
            words = [] if anchors == "*" else anchors.split(" ")
            found.append(Form(kind, words, check, pattern))
    return found


@cache
def _anchors() -> frozenset[str]:
    return frozenset(anchor for form in _forms() for anchor in form.anchors)


def _possible(text: str) -> Iterator[Form]:
    """Yield the forms that a text may have by their anchors, in order."""
    lower = text.lower()
    absent = {anchor for anchor in _anchors() if anchor not in lower}
    for form in _forms():
        if not (form.anchors and absent.issuperset(form.anchors)):
            yield form


# -- what a value must be --------------------------------------------------------------


def _is(part: str, value: str) -> bool:
    """Tell whether a value begins with a part of the table.

    Args:
        part: its name, such as `placeholder`.
        value: what stands in the text.
    """
    return _pattern(f"‹{part}›").match(value) is not None


def _looks_random(value: str, rest: str) -> bool:
    """Tell whether letters and digits, or capitals and small letters, take turns."""
    if len(value) < 8 or "://" in value:
        return False
    return any(_is_thrown(run) for run in re.findall("[A-Za-z0-9]+", value))


def _is_thrown(run: str) -> bool:
    """Tell whether a run of letters and digits is no word with a number."""
    to_digit = sum(a.isdigit() != b.isdigit() for a, b in pairwise(run))
    to_capital = sum(a.islower() != b.islower() for a, b in pairwise(run))
    if to_digit >= 3:
        return True
    return len(run) >= 16 and (to_digit > 0 or to_capital >= len(run) / 4)


def _is_no_word(value: str, rest: str) -> bool:
    """Tell whether what stands behind a label is a secret by its looks.

    It has a digit, or a sign among its letters. A mere number ends its clause.
    """
    core = value.rstrip("!")
    if len(core) < 4 or _is("placeholder", core) or _is("technical", core):
        return False
    if not any(map(str.isalpha, core)):
        return any(map(str.isdigit, core)) and _is("end", rest)
    return _is("mixed", core)


def _is_code(value: str, rest: str) -> bool:
    """Tell whether a value has a digit and ends its clause."""
    return re.search("[0-9]", value) is not None and _is("end", rest)


def _is_resident_number(value: str, rest: str) -> bool:
    """Check GB 11643-1999: ISO 7064 MOD 11-2 over seventeen digits."""
    code = value.replace(" ", "").upper()
    total = 0
    for digit in code[:17]:
        total = 2 * (total + int(digit))
    return "10X98765432"[total % 11] == code[17]


# A number met by chance passes one time in ten to one in ninety-seven.


def _is_iban(value: str, rest: str) -> bool:
    """Tell an account's number with right check digits (ISO 13616)."""
    code = re.sub("[ -]", "", value)
    if not 15 <= len(code) <= 34:
        return False
    moved = code[4:] + code[:4]
    return int("".join(str(int(sign, 36)) for sign in moved)) % 97 == 1


def _is_card(value: str, rest: str) -> bool:
    """Tell an issuer's number with its check digit (ISO/IEC 7812-1, annex B)."""
    digits = re.sub("[ -]", "", value)
    doubled = sum(sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    total = doubled + sum(map(int, digits[::-2]))
    return total % 10 == 0 and _is("card", digits)


def _is_seed_phrase(value: str, rest: str) -> bool:
    """Tell twelve words of BIP-39 or more, most of them different.

    Such words restore a wallet; no other text has so many of them in a row.
    """
    words = re.findall("[a-z]+", value.lower())
    is_long = len(words) >= SEED_PHRASE_WORDS < 2 * len(set(words))
    return is_long and _seed_words().issuperset(words)


@cache
def _seed_words() -> frozenset[str]:
    return frozenset(" ".join(tables.lines("seed-words.txt")).split())


_CHECKS: dict[str, Check] = {
    "any": lambda value, rest: value != "",
    "random": _looks_random,
    "no_placeholder": lambda value, rest: not _is("placeholder", value),
    "no_word": _is_no_word,
    "code": _is_code,
    "resident": _is_resident_number,
    "iban": _is_iban,
    "card": _is_card,
    "seed": _is_seed_phrase,
}
_ROWS = ("iban", "card", "seed")
"""The checks of values that are rows of groups of digits, or of words."""
