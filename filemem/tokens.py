"""How many tokens a model will count, estimated without its tokenizer."""

import re

# A token of the common byte-pair encodings holds about four letters of English, and about one CJK character.
_WIDE = re.compile("[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
LETTERS = 4


def count(text: str) -> int:
    """The tokens of `text`: one a CJK character, one for four other characters, rounded up."""
    wide = len(_WIDE.findall(text))
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
