"""Git, run so that nothing that lies in a repository can have it run or send anything; and one repository with its work tree.

Used are only repositories that filemem was told to set up, or that a person has agreed to on this machine. Each has a mark, a
name drawn by lot in its git directory, and the person's own configuration folder has the same by its path (`trust`).

What the work trees of a repository share git takes from `GIT_COMMON_DIR`: a temporary folder with links to the refs and logs,
attributes that name no driver, and of the configuration just the format. Who the person is and where the remotes are comes by
the environment; hooks, pagers, editors, signing and helpers are off there. What a person wants git to use they say in their
global configuration.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import re
import secrets
import shutil
import subprocess
import tempfile
import time
import weakref
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from filemem.errors import FilememError, NotFound
from filemem.files import safe
from filemem.files.trust import VARIABLE, Trust
from filemem.text.plain import one_line

LOCAL, NETWORK = 60.0, 300.0  # seconds that a command may take
_OFF = {
    **{"core.hooksPath": os.devnull, "core.fsmonitor": "false", "core.pager": "cat", "core.quotePath": "false"},
    **{"color.ui": "false", "diff.ignoreSubmodules": "all", "fetch.recurseSubmodules": "false"},
    **{"submodule.recurse": "false", "protocol.ext.allow": "never", "gc.autoDetach": "false"},
    **{"maintenance.autoDetach": "false", "log.showSignature": "false", "log.follow": "false"},
    "i18n.commitEncoding": "UTF-8",
}
# How this machine reaches others; the rest of GIT_* speaks of some other repository, commit or person.
_KEPT = frozenset(
    "GIT_SSH GIT_SSH_COMMAND GIT_SSH_VARIANT GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_NOSYSTEM GIT_EXEC_PATH "
    "GIT_SSL_CAINFO GIT_SSL_CAPATH GIT_SSL_NO_VERIFY GIT_PROXY_COMMAND GIT_CEILING_DIRECTORIES".split()
)
_SET = {
    **{"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_PAGER": "cat"},
    **{"GIT_EDITOR": "true", "SSH_ASKPASS_REQUIRE": "never"},
}
# What of a repository's own configuration counts, and what of it says how it is to be read.
_INERT = re.compile(
    r"(?s)user\.(name|email)|(gc|maintenance)\.auto|remote\..*\.(url|pushurl|fetch)|branch\..*\.(remote|merge)"
)
_FORMAT = ("core.repositoryformatversion", "extensions.objectformat", "extensions.refstorage")
_LINKS = ("refs", "packed-refs", "reftable", "logs", "worktrees", "shallow", "gc.pid", "gc.log", "info/exclude")
_ATTRIBUTES = "* -text !filter !diff !merge !ident !working-tree-encoding\n"
MARK = "filemem-mark"  # in the git directory, as are the next two
LOCK = "filemem.lock"
PURGED = "filemem-purged"  # the old names of the commits that were rewritten, a line each
_UNFINISHED = {"MERGE_HEAD": "merge", "rebase-merge": "rebase", "rebase-apply": "rebase"}
_UNFINISHED |= {"CHERRY_PICK_HEAD": "cherry-pick", "REVERT_HEAD": "revert"}


class GitError(FilememError):
    """Git could not do what it was asked, or is missing; the sentence says why in git's words."""


class Untrusted(GitError):
    """A repository at a `place`, with a mark, that the person has not agreed to."""

    def __init__(self, place: str, content: Mapping[str, str]) -> None:
        remedy = f"if it is yours, run filemem init --git, or say so with --trust or {VARIABLE}"
        super().__init__(f"{one_line(place)} was not set up on this machine, so git is not used there; {remedy}.")
        self.about, self.what = (place, content), f"the git repository {one_line(place)}"


class GitDone(NamedTuple):
    """What a command printed; `why` it failed, for the end of a sentence."""

    code: int
    out: bytes
    why: str


class GitFile(NamedTuple):
    """A file in a tree: its mode (`100644`) and the name of its blob."""

    mode: str
    oid: str


class Identity(NamedTuple):
    """Who a commit is by."""

    name: str
    email: str


MACHINE = Identity("filemem", "filemem@localhost")


