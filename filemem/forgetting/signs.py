"""What in a turn speaks for keeping it in a summary: readable signs, each counted alike in English and Chinese."""

import datetime as dt
import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from filemem.files.transcript import ASSISTANT
from filemem.text import terms
from filemem.text.statements import table, told
from filemem.text.statements.sentences import TELLING, Utterance, plainly, sentences

CJK_PER_WORD = 1.6  # Chinese characters that say as much as one English word; translations of one talk differ by this
OF_ONESELF = 1.2  # what is added where a person tells an assistant of themselves, which they do tersely
WEIGHTY = 8  # importance of a statement from which its turn is kept however short it is and wherever it stands

_CJK = re.compile(f"[{terms.CJK}]")
_WORD = re.compile(rf"[{terms.CJK}]|[^\W_{terms.CJK}](?:[^\W{terms.CJK}]|['&+.-](?=[^\W{terms.CJK}]))*")
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
_NAME = re.compile(r"(?<=[a-z,;:'] )[A-Z][a-zA-Z]+|[\"“《「][^\"”》」]{2,60}[\"”》」]")


class Context(NamedTuple):
    """Where a turn stands: the turn before it, its place (from 0) among `turns` turns."""

    previous: Utterance | None
    place: int
    turns: int


def contexts(turns: Sequence[Utterance]) -> list[Context]:
    """The context of each turn of one conversation."""
    return [Context(turns[place - 1] if place else None, place, len(turns)) for place in range(len(turns))]


def signs(turn: Utterance, context: Context) -> dict[str, float]:
    """What speaks for and against keeping the turn, by name, before weighting."""
    parts = sentences(turn.text)
    said = " ".join(plainly(part.text) for part in parts if part.role == TELLING)
    asking = sum(length(part.text) for part in parts if part.role == "question")
    return {
        "answer": float(_answers(turn, context)),
        "question": asking / max(length(turn.text), 1),
        "event": min(len(_EVENT.findall(said)), 2),
        "liking": min(len(_LIKING.findall(said)), 2),
        "particulars": _particulars(said),
        "opening": float(context.place == 0),
        "long talk": math.log(min(max(context.turns, 14), 45)),
    }


def valued(turn: Utterance, day: dt.date, total: float, *, to_assistant: bool) -> float:
    """A weighted sum of signs as a score from 0 to 1, with what holds whatever the signs: 1 where a person asks to remember it,
    half of it for an assistant."""
    if turn.speaker.casefold() == ASSISTANT:
        return 0.5 / (1 + math.exp(-total))
    if to_assistant and any(
        part.role == TELLING and table.sign("first person", part.text) for part in sentences(turn.text)
    ):
        total += OF_ONESELF
    value = 1 / (1 + math.exp(-total))
    kept = told(turn, day, to_assistant=to_assistant).statements
    if any(one.asked for one in kept):
        return 1.0
    return max(value, 0.6) if any(one.kind.importance >= WEIGHTY for one in kept) else value


def length(text: str) -> float:
    """The text's length in English words, CJK characters reckoned at `CJK_PER_WORD` to a word."""
    words = _WORD.findall(text)
    han = sum(1 for word in words if _CJK.match(word))
    return len(words) - han + han / CJK_PER_WORD


def _answers(turn: Utterance, context: Context) -> bool:
    previous = context.previous
    if previous is None or previous.speaker == turn.speaker:
        return False
    parts = sentences(previous.text[-2_000:])
    return bool(parts) and parts[-1].role == "question"


def _particulars(said: str) -> int:
    flags = terms.flags(said)
    certain = bool(flags & terms.HAS_TIME_WORD) + bool(flags & terms.HAS_NUMBER)
    names = min(len(set(_NAME.findall(said))), 3)
    return min(certain + names + min(len(_KIN.findall(said)), 2), 4)
