"""Whether the words of a quote stand in a text. Pure functions.

A model misspells, puts right and leaves out; so letters and digits alone are compared,
in one form, and a quarter of a quote may be missing.
"""

import re

from filemem.text import terms

MAX_QUOTE_CHARS = 300  # that are looked for
MIN_RUN_CHARS = 6  # of a run of letters; a shorter one stands in any long text
MIN_CHINESE_RUN_CHARS = 2

_THOUSANDS = re.compile(r"(?<=\d)[,，.](?=\d{3}(?!\d))")
_COUNTED = re.compile(r"(\d+(?:\.\d+)?)\s*(thousand|k(?!\w)|million|千|万|萬)")
_FACTORS = {
    "thousand": 1_000,
    "k": 1_000,
    "million": 1_000_000,
    "千": 1_000,
    "万": 10_000,
    "萬": 10_000,
}
_BRACKETS = re.compile(r"(?<!\[)\[[^\[\]\n]*\](?!\])")


def stands_in(quote: str, text: str) -> bool:
    """Tell whether three quarters of a quote stand in a text, in runs of any order."""
    letters = comparable(quote[:MAX_QUOTE_CHARS])
    whole = comparable(text)
    size = len(letters)
    least = max(2, min(MIN_RUN_CHARS, size))
    if terms.is_chinese(letters):
        least = MIN_CHINESE_RUN_CHARS
    found = 0
    start = 0
    while start + least <= size:
        end = start + least
        if letters[start:end] not in whole:
            start += 1
            continue
        while end < size and letters[start : end + 1] in whole:
            end += 1
        found += end - start
        start = end
    return size > 1 and 4 * found > 3 * size


def comparable(text: str) -> str:
    """Reduce a text to its letters and digits, whatever their width, case or accents.

    Thousands have one form (9 thousand, 9,000), and what stands in single brackets, as
    the program's days do, is left out.
    """
    bare = _BRACKETS.sub(" ", text.replace("[[", "").replace("]]", ""))
    return re.sub(r"[\W_]+", "", one_form_of_numbers(terms.fold(bare)))


def one_form_of_numbers(text: str) -> str:
    """Write 9,000 and 9.000 and 9 thousand as 9000."""
    return _COUNTED.sub(_written_out, _THOUSANDS.sub("", text))


def _written_out(match: re.Match[str]) -> str:
    return f"{float(match[1]) * _FACTORS[match[2]]:.0f}"
