"""Sets of characters that a pattern can name: POSIX classes, Unicode properties, spaces and words."""

import functools
import itertools
import re
import sys
import unicodedata
from collections.abc import Iterable

Ranges = tuple[tuple[int, int], ...]

# POSIX classes are ASCII only, as in the syntax of Rust's regex crate.
_POSIX: dict[str, str] = {
    "alnum": "09AZaz", "alpha": "AZaz", "ascii": "\0\x7f", "blank": "\t\t  ", "cntrl": "\0\x1f\x7f\x7f",
    "digit": "09", "graph": "!~", "lower": "az", "print": " ~", "punct": "!/:@[`{~", "space": "\t\r  ",
    "upper": "AZ", "word": "09AZ__az", "xdigit": "09AFaf",
}  # fmt: skip

# From Scripts.txt of the Unicode Character Database, version 14.
_SCRIPTS: dict[str, Ranges] = {
    "han": (
        (0x2E80, 0x2E99), (0x2E9B, 0x2EF3), (0x2F00, 0x2FD5), (0x3005, 0x3005), (0x3007, 0x3007), (0x3021, 0x3029),
        (0x3038, 0x303B), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFA6D), (0xFA70, 0xFAD9), (0x16FE2, 0x16FE3),
        (0x16FF0, 0x16FF1), (0x20000, 0x2A6DF), (0x2A700, 0x2B738), (0x2B740, 0x2B81D), (0x2B820, 0x2CEA1),
        (0x2CEB0, 0x2EBE0), (0x2F800, 0x2FA1D), (0x30000, 0x3134A),
    ),
    "hiragana": (
        (0x3041, 0x3096), (0x309D, 0x309F), (0x1B001, 0x1B11F), (0x1B150, 0x1B152), (0x1F200, 0x1F200),
    ),
    "katakana": (
        (0x30A1, 0x30FA), (0x30FD, 0x30FF), (0x31F0, 0x31FF), (0x32D0, 0x32FE), (0x3300, 0x3357), (0xFF66, 0xFF6F),
        (0xFF71, 0xFF9D), (0x1AFF0, 0x1AFF3), (0x1AFF5, 0x1AFFB), (0x1AFFD, 0x1AFFE), (0x1B000, 0x1B000),
        (0x1B120, 0x1B122), (0x1B164, 0x1B167),
    ),
}  # fmt: skip

# Unicode's White_Space, which is ripgrep's \\s; Python's takes the separators 1c to 1f for spaces too.
SPACE: Ranges = (
    (0x09, 0x0D), (0x20, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029),
    (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000),
)  # fmt: skip

_LONG_NAMES = {
    "letter": "L", "uppercaseletter": "Lu", "lowercaseletter": "Ll", "mark": "M", "number": "N",
    "decimalnumber": "Nd", "punctuation": "P", "symbol": "S", "separator": "Z",
}  # fmt: skip

_WORDS_BEYOND: Ranges = (
    (0x10000, 0x1CFFF), (0x1D165, 0x1D1AD), (0x1D242, 0x1D244), (0x1D400, 0x1D7FF), (0x1DA00, 0x1EEFF),
    (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189), (0x1FBF0, 0x1FBF9), (0x20000, 0x3FFFF),
    (0xE0100, 0xE01EF),
)  # fmt: skip

# Combining marks, joiners, numbers such as ²: whole blocks that hold some. Emoji and Chinese are not among them.
_ODD = (
    "[\u00b2\u00b3\u00b9\u00bc-\u00be\u0300-\u036f\u0483-\u0489\u0591-\u1dff\u200c\u200d\u203f\u2040\u2054\u2070-\u2189"
    "\u2460-\u24ff\u2776-\u2793\u2cef-\u2dff\u302a-\u302f\u3099\u309a\u3192-\u3195\u3220-\u32bf\ua66f-\uabff\ufb1e"
    "\ufe00-\ufe4f\uff3f\U00010000-\U0001efff\U0001f100-\U0001f18f\U000e0100-\U000e01ef]"
)


def complement(ranges: Ranges) -> Ranges:
    starts = [0, *(high + 1 for _, high in ranges)]
    ends = [*(low - 1 for low, _ in ranges), sys.maxunicode]
    return tuple((low, high) for low, high in zip(starts, ends, strict=True) if low <= high)


def property_named(name: str) -> Ranges:
    """The characters of a general category or script, in order; empty where the name is not known."""
    plain = "".join(name.lower().split("_")).rpartition("=")[2]
    if plain in _SCRIPTS:
        return _SCRIPTS[plain]
    category = _LONG_NAMES.get(plain, name.capitalize())
    return _of_category(category) if category[:1] in tuple("LMNPSZ") else ()


@functools.cache
def _categories() -> list[tuple[int, str]]:
    """Each character that can be a letter, mark, number, punctuation, symbol or space, with its general category.

    The blocks left out have held nothing but private use and room for more since Unicode 2; the rest takes 20 ms.
    """
    codes = itertools.chain(range(0x32400), range(0xE0000, 0xE01F0))
    return [(code, unicodedata.category(chr(code))) for code in codes]


@functools.cache
def _of_category(name: str) -> Ranges:
    return _in_ranges(code for code, category in _categories() if category.startswith(name))


def _in_ranges(codes: Iterable[int]) -> Ranges:
    found: list[tuple[int, int]] = []
    for code in codes:
        if found and found[-1][1] == code - 1:
            found[-1] = (found[-1][0], code)
        else:
            found.append((code, code))
    return tuple(found)


def posix_named(name: str) -> Ranges:
    """The characters of `[:name:]` or `[:^name:]`; empty where the name is not known."""
    bounds = _POSIX.get(name.removeprefix("^"), "")
    found = tuple((ord(low), ord(high)) for low, high in zip(bounds[::2], bounds[1::2], strict=True))
    return complement(found) if found and name.startswith("^") else found


@functools.cache
def word_characters() -> Ranges:
    """Unicode's word characters (UTS 18, annex C), which are ripgrep's \\w: letters, marks, decimal digits, letter
    numbers, connectors, joiners. Beyond the first 65,536 it is whole blocks, so that it stays quick to match."""
    kinds = ("L", "M", "Nd", "Nl", "Pc")
    found = {code for code, category in _categories() if code < 0x10000 and category.startswith(kinds)}
    # The circled letters are symbols, and alphabetic all the same.
    return (*_in_ranges(sorted(found | {0x200C, 0x200D} | set(range(0x24B6, 0x24EA)))), *_WORDS_BEYOND)


def has_odd_words(text: str) -> bool:
    """Whether `text` may hold a character that is in ripgrep's \\w and not in Python's, or the other way round."""
    return not text.isascii() and _odd().search(text) is not None


@functools.cache
def _odd() -> re.Pattern[str]:
    return re.compile(_ODD)
