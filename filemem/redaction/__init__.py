"""Secrets taken out of text: keys, tokens, passwords, codes, card and account numbers, national ids. Pure functions.

`redact` looks for shapes that nothing else has (a key's prefix, a check digit) and for secrets said as such, in English and
Chinese. Where a number or a word could be something else as well, it goes only beside a word that says what it is.

Every finder works on a shadow of the text: as many characters, full-width forms as ASCII, and what is already redacted as
NUL, which no pattern matches. So a place in the shadow is a place in the text, and text redacted before stays as it is. Each
pattern is bounded or starts at a word, so that the work grows with the length of the text alone.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import pairwise
from typing import NamedTuple

from filemem.redaction import checkdigits, secretwords

API_KEY, TOKEN, PRIVATE_KEY, PASSWORD, CODE = "api key", "token", "private key", "password", "code"
CARD, ACCOUNT, NATIONAL_ID = "card number", "bank account", "national id"
KINDS = (API_KEY, TOKEN, PRIVATE_KEY, PASSWORD, CODE, CARD, ACCOUNT, NATIONAL_ID)

_FEWEST_DIGITS = (
    6  # of any number that is looked for by its check digits, the identity card of Hong Kong having the fewest
)

Span = tuple[int, int]
Finder = Callable[[str], Iterator[Span]]
Accepts = Callable[[re.Match[str]], bool]


class Redaction(NamedTuple):
    """What was taken out: its kind, one of KINDS, and where it stood in the text that was given."""

    kind: str
    start: int
    end: int


def redact(text: str) -> tuple[str, list[Redaction]]:
    """`text` with every secret as `[redacted: kind]`, all else character by character, and what was taken out, in order."""
    shadow = _shadow(text)
    found: list[Redaction] = []
    while new := _sweep(shadow):
        found += new
        shadow = _blanked(shadow, [(at.start, at.end) for at in new])
    found.sort(key=lambda at: at.start)
    pieces, done = [], 0
    for at in found:
        pieces += [text[done : at.start], f"[redacted: {at.kind}]"]
        done = at.end
    return "".join([*pieces, text[done:]]), found


def _sweep(shadow: str) -> list[Redaction]:
    """What every finder finds, each not looking where one before it found something."""
    found: list[Redaction] = []
    numbers = len(re.findall("[0-9]", shadow)) >= _FEWEST_DIGITS
    for kind, find in [*_finders(), *(_number_finders() if numbers else [])]:
        if spans := list(find(shadow)):
            found += [Redaction(kind, start, end) for start, end in spans]
            shadow = _blanked(shadow, spans)
    return sorted(found, key=lambda at: at.start)


def _shadow(text: str) -> str:
    marks = "|".join(KINDS)
    done = [match.span() for match in re.finditer(rf"\[redacted: (?:{marks})\]", text)]
    return _blanked(text if text.isascii() else text.translate(_plain()), done)


def _blanked(shadow: str, spans: list[Span]) -> str:
    pieces, done = [], 0
    for start, end in spans:
        pieces += [shadow[done:start], "\0" * (end - start)]
        done = end
    return "".join([*pieces, shadow[done:]])


@cache
def _plain() -> dict[int, str]:
    """Full-width letters, digits and signs, and the many dashes and spaces, as their ASCII selves: one for one."""
    signs = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz:=-@_"
    table = {ord(sign) + 0xFEE0: sign for sign in signs}
    table.update(dict.fromkeys([*range(0x2010, 0x2016), 0x2212], "-"))
    table.update(dict.fromkeys([0xA0, *range(0x2000, 0x200B), 0x202F, 0x3000], " "))
    return table


@cache
def _finders() -> list[tuple[str, Finder]]:
    """The secrets that words or prefixes give away, each kind with a finder, the surest first; compiled when first wanted."""
    patterns: list[tuple[str, str, Accepts]] = [
        (API_KEY, secretwords.API_KEYS, _any),
        (API_KEY, secretwords.SK_KEY, _keylike),
        (TOKEN, secretwords.TOKENS, _any),
        (TOKEN, secretwords.BEARER, _keylike),
        (PASSWORD, secretwords.URL_PASSWORD, _not_placeholder),
        (API_KEY, secretwords.NAMED_KEY, _keylike),
        (PASSWORD, secretwords.SEED_PHRASE, _any),
        (PASSWORD, secretwords.PASSPHRASE, _phrase),
        (CODE, secretwords.CODE, _digits_enough),
        (CODE, secretwords.ZH_CODE, _zh_code),
        (PASSWORD, secretwords.PASSWORD_SAID, _password),
        (PASSWORD, secretwords.PASSWORD_CHANGED, _password),
        (PASSWORD, secretwords.PASSWORD_BESIDE, _strong_beside),
        (PASSWORD, secretwords.PASSWORD_AFTER, _strong_beside),
        (PASSWORD, secretwords.ZH_PASSWORD_SAID, _zh_password),
        (PASSWORD, secretwords.ZH_PASSWORD_BESIDE, _zh_beside),
    ]
    return [(PRIVATE_KEY, _private_keys), *((kind, _finder(pattern, accepts)) for kind, pattern, accepts in patterns)]


@cache
def _number_finders() -> list[tuple[str, Finder]]:
    """The same for numbers, the longest first: a part of one may happen to pass as another."""
    longest, *others = [(NATIONAL_ID, _finder(pattern, _checked_by(check))) for pattern, check in _national_ids()]
    return [longest, (ACCOUNT, _ibans), (CARD, _cards), *others]


def _finder(pattern: str, accepts: Accepts) -> Finder:
    return partial(_matching, re.compile(pattern, re.ASCII), accepts)


def _matching(pattern: re.Pattern[str], accepts: Accepts, text: str) -> Iterator[Span]:
    """Where the pattern's one group that took part stands, if accepted; else the search goes on one character later."""
    at = 0
    while match := pattern.search(text, at):
        start, end = match.span(match.lastindex or 0)
        at = match.start() + 1
        if start < end and accepts(match):
            yield start, end
            at = end


