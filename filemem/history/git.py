"""Git in the repositories of memories, and nothing that lies in one can have it run or send anything.

Used are only repositories that filemem was told to set up, or that a person has agreed to on this machine. Each has a mark, a
name drawn by lot in its git directory, and the person's own configuration folder has the same by its path (`trust`).

Hooks, pagers, editors, signing and the like are off by `-c` and environment. What the work trees of a repository share git
takes from `GIT_COMMON_DIR`: a temporary folder with links to the refs and logs, attributes that name no driver, and of the
repository's own configuration just the keys that say what it is and where its remotes are. What a person wants git to use
they say in their global configuration.
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
from filemem.files.folder import BOOKKEEPING
from filemem.files.trust import VARIABLE, Trust
from filemem.text.plain import first_few, one_line

LOCAL, NETWORK = 60.0, 300.0  # seconds that a command may take
PINNED = (
    *("core.hooksPath=/dev/null", "core.fsmonitor=false", "core.pager=cat", "core.quotePath=false", "color.ui=false"),
    *(
        "diff.ignoreSubmodules=all",
        "fetch.recurseSubmodules=false",
        "submodule.recurse=false",
        "protocol.ext.allow=never",
    ),
    *("gc.autoDetach=false", "maintenance.autoDetach=false", "log.showSignature=false", "log.follow=false"),
    *("i18n.commitEncoding=UTF-8", "merge.directoryRenames=false"),
)
# How this machine reaches others; the rest of GIT_* speaks of some other repository, commit or person.
_KEPT = frozenset(
    "GIT_SSH GIT_SSH_COMMAND GIT_SSH_VARIANT GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_NOSYSTEM GIT_EXEC_PATH "
    "GIT_SSL_CAINFO GIT_SSL_CAPATH GIT_SSL_NO_VERIFY GIT_PROXY_COMMAND GIT_CEILING_DIRECTORIES".split()
)
_SET = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "true",
    "SSH_ASKPASS_REQUIRE": "never",
}
PLAIN = ("100644", "100755")
# Bookkeeping that cannot be rebuilt: logs by line, to which their modules only add.
LOGS = tuple(
    f"{BOOKKEEPING}/{name}" for name in ("recalls.log", "imports.jsonl", "consolidated.jsonl", "compacted.log")
)
MARK = "filemem-mark"  # in the git directory, as are the next two
LOCK = "filemem.lock"
PURGED = "filemem-purged"  # the old names of the commits that were rewritten, a line each
_WAIT = 30.0  # seconds for another filemem to finish its commit
_UNFINISHED = {
    "MERGE_HEAD": ("a merge", "finish it with git commit, or end it with git merge --abort"),
    "rebase-merge": ("a rebase", "finish it with git rebase --continue"),
    "rebase-apply": ("a rebase or git am", "finish it with git rebase --continue"),
    "CHERRY_PICK_HEAD": ("a cherry-pick", "finish it with git cherry-pick --continue"),
    "REVERT_HEAD": ("a revert", "finish it with git revert --continue"),
}


class GitError(FilememError):
    """Git could not do what it was asked, or is not there; the sentence says why in git's words."""


class Untrusted(GitError):
    """A repository that the person has not agreed to; the sentence says what it would have done, `about` is what is asked."""

    about: tuple[str, Mapping[str, str]] = ("", {})
    what = ""


