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
import glob
import os
import re
import secrets
import shutil
import subprocess
import tempfile
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from filemem.errors import Busy, FilememError, NotFound
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
PLAIN = ("100644", "100755")
MARK = "filemem-mark"  # in the git directory, as are the next two
LOCK = "filemem.lock"
PURGED = "filemem-purged"  # the old names of the commits that were rewritten, a line each
_WAIT = 30.0  # seconds for another filemem to finish its commit
_UNFINISHED = {"MERGE_HEAD": "merge", "rebase-merge": "rebase", "rebase-apply": "rebase"}
_UNFINISHED |= {"CHERRY_PICK_HEAD": "cherry-pick", "REVERT_HEAD": "revert"}


class GitError(FilememError):
    """Git could not do what it was asked, or is not there; the sentence says why in git's words."""


class Untrusted(GitError):
    """A repository that the person has not agreed to; `about` is what is asked, `what` names it."""

    about: tuple[str, Mapping[str, str]] = ("", {})
    what = ""


class GitDone(NamedTuple):
    """What a command left behind."""

    code: int
    out: bytes
    err: str


class GitFile(NamedTuple):
    """A file in a tree: its mode (`100644`) and the name of its blob."""

    mode: str
    oid: str


class Identity(NamedTuple):
    """Who a commit is by."""

    name: str
    email: str


