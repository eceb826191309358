"""Replies told together with the question that they answer: `Your dog's name?` and `Rex!` make one sentence."""

import re

from filemem.statements import chinese, english
from filemem.statements.dating import dated
from filemem.statements.leaning import leans
from filemem.statements.retelling import Scene, Told, retold, uncapital
from filemem.statements.utterance import QUESTION, TELLING, Turn, is_chinese, length, regex, sentences
from filemem.statements.verbs import singular

_POLAR = r"^(?:(?:so|and|but|hey|wow|oh|\w+),? )?(?:do|did|does|is|are|was|were|have|has|had|can|could|will|would|any|ever|you)\b"
_YES_OR_NO = r"^(no|nope|nah|not really|yes|yeah|yep|yup|sure|definitely|absolutely)\b"
_YES = (
    r"^(?:yes|yeah|yep|yup|sure|of course|i do|definitely)(?:,? (?:i do|i am|sure|of course|very much|really))?[.!]*$"
)
_PLAIN = r"^(?!(?:i|we|it|that|they|you|he|she|this|there|not|so|no|yes)\b)[\w' ,&-]+$"
_WHAT_IS_YOURS = r"^(?:what|who|where|when|how old)(?:'s| is| are| was| were) your ([\w' -]{2,30})$"
_WHERE_DO_YOU = r"^where do you (live|work|study)(?: now| these days)?$"
_DO_YOU = r"^do you (like|love|enjoy|have|own|play|eat|drink|speak) (?:any )?([\w' -]{2,40})$"
# How are you doing? What happened? Why that?
_HOLLOW = (
    r"^(?:so,? |and |but |hey,? )*(?:how|what|anything|something|why|really)(?:'s|'ve|'re| is| are| have| has| about|"
    r" did| do| does| was| were)? (?:you|your (?:day|week|weekend|life)|it|things?|everything|life|that|this|up|new|"
    r"going|happened|happening|been|else)\b(?! (?:like|think|want|do for|make|get|eat|drink|play|read|watch|study|"
    r"work))|^care to\b|^tell me\b|\bhow(?:'s|'re| is| are) (?:it|you|everything|things|life)\b|\b(?:is|are|was|"
    r"were) (?:this|that|these|those)\b|\b(?:it|that|this|they|them|there|those|these|he|she|him|her)\b(?= ?(?:[?,]|"
    r"$|to|for|like|with|in|on|at|so|work))|^(?:怎么样|发生了什么|最近(?:怎么样|如何)|你(?:呢|好吗|怎么样))|[它这那](?!个?(?:周|月|年|天|时|里))"
)
_LONGEST = 12  # words of a reply that is joined with its question
_LONGEST_QUESTION = 20  # words of a question that is quoted


def reply(turn: Turn, previous: Turn, scene: Scene) -> list[Told]:
    """What a turn tells that means nothing without the question before it; empty where the question is no help."""
    asked = [part.text for part in sentences(previous.text) if part.role == QUESTION]
    if not asked or previous.speaker == turn.speaker:
        return []
    return _joined(turn, asked[-1], scene) or _quoted(turn, asked[-1], scene)


def _joined(turn: Turn, question: str, scene: Scene) -> list[Told]:
    """Question and reply as one sentence: Mara's dog's name is Rex."""
    said = [part.text for part in sentences(turn.text) if part.role != QUESTION]
    zh = is_chinese(question)
    if said and (agreed := _agreed(question, said[0], scene)):
        return [Told(f"{question} {said[0]}", agreed, None, False)]
    answers = ((chinese if zh else english).bare(text, tuple(scene.others)) for text in said)
    answer = next(filter(None, answers), "")
    if not answer or length(answer) > _LONGEST:
        return []
    joined = _chinese(question, answer) if zh else _english(question, answer)
    if not joined:
        return []
    words, when = dated(joined, scene.today)
    return [Told(f"{question} {said[0]}", scene.speaker + words, when, False)]


def _quoted(turn: Turn, question: str, scene: Scene) -> list[Told]:
    """Asked "How was the race?", Mara says it was hard."""
    parts = [part.text for part in sentences(turn.text) if part.role == TELLING]
    told = [one for part in parts if (one := retold(part, scene, reply=True))]
    if not told or not 3 <= length(question) <= _LONGEST_QUESTION or regex(_HOLLOW).search(question) or leans(question):
        return []
    first = told[0].text.removeprefix(f"{scene.speaker} says ").removeprefix(f"{scene.speaker}说")
    if regex(_POLAR).search(question) and (plainly := regex(_YES_OR_NO).match(turn.text)):
        first = f"{'no' if plainly[1][:1].lower() == 'n' else 'yes'}: {first}"
    if is_chinese(first):
        text = f"被问到“{question}”，{scene.speaker}说{first}"
    else:
        names = "|".join(map(re.escape, (scene.speaker, *scene.others)))
        asked = regex(rf"^(?:[\w ]{{1,30}}, )?(?:{names})[,!] |, (?:{names})(?=\?)").sub("", question)
        text = f'Asked "{asked}", {scene.speaker} says {first if first.startswith(scene.speaker) else uncapital(first)}'
    return [told[0]._replace(text=text, leans=False), *(one for one in told[1:2] if one.leans)]


def _asked(question: str) -> str:
    """The question proper, without what leads to it."""
    start = regex(r"\b(?:what|where|who|when|do|how)\b").search(question)
    return english.expanded(question[start.start() :] if start else question).rstrip("?!. ")


def _agreed(question: str, said: str, scene: Scene) -> str:
    """`Do you like jazz?` `Yes, I do.` as a sentence."""
    m = regex(_DO_YOU).match(_asked(question))
    return f"{scene.speaker} {singular(m[1])} {m[2]}" if m and regex(_YES).search(said) else ""


def _english(question: str, answer: str) -> str:
    """What follows the speaker's name, or nothing where the question is not of a kind that is understood."""
    asked = _asked(question)
    if not regex(_PLAIN).search(answer):
        return ""
    if m := regex(_WHAT_IS_YOURS).match(asked):
        return f"'s {m[1]} {'are' if regex(r' (?:are|were) ').search(asked) else 'is'} {answer}"
    if m := regex(_WHERE_DO_YOU).match(asked):
        placed = regex(r"^(?:in|at|near|on|from)\b").search(answer) is not None
        place = uncapital(answer) if placed else f"{'at' if m[1].lower() == 'work' else 'in'} {answer}"
        return f" {singular(m[1].lower())} {place}"
    return f" is {answer}" if regex(r"^how old are you$").match(asked) and answer[:1].isdigit() else ""


def _chinese(question: str, answer: str) -> str:
    """What follows the speaker's name, as in `_english`."""
    asked = regex(r"[?？吗呢。 ]+$").sub("", question)
    if regex(r"^[我它他她这那是不你]").search(answer):
        return ""
    if m := regex(r"[你您]的?([^，。？]{1,12}?)(?:是|叫)(?:什么(?:名字)?|谁|哪[个里])$").search(asked):
        return f"的{m[1]}是{answer}"
    if m := regex(r"[你您](?:现在)?(?:住|在)在?(?:哪里|哪儿|什么地方)(工作|上班)?$").search(asked):
        return f"在{answer}{m[1]}" if m[1] else f"住在{answer}"
    return ""