def _value(match: re.Match[str]) -> str:
    return match[match.lastindex or 0]


# -- keys and passwords ----------------------------------------------------------------------------------------------


def _any(match: re.Match[str]) -> bool:
    return True


def _keylike(match: re.Match[str]) -> bool:
    """Made by chance, not of words: letters and digits that take turns, or letters whose case does."""
    value = _value(match)
    if "://" in value or len(value) < 8:
        return False
    for run in re.findall("[A-Za-z0-9]+", value):
        turns = sum(a.isdigit() != b.isdigit() for a, b in pairwise(run))
        cases = sum(a.islower() != b.islower() for a, b in pairwise(run))
        if turns >= 3 or (turns and len(run) >= 16) or (len(run) >= 16 and cases >= 0.4 * len(run)):
            return True
    return False


def _not_placeholder(match: re.Match[str]) -> bool:
    return not re.match(secretwords.PLACEHOLDER, _value(match))


def _strong(value: str) -> bool:
    """Not a word of any sentence: four digits or more, letters with digits, or signs within."""
    core = value.rstrip("!")
    if len(core) < 4 or re.match(secretwords.TECHNICAL, core):
        return False
    digits, letters = any(map(str.isdigit, core)), any(map(str.isalpha, core))
    return (digits and (letters or core.isdigit())) or (len(core) > 4 and any(sign in core for sign in "!@#$%^&*+=~"))


def _settled(match: re.Match[str], value: str) -> bool | None:
    """What needs no look at the value's form: a placeholder or usual predicate is no password, a value in quotes is one."""
    if re.match(secretwords.PLACEHOLDER, value):
        return False
    if match.lastgroup == "quoted":
        return True
    return False if value.casefold() in secretwords.PREDICATES else None


