"""Turns that an editor saved over.

An editor that writes what it had loaded saves over the turns that were kept meanwhile.
Each turn is noted beside its file, so that `check` sees what a session has lost, and
`restore` can add it again. What a person has changed within a turn is no loss.
"""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from operator import attrgetter

from filemem.errors import FilememError
from filemem.store import files
from filemem.store.folder import Folder
from filemem.store.logs import Log
from filemem.store.memory import Memory
from filemem.store.passages import Passage, format_turn, turns
from filemem.store.paths import live

SAID = "said.jsonl"
MAX_BYTES = 1_000_000  # where there are more, the older half goes


def note_turn(folder: Folder, session: str, turn: str) -> None:
    """Note a turn that was just kept; where that fails the turn is kept anyway."""
    with suppress(OSError, FilememError):
        log = Log(folder, SAID)
        size = log.add([{"session": live(session), "turn": turn}], durably=False)
        if size > MAX_BYTES:
            files.write(log.place, files.read(log.place)[-MAX_BYTES // 2 :])


def lost(folder: Folder) -> dict[str, list[Passage]]:
    """Return the turns that sessions have lost, by the path where each lies now.

    Of one that is gone altogether there are none.
    """
    found = {}
    for path, said in _noted(folder).items():
        session = folder.find(path)
        if session and _missing(session, said):
            found[session.path] = _missing(session, said)
    return found


def put_back(folder: Folder, path: str) -> int:
    """Add the lost turns of a session at its end; return how many there were."""
    with folder.locked():
        gone = _missing(folder.memory(path), _noted(folder).get(live(path), []))
        for turn in gone:
            text = format_turn(turn.speaker, turn.time, turn.text, turn.day)
            folder.append(path, text)
    return len(gone)


def _noted(folder: Folder) -> dict[str, list[Passage]]:
    """Return the turns by the live path of their session, in order."""
    found: dict[str, list[Passage]] = {}
    for entry in Log(folder, SAID).readable():
        said = found.setdefault(str(entry.get("session")), [])
        said += turns(str(entry.get("turn")).split("\n"))[:1]
    return found


def _missing(session: Memory, said: list[Passage]) -> list[Passage]:
    """Return those of some turns that a session has no more, neither as said nor, with
    the same speaker and clock, changed."""
    here = [turn for turn in session.passages if turn.speaker]
    words = attrgetter("speaker", "time", "text")
    gone = _beyond(said, here, words)
    changed = _beyond(here, said, words)
    return _beyond(gone, changed, attrgetter("speaker", "time"))


def _beyond(
    some: list[Passage], others: list[Passage], key: Callable[[Passage], object]
) -> list[Passage]:
    """Return those of some turns that others, each for one, do not equal by a key.

    The same words said twice are gone once where others have them once.
    """
    left = Counter(map(key, others))
    found = []
    for turn in some:
        left[key(turn)] -= 1
        if left[key(turn)] < 0:
            found.append(turn)
    return found
