"""Secrets that a check digit tells: payment cards, bank accounts, China's identity numbers, seed phrases. Pure functions.

A check says only that a number is well formed, which a number met by chance is one time in ten to one in ninety-seven.
"""

import hashlib
import re
from collections.abc import Iterator
from functools import cache

from filemem.text import tables

Span = tuple[int, int]
_SEED_SIZES = (24, 21, 18, 15, 12)  # words of a seed phrase (BIP-39)

_IBAN = r"(?<![A-Za-z0-9_])([A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]){11,32}|[a-z]{2}[0-9]{2}[a-z0-9]{11,30})"
_DIGIT_RUN = re.compile(r"(?<![A-Za-z0-9_+])(?<![0-9]\.)[0-9]+(?:[ -]{1,3}[0-9]+)*(?![A-Za-z0-9_])(?!\.[0-9])")
# American Express; Diners Club; Visa; Mastercard; Maestro; Discover, UnionPay, RuPay, Mir, JCB, ICBC.
_CARD = re.compile(
    r"3[47]\d{13}|3(?:0[0-5]\d|[689]\d\d)\d{10,15}|4\d{12}(?:\d{3}){0,2}|(?:5[1-5]\d\d|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720))\d{12}"
    r"|(?:50(?:18|20|38)|5893|6304|67(?:59|6[1-3]))\d{9,15}|(?:6[0245]\d\d|8[12]\d\d|220[0-4]|35(?:2[89]|[3-8]\d)|9558)\d{12,15}"
)
_WORDS = re.compile(
    r"(?<![A-Za-z])[A-Za-z]{3,8}(?:[\s,;]{1,4}(?:\d{1,2}[.)]\s?)?[A-Za-z]{3,8}(?![A-Za-z])){11,}", re.ASCII
)


def resident(code: str) -> bool:
    """GB 11643-1999: seventeen digits and the check character of ISO 7064 MOD 11-2."""
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    return "10X98765432"[sum(int(digit) * by for digit, by in zip(code[:17], weights, strict=True)) % 11] == code[17]


def ibans(text: str) -> Iterator[Span]:
    """Account numbers with right check digits (ISO 13616), in groups or in one piece: the longest that pass, to a word's end."""
    for match in re.finditer(_IBAN, text):
        places = [at for at, char in enumerate(match[1]) if char.isalnum()]
        for length in range(min(34, len(places)), 14, -1):
            end = match.start(1) + places[length - 1] + 1
            code = "".join(match[1][at] for at in places[:length])
            if not text[end : end + 1].isalnum() and _iban(code):
                yield match.start(1), end
                break


def _iban(code: str) -> bool:
    """The country and check digits moved behind the rest, letters as 10 to 35, modulo 97 is 1."""
    return int("".join(str(int(char, 36)) for char in code[4:] + code[:4])) % 97 == 1


# -- payment cards ---------------------------------------------------------------------------------------------------


def cards(text: str) -> Iterator[Span]:
    """Card numbers in runs of digits that are grouped in any way, each from the first digit of a group to the last of one."""
    for run in _DIGIT_RUN.finditer(text):
        groups = [group.span() for group in re.finditer("[0-9]+", run[0])]
        before = text[max(0, run.start() - 40) : run.start()].rpartition("\0")[2]
        named = re.search("(?i)card|visa|卡", before) is not None
        first = last = 0
        while first < len(groups):
            # Inside a long row of fours, as a parcel's number is, four of the groups are no card.
            begins = named or first == last or groups[first - 1][1] - groups[first - 1][0] != 4
            count = _card_groups(run[0], groups[first : first + 19], first + 19 >= len(groups), named) if begins else 0
            if count:
                last = first + count
                yield run.start() + groups[first][0], run.start() + groups[last - 1][1]
            first += count or 1


def _card_groups(run: str, groups: list[Span], to_end: bool, named: bool) -> int:
    """How many groups make up one card number, at most, the last of them being the run's last or not; 0 where they do not.

    A whole run may be grouped in any way, a part of one as on a card. Thirteen digits are a barcode sooner than a Visa card of
    old, unless a card is named. One that is named may lack the check digit from 16 digits on, as it may be mistyped.
    """
    found = 0
    for count in range(1, len(groups) + 1):
        parts = [run[start:end] for start, end in groups[:count]]
        digits, sizes = "".join(parts), "-".join(str(len(part)) for part in parts)
        whole = to_end and count == len(groups)
        usual = whole or re.fullmatch(r"(?:4-)*[1-4]|\d+|4-3-3-3|4-6-[45]|6-1[03]", sizes)
        right = _CARD.fullmatch(digits) and (_luhn(digits) or (named and len(digits) >= 16))
        if right and usual and (named or len(digits) > 13):
            found = count
        if len(digits) > 19:
            break
    return found


def _luhn(digits: str) -> bool:
    """ISO/IEC 7812-1, annex B."""
    doubled = sum(sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (doubled + sum(map(int, digits[::-2]))) % 10 == 0


# -- seed phrases ----------------------------------------------------------------------------------------------------


def seed_phrases(text: str) -> Iterator[Span]:
    """Twelve words of BIP-39 or more, numbered or not, with its checksum, which one row of its words in sixteen has by chance."""
    for run in _WORDS.finditer(text):
        words = list(re.finditer("[A-Za-z]+", run[0]))
        places = [_places().get(word[0].lower(), -1) for word in words]
        first = 0
        while first + 12 <= len(words):
            size = next((size for size in _SEED_SIZES if _checksum(places[first : first + size], size)), 0)
            if size:
                yield run.start() + words[first].start(), run.start() + words[first + size - 1].end()
            first += size or 1


def _checksum(places: list[int], size: int) -> bool:
    """BIP-39: eleven bits a word; the last bits, one for three words, are the first of the SHA-256 of all before."""
    if len(places) != size or -1 in places:
        return False
    bits = "".join(f"{place:011b}" for place in places)
    split = len(bits) * 32 // 33
    entropy = int(bits[:split], 2).to_bytes(split // 8, "big")
    return f"{hashlib.sha256(entropy).digest()[0]:08b}".startswith(bits[split:])


@cache
def _places() -> dict[str, int]:
    """Where each word of BIP-39 stands in its list."""
    return {word: place for place, word in enumerate(" ".join(tables.lines("seed-words.txt")).split())}
