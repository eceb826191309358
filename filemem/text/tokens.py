"""How many tokens a model will count, estimated without its tokenizer."""

import bisect

LETTERS = 4  # characters of alphabetic text to a token, in the common byte-pair encodings; a CJK character is about one
# In UTF-8 the characters from U+3000 on, and those of U+1000 to U+1FFF, begin with one of these bytes and no others do.
_NARROW = bytes(set(range(256)) - {0xE1, *range(0xE3, 0xF5)})


def count(text: str) -> int:
    """The tokens of `text`: one a CJK character, one for four other characters, rounded up."""
    wide = 0 if text.isascii() else len(text.encode("utf-8", "surrogatepass").translate(None, _NARROW))
    return wide + -(-(len(text) - wide) // LETTERS)


def clip(text: str, limit: int) -> str:
    """The longest beginning of `text` that has at most `limit` tokens."""
    text = text[: max(0, limit) * LETTERS]  # no token has more
    if count(text) <= limit:
        return text
    return text[: bisect.bisect_right(range(len(text)), limit, key=lambda end: count(text[:end])) - 1]
