"""Numbers that are secrets: national ids, bank accounts, payment cards. Found by their check digits, or beside their names."""

import re
from collections.abc import Callable, Iterator
from functools import cache, partial

from filemem.text.redaction import checkdigits

Span = tuple[int, int]
Finder = Callable[[str], Iterator[Span]]
CARD, ACCOUNT, NATIONAL_ID = "card number", "bank account", "national id"

FEWEST_DIGITS = (
    6  # of any number that is looked for by its check digits, the identity card of Hong Kong having the fewest
)

_ALONE = r"(?<![A-Za-z0-9_])(?<![0-9][./-])"
_THEN = r"(?![A-Za-z0-9_])(?![-./][0-9])"


def _named(words: str, number: str) -> str:
    """The number behind one of the words that name it, with no other number and no line between."""
    return rf"(?:{words})[^0-9\n\0]{{0,30}}?{_ALONE}({number}){_THEN}"


_CHINESE = rf"{_ALONE}([1-9][0-9]{{5}} ?(?:19|20)[0-9]{{2}} ?[01][0-9] ?[0-3][0-9] ?[0-9]{{3}}[0-9Xx]){_THEN}"
_SOCIAL_SECURITY = rf"{_ALONE}((?!000|666|9)[0-9]{{3}}-(?!00)[0-9]{{2}}-(?!0000)[0-9]{{4}}){_THEN}|" + _named(
    r"(?i:\bssn|\bsocial\s+security|\bitin)|社会安全号码?|社安号", r"[0-9]{3}[ -]?[0-9]{2}[ -]?[0-9]{4}"
)
_NATIONAL_INSURANCE = (
    rf"{_ALONE}((?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z](?: ?[0-9]{{2}}){{3}} ?[A-D]){_THEN}"
)
_PASSPORT = _named(
    r"(?i:\bpassport\s+(?:number|no\.?|num|#|is(?=\s+[A-Z]{0,2}[0-9])))|护照号码?", r"[A-Za-z]{0,2}[0-9]{6,9}"
)
_HONG_KONG = rf"{_ALONE}([A-Z]{{1,2}}[0-9]{{6}} ?\([0-9A]\))"
_TAIWAN = (
    r"(?:身[份分]证|统一编号|統一編号|(?i:taiwan(?:ese)? id))[^0-9A-Z\n\0]{0,20}([A-Z][1289][0-9]{8})(?![A-Za-z0-9])"
)
_SINGAPORE = rf"{_ALONE}([STFGM][0-9]{{7}}[A-Z]){_THEN}"
_KOREAN = rf"{_ALONE}([0-9]{{2}}[01][0-9][0-3][0-9]-[1-8][0-9]{{6}}){_THEN}"
_JAPANESE = _named(r"マイナンバー|個人番号|(?i:\bmy number)", r"[0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{4}")
_AADHAAR = _named(r"(?i:\baadh?aa?r|\buidai?\b)|आधार", r"[2-9][0-9]{3}[ -]?[0-9]{4}[ -]?[0-9]{4}")
_SPANISH = (
    rf"{_ALONE}((?:[XYZ]-?[0-9]{{7}}|[0-9]{{8}}|[0-9]{{2}}\.[0-9]{{3}}\.[0-9]{{3}})-?[TRWAGMYFPDXBNJZSQVHLCKE]){_THEN}"
)
_PORTUGUESE = _named(r"(?i:\bnif\b|contribuinte)", r"[1-9][0-9]{2} ?[0-9]{3} ?[0-9]{3}")
_BRAZILIAN = rf"{_ALONE}([0-9]{{3}}\.[0-9]{{3}}\.[0-9]{{3}}-[0-9]{{2}}){_THEN}|" + _named(
    r"(?i:\bcpf\b)", r"[0-9]{11}|[0-9]{9}-[0-9]{2}"
)
_FRENCH = (
    rf"{_ALONE}([12] ?[0-9]{{2}} ?(?:0[1-9]|1[0-2]|[2-4][0-9])"
    rf" ?(?:[0-9]{{2}}|2[AB])(?: ?[0-9]{{3}}){{2}} ?[0-9]{{2}}){_THEN}"
)
_ITALIAN = rf"{_ALONE}([A-Z]{{6}}[0-9]{{2}}[A-EHLMPR-T][0-7][0-9][A-Z][0-9]{{3}}[A-Z]){_THEN}"
_POLISH = _named(r"(?i:\bpesel)", r"[0-9]{11}")
_DUTCH = _named(r"(?i:\bbsn\b|burgerservicenummer|sofinummer)", r"[0-9]{9}|[0-9]{4}[. ][0-9]{2}[. ][0-9]{3}")
_CANADIAN = _named(r"\bSIN\b|(?i:\bsocial\s+insurance)", r"[0-9]{3}[ -]?[0-9]{3}[ -]?[0-9]{3}")
_IBAN = r"(?<![A-Za-z0-9_])([A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]){11,32}|[a-z]{2}[0-9]{2}[a-z0-9]{11,30})"
_DIGIT_RUN = r"(?<![A-Za-z0-9_+])(?<![0-9]\.)[0-9]+(?:[ -]{1,3}[0-9]+)*(?![A-Za-z0-9_])(?!\.[0-9])"
_CARD_WORD = r"(?i)card|visa|卡"


