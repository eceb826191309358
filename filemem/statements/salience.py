"""Which turns of a conversation tell something worth keeping, without a model: a weighted sum of readable signs.

The weights are those of a logistic regression with strong shrinkage, rounded. It was fitted to the turns that the
`observation` labels of five conversations of LoCoMo (Maharana et al. 2024) cite; `benchmarks/consolidation.py` measures
them. Each sign is one that a reader would name too, and is counted alike in English and Chinese, though fitted to
English alone.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from filemem import terms
from filemem.statements.cues import INSTRUCTION
from filemem.statements.utterance import (
    ASSISTANT,
    FIRST,
    KIN,
    QUESTION,
    SECOND,
    TELLING,
    Sentence,
    Turn,
    asks,
    cased,
    length,
    regex,
    sentences,
)

THRESHOLD = 0.5  # a turn over it is kept as a source of facts; the intercept is set so that this is where F1 is best
INTERCEPT = 1.0
WEIGHTS = {
    "new words": 0.35,  # log(1 + content words that the conversation had not heard): what is told again is known
    "rare words": 0.10,  # their mean inverse frequency in earlier conversations
    "words": 0.45,  # log(1 + all words): a long turn has more to say
    "I": 0.15,  # first-person words in what is told, up to 4: people tell of themselves
    "you": -0.25,  # second-person words in what is told, up to 2: talk about the other is no news to them
    "answer": 0.65,  # it follows a question of the other one
    "question": -0.75,  # share of its words that ask
    "event": 0.30,  # what I did or have done, up to 2
    "doing": 0.60,  # what I am or have been doing, up to 2
    "plan": 0.10,  # what I am going to do, hope for or dream of, up to 2
    "liking": 0.35,  # what I like, love or hate, up to 2
    "mine": 0.20,  # what I have, up to 2
    "particulars": 0.25,  # names, kin, times and numbers, up to 4
    "impression": -0.35,  # "it was so special", "the best part": a feeling about what was told before, up to 2
    "exclamations": -0.10,  # up to 4
    "opening": 0.60,  # the first turn brings the news
    "taken up": 0.05,  # content words that the next turn repeats, up to 4
    "long talk": -1.20,  # log(turns), from 14 to 45: a talk twice as long does not hold twice the facts
}

REMEMBER = (
    r"^(?:(?:please|also|and|ok(?:ay)?|hey|so|can you|could you|will you)[, ]+)*(?:remember|don't forget|note|"
    r"keep in mind|make a note|take note)(?: down)?(?: (?:this|that)\b:?|:|,)|^(?:请|麻烦|你|您|要|帮我|给我|"
    r"替我)*(?:记住|记下|记一下|记得|别忘了|不要忘记)[:：，, ]?(?!.*[吗？?]$)"
)
_EVENT = (
    r"\b(?:i|we)(?:'d| just| also| even| recently| finally| already| actually| once| really)* (?:\w+ed|went|got|took|"
    r"made|had|was|were|saw|met|found|bought|won|lost|did|came|gave|started|began|wrote|read|ran|ate|built|taught|"
    r"left|said|told|felt|thought|knew|sent|hit|spent|drove|flew|grew|held|kept|led|put|set|fell|broke|chose|caught|"
    r"heard|paid|sold|wore|used to)\b|\b(?:i've|we've|i have|we have)(?: \w+)? (?:\w+ed|been|gone|got|gotten|taken|"
    r"made|had|seen|met|found|won|lost|done|written|read)\b|[我咱][^，。！？,]{0,14}[了过]|"
    r"[我咱][^，。！？,]{0,4}(?:昨|曾|以前|上[周个次]|去年|那[年时天])|[昨上去][天周个年次]?[^，。！？]{0,4}我"
)
_DOING = (
    r"\b(?:i'm|we're|i am|we are|been)(?: \w+)? (?!going to|gonna)\w+ing\b|[我咱][^，。！？,]{0,6}(?:正在|一直|"
    r"在[^，。！？,]|目前|最近)|最近[^，。！？]{0,3}我"
)
_PLAN = (
    r"\b(?:gonna|going to|plan(?:ning|s|ned)?|hop(?:e|ing) to|want to|wanna|i'll|we'll|thinking (?:about|of)|"
    r"looking forward|upcoming|goal|dream|aim|intend|tomorrow|excited to)\b|\bnext (?:week|month|year|weekend|summer|"
    r"\w+day)\b|打算|计划|准备|想要|我想|我要|我会|希望能|期待|目标|梦想|即将|下[周个]|明[天年]|将要|考虑"
)
_LIKING = (
    r"\b(?:i|we)(?: \w+)? (?:love|like|enjoy|prefer|hate|adore|dislike)\b|\bfav(?:ou?rite|es?)?\b|\bpassion|"
    r"\b(?:really|been) into\b|\bfan of|\binterested in|\bhobb|喜欢|喜爱|热爱|最爱|讨厌|偏爱|迷上|感兴趣|热情"
)
_MINE = r"\b(?:i|we) (?:have|own|got|had)\b|\b(?:i've|we've) got\b|\b(?:my|our)\b|我们?的|我们?[有家]|养了|买了"
_IMPRESSION = (
    r"\bbest (?:part|thing)|\bspecial\b|\b(?:it|that|this|they|everyone|everything)(?:'s| was| were| is|"
    r" are)(?: \w+)? (?:so|really|such|amazing|awesome|great|incredible|magical|wonderful|breathtaking|unreal)\b|"
    r"\bone of\b|\ball the\b|最[^，。！？]{0,4}部分|特别的|难忘|那[种个]感觉|感觉[真太很特]"
)
_NAME = r"(?<=[a-z,;:'] )[A-Z][a-zA-Z]+|[\"“《「][^\"”》」]{2,60}[\"”》」]"
_PLAIN_FACT = (
    r"\bmy name(?:'s| is)\b|\bi(?:'m|'ve| am| have)? (?:just |recently |now )?(?:moved (?:to|in|from)|live in|"
    r"work (?:as|at|for)|quit my|got (?:married|engaged|divorced|fired|promoted|hired|diagnosed)|allergic to|"
    r"born (?:in|on))\b|\bi'm allergic\b|\bmy birthday\b|\bi(?:'m| am) (?:not |no longer |now )?(?:an? )?(?:vegan|"
    r"vegetarian|pregnant|diabetic)\b|\bmy (?:fav\w*|\w+'s name|(?:new )?(?:job|address|phone|dog|cat|wife|husband|"
    r"son|daughter|partner)\b.{0,20}(?:is|'s|are|called|named))|我叫|我的名字|(?:^|[^你])刚?搬到|我(?:刚|最近|"
    r"已经)?(?:搬到|搬去|住在|对.{1,10}过敏|结婚|离婚|怀孕|辞职|换了?工作|跳槽)|我的?生日|我最喜欢|"
    r"我的[^，。！？]{1,8}叫"
)
# What one wants done now is no fact about oneself.
_ERRAND = (
    r"\bhelp me\b|\bneed (?:some |your |a bit of )?help\b|\b(?:need|want|would like|'d like) you to\b|\bi(?:'m|"
    r" am) trying to\b|\berror\b|\bthis (?:code|file|text|function|email|script|page)\b|\b(?:i|we) (?:need|"
    r"want) (?:a|an|the|to) (?:list|summary|translat\w+|rewrit\w+|fix|code|script)\b|帮我|请你|报错|这[段个](?:代码|"
    r"文件|文本|函数|邮件)"
)


class Heard:
    """How often each content word was heard in earlier conversations."""

    def __init__(self) -> None:
        self.words: Counter[str] = Counter()
        self.turns = 0

    def add(self, turns: Iterable[Turn]) -> None:
        """Count the words of a whole conversation; to be called when its own turns have been scored."""
        for turn in turns:
            self.words.update(content(turn.text))
            self.turns += 1

    def rarity(self, word: str) -> float:
        """The inverse frequency of a word, as a logarithm; 1 while nothing has been heard."""
        return math.log((self.turns + 1) / (self.words[word] + 0.5)) if self.turns else 1.0


class Context(NamedTuple):
    """Where a turn stands: its neighbours, its place (from 0) among `turns` turns, the content words said before it."""

    previous: Turn | None
    following: Turn | None
    place: int
    turns: int
    said: frozenset[str]
    heard: Heard


def contexts(turns: Sequence[Turn], heard: Heard) -> list[Context]:
    """The context of each turn of one conversation; `heard` knows the earlier ones."""
    found, said = [], frozenset[str]()
    for index, turn in enumerate(turns):
        previous = turns[index - 1] if index else None
        following = turns[index + 1] if index + 1 < len(turns) else None
        found.append(Context(previous, following, index, len(turns), said, heard))
        said |= content(turn.text)
    return found


def scores(turns: Sequence[Turn], heard: Heard) -> list[float]:
    """The score of each turn of one conversation, in order."""
    return [score(turn, context) for turn, context in zip(turns, contexts(turns, heard), strict=True)]


def score(turn: Turn, context: Context) -> float:
    """How much a turn deserves to be kept, from 0 to 1."""
    return valued(turn, context, INTERCEPT + sum(WEIGHTS[name] * sign for name, sign in signs(turn, context).items()))


def valued(turn: Turn, context: Context, total: float) -> float:
    """A weighted sum of signs as a score from 0 to 1, with what holds whatever the signs: 1 where a person asks to remember it,
    half of it for an assistant."""
    if turn.speaker.casefold() == ASSISTANT:
        return 0.5 / (1 + math.exp(-total))
    parts = sentences(turn.text)
    others = {one.speaker for one in (context.previous, context.following) if one} - {turn.speaker}
    if any(wishes_kept(part.text, others) for part in parts):
        return 1.0
    if not among_people(others):
        total += _told_to_an_assistant(parts)
    value = 1 / (1 + math.exp(-total))
    # A plain fact about oneself is kept however short it is and wherever it stands.
    plain = any(part.role != QUESTION and regex(_PLAIN_FACT).search(part.text) for part in parts)
    return max(value, 0.6) if plain else value


def among_people(others: Iterable[str]) -> bool:
    """Whether another person takes part, and not only an assistant or nobody."""
    return any(other.casefold() != ASSISTANT for other in others)


def wishes_kept(sentence: str, others: Iterable[str]) -> bool:
    """Whether the sentence asks to remember something; said to a person, it is advice unless it is about oneself."""
    asked = regex(REMEMBER).search(sentence)
    return asked is not None and (not among_people(others) or regex(FIRST).search(sentence[asked.end() :]) is not None)


def _told_to_an_assistant(parts: Sequence[Sentence]) -> float:
    """What is added for the terse way in which people tell an assistant about themselves: I'm 37. I hate flying."""
    if any(regex(INSTRUCTION).search(part.text) for part in parts if part.role != QUESTION):
        return 5.0
    of_self = [part.text for part in parts if part.role == TELLING and regex(FIRST).search(part.text)]
    errands = sum(1 for text in of_self if regex(_ERRAND).search(text))
    return 1.2 if len(of_self) > errands else -1.2 if errands else 0.0


