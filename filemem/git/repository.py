"""Run git in one repository so that nothing in it can run a program or send anything.

Git takes what the work trees of a repository share from `GIT_COMMON_DIR`. Here that
is a temporary folder with links to the refs and logs, attributes that name no driver,
and of the configuration nothing but the format. The person's name and the remotes are
passed in the environment; hooks, editors, signing and helpers are off there. What a
person wants git to use they say in their global configuration.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import io
import os
import re
import shutil
import subprocess
import tempfile
import time
import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from filemem.errors import FilememError, NotFound, Refused
from filemem.store import files
from filemem.text.plain import one_line

LOCAL_TIMEOUT_SECONDS = 3600.0
NETWORK_TIMEOUT_SECONDS = 300.0
LOCK_TIMEOUT_SECONDS = 30.0
RETRY_DELAYS_SECONDS = (0.05, 0.2, 0.8, 2.0)
MACHINE = "filemem <filemem@localhost>"
LOCK = "filemem.lock"  # in the git directory
MAX_STARTS = 5  # of a commit, during each of which a person may commit

# How this machine reaches others. Every other GIT_* variable speaks of some other
# repository, commit or person.
_KEPT_VARIABLE = re.compile(
    r"GIT_(SSH|SSL|PROXY|EXEC_PATH$|CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)$)"
)
_DROPPED_VARIABLES = ("SSH_ASKPASS", "LANGUAGE", "LC_MESSAGES")
_ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_AUTHOR_NAME": "filemem",
    "GIT_AUTHOR_EMAIL": "filemem@localhost",
    "GIT_COMMITTER_NAME": "filemem",
    "GIT_COMMITTER_EMAIL": "filemem@localhost",
}
_SETTINGS = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false",
    "log.showSignature": "false",
    "log.follow": "false",
    "gc.autoDetach": "false",
    "maintenance.autoDetach": "false",
    "protocol.ext.allow": "never",
    "i18n.commitEncoding": "UTF-8",
}
# What counts of a repository's own configuration, and what says how to read it.
_INERT_SETTING = re.compile(
    r"user\.(name|email)|(gc|maintenance)\.auto"
    r"|remote\..*\.(url|pushurl|fetch)|branch\..*\.(remote|merge)",
    re.DOTALL,
)
_FORMAT_SETTINGS = (
    "core.repositoryformatversion",
    "extensions.objectformat",
    "extensions.refstorage",
)
_LINKED = (
    "refs",
    "packed-refs",
    "reftable",
    "logs",
    "worktrees",
    "shallow",
    "gc.pid",
    "gc.log",
    "info/exclude",
)
_ATTRIBUTES = "* -text !filter !diff !merge !ident !working-tree-encoding\n"


class GitError(FilememError):
    """Git is missing or could not do what it was asked; the message says why."""


@dataclass(frozen=True)
class GitResult:
    """What a git command came to; `reason` says why it failed, to end a sentence."""

    code: int
    stdout: bytes
    reason: str


def find_dot_git(folder: str) -> str:
    """Return the nearest `.git` in or above a folder, or '' if there is none."""
    real = Path(os.path.realpath(folder))
    for place in (real, *real.parents):
        if os.path.lexists(place / ".git"):
            return str(place / ".git")
    return ""


def git_dir_of(dot_git: str) -> str:
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


def join_nul(items: Iterable[str]) -> bytes:
    """Return the items as git reads them with `-z`, each ended by NUL."""
    return b"".join(os.fsencode(item) + b"\0" for item in items)


def split_nul(output: bytes) -> list[str]:
    """Return the items of git's output, each of which ends in NUL."""
    return os.fsdecode(output).split("\0")[:-1]


def object_name(entry: str) -> str:
    """Return the object name of an entry in a tree."""
    return entry.rpartition(" ")[2]