class Declined(Untrusted):
    """One that they have said no to."""


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
    """Git in one folder; `env` is what its environment has beyond this process's own."""

    def __init__(self, where: str, env: Mapping[str, str] | None = None) -> None:
        self.where = where
        self.env = env or {}

    def start(self, *arguments: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        """Start a command; raises GitError where git is missing."""
        settings = [part for option in PINNED for part in ("-c", option)]
        foreign = ("SSH_ASKPASS", "LANGUAGE", "LC_MESSAGES")
        own = {k: v for k, v in os.environ.items() if k not in foreign and (not k.startswith("GIT_") or k in _KEPT)}
        try:
            return subprocess.Popen(
                ["git", "-C", self.where, *settings, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**own, **_SET, **self.env, **(env or {})},
                start_new_session=True,  # no terminal to ask at
                umask=0o077,
            )
        except FileNotFoundError:
            raise GitError("git is not installed; install it, then try again.") from None
        except OSError as error:
            raise GitError(f"git cannot be started: {error.strerror}.") from None

    def ask(
        self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None, timeout: float = LOCAL
    ) -> GitDone:
        """Run a command whatever its exit code; raises GitError where git is missing or takes longer than `timeout`."""
        with self.start(*arguments, env=env) as process:
            try:
                out, err = process.communicate(stdin, timeout)
            except subprocess.TimeoutExpired:
                _end(process)
                what = f"git {arguments[0]} took longer than {timeout:g} s and was ended"
                raise GitError(f"{what}; try again, or run it by hand in {self.where}.") from None
            except BaseException:
                _end(process)
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


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a git in a way in which it takes its locks away."""
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()


def reason(done: GitDone) -> str:
    """Why a command failed: the line of its complaint that says most, for the end of a sentence."""
    lines = [line.strip() for line in done.err.splitlines() if line.strip() and not line.startswith("hint:")]
    telling = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines[-1:]
    words = telling[0].removeprefix("fatal:").removeprefix("error:").strip() if telling else f"exit code {done.code}"
    if "dubious ownership" in done.err:
        folder = words.rpartition(" at ")[2].strip("'")
        words = f"the repository belongs to somebody else; if you trust it: git config --global --add safe.directory {folder}"
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


# -- what of a repository's own configuration counts ---------------------------------------------------------------

_INERT = re.compile(
    r"core\.(repositoryformatversion|filemode|symlinks|ignorecase|precomposeunicode|logallrefupdates|sharedrepository)"
    r"|extensions\.(objectformat|refstorage)|user\.(name|email)|maintenance\.auto"
    r"|gc\.(auto|autopacklimit|pruneexpire|reflogexpire|reflogexpireunreachable)"
    r"|remote\..*\.(url|pushurl|fetch)|branch\..*\.(remote|merge)",
    re.DOTALL,
)
_LINKS = ("refs", "packed-refs", "reftable", "logs", "worktrees", "shallow", "gc.pid", "gc.log", "info/exclude")


class Sandbox:
    """What a git directory's own configuration says, and the folder from which git takes its shared part instead."""

    def __init__(self, common: str) -> None:
        self.common = common
        told = b""
        with contextlib.suppress(FilememError, OSError):  # none, or no plain file, on which git could wait for ever
            told = safe.read(os.path.join(common, "config"))
        listing = ("config", "--file", "-", "--no-includes", "--list", "-z")
        entries = fields(Git("/").ask(*listing, stdin=told, env={"GIT_DIR": os.devnull}).out)
        self._said = [(key, value if line else None) for key, line, value in (e.partition("\n") for e in entries)]

    def unused_settings(self) -> list[str]:
        """What of the repository's own does not count, as it could run something or lead elsewhere."""
        hooks = os.path.join(self.common, "hooks")
        names = os.listdir(hooks) if os.path.isdir(hooks) else []
        live = [name for name in sorted(names) if "." not in name and os.access(os.path.join(hooks, name), os.X_OK)]
        keys = [key for key, _ in self._said if not _INERT.fullmatch(key) and key != "core.bare"]
        return list(dict.fromkeys([*keys, *(f"hooks/{name}" for name in live)]))

    def would(self) -> str:
        """What the configuration would have git run, and where it would send memories to, in words."""
        runs = self.unused_settings()
        urls = [value or "" for key, value in self._said if re.fullmatch(r"(?s)remote\..*\.(url|pushurl)", key)]
        words = [f"its settings would run or steer {first_few(map(one_line, runs))}"] if runs else []
        words += [f"a sync would send them to {first_few(map(one_line, urls))}"] if urls else []
        return f" ({'; '.join(words)})" if words else ""

    def make(self) -> str:
        """Lay the folder out; returns its place, which lasts as long as this."""
        place, owner = tempfile.mkdtemp(prefix="filemem-git-"), os.getpid()
        weakref.finalize(self, lambda: shutil.rmtree(place, ignore_errors=True) if os.getpid() == owner else None)
        os.mkdir(os.path.join(place, "info"))
        config = "".join(_setting(key, value) for key, value in self._said if _INERT.fullmatch(key))
        attributes = "* !filter !diff !merge !ident !working-tree-encoding\n"
        for name, text in (("config", config), ("info/attributes", attributes)):
            with open(os.path.join(place, name), "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(text)
        for name in _LINKS:
            os.symlink(os.path.join(self.common, name), os.path.join(place, name))
        return place


def _setting(key: str, value: str | None) -> str:
    """A setting as a configuration file says it; None is a key without a value, which means true."""
    section, _, rest = key.partition(".")
    middle, _, name = rest.rpartition(".")
    spelt = [
        re.sub(r'[\\"\n\t\b]', lambda c: {"\n": "\\n", "\t": "\\t", "\b": "\\b"}.get(c[0], "\\" + c[0]), text)
        for text in (middle, value or "")
    ]
    head = f'[{section} "{spelt[0]}"]' if middle else f"[{section}]"
    return f"{head}\n\t{name}" + (f' = "{spelt[1]}"\n' if value is not None else "\n")


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
    folder = _folder(place)
    content = {"mark": _mark(folder)}
    answer = trust.known(place, content)
    if not answer:
        shared = b""
        with contextlib.suppress(FilememError):
            shared = safe.read(os.path.join(folder, "commondir"), 10_000).strip()
        would = Sandbox(os.path.join(folder, os.fsdecode(shared))).would()
        if answer is None and trust.ask:
            asked = f"{one_line(place)} was not agreed to on this machine; filemem would commit there{would}."
            answer = trust.settle(place, content, asked)
        if not answer:
            words = f"{one_line(place)} was not set up on this machine, so git is not used there{would}"
            remedy = f"if it is yours, run filemem init --git, or say so with --trust or {VARIABLE}"
            error = (Untrusted if trust.known(place, content) is None else Declined)(f"{words}; {remedy}.")
            error.about, error.what = (place, content), f"the git repository {one_line(place)}{would}"
            raise error
    if trust.given or (trust.ask and not content["mark"]):
        agree(place, trust)
    return opened(place)


def agree(place: str, trust: Trust) -> None:
    """Mark the repository of a `.git` as one that the person has named."""
    folder = _folder(place)
    if _mark(folder) and trust.kept(place, {"mark": _mark(folder)}):
        return
    mark = secrets.token_hex(16)
    try:
        safe.write(os.path.join(folder, MARK), f"{mark}\n".encode())
    except OSError as error:
        raise GitError(f"{folder} cannot be written ({error.strerror}); put its permissions right.") from None
    trust.keep(place, {"mark": mark}, trusted=True)


def _folder(place: str) -> str:
    """The git directory of a `.git`, which may be a file that names it; raises GitError."""
    if os.path.isdir(place):
        return place
    try:
        told = os.fsdecode(safe.read(place, 10_000)).partition("gitdir:")[2].strip()
    except FilememError as error:
        raise GitError(str(error)) from None
    return os.path.join(os.path.dirname(place), told or ".git")


def _mark(folder: str) -> str:
    try:
        return safe.read(os.path.join(folder, MARK), 100).decode(errors="replace").strip()
    except NotFound:
        return ""
    except FilememError as error:
        raise GitError(str(error)) from None


def opened(place: str) -> Repository | None:
    """The repository of a `.git`, None where it is none with a work tree; raises GitError."""
    top = os.path.dirname(place)
    here = Git(top, {"GIT_CEILING_DIRECTORIES": os.path.dirname(top)})
    done = here.ask("rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir")
    if done.code:
        if "not a git repository" in done.err or "must be run in a work tree" in done.err:
            return None
        raise GitError(reason(done) + ".")
    where, folder, common = os.fsdecode(done.out).removesuffix("\n").split("\n")
    if where != top:
        raise GitError(
            f"the configuration of {place} names another work tree, {one_line(where)}; take core.worktree out."
        )
    return Repository(top, folder, common)


class Repository(Git):
    """One work tree with its repository; paths are relative to `where`, the top of the work tree."""

    def __init__(self, where: str, folder: str, common: str) -> None:
        """A repository with its git directory `folder` and, where that is a linked work tree's, the one that it shares."""
        self.sandbox = Sandbox(common)
        env = {"GIT_DIR": folder, "GIT_WORK_TREE": where, "GIT_OBJECT_DIRECTORY": os.path.join(common, "objects")}
        super().__init__(where, {**env, "GIT_COMMON_DIR": self.sandbox.make()})
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
        for name, (what, remedy) in _UNFINISHED.items():
            if os.path.lexists(os.path.join(self.folder, name)):
                return f"{what} is in progress in {self.where}; {remedy}"
        if not self.branch():
            return f"HEAD is detached in {self.where}; go back to a branch with git switch"
        return ""

    def setting(self, key: str) -> str:
        """A setting of git's, empty where it is not set."""
        return os.fsdecode(self.ask("config", "--get", key).out).strip()

    def person(self, name: str) -> Identity:
        """The person at this machine as git knows them, else by the user's name."""
        return Identity(self.setting("user.name") or name, self.setting("user.email") or f"{name}@localhost")

    def purged(self) -> set[str]:
        """The commits that were rewritten here so as to forget; what holds one of them would bring back what is forgotten."""
        try:
            return set(safe.read(os.path.join(self.folder, PURGED)).decode().split())
        except NotFound:
            return set()

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes of filemem from committing here meanwhile; does not nest. Raises GitError.

        A lock of git's own that was left by one which was killed here is waited for, and taken away.
        """
        place = os.path.join(self.folder, LOCK)
        with contextlib.ExitStack() as held:
            try:
                held.enter_context(safe.lock(place, _WAIT))
                if os.path.getsize(place):
                    self._free(os.path.getmtime(place))
                    self._finish_commit()
                self._clear()
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

    def _finish_commit(self) -> None:
        """Have the index say what the last commit says, where its git was killed between the two: a person's next commit would
        take the machine's back. Entries that differ from what was there before it are theirs."""
        who, *parents = self.ask("log", "-1", "--format=%ce %P").out.decode(errors="replace").split() or [""]
        if who != MACHINE.email or len(parents) > 1 or self.unfinished():
            return
        before, now, staged = self.tree("".join(parents)), self.tree("HEAD"), self.staged()
        nothing = self.text("hash-object", "-t", "blob", "--stdin")  # what the index has of a file that git is to add
        changes = dict[str, GitFile | None]()
        for path in {**before, **now}:
            old, new, there = before.get(path), now.get(path), staged.get(path)
            if old != new != there and (there == old or (not old and there and there.oid == nothing)):
                changes[path] = new
        self.stage(changes)

    def _clear(self) -> None:
        """Delete what writes here left that were killed."""
        for left in glob.glob(f"{glob.escape(self.folder)}/{safe.OURS}*"):
            with contextlib.suppress(FileNotFoundError):
                if time.time() - os.path.getmtime(left) > safe.CUT_OFF:
                    os.unlink(left)

    def _free(self, since: float) -> None:
        for _ in range(40):
            names = [*glob.glob(f"{glob.escape(self.folder)}/*.lock"), f"{self.common}/objects/maintenance.lock"]
            names += glob.glob(f"{glob.escape(self.common)}/*.lock")
            names += glob.glob(f"{glob.escape(self.common)}/refs/**/*.lock", recursive=True)
            stale = {n for n in names if os.path.basename(n) != LOCK and os.path.exists(n)}
            stale = {name for name in stale if os.path.getmtime(name) >= since - 1}
            if not stale:
                return
            time.sleep(0.05)  # its git may be about to end
        for name in stale:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name)

    # -- trees ---------------------------------------------------------------------------------------------------

    def tree(self, treeish: str, path: str = "") -> dict[str, GitFile]:
        """The files in a tree, all or under `path`; empty for the tree before the first commit."""
        out = (
            self.run("ls-tree", "-r", "-z", "--full-tree", treeish, *(["--", path] if path else [])) if treeish else b""
        )
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
        """Replace files in the index, add them, or take them out."""
        lines = [f"{entry.mode} {entry.oid}\t{path}" for path, entry in changes.items() if entry]
        none = "0" * len(self.empty()) if None in changes.values() else ""
        gone = [f"0 {none}\t{path}" for path, entry in changes.items() if entry is None]
        if changes:
            self.run("update-index", "-z", "--index-info", stdin=nul([*gone, *lines]), env=env)

    def put(self, kind: str, data: bytes) -> str:
        """Put an object into the repository, with just these bytes; returns its name."""
        return self.text("hash-object", "-t", kind, "-w", "--literally", "--stdin", stdin=data)

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
            folder = os.path.join(self.where, os.path.dirname(path)).rstrip("/")
            if os.path.realpath(folder) != folder:
                remedy = "put a real folder in its place first"
                raise FilememError(f"{one_line(path)} lies behind a symbolic link here; {remedy}.")
        paths = parts[1::2]
        texts = self.contents(f"{tree or self.empty()}:{path}" for path in paths for tree in (before, after))
        return [Step(path, *pair) for path, pair in zip(paths, zip(texts[::2], texts[1::2], strict=True), strict=True)]

    def empty(self) -> str:
        """The tree without files."""
        return self.text("hash-object", "-t", "tree", "--stdin")

    # -- committing and merging ----------------------------------------------------------------------------------

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
    env = dict[str, str]()
    for role, one in (("AUTHOR", author), ("COMMITTER", MACHINE)):
        env |= {f"GIT_{role}_NAME": one.name, f"GIT_{role}_EMAIL": one.email, f"GIT_{role}_DATE": when}
    return env
