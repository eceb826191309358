"""What in a turn of a conversation is worth keeping, in the speaker's own words: whole sentences, never rewritten.

Pure functions, no model. Precise before complete: what no row of the table names is left to the transcript.
"""

import datetime as dt
import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

from filemem.text import chinese, dates
from filemem.text.statements import relations, steering, table
from filemem.text.statements.relations import RelationValue
from filemem.text.statements.sentences import (
    TELLING,
    Sentence,
    Utterance,
    hands_over,
    is_chinese,
    language_of,
    own_sentences,
    plainly,
    role,
    sentences,
)
from filemem.text.statements.table import Kind

SENTENCES = 3  # of a turn that one statement holds at most
LONGEST = {"en": 300, "zh": 100}  # characters of a statement
POINTING = 14  # words of a sentence, up to which a pronoun for a thing means one that was named before it
LEAST = {"en": 9, "zh": 4}
FIRST = 12  # characters of a sentence with which it begins

_WISH_END = re.compile(  # where what is to be forgotten ends, and why it is begins
    r"[,，;；。!！?？]|\.(?!\d)|(?<=[\u3400-\u9fff])\s+(?=[\u3400-\u9fff])"
    r"|\b(?:because|cos|since|please|it'?s|thats|that's|and i|i (?:don'?t|do not|feel|hate|just|never|can'?t|wish|want)"
    r"|i'?d rather|so that|as i|(?:fr|tho|lol|asap|bro|mate|thanks|thx)(?=\W*$))\b",
    re.IGNORECASE,
)
_OF_SELF = ("who", "health", "home", "work", "family", "likes")  # sections of the profile that are about the user
_STANDING = ("identity", "health", "home", "family", "possession", "people")  # kinds that may stand beside a relation
_VOID = ("of no person", "hedge", "passing", "reaction", "laugh", "courtesy")  # signs of what names nothing that lasts
_CERTAIN = ("identity", "health", "diet", "home", "work", "family")  # kinds of which the world's news is none
_IN_JEST = ("told", "event", "plan", "preference")  # kinds that a laugh makes a joke


class Statement(NamedTuple):
    """One to three sentences of a turn as they were written; `line` is the turn's.

    `states` are the relations that it states of the speaker; `changes` are the clauses in which it takes back, moves or ends
    something told before; `when` is the day of a plan that names one; `asked`: the speaker asks for it to be remembered.
    """

    text: str
    line: int
    kind: Kind
    states: tuple[RelationValue, ...]
    changes: str
    when: dt.date | None
    asked: bool


class TurnReading(NamedTuple):
    """What one turn tells: statements, what it asks to be forgotten, whether it takes the turn before back as a joke."""

    statements: list[Statement]
    forget: list[str]
    takes_back: bool


class RememberRequest(NamedTuple):
    """What somebody tells to remember: its kind, whether they speak of themselves as I, the clauses that tell of a change."""

    kind: Kind
    quotes: bool
    changes: str


def read_turn(turn: Utterance, day: dt.date, *, to_assistant: bool) -> TurnReading:
    """What a turn of some day tells; only what is said to an assistant asks it to do, remember or forget anything."""
    parts = own_sentences(turn.text)
    jokes = [place for place, part in enumerate(parts) if part.role == "taken back"]
    parts, takes_back = parts[jokes[-1] + 1 :] if jokes else parts, bool(jokes) and not jokes[0]
    roles = {part.role for part in parts}
    if to_assistant and "forget" in roles:
        wishes = [to_forget(part.text) for part in parts if part.role == "forget"]
        return TurnReading([], [wish for wish in wishes if wish], takes_back)
    if to_assistant and "private" in roles:
        return TurnReading([], [], takes_back)
    found: list[list[Sentence]] = []
    note = to_assistant and len(turn.text) <= LONGEST[language_of(turn.text)]
    for place, part in enumerate(parts):
        if "[redacted:" in part.text or not _worth(part, to_assistant, note):
            continue
        if found and part in found[-1]:
            continue
        group = _with_support(parts, place)
        if group:
            group = [*group, *_further(parts, place, len(group))]
        if group and found and (group[0] in found[-1] or _one_note(parts, found[-1], group)):
            found[-1] += [one for one in group if one not in found[-1]]
        elif group:
            found.append(group)
    statements = [_statement(group[-SENTENCES:], turn, day, to_assistant, note) for group in found]
    return TurnReading([one for one in statements if one], [], takes_back)


def elliptical(text: str) -> str:
    """What a message tells that only an earlier message explains, such as "they land at ten"; empty for any other message."""
    parts = own_sentences(text)
    if not parts or parts[0].role != TELLING or not _leans(parts[0]) or "[redacted:" in text:
        return ""
    return text.strip() if len(parts) <= SENTENCES and any(_kind(part, note=True) for part in parts) else ""


