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
from functools import cache
from itertools import groupby, pairwise
from typing import NamedTuple

from filemem.text import tables
from filemem.text.terms import simplified

API_KEY = "api key"
TOKEN = "token"
PRIVATE_KEY = "private key"
PASSWORD = "password"
CODE = "code"
CARD = "card number"
ACCOUNT = "bank account"
NATIONAL_ID = "national id"
KINDS = (API_KEY, TOKEN, PRIVATE_KEY, PASSWORD, CODE, CARD, ACCOUNT, NATIONAL_ID)

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


def redact(text: str) -> tuple[str, list[Redaction]]:
    """Replace every secret by `[redacted: kind]`.

    Returns:
        The text, all else in it character by character as it was, and what was
        taken out, in order.
    """
    folded = text
    if not text.isascii():
        folded = simplified(text.translate(_one_for_one()))
    done = [match.span() for match in REDACTED.finditer(folded)]
    shadow = _blank_out(folded, done)
    found: list[Redaction] = []
    while True:  # what is taken out can lay bare what stood before it
        before = len(found)
        for form in _forms():
            spans = list(form.find(shadow))
            if spans:
                found += [Redaction(form.kind, start, end) for start, end in spans]
                shadow = _blank_out(shadow, spans)
        if len(found) == before:
            break
    found.sort(key=lambda one: one.start)
    pieces: list[str] = []
    end = 0
    for one in found:
        pieces += [text[end : one.start], f"[redacted: {one.kind}]"]
        end = one.end
    return "".join([*pieces, text[end:]]), found


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


@cache
def _one_for_one() -> dict[int, str]:
    """Map full-width letters, digits and signs, and the many dashes and spaces.

    Each is one character for one, so that places in the text stay what they are.
    """
    signs = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz:=-@_"
    table = {ord(sign) + 0xFEE0: sign for sign in signs}
    for dash in [*range(0x2010, 0x2016), 0x2212]:
        table[dash] = "-"
    for blank in [0xA0, *range(0x2000, 0x200B), 0x202F, 0x3000]:
        table[blank] = " "
    return table


# -- the table -------------------------------------------------------------------------

_pattern = tables.Patterns("secret-patterns.txt")


@dataclass(frozen=True)
class Form:
    """A form of secrets: the surest stand first in the table.

    Attributes:
        kind: what a secret of this form is called, one of KINDS.
        anchors: texts in lower case of which a text must hold one; none: any text.
        check: what the value must be.
        pattern: a pattern of the table, whose last group that takes part is the value.
    """

    kind: str
    anchors: tuple[str, ...]
    check: Check
    pattern: str

    def find(self, text: str) -> Iterator[Span]:
        """Yield where values of this form stand in a text, in order, none overlapping.

        A match whose value fails the check is looked at again one character later.
        """
        lower = text.lower()
        if self.anchors and not any(anchor in lower for anchor in self.anchors):
            return
        pattern = _pattern(self.pattern)
        at = 0
        while match := pattern.search(text, at):
            start, end = match.span(match.lastindex or 0)
            rest = text[match.end() : match.end() + CONTEXT_CHARS]
            if start < end and self.check(text[start:end], rest):
                yield start, end
                at = end
            else:
                at = match.start() + 1


@dataclass(frozen=True)
class NumberForm:
    """A form that arithmetic tells, or a list of words.

    Attributes:
        kind: what a secret of this form is called, one of KINDS.
        find: yields where it stands in a text.
    """

    kind: str
    find: Callable[[str], Iterator[Span]]


@cache
def _forms() -> tuple[Form | NumberForm, ...]:
    found: list[Form | NumberForm] = [NumberForm(PASSWORD, _seed_phrases)]
    for row in tables.rows("secret-patterns.txt"):
        if len(row) == 4:
            kind, anchors, check, pattern = row
            words = () if anchors == "*" else tuple(anchors.split(" "))
            found.append(
                Form(
                    kind,
                    words,
                    _CHECKS[check],
                    pattern,
                )
            )
    found += [NumberForm(ACCOUNT, _ibans), NumberForm(CARD, _cards)]
    return tuple(found)


