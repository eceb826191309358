"""Turns that an editor saved over.

An editor that writes what it had loaded saves over the turns that were kept meanwhile.
Each turn is noted beside its file, so that `check` sees what a session has lost, and
`restore` can add it again. What a person has changed within a turn is no loss.
"""

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress

from filemem.errors import FilememError
from filemem.store import files
from filemem.store.folder import Folder
from filemem.store.logs import Log
from filemem.store.memory import Memory
from filemem.store.passages import Passage, turns
from filemem.store.paths import live

SAID = "said.jsonl"
MAX_BYTES = 1_000_000  # where there are more, the older half goes


def note_turn(folder: Folder, session: str, turn: str) -> None:
    """Note a turn that was just kept; where that fails the turn is kept anyway."""
    with suppress(OSError, FilememError):
        log = Log(folder, SAID)
        size = log.add([{"session": live(session), "turn": turn}], durably=False)
        if size > MAX_BYTES:
            newer = files.read(log.place)[-MAX_BYTES // 2 :]
            files.write(log.place, newer.partition(b"\n")[2])


def lost(folder: Folder) -> dict[str, list[str]]:
    """Return the turns that sessions have lost, by the path where each lies now.

    Of one that is gone altogether there are none.
    """
    found = {}
    for path, said in _noted(folder).items():
        session = folder.find(path)
        gone = _missing(session, said) if session else []
        if session and gone:
            found[session.path] = gone
    return found


def put_back(folder: Folder, path: str) -> int:
    """Add the lost turns of a session at its end; return how many there were."""
    with folder.locked():
        gone = _missing(folder.memory(path), _noted(folder).get(live(path), []))
        if gone:
            folder.append(path, "".join(gone))
    return len(gone)


def _noted(folder: Folder) -> dict[str, list[str]]:
    """Return the turns by the live path of their session, in order."""
    found: dict[str, list[str]] = {}
    with suppress(FilememError, OSError):
        for entry in Log(folder, SAID).entries():
            with suppress(KeyError):
                found.setdefault(str(entry["session"]), []).append(str(entry["turn"]))
    return found


def _missing(session: Memory, said: Iterable[str]) -> list[str]:
    """Return those of some turns that a session has no more, neither as said nor, with
    the same speaker and clock, changed."""
    here = Counter(_key(turn) for turn in session.passages if turn.speaker)
    gone = []
    for text in said:
        for turn in turns(text.split("\n"))[:1]:
            here[_key(turn)] -= 1
            if here[_key(turn)] < 0:
                gone.append((_head(turn), text))
    changed = Counter(key[:2] for key in here.elements())
    left = []
    for head, text in gone:
        changed[head] -= 1
        if changed[head] < 0:
            left.append(text)
    return left


def _head(turn: Passage) -> tuple[str, ...]:
    return turn.speaker, turn.time


def _key(turn: Passage) -> tuple[str, ...]:
    return *_head(turn), " ".join(turn.text.split())