class Step(NamedTuple):
    """What is to happen to one file: `found` stands on disk (None: no file), `becomes` is to stand there."""

    path: str
    found: bytes | None
    becomes: bytes | None


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
                    what = f"git {arguments[0]} took longer than {timeout:g} s and was ended"
                    raise GitError(f"{what}; try again, or run it by hand in {self.where}.") from None
                raise
        return GitDone(process.returncode, out, err.decode(errors="replace"))

    def run(
        self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None, timeout: float = LOCAL
    ) -> bytes:
        """What a command prints; raises GitError where it fails."""
        done = self.ask(*arguments, stdin=stdin, env=env, timeout=timeout)
        if done.code:
            raise GitError(reason(done) + ".")
        return done.out

    def text(self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> str:
        """What a command prints, as text without its last newline; raises GitError where it fails."""
        return os.fsdecode(self.run(*arguments, stdin=stdin, env=env)).removesuffix("\n")


def reason(done: GitDone) -> str:
    """Why a command failed, for the end of a sentence: the line of its complaint that says most."""
    lines = [line.strip() for line in done.err.splitlines() if line.strip() and not line.startswith("hint:")]
    told = [line.partition(": ")[2] for line in lines if line.startswith(("fatal: ", "error: "))] or lines[-1:]
    words = told[0] if told else f"exit code {done.code}"
    return "git: " + one_line(words, 300).rstrip(".")


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

    Raises GitError, Untrusted where the person has not agreed to it. Without a `.git` in any folder above, git is not even
    started.
    """
    place = git_place(path)
    if not place:
        return None
    content = {"mark": _mark(place)[1]}
    if not trust.known(place, content):
        remedy = f"if it is yours, run filemem init --git, or say so with --trust or {VARIABLE}"
        words = f"{one_line(place)} was not set up on this machine, so git is not used there; {remedy}."
        error = Untrusted(words)
        error.about, error.what = (place, content), f"the git repository {one_line(place)}"
        raise error
    if trust.given:
        agree(place, trust)
    return opened(place)


def agree(place: str, trust: Trust) -> None:
    """Mark the repository of a `.git` as one that the person has named."""
    folder, mark = _mark(place)
    if mark and trust.kept(place, {"mark": mark}):
        return
    mark = secrets.token_hex(16)
    try:
        safe.write(os.path.join(folder, MARK), f"{mark}\n".encode())
    except OSError as error:
        raise GitError(f"{folder} cannot be written ({error.strerror}); put its permissions right.") from None
    trust.keep(place, {"mark": mark}, trusted=True)


def _mark(place: str) -> tuple[str, str]:
    """The git directory of a `.git`, which may be a file that names it, and the mark in it; raises GitError."""
    try:
        told = "" if os.path.isdir(place) else os.fsdecode(safe.read(place, 10_000)).partition("gitdir:")[2].strip()
        folder = os.path.join(os.path.dirname(place), told or ".git")
        with contextlib.suppress(NotFound):
            return folder, safe.read(os.path.join(folder, MARK), 100).decode(errors="replace").strip()
        return folder, ""
    except GitError:
        raise
    except FilememError as error:
        raise GitError(str(error)) from None


def opened(place: str) -> Repository | None:
    """The repository of a `.git`, None where none lies there; raises GitError."""
    folder = os.path.abspath(_mark(place)[0])
    common = folder
    with contextlib.suppress(NotFound):  # of a linked work tree only
        common = os.path.abspath(
            os.path.join(folder, os.fsdecode(safe.read(os.path.join(folder, "commondir"))).strip())
        )
    there = os.path.isfile(os.path.join(folder, "HEAD")) and os.path.isdir(os.path.join(common, "objects"))
    return Repository(os.path.dirname(place), folder, common) if there else None


class Repository(Git):
    """One work tree with its repository; paths are relative to `where`, the top of the work tree."""

    def __init__(self, where: str, folder: str, common: str) -> None:
        """A repository with its git directory `folder` and, where that is a linked work tree's, the one that it shares."""
        told = b""
        with contextlib.suppress(FilememError, OSError):  # none, or no plain file, on which git could wait for ever
            told = safe.read(os.path.join(common, "config"))
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
            os.symlink(os.path.join(common, name), os.path.join(aside, name))
        env = {"GIT_DIR": folder, "GIT_WORK_TREE": where, "GIT_OBJECT_DIRECTORY": os.path.join(common, "objects")}
        own = {key: value for key, value in said.items() if _INERT.fullmatch(key)}
        super().__init__(where, {**env, "GIT_COMMON_DIR": aside}, own)
        self.folder = folder
        self.common = common

    # -- state ---------------------------------------------------------------------------------------------------

    def head(self) -> str:
        """The commit that HEAD names; empty before the first one."""
        return self.ask("rev-parse", "--quiet", "--verify", "HEAD^{commit}").out.decode().strip()

    def branch(self) -> str:
        """The branch that HEAD stands on; empty where it is detached."""
        return os.fsdecode(self.ask("symbolic-ref", "--quiet", "--short", "HEAD").out).strip()

    def unfinished(self) -> str:
        """Why nothing can be committed now, as a clause with its remedy; empty where it can."""
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

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes of filemem from committing here meanwhile; does not nest. Raises GitError.

        What one left that was killed here is cleared up: git's locks, and an index that the last commit is ahead of, as a
        person's next commit would take the machine's back.
        """
        place = os.path.join(self.folder, LOCK)
        with contextlib.ExitStack() as held:
            try:
                held.enter_context(safe.lock(place, _WAIT))
                if os.path.getsize(place):
                    self._unlock(os.path.getmtime(place))
                    self._mend_index()
                with open(place, "w") as file:  # until the end of this
                    file.write("at work\n")
                held.callback(os.truncate, place, 0)
            except Busy:
                raise GitError("another filemem is committing here; try again when it has finished.") from None
            except OSError as error:
                raise GitError(
                    f"{self.folder} cannot be written ({error.strerror}); put its permissions right."
                ) from None
            yield

    def _mend_index(self) -> None:
        """Have the index say what the machine's last commit says, where it says what was there before; the rest is a person's."""
        who, *parents = self.ask("log", "-1", "--format=%ce %P").out.decode(errors="replace").split() or [""]
        if who == MACHINE.email and not self.unfinished():
            names, before = ("--name-only", "-z"), parents[0] if parents else self.empty()
            last = fields(self.run("diff-tree", "-r", "--root", "--no-commit-id", *names, "HEAD"))
            staged = fields(self.run("diff-index", "--cached", "--ita-invisible-in-index", *names, before))
            if behind := sorted({*last} - {*staged}):
                how = ("reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul")
                self.run(*how, stdin=nul(behind), env={"GIT_LITERAL_PATHSPECS": "1"})

    def _unlock(self, since: float) -> None:
        """Take git's locks away that were left `since` then, once their git has had the time to end."""
        for last in range(39, -1, -1):
            names = [*glob.glob(f"{glob.escape(self.folder)}/*.lock"), f"{self.common}/objects/maintenance.lock"]
            names += glob.glob(f"{glob.escape(self.common)}/*.lock")
            names += glob.glob(f"{glob.escape(self.common)}/refs/**/*.lock", recursive=True)
            names = [name for name in names if os.path.basename(name) != LOCK and os.path.exists(name)]
            with contextlib.suppress(FileNotFoundError):
                names = [name for name in names if os.path.getmtime(name) >= since - 1]
                if not names:
                    return
                for name in names if not last else ():
                    os.unlink(name)
            time.sleep(0.05)

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

    def staged(self, path: str = "") -> dict[str, GitFile]:
        """The files in the index, all or under `path`, but for those of a merge that is not settled."""
        listed = fields(self.run("ls-files", "--stage", "-z", "--full-name", "--", spec(path)))
        entries = ((*facts.split(" "), path) for facts, _, path in (line.partition("\t") for line in listed))
        return {path: GitFile(mode, oid) for mode, oid, stage, path in entries if stage == "0"}

    def stage(self, changes: Mapping[str, GitFile | None], env: Mapping[str, str] | None = None) -> None:
        """Replace files in the index, add them, or take them out, which comes first."""
        gone = [f"0 {'0' * len(self.empty())}\t{path}" for path, entry in changes.items() if entry is None]
        lines = [f"{entry.mode} {entry.oid}\t{path}" for path, entry in changes.items() if entry]
        if changes:
            self.run("update-index", "-z", "--index-info", stdin=nul([*gone, *lines]), env=env)

    def put(self, kind: str, data: bytes) -> str:
        """Put an object into the repository, with just these bytes; returns its name."""
        return self.text("hash-object", "-t", kind, "-w", "--literally", "--stdin", stdin=data)

    def empty(self) -> str:
        """The tree without files."""
        return self.text("hash-object", "-t", "tree", "--stdin")

    def tree_with(self, tree: str, changes: Mapping[str, GitFile | None]) -> str:
        """A tree with some of its files replaced, added, or taken out."""
        with tempfile.TemporaryDirectory() as aside:
            private = {"GIT_INDEX_FILE": os.path.join(aside, "index")}
            self.run("read-tree", tree, env=private)
            self.stage(changes, private)
            return self.text("write-tree", env=private)

    def steps(self, before: str, after: str, inside: str = "") -> list[Step]:
        """What differs between two trees, of files under `inside`; `before` may be empty, for nothing. Raises FilememError for a
        path or kind of file that memories have no use for and that could lead elsewhere."""
        parts = fields(
            self.run("diff-tree", "-r", "-z", "--no-renames", before or self.empty(), after, "--", spec(inside))
        )
        for facts, path in zip(parts[::2], parts[1::2], strict=True):
            wrong = any(part in ("", ".", "..") or part.lower() == ".git" for part in path.split("/"))
            modes = facts.removeprefix(":").split(" ")[:2]
            if wrong or any(ord(c) < 32 for c in path) or not {*modes} <= {*PLAIN, "000000"}:
                what = f"{one_line(path)} is not a regular file with a plain name"
                raise FilememError(f"{what}; bring it in by hand, with git pull.")
        paths = parts[1::2]
        texts = self.contents(f"{tree or self.empty()}:{path}" for path in paths for tree in (before, after))
        return [Step(*one) for one in zip(paths, texts[::2], texts[1::2], strict=True)]

    # -- committing ----------------------------------------------------------------------------------------------

    def commit(self, paths: Iterable[str], new: Iterable[str], message: str, author: Identity, at: dt.datetime) -> str:
        """Commit just these files as they are on disk, `new` ones among them that git does not know, whatever else is staged.

        Returns the commit. Raises GitError where git cannot write.
        """
        listed = ("--pathspec-from-file=-", "--pathspec-file-nul")
        how = ("--only", "--quiet", "--no-verify", "--no-gpg-sign", "--no-status", "--cleanup=verbatim", "-m", message)
        env = {"GIT_LITERAL_PATHSPECS": "1", **_signed(author, at)}
        unknown, known = nul(new), nul(paths)
        for wait in (0.05, 0.2, 0.8, 0.0):
            done = self.ask("add", "--intent-to-add", *listed, stdin=unknown, env=env) if unknown else None
            if not done or not done.code:
                done = self.ask("commit", *how, *listed, stdin=known, env=env)
            if not done.code:
                return self.head()
            if "index.lock" not in done.err:
                self.ask("rm", "--cached", "--force", "--quiet", *listed, stdin=unknown, env=env)
                raise GitError(reason(done) + ".")
            time.sleep(wait)
        lock = os.path.join(self.folder, "index.lock")
        raise GitError(f"another git is at work here; where none is, delete {lock}.")

    def commit_tree(self, tree: str, parents: list[str], message: str, at: dt.datetime) -> str:
        """Write a commit of the machine's, on no branch yet."""
        given = [part for parent in parents for part in ("-p", parent)]
        env = _signed(MACHINE, at)
        return self.text("commit-tree", "--no-gpg-sign", tree, *given, "-m", message.rstrip("\n"), env=env)


def _signed(author: Identity, at: dt.datetime) -> dict[str, str]:
    """The environment in which a commit is by this author, made by the machine; never signed, as nobody vouches for it."""
    when = at.astimezone().isoformat(timespec="seconds")
    parts = {"NAME": (author.name, MACHINE.name), "EMAIL": (author.email, MACHINE.email), "DATE": (when, when)}
    return {
        f"GIT_{role}_{name}": one[n] for name, one in parts.items() for n, role in enumerate(("AUTHOR", "COMMITTER"))
    }