def signs(turn: Turn, context: Context) -> dict[str, float]:
    """What speaks for and against keeping the turn, by the names of `WEIGHTS`, before weighting."""
    parts = sentences(turn.text)
    told = " ".join(part.text for part in parts if part.role == TELLING)
    words, known = content(told), context.said
    following = content(context.following.text) if context.following else set()

    def count(pattern: str, most: int) -> int:
        return min(len(regex(pattern).findall(told)), most)

    return {
        "new words": math.log1p(amount(words - known)),
        "rare words": sum(map(context.heard.rarity, words)) / max(len(words), 1),
        "words": math.log1p(length(turn.text)),
        "I": count(FIRST, 4),
        "you": count(SECOND, 2),
        "answer": float(_answers(turn, context)),
        "question": sum(length(part.text) for part in parts if part.role == QUESTION) / max(length(turn.text), 1),
        "event": count(_EVENT, 2),
        "doing": count(_DOING, 2),
        "plan": count(_PLAN, 2),
        "liking": count(_LIKING, 2),
        "mine": count(_MINE, 2),
        "particulars": _particulars(told),
        "impression": count(_IMPRESSION, 2),
        "exclamations": min(turn.text.count("!") + turn.text.count("！"), 4),
        "opening": float(context.place == 0),
        "taken up": min(amount(content(turn.text) & following), 4),
        "long talk": math.log(min(max(context.turns, 14), 45)),
    }


def content(text: str) -> set[str]:
    """The stems of the words that carry meaning, captions aside; of Chinese the pairs of characters."""
    tokens = terms.tokens(terms.split_captions(text)[0])
    return {terms.stem(token) for token in tokens if len(token) > 1 and token not in terms.STOP}


def amount(words: Iterable[str]) -> float:
    """How many words these are: three pairs of Chinese characters overlap in about one word."""
    return sum(1 / 3 if terms.is_cjk(word) else 1 for word in words)


def _answers(turn: Turn, context: Context) -> bool:
    previous = context.previous
    return previous is not None and previous.speaker != turn.speaker and asks(previous.text)


def _particulars(told: str) -> int:
    flags = terms.flags(told)
    certain = bool(flags & terms.HAS_TIME_WORD) + bool(flags & terms.HAS_NUMBER)
    names = min(len(set(cased(_NAME).findall(told))), 3)
    return min(certain + names + min(len(regex(KIN).findall(told)), 2), 4)
