"""Values that stand in one sentence with a word that tells a secret, whatever is between the two.

The less a value looks like a word of any sentence, the less must speak for it: what is random, and a password that
was made up, need only the word; a mere number also something before it that leads to it, as "is" or "with".
"""

import bisect
import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import NamedTuple

from filemem.text.redaction.issued import by_chance
from filemem.text.redaction.told import CODE, KEY, PASSWORD, made_up, usual_name
from filemem.text.redaction.words import any_of

_REACH = 60  # characters between the word and its value
_SENTENCE = re.compile(r"[^.!。！；\n\0]*(?:[.!](?!\s|$)[^.!。！；\n\0]*)*")
_TOKEN = re.compile(r"[!-<>-~]{4,200}", re.ASCII)
_EDGE = "\"'`“”‘’()[]{}<>,;:.?!*"
_OTHER_NUMBERS = re.compile(r"(?:19|20)\d\d|\d\d:\d\d")
_HASH = r"(?i)\b(?:commits?|sha-?\d*|md5|hash(?:es)?|checksum|digest|fingerprint|uuid|guid|id|build|revision)\b"
_CODE = re.compile(r"#?\d{4,8}#?|\d(?:-\d){2,7}|\d{3}-\d{3}")


class Rule(NamedTuple):
    """A kind; the roles whose words tell it; what a value must be; what must not be said in the sentence, if anything."""

    kind: str
    roles: tuple[str, ...]
    accepts: Callable[[str, str, str], bool]  # the value, what stands before it and what behind it in the sentence
    unless: str = ""


def _password(value: str, before: str, after: str) -> bool:
    """Letters with digits or signs, as no usual name is written; a word with a number is one behind an article or such."""
    if re.fullmatch(r"[A-Za-z]?[a-z]+\d{1,4}", value) and re.search(rf"(?i)(?<![a-z]){any_of('names')}\s+$", before):
        return False
    return made_up(value) or (len(value) >= 6 and bool(re.search("[A-Za-z]{3}", value)) and not usual_name(value))


def _login(value: str, before: str, after: str) -> bool:
    """Letters and digits and a sign; or just two of these, behind a word that asks to type it."""
    if re.search(r"(?i)\b(?:type|enter|tippe|digite|teclea|tape)\s+$", before):
        return _password(value, before, after)
    return made_up(value) and any(map(str.isdigit, value)) and not value.replace("-", "").replace("_", "").isalnum()


def _key(value: str, before: str, after: str) -> bool:
    """A random string; of digits alone behind a word that leads to it."""
    if "&" in value:
        return False
    if value.isdigit():
        return len(value) >= 16 and bool(re.search(r"(?i)(?:[:=]|\bis)\s*$", before))
    beside = re.search(r"(?i)(?:[:=]|\bkeys?|\bis)\s*$", before)
    if beside and len(value) >= 12 and made_up(value):
        return True
    return len(value) >= 20 and by_chance(value) and not usual_name(value)


def _number(value: str, before: str, after: str) -> bool:
    """Four digits or more to which the words before it lead, and that count nothing."""
    if not _CODE.fullmatch(value) or _OTHER_NUMBERS.fullmatch(value):
        return False
    led = re.search(rf"(?i)(?:[:=*]|(?<![a-z]){any_of('leads')},?)\s*[\"'“(*]?$", before)
    return bool(led) and not re.match(rf"(?i)[\"'”)]*\s*(?:{any_of('unit')}(?![a-z])|an?\b|per\b|[%°€$])", after)


_RULES = (
    Rule(PASSWORD, ("password", "password-short", "password-zh", "guards"), _password),
    Rule(PASSWORD, ("login",), _login),
    Rule(KEY, ("key", "cookie"), _key, _HASH),
    Rule(CODE, ("code-name", "opens-what", "verifies", "password"), _number),
)


def finders() -> Iterator[tuple[str, Callable[[str], Iterator[tuple[int, int]]]]]:
    """Each kind with what finds it."""
    for rule in _RULES:
        yield rule.kind, partial(_spans, rule)


@cache
def _cue(roles: tuple[str, ...]) -> re.Pattern[str]:
    words = "|".join(any_of(role) for role in roles)
    return re.compile(rf"(?i)(?<![a-z0-9])(?:{words})s?(?![a-z0-9])(?![ _-]?{any_of('about')}\b)", re.ASCII)


def _spans(rule: Rule, text: str) -> Iterator[tuple[int, int]]:
    cue = _cue(rule.roles)
    for sentence in _SENTENCE.finditer(text) if cue.search(text) else ():
        cues = [match.span() for match in cue.finditer(text, *sentence.span())]
        if not cues or (rule.unless and re.search(rule.unless, sentence[0])):
            continue
        for token in _TOKEN.finditer(text, *sentence.span()):
            start = token.end() - len(token[0].lstrip(_EDGE))
            end = token.start() + len(token[0].rstrip(_EDGE))
            after = bisect.bisect_left(cues, (start, start))
            near = any(max(first - end, start - last) <= _REACH for first, last in cues[max(0, after - 1) : after + 1])
            around = text[max(sentence.start(), start - _REACH) : start], text[end : min(sentence.end(), end + 20)]
            if start < end and near and rule.accepts(text[start:end], *around):
                yield start, end
