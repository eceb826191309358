"""The most telling turns of some conversations, without a model: what a summary keeps in the speakers' own words.

A turn is worth more where it names a day, answers a question, tells what its speaker did or likes, in rare words and with
names. The weights are those of a logistic regression on the turns that answer LoCoMo's questions (Maharana et al. 2024,
five conversations), rounded; fitted to four of them, they keep as much of the fifth. What a speaker asks to remember is
kept first. Of two equals the shorter is kept, since it leaves room for others.
"""

import bisect
import datetime as dt
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from filemem.files import archive
from filemem.files.memory import Memory
from filemem.files.sections import Bullet
from filemem.files.transcript import ASSISTANT
from filemem.forgetting import signs as readable
from filemem.forgetting.signs import Context
from filemem.models.offline import OPENINGS
from filemem.text import dates, redaction, terms
from filemem.text.plain import escape_controls, one_line
from filemem.text.statements.sentences import Utterance
from filemem.text.statements.words import content

WEIGHTS = {
    "rarity": 0.95,  # mean inverse frequency of its words in all memories, as a logarithm
    "date": 1.3,  # it names a day or a time: yesterday, in May
    "asked what": 0.6,  # it follows a question with what, where, when, who, which, how many
    "names": 0.3,  # log(1 + names and titles)
    "title": 0.7,  # it quotes something
    "answer": 0.75,  # this and what follows as in `signs`
    "event": 0.5,
    "liking": 0.65,
    "particulars": 0.4,
    "opening": 0.8,
    "question": -1.2,
    "long talk": -0.5,
}
INTERCEPT = -4.1
PRICE = 60  # characters that a bullet costs besides its text: speaker, link, line
THRIFT = 0.8  # how strongly length counts against a turn
TURNS, LETTERS = 3, 500  # of one speaker that share a bullet, and with it a link; characters of such a bullet
ENOUGH = 120  # letters and digits, behind which a turn is cut at the end of a sentence
_END = re.compile(r"(?<=[.!?…][\"”’')])\s+|(?<=[.!?…])\s+|(?<=[。！？])(?![。！？”’」』）])|\n+")
_NAME = re.compile(r"(?<=[\w,;:] )[A-Z][\w’'-]+|《[^《》]+》|\[\[[^\[\]]+\]\]")
_QUOTED = re.compile(r"[\"“][^\"“”]{2,80}[\"”]|《[^《》]{1,80}》|「[^「」]{2,80}」")
_ASKED = re.compile(
    r"\b(?:what|where|when|who|which|how (?:many|much|long|old|often|far))\b[^.!?]*\?"
    r"|(?:什么|哪|谁|几|多少|多久|多大|何时|怎么)[^。！？?]*[？?]",
    re.IGNORECASE,
)


_Key = tuple[str, str, str]  # source, the path that a bullet links to, speaker


class SourceTurn(NamedTuple):
    """A turn of a source, the bullet that it would be alone, what keeping it is worth."""

    path: str
    turn: Utterance
    bullet: Bullet
    worth: float


def trimmed(text: str, enough: int = ENOUGH) -> str:
    """The first sentences of a turn, captions aside, until they have `enough` letters and digits; on one line."""
    kept: list[str] = []
    for sentence in _END.split(terms.split_captions(text)[0].strip()):
        if sum(character.isalnum() for part in kept for character in part) >= enough:
            break
        kept.append(" ".join(sentence.split()))
    return " ".join(filter(None, kept)) or " ".join(text.split())


def told(memory: Memory) -> list[tuple[Utterance, Bullet]]:
    """The turns of a conversation, each with the bullet that it would be: trimmed, secrets out, relative dates resolved."""
    path, day, found = archive.live(memory.path), day_of(memory), []
    for passage in memory.passages:
        if passage.text.strip():
            text = redaction.redact(escape_controls(trimmed(passage.text)))[0]
            own = passage.day or day
            text = dates.annotate(text, own) if own else text
            bullet = Bullet(one_line(passage.speaker, 80), text, path, (passage.line,))
            found.append((Utterance(passage.speaker, passage.text, passage.line), bullet))
    return found


def weighed(
    sources: Iterable[tuple[Memory, list[tuple[Utterance, Bullet]]]], rarity: Callable[[str], float]
) -> list[SourceTurn]:
    """Every turn of some sources, in order, with what keeping it is worth; `rarity` is a word's inverse frequency."""
    out = list[SourceTurn]()
    for memory, found in sources:
        turns = [turn for turn, _ in found]
        to_assistant = ASSISTANT in {turn.speaker.casefold() for turn in turns}
        for (turn, bullet), context in zip(found, readable.contexts(turns), strict=True):
            said = signs(turn, context, day_of(memory), rarity)
            total = INTERCEPT + sum(weight * said[name] for name, weight in WEIGHTS.items())
            day = day_of(memory) or dt.date(2000, 1, 1)
            worth = 0.0 if quotes(turn) else readable.valued(turn, day, total, to_assistant=to_assistant)
            out.append(SourceTurn(archive.live(memory.path), turn, bullet, worth))
    return out


def quotes(turn: Utterance) -> bool:
    """Is this an answer that holds nothing but lines of the memories?"""
    return turn.speaker.casefold() == ASSISTANT and turn.text.startswith(OPENINGS)


def signs(turn: Utterance, context: Context, day: dt.date | None, rarity: Callable[[str], float]) -> dict[str, float]:
    """What speaks for and against a turn, by the names of `WEIGHTS`, before weighting."""
    previous, words = context.previous, content(turn.text)
    asked = previous is not None and previous.speaker != turn.speaker and _ASKED.search(previous.text) is not None
    return readable.signs(turn, context) | {
        "rarity": sum(map(rarity, words)) / max(1, len(words)),
        "names": math.log1p(len(set(_NAME.findall(turn.text)))),
        "title": float(_QUOTED.search(turn.text) is not None),
        "date": float(bool(dates.mentioned(turn.text, day or dt.date(2000, 1, 1)))),
        "asked what": float(asked),
    }


