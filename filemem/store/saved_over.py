"""Turns that an editor saved over: noted as they are kept, and put back."""

import contextlib
from collections import Counter
from collections.abc import Iterable

from filemem.errors import FilememError
from filemem.store import files
from filemem.store.folder import Folder
from filemem.store.logs import line, values
from filemem.store.memory import Memory
from filemem.store.passages import Passage, turns
from filemem.store.paths import live

SAID = "said.jsonl"  # as stores have it

MOST_SAID = 1_000_000  # bytes; where there are more, the older half goes


def note_turn(folder: Folder, session: str, turn: str) -> None:
    """Note a turn that was just kept; where that fails the turn is kept all the same. Called under the user's lock."""
    place = folder.bookkeeping(SAID)
    with contextlib.suppress(OSError, FilememError):
        if (
            files.log(
                place, line({"session": live(session), "turn": turn}), durably=False
            )
            > MOST_SAID
        ):
            files.write(place, files.read(place)[-MOST_SAID // 2 :].partition(b"\n")[2])


def noted_turns(folder: Folder) -> dict[str, list[str]]:
    """The turns by the live path of their session, in the order in which they were said."""
    found: dict[str, list[str]] = {}
    with contextlib.suppress(FilememError, OSError):
        for entry in values(folder.bookkeeping(SAID)):
            with contextlib.suppress(TypeError, KeyError):
                found.setdefault(str(entry["session"]), []).append(str(entry["turn"]))
    return found


# An editor that writes what it had loaded saves over the turns that were kept meanwhile. They are offered back, and stand behind
# the others then, each with its date. What a person has changed within a turn is no loss.


def _missing(session: Memory, said: Iterable[str]) -> list[str]:
    """Those of some turns that a session has no more, neither as said nor, with the same speaker and clock, changed."""
    here = Counter(_key(turn) for turn in session.passages if turn.speaker)
    gone = []
    for turn in said:
        for key in map(_key, turns(turn.split("\n"))[:1]):
            here[key] -= 1
            gone += [(key[:2], turn)] if here[key] < 0 else []
    changed = Counter(key[:2] for key in here.elements())
    left = []
    for head, turn in gone:
        changed[head] -= 1
        left += [turn] if changed[head] < 0 else []
    return left


def _key(turn: Passage) -> tuple[str, str, str]:
    return turn.speaker, turn.time, " ".join(turn.text.split())


def lost(folder: Folder) -> dict[str, list[str]]:
    """The turns that sessions have lost, by the path where each lies now; of one that is gone altogether, none."""
    found = {}
    for path, said in noted_turns(folder).items():
        session = folder.find(path)
        if session and (gone := _missing(session, said)):
            found[session.path] = gone
    return found


def put_back(folder: Folder, path: str) -> int:
    """Add the lost turns of a session at its end; returns how many there were."""
    with folder.locked():
        gone = _missing(folder.memory(path), noted_turns(folder).get(live(path), []))
        if gone:
            folder.append(path, "".join(gone))
    return len(gone)
