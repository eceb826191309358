"""Keys and tokens by the shapes that their issuers give them. The facts stand in `data/issued-keys.txt`, one shape a line.

A key that was cut when it was copied is still one: three quarters of the length that is issued are enough.
"""

import re
from functools import cache
from itertools import pairwise

from filemem.text import tables
from filemem.text.redaction.words import Finder

_ALPHABETS = {
    "digit": "[0-9]",
    "hex": "[0-9a-fA-F]",
    "upper": "[A-Z0-9]",
    "alnum": "[A-Za-z0-9]",
    "url": "[A-Za-z0-9_-]",
    "b64": "[A-Za-z0-9+/]",
    "dotted": "[A-Za-z0-9_.-]",
    "path": "[A-Za-z0-9_.:%+=/-]",
    "uuid": "[0-9a-fA-F-]",
}
_EXACT = 14  # characters of a part up to which none may be missing
_SURE = 4  # characters of a prefix that no word begins with by chance
_PLACE = re.compile(r"<(\w+) (\d+)>")


@cache
def finders() -> tuple[Finder, ...]:
    """The table, in its order; the longest prefixes of one kind of key come first in it."""
    return tuple(_finder(kind, shape) for kind, shape, *_ in tables.rows("issued-keys.txt"))


def _finder(kind: str, shape: str) -> Finder:
    """What finds keys of a shape; unless their prefix alone tells them they must look thrown by chance as well."""
    name, beside, rest = shape.partition(" … ")
    anchors = (max(re.split(r"<\w+ \d+>|\([^)]*\)| … .*", shape), key=len).lower(),)
    if beside:
        pattern = rf"(?i:{name})[\w .'\"-]{{0,30}}(?:[:=]>?|\bis|是|为)[\s\"'`]{{0,4}}({_classes(rest)})"
        return Finder(kind, pattern, _thrown, anchors)
    before, first, after = shape.partition("<")
    inside = before.endswith(("/", "="))  # an address or a setting, behind which the key begins
    head = _literal(before)
    key = f"({_classes(first + after)})" if inside else f"({head}{_classes(first + after)})"
    shortest = re.sub(r"\(([^|)]*)[^)]*\)", r"\1", before)
    accepts = bool if len(shortest) >= _SURE else _thrown
    return Finder(kind, rf"(?<![\w-]){head if inside else ''}{key}", accepts, anchors)


def _thrown(match: re.Match[str]) -> bool:
    return by_chance(match[1])


def _classes(shape: str) -> str:
    """What follows a prefix, as a pattern that takes the last part as far as its alphabet goes."""
    pattern, done = "", 0
    for place in _PLACE.finditer(shape):
        issued = int(place[2])
        least = issued if issued <= _EXACT else issued * 3 // 4
        pattern += _literal(shape[done : place.start()]) + f"{_ALPHABETS[place[1]]}{{{least},}}"
        done = place.end()
    return pattern + _literal(shape[done:]) + "=*(?<![.:%])"


def _literal(text: str) -> str:
    """The text as a pattern, `(a|b)` in it as a choice."""
    return re.sub(r"\\\((.*?)\\\)", lambda found: f"(?:{found[1]})".replace(r"\|", "|"), re.escape(text))


def by_chance(value: str) -> bool:
    """Thrown, not made of words: letters and digits that take turns, or letters whose case does."""
    if "://" in value or len(value) < 8:
        return False
    runs = re.findall("[A-Za-z0-9]+", value)
    whole = "".join(runs)
    if len(whole) >= 30 and re.search("[+/]", value):  # base64, which its signs cut into runs
        return _turns(whole) >= 4 or (_turns(whole) > 0 and _cases(whole) >= 0.2 * len(whole))
    return any(_turns(run) >= 3 or (len(run) >= 16 and (_turns(run) or _cases(run) >= 0.4 * len(run))) for run in runs)


def _turns(run: str) -> int:
    """How often a digit and a letter stand side by side."""
    return sum(a.isdigit() != b.isdigit() for a, b in pairwise(run))


def _cases(run: str) -> int:
    """How often a small and a capital letter stand side by side."""
    return sum(a.islower() != b.islower() for a, b in pairwise(run))