def talk(text: str) -> list[Sentence]:
    """The sentences of a turn with what each does, up to where a text begins that is handed over to be worked on."""
    found: list[Sentence] = []
    for sentence in sentences(text):
        if sentence.role in ("request", "question") and hands_over(sentence):
            break
        found.append(sentence)
    return found


def subject_of(text: str) -> str:
    """Whom a text is about: `self`, its speaker, `kin` of theirs, or `other`."""
    return _about([_telling(text)])


def names_nobody(text: str) -> bool:
    """Does a text leave open whom it tells of: "correction, it's Thursday"?"""
    return subject_of(text) == "self" and not table.sign("first person", plainly(text))


def is_instruction(statement: Statement) -> bool:
    """Is it how the person wants to be talked to and helped, rather than something about them?"""
    return statement.kind.name == "instruction"


def steers(statement: Statement) -> bool:
    """Is it such an instruction, or does it hold an order that another gives?"""
    return is_instruction(statement) or steering.holds_order(statement.text)


def to_forget(sentence: str) -> str:
    """What a request to forget is about, as words to look for."""
    sentence = sentence if is_chinese(sentence) else table.in_standard_words(sentence)
    clauses = _WISH_END.split(sentence)
    cleaned = [" ".join(table.without("asking to forget", f" {clause} ").split()) for clause in clauses]
    wishes = [
        re.sub(r"^(?:that|about|(?:all|everything|anything) (?:about|on|of))\b\s*", "", clause, flags=re.IGNORECASE)
        for clause in cleaned
    ]
    return next((wish for wish in wishes if len(wish) > 1), "")


def kind_of(text: str) -> Kind | None:
    """The kind of what somebody asks to be remembered, in whatever form; None where no row of the table names it."""
    return _kind(_telling(text))


def _telling(text: str) -> Sentence:
    """A whole text as one sentence that tells something."""
    return Sentence(text, TELLING, language_of(text))


def remember_request(text: str, owner: str) -> RememberRequest:
    """What `owner` tells to remember, in whatever form."""
    part = _telling(text)._replace(role=role(text))
    asked, stated = table.kinds()["remembered"], relations.relation_values(text, owner)
    kind = table.kinds()[stated[0].kind] if stated else _kind(part)
    kind = table.kinds()["instruction"] if part.role == "instruction" else kind or asked
    about = "self" if text.casefold().startswith(owner.casefold()) else _about([part])
    heading = _heading(kind, "self" if part.role == "instruction" else about)
    kind = kind._replace(importance=max(kind.importance, asked.importance), heading=heading)
    return RememberRequest(kind, table.sign("first person", plainly(text)) is not None, _changing(part))


def tells_more(text: str, owner: str, relations_of: set[str]) -> bool:
    """Does a text state something lasting besides these relations, which stays true when they are superseded?"""
    first = re.split(r"['’\s]", text.strip(), maxsplit=1)[0]
    stated = relations.relation_values(text) or relations.relation_values(text, first)  # told of somebody by their name
    if any(one.relation not in relations_of for one in stated):
        return True
    own = {one.kind for one in stated} | {"people"}  # whoever is named at all is one of them
    own |= {"people"} if text.casefold().startswith(owner.casefold()) else set()
    said = plainly(text)
    return any(name not in own and table.search("kind", name, said, language_of(text)) for name in _STANDING)


def heading_of(text: str, owner: str) -> str:
    """The section of the profile for what is told of its owner in the third person; empty where it belongs in none."""
    stated = relations.relation_values(text, owner)
    kind = table.kinds()[stated[0].kind] if stated else kind_of(text)
    return kind.heading if kind else ""


def may_tell(part: Sentence) -> bool:
    """May a sentence hold a fact, for a model to tell?"""
    if part.role != TELLING:
        return part.role in ("remember", "instruction")
    return _kind(part) is not None or table.sign("first person", plainly(part.text)) is not None


def _one_note(parts: list[Sentence], first: list[Sentence], second: list[Sentence]) -> bool:
    """Are two adjacent groups of a message one note, as one of them has no subject and no kind of the table?"""
    beside = parts.index(second[0]) - parts.index(first[-1]) == 1 and len(first) + len(second) <= SENTENCES
    return beside and any(
        not any(map(_kind, group)) and not table.sign("own subject", plainly(group[0].text))
        for group in (first, second)
    )


