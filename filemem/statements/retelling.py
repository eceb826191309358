"""One sentence of a conversation told by somebody else: people are named, dates are absolute. Pure functions."""

import re
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from filemem import terms
from filemem.statements import chinese, cues, english
from filemem.statements.dating import dated
from filemem.statements.leaning import IMPERSONAL, leans
from filemem.statements.utterance import ASSISTANT, FIRST, KIN, TAG, cased, is_chinese, length, outside_quotes, regex
from filemem.statements.verbs import is_past, is_verb

_LONGEST = 600  # characters of a sentence; what is longer is no spoken sentence
_OWN_CLAUSE = r"(?:[,;–—]|\s-)\s*(?:so |and |but )?((?:i|my) (?!think\b|guess\b|mean\b|know\b|hope\b).{12,})$"
_FIRST_CLAUSE = r"^(.{15,}?)(?:[,;–—]|\s-) ?(?:(?:so|and|but|because) )?(?:i|it|that|they)\b"
_NEEDY = r"\b(?:it|its|them|that|him|her|she|he|they|those|these|there|this)\b"
# This one that only the other sees or has just heard of: I bought this red kite, I bought a red kite; I love this town, the town.
_POINTED = (
    r"(?<=\w )(?<!\blike )(?<!\ball )(?<!\bdo )(?<!\bdoing )(?<!\bof )(?<!\bthat )(?<!\bis )(?<!\bwas )this "
    r"(?=([a-z]\w*)( [A-Z])?)(?!(?:week|weekend|month|year|morning|afternoon|evening|night|summer|winter|spring|fall|autumn|"
    r"season|time|is|was|one|way|in|on|and|or|to|for|all|next|past|coming|last|kind|whole|much|far|really|just|"
    r"always|long|early|late|lately|because|but|so|since|when|if|with|at|from|too|also|again|by|before|after|as|like|"
    r"of|while|whenever|wherever|until|out|up|off|down|over|here|there|will|would|can|close|every|each|more|stuff|"
    r"music|information|support|help|work|food|love|energy|advice|feeling)\b)"
)
_INTRODUCED = (  # what is told of for the first time
    r"\b(?:(?:found|bought|got|made|saw|met|watched|took|wrote|finished|tried|adopted|drew|painted|knitted|built|"
    r"baked|cooked|joined|started|read|heard|received|won|share|show|"
    r"(?!finish|lov|enjoy|continu|dur|leav)\w+ing)|came across|stumbled (?:across|upon|on)|there(?:'s| is| was)|"
    r"have|has|had) $"
)
_VERB_S = r"s(?<!ss|us|is|as)(?<!series)(?<!news)$"
_ACTED = r"this \w+ (?:like|to|me|my|us|our|so|it|a|an|the|that|in|on|by|up|out)\b"
_FEELING = (
    r"(?:(?:(?:and|but|so|plus|also),? )*(?:it|that|this|they|those|these|everything|everyone|the \w+(?: and \w+)?|"
    r"(?:seeing|being|having|making|watching|getting|hearing) (?:[\w']+ ){0,6}?[\w']+)(?:'s|'re| is| are| was| were|"
    r" has been| have been|'s been| feels?| felt| looks?| looked| seems?| seemed| made|"
    r" makes)(?: [\w'-]+){0,5}? (?:amazing|awesome|great|good|nice|cool|fun|blast|incredible|wonderful|fantastic|"
    r"beautiful|gorgeous|lovely|delicious|yummy|tasty|special|memorable|unforgettable|inspiring|powerful|empowering|"
    r"rewarding|fulfilling|relaxing|peaceful|calming|soothing|therapeutic|comforting|challenging|tough|hard|rough|"
    r"scary|crazy|wild|insane|surreal|magical|breathtaking|stunning|epic|exciting|thrilling|emotional|heartwarming|"
    r"touching|satisfying|refreshing|enlightening|interesting|important|impressive|worth it|the best|experience|"
    r"moments?|treat|ride|joy|happy|happiness)\b|(?:真的?|太|很|非常|特别|超级?|感觉|这|那|它)+[^，。]{0,6}(?:好|棒|美|酷|难忘|有趣|开心|高兴|治愈|"
    r"放松|震撼|感动|精彩|重要|有意义))"
)
_FEELING_BEHIND = rf"(?:,|;|\s[-–—]|[–—]+|-(?= ))\s*(?:and |but |so )?{_FEELING}[^,;–—]{{0,40}}$"
_REMARK = 14  # words up to which such a sentence is no more than a feeling
_NAMED = r"(?<!^)(?<![.!?:\"“] )\b(?!I\b|I')[A-Z]\w+|[\"“《「]|\d|[\u4e00-\u9fff](?:市|省|国|大学|公园|山|湖|岛)"
_OF_OURS = rf"(?:\b(?:my|our)\b|我们?的?)[^,.;，。]{{0,16}}(?:{KIN})"
_COMMON = (
    r"(?:ing|tion|ness|ment|ity|ance|ence|ship|ful|ly)$|^(?:nature|life|art|music|dance|money|family|love|teamwork|"
    r"food|it|that|there|what|everything|everyone|something|people|kids|children|one|two|three|change)$"
)


