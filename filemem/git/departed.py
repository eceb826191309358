"""Have who was deleted or renamed on another machine be so here, once that is merged.

Git brings in what became of their memories. What is kept here alone follows: names,
identity, index and keys, or the next who has the name would find them. Before a merge
it is noted which commits are merged, so that the next sync finishes what is cut off.
"""

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass

from filemem.git.history import DELETED, LOGS, Departure, History, departures, is_log
from filemem.git.job_frame import NOTES
from filemem.git.repository import Repository, read_text
from filemem.store import files, keys, person
from filemem.store.folder import IDENTITY, Folder
from filemem.store.users import StoreFolder, name_of_folder, remove_folder
from filemem.text.plain import first_few, one_line

MERGING = "filemem-merging"  # in git's folder: the two commits that are merged
# What stays in the bookkeeping of a folder that somebody else has now.
_KEPT = {
    *map(os.path.basename, LOGS),
    NOTES,
    "lock",
    "job.lock",
}


@dataclass(frozen=True)
class Incoming:
    """What a merge brings in.

    Attributes:
        repository: into which.
        before: the tree that both sides come from.
        after: that of the other side.
        departures: how users left their folders there, in their order.
    """

    repository: Repository
    before: dict[str, str]
    after: dict[str, str]
    departures: list[Departure]

    def leavers(self, users: Iterable[History]) -> list[History]:
        """Return those of `users` who left a folder that both sides had."""
        names = {departure.name for departure in self.departures}
        names &= {path.partition("/")[0] for path in self.before}
        leavers = list[History]()
        for user in users:
            is_here = user.repository.root == self.repository.root
            if is_here and user.folder.own_folder in names:
                leavers.append(user)
        return leavers

    def without_logs(
        self, users: Iterable[History], now: dict[str, str]
    ) -> dict[str, str]:
        """Return `before` with the logs of who leaves as they are now on this side.

        So the merge takes their deletion for the only change, and keeps none of them.

        Args:
            users: of the store.
            now: the tree of this side.
        """
        before = dict(self.before)
        for user in self.leavers(users):
            inside = f"{user.folder.own_folder}/"
            for path in now:
                if path.startswith(inside) and is_log(path):
                    before[path] = now[path]
        return before

    def name_now(self, folder: str) -> str:
        """Return the name on the other side of whose a folder was; '' if deleted."""
        for departure in self.departures:
            if departure.name == folder:
                folder = self._next_folder(departure)
        return name_of_folder(folder)

    def _next_folder(self, departure: Departure) -> str:
        """Return the folder to which a user left; '' for none, or if it is unclear."""
        if departure.how == DELETED:
            return ""
        how = "diff-tree -r -z --root --no-commit-id --no-renames --name-only"
        changed = self.repository.items(*how.split(), departure.commit)
        folders = {path.partition("/")[0] for path in changed} - {departure.name}
        return folders.pop() if len(folders) == 1 else ""


def incoming(repository: Repository, ours: str, theirs: str) -> Incoming:
    """Return what the merge of two commits that have one in common brings in.

    Args:
        repository: which has both.
        ours: the commit of this side.
        theirs: that of the other side.
    """
    base = repository.call("merge-base", ours, theirs).stdout.decode().strip()
    before = repository.tree(base)
    after = repository.tree(theirs)
    which = ("--topo-order", "--reverse", f"{ours}..{theirs}")
    return Incoming(
        repository,
        before,
        after,
        departures(repository, *which),
    )


def note_merge(repository: Repository, ours: str, theirs: str) -> None:
    """Note what is about to be merged, for `follow`.

    Args:
        repository: which has both.
        ours: the commit of this side.
        theirs: that of the other side.
    """
    place = os.path.join(repository.git_dir, MERGING)
    files.write(place, f"{ours} {theirs}".encode())