# -- what a value must be --------------------------------------------------------------


def _is(part: str, value: str) -> bool:
    """Tell whether a value begins with a part of the table.

    Args:
        part: its name, such as `placeholder`.
        value: what stands in the text.
    """
    return _pattern(f"‹{part}›").match(value) is not None


def _looks_random(value: str) -> bool:
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


def _is_no_placeholder(value: str, rest: str) -> bool:
    return not _is("placeholder", value)


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
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    total = sum(int(digit) * by for digit, by in zip(code[:17], weights, strict=True))
    return "10X98765432"[total % 11] == code[17]


_CHECKS: dict[str, Check] = {
    "any": lambda value, rest: True,
    "random": lambda value, rest: _looks_random(value),
    "no_placeholder": _is_no_placeholder,
    "no_word": _is_no_word,
    "code": _is_code,
    "resident": _is_resident_number,
}


# -- what a check digit or a list tells; a number met by chance passes one time in ten
# to one in ninety-seven ---------------------------------------------------------------


def _ibans(text: str) -> Iterator[Span]:
    """Yield account numbers with right check digits (ISO 13616).

    Of those that begin at one place it is the longest, as what follows may look like
    more of it.
    """
    for match in _pattern("‹iban›").finditer(text):
        for end in range(match.end(), match.start() + 14, -1):
            whole = text[end - 1].isalnum() and not text[end : end + 1].isalnum()
            if whole and _is_iban(re.sub("[ -]", "", text[match.start() : end])):
                yield match.start(), end
                break


def _is_iban(code: str) -> bool:
    if not 15 <= len(code) <= 34:
        return False
    moved = code[4:] + code[:4]
    return int("".join(str(int(sign, 36)) for sign in moved)) % 97 == 1


def _cards(text: str) -> Iterator[Span]:
    """Yield card numbers in runs of digits, however these are grouped.

    Of those that begin with one group it is the longest that passes.
    """
    for run in _pattern("‹digit run›").finditer(text):
        groups = list(re.finditer("[0-9]+", run[0]))
        at = 0
        while at < len(groups):
            size = _groups_of_card([one[0] for one in groups[at : at + 19]])
            if size:
                last = groups[at + size - 1]
                yield run.start() + groups[at].start(), run.start() + last.end()
            at += max(size, 1)


def _groups_of_card(groups: list[str]) -> int:
    """Count the first groups that together are a card's number, 0 for none."""
    for size in range(len(groups), 0, -1):
        if _is_card("".join(groups[:size])):
            return size
    return 0


def _is_card(digits: str) -> bool:
    """Tell an issuer's number with its check digit (ISO/IEC 7812-1, annex B)."""
    doubled = sum(sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    total = doubled + sum(map(int, digits[::-2]))
    return total % 10 == 0 and _is("card", digits)


def _seed_phrases(text: str) -> Iterator[Span]:
    """Yield twelve words of BIP-39 or more in a row, most of them different.

    Such words restore a wallet; no other text has so many of them in a row.
    """
    for run in _pattern("‹row of words›").finditer(text):
        words = re.finditer("[A-Za-z]+", run[0])
        for is_known, group in groupby(words, lambda word: _is_seed_word(word[0])):
            row = list(group)
            different = {word[0].lower() for word in row}
            if is_known and len(row) >= SEED_PHRASE_WORDS < 2 * len(different):
                yield run.start() + row[0].start(), run.start() + row[-1].end()


def _is_seed_word(word: str) -> bool:
    return word.lower() in _seed_words()


@cache
def _seed_words() -> frozenset[str]:
    return frozenset(" ".join(tables.lines("seed-words.txt")).split())