def chosen(turns: Iterable[SourceTurn], budget: float, room: Mapping[str, float]) -> dict[str, list[Bullet]]:
    """The bullets of the turns that carry the most, by source, within `budget` bytes and the tokens that all sources have
    `room` for; of each source at least the most telling turn that it has room for itself.
    """
    turns = [turn for turn in turns if turn.bullet.tokens <= room[turn.path]]
    kept: dict[_Key, _KeptTurns] = {}
    size, count = 0, 0
    least, most = {id(turn) for turn in _best(turns).values()}, sum(room.values())
    for turn in sorted(turns, key=lambda turn: (id(turn) not in least, -_merit(turn))):
        group = kept.setdefault((turn.path, turn.bullet.path, turn.bullet.speaker), _KeptTurns([], []))
        change = group.with_one(turn)
        fits = size + change.size <= budget and count + change.tokens <= most
        if id(turn) in least or (turn.worth and fits):
            group.take(change)
            size, count = size + change.size, count + change.tokens
    found: dict[str, list[Bullet]] = {}
    for turns in sorted(
        (one.turns for one in kept.values() if one.turns), key=lambda turns: (turns[0].path, turns[0].turn.line)
    ):
        found.setdefault(turns[0].path, []).extend(together(turns))
    return found


class _Bundle(NamedTuple):
    """The turns that share a bullet: how many, and the bytes and tokens of the bullet."""

    turns: int
    size: int
    tokens: int


class _SummaryChange(NamedTuple):
    """What one turn more does to the bullets of its speaker: bundles from `first` up to `last` become others."""

    place: int
    turn: SourceTurn
    first: int
    last: int
    bundles: list[_Bundle]
    size: int
    tokens: int


class _KeptTurns(NamedTuple):
    """The turns of one speaker in one conversation that are kept, in order, and how `together` bundles them."""

    turns: list[SourceTurn]
    bundles: list[_Bundle]

    def with_one(self, turn: SourceTurn) -> _SummaryChange:
        """What keeping one more changes. Bundles before it stay, and those behind it from where the old and the new agree."""
        place = bisect.bisect_right(self.turns, turn.turn.line, key=lambda said: said.turn.line)
        first, start = 0, 0
        while first < len(self.bundles) and start + self.bundles[first].turns < place:
            start += self.bundles[first].turns
            first += 1
        new, last, old_end, end = list[_Bundle](), first, start, start
        for bullet, turns in _counted(self._from(start, place, turn)):
            bundle = _Bundle(turns, len(str(bullet).encode("utf-8", "replace")), bullet.tokens)
            new.append(bundle)
            end += bundle.turns
            while last < len(self.bundles) and old_end < end - 1:
                old_end += self.bundles[last].turns
                last += 1
            if end > place and old_end == end - 1:
                break
        old = self.bundles[first:last]
        size = sum(one.size for one in new) - sum(one.size for one in old)
        return _SummaryChange(
            place, turn, first, last, new, size, sum(one.tokens for one in new) - sum(one.tokens for one in old)
        )

    def _from(self, start: int, place: int, turn: SourceTurn) -> Iterator[SourceTurn]:
        """The turns from one on, with another among them."""
        yield from itertools.islice(self.turns, start, place)
        yield turn
        yield from itertools.islice(self.turns, place, None)

    def take(self, change: _SummaryChange) -> None:
        """Keep the turn."""
        self.turns.insert(change.place, change.turn)
        self.bundles[change.first : change.last] = change.bundles


def together(turns: Iterable[SourceTurn]) -> Iterator[Bullet]:
    """The bullets of one speaker's turns in one conversation, a few in each, so that they share a link."""
    return (bullet for bullet, _ in _counted(turns))


def _counted(turns: Iterable[SourceTurn]) -> Iterator[tuple[Bullet, int]]:
    """These bullets, each with how many of the turns share it."""
    bullet, count = None, 0
    for turn in turns:
        if (
            bullet
            and bullet.speaker
            and len(bullet.lines) + len(turn.bullet.lines) <= TURNS
            and len(bullet.text) + len(turn.bullet.text) <= LETTERS
        ):
            text = f"{bullet.text} … {turn.bullet.text}"
            bullet, count = bullet._replace(text=text, lines=bullet.lines + turn.bullet.lines), count + 1
            continue
        if bullet:
            yield bullet, count
        bullet, count = turn.bullet, 1
    if bullet:
        yield bullet, count


def _merit(turn: SourceTurn) -> float:
    return float(turn.worth / (PRICE + len(turn.bullet.text)) ** THRIFT)


def probes(turns: Iterable[SourceTurn]) -> dict[str, str]:
    """For each path, its most telling turn as a question that should find it; dates aside, which `last week` would mislead."""
    return {path: _undated(said.bullet.text[:300]) for path, said in _best(turns).items()}


def _undated(text: str) -> str:
    for mention in reversed(dates.mentioned(text, dt.date(2000, 1, 1))):
        text = f"{text[: mention.start]} {text[mention.end :]}"
    return text


def _best(turns: Iterable[SourceTurn]) -> dict[str, SourceTurn]:
    """The most telling turn of each path."""
    best: dict[str, SourceTurn] = {}
    for turn in turns:
        if turn.path not in best or turn.worth > best[turn.path].worth:
            best[turn.path] = turn
    return best


def day_of(memory: Memory) -> dt.date | None:
    """The day that a conversation's `yesterday` counts from; None where its name has a month alone."""
    return memory.date if memory.when and not memory.when.month else None