class Scene(NamedTuple):
    """Who speaks, who else is there, and the day of the conversation."""

    speaker: str
    others: Sequence[str]
    today: date

    @property
    def other(self) -> str:
        """Who `you` are; empty where there are several."""
        return self.others[0] if len(self.others) == 1 else ""

    def you(self, zh: bool) -> str:
        """What stands for `you` in a sentence."""
        return ("助手" if zh else "the assistant") if self.other.casefold() == ASSISTANT else self.other


class Told(NamedTuple):
    """A sentence retold: what it was, what it became, the first day it names, whether it leans on the one before."""

    said: str
    text: str
    when: date | None
    leans: bool


def retold(sentence: str, scene: Scene, before: str = "", *, reply: bool = False) -> Told | None:
    """The sentence told of its speaker; None where it is advice or courtesy, a feeling about what was told before, or a remark
    on the world in general. `before` is what the turn said so far; a fragment tells only as a `reply`.
    """
    if len(sentence) > _LONGEST:
        return None
    zh = is_chinese(sentence)
    plain = _told(sentence, scene, zh)
    fragment = not zh and not english.is_clause(plain)
    if not plain or (fragment and not reply):
        return None
    leaning = fragment or leans(plain)
    general = not zh and english.is_general(plain)
    own = not general and regex(FIRST).search(plain) is not None
    remark = regex(IMPERSONAL).search(plain) or regex(r"^\w+ing\b(?!.*\bi\b)").search(plain)
    about_self = own and not remark
    if not about_self and not _particular(plain) and (_feels(plain) if leaning or reply else True):
        return None
    if general:
        plain = english.of_people(plain)
    elif not zh:
        plain = outside_quotes(plain, _unpointed)
    if length(plain) < (5 if leaning and not reply else 2 if zh else 3):
        return None
    words, when = dated(plain, scene.today)
    text = _third_person(words, scene, f"{before} {sentence}".strip(), zh)
    return Told(sentence, text if leaning or about_self else says(scene.speaker, text), when, leaning)


def _told(sentence: str, scene: Scene, zh: bool) -> str:
    """What of a sentence is told, in the first person still; empty where it is courtesy."""
    names = tuple(name for name in scene.others if name.casefold() != ASSISTANT)
    said = regex(TAG).sub("", sentence)
    if zh:
        return _best_clause(_unnamed(chinese.complete(chinese.bare(said, names)), scene.speaker))
    plain = english.complete(english.expanded(english.bare(said, names)))
    return _best_clause(regex(_FEELING_BEHIND).sub("", _unnamed(plain, scene.speaker)))


