"""One repository as filemem reads and changes it: by git's plumbing, run inert."""

import contextlib
import datetime as dt
import io
import os
from collections.abc import Collection, Iterable
from pathlib import Path

from filemem.errors import NotFound, Refused
from filemem.git.command import Git, GitError
from filemem.git.inert import InertView
from filemem.store import files

LOCK_TIMEOUT_SECONDS = 30.0
MACHINE = "filemem <filemem@localhost>"
LOCK = "filemem.lock"  # in the git directory
MAX_COMMIT_ATTEMPTS = 5  # during each of which a person may commit


def find_dot_git(folder: str) -> str:
    """Return the nearest `.git` in or above a folder, or '' if there is none."""
    real = Path(os.path.realpath(folder))
    for place in (real, *real.parents):
        if os.path.lexists(place / ".git"):
            return str(place / ".git")
    return ""


def _git_dir_of(dot_git: str) -> str:
    """Return the git directory of a `.git`, which may be a file that names it."""
    root = os.path.dirname(dot_git)
    named = ""
    if not os.path.isdir(dot_git):
        named = read_text(root, ".git").partition("gitdir:")[2].strip()
    return os.path.abspath(os.path.join(root, named or ".git"))


def read_text(folder: str, name: str) -> str:
    """Return the stripped text of a plain file in a folder, or '' if there is none."""
    try:
        return os.fsdecode(files.read(os.path.join(folder, name))).strip()
    except (NotFound, Refused):
        return ""


def pathspec(path: str) -> str:
    """Return a pathspec for this path and what is under it; '' is everything."""
    return f":(top,literal){path}" if path else ":(top)"


