"""Facts whose words stand in no turn that they cite: older versions retold by rules. A person decides on each.

What a model told is marked with `retold_by` and was verified; what a person has edited is not checked.
"""

import datetime as dt
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from filemem.errors import FilememError
from filemem.files import archive, facts
from filemem.files.folder import Folder
from filemem.files.memory import Memory, kind_of
from filemem.files.passages import Passage, format_turn
from filemem.remembering.comparison import display, said_in
from filemem.remembering.ledger import Ledger, Origin, digest, turn_digest
from filemem.text.statements import read_turn
from filemem.text.statements.sentences import Utterance
from filemem.text.statements.words import content


class DerivedFact(NamedTuple):
    """A fact as it stands, its words, and the turns that it cites, each with its `path:line`."""

    memory: Memory
    text: str
    turns: tuple[tuple[str, Passage], ...]


def found(folder: Folder) -> Iterator[DerivedFact]:
    """The live facts and lessons, as the program left them, whose words stand in no turn that they cite."""
    book = Ledger(folder)
    for path in sorted(book.written):
        try:
            memory = folder.memory(path)
        except FilememError:
            continue  # gone, or in the archive
        if (
            kind_of(path) not in ("facts", "lessons")
            or "retold_by" in memory.front
            or not book.untouched(path, memory.data)
        ):
            continue
        turns = tuple(_cited(folder, memory, book.written[path].origins))
        said = {_letters(passage.text) for passage in memory.passages}
        if turns and not all(any(words in _letters(turn.text) for _, turn in turns) for words in said):
            yield DerivedFact(memory, said_in(memory)[1], turns)


def quote(user: Folder, one: DerivedFact) -> str:
    """Put the turn's own words in the place of a fact's; returns its path."""
    _, turn = max(one.turns, key=lambda cited: len(content(cited[1].text) & content(one.text)))
    day = turn.day or one.memory.date or dt.date.min
    statements = read_turn(Utterance(turn.speaker, turn.text), day, to_assistant=True).statements
    best = max(statements, key=lambda said: len(content(said.text) & content(one.text)), default=None)
    body = format_turn(display(turn.speaker), "", best.text if best else turn.text)
    end = one.memory.front_end

    def change(data: bytes) -> bytes:
        return b"".join(data.splitlines(keepends=True)[:end]) + f"\n{body}".encode("utf-8", "replace")

    user.edit(one.memory.path, change)
    keep(user, one, digest(user.read(one.memory.path)))
    return one.memory.path


def keep(user: Folder, one: DerivedFact, known_as: str = "") -> None:
    """Note that a person has looked at a fact; without a digest it is theirs from now on."""
    Ledger(user).add([{"wrote": one.memory.path, "digest": known_as, "from": []}])


def drop(user: Folder, one: DerivedFact, at: dt.datetime) -> str:
    """Put a fact into the archive as superseded by the turn that it retold; returns where it is now."""
    path, source = one.memory.path, one.turns[0][0]
    user.edit(path, lambda data: facts.superseded(path, data, source, one.memory.date or at.date()))
    archive.move_in(user, [path], at)
    return archive.archived(path)


def _cited(folder: Folder, memory: Memory, origins: Iterable[Origin]) -> Iterator[tuple[str, Passage]]:
    """The turns that a memory was made of, wherever they stand now; those of its sources' lines where that is not known."""
    wanted = {turn for turn, _ in origins}
    for source in facts.sources(memory):
        path, _, line = source.rpartition(":")
        session = archive.read(folder, path) if kind_of(path) == "sessions" else None
        for turn in session.passages if session else ():
            if turn.speaker and (turn_digest(path, turn) in wanted if wanted else str(turn.line) == line):
                yield f"{path}:{turn.line}", turn


def _letters(text: str) -> str:
    return "".join(character for character in facts.plain(text).casefold() if character.isalnum())
