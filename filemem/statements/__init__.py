"""From a turn of a conversation to statements that stand alone: people are named, dates are absolute.

Pure functions, no model. What does not become a readable sentence is left out and not guessed at; the transcript has it.
"""

import re
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from filemem import names_zh, terms
from filemem.statements import cues
from filemem.statements.dating import dated
from filemem.statements.replies import reply
from filemem.statements.retelling import Scene, Told, retold, says, uncapital
from filemem.statements.salience import REMEMBER, content, wishes_kept
from filemem.statements.topics import Slot, Topic, slot
from filemem.statements.utterance import (
    ASSISTANT,
    FIRST,
    QUESTION,
    REACTION,
    TELLING,
    Sentence,
    Turn,
    cased,
    is_chinese,
    length,
    regex,
    sentences,
)
from filemem.statements.verbs import is_adverb, is_past, is_verb

MOST = 5  # statements of one turn
_QUOTED = r"[\"“「]([^\"”」]{2,40}[^?？])[\"”」]|《([^》]{1,40})》"
_CLAUSES = r",? (?:and|but) (?=(?:i|my|we|our)\b)|[,;:] (?=(?:i|my|we|our)\b)"
# A sentence whose first clause is no condition or time of the others.
_MAIN = (
    r"(?!.{0,3}(?:当|如果|虽然|自从|因为|要是))(?:(?:(?:oh|and|but|so|also|well|hi|hey|no|yes|actually|嗯|对了)[,!，！]? )*"
    r"(?:i|my|we|our)\b|[^，,]{0,8}我)"
)
_SECRET = "[redacted:"
_LONGEST = 60  # words of a statement made of several sentences


class Statement(NamedTuple):
    """A fact in one or a few sentences: `line` is the turn's, `importance` from 1 to 10, `confidence` from 0 to 1.

    `kind` is preference, plan, event, relation, possession, attribute or lesson. A later statement with the same `topic`
    and another `value` contradicts it; `correction`: it takes something back; `links` are names in `text`;
    `about_date` is the first day that it names.
    """

    text: str
    line: int
    importance: int
    confidence: float
    kind: str
    topic: Topic | None
    value: str | None
    links: tuple[str, ...]
    correction: bool
    about_date: date | None


def takes_back(turn: Turn) -> bool:
    """Whether the turn says that what its speaker said before it was a joke; one that tells something first means that."""
    for part in sentences(turn.text):
        if regex(cues.JOKE).search(part.text):
            return True
        if part.role == TELLING:
            return False
    return False


def statements(turn: Turn, previous: Turn | None, today: date, others: Sequence[str]) -> list[Statement]:
    """What a turn states, at most `MOST` statements; `today` is the session's day, `others` who else speaks in it.

    Jokes, suppositions and attempts to give the memory orders are no facts; an empty list says that none is left.
    """
    if regex(cues.INJECTION).search(turn.text):
        return []
    scene = Scene(turn.speaker, others, today)
    parts = _sincere(sentences(turn.text))
    found = [_lesson(part, turn) for part in parts if _is_lesson(part.text)]
    asked = [_asked_for(part, turn, scene) for part in parts if wishes_kept(part.text, others)]
    wished = [*found, *(one for one in asked if one)]
    rest = [part for part in parts if not _is_lesson(part.text) and not wishes_kept(part.text, others)]
    told = _told([clause for part in rest for clause in _settling(part, scene)], scene)
    if not told and not wished and previous:
        told = reply(turn, previous, scene)
    return [*wished, *(_statement(group, turn) for group in _grouped(told, turn.speaker))][:MOST]


def linked(statement: Statement) -> str:
    """The text with the first mention of each of its links in double square brackets."""
    text = statement.text
    for name in statement.links:
        whole = rf"(?<![^\W{terms.CJK}]){re.escape(name)}(?![^\W{terms.CJK}])"
        text = re.sub(whole, lambda match: f"[[{match[0]}]]", text, count=1)
    return text


# -- choosing --------------------------------------------------------------------------------------------------------


def _sincere(parts: list[Sentence]) -> list[Sentence]:
    """The sentences without suppositions, and without a joke and what stood before it."""
    jokes = [number for number, part in enumerate(parts) if regex(cues.JOKE).search(part.text)]
    rest = parts[jokes[-1] + 1 :] if jokes else parts
    return [part for part in rest if not regex(cues.UNREAL).search(part.text)]


