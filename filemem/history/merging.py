"""Two machines' memories made one commit, beside the work tree, with every line of both readable in it."""

import datetime as dt
import re

from filemem.errors import FilememError
from filemem.files.archive import archived, live
from filemem.history import weaving
from filemem.history.beginning import message
from filemem.history.commits import History
from filemem.history.repository import MACHINE, GitFile, Merged, Repository, merge_file
from filemem.text.plain import one_line

_BASE, _OURS, _THEIRS = 1, 2, 3  # git's stages of what it could not settle
_GROWING = re.compile(
    r"(?:^|/)(?:profile\.md|summaries/.+)$"
)  # what jobs add lines to: two new texts are one that grew


def merge(history: History, ours: str, theirs: str, remote: str, at: dt.datetime) -> tuple[str, dict[str, str]]:
    """The commit that holds both sides, and by paths what git could not settle by itself."""
    repository = history.repository
    if not theirs or not ours:
        if not theirs and not ours:
            raise FilememError("there is nothing to sync yet, here or there; remember something first.")
        return ours or theirs, {}
    for one, other in ((ours, theirs), (theirs, ours)):
        if not repository.ask("merge-base", "--is-ancestor", other, one).code:
            return one, {}
    merged = repository.merge_trees(ours, theirs)
    changes, quiet = _settled(history, merged)
    tree = repository.tree_with(merged.tree, changes) if changes else merged.tree
    text = message(f"Merge memories from {one_line(remote, 40)}", {"Job": "sync"})
    told = {
        ", ".join(map(one_line, dict.fromkeys(paths))): _told(words)
        for paths, words in merged.messages
        if quiet.isdisjoint(paths)
    }
    return repository.commit_tree(tree, [ours, theirs], text, MACHINE, at), told


def _told(words: str) -> str:
    """What git says of a conflict, in words for a person."""
    kind = words.partition(":")[0].removeprefix("CONFLICT ").strip("()")
    return {
        "content": "both machines changed the same lines; both versions are in the file",
        "add/add": "both machines made a file of this name; both versions are in it",
        "modify/delete": "deleted on one machine and changed on the other; it is kept",
        "rename/delete": "deleted on one machine and moved on the other; it is kept",
        "rename/rename": "moved to two places; it is kept in both",
    }.get(kind, f"git could not settle it ({one_line(kind)}); look at it")


def _settled(history: History, merged: Merged) -> tuple[dict[str, GitFile | None], set[str]]:
    """What is to be changed in git's merged tree, and the paths of which nobody need be told.

    Changes of different lines are all made; of the same lines both versions stand between marks, and of what cannot be merged
    as text in two files. A memory that one machine put into the archive and the other edited is one text.
    """
    repository = history.repository
    present = repository.tree(merged.tree) if merged.stages else {}
    changes: dict[str, GitFile | None] = {}
    quiet: set[str] = set()
    for path, sides in merged.stages.items():
        if path not in present:
            continue
        if _OURS not in sides or _THEIRS not in sides:
            moved = _moved(history, path, sides, present)
            changes |= moved
            quiet |= {place for place, becomes in moved.items() if becomes is None}
        elif (text := _both(repository, path, sides[_OURS], sides.get(_BASE), sides[_THEIRS])) is not None:
            changes[path] = _entry(repository, present[path], text)
            quiet |= set() if weaving.doubled(text) else {path}
        elif sides[_OURS].oid != sides[_THEIRS].oid:
            stem, dot, ending = path.rpartition(".")
            name = sides[_THEIRS].oid[:8]
            apart = f"{stem}-{name}.{ending}" if dot and "/" not in ending else f"{path}-{name}"
            changes |= {path: sides[_OURS], apart: sides[_THEIRS]}
    return changes, quiet


def _both(repository: Repository, path: str, *sides: GitFile | None) -> bytes | None:
    """The changes of both sides (ours, base, theirs) in one text, None for what is no text."""
    ours, base, theirs = (repository.run("cat-file", "blob", entry.oid) if entry else None for entry in sides)
    if base is None and _GROWING.search(path):
        base = b""
    text = merge_file(ours or b"", base, theirs or b"", marks=True)
    return None if text is None else weaving.commented(path, text)


def _moved(
    history: History, path: str, sides: dict[int, GitFile], present: dict[str, GitFile]
) -> dict[str, GitFile | None]:
    """The edit of one machine in the text that the other has archived, or brought back, under its other path: so much may be
    written into a short memory on the way that git sees no move. Nothing where there is no such text."""
    repository, where = history.repository, _other_place(history, path)
    edited, moved = sides.get(_OURS) or sides.get(_THEIRS), present.get(where)
    text = _both(repository, where, edited, sides[_BASE], moved) if edited and moved and _BASE in sides else None
    return {} if text is None or not moved else {path: None, where: _entry(repository, moved, text)}


def _other_place(history: History, path: str) -> str:
    """Where a memory lies in the archive, or out of it, as a path in the repository; empty for what is no memory."""
    for one in history.everyone():
        own = one.own(path)
        if one.path(own) == path:
            return one.path(live(own) if own != live(own) else archived(own))
    return ""


def _entry(repository: Repository, like: GitFile, text: bytes) -> GitFile:
    return GitFile(like.mode, repository.text("hash-object", "-w", "--stdin", stdin=text))
