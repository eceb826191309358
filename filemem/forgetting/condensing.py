"""What a summary says of some conversations: a model's statements with the turns they rest on, else the most telling turns.

A turn is worth more where it names a day, a number or a name, answers a question, tells of its speaker, and in rare words. The
weights are those of a logistic regression on the turns that answer LoCoMo's questions (Maharana et al. 2024, five conversations),
rounded. Of two equals the shorter is kept, since it leaves room for others.
"""

import bisect
import datetime as dt
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from filemem.files import archive
from filemem.files.memory import Memory
from filemem.files.sections import Bullet
from filemem.files.transcript import ASSISTANT
from filemem.models import Model, ModelError, prompt
from filemem.models.offline import program_says
from filemem.text import dates, redaction, terms
from filemem.text.own_patterns import OwnPatterns
from filemem.text.plain import escape_controls, one_line

WEIGHTS = {
    "rarity": 0.95,  # mean inverse frequency of its words in all memories, as a logarithm
    "date": 1.3,  # it names a day or a time: yesterday, in May
    "title": 0.7,  # it quotes something
    "answer": 0.75,  # it follows a question
    "own": 0.5,  # its speaker tells of themselves
    "name": 0.4,
    "number": 0.4,
    "opening": 0.8,  # it is the first of its conversation
    "question": -1.2,  # it ends in a question
    "long talk": -0.5,  # log of the number of turns, from 14 to 45
}
INTERCEPT = -4.1
PRICE = 60  # characters that a bullet costs besides its text: speaker, link, line
THRIFT = 0.8  # how strongly length counts against a turn
TURNS, LETTERS = 3, 500  # of one speaker that share a bullet, and with it a link; characters of such a bullet
TRIED = 40  # turns that are tried one by one where the next in the ranking has no room
ENOUGH = 120  # letters and digits, behind which a turn is cut at the end of a sentence
CJK_PER_WORD = 1.6  # Chinese characters that say as much as one English word; translations of one talk differ by this
OF_ONESELF = 1.2  # what is added where a person tells an assistant of themselves, which they do tersely
LONGEST = 1000  # characters of one statement
TEXT = 0.65  # of a summary's bytes, what is text; the rest are links
LEAST = 60  # words
COVERED = 0.1  # of the turns with a name or a number, the least that a model's summary must cite
_CJK = re.compile(f"[{terms.CJK}]")
_WORD = re.compile(rf"[{terms.CJK}]|[^\W_{terms.CJK}](?:[^\W{terms.CJK}]|['&+.-](?=[^\W{terms.CJK}]))*")
_END = re.compile(r"(?<=[.!?…][\"”’')])\s+|(?<=[.!?…])\s+|(?<=[。！？])(?![。！？”’」』）])|\n+")
_QUOTED = re.compile(r"[\"“][^\"“”]{2,80}[\"”]|《[^《》]{1,80}》|「[^「」]{2,80}」")
_BULLET = re.compile(
    r"\s*[-*•]\s+(.+?)\s*[(\[（【]\s*(\d+:\d+(?:\s*[,;，、]\s*\[?\d+:\d+\]?)*)\s*[)\]）】]\s*[.。]?\s*$"
)
_NUMBER = re.compile(r"\d|[两三四五六七八九十百千万]")
_LABEL = re.compile(r"(\d+):(\d+)")


class Said(NamedTuple):
    """What `speaker` said in one go; `line` is where it stands in its file."""

    speaker: str
    text: str
    line: int = 0


class SourceTurn(NamedTuple):
    """A turn of a source, the bullet that it would be alone, what keeping it is worth."""

    path: str
    turn: Said
    bullet: Bullet
    worth: float


def trimmed(text: str) -> str:
    """The first sentences of a turn, captions aside, until they have ENOUGH letters and digits; on one line."""
    kept: list[str] = []
    for sentence in _END.split(terms.split_captions(text)[0].strip()):
        if sum(character.isalnum() for part in kept for character in part) >= ENOUGH:
            break
        kept.append(" ".join(sentence.split()))
    return " ".join(filter(None, kept)) or " ".join(text.split())


def bullets_of(memory: Memory, own: OwnPatterns) -> list[tuple[Said, Bullet]]:
    """The turns of a conversation, each with the bullet that it would be: trimmed, secrets out, relative dates resolved."""
    path, day, found = archive.live(memory.path), memory.day, []
    for passage in memory.passages:
        if passage.text.strip():
            text = redaction.redact(escape_controls(trimmed(passage.text)), own)[0]
            said_on = passage.day or day
            text = dates.annotate(text, said_on) if said_on else text
            bullet = Bullet(one_line(passage.speaker, 80), text, path, (passage.line,))
            found.append((Said(passage.speaker, passage.text, passage.line), bullet))
    return found