def _worth(part: Sentence, to_assistant: bool, note: bool) -> bool:
    """Is a sentence the core of something worth keeping? In a `note`, a short message to an assistant, it may be of any kind."""
    short = len(part.text) < LEAST[part.language] and not relations.relation_values(part.text)
    if short or len(part.text) > LONGEST[part.language]:
        return False
    if part.role in ("remember", "instruction"):
        return to_assistant or (part.role == "remember" and _own(part, to_assistant) and _kind(part) is not None)
    if part.role != TELLING or not _own(part, to_assistant) or (note and is_phrase(part.text)):
        return False
    kind = _kind(part, note)
    return kind is not None and not (table.sign("laugh", part.text) and kind.name in _IN_JEST)


def is_phrase(text: str) -> bool:
    """Is a text only a few words that name a thing, "the plumber's number", and say nothing of it?"""
    return table.sign("attribute", plainly(text)) is not None


def _own(part: Sentence, to_assistant: bool) -> bool:
    """Is it about the speaker and theirs, or about somebody named, and not about whom they talk to?

    An assistant is whom a sentence is about only where that begins with it; elsewhere "you" is anybody.
    """
    said = plainly(part.text)
    first, second = table.sign("first person", said), table.sign("second person", said)
    return bool(first) or not second or (to_assistant and second.start() >= FIRST and not is_chinese(said))


def _kind(part: Sentence, note: bool = False) -> Kind | None:
    """What kind of thing a sentence tells; in a note to an assistant also what no row of the table names."""
    said = plainly(part.text)
    kinds = table.kinds()
    if stated := relations.relation_values(part.text):
        return max((kinds[one.kind] for one in stated), key=lambda kind: kind.importance)
    for name, kind in kinds.items():
        if table.search("kind", name, said, part.language) and _holds(name, said):
            return kind
    return _otherwise(said) if note and part.role == TELLING else None


def _otherwise(said: str) -> Kind | None:
    """The kind of a sentence that no row of the table names: an event, or something lasting; None for what nobody would ask
    for later."""
    void = (*_VOID, "vague") if _is_vague(said) else _VOID
    if not table.sign("settles", said) or said.endswith((":", "：")) or any(table.sign(name, said) for name in void):
        return None
    return table.kinds()["event" if table.sign("past time", said) else "told"]


def _holds(name: str, said: str) -> bool:
    """Does a sentence of this kind say enough to be worth a file: a plan its time, an event its time, a name or a number?"""
    if table.sign("hedge", said) or (table.sign("of no person", said) and name not in _CERTAIN):
        return False
    if name == "health":
        speaker = table.sign("first person", said) or table.sign("no subject", said)
        return bool(speaker or _names_somebody(said))
    if name in ("identity", "diet"):
        return True
    if _is_vague(said):
        return False
    if name in ("event", "preference") and table.sign("hereabouts", said):
        return False
    said = table.without("address", said)
    particular = table.sign("particular", said) or said.islower()  # who writes without capitals gives no sign of a name
    if name == "plan":
        changes = table.sign("change", said)
        return bool(changes or (table.sign("future time", said) and not table.sign("told as past", said)))
    if name == "event":
        return bool(particular or table.sign("past time", said))
    if name == "people":
        return bool(particular or (is_chinese(said) and table.sign("future time", said)))
    return True


def _is_vague(said: str) -> bool:
    """Does a sentence leave open what it speaks of, and settle nothing in a clause before that, nor by a number?"""
    if not table.sign("vague", said) or re.search(r"\d", said):
        return False
    clear = itertools.takewhile(lambda clause: not table.sign("vague", clause), re.split("[,，;；]", said))
    return not any(table.sign("settles", clause) for clause in clear)


def _names_somebody(said: str) -> bool:
    return is_chinese(said) or any(table.search("whose", who, said, "en") for who in ("kin", "other"))


def _with_support(parts: Sequence[Sentence], place: int) -> list[Sentence] | None:
    """The sentence with those before it that explain it; None where these cannot be quoted."""
    last, group = place, [parts[place]]
    while len(group) < SENTENCES and group[0].role == TELLING and (_leans(group[0]) or not _has_subject(group[0])):
        place -= 1
        if place < 0 or parts[place].role != TELLING or _is_courtesy(plainly(parts[place].text)):
            break
        group.insert(0, parts[place])
    while len(group) > 1 and _leans(group[0]):  # what it leans on is not there
        del group[0]
    lost = group[0].role == TELLING and _leans(group[0]) and not relations.relation_values(parts[last].text)
    return None if lost and not _has_own_clause(group[0].text) else group


