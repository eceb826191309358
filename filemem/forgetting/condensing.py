"""What a summary says of some conversations: a model's statements, checked by code, or without one the most telling turns.

A turn is worth more where it names a day, answers a question, tells what its speaker did or likes, in rare words and with
names. The weights are those of a logistic regression on the turns that answer LoCoMo's questions (Maharana et al. 2024,
five conversations), rounded; fitted to four of them, they keep as much of the fifth. What a speaker asks to remember is
kept first. Of two equals the shorter is kept, since it leaves room for others.
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
from filemem.models.offline import only_quotes
from filemem.text import bounded, dates, redaction, terms
from filemem.text.bounded import DatedText
from filemem.text.own_patterns import OwnPatterns
from filemem.text.plain import escape_controls, one_line
from filemem.text.statements import read_turn as heard
from filemem.text.statements import table
from filemem.text.statements.sentences import TELLING, Utterance, is_chinese, plainly, sentences
from filemem.text.statements.words import content

WEIGHTS = {
    "rarity": 0.95,  # mean inverse frequency of its words in all memories, as a logarithm
    "date": 1.3,  # it names a day or a time: yesterday, in May
    "asked what": 0.6,  # it follows a question with what, where, when, who, which, how many
    "names": 0.3,  # log(1 + names and titles)
    "title": 0.7,  # it quotes something
    "answer": 0.75,  # it follows a question
    "event": 0.5,  # what its speaker did; two count
    "liking": 0.65,  # what they like; two count
    "particulars": 0.4,  # time, number, names, kin; four count
    "opening": 0.8,  # it is the first of its conversation
    "question": -1.2,  # the part of it that asks
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
WEIGHTY = 8  # importance of a statement from which its turn is kept however short it is and wherever it stands
_CJK = re.compile(f"[{terms.CJK}]")
_WORD = re.compile(rf"[{terms.CJK}]|[^\W_{terms.CJK}](?:[^\W{terms.CJK}]|['&+.-](?=[^\W{terms.CJK}]))*")
_END = re.compile(r"(?<=[.!?…][\"”’')])\s+|(?<=[.!?…])\s+|(?<=[。！？])(?![。！？”’」』）])|\n+")
_NAME = re.compile(r"(?<=[\w,;:] )[A-Z][\w’'-]+|《[^《》]+》|\[\[[^\[\]]+\]\]")
_QUOTED = re.compile(r"[\"“][^\"“”]{2,80}[\"”]|《[^《》]{1,80}》|「[^「」]{2,80}」")
_ASKED = re.compile(
    r"\b(?:what|where|when|who|which|how (?:many|much|long|old|often|far))\b[^.!?]*\?"
    r"|(?:什么|哪|谁|几|多少|多久|多大|何时|怎么)[^。！？?]*[？?]",
    re.IGNORECASE,
)
_EVENT = re.compile(
    r"\b(?:i|we)(?:'d| just| also| even| recently| finally| already| actually| once| really)* (?:\w+ed|went|got|took|made|had|was"
    r"|were|saw|met|found|bought|won|lost|did|came|gave|started|began|wrote|ran|ate|built|taught|left|said|told|felt|knew|sent"
    r"|spent|drove|flew|grew|held|kept|put|fell|broke|chose|heard|paid|sold|wore|used to)\b|\b(?:i've|we've|i have|we have)"
    r"(?: \w+)? (?:\w+ed|been|gone|got|taken|made|had|seen|met|found|won|lost|done|written|read)\b|[我咱][^，。！？,]{0,14}[了过]"
    r"|[我咱][^，。！？,]{0,4}(?:昨|曾|以前|上[周个次]|去年|那[年时天])|[昨上去][天周个年次]?[^，。！？]{0,4}我",
    re.IGNORECASE,
)
_LIKING = re.compile(
    r"\b(?:i|we)(?: \w+)? (?:love|like|enjoy|prefer|hate|adore|dislike)\b|\bfav(?:ou?rite|es?)?\b|\bpassion"
    r"|\b(?:really|been) into\b|\bfan of\b|\binterested in\b|\bhobb|喜欢|喜爱|热爱|最爱|讨厌|偏爱|迷上|感兴趣|热情",
    re.IGNORECASE,
)
_KIN = re.compile(
    r"\b(?:mom|mum|mother|dad|father|parent|sister|brother|son|daughter|kid|child(?:ren)?|wife|husband|family|friend|aunt|uncle"
    r"|cousin|grand\w+|niece|nephew|partner|boyfriend|girlfriend|dog|cat|puppy|kitten|pet|colleague|neighbou?r|boss)s?\b"
    r"|[妈爸父母姐妹哥弟]|儿子|女儿|孩子|妻子|丈夫|老[公婆]|太太|家人|朋友|同事|[爷奶]|外[公婆]|[猫狗]|宠物|[男女]友|老板|邻居",
    re.IGNORECASE,
)
_PARTICULAR = re.compile(r"(?<=[a-z,;:'] )[A-Z][a-zA-Z]+|[\"“《「][^\"”》」]{2,60}[\"”》」]")


class SourceTurn(NamedTuple):
    """A turn of a source, the bullet that it would be alone, what keeping it is worth."""

    path: str
    turn: Utterance
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


def bullets_of(memory: Memory, own: OwnPatterns) -> list[tuple[Utterance, Bullet]]:
    """The turns of a conversation, each with the bullet that it would be: trimmed, secrets out, relative dates resolved."""
    path, day, found = archive.live(memory.path), memory.day, []
    for passage in memory.passages:
        if passage.text.strip():
            text = redaction.redact(escape_controls(trimmed(passage.text)), own)[0]
            said_on = passage.day or day
            text = dates.annotate(text, said_on) if said_on else text
            bullet = Bullet(one_line(passage.speaker, 80), text, path, (passage.line,))
            found.append((Utterance(passage.speaker, passage.text, passage.line), bullet))
    return found


def weighted_turns(
    sources: Iterable[tuple[Memory, list[tuple[Utterance, Bullet]]]], rarity: Callable[[str], float]
) -> list[SourceTurn]:
    """Every turn of some sources, in order, with what keeping it is worth; `rarity` is a word's inverse frequency."""
    out = list[SourceTurn]()
    for memory, found in sources:
        turns = [turn for turn, _ in found]
        to_assistant = ASSISTANT in {turn.speaker.casefold() for turn in turns}
        for place, (turn, bullet) in enumerate(found):
            said = turn_features(turn, turns[place - 1] if place else None, len(turns), memory.day, rarity)
            total = INTERCEPT + sum(weight * said[name] for name, weight in WEIGHTS.items())
            day = memory.day or dt.date(2000, 1, 1)
            worth = 0.0 if quotes(turn) else valued(turn, day, total, to_assistant=to_assistant)
            out.append(SourceTurn(archive.live(memory.path), turn, bullet, worth))
    return out


