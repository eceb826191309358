"""Secrets of several parts: private keys, seed phrases, lists of recovery codes, and what a person asks not to keep."""

import hashlib
import re
from collections.abc import Iterator
from functools import cache

from filemem.text import tables
from filemem.text.redaction.words import any_of, one_of

Span = tuple[int, int]

_PEM_MARK = r"-{4,5}(?P<edge>BEGIN|END) [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-{4,5}"
_PEM_BODY = (
    r"(?:(?:[\s>]|\\[nr])*+(?:(?:Proc-Type|DEK-Info|Version|Comment): [^\n\0]*+|[A-Za-z0-9+/]{16,}+={0,2}))*+"
    r"(?:(?:\s|\\[nr])+[A-Za-z0-9+/]{1,15}={1,2})?(?:\s?(?:\.{3}|…))?"
)

_RUN = re.compile(
    r"(?<![A-Za-z])[A-Za-z]{3,8}(?:[\s,;]{1,4}(?:\d{1,2}[.)]\s?)?[A-Za-z]{3,8}(?![A-Za-z])){11,}", re.ASCII
)
_SIZES = (24, 21, 18, 15, 12)  # words of a seed phrase (BIP-39)
_ITEM = re.compile(
    r"[\s,;:•*–-]{0,8}(?:(?:and|und|et|y|e|和)\s)?(?:\d{1,2}[.)]\s)?"
    r"((?=[A-Za-z-]{0,11}\d)[A-Za-z0-9]{3,12}(?:-[A-Za-z0-9]{3,12}){0,8})(?![\w-])",
    re.ASCII,
)
_NEAR = 400  # characters before and after a request in which its value is looked for
_SENTENCE = re.compile(r"[.!?]\s|[。！？\n]")
_ASKED = re.compile(
    r"[\"“「'‘]([^\"”」'’\n\0]{2,80})[\"”」'’]|((?<![\w.])(?=[A-Za-z#*@_-]{0,24}\d)(?!\d?\d:\d\d)[\w#*@!$%&+./-]{1,80}[\w#*!])",
    re.ASCII,
)


def private_keys(text: str) -> Iterator[Span]:
    """Whole PEM blocks; of one cut short the lines that are there, before its END or after its BEGIN."""
    done, marks = 0, list(re.finditer(_PEM_MARK, text))
    for at, mark in enumerate(marks):
        if mark.start() < done:
            continue
        if mark["edge"] == "END":
            yield _lines_before(text, mark.start(), done), mark.end()
            done = mark.end()
        elif at + 1 < len(marks) and marks[at + 1]["edge"] == "END":
            done = marks[at + 1].end()
            yield mark.start(), done
        else:
            body = re.compile(_PEM_BODY).match(text, mark.end())
            done = body.end() if body else mark.end()
            yield mark.start(), done


def _lines_before(text: str, end: int, least: int) -> int:
    """Where the base64 lines that run up to `end` begin, not before `least`."""
    start = end
    while start > least:
        line = max(text.rfind("\n", least, start - 1) + 1, least)
        if not re.fullmatch(r"[\s>]*[A-Za-z0-9+/=]{8,}\s*", text[line:start]):
            break
        start = line
    return start


# -- seed phrases ----------------------------------------------------------------------------------------------------


def seed_phrases(text: str) -> Iterator[Span]:
    """Twelve words or more, one after the other: any that make no sentence behind a seed's name, else those of BIP-39.

    Without a name the words must carry the checksum of BIP-39 as well, which one row of its words in sixteen does by chance.
    """
    for run in _RUN.finditer(text):
        named = re.search(
            rf"(?i){any_of('seed')}[^.!?\n\0]{{0,40}}[:\s是]{{0,6}}(?:1[.)]\s?)?$",
            text[max(0, run.start() - 80) : run.start()],
        )
        places = [word.span() for word in re.finditer("[A-Za-z]+", text[run.start() : run.end()])]
        said = [run[0][start:end].lower() for start, end in places]
        first = 0
        while first + 12 <= len(said):
            size = next((size for size in _SIZES if _is_seed(said[first : first + size], size, named is not None)), 0)
            if size:
                yield run.start() + places[first][0], run.start() + places[first + size - 1][1]
            first += size or 1


