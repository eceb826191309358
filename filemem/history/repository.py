"""The git repository that holds memories: its state, its trees, and commits that leave a person's own work alone.

A commit is put together in a private index on top of HEAD and set by compare-and-swap, so that what a person has staged
or changed stays as it is. Nothing here touches a file of the work tree.
"""

from __future__ import annotations

import datetime as dt
import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from filemem.errors import NotFound
from filemem.files import safe
from filemem.files.folder import BOOKKEEPING
from filemem.files.trust import Trust
from filemem.history import sealed, weaving
from filemem.history.git import Git, GitError, fields, nul, reason, spec
from filemem.text.plain import one_line

PLAIN = ("100644", "100755")
# Bookkeeping that cannot be rebuilt: logs by line, to which their modules only add.
LOGS = tuple(
    f"{BOOKKEEPING}/{name}" for name in ("recalls.log", "imports.jsonl", "consolidated.jsonl", "compacted.log")
)
UNION = ("**/sessions/** merge=union", *(f"**/{log} merge=union" for log in LOGS))
_ATTRIBUTES = "".join(f"{line}\n" for line in ("* !filter !diff !merge !ident !working-tree-encoding", *UNION))
_STAGED = "filemem-staged"  # in the git directory: the commit whose changes are being staged, and the one before it
_PURGED = "filemem-purged"  # in the git directory: the old names of the commits that were rewritten, a line each
_UNFINISHED = {
    "MERGE_HEAD": ("a merge", "finish it with git commit, or end it with git merge --abort"),
    "rebase-merge": ("a rebase", "finish it with git rebase --continue"),
    "rebase-apply": ("a rebase or git am", "finish it with git rebase --continue"),
    "CHERRY_PICK_HEAD": ("a cherry-pick", "finish it with git cherry-pick --continue"),
    "REVERT_HEAD": ("a revert", "finish it with git revert --continue"),
}


class GitFile(NamedTuple):
    """A file in a tree or index: its mode (`100644`) and the name of its blob."""

    mode: str
    oid: str


Tree = dict[str, GitFile]
Changes = dict[str, tuple[GitFile | None, GitFile | None]]  # by path: before and after


class Identity(NamedTuple):
    """Who a commit is by."""

    name: str
    email: str


MACHINE = Identity("filemem", "filemem@localhost")


class Merged(NamedTuple):
    """What git made of two sides: a tree, the stages of what it could not settle, and its words about them."""

    tree: str
    stages: dict[str, dict[int, GitFile]]
    messages: list[tuple[list[str], str]]