@cache
def finders() -> tuple[tuple[str, Finder], ...]:
    """A kind with a finder for each sort of number, the longest first: a part of one may happen to pass as another."""
    longest, *others = [
        (NATIONAL_ID, partial(_checked, re.compile(pattern, re.ASCII), check)) for pattern, check in _ids()
    ]
    return (longest, (ACCOUNT, _ibans), (CARD, _cards), *others)


def _checked(pattern: re.Pattern[str], check: Callable[[str], bool], text: str) -> Iterator[Span]:
    """Where the group of a match stands, if its digits pass the check; else the search goes on one character later."""
    at = 0
    while match := pattern.search(text, at):
        group = match.lastindex or 0
        at = match.start() + 1
        if check(re.sub(r"[\s./()-]", "", match[group]).upper()):
            yield match.span(group)
            at = match.end(group)


def _by_its_words(code: str) -> bool:
    """A number without a check digit, which the words beside it or its form give away."""
    return True


def _ids() -> list[tuple[str, Callable[[str], bool]]]:
    """Each id's pattern and the check of its digits; those that many other numbers pass stand beside their name only."""
    return [
        (_CHINESE, checkdigits.chinese_resident),
        (_SOCIAL_SECURITY, _by_its_words),
        (_NATIONAL_INSURANCE, _by_its_words),
        (_PASSPORT, _by_its_words),
        (_HONG_KONG, checkdigits.hong_kong),
        (_TAIWAN, checkdigits.taiwan),
        (_SINGAPORE, checkdigits.singapore),
        (_KOREAN, checkdigits.korean),
        (_JAPANESE, checkdigits.japanese),
        (_AADHAAR, checkdigits.verhoeff),
        (_SPANISH, checkdigits.spanish),
        (_PORTUGUESE, checkdigits.portuguese),
        (_BRAZILIAN, checkdigits.brazilian),
        (_FRENCH, checkdigits.french),
        (_ITALIAN, checkdigits.italian),
        (_POLISH, checkdigits.polish),
        (_DUTCH, checkdigits.dutch),
        (_CANADIAN, checkdigits.luhn),
    ]


def _ibans(text: str) -> Iterator[Span]:
    """Account numbers with their country's length and right check digits, in groups or in one piece."""
    for match in re.finditer(_IBAN, text):
        length = checkdigits.iban_length(match[1][:2].upper())
        places = [at for at, char in enumerate(match[1]) if char.isalnum()][:length]
        if length and len(places) == length:
            end = match.start(1) + places[-1] + 1
            code = "".join(match[1][at] for at in places).upper()
            if not text[end : end + 1].isalnum() and checkdigits.iban(code):
                yield match.start(1), end


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
        if len(digits) >= 13 and (whole or _usual_groups(sizes, named)) and checkdigits.card(digits):
            found = count
    return found


def _usual_groups(sizes: list[int], named: bool) -> bool:
    """Grouped as on a card. Thirteen digits are a barcode sooner than a Visa card of old, unless a card is named."""
    if sum(sizes) == 13:
        return named and (len(sizes) == 1 or sizes == [4, 3, 3, 3])
    fours = all(size == 4 for size in sizes[:-1]) and sizes[-1] <= 4
    return fours or len(sizes) == 1 or sizes in ([4, 6, 5], [4, 6, 4], [6, 13], [6, 10])