def follow(repository: Repository, users: Iterable[History]) -> list[str]:
    """Have users be deleted or renamed as on the other side of the noted merge.

    Nothing is done where no merge is noted, or where HEAD does not hold it: it was cut
    off before its commit.

    Args:
        repository: of the store.
        users: those of the store before the merge.

    Returns:
        A sentence for each who left.
    """
    noted = read_text(repository.git_dir, MERGING).split()
    if not noted:
        return []
    told = list[str]()
    is_merged = not repository.call(
        "merge-base", "--is-ancestor", noted[1], "HEAD"
    ).code
    if is_merged:
        coming = incoming(repository, *noted)
        with contextlib.ExitStack() as held:
            leavers = coming.leavers(users)
            for user in leavers:
                held.enter_context(user.folder.locked())
            told = _followed(coming, [user.folder for user in leavers])
    files.delete(os.path.join(repository.git_dir, MERGING))
    return told


@dataclass(frozen=True)
class _Leaver:
    """Who had a folder until the merge.

    Attributes:
        folder: it.
        name: theirs on the other side; '' if they were deleted.
        is_taken: somebody else has the folder now.
        left: the paths of what lies there and the other side never had.
        identity: theirs.
        names: theirs until now.
    """

    folder: Folder
    name: str
    is_taken: bool
    left: list[str]
    identity: str
    names: list[str]

    @property
    def told(self) -> str:
        """A sentence on what became of them."""
        who = one_line(self.folder.name)
        what = f"{who} was deleted on another machine"
        if self.name:
            what = f"{who} is called {one_line(self.name)} on another machine"
        if not self.left:
            return f"{what}, and now here, too."
        rest = f"what that had not is here still: {first_few(self.left)}"
        if self.is_taken:
            return f"{what}; {rest}, in the folder of who is called {who} now."
        return f"{what}; {rest}. Move it, or forget it."


def _followed(coming: Incoming, folders: Iterable[Folder]) -> list[str]:
    """Have the users of some folders leave these; return a sentence for each."""
    leavers = list[_Leaver]()
    for folder in folders:
        inside = f"{folder.own_folder}/"
        left = list[str]()
        for path in folder.everything():
            is_going = path.startswith(files.TEMPORARY)  # bookkeeping, as a rule
            if not is_going and inside + path not in coming.after:
                left.append(path)
        leaver = _Leaver(
            folder=folder,
            name=coming.name_now(folder.own_folder),
            is_taken=any(path.startswith(inside) for path in coming.after),
            left=left,
            identity=folder.identity(),
            names=folder.names(),
        )
        leavers.append(leaver)
    gone = [one for one in leavers if one.is_taken or not one.left]
    for leaver in gone:
        _leave(leaver)
    for leaver in gone:
        _arrive(leaver)
    for leaver in gone:
        if leaver.is_taken:
            leaver.folder.note_names([leaver.folder.name])
            leaver.folder.identify()
    return [leaver.told for leaver in leavers]


def _leave(leaver: _Leaver) -> None:
    """Take a user's bookkeeping from a folder, and the folder if nobody has it now.

    Their keys are theirs by their identity from here on, or go if they were deleted.
    """
    folder = leaver.folder
    if leaver.name:
        keys.bind_keys(folder.store, folder.name)
    else:
        keys.revoke_user(folder.store, folder.name)
    if leaver.is_taken:
        for name in set(os.listdir(folder.bookkeeping())) - _KEPT:
            files.remove(folder.bookkeeping(name))
        return
    remove_folder(folder, repository=False)
    for above, _, _ in os.walk(folder.root, topdown=False):
        with contextlib.suppress(OSError):  # it is not empty
            os.rmdir(above)


def _arrive(leaver: _Leaver) -> None:
    """Have a user who left a folder be known in the one that they have now.

    Where somebody is known there already, what was known of them is gone.
    """
    old = leaver.folder
    if not leaver.name:
        person.forget(old.root)
        return
    target = StoreFolder(old.store).folder(leaver.name)
    if not target.exists() or target.identity():
        person.forget(old.root)
        return
    files.make_folder(target.bookkeeping())
    target.note_names([target.name, *leaver.names])
    files.write(target.bookkeeping(IDENTITY), leaver.identity.encode())
    person.move(old.root, target.root)