def _has_own_clause(text: str) -> bool:
    """Does a clause behind the first tell of the speaker by itself: "they rang, so my visit is on the 4th"?"""
    clauses = (plainly(clause).strip() for clause in re.split("[,;，；]", text)[1:])
    own = ((one, subject.end()) for one in clauses if (subject := table.sign("own subject", one)))
    return any(table.sign("settles", one[at:]) and not _is_vague(one) for one, at in own)


def _further(parts: Sequence[Sentence], place: int, held: int) -> list[Sentence]:
    """The sentences behind one that only add to it: that lean on it, or name nobody anew."""
    found: list[Sentence] = []
    for part in parts[place + 1 : place + 1 + SENTENCES - held]:
        said = plainly(part.text)
        adds = _leans(part) or not _has_subject(part) or table.sign("adds", said)
        if part.role != TELLING or not adds or is_empty_talk(said) or table.sign("laugh", part.text):
            break
        found.append(part)
    return found


def is_empty_talk(said: str) -> bool:
    """Is a sentence courtesy, about the listener, or vague, so that quoting it would explain nothing?"""
    return _is_courtesy(said) or table.sign("vague", said) is not None


def _is_courtesy(said: str) -> bool:
    """Is a sentence courtesy, or about the listener?"""
    second = table.sign("second person", said) and not is_chinese(said)
    return bool(second or table.sign("reaction", said))


def _leans(part: Sentence) -> bool:
    """Does a sentence need the one before it to be understood?"""
    said = plainly(part.text)
    points = len(said.split()) <= POINTING and table.sign("points back", said)
    return bool(points or table.sign("leans", said))


def _has_subject(part: Sentence) -> bool:
    said = plainly(part.text)
    return bool(table.sign("own subject", said) or table.sign("first person", said))


def _statement(
    group: list[Sentence], turn: Utterance, day: dt.date, to_assistant: bool, note: bool
) -> Statement | None:
    while (
        len(text := ("" if group[0].language == "zh" else " ").join(part.text for part in group))
        > LONGEST[group[0].language]
        and len(group) > 1
    ):
        group = group[1:]
    text = text[: asked.start()] if (asked := table.sign("asked at the end", text)) and asked.start() else text
    kinds = [kind for part in group if (kind := _kind(part, note))]
    wishes = {part.role for part in group} & {"remember", "instruction"} if to_assistant else set()
    kind = max(kinds, key=lambda one: one.importance, default=None)
    if "instruction" in wishes:
        kind = table.kinds()["instruction"]
    elif wishes and (kind is None or kind.importance < table.kinds()["remembered"].importance):
        kind = table.kinds()["remembered"]._replace(heading=kind.heading if kind else "")
    if kind is None:
        return None
    if kind.heading in _OF_SELF and "instruction" not in wishes:
        kind = kind._replace(heading=_heading(kind, _about(group)))
    changes = " ".join(filter(None, (_changing(part) for part in group)))
    when = _day_of(text, day) if kind.name in ("plan", "work", "told") else None
    if when and kind.name == "told":
        kind = table.kinds()["plan"]
    return Statement(text, turn.line, kind, relations.relation_values(text), changes, when, "remember" in wishes)


def _heading(kind: Kind, about: str) -> str:
    """The section of the profile for what is told of somebody; only what is about the user or their kin has one."""
    return {"self": kind.heading, "kin": "family"}.get(about, "")


def _changing(part: Sentence) -> str:
    """The clauses of a sentence that tell of a change; all of it where it begins by taking something back."""
    if part.role != TELLING or not table.sign("change", plainly(part.text)):
        return ""
    clauses = re.split(r"[,;，；]", part.text)
    found = [clause for clause in clauses if table.sign("change", plainly(clause))]
    return part.text if not found or table.sign("taking back", plainly(part.text)) else " ".join(found)


def _about(group: list[Sentence]) -> str:
    """Whom the first clause that has a subject is about: `self`, `kin`, or `other`; without a subject it is the speaker."""
    said = plainly(group[0].text)
    kin = table.search("whose", "kin", said, group[0].language)
    other = table.search("whose", "other", said, group[0].language)
    first = table.sign("first person", said)
    signs = (("kin", kin), ("self", first), ("other", other))
    found = [(match.start(), -match.end(), name) for name, match in signs if match]
    if not found and any(said.startswith(name) for name in chinese.names(said)):
        return "other"
    return min(found)[2] if found else "self"


def _day_of(text: str, day: dt.date) -> dt.date | None:
    """The first day to come that a plan names, where the words settle it."""
    for mention in dates.mentioned(text, day):
        settled = mention.annotated or re.search(r"\d{4}", text[mention.start : mention.end])
        if settled and mention.span.start == mention.span.end and mention.span.start >= day:
            return mention.span.start
    return None
