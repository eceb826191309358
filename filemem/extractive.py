"""The most telling turns of some conversations, without a model: what a summary keeps in the speakers' own words.

A turn is worth more the more salient it is (`salience`, fitted to the facts that readers took from conversations), the rarer
its words, and where it names, dates, quotes or counts something. The weights are those of a logistic regression on the
turns that answer LoCoMo's questions (Maharana et al. 2024, five conversations, each judged by the other four), rounded;
they hold for unit signs. Of two equals the shorter is kept, since it leaves room for others.
"""

import datetime as dt
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from filemem import dates, salience, terms
from filemem.memory import Memory, Passage
from filemem.utterance import Turn

SALIENCE, RARITY, CENTRALITY, NAMES, TIME, QUOTE, NUMBER = 0.6, 1.0, 0.2, 0.7, 0.6, 2.0, 0.5
PRICE = 60  # characters that a bullet costs besides its text: speaker, link, line
THRIFT = 0.6  # how strongly length counts against a turn
ENOUGH = 120  # letters and digits, behind which a turn is cut at the end of a sentence
_END = re.compile(r"(?<=[.!?…][\"”’')])\s+|(?<=[.!?…])\s+|(?<=[。！？])(?![。！？”’」』）])|\n+")
_NAME = re.compile(r"(?<=[\w,;:] )[A-Z][\w’'-]+|《[^《》]+》|\[\[[^\[\]]+\]\]")
_QUOTED = re.compile(r"[\"“][^\"“”]{2,80}[\"”]|《[^《》]{1,80}》|「[^「」]{2,80}」")
_NUMBER = re.compile(r"\d")


class Said(NamedTuple):
    """A turn of a conversation: where it stands, who said it, the text without captions, what keeping it is worth."""

    path: str
    line: int
    speaker: str
    text: str
    worth: float


def trimmed(text: str, enough: int = ENOUGH) -> str:
    """The first sentences of a turn, captions aside, until they have `enough` letters and digits; on one line."""
    kept: list[str] = []
    for sentence in _END.split(terms.split_captions(text)[0].strip()):
        if sum(character.isalnum() for part in kept for character in part) >= enough:
            break
        kept.append(" ".join(sentence.split()))
    return " ".join(filter(None, kept)) or " ".join(text.split())


def weighed(conversations: Iterable[tuple[str, Sequence[Passage]]], *, trim: bool = True) -> list[Said]:
    """Every turn of some conversations, each a path and its passages, in order, trimmed, with what keeping it is worth."""
    sessions = [(path, [p for p in passages if p.text.strip()]) for path, passages in conversations]
    words = {(path, p.line): salience.content(p.text) for path, passages in sessions for p in passages}
    heard: Counter[str] = Counter(word for found in words.values() for word in found)
    earlier, out = salience.Heard(), list[Said]()
    for path, passages in sessions:
        turns = [Turn(p.speaker, p.text, p.line) for p in passages]
        here = Counter(word for p in passages for word in words[path, p.line])
        for passage, score in zip(passages, salience.scores(turns, earlier), strict=True):
            worth = _worth(passage.text, score, words[path, passage.line], heard, here, len(words))
            text = trimmed(passage.text) if trim else passage.text
            out.append(Said(path, passage.line, passage.speaker, text, worth))
        earlier.add(turns)
    return out


def _worth(text: str, score: float, words: set[str], heard: Counter[str], here: Counter[str], turns: int) -> float:
    """The weighted signs of one turn, as a probability; `score` is its salience."""
    score = min(max(score, 0.01), 0.99)
    rarity = {word: math.log(turns / heard[word]) for word in words}
    count = max(1, len(words))
    value = (
        SALIENCE * math.log(score / (1 - score))
        + RARITY * (sum(rarity.values()) / count - 3.5)
        + CENTRALITY * (sum(rarity[word] * math.log(here[word]) for word in words) / count - 2)
        + NAMES * math.log1p(len(set(_NAME.findall(text))))
        + TIME * bool(terms.flags(text) & terms.HAS_TIME_WORD)
        + QUOTE * bool(_QUOTED.search(text))
        + NUMBER * bool(_NUMBER.search(text))
    )
    return 1 / (1 + math.exp(-value))


def chosen(turns: Sequence[Said], budget: float) -> list[Said]:
    """The turns that carry the most within `budget` bytes of bullets, in their order; the most telling of each file at least."""
    keep = set(_best(turns).values())
    spent = sum(map(_price, keep))
    for turn in sorted(turns, key=_merit, reverse=True):
        if turn not in keep and spent + _price(turn) <= budget:
            keep.add(turn)
            spent += _price(turn)
    return [turn for turn in turns if turn in keep]


def _merit(turn: Said) -> float:
    return float(turn.worth / (PRICE + len(turn.text)) ** THRIFT)


def _price(turn: Said) -> int:
    """The bytes of a turn in a summary; a link is shared by the two or three turns of a bullet."""
    return len(turn.text.encode("utf-8", "replace")) + len(turn.speaker.encode("utf-8", "replace")) // 2 + 25


def probes(turns: Iterable[Said]) -> dict[str, str]:
    """For each path, its most telling turn as a question that should find it; dates aside, which `last week` would mislead."""
    return {path: _undated(turn.text[:300]) for path, turn in _best(turns).items()}


def _undated(text: str) -> str:
    for mention in reversed(dates.mentioned(text, dt.date(2000, 1, 1))):
        text = f"{text[: mention.start]} {text[mention.end :]}"
    return text


def _best(turns: Iterable[Said]) -> dict[str, Said]:
    """The most telling turn of each path."""
    best: dict[str, Said] = {}
    for turn in turns:
        if turn.path not in best or turn.worth > best[turn.path].worth:
            best[turn.path] = turn
    return best


def day_of(memory: Memory) -> dt.date | None:
    """The day that a conversation's `yesterday` counts from; None where its name has a month alone."""
    return memory.date if memory.when and not memory.when.month else None
