"""What one turn of a conversation is made of: its sentences, and what each of them does. English and Chinese."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from filemem.terms import CJK, split_captions

CJK_PER_WORD = 1.6  # Chinese characters that say as much as one English word; translations of one talk differ by this
LONGEST = 4_000  # characters of a turn that are looked at, so that no pattern meets an endless text

ASSISTANT = "assistant"  # the speaker that is no person
TELLING, QUESTION, REACTION = "telling", "question", "reaction"

_WORD = rf"[{CJK}]|[^\W_{CJK}](?:[^\W{CJK}]|['&+.-](?=[^\W{CJK}]))*"
_EMOJI = r"[\u2190-\u2bff\ufe0f\u200d\U0001f000-\U0001faff]+|(?<![\w<])(?:<3|[:;]-?[)(DPp](?!\w))"
_APOSTROPHE = r"(?<=\w)[’`´](?=\w)"
# An English sentence ends before a capital, a Chinese one anywhere; initials and titles end none.
_BOUNDARY = (
    r"(?<=[.!?…\"”')])(?<!\b[A-Z]\.)(?<!\b(?:Mr|Ms|Dr|St|vs)\.)(?<!\bMrs\.)(?<=[.!?…].|.[.!?…])\s+(?=[^a-z\s])|"
    r"(?<=[!?])\s+(?=[a-z])|(?<=[。！？…])(?![。！？…”’」』）\s])|(?<=[。！？…][”’」』）])\s*|(?<=[。！？…])\s+"
)
_ENDS_ASKING = r"(?:[?？][!?！？\"”')]*|(?<!的)[吗嘛]|呢)[。~～.\s]*$"
TAG = (
    r"[,，]?\s*(?:right|you know|remember|huh|eh|isn't it|don't you think|y'know|ya know|记得吗|对吧|是吧|对不对|是不是|"
    r"你懂的)[?？]+$"
)

FIRST = r"\b(?:i|i'[mdv]e?|i'll|me|my|mine|myself|we|we'(?:re|ve|ll|d)|us|our|ours|ourselves)\b|[我咱俺]"
SECOND = r"\b(?:you|you'(?:re|ve|ll|d)|your|yours|yourself|u|ya)\b|[你您妳]"
KIN = (
    r"\b(?:mom|mum|mother|dad|father|parent|sister|brother|son|daughter|kid|child(?:ren)?|wife|husband|family|fam|"
    r"friend|aunt|uncle|cousin|grand\w+|niece|nephew|partner|boyfriend|girlfriend|dog|cat|puppy|kitten|pet|colleague|"
    r"teammate|neighbou?r|boss)s?\b|[妈爸父母姐妹哥弟]|儿子|女儿|孩子|妻子|丈夫|老[公婆]|太太|家人|朋友|同事|[爷奶]|"
    r"外[公婆]|[猫狗]|宠物|[男女]友|伴侣|老板|邻居"
)
_WARMTH = (
    r"\b(?:congrat\w*|kudos|(?:that|it|this)(?:'s| is| must| sounds?| looks?) (?:\w+ ){0,2}?(?:great|awesome|amazing|"
    r"cool|wonderful|fantastic|nice|good|lovely|rough|tough|sweet|brilliant|incredible|impressive|inspiring|"
    r"beautiful|gorgeous|adorable|cute|interesting|exciting|perfect|crazy|sad|terrible|awful|fun|sick|dope|neat|"
    r"right|true)|sounds?|looks? (?:like|so|really|great|good|amazing|awesome|delicious|fun)|(?:great|good|nice|"
    r"awesome|amazing|fantastic|excellent) (?:job|work|idea|choice|call|point|one|stuff|going|to hear|to see|luck|"
    r"shot|pic)|proud of you|way to go|(?:happy|glad|proud|excited|sorry|thrilled|pumped|stoked) (?:for you|to hear|"
    r"you|that you|about your)|keep (?:it )?(?:up|going|at it|pushing|shining|rocking)|no (?:worries|problem|prob|"
    r"doubt)|you(?:'re| are) (?:\w+ ){0,2}?(?:welcome|right|amazing|awesome|doing|so|such|an? )|you got this|"
    r"got your back|(?:here|rooting|cheering) for you|sure thing|can't wait to (?:see|hear|try|check)|wow|woah|whoa|"
    r"aww?|yay|agree|absolutely|exactly|totally|of course|likewise|same here|me too|my pleasure|any ?time|i bet|"
    r"fingers crossed|cheers|well done|good for you)\b|太[^，。！？]{0,6}了|真[棒好不酷厉美]|恭喜|祝贺|不错|厉害|"
    r"加油|祝你|好主意|没错|当然|同意|听起来|看起来|听上去|谢谢|感谢|多谢|不客气|别担心|没问题|"
    r"为你[^，。]{0,6}(?:高兴|骄傲|开心)|(?<![\w])哇|好[的啊呀]|是[啊呀的]|对[啊呀]|嗯|干得|做得|佩服|支持你|相信你|"
    r"意义很大|抱歉|遗憾|羡慕|我也是"
)
_THANKS = (
    r"\b(?:thanks|thank you|thx|thank u|appreciate (?:it|that|you|your|the))\b|\b(?:it|that|this|you|which|"
    r"your\b.{0,60}|support|help|words?) (?:really |truly |all )?means? (?:a lot|so much|the world|everything)\b|谢|"
    r"感激"
)
_FAREWELL = (
    r"\b(?:bye|see (?:you|ya)|talk (?:to you )?(?:soon|later)|take care|catch (?:you|ya|up)|later!|goodbye|"
    r"good ?night|ttyl|have (?:a|an) (?:\w+ )?(?:day|one|night|time|weekend|evening|week|trip))\b|^enjoy\b|再见|"
    r"拜拜?[！。，\s]|回[头见]|下次[聊见]|保重|晚安|待会[儿]?[聊见]"
)
_GREETING = (
    r"^(?:hey|hi|hello|yo|hiya|good (?:morning|evening|afternoon)|howdy|morning|long time)\b|good to (?:see|hear)|"
    r"great to (?:see|hear|chat|talk|catch)|nice to (?:see|hear|meet)|hope (?:all|you|everything|ur)|\bhow(?:'ve|"
    r" have|'s| are) (?:you|it|everything)|^(?:嘿|嗨|你好|您好|哈[喽啰]|喂|早上好|晚上好|早安|好久不见)|高兴(?:见到|"
    r"再见|又)|很高兴(?:听|收)|希望你"
)


_OF_THE_OTHER = (
    r"^(?:\W|and |but |wow,? )*(?:your|you|you're|you've)\b(?!.*\bi(?:'\w+)?\b)|^[你您](?:对我)?(?:的|"
    r"们)?[^我]*(?:支持|鼓励|帮助|话|建议|信任|相信)[^，,]*我|^[你您][^我]*$|^[^我]*吧[！!。~]*$|^[^我]*，(?:继续|"
    r"坚持)[^我]*$"
)
# What leads to the news, and a form of address before it.
_LEAD_IN = (
    r"^(?:(?:hey|hi|hello|嘿|嗨|哈喽|你好|您好|大家好)[ ,，]+(?:(?![我咱])\w{1,20}[,，!！] ?|\w+ (?=i\b))?)|"
    r"^(?:\w+[,，] ?)?(?:you won't believe (?:it|this|what happened)|guess what|你(?:绝对|肯定|一定)?(?:想不到|"
    r"不会相信|不敢相信|猜怎么着))[\s,，:：!！—–-]+"
)
_LIKES_WHAT_IS_SHOWN = (
    r"^(?:(?:wow|and|so|absolutely|totally|also),? )*(?:(?:love|loving|like|digging|liking) (?:the|that|this|your|"
    r"how|it|these|those)|must(?:'ve| have| be))\b"
)
_SHOWN = (
    r"^(?:i )?(?:just |really |absolutely |also )*(?:love|like|adore) (?:all )?(?:the|that|this|your|those|"
    r"these) (?:\w+ ){0,2}?(?:colou?rs?|textures?|vibes?|views?|scenery|designs?|details?|pic\w*|photos?|sky|"
    r"lighting|leaves|look|style|background|contrast|patterns?|sunset|outfit|decor\w*)\b"
)
_APPRECIATES = r"^(?:really |so |truly )*appreciate\b"
# Speech leaves the first person out: Been away; Sold my car; Gonna move.
_LEFT_OUT = (
    r"^(?:just |also |finally |already )*(?:been|got|gonna|lost|found|went|took|started|had|bought|finished|met|made|"
    r"saw|hoping|thinking)\b"
)


class Turn(NamedTuple):
    """What `speaker` said in one go; `line` is where it stands in its file, passed through and never looked at."""

    speaker: str
    text: str
    line: int = 0


class Sentence(NamedTuple):
    """A sentence and what it does: telling, question, or reaction (thanks, praise, agreement, greeting, farewell)."""

    text: str
    role: str


@lru_cache(maxsize=1024)
def regex(pattern: str) -> re.Pattern[str]:
    """The pattern, compiled on first use, without regard to case."""
    return re.compile(pattern, re.IGNORECASE)


@lru_cache(maxsize=1024)
def cased(pattern: str) -> re.Pattern[str]:
    """The pattern, compiled on first use, with regard to case."""
    return re.compile(pattern)


def is_chinese(text: str) -> bool:
    """Whether most of the text's words are CJK characters."""
    return len(regex(f"[{CJK}]").findall(text)) > len(regex("[a-z]+").findall(text))


