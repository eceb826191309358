"""What a summary may not lose without saying so, and may never add: names, numbers, dates, URLs, quoted titles.

Checked by code: every such detail of the sources is in the summary, or reported as to be found in the archive only; and a
model's summary with a detail that its sources do not have is refused.
"""

import datetime as dt
import operator
import re
from collections.abc import Iterable
from typing import NamedTuple

from filemem.text import chinese, dates, terms
from filemem.text.dates.datewords import values
from filemem.text.dates.spans import Span, one_day
from filemem.text.plain import LINK

_URL = re.compile(r"(?:https?://|www\.)[^\s<>()\[\]\"“”，。；、]+")
_QUOTED = re.compile(r"[\"“]([^\"“”\n]{2,80})[\"”]|《([^《》\n]{1,80})》|「([^「」\n]{2,80})」|『([^『』\n]{2,80})』")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_WORD = re.compile(r"[^\W\d_]+(?:[-’'][^\W\d_]+)*")
_CHINESE_NAME = re.compile(
    r"(?:(?<=叫)(?!做)|(?<=叫做))[\u4e00-\u9fff]{2,3}(?=[，。！？、的和与]|$)|[\u4e00-\u9fff](?:先生|女士|老师|教授|医生|阿姨|叔叔)"
)
_NUMERAL = re.compile("[一二三四五六七八九十百]{1,5}")
_COUNTED = re.compile(  # a numeral that certainly counts: 十分 does not, 十分钟 does
    rf"(?<![一二三四五六七八九十百千万两第几]){_NUMERAL.pattern}"
    "(?=[个只条本张次天年岁块元名家件辆台棵层口杯瓶斤里米]|公[斤里]|小时|分钟)"
)
_BRACKETS = re.compile(r"(?<!\[)\[[^\[\]\n]*\](?!\])")  # captions, and dates that the tools wrote
_BEFORE = 40  # characters before a word in which the end of a sentence, or the start of a line, is looked for
_STARTS = re.compile(r"(?:^|[.!?…。！？:;\"“\n]\s*|\*\s*)$")


class DatedText(NamedTuple):
    """Some text and the day that its `yesterday` counts from; None where it is of no day."""

    text: str
    day: dt.date | None


class TextDetails(NamedTuple):
    """The details of some text, folded, each with how it was written."""

    names: dict[str, str]
    numbers: dict[str, str]
    dates: dict[tuple[Span, ...], str]  # by all that each may mean
    urls: dict[str, str]
    titles: dict[str, str]


def details(texts: Iterable[DatedText]) -> TextDetails:
    """Every detail of some texts. A name is a word with a capital inside a sentence, a [[link]], or a Chinese name."""
    found = TextDetails({}, {}, {}, {}, {})
    for text, day in texts:
        rest = _take(_URL, text, found.urls)
        titles = (next(filter(None, groups)).strip(" .,!?，。！？") for groups in _QUOTED.findall(rest))
        found.titles.update({_folded(title): title for title in titles})
        found.names.update({_folded(name): name for name, _ in LINK.findall(rest)})
        found.names.update({_folded(name): name for name in _CHINESE_NAME.findall(rest)})
        found.names.update({name: name for name in chinese.names(rest)})
        pieces, at = list[str](), 0
        for mention in dates.mentioned(_BRACKETS.sub(lambda m: " " * len(m[0]), rest), day or dt.date(1, 1, 1)):
            if day or not mention.relative:
                words = rest[mention.start : mention.end]
                found.dates[mention.spans] = words
                pieces += [rest[at : mention.start], "_" * len(words)]
                at = mention.end
        rest = "".join([*pieces, rest[at:]])
        found.numbers.update({_number(match[0]): match[0] for match in _NUMBER.finditer(rest)})
        for match in _WORD.finditer(rest):
            word = match[0]
            plain = _folded(word).partition("'")[0]  # I've, I'll
            if (
                word[0].isupper()
                and plain not in terms.STOP
                and not _STARTS.search(rest, max(0, match.start() - _BEFORE), match.start())
            ):
                found.names[_folded(word)] = word
    return found


def _take(pattern: re.Pattern[str], text: str, into: dict[str, str]) -> str:
    """The text without what a pattern finds, which is gathered."""
    for match in pattern.finditer(text):
        into[match[0].rstrip(".,;:!?").casefold()] = match[0].rstrip(".,;:!?")
    return pattern.sub(lambda match: "_" * len(match[0]), text)


def _folded(text: str) -> str:
    """What two spellings of one name share."""
    folded = " ".join(terms.fold(text).replace("’", "'").split())
    return folded.removesuffix("'s")


