"""Which of a user's files git keeps, and in which repository."""

import functools
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from filemem.errors import FilememError, Problem
from filemem.git.repository import Repository, find_dot_git, pathspec, read_text
from filemem.store import files
from filemem.store.folder import BOOKKEEPING, Folder, is_memory_name
from filemem.store.users import folder_name, name_of_folder

# Bookkeeping that cannot be rebuilt: logs by line, to which their modules only add.
LOGS = (
    f"{BOOKKEEPING}/recalls.log",
    f"{BOOKKEEPING}/imports.jsonl",
    f"{BOOKKEEPING}/consolidated.jsonl",
    f"{BOOKKEEPING}/compacted.log",
    f"{BOOKKEEPING}/days.log",
)
IGNORE = (
    f"**/{BOOKKEEPING}/*",
    *(f"!**/{log}" for log in LOGS),
    f"{files.TEMPORARY}*",
)
RENAMED = "Renamed"  # the trailer with the name of the folder before a new name
DELETED = "Deleted"  # the trailer with that of a user who was deleted whole
DEPARTURES = (RENAMED, DELETED)
ATTRIBUTES = (
    "**/sessions/** merge=union",
    *(f"**/{log} merge=union" for log in LOGS),
    "* -text",
)


def is_log(path: str) -> bool:
    """Say whether a path, the user's own or the repository's, is that of a log."""
    return f"/{path}".endswith(tuple(f"/{log}" for log in LOGS))


def without_logs(paths: Iterable[str]) -> list[str]:
    """Return the paths that are of no log."""
    return [path for path in paths if not is_log(path)]


@dataclass(frozen=True)
class Place:
    """A folder in the repository, which several may have had one after the other.

    Attributes:
        folder: its path; '' for the top.
        changing: the commits that change files there, whosever they were.
        strangers: the commits before it was the user's, and after they left it.
    """

    folder: str
    changing: frozenset[str]
    strangers: frozenset[str]

    @property
    def commits(self) -> frozenset[str]:
        """Those that change the user's files there."""
        return self.changing - self.strangers

    @property
    def others(self) -> frozenset[str]:
        """Those that change files of others who had it before or after."""
        return self.changing & self.strangers


class Departure(NamedTuple):
    """A commit by which a user left a folder.

    `name` is the folder's; `how` is RENAMED, as they have another now, or DELETED.
    """

    commit: str
    how: str
    name: str


