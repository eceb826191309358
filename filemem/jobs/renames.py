"""Following what a person has renamed with git: the profile's lines, sources, links and records say the new name."""

import contextlib
import os
import re

from filemem.errors import FilememError
from filemem.files import journal
from filemem.files.folder import Folder
from filemem.files.memory import LARGEST, PROFILE, counterpart, live
from filemem.forgetting import deletion
from filemem.forgetting.deletion import DeletionPlan
from filemem.history import History
from filemem.remembering import profile
from filemem.remembering.sessions import ConsolidationLog, digest
from filemem.text.plain import counted

_PATH = re.compile(r"(?:facts|lessons|sessions|summaries|notes)/[\w./-]+\.(?:md|ya?ml|txt)")


def follow(folder: Folder) -> tuple[list[str], list[str]]:
    """Have everything that names a renamed memory name it as it is called now; sentences on that, and the paths for a commit."""
    known, named = set(folder.paths()), dict[str, set[str]]()
    for path in known:
        with contextlib.suppress(FilememError, OSError):
            for found in _PATH.findall(folder.read(path, LARGEST).decode(errors="replace")):
                named.setdefault(found, set()).add(path)
    gone = {path for path in (*named, *journal.recalled(folder)) if not known & {path, counterpart(path)}}
    names = {old: new for old in gone if (new := _now(old, _renames(folder), known))} if gone else {}
    if not names:
        return [], []
    log, page = ConsolidationLog(folder), folder.read(PROFILE).decode(errors="replace") if PROFILE in known else ""
    own = [said for _, paths, said in profile.marked(page) if digest(said) in log.lines]
    touched = {path for old in names for path in named.get(old, ())}
    for path in touched:
        folder.edit(path, lambda data: deletion.renamed(data, names))
    deletion.clear_records(folder, DeletionPlan(names=names))
    ours = deletion.renamed("\n".join(own).encode(), names).decode()
    log.add({"line": " ".join(paths), "digest": digest(said)} for _, paths, said in profile.marked(ours))
    said = [
        f"{old} is now {new}, and called so in {counted(len(named.get(old, ())), 'file')}."
        for old, new in names.items()
    ]
    return said, [*touched, *names, *names.values()]


def _now(old: str, renames: dict[str, str], known: set[str]) -> str:
    """What a memory that is gone is called now, empty where nobody knows."""
    seen = {old}
    while (new := renames.get(old, "")) and new not in seen:
        seen.add(old := new)
        if new in known or counterpart(new) in known:
            return new
    return ""


def _renames(folder: Folder) -> dict[str, str]:
    """What was renamed by git, in commits and since, by its old path; nothing where git may not be asked."""
    history, found = History(folder), dict[str, str]()
    how = ("-M", "--diff-filter=R", "--name-status", "-z")
    with contextlib.suppress(FilememError):
        if not history.found:
            return {}
        for command in (("log", "--reverse", "--format=", *how), ("diff", *how, "HEAD")):
            said = history.repository.ask(*command, "--", history.inside or ".").out
            fields = [os.fsdecode(field).strip() for field in said.split(b"\0") if field.strip()]
            pairs = zip(fields[1::3], fields[2::3], strict=False)
            found |= {live(history.own(old)): live(history.own(new)) for old, new in pairs}
    return {old: new for old, new in found.items() if old != new}
