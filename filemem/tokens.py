"""How many tokens a model will count, estimated without its tokenizer."""

import functools
import re

# A token of the common byte-pair encodings holds about four letters of English, and about one CJK character.
_WIDE = "[\u1100-\u1fff\u2e80-\U0010ffff]"  # emoji and rarer scripts take one and more, too
LETTERS = 4


@functools.cache
def _wide() -> re.Pattern[str]:
    return re.compile(_WIDE)  # takes milliseconds, and only text beyond ASCII needs it


def count(text: str) -> int:
    """The tokens of `text`: one a CJK character, one for four other characters, rounded up."""
    wide = 0 if text.isascii() else len(_wide().findall(text))
    return wide + -(-(len(text) - wide) // LETTERS)


def clip(text: str, limit: int) -> str:
    """The longest beginning of `text` that has at most `limit` tokens."""
    text = text[: max(0, limit) * LETTERS]  # no token has more
    if count(text) <= limit:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(text[:middle]) <= limit else (low, middle - 1)
    return text[:low]