@dataclass(frozen=True)
class History:
    """One user's memories in the repository that holds them, if any.

    Paths are the user's own, as everywhere, unless a docstring says otherwise.

    Attributes:
        folder: the user's.
        names: those that the user has had and no commit may tell of; None for what the
            bookkeeping says, which goes when the user is deleted.
        whole: the user is to go whole.
    """

    folder: Folder
    names: tuple[str, ...] | None = None
    whole: bool = False

    @functools.cached_property
    def repository(self) -> Repository:
        """The repository that the user's folder lies in, set up for filemem or not.

        Raises FilememError if there is none. Without a `.git` in any folder above, git
        is not even started.
        """
        dot_git = find_dot_git(self.folder.root)
        if not dot_git:
            raise FilememError(
                f"{self.folder.root} is not in a git repository; "
                "filemem init --git creates one."
            )
        return Repository(dot_git)

    @functools.cached_property
    def prefix(self) -> str:
        """The user's folder as a path in the repository; '' if it is the top."""
        return self.folder.root.removeprefix(self.repository.root).strip("/")

    @functools.cached_property
    def own_place(self) -> Place:
        """The folder of now, as the user's who has it now.

        Where nobody has it, or the user goes whole, it is that of those who were
        deleted under the name, too.
        """
        stays = [self._place(self.prefix)]
        if self.whole or not self.folder.exists():
            for departure in self.deletions():
                stays.append(self._place(self.prefix, departure.commit))
        return _merged(stays)[0]

    def deletions(self) -> list[Departure]:
        """Return how users who had the folder of now were deleted."""
        departures = self._departures(self.prefix)
        return [departure for departure in departures if departure.how == DELETED]

    @functools.cached_property
    def places(self) -> list[Place]:
        """The places in the repository that are or were the user's, that of now first.

        Each folder is one, however often the user came back to it.
        """
        return _merged(self.stays)

    @functools.cached_property
    def stays(self) -> list[Place]:
        """The places of the user, once for each time that they had the folder.

        That of now is the first. Those before it are told by the commits that gave the
        user a new name, else by the user's bookkeeping: a person renames a folder
        without such a commit.
        """
        return self._told + [place for place in self.by_hand if not place.others]

    @functools.cached_property
    def _told(self) -> list[Place]:
        """The stays of which commits tell."""
        places = [self.own_place]
        for place in places:  # which grows meanwhile
            for departure in self._departures(place.folder):
                folder = self._beside(departure.name)
                is_from = departure.how == RENAMED and folder != place.folder
                if is_from and departure.commit in place.commits:
                    former = self._place(folder, departure.commit)
                    if former not in places:
                        places.append(former)
        return places

    @functools.cached_property
    def by_hand(self) -> list[Place]:
        """The places of the user's of which the bookkeeping alone tells.

        Where others have or had the folder, too, nothing tells what of it is whose.
        """
        known = {place.folder for place in self._told}
        found = list[Place]()
        for name in self._noted():
            former = self._place(self._beside(name))
            if self._is_taken(name):
                former = replace(former, strangers=former.changing)
            if former.folder not in known and former.changing:
                found.append(former)
        return found

    def before_purge(self) -> "History":
        """Return what tells of the user once the commits that do are rewritten."""
        folders = [os.path.basename(place.folder) for place in self.by_hand]
        return replace(self, names=tuple(map(name_of_folder, folders)))

    def _noted(self) -> list[str]:
        """Return the names that the user's folder had, as the bookkeeping says."""
        names = self.folder.names() if self.names is None else self.names
        return list(map(folder_name, names))

    def _beside(self, name: str) -> str:
        """Return the path in the repository of another user's folder.

        Args:
            name: of the folder in the store.
        """
        store = os.path.dirname(self.prefix)
        return os.path.join(store, name)

    def _is_taken(self, name: str) -> bool:
        """Tell whether somebody has a folder now.

        Args:
            name: of the folder in the store.
        """
        return os.path.lexists(os.path.join(self.folder.store, name))

    def _place(self, folder: str, until: str = "") -> Place:
        """Return a folder as one user's.

        Args:
            folder: its path in the repository.
            until: the commit by which the user left it; '' for the last who had it.
        """
        strangers = set[str]()
        for departure in self._departures(folder):
            if folder and departure.name != os.path.basename(folder):
                continue  # from another folder to this
            later = self._commits("--ancestry-path", f"^{departure.commit}")
            if departure.commit == until:
                strangers |= later
            elif not until or until in later:
                strangers |= self._commits() - later
        changing = self._commits("--full-history", "--", pathspec(folder))
        return Place(folder, changing, frozenset(strangers))

    def _commits(self, *which: str) -> frozenset[str]:
        """Return all commits of the repository, or those that git is asked for."""
        return frozenset(self.repository.text("rev-list", "--all", *which).split())

    def _departures(self, folder: str) -> list[Departure]:
        """Return how users left a folder, or another for it.

        Args:
            folder: its path in the repository.
        """
        return departures(self.repository, "--all", "--", pathspec(folder))

    @functools.cached_property
    def managed_root(self) -> str:
        """The folder that is set up for filemem: the user's own, the store, or ''."""
        dot_git = find_dot_git(self.folder.root)
        if not dot_git:
            return ""
        top = os.path.dirname(dot_git)
        for folder in (self.folder.root, self.folder.store):
            attributes = read_text(folder, ".gitattributes").splitlines()
            if ATTRIBUTES[0] in attributes:
                return folder if f"{folder}/".startswith(f"{top}/") else ""
        return ""

    def require(self) -> Repository:
        """Return the repository; raises FilememError if it takes no commit now."""
        if not self.managed_root:
            raise FilememError(
                f"{self.repository.root} is not set up for filemem; "
                "run filemem init --git first."
            )
        self.repository.require_branch()
        return self.repository

    def own_path(self, path: str) -> str:
        """Return a path of the repository as one of the user's."""
        return path.removeprefix(f"{self.prefix}/")

    def is_on_disk(self, path: str) -> bool:
        """Say whether anything lies at a path."""
        return os.path.lexists(os.path.join(self.folder.root, path))

    def committed(self) -> list[str]:
        """Return what the last commit has of the user's, in a store that git keeps."""
        if not self.managed_root:
            return []
        inside = f"{self.prefix}/".lstrip("/")
        tree = self.repository.tree(self.repository.resolve())
        return [self.own_path(path) for path in tree if path.startswith(inside)]

    def is_deleted(self) -> bool:
        """Tell whether the disk has nothing, not even a log, of what git has."""
        committed = self.committed()
        return bool(committed) and not any(map(self.is_on_disk, committed))

    def missing(self) -> dict[str, list[str]]:
        """Return what the last commit has in folders of others and the disk has not.

        A person has deleted, moved or renamed it, and not committed that, or a new name
        was cut off.

        Returns:
            The paths, as they lead there from the user's own folder, by the name of the
            folder.
        """
        found: dict[str, list[str]] = {}
        if self.managed_root != self.folder.store:
            return found
        head = self.repository.resolve()
        for path in self.repository.tree(head):
            beside = os.path.relpath(path, self.prefix)
            parts = beside.split("/")
            if parts[0] != ".." or len(parts) < 3:
                continue  # the user's own, or no user's
            place = os.path.join(self.folder.store, *parts[1:])
            if name_of_folder(parts[1]) and not os.path.lexists(place):
                found.setdefault(parts[1], []).append(beside)
        return found

    def missing_users(self) -> list[str]:
        """Return the folders of users that the last commit has and the disk has not."""
        return [name for name in self.missing() if not self._is_taken(name)]

    def changes(self) -> list[str]:
        """Return the memories and logs that differ from the last commit.

        There are none where git does not keep the memories.
        """
        if not self.managed_root:
            return []
        return changes_in(self.repository, self.prefix)

    def drafts(self) -> frozenset[str]:
        """Return the changes of memories alone."""
        return frozenset(without_logs(self.changes()))

    def problems(self) -> list[Problem]:
        """Return why git is not used here, and each memory that only git still has."""
        try:
            changes = self.changes()
        except FilememError as error:
            return [Problem(".git", 1, str(error).rstrip("."), "git status says more")]
        what = "git has this memory and the disk has not, under this name"
        remedy = "git checkout -- PATH brings it back, git commit -a lets it go"
        gone = [path for path in changes if not self.is_on_disk(path)]
        return [Problem(path, 1, what, remedy) for path in gone]