class Repository(Git):
    """One work tree with its repository; paths are relative to `where`, the top of the work tree."""

    def __init__(self, where: str, folder: str, common: str, zero: str) -> None:
        """A repository with its git directory `folder` and, where that is a linked work tree's, the one that it shares.

        `zero` is the name of no object, as long as its names are: 40 or 64 zeros.
        """
        self.seal = sealed.SafeConfig(common)
        env = {"GIT_DIR": folder, "GIT_WORK_TREE": where, "GIT_OBJECT_DIRECTORY": os.path.join(common, "objects")}
        super().__init__(where, {**env, "GIT_COMMON_DIR": self.seal.make(_ATTRIBUTES)})
        self.folder = folder
        self.common = common
        self.zero = zero

    # -- state ---------------------------------------------------------------------------------------------------

    def head(self) -> str:
        """The commit that HEAD names; empty before the first one."""
        return self.ask("rev-parse", "--quiet", "--verify", "HEAD^{commit}").out.decode().strip()

    def commit_named(self, name: str) -> str:
        """The commit that a person means by `name`; raises GitError where there is none."""
        done = self.ask("rev-parse", "--quiet", "--verify", "--end-of-options", f"{name}^{{commit}}")
        if done.code:
            raise GitError(f"{one_line(name)} is no commit here; filemem log lists them.")
        return done.out.decode().strip()

    def branch(self) -> str:
        """The branch that HEAD stands on; empty where it is detached."""
        done = self.ask("symbolic-ref", "--quiet", "--short", "HEAD")
        return os.fsdecode(done.out).strip()

    def unfinished(self) -> str:
        """Why nothing can be committed now, as a clause with its remedy; empty where it can."""
        for name, (what, remedy) in _UNFINISHED.items():
            if os.path.lexists(os.path.join(self.folder, name)):
                return f"{what} is in progress in {self.where}; {remedy}"
        if not self.branch():
            return f"HEAD is detached in {self.where}; go back to a branch with git switch"
        return ""

    def purged(self) -> set[str]:
        """The commits that were rewritten here so as to forget; what holds one of them would bring back what is forgotten."""
        try:
            return set(safe.read(os.path.join(self.folder, _PURGED)).decode().split())
        except NotFound:
            return set()

    def note_purged(self, commits: Iterable[str]) -> None:
        """Remember the old names of commits that were rewritten."""
        known = sorted(self.purged().union(commits))
        safe.write(os.path.join(self.folder, _PURGED), "".join(f"{oid}\n" for oid in known).encode())

    def tree(self, treeish: str, path: str = "") -> Tree:
        """The files in a tree, all or under `path`; empty for the tree before the first commit."""
        if not treeish:
            return {}
        under = ["--", path] if path else []
        out = self.run("ls-tree", "-r", "-z", "--full-tree", treeish, *under)
        found = {}
        for line in fields(out):
            facts, _, name = line.partition("\t")
            mode, _, oid = facts.split(" ")
            found[name] = GitFile(mode, oid)
        return found

    def index(self, *paths: str) -> Tree:
        """What is staged, all or under `paths`; a file in conflict has no blob."""
        found: Tree = {}
        for line in fields(self.run("ls-files", "--stage", "-z", "--full-name", "--", *map(spec, paths))):
            facts, _, name = line.partition("\t")
            mode, oid, stage = facts.split(" ")
            found[name] = GitFile(mode, oid if stage == "0" else "")
        return found

    def changed(self, before: str, after: str) -> Changes:
        """What differs between two trees or commits; `before` may be empty, for nothing."""
        if not before:
            return {name: (None, entry) for name, entry in self.tree(after).items()}
        found: Changes = {}
        parts = fields(self.run("diff-tree", "-r", "-z", "--no-renames", before, after))
        for facts, name in zip(parts[::2], parts[1::2], strict=True):
            old_mode, mode, old, new, _ = facts.removeprefix(":").split(" ")
            found[name] = (
                GitFile(old_mode, old) if old.strip("0") else None,
                GitFile(mode, new) if new.strip("0") else None,
            )
        return found

    def ignored(self, paths: Iterable[str]) -> set[str]:
        """Those of the paths that .gitignore leaves out."""
        return set(fields(self.ask("check-ignore", "-z", "--stdin", stdin=nul(paths)).out))

    def setting(self, key: str) -> str:
        """A setting of git's, empty where it is not set."""
        return os.fsdecode(self.ask("config", "--get", key).out).strip()

    def set(self, key: str, value: str) -> None:
        """Change a setting in the repository's own configuration."""
        self.ask("config", "--file", os.path.join(self.common, "config"), key, value)

    def person(self, name: str) -> Identity:
        """The person at this machine as git knows them, else by the user's name."""
        return Identity(self.setting("user.name") or name, self.setting("user.email") or f"{name}@localhost")

    # -- contents ------------------------------------------------------------------------------------------------

    def contents(self, wanted: Iterable[tuple[str, GitFile]]) -> list[bytes]:
        """The bytes that a checkout would write for each (path, entry), in their order."""
        pairs = list(wanted)
        asked = b"".join(f"{entry.oid} ".encode() + os.fsencode(path) + b"\n" for path, entry in pairs)
        out = self.run("cat-file", "--batch", "--filters", stdin=asked) if pairs else b""
        found, at = [], 0
        for _ in pairs:
            end = out.index(b"\n", at)
            size = int(out[at:end].split(b" ")[-1])
            found.append(out[end + 1 : end + 1 + size])
            at = end + size + 2
        return found

    def content(self, path: str, entry: GitFile | None) -> bytes:
        """The bytes of one file as a checkout would write them; none where there is no file."""
        return self.contents([(path, entry)])[0] if entry else b""

    def keep(self, path: str, data: bytes) -> str:
        """Put bytes into the repository as a blob; returns its name."""
        return self.text("hash-object", "-w", "--stdin", f"--path={path}", stdin=data)

    def put(self, kind: str, data: bytes) -> str:
        """Put an object into the repository, with just these bytes; returns its name."""
        return self.text("hash-object", "-t", kind, "-w", "--literally", "--stdin", stdin=data)

    def keep_files(self, paths: list[str]) -> dict[str, str]:
        """Put files of the work tree into the repository; returns their blobs' names by path."""
        listed = b"".join(os.fsencode(path) + b"\n" for path in paths)
        out = self.text("hash-object", "-w", "--stdin-paths", stdin=listed) if paths else ""
        return dict(zip(paths, out.split(), strict=True))

    def empty_tree(self) -> str:
        """The tree without files, which stands before the first commit."""
        return self.text("hash-object", "-t", "tree", "--stdin")

    def tree_with(self, tree: str, changes: Mapping[str, GitFile | None]) -> str:
        """A tree, or with '' none, with some of its files replaced, added, or taken out."""
        with tempfile.TemporaryDirectory() as aside:
            private = {"GIT_INDEX_FILE": os.path.join(aside, "index")}
            self.run("read-tree", tree or "--empty", env=private)
            self.run("update-index", "-z", "--index-info", stdin=_index_info(changes, self.zero), env=private)
            return self.text("write-tree", env=private)

    # -- committing ----------------------------------------------------------------------------------------------

    def commit(self, changes: Mapping[str, GitFile | None], message: str, author: Identity, at: dt.datetime) -> str:
        """Commit just these files on top of HEAD, by the machine for `author`; returns the commit, empty where nothing differs.

        Raises GitError, with branch and index as they were, where git cannot write.
        """
        for _ in range(3):
            parent = self.head()
            tree = self.tree_with(parent, changes)
            if parent and tree == self.text("rev-parse", f"{parent}^{{tree}}"):
                return ""
            new = self.commit_tree(tree, [parent] if parent else [], message, author, at)
            if self.land(new, parent):
                self.ask("maintenance", "run", "--auto", "--quiet")
                return new
        raise GitError(f"the branch keeps moving in {self.where}; try again.")

    def commit_tree(self, tree: str, parents: list[str], message: str, author: Identity, at: dt.datetime) -> str:
        """Write a commit, on no branch yet; it is never signed, as nobody is there to vouch for it."""
        given = [part for parent in parents for part in ("-p", parent)]
        when = at.astimezone().isoformat(timespec="seconds")
        env = dict[str, str]()
        for role, one in (("AUTHOR", author), ("COMMITTER", MACHINE)):
            env |= {f"GIT_{role}_NAME": one.name, f"GIT_{role}_EMAIL": one.email, f"GIT_{role}_DATE": when}
        arguments = ["commit-tree", "--no-gpg-sign", tree, *given, "-F", "-"]
        return self.text(*arguments, stdin=message.encode("utf-8", "replace"), env=env)

    def land(self, new: str, old: str) -> bool:
        """Move the branch from `old` to `new`, and with it what the index has of their differences.

        False, with the index as it was, where the branch has moved. The index comes first: had it stayed behind a branch
        that has moved, a person's next commit would take everything back. What is cut off in between
        is noted, for `unstage_unlanded`.
        """
        changes = self.changed(old, new)
        ours = self._staged_as(changes, {path: before for path, (before, _) in changes.items()})
        subject = self.text("log", "-1", "--format=%s", new)
        note = os.path.join(self.folder, _STAGED)
        safe.write(note, f"{new} {old}\n".encode())
        self.stage({path: changes[path][1] for path in ours})
        done = self.ask("update-ref", "-m", f"filemem: {subject}", "HEAD", new, old or self.zero)
        if done.code:
            self.stage({path: changes[path][0] for path in ours})
        os.unlink(note)
        if done.code and self.head() == old:
            raise GitError(reason(done) + ".")
        return not done.code

    def unstage_unlanded(self) -> None:
        """Take back what a commit had staged when it was cut off before its branch moved: the index is a person's again.

        What it was about is committed anew, from what its job has noted.
        """
        note = os.path.join(self.folder, _STAGED)
        if not os.path.lexists(note):
            return
        new, _, old = safe.read(note, 200).decode(errors="replace").rstrip("\n").partition(" ")
        if self.head() != new and not self.ask("cat-file", "-e", f"{new}^{{commit}}").code:
            changes, head = self.changed(old, new), self.tree(self.head())
            ours = self._staged_as(changes, {path: after for path, (_, after) in changes.items()})
            self.stage({path: head.get(path) for path in ours})
        os.unlink(note)

    def _staged_as(self, changes: Changes, wanted: Mapping[str, GitFile | None]) -> list[str]:
        """Those of the changed paths that the index has as wanted."""
        staged = self.index(*(changes if len(changes) < 100 else ()))
        return [path for path in changes if staged.get(path) == wanted[path]]

    def stage(self, changes: Mapping[str, GitFile | None]) -> None:
        """Set entries of the person's index; raises GitError where another git holds it for longer than a second."""
        if not changes:
            return
        for wait in (0.05, 0.2, 0.8, 0.0):
            done = self.ask("update-index", "-z", "--index-info", stdin=_index_info(changes, self.zero))
            if not done.code:
                return
            if "index.lock" not in done.err:
                raise GitError(reason(done) + ".")
            time.sleep(wait)
        lock = os.path.join(self.folder, "index.lock")
        raise GitError(f"another git is at work here; where none is, delete {lock}.")

    def expire_reflogs(self, timeout: float) -> None:
        """Empty every reflog, as before a prune. Git finds them by its own folder, where it reads no setting that runs."""
        every = ("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
        self.run(*every, env={"GIT_COMMON_DIR": self.common}, timeout=timeout)

    # -- merging -------------------------------------------------------------------------------------------------

    def merge_trees(self, ours: str, theirs: str) -> Merged:
        """Merge two commits without touching index or work tree; what conflicts has both sides between marks in the tree."""
        done = self.ask(
            *("-c", "merge.directoryRenames=false", "-c", "merge.conflictStyle=merge"),
            *("merge-tree", "--write-tree", "-z", "--messages", "--allow-unrelated-histories", ours, theirs),
        )
        if done.code not in (0, 1):
            raise GitError(reason(done) + ".")
        parts = os.fsdecode(done.out).split("\0")
        stages: dict[str, dict[int, GitFile]] = {}
        at = 1
        while at < len(parts) and "\t" in parts[at]:
            facts, _, path = parts[at].partition("\t")
            mode, oid, stage = facts.split(" ")
            stages.setdefault(path, {})[int(stage)] = GitFile(mode, oid)
            at += 1
        return Merged(parts[0], stages, list(_messages(parts[at:])))


def find(path: str, trust: Trust) -> Repository | None:
    """The repository in whose work tree `path` lies or would lie, None where there is none.

    Raises GitError, Untrusted where the person has not agreed to it. Without a `.git` in any folder above, git is not even
    started.
    """
    place = git_place(path)
    if not place:
        return None
    sealed.require(place, trust)
    return opened(place)


def git_place(path: str) -> str:
    """The nearest `.git` in or above a folder, empty where there is none."""
    above = os.path.realpath(path)
    while not os.path.lexists(os.path.join(above, ".git")):
        if above == os.path.dirname(above):
            return ""
        above = os.path.dirname(above)
    return os.path.join(above, ".git")


def opened(place: str) -> Repository | None:
    """The repository of a `.git`, None where it is none with a work tree; raises GitError."""
    top = os.path.dirname(place)
    here = Git(top, {"GIT_CEILING_DIRECTORIES": os.path.dirname(top)})
    wanted = ("--show-object-format", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir")
    done = here.ask("rev-parse", *wanted)
    if done.code:
        if "not a git repository" in done.err or "must be run in a work tree" in done.err:
            return None
        raise GitError(reason(done) + ".")
    names, where, folder, common = os.fsdecode(done.out).removesuffix("\n").split("\n")
    if where != top:
        raise GitError(
            f"the configuration of {place} names another work tree, {one_line(where)}; take core.worktree out."
        )
    return Repository(top, folder, common, "0" * {"sha1": 40, "sha256": 64}[names])


def merge_file(ours: bytes, base: bytes | None, theirs: bytes, *, marks: bool = False) -> bytes | None:
    """Both changes to `base` in one text; where they meet in a line, both between marks, None without these.

    None also where the bytes are no text, or so many that only git can compare them, and it finds that they meet.
    """
    with tempfile.TemporaryDirectory() as aside:
        names = [os.path.join(aside, name) for name in ("ours", "base", "theirs")]
        for name, data in zip(names, (ours, base or b"", theirs), strict=True):
            with open(name, "wb") as file:
                file.write(data)
        done = Git(aside, {"GIT_CEILING_DIRECTORIES": os.path.dirname(aside)}).ask("merge-file", "-p", *names)
    return done.out if done.code == 0 else weaving.merge(ours, base, theirs, marks=marks) if done.code < 128 else None


def _index_info(changes: Mapping[str, GitFile | None], zero: str) -> bytes:
    """Lines for `git update-index --index-info`, deletions first, so that a folder can take a file's place."""
    gone = [f"0 {zero}\t{path}" for path, entry in changes.items() if entry is None]
    return nul([*gone, *(f"{entry.mode} {entry.oid}\t{path}" for path, entry in changes.items() if entry)])


def _messages(parts: list[str]) -> Iterator[tuple[list[str], str]]:
    """(paths, sentence) of each conflict that merge-tree tells of; merged files that need nobody are left out."""
    at = 1 if parts and not parts[0] else 0
    while at < len(parts) and parts[at].isdigit():
        count = int(parts[at])
        paths, kind, words = parts[at + 1 : at + 1 + count], parts[at + 1 + count], parts[at + 2 + count]
        if kind.startswith("CONFLICT"):
            yield paths, words.strip()
        at += count + 3
