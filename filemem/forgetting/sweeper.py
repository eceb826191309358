"""The sweep: it archives what has faded and brings back what was recalled. `plan` looks, `apply` moves."""

import datetime as dt
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from filemem.errors import NotFound, Refused
from filemem.files import archive, config, journal, safe, transcript
from filemem.files.archive import Progress, no_progress
from filemem.files.folder import Folder
from filemem.files.memory import ARCHIVE, is_archived
from filemem.forgetting import fading
from filemem.index.corpus import IndexedFile

HEAD = 8192  # bytes of a file in which its front matter is looked for
CITED = "cited by a memory that stays"


class SweepMove(NamedTuple):
    """A memory that moves, and why, as a phrase: `retention 0.052`, `held until 2026-08-31`, or for what comes back a key of
    `fading.LASTS` or that it was recalled; `ended`: it goes as it does not hold any more."""

    path: str
    why: str
    ended: bool = False


class SweepPlan(NamedTuple):
    """What a sweep would move, and of the rest how many stay for which reason."""

    going: list[SweepMove]
    coming: list[SweepMove]
    staying: Counter[str]


class Swept(NamedTuple):
    """What a sweep moved, and a sentence for each memory that stayed where it was."""

    archived: list[str]
    restored: list[str]
    notes: list[str]


# -- the plan ----------------------------------------------------------------------------------------------------


def plan(folder: Folder, today: dt.date, progress: Progress = no_progress) -> SweepPlan:
    """What has faded by `today`, and what comes back from the archive; nothing is moved."""
    staying: Counter[str] = Counter()
    kept: list[IndexedFile] = []
    going: dict[str, tuple[IndexedFile, SweepMove]] = {}
    coming: list[SweepMove] = []
    threshold = fading.curve(config.of(folder)).threshold
    hidden = journal.pending_deletions(folder)
    for entry, _, reason, strength, _, over in fading.standings(folder, today, progress):
        if entry.archived:
            if reason != ARCHIVE and not hidden.hides(entry.path, 0):
                coming.append(SweepMove(entry.path, reason))
        elif not reason and strength and (over or strength.retention < threshold):
            why = f"held until {entry.particulars['valid_until']}" if over else f"retention {strength.retention:.3f}"
            going[entry.path] = (entry, SweepMove(entry.path, why, over))
        else:
            staying[reason or "still fresh"] += 1
            kept.append(entry)
    cited = _cited(kept, going)
    if cited:
        staying[CITED] = len(cited)
    left = [move for path, (_, move) in going.items() if path not in cited]
    return SweepPlan(sorted(left), sorted(coming), staying)


def _cited(kept: list[IndexedFile], going: dict[str, tuple[IndexedFile, SweepMove]]) -> set[str]:
    """Of the memories to be archived, those that a staying memory cites as its source, and what these cite: they stay, too."""
    found: set[str] = set()
    asked = kept if going else []
    while asked:
        new = {path for entry in asked for path in fading.sources(entry) if path in going} - found
        found |= new
        asked = [going[path][0] for path in new]
    return found


# -- apply -------------------------------------------------------------------------------------------------------


def apply(folder: Folder, found: SweepPlan, at: dt.datetime, progress: Progress = no_progress) -> Swept:
    """Move what the plan says. A memory that was pinned meanwhile, or whose front matter cannot be read, stays."""
    held = {item.path: reason for item in found.going if (reason := _held(folder, item.path))}
    going = [item.path for item in found.going if item.path not in held]
    coming = [item.path for item in found.coming]
    stayed = archive.move_in(folder, going, at, progress) | archive.move_out(folder, coming)
    return Swept(
        [path for path in going if path not in stayed],
        [archive.live(path) for path in coming if path not in stayed],
        [*(f"{path} stays: {reason}." for path, reason in held.items()), *stayed.values()],
    )


def _held(folder: Folder, path: str) -> str:
    """Why a faded memory is not moved after all, checked just before the move; mostly empty."""
    try:
        if b"pinned" not in safe.read(folder.place / path, HEAD):
            return ""
        memory = folder.memory(path)
    except NotFound:
        return "it is gone"
    except Refused as error:
        return str(error).rstrip(".")
    if memory.particular("pinned"):
        return "it was pinned meanwhile"
    broken = memory.problems and not memory.front
    return "its front matter speaks of a pin but is broken" if broken else ""


# -- one memory --------------------------------------------------------------------------------------------------


def restore(folder: Folder, paths: Iterable[str], at: dt.datetime) -> list[str]:
    """Bring memories back from the archive, byte for byte, and note a recall; and turns that an editor saved over into a
    session. A sentence for each.

    Raises NotFound or Refused for a path that is no memory, before anything is moved.
    """
    said: list[str] = []
    found = [folder.locate(path) for path in paths]
    for path in dict.fromkeys(found):
        if not is_archived(path):
            back = transcript.put_back(folder, path)
            turns = "a turn that was" if back == 1 else f"{back:,} turns that were"
            said.append(f"Put {turns} saved over back into {path}." if back else f"{path} is not in the archive.")
            continue
        journal.note_recalls(
            folder, [path], journal.RESTORED, at
        )  # first, so that a run that is cut off reinforces it too
        stayed = archive.move_out(folder, [path])
        said.append(stayed.get(path, f"Restored {archive.live(path)}."))
    return said