def quotes(turn: Utterance) -> bool:
    """Is this an answer that holds nothing but lines of the memories?"""
    return turn.speaker.casefold() == ASSISTANT and only_quotes(turn.text)


def turn_features(
    turn: Utterance, previous: Utterance | None, turns: int, day: dt.date | None, rarity: Callable[[str], float]
) -> dict[str, float]:
    """What speaks for and against a turn behind another, one of so many, by the names of `WEIGHTS`, before weighting."""
    parts, words = sentences(turn.text), content(turn.text)
    said = " ".join(plainly(part.text) for part in parts if part.role == TELLING)
    asking = sum(length(part.text) for part in parts if part.role == "question")
    before = previous.text if previous and previous.speaker != turn.speaker else ""
    ends = sentences(before[-2_000:])[-1:]
    return {
        "rarity": sum(map(rarity, words)) / max(1, len(words)),
        "names": math.log1p(len(set(_NAME.findall(turn.text)))),
        "title": float(_QUOTED.search(turn.text) is not None),
        "date": float(bool(dates.mentioned(turn.text, day or dt.date(2000, 1, 1)))),
        "asked what": float(_ASKED.search(before) is not None),
        "answer": float(any(part.role == "question" for part in ends)),
        "question": asking / max(length(turn.text), 1),
        "event": min(len(_EVENT.findall(said)), 2),
        "liking": min(len(_LIKING.findall(said)), 2),
        "particulars": _particulars(said),
        "opening": float(previous is None),
        "long talk": math.log(min(max(turns, 14), 45)),
    }


def _particulars(said: str) -> int:
    flags = terms.flags(said)
    certain = bool(flags & terms.HAS_TIME_WORD) + bool(re.search(r"\d|[两三四五六七八九十百千万几]", said))
    names = min(len(set(_PARTICULAR.findall(said))), 3)
    return min(certain + names + min(len(_KIN.findall(said)), 2), 4)