def _is_lesson(sentence: str) -> bool:
    return regex(cues.INSTRUCTION).search(_unasked(sentence)) is not None and not sentence.rstrip().endswith(
        ("?", "？")
    )


def _unasked(sentence: str) -> str:
    """The sentence without `remember that`."""
    return regex(REMEMBER).sub("", sentence).strip()


def _lesson(part: Sentence, turn: Turn) -> Statement:
    wish = regex(cues.PLEASE).sub("", _unasked(part.text)).rstrip(".!。！ ")
    wish = wish[:1].lower() + wish[1:]
    text = f"{turn.speaker}要求：{wish}。" if is_chinese(wish) else f"{turn.speaker} asks: {wish}."
    return Statement(text, turn.line, 7, 1.0, "lesson", None, None, (), False, None)


def _asked_for(part: Sentence, turn: Turn, scene: Scene) -> Statement | None:
    """What somebody asks to remember, kept even where it is no sentence about them."""
    said = _unasked(part.text).rstrip("?？")
    told = retold(said[:1].upper() + said[1:], scene)
    if told is None and part.role != QUESTION and length(said) >= 3:
        words, when = dated(said.rstrip(".!。！ "), scene.today)
        told = Told(part.text, says(scene.speaker, words), when, False)
    if told is None:
        return None
    plain = told if scene.speaker in told.text else told._replace(text=says(scene.speaker, told.text))
    return _statement([plain], turn)._replace(confidence=1.0, importance=max(7, _importance(plain.text)))


def _told(parts: list[Sentence], scene: Scene) -> list[Told]:
    """The telling sentences, retold, in order; those that lean on one that was dropped are dropped."""
    found: list[Told] = []
    dropped = False
    before = ""
    for part in parts:
        told = retold(part.text, scene, before) if part.role == TELLING else None
        before += " " + part.text
        if told is None or (told.leans and (not found or dropped)):
            dropped = part.role != REACTION
            continue
        dropped = False
        found.append(told)
    return found


def _settling(part: Sentence, scene: Scene) -> list[Sentence]:
    """The clauses of a sentence where a later one settles a topic, or one holds a secret, so that each is told by itself."""
    clauses = _clauses(part.text, scene) if is_chinese(part.text) else regex(_CLAUSES).split(part.text)
    whole = part.role != TELLING or len(clauses) < 2 or not regex(_MAIN).match(part.text)
    if whole or not regex(FIRST).search(clauses[0]):
        return [part]
    settled = [_settles(clause, scene) for clause in clauses]
    if regex(cues.CORRECTION).search(clauses[0]) and not settled[0]:
        return [part]
    news = any(settled[1:]) and (settled[0] or not regex(r"\bbut\b|但|不过").search(part.text))
    secret = any(settled) and any(_SECRET in clause for clause in clauses)
    return [Sentence(clause.strip(" ,"), TELLING) for clause in clauses] if news or secret else [part]


def _settles(clause: str, scene: Scene) -> bool:
    told = retold(clause, scene)
    return told is not None and slot(told.text, scene.speaker) is not None


def _clauses(sentence: str, scene: Scene) -> list[str]:
    """A Chinese sentence cut before each clause that settles a topic, with the 我 that it leaves out: 我住在成都，养了一只猫."""
    found: list[str] = []
    for clause in regex(r"[，,；;] ?(?:而且|并且|也)?").split(sentence):
        own = clause if regex(r"^[^，]{0,2}我").match(clause) else f"我{clause}"
        bound = regex(r"因为|由于|所以|虽然|如果|只要|除非").match(clause)
        if found and not bound and (_settles(own, scene) or _SECRET in found[-1]):
            found.append(own)
        elif found:
            found[-1] += f"，{clause}"
        else:
            found.append(clause)
    return found


# -- from sentences to statements ------------------------------------------------------------------------------------


def _grouped(told: list[Told], speaker: str) -> list[list[Told]]:
    """A group for each sentence that settles a topic or holds a secret, the rest by what they are about; what leans stays
    with its support."""
    settled: list[list[Told]] = []
    others: list[list[Told]] = []
    last: list[Told] = []
    for one in told:
        if not (one.leans and last):
            if slot(one.text, speaker) or _SECRET in one.text:
                last = []
                settled.append(last)
            elif not others or _apart(others[-1], one, speaker):
                last = []
                others.append(last)
            else:
                last = others[-1]
        if sum(length(other.text) for other in last) + length(one.text) <= _LONGEST:
            last.append(one)
    return [group for group in (*settled, *others) if group]