def weighted_turns(
    sources: Iterable[tuple[Memory, list[tuple[Said, Bullet]]]], rarity: Callable[[str], float]
) -> list[SourceTurn]:
    """Every turn of some sources, in order, with what keeping it is worth; `rarity` is a word's inverse frequency."""
    out = list[SourceTurn]()
    for memory, found in sources:
        turns = [turn for turn, _ in found]
        to_assistant = ASSISTANT in {turn.speaker.casefold() for turn in turns}
        for place, (turn, bullet) in enumerate(found):
            said = turn_features(turn, turns[place - 1] if place else None, len(turns), memory.day, rarity)
            total = INTERCEPT + math.fsum(weight * said[name] for name, weight in WEIGHTS.items())
            machine = turn.speaker.casefold() == ASSISTANT
            total += OF_ONESELF if to_assistant and not machine and said["own"] else 0
            worth = (0.5 if machine else 1) / (1 + math.exp(-total))
            quotes = terms.flags(turn.text) & terms.CITES or program_says(turn.text)
            out.append(SourceTurn(archive.live(memory.path), turn, bullet, 0.0 if machine and quotes else worth))
    return out


def turn_features(
    turn: Said, previous: Said | None, turns: int, day: dt.date | None, rarity: Callable[[str], float]
) -> dict[str, float]:
    """What speaks for and against a turn behind another, one of so many, by the names of `WEIGHTS`, before weighting."""
    words, flags = terms.content(turn.text), terms.flags(turn.text)
    before = previous.text[-2_000:] if previous and previous.speaker != turn.speaker else ""
    return {
        # Added up so that the order of a set, which differs from run to run, changes nothing.
        "rarity": math.fsum(map(rarity, words)) / max(1, len(words)),
        "date": float(bool(dates.mentioned(turn.text, day or dt.date(2000, 1, 1)))),
        "title": float(_QUOTED.search(turn.text) is not None),
        "answer": float(bool(terms.flags(before) & terms.IS_QUESTION)) if before else 0.0,
        "own": float(bool(flags & terms.FIRST_PERSON)),
        "name": float(bool(flags & terms.HAS_NAME)),
        "number": float(_NUMBER.search(turn.text) is not None),
        "opening": float(previous is None),
        "question": float(bool(flags & terms.IS_QUESTION)),
        "long talk": math.log(min(max(turns, 14), 45)),
    }


def length(text: str) -> float:
    """The text's length in English words, CJK characters reckoned at `CJK_PER_WORD` to a word."""
    words = _WORD.findall(text)
    han = sum(1 for word in words if _CJK.match(word))
    return len(words) - han + han / CJK_PER_WORD


def chosen(turns: Iterable[SourceTurn], budget: float, room: Mapping[str, float]) -> dict[str, list[Bullet]]:
    """The bullets of the turns that carry the most, by source: as many as fit within `budget` bytes and the tokens that all
    sources have `room` for; of each source at least the most telling turn that it has room for itself.
    """
    turns = [turn for turn in turns if turn.bullet.tokens <= room[turn.path]]
    least = _best(turns)
    others = [turn for turn in turns if turn.worth and turn is not least[turn.path]]
    others.sort(key=lambda turn: turn.worth / (PRICE + len(turn.bullet.text)) ** THRIFT, reverse=True)
    ranked = [*least.values(), *others]

    def left(kept: list[SourceTurn]) -> tuple[float, float]:
        """The bytes and tokens that some turns leave, together in their bullets."""
        bullets = [bullet for found in _bundled(kept).values() for bullet in found]
        size = sum(len(str(bullet).encode("utf-8", "replace")) for bullet in bullets)
        return budget - size, sum(room.values()) - sum(bullet.tokens for bullet in bullets)

    places = range(len(least) + 1, len(ranked) + 1)
    count = len(least) + bisect.bisect_left(places, True, key=lambda count: min(left(ranked[:count])) < 0)
    kept = ranked[:count]
    for turn in ranked[count : count + TRIED]:
        if min(left([*kept, turn])) >= 0:
            kept.append(turn)
    return _bundled(kept)


def _bundled(turns: Iterable[SourceTurn]) -> dict[str, list[Bullet]]:
    """The bullets of some turns by source: a few turns of one speaker share a bullet, and with it a link."""
    kept: dict[tuple[str, str, str], list[SourceTurn]] = {}
    for turn in sorted(turns, key=lambda turn: (turn.path, turn.turn.line)):
        kept.setdefault((turn.path, turn.bullet.path, turn.bullet.speaker), []).append(turn)
    found: dict[str, list[Bullet]] = {}
    for (path, *_), said in kept.items():
        found.setdefault(path, []).extend(_joined(turn.bullet for turn in said))
    return found


def _joined(bullets: Iterable[Bullet]) -> list[Bullet]:
    """The bullets of one speaker, neighbours made one while it is not too long."""
    joined: list[Bullet] = []
    for bullet in bullets:
        last = joined[-1] if joined else bullet
        fits = len(last.lines) + len(bullet.lines) <= TURNS and len(last.text) + len(bullet.text) <= LETTERS
        if joined and last.speaker and fits:
            joined[-1] = last._replace(text=f"{last.text} … {bullet.text}", lines=last.lines + bullet.lines)
        else:
            joined.append(bullet)
    return joined


