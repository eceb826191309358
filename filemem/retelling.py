"""One sentence of a conversation told by somebody else: people are named, dates are absolute. Pure functions."""

import re
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from filemem import cues, terms
from filemem import statements_en as english
from filemem import statements_zh as chinese
from filemem.dating import dated
from filemem.utterance import ASSISTANT, FIRST, TAG, cased, is_chinese, length, outside_quotes, regex
from filemem.verbs import is_past, is_verb

_LONGEST = 600  # characters of a sentence; what is longer is no spoken sentence
_OWN_CLAUSE = r"(?:[,;–—]|\s-)\s*(?:so |and |but )?((?:i|my) (?!think\b|guess\b|mean\b|know\b|hope\b).{12,})$"
_FIRST_CLAUSE = r"^(.{15,}?)(?:[,;–—]|\s-) ?(?:(?:so|and|but|because) )?(?:i|it|that|they)\b"
_NEEDY = r"\b(?:it|its|them|that|him|her|she|he|they|those|these|there|this)\b"
_POINTED = (
    r"\b((?:adopt|made|make|making|saw|see|found|find|met|took|bought|got|get|reading|read|watch|visit|finish|start|"
    r"paint|play|wrote|writ|creat|discover|stumbl|join|mentor|using|use|try|tri|design|draw|drew|bak|cook|wore|won|"
    r"collect|went|invited|thank)\w*(?: (?:up|by|on|into|across|with|at|from|to|me to|"
    r"ful for))?(?: up)?) this (?=([a-z]))(?!(?:week|weekend|month|year|morning|afternoon|evening|summer|winter|"
    r"spring|fall|autumn|season|time|is|was|one|way|in|on|and|or|to|for|all|next|past|coming|last|kind|whole|much|"
    r"far|really|just|always|long|early|late|lately|because|but|so|since|when|if|with|at|from|too|also|again|by|"
    r"before|after|as|like|of|while|until|out|up|off|down|over|here|there|will|would|can)\b)"
)
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


def retold(sentence: str, scene: Scene, before: str = "") -> Told | None:
    """The sentence told of its speaker, or None where it is advice or courtesy; `before` is what the turn said so far."""
    if len(sentence) > _LONGEST:
        return None
    zh = is_chinese(sentence)
    names = tuple(name for name in scene.others if name.casefold() != ASSISTANT)
    told = regex(TAG).sub("", sentence)
    plain = chinese.complete(chinese.bare(told, names)) if zh else english.bare(told, names)
    if not zh:
        plain = english.complete(english.expanded(plain))
    plain = _best_clause(_unnamed(plain, scene.speaker))
    if not plain:
        return None
    leaning = leans(plain)
    own = regex(FIRST).search(plain) is not None
    # A fragment leans on the question that it answers: Three times a week.
    telling = zh or english.is_clause(plain)
    leaning = leaning or not telling
    if not zh and english.is_general(plain):
        plain, own = english.of_people(plain), False
    elif not zh:
        plain = outside_quotes(plain, _unpointed)
    if length(plain) < (5 if leaning else 2 if zh else 3):
        return None
    words, when = dated(plain, scene.today)
    text = _third_person(words, scene, f"{before} {sentence}".strip(), zh)
    about_self = own and not regex(cues.IMPERSONAL).search(plain) and not regex(r"^\w+ing\b(?!.*\bi\b)").search(plain)
    return Told(sentence, text if leaning or about_self else says(scene.speaker, text), when, leaning)


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


def leans(sentence: str) -> bool:
    """Whether the sentence means nothing without the one before it: It was fun; I took it there; She is a nurse."""
    if regex(cues.IMPERSONAL).search(sentence):
        return False
    bare = regex(cues.BARE_SUBJECT).search(sentence) and not cased("^The [A-Z]").search(sentence)
    if bare or regex(cues.BARE_END).search(sentence):
        return True
    thing = regex(cues.BARE_OBJECT).search(sentence)
    before = sentence[: thing.start()] if thing else ""
    if thing and not regex(cues.NOUN_BEFORE).search(before) and not cased(r" (?!I\b)[A-Z]").search(before):
        return True
    person = regex(r"\b(?:he|she|him|her|his|hers)\b|[他她它](?!们)").search(sentence)
    return person is not None and not cased(cues.SOMEBODY).search(sentence[: person.start()])


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
    """What only the other could see, told without pointing at it: I bought this red kite, I bought a red kite."""

    def article(m: re.Match[str]) -> str:
        return f"{m[1]} {'an' if m[2] in 'aeiou' else 'a'} "

    return cased(_POINTED).sub(article, sentence)
