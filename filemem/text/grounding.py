"""What a summary may not lose without saying so: names, numbers, dates, URLs, quoted titles.

Every such detail of the sources is in the summary, or reported as to be found in the archive only.
"""

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from filemem.text import dates, terms
from filemem.text.plain import LINK

_URL = re.compile(r"(?:https?://|www\.)[^\s<>()\[\]\"“”，。；、]+")
_QUOTED = re.compile(r"[\"“]([^\"“”\n]{2,80})[\"”]|《([^《》\n]{1,80})》|「([^「」\n]{2,80})」|『([^『』\n]{2,80})』")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_WORD = re.compile(r"[^\W\d_]+(?:[-’'][^\W\d_]+)*")
_CHINESE_NAME = re.compile(
    r"(?:(?<=叫)(?!做)|(?<=叫做))[\u4e00-\u9fff]{2,3}(?=[，。！？、的和与]|$)|[\u4e00-\u9fff](?:先生|女士|老师|教授|医生|阿姨|叔叔)"
)
_BRACKETS = re.compile(r"(?<!\[)\[[^\[\]\n]*\](?!\])")  # captions, and dates that the tools wrote
_BEFORE = 40  # characters before a word in which the end of a sentence, or the start of a line, is looked for
_STARTS = re.compile(r"(?:^|[.!?…。！？:;\"“\n]\s*|\*\s*)$")


class DatedText(NamedTuple):
    """Some text and the day that its `yesterday` counts from; None where it is of no day."""

    text: str
    day: dt.date | None


def archive_only(sources: Iterable[DatedText], summary: Iterable[DatedText]) -> list[str]:
    """The details of the sources that the summary lacks, as they were written: to be found in the archive only."""
    kept = list(summary)
    shown = {found[:2] for part in kept for found in _details(part)}
    text = _folded(_URL.sub(" ", " ".join(_BRACKETS.sub(" ", part.text) for part in kept)))
    told = {
        (kind, key): written
        for part in sources
        for kind, key, written in _details(part)
        if (kind, key) not in shown and not _stands(kind, key, written, text)
    }
    return sorted(dict.fromkeys(" ".join(written.split()) for written in told.values()))


def _details(part: DatedText) -> Iterator[tuple[str, str, str]]:
    """Every detail of a text: its kind, what it is compared by, and how it was written. A name is a word with a capital inside a
    sentence, a [[link]], or a Chinese name."""
    text, day = part
    for match in _URL.finditer(text):
        written = match[0].rstrip(".,;:!?")
        yield "url", written.casefold(), written
    rest = _URL.sub(lambda match: "_" * len(match[0]), text)
    titles = (next(filter(None, groups)).strip(" .,!?，。！？") for groups in _QUOTED.findall(rest))
    names = (*(name for name, _ in LINK.findall(rest)), *_CHINESE_NAME.findall(rest), *terms.chinese_names(rest))
    yield from (("name", _folded(name), name) for name in (*titles, *names))
    for mention in dates.mentioned(_BRACKETS.sub(lambda m: " " * len(m[0]), rest), day or dt.date(1, 1, 1)):
        if day or not mention.relative:
            (start, end), words = mention.span, rest[mention.start : mention.end]
            yield "date", f"{start} {end}", f"{words} ({start})" if start == end else f"{words} ({start} to {end})"
            rest = f"{rest[: mention.start]}{'_' * len(words)}{rest[mention.end :]}"
    for match in _NUMBER.finditer(rest):
        yield "number", _number(match[0]), match[0]
    for match in _WORD.finditer(rest):
        inside = not _STARTS.search(rest, max(0, match.start() - _BEFORE), match.start())
        if match[0][0].isupper() and inside and _folded(match[0]).partition("'")[0] not in terms.STOP:  # I've, I'll
            yield "name", _folded(match[0]), match[0]


def _folded(text: str) -> str:
    """What two spellings of one name share."""
    folded = " ".join(terms.fold(text).replace("’", "'").split())
    return folded.removesuffix("'s")


def _number(text: str) -> str:
    return text.replace(",", "") if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", text) else text


def _stands(kind: str, key: str, written: str, text: str) -> bool:
    """Does a detail stand in a folded text that does not show it for what it is, and not only inside a longer word?"""
    if kind == "date":
        return _folded(written.rpartition(" (")[0]) in text
    edge = {"number": r"\d", "name": "[a-z0-9]"}.get(kind)
    if edge is None or key not in text:
        return False
    before, after = (f"(?<!{edge})" if key[:1].isascii() else "", f"(?!{edge})" if key[-1:].isascii() else "")
    return re.search(before + re.escape(key) + after, text) is not None
