"""Numbers that are secrets: national ids, bank accounts, payment cards. Found by their check digits, or beside their names.

The facts stand in `data/numbers.txt`. A check says only that a number is well formed, which a number met by chance is one time
in ten to one in ninety-seven.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache, partial

from filemem.text import tables
from filemem.text.redaction.words import Finder

Span = tuple[int, int]
Check = Callable[[str], bool]
CARD, ACCOUNT, NATIONAL_ID = "card number", "bank account", "national id"
# Of any number that is looked for by its check digits, the identity card of Hong Kong having the fewest.
FEWEST_DIGITS = 6

_ALONE = r"(?<![A-Za-z0-9_])(?<![0-9][./-])"
_THEN = r"(?![A-Za-z0-9_])(?![-./][0-9])"
_DAY = (
    "(?:(?:0[13578]|1[02]) ?(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11) ?(?:0[1-9]|[12][0-9]|30)|02 ?(?:0[1-9]|[12][0-9]))"
)
_IBAN = r"(?<![A-Za-z0-9_])([A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]){11,32}|[a-z]{2}[0-9]{2}[a-z0-9]{11,30})"
_DIGIT_RUN = r"(?<![A-Za-z0-9_+])(?<![0-9]\.)[0-9]+(?:[ -]{1,3}[0-9]+)*(?![A-Za-z0-9_])(?!\.[0-9])"
_CARD_WORD = r"(?i)card|visa|卡"


@cache
def finders() -> tuple[tuple[str, Callable[[str], Iterator[Span]]], ...]:
    """A kind with a finder for each sort of number, the longest first: a part of one may happen to pass as another."""
    longest, *others = [(NATIONAL_ID, _id(*row).spans) for row in _rows("id")]
    return (longest, (ACCOUNT, _ibans), (CARD, _cards), *others)


def _rows(sort: str) -> list[tuple[str, ...]]:
    return [row[1:] for row in tables.rows("numbers.txt") if row[0] == sort]


# -- national ids ----------------------------------------------------------------------------------------------------


def _id(check: str, number: str, names: str = "") -> Finder:
    """What finds an id, behind one of its names with no other number and no line between where it has any."""
    behind = rf"(?:{names})[^0-9\n\0]{{0,30}}?" if names else ""
    then = "" if number.endswith(r"\)") else _THEN
    passes = _CHECKS[check] if check in _CHECKS else partial(has_valid_checksum, check)
    pattern = rf"{behind}{_ALONE}({number.replace('‹day›', _DAY)}){then}"
    return Finder(NATIONAL_ID, pattern, lambda match: passes(re.sub(r"[\s./()-]", "", match[1]).upper()))


def has_valid_checksum(rule: str, code: str) -> bool:
    """A number whose check characters are those that the weights of the table give, and not of one digit all through."""
    for weights, letters in (one.split("/") for one in rule.split(";")):
        factors = list(map(int, weights.split(",")))
        total = sum(int(char, 36) * factor for char, factor in zip(code, factors, strict=False))
        if code[len(factors)] != letters[total % len(letters)]:
            return False
    return len(set(code)) > 1


def luhn(digits: str) -> bool:
    """ISO/IEC 7812-1, annex B: payment cards, and the Canadian social insurance number."""
    doubled = sum(sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (doubled + sum(map(int, digits[::-2]))) % 10 == 0


def verhoeff(digits: str) -> bool:
    """Verhoeff 1969, over the dihedral group of ten elements."""
    check = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit)
        for _ in range(place % 8):
            value = (1, 5, 7, 6, 2, 8, 3, 0, 9, 4)[value]
        sign = -1 if check >= 5 else 1
        check = (check + sign * value) % 5 + 5 * ((check >= 5) != (value >= 5))
    return check == 0


def taiwan(code: str) -> bool:
    """A letter for the county, which counts as two digits, and nine digits, modulo 10."""
    county = "ABCDEFGHJKLMNPQRSTUVXYWZIO".index(code[0]) + 10
    return has_valid_checksum("1,9,8,7,6,5,4,3,2,1/0987654321", f"{county}{code[1:]}")


def french(code: str) -> bool:
    """Thirteen characters, Corsica's 2A and 2B as 19 and 18, and a key of 97 less the rest modulo 97."""
    number = int(code[:13].replace("2A", "19").replace("2B", "18"))
    return int(code[13:]) == 97 - number % 97


