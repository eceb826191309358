"""Which of a user's files git keeps, and in which repository."""

import functools
import os
from collections.abc import Iterable
from dataclasses import dataclass

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
class History:
    """One user's memories in the repository that holds them, if any.

    Paths are the user's own, as everywhere, unless a docstring says otherwise.
    """

    folder: Folder

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
    def places(self) -> list[str]:
        """The folders in the repository that were the user's.

        They are that of now, then those of the names before it, as commits and the
        user's bookkeeping have them, unless somebody has them now.
        """
        places = [self.prefix]
        # By hand a person renames a folder without a commit that says so.
        noted = list(map(folder_name, self.folder.names()))
        for place in places:  # which grows meanwhile
            named = ("log", "--all", f"--format=%(trailers:key={RENAMED},valueonly)")
            told = self.repository.run(*named, "--", pathspec(place))
            trailers = os.fsdecode(told).split("\n")
            for name in noted + trailers:
                former = os.path.join(os.path.dirname(self.prefix), name)
                is_free = not os.path.lexists(os.path.join(self.folder.store, name))
                if name_of_folder(name) and is_free and former not in places:
                    places.append(former)
        return places

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
        inside = f"{self.prefix}/"
        tree = self.repository.tree(self.repository.resolve())
        return [self.own_path(path) for path in tree if path.startswith(inside)]

    def missing(self) -> dict[str, list[str]]:
        """Return what the last commit has of users whose folder the disk has not.

        A person has deleted, moved or renamed it, and not committed that, or a new name
        was cut off.

        Returns:
            The paths, as they lead there from the user's own folder, by the name of the
            folder that is missing.
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
            name = parts[1]
            place = os.path.join(self.folder.store, name)
            if os.path.lexists(place):
                continue
            if name_of_folder(name):
                found.setdefault(name, []).append(beside)
        return found

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