def _apart(group: list[Told], one: Told, speaker: str) -> bool:
    """Whether a sentence tells of something else than those before: each has its own day or names, and no word is in both."""
    before, after = (set(_links(" ".join(told.text for told in part), speaker, None)) for part in (group, [one]))
    shared = content(" ".join(told.said for told in group)) & content(one.said) or before & after
    dated = any(told.when for told in group)
    return not shared and bool(before or dated) and bool(after or one.when)


def _statement(group: list[Told], turn: Turn) -> Statement:
    text = _prose(group, turn.speaker)
    settled = slot(group[0].text, turn.speaker)
    kind = _kind(text, settled)
    correction = any(regex(cues.CORRECTION).search(regex(r"^\W+").sub("", one.said)) for one in group)
    return Statement(
        text=text,
        line=turn.line,
        importance=_importance(text, kind),
        confidence=_confidence(turn, settled),
        kind=kind,
        topic=settled.topic if settled else None,
        value=settled.value if settled else None,
        links=_links(text, turn.speaker, settled),
        correction=correction,
        about_date=next((one.when for one in group if one.when), None),
    )


def _confidence(turn: Turn, settled: Slot | None) -> float:
    """Lower where nothing settled was said, lowest for what an assistant said."""
    return 0.3 if turn.speaker.casefold() == ASSISTANT else 0.8 if settled else 0.6


def _prose(group: list[Told], speaker: str) -> str:
    """The sentences as one text; one that leans on the sentence before is joined to it by a semicolon."""
    text = ""
    for one in group:
        zh = is_chinese(one.text)
        body = regex(r"\s+([.,;:!?])").sub(r"\1", " ".join(one.text.split())).strip(" ,;，；")
        if text and one.leans:
            small = body if zh or body.startswith(speaker) else uncapital(body)
            text = text.rstrip(".。") + ("；" if zh else "; ") + small
        else:
            text += ("" if zh or not text else " ") + body[:1].upper() + body[1:]
        text += "。" if zh else "."
    return text


def _kind(text: str, settled: Slot | None) -> str:
    if settled:
        return settled.kind
    for kind, pattern in (
        ("plan", cues.PLAN),
        ("preference", cues.LIKING),
        ("event", cues.EVENT),
        ("relation", cues.RELATION),
        ("possession", cues.POSSESSION),
    ):
        if regex(pattern).search(text):
            return kind
    return "attribute"


def _importance(text: str, kind: str = "") -> int:
    for importance, pattern in cues.IMPORTANCE:
        if regex(pattern).search(text):
            return importance
    return {"preference": 6, "plan": 5, "relation": 6, "event": 5, "possession": 5}.get(kind, 4)


def _links(text: str, speaker: str, settled: Slot | None) -> tuple[str, ...]:
    """Names of people, places and things in the text, and titles in quotation marks; never the speaker."""
    names = []
    value = settled.value.removeprefix("not ") if settled else ""
    if settled and settled.topic[1].endswith(("home", "name", "名字")) and not value.islower() and "," not in value:
        names.append(value)
    plain = cased(_QUOTED).sub(lambda quoted: "\0" * len(quoted[0]), text.replace(speaker, "\0" * len(speaker)))
    whole = [m[1] for m in cased(cues.NAMED_FIRST).finditer(plain) if _is_name(m[1].split()[0])]
    for name in whole:
        plain = plain.replace(name, "\0" * len(name))
    names += [*whole, *(m[0] for m in cased(cues.NAMED).finditer(plain))]
    names += [name for name in names_zh.names(plain) if name in plain] if is_chinese(text) else []
    titles = (m[1] or m[2] for m in cased(_QUOTED).finditer(text))
    names += [title for title in titles if title[:1].isupper() or is_chinese(title)]
    return tuple(dict.fromkeys(name for name in names if name != speaker and not _within(name, names)))


def _within(name: str, names: Sequence[str]) -> bool:
    """Whether the name is part of a longer one: 苏州 of 苏州工业园区."""
    whole = re.escape(name) if is_chinese(name) else rf"\b{re.escape(name)}\b"
    return any(name != other and re.search(whole, other) for other in names)


def _is_name(first: str) -> bool:
    """Whether the first word of a sentence is part of a name as the capital behind it is: Harry Potter, not Yesterday Ada."""
    word = first.lower()
    return not (word in terms.STOP or is_adverb(word) or is_verb(word) or is_past(word) or word.endswith("ing")) and (
        regex(cues.NO_NAME).match(word) is None
    )
