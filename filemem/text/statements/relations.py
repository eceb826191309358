"""Relations that have one value at a time: what a sentence states of its speaker, and what a question asks for."""

import functools
import re
from typing import NamedTuple

from filemem.text import chinese, terms
from filemem.text.statements import table
from filemem.text.statements.sentences import LONGEST, language_of, plainly
from filemem.text.terms import simplified

Topic = tuple[str, str]  # whose, and what of theirs: ("Mara", "home"), ("Mara", "favourite tea")

_FIELD = re.compile(r"^(?!i\b|we\b)([^\W\d][^:：.。,，\n]{1,24})[:：]\s*(?=\S)", re.IGNORECASE)  # Favourite tea: oolong
_AGREEMENT = {"is": "am", "has": "have", "does": "do", "was": "was", "isn't": "am not", "doesn't": "don't"}


class RelationValue(NamedTuple):
    """A relation's name, its value, and the kind that it belongs to; an empty value ends what was so before.

    `single`: it has one value at a time, so that a newer one replaces an older.
    """

    relation: str
    value: str
    kind: str
    single: bool


@functools.lru_cache(maxsize=4_000)
def relation_values(sentence: str, owner: str = "") -> tuple[RelationValue, ...]:
    """What a text states of whoever says it; with `owner`, what one about that name or without a subject states, too."""
    said = plainly(sentence[:LONGEST])
    language = language_of(said)
    readings = [said, *_in_first_person(said, owner, language)] if owner else [said]
    found: dict[str, RelationValue] = {}
    for row in table.rows("relation"):
        matches = (table.search("relation", row["name"], reading, language) for reading in readings)
        if match := next((match for match in matches if match and not _of_another(match, language)), None):
            groups = {key: value.strip().lower() for key, value in match.groupdict().items() if value}
            name = row["name"]
            for part in ("thing", "kin", "pet"):
                name = name.replace(f"{{{part}}}", groups.get(part, ""))
            value = _as_written((match["value"] or "").strip(" ,，.。'\"“”"), sentence)
            found.setdefault(name, RelationValue(name, value, row["kind"], not row.get("many", False)))
    return tuple(found.values())


def of_somebody(sentence: str) -> tuple[str, tuple[RelationValue, ...]]:
    """The name of whom a sentence begins with, behind what they are to its speaker, and what it states of them; or nothing."""
    plain = simplified(sentence)
    match = table.sign("somebody", plain)
    name = match["name"] if match else next((name for name in chinese.names(plain) if name in plain[:8]), "")
    if not name or name.casefold() in terms.STOP:
        return "", ()
    at = match.start("name") if match else plain.index(name)
    return sentence[at : at + len(name)], relation_values(sentence[at:], name)


def renamed(sentence: str) -> tuple[str, str] | None:
    """The old name and the new one of whom a sentence says that they changed it."""
    match = table.sign("renamed", plainly(sentence))
    return (match["old"], match["new"]) if match else None


def _of_another(match: re.Match[str], language: str) -> bool:
    """Is what names nobody told of somebody who is named before it: Tom got a job at Fenwick's?"""
    if table.sign("first person", match[0]):
        return False
    named = (table.search("whose", name, match.string, language) for name in ("kin", "other"))
    return any(subject.start() < match.start() for subject in named if subject)


def _as_written(value: str, sentence: str) -> str:
    """A value in the characters of the sentence that states it."""
    at = simplified(sentence).find(value)
    return sentence[at : at + len(value)] if at >= 0 else value


def asked(question: str) -> list[str]:
    """The relations that a question of the user asks for, by name; a part in braces is left as it is."""
    said = plainly(question)
    language = language_of(said)
    found = []
    for row in table.rows("relation"):
        pattern = table.asking(row["name"], language)
        if pattern and pattern.search(said):
            found.append(row["name"])
    return found


def _in_first_person(said: str, owner: str, language: str) -> list[str]:
    """How the owner would say what is told of them, or without a subject: Mara lives in Ghent; Lives in Ghent; Birthday: 14 May.

    Only patterns read these; nobody is shown them.
    """
    name = re.escape(simplified(owner))
    if language == "zh":
        said = re.sub(rf"{name}(?:的)?", lambda m: "我的" if m[0].endswith("的") else "我", said)
        field = _FIELD.sub(lambda m: f"我的{m[1]}是", said, count=1)
        return [said, field, f"我{said}"]
    said = re.sub(rf"\b{name} and \w+(?= \w)", "we", said, flags=re.IGNORECASE)
    said = re.sub(rf"\b{name}'s\b", "my", said, flags=re.IGNORECASE)
    said = re.sub(
        rf"\b{name}(?: ((?:now|currently|also|still|just|really) )?(\w+(?:'t)?))?", _first, said, flags=re.IGNORECASE
    )
    field = _FIELD.sub(lambda m: f"my {m[1].lower()} is ", said, count=1)
    word, _, rest = said.partition(" ")
    subjectless = [f"I {_bare(word.lower())} {rest}"] if not re.match(r"(?:my|i|we|our)\b", said, re.IGNORECASE) else []
    return [said, field, *subjectless]


def _first(match: re.Match[str]) -> str:
    """`Mara now lives` as `I now live`."""
    return f"I {match[1] or ''}{_bare(match[2])}" if match[2] else "I"


def _bare(verb: str) -> str:
    """A verb of the third person as it stands behind I."""
    if verb in _AGREEMENT:
        return _AGREEMENT[verb]
    return re.sub(r"(?<=[sxzho])es$|(?<=[^s])s$", "", verb)