def italian(code: str) -> bool:
    """Fifteen characters, every other one read by a table of its own, and a check letter modulo 26."""
    odd = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
    values = [int(char) if char.isdigit() else ord(char) - 65 for char in code[:15]]
    total = sum(value if at % 2 else odd[value] for at, value in enumerate(values))
    return chr(65 + total % 26) == code[15]


def none(code: str) -> bool:
    """A number without a check digit, which the words beside it or its form give away."""
    return True


_CHECKS: dict[str, Check] = {check.__name__: check for check in (luhn, verhoeff, taiwan, french, italian, none)}


# -- bank accounts ---------------------------------------------------------------------------------------------------


def _ibans(text: str) -> Iterator[Span]:
    """Account numbers with their country's length and right check digits, in groups or in one piece."""
    for match in re.finditer(_IBAN, text):
        length = _iban_lengths().get(match[1][:2].upper(), 0)
        places = [at for at, char in enumerate(match[1]) if char.isalnum()][:length]
        if length and len(places) == length:
            end = match.start(1) + places[-1] + 1
            if not text[end : end + 1].isalnum() and _iban("".join(match[1][at] for at in places)):
                yield match.start(1), end


@cache
def _iban_lengths() -> dict[str, int]:
    return {entry[:2]: int(entry[2:]) for (entries,) in _rows("iban") for entry in re.findall(r"[A-Z]{2}\d\d", entries)}


def _iban(code: str) -> bool:
    """ISO 13616: the country and check digits moved behind the rest, letters as 10 to 35, modulo 97 is 1."""
    return int("".join(str(int(char, 36)) for char in code[4:] + code[:4])) % 97 == 1


# -- payment cards ---------------------------------------------------------------------------------------------------


def card(digits: str, *, named: bool = False) -> bool:
    """A payment card: 13 to 19 digits, an issuer's prefix with a length that it issues, and Luhn's check digit, which one that
    is `named` a card may lack from 16 digits on, as it may be mistyped."""
    issued = any(
        len(digits) in lengths and int(digits[: len(str(prefixes[0]))]) in prefixes for prefixes, lengths in _issued()
    )
    return issued and (luhn(digits) or (named and len(digits) >= 16))


@cache
def _issued() -> list[tuple[range, range]]:
    """Prefixes, and the lengths of the cards that have one."""
    return [
        (_range(prefix), _range(length))
        for prefixes, lengths, _ in _rows("card")
        for prefix in prefixes.split()
        for length in lengths.split()
    ]


def _range(spelt: str) -> range:
    first, _, last = spelt.partition("-")
    return range(int(first), int(last or first) + 1)


def _cards(text: str) -> Iterator[Span]:
    """Card numbers in runs of digits that are grouped in any way, each from the first digit of a group to the last of one."""
    for run in re.finditer(_DIGIT_RUN, text):
        if run.end() - run.start() < 13:
            continue
        groups = [group.span() for group in re.finditer("[0-9]+", text[run.start() : run.end()])]
        before = text[max(0, run.start() - 40) : run.start()].rpartition("\0")[2]
        named = re.search(_CARD_WORD, before) is not None
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
        if len(digits) >= 13 and (whole or _usual_groups(sizes, named)) and card(digits, named=named):
            found = count
    return found


def _usual_groups(sizes: list[int], named: bool) -> bool:
    """Grouped as on a card. Thirteen digits are a barcode sooner than a Visa card of old, unless a card is named."""
    if sum(sizes) == 13:
        return named and (len(sizes) == 1 or sizes == [4, 3, 3, 3])
    fours = all(size == 4 for size in sizes[:-1]) and sizes[-1] <= 4
    return fours or len(sizes) == 1 or sizes in ([4, 6, 5], [4, 6, 4], [6, 13], [6, 10])