def _password(match: re.Match[str]) -> bool:
    """A value after "password is": in quotes, strong, or a plain word that ends the clause and is no usual predicate."""
    value, rest = _value(match).rstrip("!"), match.string[match.end() : match.end() + 20]
    settled = _settled(match, value)
    if settled is not None:
        return settled
    if _strong(_value(match)):
        return not re.match(secretwords.UNIT, rest)
    return bool(re.fullmatch(secretwords.PLAIN_WORD, value) and re.match(secretwords.CLAUSE_END, rest))


def _strong_beside(match: re.Match[str]) -> bool:
    """A value beside the bare word "password", which must have both letters and digits, or five digits, or signs."""
    value = _value(match)
    if re.match(secretwords.PLACEHOLDER, value) or re.match(
        secretwords.UNIT, match.string[match.end() : match.end() + 20]
    ):
        return False
    return _strong(value) and len(value) >= (5 if value.isdigit() else 6)


def _zh_password(match: re.Match[str]) -> bool:
    """A value after 密码是: in quotes, strong, or a plain word with no Chinese that goes on after it."""
    value, rest = _value(match).rstrip("!"), match.string[match.end() : match.end() + 20]
    settled = _settled(match, value)
    if settled is not None:
        return settled
    if re.match(secretwords.ZH_UNIT, rest) or re.match(secretwords.UNIT, rest):
        return False
    return _strong(value) or bool(re.fullmatch("[A-Za-z]{3,}", value) and re.match(secretwords.ZH_CLAUSE_END, rest))


def _zh_beside(match: re.Match[str]) -> bool:
    return _strong(_value(match)) and not re.match(secretwords.ZH_UNIT, match.string[match.end() : match.end() + 20])


def _phrase(match: re.Match[str]) -> bool:
    """Words that make no sentence."""
    return secretwords.FUNCTION_WORDS.isdisjoint(re.split("[ -]", _value(match).lower()))


def _digits_enough(match: re.Match[str]) -> bool:
    """A code has three digits or more, and does not count something."""
    counts = re.match(secretwords.UNIT, match.string[match.end() : match.end() + 20])
    return not counts and sum(map(str.isdigit, _value(match))) >= 3


def _zh_code(match: re.Match[str]) -> bool:
    """A code has a digit at least, and does not count something."""
    counts = re.match(secretwords.ZH_UNIT, match.string[match.end() : match.end() + 20])
    return not counts and any(map(str.isdigit, _value(match)))


def _private_keys(text: str) -> Iterator[Span]:
    """Whole PEM blocks; of one cut short the lines that are there, before its END or after its BEGIN."""
    done, marks = 0, list(re.finditer(secretwords.PEM_MARK, text))
    for at, mark in enumerate(marks):
        if mark.start() < done:
            continue
        if mark["edge"] == "END":
            yield _lines_before(text, mark.start(), done), mark.end()
            done = mark.end()
        elif at + 1 < len(marks) and marks[at + 1]["edge"] == "END":
            done = marks[at + 1].end()
            yield mark.start(), done
        else:
            body = re.compile(secretwords.PEM_BODY).match(text, mark.end())
            done = body.end() if body else mark.end()
            yield mark.start(), done


def _lines_before(text: str, end: int, least: int) -> int:
    """Where the base64 lines that run up to `end` begin, not before `least`."""
    start = end
    while start > least:
        line = max(text.rfind("\n", least, start - 1) + 1, least)
        if not re.fullmatch(r"[\s>]*[A-Za-z0-9+/=]{8,}\s*", text[line:start]):
            break
        start = line
    return start


# -- numbers ---------------------------------------------------------------------------------------------------------


def _checked_by(check: Callable[[str], bool]) -> Accepts:
    return lambda match: check(re.sub(r"[\s./()-]", "", _value(match)).upper())


def _by_its_words(code: str) -> bool:
    """A number without a check digit, which the words beside it or its form give away."""
    return True