def length(text: str) -> float:
    """The text's length in English words, CJK characters reckoned at `CJK_PER_WORD` to a word."""
    words = regex(_WORD).findall(text)
    han = sum(1 for word in words if regex(f"[{CJK}]").match(word))
    return len(words) - han + han / CJK_PER_WORD


def spoken(text: str) -> str:
    """What was said, without captions of pictures and emoji, on one line."""
    said = regex(_EMOJI).sub(" ", split_captions(text[:LONGEST])[0])
    return regex(_APOSTROPHE).sub("'", " ".join(said.split()))


def sentences(text: str) -> list[Sentence]:
    """The sentences of what was said, in order, each with its role."""
    said = (spoken(piece) for piece in regex(_EMOJI).split(split_captions(text[:LONGEST])[0]))
    parts = (part.strip() for piece in said for part in cased(_BOUNDARY).split(piece))
    return [Sentence(part, role(part)) for part in parts if regex(r"\w").search(part)]


def outside_quotes(text: str, change: Callable[[str], str]) -> str:
    """The text changed, but for what stands in quotation marks."""
    pieces = cased(r"([\"“「『][^\"”」』]*[\"”」』])").split(text)
    return "".join(piece if number % 2 else change(piece) for number, piece in enumerate(pieces))


def asks(text: str) -> bool:
    """Whether what was said ends by asking something."""
    parts = sentences(text)
    return bool(parts) and parts[-1].role == QUESTION


def role(sentence: str) -> str:
    """What a sentence does; one that says something of its speaker beyond thanks and praise is telling."""
    if regex(_ENDS_ASKING).search(sentence):
        told = regex(TAG).sub("", sentence)
        if told == sentence or not regex(FIRST).search(told):
            return QUESTION
    return REACTION if _reacts(regex(_LEAD_IN).sub("", sentence)) else TELLING


def _reacts(sentence: str) -> bool:
    """Whether a sentence is courtesy or about the other one; length decides where it is that and something else."""
    words = length(sentence)
    first = regex(FIRST).search(sentence) or regex(_LEFT_OUT).search(sentence)
    second, warm = regex(SECOND).search(sentence), regex(_WARMTH).search(sentence)
    if any(regex(pattern).search(sentence) for pattern in (_OF_THE_OTHER, _LIKES_WHAT_IS_SHOWN, _SHOWN)):
        return True
    if not first and (warm or second or words < 5):
        return True
    if words < 12 and any(regex(pattern).search(sentence) for pattern in (_THANKS, _FAREWELL, _GREETING, _APPRECIATES)):
        return True
    if warm and words < 7 and (second or not first):
        return True
    return bool(second and warm and words < 16)