def _particular(plain: str) -> bool:
    """Whether the sentence names somebody, something or a number, so that it is more than a remark."""
    first = cased(r"^[A-Z]\w+(?= (?:says|said|is|was|has|had|told|thinks|wants|loves|likes|lives|works)\b)").search(
        plain
    )
    subject = first and first[0].lower() not in terms.STOP and not regex(_COMMON).search(first[0])
    return bool(subject or cased(_NAMED).search(plain) or regex(_OF_OURS).search(plain))


def _feels(plain: str) -> bool:
    return regex(rf"^{_FEELING}").search(plain) is not None and length(plain) < _REMARK


def says(speaker: str, text: str) -> str:
    """The text as the speaker's words, for what is not about the speaker."""
    return f"{speaker}说{text}" if is_chinese(text) else f"{speaker} says {uncapital(text)}"


def uncapital(text: str) -> str:
    """The text with a small first letter, unless its first word looks like a name: Ada and Rex; Rex is two; McKay."""
    first, _, rest = text.partition(" ")
    word, verb = first.lower().removesuffix("'s").rstrip(","), rest.partition(" ")[0]
    common = word in terms.STOP or regex(_COMMON).search(word) or (word.endswith("s") and not verb.endswith("s"))
    acts = verb in ("is", "was", "has", "and") or is_past(verb) or (verb.endswith("s") and is_verb(verb[:-1]))
    name = acts or cased(r"^\w+[A-Z.]|'s$").search(first) or cased(r"^(?:& )?[A-Z][a-z]").search(rest)
    return text if name and not common else text[:1].lower() + text[1:]


def _unnamed(plain: str, speaker: str) -> str:
    """The sentence without `I'm Mara, and` in front, which says only what the name of the speaker says."""
    name = re.escape(speaker)
    rest = re.sub(
        rf"^(?:I am|my name is|this is|我叫|我是|我的名字[是叫])\s*{name}[,，.]?\s*(?:and )?",
        "",
        plain,
        flags=re.IGNORECASE,
    )
    if rest == plain:
        return plain
    return chinese.complete(rest) if is_chinese(rest) else english.complete(rest)


def _best_clause(plain: str) -> str:
    """The sentence, or the clause of it about the speaker that needs nothing else, or nothing where it is courtesy."""
    tells = _tells(plain)
    if tells and not leans(plain):
        return plain
    tail, head = regex(_OWN_CLAUSE).search(plain), regex(_FIRST_CLAUSE).search(plain)
    if tail and _tells(tail[1]) and not regex(_NEEDY).search(tail[1]):
        return tail[1]
    if head and regex(FIRST).search(head[1]) and _tells(head[1]) and not leans(head[1]):
        return head[1]
    return plain if tells else ""


def _tells(plain: str) -> bool:
    """Whether anything is told once greetings and fillers are gone."""
    if not plain or regex(cues.VAGUE).search(plain):
        return False
    return not regex(cues.ADVICE).search(plain) or regex(r"^(?:(?:i|my|we)\b|我)").search(plain) is not None


def _third_person(words: str, scene: Scene, said: str, zh: bool) -> str:
    if zh:
        group = chinese.company(said, scene.speaker, scene.you(zh))
        return chinese.third_person(words, scene.speaker, scene.you(zh), group)
    group = english.company(said, scene.speaker, scene.you(zh))
    return english.third_person(words, english.Cast(scene.speaker, scene.you(zh), group))


def _unpointed(sentence: str) -> str:
    """What only the other could see, told without pointing at it."""

    def article(m: re.Match[str]) -> str:
        if regex(_VERB_S).search(m[1]) or (is_past(m[1]) and regex(_ACTED).match(sentence, m.start())):
            return m[0]  # this takes me far, this seemed like it
        if m[2] or not regex(_INTRODUCED).search(sentence[: m.start()]):
            return "the "
        return "an " if m[1][0] in "aeiou" else "a "

    return cased(_POINTED).sub(article, sentence)