def _number(text: str) -> str:
    return text.replace(",", "") if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", text) else text


def archive_only(sources: Iterable[DatedText], summary: Iterable[DatedText]) -> list[str]:
    """The details of the sources that the summary lacks, as they were written: to be found in the archive only."""
    of, kept = details(sources), list(summary)
    shown = details(kept)
    text = _folded(_URL.sub(" ", " ".join(_BRACKETS.sub(" ", part.text) for part in kept)))
    words, digits = set(re.findall("[a-z0-9]+", text)), set(re.findall(r"\d+", text))
    lost = [written for key, written in (of.names | of.titles).items() if key not in words and not _stands(key, text)]
    lost += [written for key, written in of.urls.items() if key not in shown.urls]
    lost += [written for key, written in of.numbers.items() if key not in digits and not _counts_there(key, text)]
    told = {spans[0] for spans in shown.dates}
    lost += [
        f"{written} ({start})" if start == end else f"{written} ({start} to {end})"
        for (start, end), written in ((spans[0], written) for spans, written in of.dates.items())
        if _folded(written) not in text and (start, end) not in told
    ]
    return sorted(dict.fromkeys(" ".join(item.split()) for item in lost))


def _counts_there(number: str, text: str) -> bool:
    return number in text and re.search(rf"(?<!\d){re.escape(number)}(?!\d)", text) is not None


def _stands(name: str, text: str) -> bool:
    """Does a folded name stand in folded text, not only inside a longer word?"""
    if name not in text:
        return False
    edges = (r"(?<![a-z0-9])" if name[:1].isascii() else "", r"(?![a-z0-9])" if name[-1:].isascii() else "")
    return re.search(edges[0] + re.escape(name) + edges[1], text) is not None


def unsupported_details(summary: Iterable[str], sources: Iterable[DatedText]) -> list[str]:
    """The details of a summary that its sources do not have, as it wrote them.

    Stricter than `details` on names: a word with a capital counts at the start of a sentence as well, unless the sources
    have the word in any form. A date may be less exact than the source's, never more so.
    """
    texts = list(sources)
    known, source = details(texts), _folded(_URL.sub(" ", "\n".join(part.text for part in texts)))
    spans = [span for either in known.dates for span in either] + [one_day(part.day) for part in texts if part.day]
    stems = {terms.stem(token) for token in terms.tokens(source)} | terms.STOP
    counted = known.numbers.keys() | set(map(str, _counts(source, _NUMERAL).values()))
    wrong: list[str] = []
    anchor = max((part.day for part in texts if part.day), default=None)
    for line in summary:
        found = details([DatedText(line, anchor)])
        for either, written in found.dates.items():
            if not any(one.start <= first and last <= one.end for one in either for first, last in spans):
                wrong.append(written)
        wrong += [written for key, written in found.urls.items() if key not in known.urls]
        wrong += [written for key, written in found.titles.items() if key not in source]
        wrong += [written for key, written in found.numbers.items() if key not in counted]
        rest = _plain(line)
        wrong += [word for word, count in _counts(rest, _COUNTED).items() if count > 2 and str(count) not in counted]
        for written in [
            *(name for name, _ in LINK.findall(rest)),
            *(word for word in _WORD.findall(rest) if word[0].isupper()),
        ]:
            if not all(terms.stem(token) in stems for token in terms.tokens(_folded(written))):
                wrong.append(written)
        wrong += [name for name in _CHINESE_NAME.findall(rest) if _folded(name) not in source]
        # Where a name ends in a running text is a guess: two characters of it are enough.
        pairs = ((name, map(operator.add, name, name[1:])) for name in chinese.names(rest))
        wrong += [name for name, parts in pairs if not any(pair in source for pair in parts)]
    return list(dict.fromkeys(wrong))


def _counts(text: str, chinese: re.Pattern[str]) -> dict[str, int]:
    """The numbers that a text has in words, by the words: seven and 七 are 7, twenty-five is 25."""
    found = {numeral: dates.number(numeral) for numeral in chinese.findall(text)}
    for word in re.findall("[a-z]+(?:-[a-z]+)?", text.lower()):
        parts = [values("count")[part] for part in word.split("-") if part in values("count")]
        if parts:
            found[word] = sum(parts)
    return found


def _plain(line: str) -> str:
    """A line without its dates and URLs, whose words are no names."""
    rest = _URL.sub(" ", line)
    for mention in reversed(dates.mentioned(rest, dt.date(2000, 1, 1))):
        rest = f"{rest[: mention.start]} {rest[mention.end :]}"
    return rest
