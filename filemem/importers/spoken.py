"""A conversation's turns as lines of a transcript: made harmless, grouped by day, compared with those already there."""

import re
from collections import Counter
from datetime import date

from filemem.files.memory import Memory
from filemem.files.passages import Passage, format_turn, needed_day, turns
from filemem.importers.shapes import ImportedConversation, ImportedTurn
from filemem.text.redaction import Redaction, redact

LONGEST_NAME = 100  # characters of a speaker's name
LONGEST_TITLE = 200  # characters of a title
_LINE_ENDS = re.compile("\r\n|[\r\x85\u2028\u2029]")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def cleaned(conversation: ImportedConversation, person: str) -> tuple[ImportedConversation, int]:
    """The conversation with `person` as the name of its own speaker, and how many characters had to be replaced.

    Line ends of every kind become newlines; other control characters and lone surrogates become U+FFFD. Turns whose
    text is empty are left out, and ids are made unique, so that each names one turn.
    """
    said, replaced, seen = [], 0, Counter[str]()
    for turn in conversation.turns:
        text, count = _CONTROLS.subn("\N{REPLACEMENT CHARACTER}", _LINE_ENDS.sub("\n", turn.text))
        if not text.strip():
            continue
        seen[turn.id] += 1
        id = turn.id if seen[turn.id] == 1 else f"{turn.id}#{seen[turn.id]}"
        speaker = _one_line(turn.speaker, LONGEST_NAME) or person
        said.append(turn._replace(speaker=speaker, text=text, id=_one_line(id, LONGEST_TITLE)))
        replaced += count
    return conversation._replace(title=_one_line(conversation.title, LONGEST_TITLE), turns=said), replaced


def without_secrets(conversation: ImportedConversation) -> tuple[ImportedConversation, list[Redaction]]:
    """The conversation without keys, passwords and the like, and which there were."""
    title, gone = redact(conversation.title)
    said = []
    for turn in conversation.turns:
        text, found = redact(turn.text)
        said.append(turn._replace(text=text))
        gone += found
    return conversation._replace(title=title, turns=said), gone


def written(said: list[ImportedTurn], day: date | None, clock: str = "") -> str:
    """The turns as a transcript goes on with them behind a turn of `day` at `clock`: each of another day has its date."""
    lines = []
    for turn in said:
        own = needed_day(turn.time, day, clock) if turn.time else None
        lines.append(format_turn(turn.speaker, _clock(turn), turn.text, own))
        day, clock = own or day, _clock(turn) or clock
    return "".join(lines)


def missing(conversation: ImportedConversation, known: set[str], session: Memory) -> list[ImportedTurn]:
    """The turns that `session` does not have yet; `known` are the ids of all that were imported into it before.

    Turns beyond the number of those known were written without being recorded, so the very words tell which they are.
    With no record at all, what comes before the last turn that is there was there too, and has been edited since.
    """
    there = Counter([_said(passage) for passage in turns(session.lines, session.front_end)][len(known) :])
    new, found = list[ImportedTurn](), 0
    for turn in conversation.turns:
        key = _key(turn)
        if turn.id in known:
            continue
        if there[key]:
            there[key] -= 1
            found = len(new)
        else:
            new.append(turn)
    return new if known else new[found:]


def _key(turn: ImportedTurn) -> tuple[str, str, str]:
    """A turn as it reads once it is written."""
    return _said(turns(format_turn(turn.speaker, _clock(turn), turn.text).split("\n"))[0])


def _said(passage: Passage) -> tuple[str, str, str]:
    """Who said what, and when."""
    return passage.speaker, passage.time, passage.text


def _clock(turn: ImportedTurn) -> str:
    """A turn's time of day, or nothing."""
    return f"{turn.time:%H:%M}" if turn.time else ""


def _one_line(text: str, longest: int) -> str:
    """`text` on one line, without control characters, of at most `longest` characters."""
    return " ".join(_CONTROLS.sub("\N{REPLACEMENT CHARACTER}", _LINE_ENDS.sub(" ", text)).split())[:longest].strip()
