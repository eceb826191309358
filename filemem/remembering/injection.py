"""Text that gives orders to its reader, an assistant or its memory, has marks of a prompt's parts, or is hidden. Pure functions.

This is a tripwire, not a wall: it knows the usual wordings in English and Chinese, those of `data/orders.txt`. What keeps others'
text from steering an assistant is that only a person's own plain talk may (`rules.may_steer`), that memory text reaches a model
as data between marks, and that what an assistant said is kept as its own.
"""

import re
import unicodedata
from functools import cache

from filemem.text import tables
from filemem.text.plain import UNSEEN
from filemem.text.terms import simplified

IGNORE = "tells the reader to ignore its instructions"
HIDDEN = "has hidden text"
OWN = (IGNORE, "has marks of a prompt's parts")  # what is suspicious in a person's own text, too

_HAN = "\u3400-\u9fff"
# England's, Scotland's and the like are spelt in tag characters.
_FLAG = "\U0001f3f4[\U000e0020-\U000e007e]{1,7}\U000e007f"
_TAGS = "[\U000e0020-\U000e007e]"
_SPELT = r"(?<!\w)[a-z](?:[ .*_-]{1,3}[a-z]){5,}(?!\w)"  # i g n o r e
_SQUEEZED = (
    r"(?:ignore|disregard|forget|override)(?:all|any|the|your|my|these|of|previous|prior|above|earlier|system)+"
    r"(?:instruction|rule|prompt|guideline)"
)
_LEET = str.maketrans("01345@$7", "oleasast")
_LOOKALIKES = str.maketrans("аеорсухіѕјһԁкмтвнαορνι", "aeopcyxisjhdkmtbhaopvi")


def suspicious(text: str, *, own: bool = False) -> str | None:
    """Why `text` looks as if it commanded its reader, as a phrase that fits behind "it"; None where it does not.

    A person's `own` text may well ask to be remembered from now on, so there less is suspicious.
    """
    hidden = "".join(chr(ord(sign) - 0xE0000) for sign in re.findall(_TAGS, re.sub(_FLAG, "", text)))
    turned = " ".join(run[::-1] for run in re.findall("\u202e([^\u202c\n]+)", text))
    for reading in _readings(f"{text}\n{turned}" if turned else text):
        for reason, pattern in _patterns():
            if (reason in OWN or not own) and pattern.search(reading):
                return reason
    if any(re.search(_SQUEEZED, re.sub(r"[\W_]", "", run)) for run in re.findall(_SPELT, _plain(text))):
        return IGNORE
    return HIDDEN if sum(map(str.isalpha, hidden)) >= 4 else None


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    """The reasons, each with its pattern."""
    known, found = tables.parts("orders.txt"), (row for row in tables.rows("orders.txt") if row[0] == "why")
    return [
        (reason, re.compile(simplified(tables.expanded(pattern, known)), re.MULTILINE)) for _, reason, pattern in found
    ]


def _plain(text: str) -> str:
    """One form for what looks the same: compatibility forms, case and script folded, unseen characters and stray spaces gone."""
    seen = UNSEEN.sub("", re.sub(_TAGS, lambda tag: chr(ord(tag[0]) - 0xE0000), re.sub(_FLAG, "", text)))
    return simplified(unicodedata.normalize("NFKC", seen).casefold().replace("’", "'"))


def _readings(text: str) -> list[str]:
    """The text as it is read: plain, and once more with digits and foreign letters that stand for Latin ones."""
    plain = _plain(text)
    spaced = re.sub(r"[^\S\n]+", " ", re.sub(rf"(?<=[{_HAN}])[^\S\n]+(?=[{_HAN}])", "", plain))
    # An order may be broken over lines; only what must begin a line is looked for in the text as it stands.
    joined = re.sub(r"[ \n]+", " ", spaced)
    latin = re.sub(r"\S+", lambda word: _latin(word[0]), joined)
    return [spaced, joined, *([latin] if latin != joined else [])]


def _latin(word: str) -> str:
    if word.isascii():
        return word.translate(_LEET) if re.search("[a-z][01345@$7]|[01345@$7][a-z]", word) else word
    return word.translate(_LOOKALIKES) if re.search("[a-z]", word) else word