def _is_seed(said: list[str], size: int, named: bool) -> bool:
    """Whether so many words are a seed phrase; behind a name, words of which two at most are common."""
    if len(said) != size:
        return False
    places = [_places()[word] for word in said if word in _places()]
    if named:
        return sum(word in one_of("function") for word in said) <= 2
    return len(places) == size and _checksum(places)


def _checksum(places: list[int]) -> bool:
    """BIP-39: eleven bits a word; the last bits, one for three words, are the first of the SHA-256 of all before."""
    bits = "".join(f"{place:011b}" for place in places)
    split = len(bits) * 32 // 33
    entropy = int(bits[:split], 2).to_bytes(split // 8, "big")
    return f"{hashlib.sha256(entropy).digest()[0]:08b}".startswith(bits[split:])


@cache
def _places() -> dict[str, int]:
    """Where each word of BIP-39 stands in its list."""
    return {word: place for place, word in enumerate(" ".join(tables.lines("seed-words.txt")).split())}


# -- lists of codes --------------------------------------------------------------------------------------------------


def recovery_codes(text: str) -> Iterator[Span]:
    """Every code that follows a name such as "recovery codes", as far as the list goes."""
    done = 0
    for name in re.finditer(
        rf"(?i){any_of('codes')}(?:[^\n\0\d:：]{{0,30}}[:：]|\s+{any_of('is')}(?![a-z])|[^\n\0\d:：]{{0,30}})(?![A-Za-z0-9]*(?<=[A-Za-z])\d)",
        text,
        re.ASCII,
    ):
        at = max(done, name.end())
        while item := _ITEM.match(text, at):
            if len(item[1]) >= 4 and not re.fullmatch(r"(?:19|20)\d\d", item[1]):
                yield item.span(1)
            at = done = item.end()


# -- what a person asks not to keep ----------------------------------------------------------------------------------


def asked(text: str) -> Iterator[Span]:
    """The values that a sentence asks not to keep: after its colon, else those before in it, else those of the one before it."""
    done, lower = 0, text.lower()
    may_ask = any(word in lower for word in one_of("no") | one_of("not-kept"))
    for request in _requests().finditer(text) if may_ask else ():
        start, end = request.span()
        if start < done:
            continue
        begin = max(done, start - _NEAR)
        begins = [begin, begin, *(match.end() for match in _SENTENCE.finditer(text, begin, start))]
        windows = [(begins[-1], start), (begins[-2], begins[-1])]
        if text.startswith((":", "："), end):
            after = _SENTENCE.search(text, end + 2, end + _NEAR)
            windows.insert(0, (end, after.start() if after else end + _NEAR))
        for window in windows:
            if spans := list(_values(text, *window)):
                yield from spans
                done = spans[-1][1]
                break


def _values(text: str, start: int, end: int) -> Iterator[Span]:
    """What is in quotes, and words and numbers with two digits or more."""
    for value in _ASKED.finditer(text, start, end):
        if value[1] or sum(map(str.isdigit, value[2])) >= 2:
            yield value.span(value.lastindex or 0)


@cache
def _requests() -> re.Pattern[str]:
    it, keep = any_of("it"), any_of("keep")
    end = r"(?=\s*(?:[.,;:!?)\]}…。，！？：；、\n\0]|$))"
    many = rf"(?:\s{{0,2}}{it}){{0,4}}"
    return re.compile(
        rf"(?i)(?<![a-z])(?<!\bi can )(?<!\bwe can )(?<!\bi could )(?<!\bwe could ){any_of('no')}{many}\s{{0,2}}{keep}{many}{end}"
        rf"|(?<![a-z]){keep}{many}\s{{1,2}}nicht{many}{end}|(?<![a-z]){any_of('not-kept')}{end}",
        re.ASCII,
    )