class Repository:
    """One work tree with its repository, and the one place where git is started.

    Paths are relative to `root`, the top of the work tree. `common_dir` is what the
    linked work trees of one repository share.
    """

    def __init__(self, dot_git: str) -> None:
        """Open the repository of a `.git`, which need not be there yet."""
        self.root = os.path.dirname(dot_git)
        self.git_dir = git_dir_of(dot_git)
        common = read_text(self.git_dir, "commondir")
        self.common_dir = os.path.abspath(os.path.join(self.git_dir, common))
        self._environment: dict[str, str] = {}
        if os.path.lexists(dot_git):
            self._make_inert()

    def _make_inert(self) -> None:
        """Give git a common directory with nothing of this repository that can run."""
        settings = self._own_settings()
        # It holds no memories. A process that is killed leaves it to the system.
        scratch = tempfile.mkdtemp(prefix="filemem-")
        weakref.finalize(self, shutil.rmtree, scratch, ignore_errors=True)
        os.mkdir(os.path.join(scratch, "info"))
        config = ""
        for key in _FORMAT_SETTINGS:
            if settings.get(key, "").isalnum():
                section, _, name = key.partition(".")
                config += f"[{section}]\n\t{name} = {settings[key]}\n"
        for name, text in (("config", config), ("info/attributes", _ATTRIBUTES)):
            with open(os.path.join(scratch, name), "w", encoding="utf-8") as file:
                file.write(text)
        for name in _LINKED:
            os.symlink(os.path.join(self.common_dir, name), os.path.join(scratch, name))
        passed = [
            (key, value)
            for key, value in settings.items()
            if _INERT_SETTING.fullmatch(key)
        ]
        passed += _SETTINGS.items()
        for number, (key, value) in enumerate(passed):
            self._environment[f"GIT_CONFIG_KEY_{number}"] = key
            self._environment[f"GIT_CONFIG_VALUE_{number}"] = value
        self._environment |= {
            "GIT_CONFIG_COUNT": str(len(passed)),
            "GIT_DIR": self.git_dir,
            "GIT_WORK_TREE": self.root,
            "GIT_COMMON_DIR": scratch,
            "GIT_OBJECT_DIRECTORY": os.path.join(self.common_dir, "objects"),
        }

    def _own_settings(self) -> dict[str, str]:
        """Return the repository's own configuration, read as data."""
        listed = self.call(
            *("config", "--file", "-", "--no-includes", "--list", "-z"),
            stdin=os.fsencode(read_text(self.common_dir, "config")),
            GIT_DIR=os.devnull,
        )
        settings = {}
        for entry in split_nul(listed.stdout):
            key, _, value = entry.partition("\n")
            settings[key] = value
        return settings

    # -- running git -----------------------------------------------------------------

    def start(self, *arguments: str, **env: str) -> subprocess.Popen[bytes]:
        """Start a git command; `env` are more variables.

        Raises GitError if git is missing.
        """
        inherited = {
            key: value
            for key, value in os.environ.items()
            if key not in _DROPPED_VARIABLES
            and (not key.startswith("GIT_") or _KEPT_VARIABLE.match(key))
        }
        try:
            return subprocess.Popen(
                ["git", "-C", self.root, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**inherited, **_ENVIRONMENT, **self._environment, **env},
                start_new_session=True,  # no terminal to ask at
                umask=0o077,
            )
        except OSError as error:
            raise GitError(
                "git is not installed, or cannot be started "
                f"({error.strerror}); install it, then try again."
            ) from None

    def call(
        self,
        *arguments: str,
        stdin: bytes = b"",
        **env: str,
    ) -> GitResult:
        """Run a git command, whatever its exit code.

        Raises GitError if git is missing, or takes longer than it may.
        """
        timeout = LOCAL_TIMEOUT_SECONDS
        if arguments[0] in ("ls-remote", "fetch", "push"):
            timeout = NETWORK_TIMEOUT_SECONDS
        with self.start(*arguments, **env) as process:
            try:
                stdout, stderr = process.communicate(stdin, timeout)
            except subprocess.TimeoutExpired:
                process.terminate()
                raise GitError(
                    f"git {arguments[0]} took longer than {timeout:g} s and was "
                    f"stopped; try again, or run it by hand in {self.root}."
                ) from None
            except BaseException:
                process.terminate()  # not killed: it takes its locks away
                raise
        reason = _reason(stderr.decode(errors="replace"), process.returncode)
        return GitResult(process.returncode, stdout, f"git: {reason}")

    def run(self, *arguments: str, stdin: bytes = b"", **env: str) -> bytes:
        """Return what a git command prints; raises GitError if it fails.

        Where another git holds a lock it is tried again for three seconds.
        """
        for delay in (*RETRY_DELAYS_SECONDS, 0.0):
            result = self.call(*arguments, stdin=stdin, **env)
            if not result.code:
                return result.stdout
            if "File exists" not in result.reason:
                raise GitError(f"{result.reason}.")
            time.sleep(delay)
        raise GitError(
            f"{result.reason}; if no other git is at work here, delete that lock."
        )

    def text(self, *arguments: str, stdin: bytes = b"", **env: str) -> str:
        """Return what a git command prints as text, without its last newline."""
        output = self.run(*arguments, stdin=stdin, **env)
        return os.fsdecode(output).removesuffix("\n")

    # -- state -----------------------------------------------------------------------

    def resolve(self, revision: str = "HEAD") -> str:
        """Return the commit that a revision names, or '' if there is none."""
        named = f"{revision}^{{commit}}"
        result = self.call(
            "rev-parse", "--quiet", "--verify", "--end-of-options", named
        )
        return result.stdout.decode().strip()

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
        return os.fsdecode(self.call("config", "--get", key).stdout).strip()

    def lock(self) -> contextlib.AbstractContextManager[None]:
        """Keep other filemem processes from committing here; does not nest.

        Raises Busy after LOCK_TIMEOUT_SECONDS.
        """
        return files.lock(os.path.join(self.git_dir, LOCK), LOCK_TIMEOUT_SECONDS)

    def tree(self, treeish: str) -> dict[str, str]:
        """Return the files of a tree, each with its entry; of none, '', there are none.

        An entry is mode, type and object name, as `git ls-tree` prints them.
        """
        files: dict[str, str] = {}
        if treeish:
            output = self.run("ls-tree", "-r", "-z", "--full-tree", treeish)
            for line in split_nul(output):
                entry, _, name = line.partition("\t")
                files[name] = entry
        return files

    def contents(self, entries: Iterable[str]) -> dict[str, bytes]:
        """Return the bytes of files by their entries in a tree."""
        wanted = [*entries]
        names = "\n".join(map(object_name, wanted))
        output = io.BytesIO(self.run("cat-file", "--batch", stdin=names.encode()))
        contents = {}
        for entry in wanted:
            size = int(output.readline().rpartition(b" ")[2])
            contents[entry] = output.read(size)
            output.readline()
        return contents

    # -- committing ------------------------------------------------------------------

    def commit(
        self,
        paths: Iterable[str],
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
        listed = join_nul(paths)
        for _ in range(MAX_STARTS):
            head = self.resolve()
            if onto and self.call("merge-base", "--is-ancestor", onto, head).code:
                raise GitError(
                    f"{self.root} has moved to another branch meanwhile, or this one "
                    "was rewritten; switch back unless that was meant, then try again."
                )
            parents = []
            for parent in filter(None, (head, merged)):
                parents += ["-p", parent]
            tree = self._tree_with(listed, head)
            commit = self.text(
                *("commit-tree", "--no-gpg-sign", tree, *parents),
                stdin=os.fsencode(message),
                GIT_AUTHOR_NAME=name,
                GIT_AUTHOR_EMAIL=email,
                GIT_AUTHOR_DATE=moment,
                GIT_COMMITTER_DATE=moment,
            )
            reason = f"commit: {message.splitlines()[0]}"
            if self.advance(listed, commit, head, reason):
                self.call("gc", "--auto", "--quiet")
                return
        raise GitError(f"others keep committing in {self.root}; try again later.")

    def advance(self, listed: bytes, commit: str, before: str, reason: str) -> bool:
        """Move the branch on to a commit, and stage the files that it has as on disk.

        `listed` are their paths, each ended by NUL; `before` is the commit that the new
        one is built on, '' for none. Returns False, and leaves the branch, if it is not
        at that commit any more.
        """
        self._stage(listed)
        try:
            self.run("update-ref", "-m", reason, "HEAD", commit, before)
        except GitError:
            if self.resolve() == before:
                raise
            return False
        return True

    def _tree_with(self, listed: bytes, head: str) -> str:
        """Write a commit's tree with some files as they are on disk; return its name.

        `head` is '' where there is no commit yet.
        """
        with tempfile.TemporaryDirectory(dir=self.git_dir) as scratch:
            index = os.path.join(scratch, "index")
            self.run("read-tree", head or "--empty", GIT_INDEX_FILE=index)
            self._stage(listed, GIT_INDEX_FILE=index)
            return self.text("write-tree", GIT_INDEX_FILE=index)

    def _stage(self, listed: bytes, **env: str) -> None:
        """Stage files as they are on disk; what is gone there is staged so."""
        command = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
        self.run(*command, stdin=listed, **env)


def _reason(stderr: str, code: int) -> str:
    """Return git's first error, else all that it said, else its exit code."""
    error = re.search(r"^(?:fatal|error): (.+)", stderr, re.MULTILINE)
    said = error[1] if error else stderr
    return one_line(said, 300).rstrip(".") or f"exit code {code}"