def probe_questions(turns: Iterable[SourceTurn]) -> dict[str, str]:
    """For each path, its most telling turn as a question that should find it; dates aside, which `last week` would mislead."""
    found = {path: said.bullet.text[:300] for path, said in _best(turns).items()}
    for path, text in found.items():
        for mention in reversed(dates.mentioned(text, dt.date(2000, 1, 1))):
            found[path] = f"{found[path][: mention.start]} {found[path][mention.end :]}"
    return found


def _best(turns: Iterable[SourceTurn]) -> dict[str, SourceTurn]:
    """The most telling turn of each path."""
    best: dict[str, SourceTurn] = {}
    for turn in turns:
        if turn.path not in best or turn.worth > best[turn.path].worth:
            best[turn.path] = turn
    return best


def bullets(model: Model, memories: Sequence[Memory], share: float, own: OwnPatterns) -> tuple[list[Bullet], list[str]]:
    """The model's statements on some conversations, none where they are too few or it fails; and a sentence on what went wrong.

    A statement whose labels are no turns is dropped. Its first label decides which conversation it belongs to.
    """
    ask = [
        {"role": "system", "content": prompt.template("compact").replace("{room}", _room(memories, share))},
        {"role": "user", "content": "\n".join(_told(number, memory, own) for number, memory in enumerate(memories, 1))},
    ]
    try:
        reply = model.ask(ask, [], lambda _: None)
    except ModelError as error:
        return [], [f"no summary from the model: {error}"]
    found, passed_over = _parsed(reply.text, memories, own)
    notes = [f"left out of the summary, as it cites no turn: {line}" for line in passed_over]
    wrong = _wrong(found, memories)
    return ([], [*notes, f"the model's summary was refused: {wrong}"]) if wrong else (found, notes)


def _room(memories: Sequence[Memory], share: float) -> str:
    """How long a summary may be: `300 words`, or characters where most is Chinese."""
    said = " ".join(p.text for memory in memories for p in memory.passages)
    chinese = terms.is_chinese(said)
    room = share * TEXT * length(said)
    return f"{max(LEAST, round(room * CJK_PER_WORD if chinese else room))} {'characters' if chinese else 'words'}"


def _told(number: int, memory: Memory, own: OwnPatterns) -> str:
    """One conversation as the model reads it, secrets taken out, each turn with its label under its day."""
    lines, day = list[str](), None
    for passage in memory.passages:
        said_on = passage.day or memory.day
        if said_on and said_on != day:
            lines.append(f"{said_on:%A} {said_on.day} {said_on:%B %Y}:")
            day = said_on
        text = " ".join((dates.annotate(passage.text, said_on) if said_on else passage.text).split())
        lines.append(f"[{number}:{passage.line}] {passage.speaker + ': ' if passage.speaker else ''}{text}")
    text = redaction.redact("\n".join(lines), own)[0]
    return f"Conversation {number}:\n{prompt.data(memory.path, text)}"


def _parsed(answer: str, memories: Sequence[Memory], own: OwnPatterns) -> tuple[list[Bullet], list[str]]:
    """The statements in an answer whose every label is a line of a turn, and the items that have none such."""
    turns = [{p.line for p in memory.passages} for memory in memories]
    found, passed_over = list[Bullet](), list[str]()
    for line in answer.split("\n"):
        match = _BULLET.match(line)
        labels = [(int(a), int(b)) for a, b in _LABEL.findall(match[2])] if match else []
        if match and all(0 < number <= len(turns) and at in turns[number - 1] for number, at in labels):
            first = labels[0][0]
            lines = tuple(dict.fromkeys(at for number, at in labels if number == first))
            text = redaction.redact(one_line(match[1].replace("**", ""), LONGEST), own)[0]
            found.append(Bullet("", text, memories[first - 1].path, lines))
        elif re.match(r"\s*[-*•]\s", line):
            passed_over.append(one_line(line, 80))
    return found, passed_over


def _wrong(found: Sequence[Bullet], memories: Sequence[Memory]) -> str:
    """Why an answer is not used, as a sentence; empty for a good one."""
    if not found:
        return "it holds no statement with the labels of its lines."
    if sum(len(bullet.text) for bullet in found) > sum(len(p.text) for memory in memories for p in memory.passages):
        return "it is longer than the conversations."
    telling = {
        (memory.path, p.line)
        for memory in memories
        for p in memory.passages
        if terms.flags(p.text) & terms.HAS_NAME or _NUMBER.search(p.text)
    }
    cited = {(bullet.path, line) for bullet in found for line in bullet.lines}
    few = len(telling & cited) < COVERED * len(telling)
    return f"it rests on {len(telling & cited)} of {len(telling)} turns with names or numbers." if few else ""