class Git:
    """Git in one folder; `env` is what its environment has beyond this process's own, `settings` what is set for it."""

    def __init__(
        self, where: str, env: Mapping[str, str] | None = None, settings: Mapping[str, str] | None = None
    ) -> None:
        self.where = where
        told = [*(settings or {}).items(), *_OFF.items()]
        parts = {
            f"GIT_CONFIG_{what}_{n}": one[i] for n, one in enumerate(told) for i, what in enumerate(("KEY", "VALUE"))
        }
        self._env = {**_SET, **parts, "GIT_CONFIG_COUNT": str(len(told)), **(env or {})}

    def start(self, *arguments: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        """Start a command; raises GitError where git is missing."""
        foreign = ("SSH_ASKPASS", "LANGUAGE", "LC_MESSAGES")
        own = {k: v for k, v in os.environ.items() if k not in foreign and (not k.startswith("GIT_") or k in _KEPT)}
        try:
            return subprocess.Popen(
                ["git", "-C", self.where, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**own, **self._env, **(env or {})},
                start_new_session=True,  # no terminal to ask at
                umask=0o077,
            )
        except FileNotFoundError:
            raise GitError("git is not installed; install it, then try again.") from None
        except OSError as error:
            raise GitError(f"git cannot be started: {error.strerror}; try again.") from None

    def ask(
        self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None, timeout: float = LOCAL
    ) -> GitDone:
        """Run a command whatever its exit code; raises GitError where git is missing or takes longer than `timeout`."""
        with self.start(*arguments, env=env) as process:
            try:
                out, err = process.communicate(stdin, timeout)
            except BaseException as error:
                process.terminate()  # so git takes its locks away
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(5)
                process.kill()
                if isinstance(error, subprocess.TimeoutExpired):
                    what = f"git {arguments[0]} took longer than {timeout:g} s and was stopped"
                    raise GitError(f"{what}; try again, or run it by hand in {self.where}.") from None
                raise
        lines = [line.strip() for line in err.decode(errors="replace").splitlines() if not line.startswith("hint:")]
        told = [line.partition(": ")[2] for line in lines if line.startswith(("fatal: ", "error: "))]
        words = [*told[:1], *filter(None, lines[-1:]), f"exit code {process.returncode}"][0]
        return GitDone(process.returncode, out, f"git: {one_line(words, 300).rstrip('.')}")

    def run(
        self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None, timeout: float = LOCAL
    ) -> bytes:
        """What a command prints; raises GitError where it fails. Another git, or that of a filemem that was killed, may be at
        work: a file that it has locked is waited for."""
        for wait in (0.05, 0.2, 0.8, 2.0, 0.0):
            done = self.ask(*arguments, stdin=stdin, env=env, timeout=timeout)
            if not done.code:
                return done.out
            if "File exists" not in done.why:
                raise GitError(f"{done.why}.")
            time.sleep(wait)
        raise GitError(f"another git process is running here; if there is none, delete its lock ({done.why}).")

    def text(self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> str:
        """What a command prints, as text without its last newline; raises GitError where it fails."""
        return os.fsdecode(self.run(*arguments, stdin=stdin, env=env)).removesuffix("\n")


def spec(path: str) -> str:
    """A pathspec that means just this path, or what is under it, from the top of the repository; all for ''."""
    return f":(top,literal){path}" if path else ":(top)"


def nul(items: Iterable[str]) -> bytes:
    """Items for git's standard input, each ended by NUL."""
    return b"".join(os.fsencode(item) + b"\0" for item in items)


def fields(out: bytes) -> list[str]:
    """The items of git's output, each ended by NUL."""
    return os.fsdecode(out).split("\0")[:-1]


# -- which repositories are used -----------------------------------------------------------------------------------


def git_place(path: str) -> str:
    """The nearest `.git` in or above a folder, empty where there is none."""
    above = os.path.realpath(path)
    while not os.path.lexists(os.path.join(above, ".git")):
        if above == os.path.dirname(above):
            return ""
        above = os.path.dirname(above)
    return os.path.join(above, ".git")


def find(path: str, trust: Trust) -> Repository | None:
    """The repository in whose work tree `path` lies or would lie, None where there is none.

    Raises FilememError, Untrusted where the person has not agreed to it. Without a `.git` in any folder above, git is not even
    started.
    """
    place = git_place(path)
    if not place:
        return None
    content = {"mark": _said(_git_folder(place), MARK)}
    if not trust.known(place, content):
        raise Untrusted(place, content)
    if trust.given:
        agree(place, trust)
    return Repository(place)


def agree(place: str, trust: Trust) -> None:
    """Mark the repository of a `.git` as one that the person has named."""
    folder = _git_folder(place)
    mark = _said(folder, MARK)
    if mark and trust.kept(place, {"mark": mark}):
        return
    mark = secrets.token_hex(16)
    safe.write(os.path.join(folder, MARK), f"{mark}\n".encode())
    trust.keep(place, {"mark": mark}, trusted=True)


def _said(folder: str, name: str) -> str:
    """What a small file in a folder says, empty where there is none; raises Refused where it cannot be read."""
    with contextlib.suppress(NotFound):
        return os.fsdecode(safe.read(os.path.join(folder, name), 10_000)).strip()
    return ""


def _git_folder(place: str) -> str:
    """The git directory of a `.git`, which may be a file that names it."""
    above = os.path.dirname(place)
    told = "" if os.path.isdir(place) else _said(above, ".git").partition("gitdir:")[2].strip()
    return os.path.abspath(os.path.join(above, told or ".git"))


class Repository(Git):
    """One work tree with its repository; paths are relative to `where`, the top of the work tree."""

    def __init__(self, place: str) -> None:
        """The repository of a `.git`; the linked work trees of one have the folder `common` in common."""
        where, self.folder = os.path.dirname(place), _git_folder(place)
        self.common = os.path.abspath(os.path.join(self.folder, _said(self.folder, "commondir")))
        told = b""
        with contextlib.suppress(FilememError, OSError):  # none, or no plain file, on which git could wait for ever
            told = safe.read(os.path.join(self.common, "config"))
        listing = ("config", "--file", "-", "--no-includes", "--list", "-z")
        entries = fields(Git("/").ask(*listing, stdin=told, env={"GIT_DIR": os.devnull}).out)
        said = {key: value for key, _, value in (entry.partition("\n") for entry in entries)}
        aside = tempfile.mkdtemp(prefix="filemem-git-")
        weakref.finalize(self, shutil.rmtree, aside, ignore_errors=True)
        os.mkdir(os.path.join(aside, "info"))
        lines = [
            "[{}]\n\t{} = {}\n".format(*key.split("."), said[key]) for key in _FORMAT if said.get(key, "").isalnum()
        ]
        for name, text in (("config", "".join(lines)), ("info/attributes", _ATTRIBUTES)):
            with open(os.path.join(aside, name), "w", encoding="utf-8") as file:
                file.write(text)
        for name in _LINKS:
            os.symlink(os.path.join(self.common, name), os.path.join(aside, name))
        env = {"GIT_DIR": self.folder, "GIT_WORK_TREE": where, "GIT_COMMON_DIR": aside}
        env["GIT_OBJECT_DIRECTORY"] = os.path.join(self.common, "objects")
        super().__init__(where, env, {key: value for key, value in said.items() if _INERT.fullmatch(key)})

    # -- state ---------------------------------------------------------------------------------------------------

    def commit_of(self, name: str) -> str:
        """The commit that a name means; empty where there is none."""
        return (
            self.ask("rev-parse", "--quiet", "--verify", "--end-of-options", f"{name}^{{commit}}").out.decode().strip()
        )

    def head(self) -> str:
        """The commit that HEAD names; empty before the first one."""
        return self.commit_of("HEAD")

    def branch(self) -> str:
        """The branch that HEAD stands on; empty where it is detached."""
        return os.fsdecode(self.ask("symbolic-ref", "--quiet", "--short", "HEAD").out).strip()

    def unfinished(self) -> str:
        """Why nothing can be committed now, as a clause with its remedy; empty if it can."""
        for name, what in _UNFINISHED.items():
            if os.path.lexists(os.path.join(self.folder, name)):
                return f"a {what} is in progress in {self.where}; finish it with git {what} --continue"
        return "" if self.branch() else f"HEAD is detached in {self.where}; go back to a branch with git switch"

    def setting(self, key: str) -> str:
        """A setting of git's, empty where it is not set."""
        return os.fsdecode(self.ask("config", "--get", key).out).strip()

    def purged(self) -> set[str]:
        """The commits that were rewritten here so as to forget; what holds one of them would bring back what is forgotten."""
        with contextlib.suppress(NotFound):
            return set(safe.read(os.path.join(self.folder, PURGED)).decode().split())
        return set()

    def alone(self) -> contextlib.AbstractContextManager[None]:
        """Keep other processes of filemem from committing here meanwhile; does not nest. Raises Busy."""
        return safe.lock(os.path.join(self.folder, LOCK), 30.0)

    # -- trees ---------------------------------------------------------------------------------------------------

    def tree(self, treeish: str, path: str = "") -> dict[str, GitFile]:
        """The files in a tree, all or under `path`; empty for the tree before the first commit."""
        under = ["--", path] if path else []
        out = self.run("ls-tree", "-r", "-z", "--full-tree", treeish, *under) if treeish else b""
        entries = (line.partition("\t") for line in fields(out))
        return {name: GitFile(facts.split(" ")[0], facts.split(" ")[2]) for facts, _, name in entries}

    def contents(self, names: Iterable[str]) -> list[bytes | None]:
        """The bytes of each `treeish:path`; None where there is no such file."""
        wanted = list(names)
        out = self.run("cat-file", "--batch", stdin=os.fsencode("\n".join(wanted) + "\n")) if wanted else b""
        found: list[bytes | None] = []
        at = 0
        for _ in wanted:
            end = out.index(b"\n", at)
            kind, size = out[at:end].split(b" ")[-2:]
            is_file = kind == b"blob"
            found.append(out[end + 1 : end + 1 + int(size)] if is_file else None)
            at = end + 1 + (int(size) + 1 if is_file else 0)
        return found

    def put(self, kind: str, data: bytes) -> str:
        """Put an object into the repository, with just these bytes; returns its name."""
        return self.text("hash-object", "-t", kind, "-w", "--literally", "--stdin", stdin=data)

    def empty(self) -> str:
        """The tree without files."""
        return self.put("tree", b"")

    def tree_with(self, tree: str, changes: Mapping[str, GitFile | None]) -> str:
        """A tree with some of its files replaced, added, or taken out."""
        gone = [f"0 {'0' * len(tree)}\t{path}" for path, entry in changes.items() if entry is None]  # which comes first
        lines = [f"{entry.mode} {entry.oid}\t{path}" for path, entry in changes.items() if entry]
        with tempfile.TemporaryDirectory() as aside:
            private = {"GIT_INDEX_FILE": os.path.join(aside, "index")}
            self.run("read-tree", tree, env=private)
            self.run("update-index", "-z", "--index-info", stdin=nul([*gone, *lines]), env=private)
            return self.text("write-tree", env=private)

    # -- committing ----------------------------------------------------------------------------------------------

    def commit(self, paths: Iterable[str], message: str, author: Identity, at: dt.datetime) -> None:
        """Commit just these files as they are on disk, also those that git does not know, whatever else is staged.

        Raises GitError where git cannot write.
        """
        listed = ("--pathspec-from-file=-", "--pathspec-file-nul")
        how = ("--only", "--quiet", "--no-verify", "--no-gpg-sign", "--no-status", "--cleanup=verbatim", "-m", message)
        env, given = {"GIT_LITERAL_PATHSPECS": "1", **_signed(author, at)}, [*paths]
        known = {*fields(self.run("ls-files", "-z"))}
        unknown = nul(path for path in given if path not in known)
        try:
            if unknown:
                self.run("add", "--intent-to-add", *listed, stdin=unknown, env=env)
            self.run("commit", *how, *listed, stdin=nul(given), env=env)
        except GitError:
            self.ask("rm", "--cached", "--force", "--quiet", *listed, stdin=unknown, env=env)
            raise

    def commit_tree(self, tree: str, parents: list[str], message: str, at: dt.datetime) -> str:
        """Write a commit of the machine's, on no branch yet."""
        given = [part for parent in parents for part in ("-p", parent)]
        env = _signed(MACHINE, at)
        return self.text("commit-tree", "--no-gpg-sign", tree, *given, "-m", message.rstrip("\n"), env=env)


def _signed(author: Identity, at: dt.datetime) -> dict[str, str]:
    """The environment in which a commit is by this author, made by the machine; never signed, as nobody vouches for it."""
    when, found = at.astimezone().isoformat(timespec="seconds"), dict[str, str]()
    for role, who in (("AUTHOR", author), ("COMMITTER", MACHINE)):
        found |= {f"GIT_{role}_NAME": who.name, f"GIT_{role}_EMAIL": who.email, f"GIT_{role}_DATE": when}
    return found