def _merged(stays: Iterable[Place]) -> list[Place]:
    """Return each folder once, as the user's in all their stays there."""
    places = dict[str, Place]()
    for stay in stays:
        known = places.get(stay.folder, stay)
        strangers = known.strangers & stay.strangers
        places[stay.folder] = replace(stay, strangers=strangers)
    return list(places.values())


def departures(repository: Repository, *which: str) -> list[Departure]:
    """Return how users left, as the commits tell that `git log` is asked for."""
    trailers = f"%(trailers:key={RENAMED},key={DELETED},separator=%x20)"
    told = repository.text("log", "--full-history", f"--format=%H {trailers}", *which)
    found = list[Departure]()
    for line in told.split("\n"):
        commit, _, trailer = line.partition(" ")
        how, _, name = trailer.partition(": ")
        if name_of_folder(name):
            found.append(Departure(commit, how, name))
    return found


def changes_in(repository: Repository, folder: str) -> list[str]:
    """Return what differs from the last commit in a folder and is to be kept.

    The folder's path is of the repository, '' for the top; those returned begin there.
    """
    changed = repository.changed_paths(folder)
    paths = [path.removeprefix(f"{folder}/") for path in changed]
    return [path for path in paths if _is_kept(path)]


def _is_kept(path: str) -> bool:
    """Say whether git is to have a file: a memory, settings, or one of the logs.

    An editor's file, a hidden one and another repository are not kept.
    """
    *folders, name = path.split("/")
    if is_log(path) or name in (".gitignore", ".gitattributes"):
        return True
    is_hidden = any(part.startswith(".") for part in folders)
    is_shown = bool(name) and "\n" not in path and not is_hidden
    return is_shown and is_memory_name(name)
