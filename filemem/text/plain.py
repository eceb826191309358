"""Text made safe to show, in few words, or known again by a digest.

No control character reaches a terminal or a model.
"""

import re
from collections.abc import Iterable

# C0 and C1 controls but tab and newline, the marks that turn the direction of text
# around (CVE-2021-42574), and Unicode's own ends of lines, at which a program that
# reads JSON by the line may cut.
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e"
    "\u2066-\u2069\ud800-\udfff]"
)
UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069"
    "\ufe00-\ufe0f\ufeff]"
)
"""Characters that show nothing: a word with them looks like the word without them."""
LINK = re.compile(r"\[\[([^\[\]|\n]+)(?:\|([^\[\]\n]*))?\]\]")
"""A name that is linked, `[[Porto]]` or `[[New York City|NYC]]`: what it names, and how
it is shown, if otherwise."""
SENTENCE_END = re.compile(
    r"(?<=[.!?…][\"”’')])\s+|(?<=[.!?…])\s+|(?<=[。！？])(?![。！？”’」』）])|\n+"
)
_COMMANDS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def printable(text: str) -> str:
    """Return a text that a person may print from a file.

    Controls but tab and line ends are spelt out, as `\\x1b`.
    """
    return _COMMANDS.sub(_spelt, text)


def escape_controls(text: str) -> str:
    """Return a text with its controls but tab and newline spelt out, as `\\x1b`."""
    return _CONTROLS.sub(_spelt, text)


def json_visible(text: str) -> str:
    """Return JSON of the same value with nothing in it that a terminal obeys."""
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def one_line(text: str, longest: int = 200) -> str:
    """Return a text visible, on one line, of at most `longest` characters."""
    line = " ".join(escape_controls(text).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def _spelt(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


NEAR_RATIO = 0.75  # of letters that a slip leaves; Anne and Anna are as near


def nearest(
    given: str, known: Iterable[str], most: int, ratio: float = NEAR_RATIO
) -> list[str]:
    """Return those of some names that are spelt nearly so, the nearest first.

    Args:
        given: what was written.
        known: the names.
        most: how many are returned.
        ratio: how near they are, from 0, anything, to 1, the same.
    """
    import difflib  # noqa: PLC0415  hardly ever needed, and slow to load

    return difflib.get_close_matches(given, known, most, ratio)


def first_few(items: Iterable[str], most: int = 3) -> str:
    """Return the first of some names, and how many more: `a, b and 3 more`."""
    names = list(items)
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(map(one_line, names[:most])) + more


def counted(number: int, noun: str, several: str = "") -> str:
    """Return a number with its noun: `1 source`, `1,200 sources`.

    Args:
        several: the noun of several, if it is not formed by an s.
    """
    return f"{number:,} {noun if number == 1 else several or noun + 's'}"


def digest(data: bytes | str, letters: int = 64) -> str:
    """Return the first letters of a SHA-256 in hexadecimal, of a text as UTF-8."""
    # It loads OpenSSL, which takes a twentieth of a cold start.
    import hashlib  # noqa: PLC0415

    data = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()[:letters]


# -- the tokens that a model will count, estimated without its tokenizer -------------

LETTERS = 4
"""Characters of alphabetic text to a token, in the common byte-pair encodings; a CJK
character is about one."""
# In UTF-8 the characters from U+3000 on, and those of U+1000 to U+1FFF, begin with one
# of these bytes and no others do.
_NARROW = bytes(set(range(256)) - {0xE1, *range(0xE3, 0xF5)})


def count_tokens(text: str) -> int:
    """Return how many tokens a model will about count in a text.

    That is one for each CJK character, and one for four others.
    """
    wide = 0
    if not text.isascii():
        wide = len(text.encode("utf-8", "surrogatepass").translate(None, _NARROW))
    return wide + -(-(len(text) - wide) // LETTERS)


def clip_tokens(text: str, limit: int) -> str:
    """Return the longest beginning of a text that has at most `limit` tokens."""
    text = text[: max(0, limit) * LETTERS]  # no token has more
    while text and count_tokens(text) > limit:
        # A character is at most a token, so that none too many is taken away.
        text = text[: len(text) - (count_tokens(text) - limit)]
    return text


def last_sentences(text: str, tokens: int) -> str:
    """Return a text; of one that is longer than `tokens` its last whole sentences.

    Where the last alone is longer, its end.
    """
    text = text.strip()
    end = clip_tokens(text[::-1], tokens)[::-1]
    if end == text:
        return text
    first = SENTENCE_END.search(end)
    begin = first.end() if first else 0
    return f"… {end[begin:]}"


def both_ends(text: str, tokens: int) -> str:
    """Return a text; of one that is longer its first and its last `tokens`."""
    if count_tokens(text) <= 2 * tokens:
        return text
    end = clip_tokens(text[::-1], tokens)[::-1]
    return f"{clip_tokens(text, tokens)} … {end}"
