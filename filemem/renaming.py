"""Another name for a user: their folder and keys go with it, and git knows them still.

Cut off anywhere, the same call finishes it.
"""

import contextlib
import datetime as dt
import os

from filemem.errors import NotFound, Refused
from filemem.git.history import RENAMED, History
from filemem.jobs import JobRun, set_profile
from filemem.store import files, keys, person
from filemem.store.folder import RENAMING, Folder
from filemem.store.paths import PROFILE
from filemem.store.users import folder_name
from filemem.text.plain import one_line


def rename(folder: Folder, target: Folder, at: dt.datetime) -> None:
    """Give a user another name, and commit that.

    The old name becomes one of the person's. What they had not committed waits for
    them still.

    Args:
        folder: whose memories.
        target: where they go.
        at: the moment that counts as now.

    Raises:
        Refused: somebody has that name or a key for it, or profile.md cannot be edited.
    """
    history = History(folder)
    if target.exists() or keys.has_key(target.store, target.name):
        raise _taken(target)
    with JobRun(folder, "rename", at) as run, folder.locked():
        if folder.renamed_from():  # by a rename that was cut off
            _take_over(folder)
        set_profile(folder, aliases=sorted({*folder.own_names(), target.name}))
        paths = [PROFILE, *history.committed()]
        for path in list(paths):
            if path not in folder.drafts:
                paths.append(f"../{target.own_folder}/{path}")
        _move(folder, target)
        if history.managed_root == folder.store:
            former = {RENAMED: folder.own_folder}
            run.commit("Give a user another name", paths, **former)
        folder.become(target)
        _take_over(folder)


def _taken(target: Folder) -> Refused:
    """Return the error of a name that somebody has."""
    return Refused(f"{one_line(target.name)} is taken; choose another.")


def _move(folder: Folder, target: Folder) -> None:
    """Give a user's folder its new name, with which the keys go.

    Args:
        folder: whose memories.
        target: where they go.

    Raises:
        Refused: somebody has taken the name meanwhile.
        OSError: the disk refuses; nothing has moved.
    """
    note = folder.bookkeeping(RENAMING)
    files.write(note, folder.name.encode())
    keys.bind_keys(folder.store, folder.name)
    try:
        files.rename_new(folder.root, target.root)
    except OSError:
        files.delete(note)
        if target.exists():
            raise _taken(target) from None
        raise
    files.sync_folder(folder.store)


def finish_rename(folder: Folder, at: dt.datetime) -> None:
    """Finish what gave a user another name, wherever it was cut off.

    Args:
        folder: the user's, of the new name.
        at: the moment that counts as now.
    """
    with JobRun(folder, "rename", at):  # which commits what was left
        _take_over(folder)


def _take_over(folder: Folder) -> None:
    """Have what is kept outside of the folder be that of the new name, too."""
    former = folder.renamed_from()
    person.move(os.path.join(folder.store, folder_name(former)), folder.root)
    folder.note_names([folder.name, former, *folder.names()])
    with contextlib.suppress(NotFound):  # from here on no call finishes it
        files.delete(folder.bookkeeping(RENAMING))