class Repository(Git):
    """One work tree with its repository.

    Paths are relative to `root`, the top of the work tree. `common_dir` is what the
    linked work trees of one repository share.
    """

    def __init__(self, dot_git: str) -> None:
        """Open the repository of a `.git`, which need not be there yet."""
        super().__init__(os.path.dirname(dot_git))
        self.git_dir = _git_dir_of(dot_git)
        common = read_text(self.git_dir, "commondir")
        self.common_dir = os.path.abspath(os.path.join(self.git_dir, common))
        if os.path.lexists(dot_git):
            config = read_text(self.common_dir, "config")
            self._view = InertView(self.root, self.git_dir, self.common_dir, config)
            self.environment = self._view.environment

    # -- state -----------------------------------------------------------------------

    def resolve(self, revision: str = "HEAD") -> str:
        """Return the commit that a revision names, or '' if there is none."""
        named = f"{revision}^{{commit}}"
        result = self.call(
            "rev-parse", "--quiet", "--verify", "--end-of-options", named
        )
        return result.stdout.decode().strip()

    def has_folder(self, path: str) -> bool:
        """Say whether the last commit has a folder, '' for the top."""
        found = self.call("rev-parse", "--quiet", "--verify", f"HEAD:{path}")
        return found.code == 0

    def branch(self) -> str:
        """Return the branch that HEAD is on, or '' if it is detached."""
        result = self.call("symbolic-ref", "--quiet", "--short", "HEAD")
        return os.fsdecode(result.stdout).strip()

    def require_branch(self) -> None:
        """Raise GitError, with the remedy, if nothing can be committed now."""
        for operation in ("merge", "cherry-pick", "revert"):
            head = f"{operation.replace('-', '_').upper()}_HEAD"
            if os.path.lexists(os.path.join(self.git_dir, head)):
                raise GitError(
                    f"a {operation} is in progress in {self.root}; "
                    f"finish it with git {operation} --continue, then try again."
                )
        if not self.branch():
            raise GitError(
                f"HEAD is detached in {self.root}; finish a rebase with git rebase "
                "--continue, or go back to a branch with git switch, then try again."
            )

    def setting(self, key: str) -> str:
        """Return a setting of git's, or '' if it is not set."""
        return "".join(self.settings(key)[-1:])

    def settings(self, key: str) -> list[str]:
        """Return all values of a setting of git's, which may have several."""
        listed = self.call("config", "-z", "--get-all", key).stdout
        return os.fsdecode(listed).split("\0")[:-1]

    def lock(self) -> contextlib.AbstractContextManager[object]:
        """Keep other filemem processes from committing here; does not nest.

        Raises Busy after LOCK_TIMEOUT_SECONDS.
        """
        return files.lock(os.path.join(self.git_dir, LOCK), LOCK_TIMEOUT_SECONDS)

    def changed_paths(self, folder: str) -> list[str]:
        """Return the paths in a folder that are not as the last commit has them."""
        entries = self.items(
            "status",
            "--porcelain",
            "-z",
            "--untracked-files=all",
            "--no-renames",
            "--ignore-submodules=all",
            "--",
            pathspec(folder),
        )
        return [entry[len("XY ") :] for entry in entries]

    def tree(self, treeish: str) -> dict[str, str]:
        """Return the entry of each file of a tree; none for ''.

        An entry is mode, type and object name, as `git ls-tree` prints them.
        """
        entries: dict[str, str] = {}
        if treeish:
            for line in self.items("ls-tree", "-r", "-z", "--full-tree", treeish):
                entry, _, name = line.partition("\t")
                entries[name] = entry
        return entries

    def contents(self, entries: Iterable[str]) -> dict[str, bytes]:
        """Return the bytes of files by their entries in a tree."""
        wanted = [*entries]
        names = [entry.rpartition(" ")[2] for entry in wanted]
        listed = "\n".join(names).encode()
        output = io.BytesIO(self.run("cat-file", "--batch", stdin=listed))
        contents = {}
        for entry in wanted:
            size = int(output.readline().rpartition(b" ")[2])
            contents[entry] = output.read(size)
            output.readline()
        return contents

    # -- committing ------------------------------------------------------------------

    def commit(
        self,
        paths: Collection[str],
        message: str,
        at: dt.datetime,
        *,
        author: str = MACHINE,
        merged: str = "",
        onto: str = "",
    ) -> None:
        """Commit exactly these files as they are on disk, ignored ones too, unsigned.

        `merged` is a second parent. What else is staged stays staged and is not
        committed. Where a person commits meanwhile, theirs stays and this comes after
        it; but not on a branch without the commit `onto`, if one is given. Nothing is
        committed if this raises GitError.
        """
        name, _, email = author.removesuffix(">").partition(" <")
        moment = at.astimezone().isoformat(timespec="seconds")
        for _ in range(MAX_COMMIT_ATTEMPTS):
            head = self.resolve()
            if onto and self.call("merge-base", "--is-ancestor", onto, head).code:
                raise GitError(
                    f"{self.root} has moved to another branch meanwhile, or this one "
                    "was rewritten; switch back unless that was meant, then try again."
                )
            parents = []
            for parent in filter(None, (head, merged)):
                parents += ["-p", parent]
            commit = self.text(
                "commit-tree",
                "--no-gpg-sign",
                *parents,
                self._tree_with(paths, head),
                stdin=os.fsencode(message),
                GIT_AUTHOR_NAME=name,
                GIT_AUTHOR_EMAIL=email,
                GIT_AUTHOR_DATE=moment,
                GIT_COMMITTER_DATE=moment,
            )
            reason = f"commit: {message.splitlines()[0]}"
            if self.advance(paths, commit, head, reason):
                self.call("gc", "--auto", "--quiet")
                return
        raise GitError(f"others keep committing in {self.root}; try again later.")

    def advance(
        self, paths: Collection[str], commit: str, before: str, reason: str
    ) -> bool:
        """Move the branch on to a commit, and stage the files that it has as on disk.

        `before` is the commit that the new one is built on, '' for none. Returns False,
        and leaves the branch, if it is not at that commit any more.
        """
        self._stage(paths)
        try:
            self.run("update-ref", "-m", reason, "HEAD", commit, before)
        except GitError:
            if self.resolve() == before:
                raise
            return False
        return True

    def _tree_with(self, paths: Collection[str], head: str) -> str:
        """Write a commit's tree with some files as they are on disk; return its name.

        `head` is '' where there is no commit yet.
        """
        index = os.path.join(self._view.folder, "index")
        self.run("read-tree", head or "--empty", GIT_INDEX_FILE=index)
        self._stage(paths, GIT_INDEX_FILE=index)
        return self.text("write-tree", GIT_INDEX_FILE=index)

    def _stage(self, paths: Collection[str], **env: str) -> None:
        """Stage files as they are on disk; what is gone there is staged so."""
        listed = b"".join(os.fsencode(path) + b"\0" for path in paths)
        command = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
        self.run(*command, stdin=listed, **env)
