"""The last turns that were kept, as this machine knows them beside their files: `.filemem/said.jsonl`, a line for each.

An editor that empties a file, waits and writes what it had loaded saves over the turns that were kept meanwhile. They are
noticed here and offered back; nothing is put back unasked. What a person has changed within a turn is no loss.
"""

import contextlib
from collections import Counter
from collections.abc import Iterable

from filemem.errors import FilememError
from filemem.files import journal, safe
from filemem.files.folder import Folder
from filemem.files.memory import Memory, live
from filemem.files.passages import Passage, turns

NAME = "said.jsonl"
LOOKED_AT = 500  # turns, the last ones, that a conversation going on misses when they are gone
MOST = 1_000_000  # bytes of the record; where it has more, its older half goes

_Turn = tuple[str, str, str]  # speaker, clock, words


def note(folder: Folder, session: str, turn: str) -> None:
    """Note a turn that was just kept; where that fails the turn is kept all the same. Called under the user's lock."""
    place = folder.bookkeeping(NAME)
    with contextlib.suppress(OSError, FilememError):
        if journal.add(place, journal.line({"session": live(session), "turn": turn})) > MOST:
            newest = safe.read(place)[-MOST // 2 :]
            safe.write(place, newest.partition(b"\n")[2])


def kept(folder: Folder) -> dict[str, list[str]]:
    """The turns by the live path of their session, in the order in which they were said."""
    found: dict[str, list[str]] = {}
    with contextlib.suppress(OSError):
        for entry in journal.values(folder.bookkeeping(NAME)):
            with contextlib.suppress(TypeError, KeyError):
                found.setdefault(str(entry["session"]), []).append(str(entry["turn"]))
    return found


def missing(session: Memory, said: Iterable[str]) -> list[str]:
    """Those of some turns that a session has not any more, neither as they were said nor changed by a person."""
    wanted = list(said)
    here = Counter(map(_key, _turns(session)))
    lost = []
    for turn in wanted:
        key = _parsed(turn)
        if key and here[key] > 0:
            here[key] -= 1
        elif key:
            lost.append(turn)
    changed = Counter((speaker, clock) for speaker, clock, _ in _others(session, wanted))
    left = []
    for turn in lost:
        key = _parsed(turn)
        if key and changed[key[:2]] > 0:
            changed[key[:2]] -= 1
        else:
            left.append(turn)
    return left


def lost(folder: Folder) -> dict[str, list[str]]:
    """The turns that sessions have lost, by the path where each lies now; of one that is gone altogether, none."""
    found = {}
    for path, said in kept(folder).items():
        with contextlib.suppress(FilememError, OSError):
            place = folder.locate(path)
            gone = missing(folder.memory(place), said)
            if gone:
                found[place] = gone
    return found


def put_back(folder: Folder, path: str) -> int:
    """Put the lost turns of a session back, each behind the one that it followed; returns how many there were."""
    with folder.locked():
        said = kept(folder).get(live(path), [])
        gone = missing(folder.memory(path), said)
        if gone:
            folder.edit(path, lambda data: _with(Memory(path, data), said))
    return len(gone)


def forget_lost(folder: Folder, path: str) -> int:
    """Offer the lost turns of a session back no more; returns how many there were."""
    with folder.locked():
        found = kept(folder)
        said = found.get(live(path), [])
        gone = missing(folder.memory(path), said)
        found[live(path)] = [turn for turn in said if turn not in gone]
        entries = [{"session": name, "turn": turn} for name, turns in found.items() for turn in turns]
        if gone:
            journal.rewrite(folder.bookkeeping(NAME), entries)
    return len(gone)


def _with(session: Memory, said: list[str]) -> bytes:
    """A session's bytes with the turns that it lost, each behind the one before it."""
    gone = Counter(map(_parsed, missing(session, said)))
    here, wanted = _turns(session), list(map(_parsed, said))
    import difflib  # noqa: PLC0415  hardly ever needed, and slow to load

    blocks = difflib.SequenceMatcher(None, wanted, list(map(_key, here)), autojunk=False).get_matching_blocks()
    ends = {block.a + n: here[block.b + n].end_line for block in blocks for n in range(block.size)}
    lines = session.data.splitlines(keepends=True)
    at, put = here[0].line - 1 if ends else len(lines), dict[int, list[str]]()
    for number, key in enumerate(wanted):
        if number in ends:
            at = ends[number]
        elif gone[key] > 0:
            gone[key] -= 1
            put.setdefault(at, []).append(said[number])
    end = b"\r\n" if session.data.count(b"\r\n") * 2 > session.data.count(b"\n") else b"\n"
    for place in sorted(put, reverse=True):
        if place and not lines[place - 1].endswith(b"\n"):
            lines[place - 1] += end
        lines.insert(place, "".join(put[place]).encode("utf-8", "replace").replace(b"\n", end))
    return b"".join(lines)


def _turns(session: Memory) -> list[Passage]:
    return [passage for passage in session.passages if passage.speaker]


def _key(passage: Passage) -> _Turn:
    return passage.speaker, passage.time, " ".join(passage.text.split())


def _parsed(turn: str) -> _Turn | None:
    """A turn of the record as its file has it; None for what is none."""
    return next(map(_key, turns(turn.split("\n"))), None)


def _others(session: Memory, said: list[str]) -> list[_Turn]:
    """The turns of a session that are not of these, from the first of these on: what a person may have changed.

    Where none of these is there, the person has changed every one or an editor has saved over them: they were changed if each
    still has a turn of its speaker and clock.
    """
    wanted = [key for turn in said if (key := _parsed(turn))]
    known, here = set(wanted), list(map(_key, _turns(session)))
    first = next((place for place, key in enumerate(here) if key in known), None)
    if first is None:
        told, there = (Counter((speaker, clock) for speaker, clock, _ in keys) for keys in (wanted, here))
        first = 0 if told <= there else len(here)
    return [key for key in here[first:] if key not in known]