def valued(turn: Utterance, day: dt.date, total: float, *, to_assistant: bool) -> float:
    """The score of a turn, from 0 to 1, by the weighted sum `total`: always 1 where a person asks to remember it, at least 0.6
    where it holds a weighty fact, half for an assistant's turn."""
    if turn.speaker.casefold() == ASSISTANT:
        return 0.5 / (1 + math.exp(-total))
    if to_assistant and any(
        part.role == TELLING and table.sign("first person", part.text) for part in sentences(turn.text)
    ):
        total += OF_ONESELF
    value = 1 / (1 + math.exp(-total))
    kept = heard(turn, day, to_assistant=to_assistant).statements
    if any(one.asked for one in kept):
        return 1.0
    return max(value, 0.6) if any(one.kind.importance >= WEIGHTY for one in kept) else value


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


_BULLET = re.compile(
    r"\s*[-*•]\s+(.+?)\s*[(\[（【]\s*(\d+:\d+(?:\s*[,;，、]\s*\[?\d+:\d+\]?)*)\s*[)\]）】]\s*[.。]?\s*$"
)
_LABEL = re.compile(r"(\d+):(\d+)")
LONGEST = 1000  # characters of one statement
TEXT = 0.65  # of a summary's bytes, what is text; the rest are links
LEAST = 60  # words


def bullets(model: Model, memories: Sequence[Memory], share: float, own: OwnPatterns) -> tuple[list[Bullet], list[str]]:
    """The model's statements on some conversations, none where it has failed twice; and a sentence for each failure.

    A statement's first line of the sources decides which conversation it belongs to.
    """
    told = [_told(number, memory, own) for number, memory in enumerate(memories, 1)]
    ask = [
        {"role": "system", "content": prompt.template("compact").replace("{room}", _room(memories, share))},
        {"role": "user", "content": "\n".join(told)},
    ]
    failures: list[str] = []
    for _ in range(2):
        try:
            reply = model.ask(ask, [], lambda _: None)
        except ModelError as error:
            return [], [*failures, f"no summary from the model: {error}"]
        found = _parsed(reply.text, memories, own)
        wrong = _wrong(found, memories, reply.finish)
        if not wrong:
            return found, failures
        failures.append(f"the model's summary was refused: {wrong}")
        ask += [
            {"role": "assistant", "content": reply.text or "(nothing)"},
            {"role": "user", "content": f"This was refused: {wrong} Write it again by the rules."},
        ]
    return [], failures


def _room(memories: Sequence[Memory], share: float) -> str:
    """How long a summary may be: `300 words`, or characters where most is Chinese."""
    said = " ".join(p.text for memory in memories for p in memory.passages)
    chinese = is_chinese(said)
    room = share * TEXT * length(said)
    return f"{max(LEAST, round(room * CJK_PER_WORD if chinese else room))} {'characters' if chinese else 'words'}"


def _told(number: int, memory: Memory, own: OwnPatterns) -> str:
    """One conversation as the model reads it, secrets taken out, each turn with its label."""
    lines = [
        f"[{number}:{p.line}] {p.speaker + ': ' if p.speaker else ''}{' '.join(p.text.split())}"
        for p in memory.passages
    ]
    day = memory.day
    text = redaction.redact("\n".join(lines), own)[0]
    return f"Conversation {number}{f', of {day:%A %d %B %Y}' if day else ''}:\n{prompt.data(memory.path, text)}"


def _parsed(answer: str, memories: Sequence[Memory], own: OwnPatterns) -> list[Bullet]:
    """The statements in an answer whose every label is a line of a turn; all else is passed over."""
    turns = [{p.line for p in memory.passages} for memory in memories]
    found = []
    for line in answer.split("\n"):
        match = _BULLET.match(line)
        labels = [(int(a), int(b)) for a, b in _LABEL.findall(match[2])] if match else []
        if match and all(0 < number <= len(turns) and at in turns[number - 1] for number, at in labels):
            first = labels[0][0]
            lines = tuple(dict.fromkeys(at for number, at in labels if number == first))
            text = redaction.redact(one_line(match[1].replace("**", ""), LONGEST), own)[0]
            found.append(Bullet("", text, memories[first - 1].path, lines))
    return found


def _wrong(found: Sequence[Bullet], memories: Sequence[Memory], finish: str) -> str:
    """Why an answer is not used, as a sentence; empty for a good one."""
    if finish == "length":
        return "it was cut off."
    if not found:
        return "it holds no statement with the labels of its lines."
    if sum(len(bullet.text) for bullet in found) > sum(len(p.text) for memory in memories for p in memory.passages):
        return "it is longer than the conversations."
    sources = []
    for memory in memories:
        sources += [
            DatedText(f"{p.speaker}: {p.text}" if p.speaker else p.text, p.day or memory.day) for p in memory.passages
        ]
    extra = bounded.unsupported_details((bullet.text for bullet in found), sources)
    return f"the conversations do not have {', '.join(one_line(item, 40) for item in extra[:5])}." if extra else ""