def _national_ids() -> list[tuple[str, Callable[[str], bool]]]:
    """Each id's pattern and the check of its digits; those that many other numbers pass stand beside their name only."""
    return [
        (secretwords.CHINESE, checkdigits.chinese_resident),
        (secretwords.SOCIAL_SECURITY, _by_its_words),
        (secretwords.NATIONAL_INSURANCE, _by_its_words),
        (secretwords.PASSPORT, _by_its_words),
        (secretwords.HONG_KONG, checkdigits.hong_kong),
        (secretwords.TAIWAN, checkdigits.taiwan),
        (secretwords.SINGAPORE, checkdigits.singapore),
        (secretwords.KOREAN, checkdigits.korean),
        (secretwords.JAPANESE, checkdigits.japanese),
        (secretwords.AADHAAR, checkdigits.verhoeff),
        (secretwords.SPANISH, checkdigits.spanish),
        (secretwords.PORTUGUESE, checkdigits.portuguese),
        (secretwords.BRAZILIAN, checkdigits.brazilian),
        (secretwords.FRENCH, checkdigits.french),
        (secretwords.ITALIAN, checkdigits.italian),
        (secretwords.POLISH, checkdigits.polish),
        (secretwords.DUTCH, checkdigits.dutch),
        (secretwords.CANADIAN, checkdigits.luhn),
    ]


def _ibans(text: str) -> Iterator[Span]:
    """Account numbers with their country's length and right check digits, in groups or in one piece."""
    for match in re.finditer(secretwords.IBAN, text):
        length = checkdigits.iban_length(match[1][:2].upper())
        places = [at for at, char in enumerate(match[1]) if char.isalnum()][:length]
        if length and len(places) == length:
            end = match.start(1) + places[-1] + 1
            code = "".join(match[1][at] for at in places).upper()
            if not text[end : end + 1].isalnum() and checkdigits.iban(code):
                yield match.start(1), end


def _cards(text: str) -> Iterator[Span]:
    """Card numbers in runs of digits that are grouped in any way, each from the first digit of a group to the last of one."""
    for run in re.finditer(secretwords.DIGIT_RUN, text):
        if run.end() - run.start() < 13:
            continue
        groups = [group.span() for group in re.finditer("[0-9]+", text[run.start() : run.end()])]
        before = text[max(0, run.start() - 40) : run.start()].rpartition("\0")[2]
        named = re.search(secretwords.CARD_WORD, before) is not None
        first = last = 0
        while first < len(groups):
            # Inside a long row of fours, as a parcel's number is, four of the groups are no card.
            begins = named or first == last or groups[first - 1][1] - groups[first - 1][0] != 4
            count = _card_groups(run[0], groups, first, named) if begins else 0
            if count:
                last = first + count
                yield run.start() + groups[first][0], run.start() + groups[last - 1][1]
            first += count or 1


def _card_groups(run: str, groups: list[Span], first: int, named: bool) -> int:
    """How many groups from `first` on make up one card number, at most; 0 where they do not begin one."""
    digits, sizes, found = "", [], 0
    for count, (start, end) in enumerate(groups[first : first + 19], 1):
        digits += run[start:end]
        sizes.append(end - start)
        if len(digits) > 19:
            break
        whole = first + count == len(groups) and (len(digits) > 13 or named)
        if len(digits) >= 13 and (whole or _usual_groups(sizes, named)) and checkdigits.card(digits):
            found = count
    return found


def _usual_groups(sizes: list[int], named: bool) -> bool:
    """Grouped as on a card. Thirteen digits are a barcode sooner than a Visa card of old, unless a card is named."""
    if sum(sizes) == 13:
        return named and (len(sizes) == 1 or sizes == [4, 3, 3, 3])
    fours = all(size == 4 for size in sizes[:-1]) and sizes[-1] <= 4
    return fours or len(sizes) == 1 or sizes in ([4, 6, 5], [4, 6, 4], [6, 13], [6, 10])
