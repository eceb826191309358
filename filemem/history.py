"""A user's memories in git: a commit for each job, the log, the memories of a day, a commit taken back, several machines.

Git never stands in the way of a memory: what could not be committed goes with a later job. A job notes in `.filemem/jobs/` what
differs from the last commit before it begins: that is a person's, and waits for their commit. What differs beyond the note of a
job that was cut off is the job's, and the next one commits it; an undo or a sync that was cut off does the rest when it is given
again. Where a person has uncommitted edits in a file that is to change, nothing is written.

Git is run so that nothing that lies in a repository can have it run or send anything, in one that filemem was told to set up, or
that a person has agreed to on this machine (`trust`). What the work trees of a repository share git takes from `GIT_COMMON_DIR`:
a temporary folder with links to the refs and logs, attributes that name no driver, and of the configuration just the format. Who
the person is and where the remotes are comes by the environment; hooks, editors, signing and helpers are off there. What a
person wants git to use they say in their global configuration.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import functools
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from filemem.errors import (
    Busy,
    Changed,
    FilememError,
    NotFound,
    Problem,
    Refused,
    in_words,
)
from filemem.files import journal, safe
from filemem.files.folder import (
    BOOKKEEPING,
    Folder,
    StoreFolder,
    is_temporary_name,
    numbered,
)
from filemem.files.memory import ARCHIVE, archived, live
from filemem.files.trust import (
    MARK,
    VARIABLE,
    Trust,
    agree,
    git_folder,
    git_place,
    text_in,
)
from filemem.text.plain import counted, first_few, one_line

LOCAL, NETWORK = 60.0, 300.0  # seconds that a command may take
_OFF = {
    **dict.fromkeys(
        ("core.fsmonitor", "submodule.recurse", "fetch.recurseSubmodules"), "false"
    ),
    **dict.fromkeys(
        ("log.showSignature", "log.follow", "gc.autoDetach", "maintenance.autoDetach"),
        "false",
    ),
    **{
        "core.hooksPath": os.devnull,
        "protocol.ext.allow": "never",
        "i18n.commitEncoding": "UTF-8",
    },
}
# How this machine reaches others; the rest of GIT_* speaks of some other repository, commit or person.
_KEPT = re.compile(r"GIT_(SSH|SSL|PROXY|EXEC_PATH$|CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)$)")
_SET = {
    **{
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_PAGER": "cat",
    },
    **{"GIT_EDITOR": "true", "SSH_ASKPASS_REQUIRE": "never"},
    **{"GIT_AUTHOR_NAME": "filemem", "GIT_AUTHOR_EMAIL": "filemem@localhost"},
    **{"GIT_COMMITTER_NAME": "filemem", "GIT_COMMITTER_EMAIL": "filemem@localhost"},
}
# What of a repository's own configuration counts, and what of it says how it is to be read.
_INERT = re.compile(
    r"(?s)user\.(name|email)|(gc|maintenance)\.auto|remote\..*\.(url|pushurl|fetch)|branch\..*\.(remote|merge)"
)
_FORMAT = (
    "core.repositoryformatversion",
    "extensions.objectformat",
    "extensions.refstorage",
)
_LINKS = (
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
MACHINE = "filemem <filemem@localhost>"
LOCK = "filemem.lock"  # in the git directory, as is the next
PURGED = "filemem-purged"  # the old names of commits that were rewritten so as to forget, and would bring that back
_UNFINISHED = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
}


class GitError(FilememError):
    """Git could not do what it was asked, or is missing; the sentence says why in git's words."""


class Untrusted(GitError):
    """A repository at a `place`, with a mark, that the person has not agreed to."""

    def __init__(self, place: str, content: Mapping[str, str]) -> None:
        remedy = f"if it is yours, run filemem init --git, or say so with --trust or {VARIABLE}"
        super().__init__(
            f"{one_line(place)} was not set up on this machine, so git is not used there; {remedy}."
        )
        self.about, self.what = (
            (place, content),
            f"the git repository {one_line(place)}",
        )


class GitDone(NamedTuple):
    """What a command printed; `why` it failed, for the end of a sentence."""

    code: int
    out: bytes
    why: str


def spec(path: str) -> str:
    """A pathspec that means just this path, or what is under it, from the top of the repository; all for ''."""
    return f":(top,literal){path}" if path else ":(top)"


def nul(items: Iterable[str]) -> bytes:
    """Items for git's standard input, each ended by NUL."""
    return b"".join(os.fsencode(item) + b"\0" for item in items)


def fields(out: bytes) -> list[str]:
    """The items of git's output, each ended by NUL."""
    return os.fsdecode(out).split("\0")[:-1]


class Repository:
    """One work tree with its repository; paths are relative to `where`, the top of the work tree."""

    def __init__(self, place: str) -> None:
        """The repository of a `.git`, which may not be there yet; the linked work trees of one have the folder `common` in
        common."""
        self.where, self.folder = os.path.dirname(place), git_folder(place)
        self.common = os.path.abspath(
            os.path.join(self.folder, text_in(self.folder, "commondir"))
        )
        self._env = dict[str, str]()
        if not os.path.lexists(place):
            return
        listing, config = (
            ("config", "--file", "-", "--no-includes", "--list", "-z"),
            text_in(self.common, "config"),
        )
        entries = fields(
            self.ask(
                *listing, stdin=os.fsencode(config), env={"GIT_DIR": os.devnull}
            ).out
        )
        said = {
            key: value for key, _, value in (entry.partition("\n") for entry in entries)
        }
        aside = self.aside = tempfile.mkdtemp(
            prefix="filemem-"
        )  # a process that is killed leaves it to the system
        weakref.finalize(self, shutil.rmtree, aside, ignore_errors=True)
        os.mkdir(os.path.join(aside, "info"))
        form = "[{}]\n\t{} = {}\n".format
        lines = [
            form(*key.split("."), said[key])
            for key in _FORMAT
            if said.get(key, "").isalnum()
        ]
        for name, text in (
            ("config", "".join(lines)),
            ("info/attributes", _ATTRIBUTES),
        ):
            with open(os.path.join(aside, name), "w", encoding="utf-8") as file:
                file.write(text)
        for name in _LINKS:
            os.symlink(os.path.join(self.common, name), os.path.join(aside, name))
        told = [
            *((key, value) for key, value in said.items() if _INERT.fullmatch(key)),
            *_OFF.items(),
        ]
        for number, (key, value) in enumerate(told):
            self._env |= {
                f"GIT_CONFIG_KEY_{number}": key,
                f"GIT_CONFIG_VALUE_{number}": value,
            }
        self._env |= {
            "GIT_CONFIG_COUNT": str(len(told)),
            "GIT_DIR": self.folder,
            "GIT_WORK_TREE": self.where,
        }
        self._env |= {
            "GIT_COMMON_DIR": aside,
            "GIT_OBJECT_DIRECTORY": os.path.join(self.common, "objects"),
        }

    # -- running git ---------------------------------------------------------------------------------------------

    def start(
        self, *arguments: str, env: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        """Start a command; raises GitError where git is missing."""
        foreign = ("SSH_ASKPASS", "LANGUAGE", "LC_MESSAGES")
        own = {
            k: v
            for k, v in os.environ.items()
            if k not in foreign and (not k.startswith("GIT_") or _KEPT.match(k))
        }
        try:
            return subprocess.Popen(
                ["git", "-C", self.where, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**own, **_SET, **self._env, **(env or {})},
                start_new_session=True,  # no terminal to ask at
                umask=0o077,
            )
        except OSError as error:
            what = f"git is not installed, or cannot be started ({error.strerror})"
            raise GitError(f"{what}; install it, then try again.") from None

    def ask(
        self,
        *arguments: str,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        timeout: float = LOCAL,
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
                    raise GitError(
                        f"{what}; try again, or run it by hand in {self.where}."
                    ) from None
                raise
        lines = [
            line.strip()
            for line in err.decode(errors="replace").splitlines()
            if not line.startswith("hint:")
        ]
        told = [
            line.partition(": ")[2]
            for line in lines
            if line.startswith(("fatal: ", "error: "))
        ]
        words = [
            *told[:1],
            *filter(None, lines[-1:]),
            f"exit code {process.returncode}",
        ][0]
        return GitDone(
            process.returncode, out, f"git: {one_line(words, 300).rstrip('.')}"
        )

    def run(
        self,
        *arguments: str,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        timeout: float = LOCAL,
    ) -> bytes:
        """What a command prints; raises GitError where it fails. A file that another git has locked is waited for."""
        for wait in (0.05, 0.2, 0.8, 2.0, 0.0):
            done = self.ask(*arguments, stdin=stdin, env=env, timeout=timeout)
            if not done.code:
                return done.out
            if "File exists" not in done.why:
                raise GitError(f"{done.why}.")
            time.sleep(wait)
        raise GitError(
            f"{done.why}; if no other git is at work here, delete that lock."
        )

    def text(
        self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None
    ) -> str:
        """What a command prints, as text without its last newline; raises GitError where it fails."""
        return os.fsdecode(self.run(*arguments, stdin=stdin, env=env)).removesuffix(
            "\n"
        )

    # -- state ---------------------------------------------------------------------------------------------------

    def head(self, name: str = "HEAD") -> str:
        """The commit that HEAD, or another name, means; empty where there is none."""
        found = self.ask(
            "rev-parse", "--quiet", "--verify", "--end-of-options", f"{name}^{{commit}}"
        ).out
        return found.decode().strip()

    def branch(self) -> str:
        """The branch that HEAD stands on; empty where it is detached."""
        return os.fsdecode(
            self.ask("symbolic-ref", "--quiet", "--short", "HEAD").out
        ).strip()

    def unfinished(self) -> str:
        """Why nothing can be committed now, as a clause with its remedy; empty if it can."""
        for name, what in _UNFINISHED.items():
            if os.path.lexists(os.path.join(self.folder, name)):
                return f"a {what} is in progress in {self.where}; finish it with git {what} --continue"
        remedy = "finish a rebase with git rebase --continue, or go back to a branch with git switch"
        return "" if self.branch() else f"HEAD is detached in {self.where}; {remedy}"

    def setting(self, key: str) -> str:
        """A setting of git's, empty where it is not set."""
        return os.fsdecode(self.ask("config", "--get", key).out).strip()

    def alone(self) -> contextlib.AbstractContextManager[None]:
        """Keep other processes of filemem from committing here meanwhile; does not nest. Raises Busy."""
        return safe.lock(os.path.join(self.folder, LOCK), 30.0)

    def staged(self) -> set[str]:
        """The paths that are staged."""
        return {*fields(self.run("diff", "--cached", "--name-only", "-z"))}

    def tree(self, treeish: str, path: str = "") -> dict[str, str]:
        """The files in a tree, all or under `path`, each with its mode and its blob; none before the first commit."""
        under = ["--", path] if path else []
        out = (
            self.run("ls-tree", "-r", "-z", "--full-tree", treeish, *under)
            if treeish
            else b""
        )
        return {
            name: facts
            for facts, _, name in (line.partition("\t") for line in fields(out))
        }

    def contents(self, files: Iterable[str]) -> list[bytes]:
        """The bytes of files, each by its mode and blob as a tree has them; none for ''."""
        names, at, found = [file.rpartition(" ")[2] for file in files], 0, list[bytes]()
        out = self.run(
            "cat-file", "--batch", stdin="\n".join(filter(None, names)).encode()
        )
        for name in names:
            start = out.index(b"\n", at) + 1 if name else at
            size = int(out[at:start].rpartition(b" ")[2]) if name else 0
            found.append(out[start : start + size])
            at = start + size + bool(name)
        return found

    def commit(
        self, paths: Iterable[str], message: str, at: dt.datetime, author: str = MACHINE
    ) -> None:
        """Commit just these files as they are on disk, also those that git does not know, whatever else is staged; unsigned."""
        listed = ("--pathspec-from-file=-", "--pathspec-file-nul")
        how = "--only --quiet --no-verify --no-gpg-sign --no-status --cleanup=verbatim --allow-empty".split()
        env, given = {"GIT_LITERAL_PATHSPECS": "1", **_dated(at)}, [*paths]
        known = {*fields(self.run("ls-files", "-z"))}
        unknown = nul(path for path in given if path not in known)
        try:
            if unknown:
                self.run(
                    "add", "--intent-to-add", "--force", *listed, stdin=unknown, env=env
                )
            self.run(
                "commit",
                *how,
                "--author",
                author,
                "-m",
                message,
                *listed,
                stdin=nul(given),
                env=env,
            )
        except GitError:
            self.ask(
                "rm", "--cached", "--force", "--quiet", *listed, stdin=unknown, env=env
            )
            raise


def _dated(at: dt.datetime) -> dict[str, str]:
    """The environment in which a commit is of a moment."""
    return dict.fromkeys(
        ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"),
        at.astimezone().isoformat(timespec="seconds"),
    )


# -- one user's memories in one -----------------------------------------------------------------------------------------

CUT_OFF = "Keep what jobs had written before git could commit it"  # the subject of such a commit
# Bookkeeping that cannot be rebuilt: logs by line, to which their modules only add.
LOGS = tuple(
    f"{BOOKKEEPING}/{log}"
    for log in ("recalls.log", "imports.jsonl", "consolidated.jsonl", "compacted.log")
)
IGNORE = (f"**/{BOOKKEEPING}/*", *(f"!**/{log}" for log in LOGS), f"{safe.TEMPORARY}*")
ATTRIBUTES = (
    "**/sessions/** merge=union",
    *(f"**/{log} merge=union" for log in LOGS),
    "* -text",
)
TRIES = 6  # pushes that another machine may come before
NOTES = "jobs"  # the folder in the bookkeeping with a note for each job that is at work
_STATUS = "status --porcelain=v2 -z --untracked-files=all --no-renames --ignore-submodules=all --".split()
_LOG_FORMAT = "--format=%H%x1f%P%x1f%aI%x1f%an <%ae>%x1f%s%x1f%(trailers:only,unfold)"
# What only grows by lines: that both sides added some is no news.
_GROWING = re.compile(r"(?:^|/)(?:profile\.md|(?:summaries|sessions|\.filemem)/.+)$")
# For a remote on this machine, whose hooks and settings would run here.
_INERT_RECEIVER = (
    "git -c core.hooksPath=/dev/null -c core.alternateRefsCommand=true -c receive.autogc=false "
    "-c receive.denyCurrentBranch=refuse receive-pack"
)


class Move(NamedTuple):
    """What a merge does to one file: that which is `here`, empty for a new one, is to be `there`, empty where it goes, and to
    become `new` from `old`, which are as in a tree."""

    here: str
    there: str
    old: str
    new: str


def message(subject: str, trailers: Mapping[str, str]) -> str:
    """A commit's message: one line, then its trailers."""
    lines = [
        f"{key}: {one_line(value, 500)}" for key, value in trailers.items() if value
    ]
    return (
        "\n".join(
            [
                one_line(subject, 72) or "Change memories",
                *([""] if lines else []),
                *lines,
            ]
        )
        + "\n"
    )


class History:
    """One user's memories in the repository that holds them, if any."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self._before: dict[
            str, str
        ] = {}  # the `changes` before the job that is at work
        self._fault: Exception | None = None  # why git could not be used for it

    # -- where ---------------------------------------------------------------------------------------------------

    @functools.cached_property
    def repository(self) -> Repository:
        """The repository in which the user's folder lies, set up for filemem or not. Raises FilememError where there is none,
        Untrusted where the person has not agreed to it. Without a `.git` in any folder above, git is not even started."""
        if not (place := git_place(self.folder.root)):
            raise FilememError(
                f"{self.folder.root} is not in a git repository; filemem init --git creates one."
            )
        content = {"mark": text_in(git_folder(place), MARK)[:99]}
        if not self.folder.trust.known(place, content):
            raise Untrusted(place, content)
        if self.folder.trust.given:
            agree(place, self.folder.trust)
        return Repository(place)

    @functools.cached_property
    def inside(self) -> str:
        """The user's folder as a path in the repository; empty where it is the top."""
        return self.folder.root.removeprefix(self.repository.where).strip("/")

    @functools.cached_property
    def home(self) -> str:
        """The folder that is set up for filemem, the user's own or the store; empty where neither is. Raises GitError."""
        for folder in (self.folder.root, self.folder.store):
            if ATTRIBUTES[0] in text_in(
                folder, ".gitattributes"
            ).splitlines() and git_place(self.folder.root):
                return (
                    folder
                    if f"{folder}/".startswith(f"{self.repository.where}/")
                    else ""
                )
        return ""

    def own(self, path: str) -> str:
        """A path in the repository as one of the user's."""
        return path.removeprefix(f"{self.inside}/")

    def require(self) -> Repository:
        """The repository, where something can be committed now; raises FilememError otherwise."""
        if not self.home:
            raise FilememError(
                f"{self.repository.where} is not set up for filemem; run filemem init --git first."
            )
        if unfinished := self.repository.unfinished():
            raise FilememError(f"{unfinished}; then try again.")
        return self.repository

    def problems(self) -> list[Problem]:
        """Why git is not used here, and each memory that git has and the disk has under no name."""
        try:
            if not self.home:
                return []
            changes = self.changes()
            gone = {
                path: blob
                for path, blob in changes.items()
                if blob and not self._stands(path)
            }
            # Under a new name it is none that is missing.
            new = "\n".join(
                os.path.join(self.folder.root, path)
                for path, blob in changes.items()
                if gone and not blob
            )
            hashed = self.repository.ask(
                "hash-object", "--no-filters", "--stdin-paths", stdin=os.fsencode(new)
            ).out
            gone = {
                path: blob
                for path, blob in gone.items()
                if os.fsencode(blob) not in hashed.split()
            }
        except FilememError as error:
            what, _, remedy = str(error).rstrip(".").rpartition("; ")
            return [
                Problem(
                    ".git",
                    1,
                    what or remedy,
                    remedy if what else "put right what git names",
                )
            ]
        what, remedy = (
            "git has this memory and the disk has not",
            "git checkout -- PATH brings it back",
        )
        return [
            Problem(path, 1, what, f"{remedy}, git commit lets it go") for path in gone
        ]

    def changes(self) -> dict[str, str]:
        """The memories and logs that differ from the last commit, each with the blob that it has there; empty for a new one."""
        return {
            self.own(path): blob
            for path, blob in _changes(self.repository, self.inside).items()
        }

    def _stands(self, path: str) -> bool:
        return os.path.lexists(os.path.join(self.folder.root, path))

    def new(self) -> list[str]:
        """The memories that git does not have yet; none where it may not be asked."""
        with contextlib.suppress(FilememError):
            return (
                [path for path, blob in self.changes().items() if not blob]
                if self.home
                else []
            )
        return []

    # -- commits -------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """Commit what jobs that were cut off have left, and note what differs then while one goes on; never raises for git's
        sake."""
        try:
            self.catch_up()
        except (FilememError, OSError) as error:
            self._fault = error
        with (
            self.noted() if not self._fault and self.home else contextlib.nullcontext()
        ):
            yield

    def catch_up(self) -> None:
        """Commit what jobs that were cut off have left, as their notes tell. Raises FilememError, and the notes stay."""
        place = self.folder.bookkeeping(NOTES)
        for note in (
            sorted(os.listdir(place)) if self.home and os.path.isdir(place) else ()
        ):
            with (
                contextlib.suppress(Busy),
                safe.lock(f"{place}/{note}", 0),
            ):  # else it is at work
                noted = next(journal.values(f"{place}/{note}"), None)
                if isinstance(noted, dict):  # else it had not begun
                    self._before = noted
                    with self.repository.alone():
                        self.commit(
                            None, message(CUT_OFF, {}), dt.datetime.now().astimezone()
                        )
                safe.delete(f"{place}/{note}")

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        """Note what differs from the last commit while files are written; where that is cut off, or not committed, it stays."""
        note = f"{self.folder.bookkeeping(NOTES)}/{os.urandom(8).hex()}"
        with contextlib.ExitStack() as held:
            with contextlib.suppress(FilememError, OSError):
                self._before = self.changes()
                safe.make_folder(os.path.dirname(note))
                held.enter_context(safe.lock(note, 0))
                with open(note, "w", encoding="utf-8") as file:
                    json.dump(self._before, file)
            yield
            with contextlib.suppress(FilememError, OSError):
                if not self._fault:
                    safe.delete(note)

    def record(
        self,
        subject: str,
        paths: Iterable[str],
        trailers: Mapping[str, str],
        at: dt.datetime,
    ) -> str:
        """Commit just what one job wrote, moved or deleted, with the logs; `trailers` are Job, Session, Source. Returns a
        sentence for the person where something waits for them, or nothing can be committed now; never raises for git's sake."""
        try:
            if self._fault:
                raise self._fault
            if not self.home:
                return ""
            with self.repository.alone():
                left = self.commit(paths, message(subject, trailers), at)
        except (FilememError, OSError) as error:
            self._fault = error
            told = isinstance(error, Untrusted) and not self.folder.trust.first(
                *error.about
            )
            return (
                "" if told else f"not committed yet: {in_words(error)}"
            )  # or it is as the person wants it
        return (
            f"left for you to commit, as you had changed it too: {first_few(left)}"
            if left
            else ""
        )

    def commit(
        self, paths: Iterable[str] | None, words: str, at: dt.datetime
    ) -> list[str]:
        """Commit what differs of these paths and the logs, or of all, for who has the repository `alone`; returns what waits for
        the person, who has staged it, or had changed it before the job and has not committed it since. What the job has deleted
        waits for nobody; of no paths at all the commit is empty."""
        if unfinished := self.repository.unfinished():
            raise GitError(f"{unfinished}.")
        changes, theirs = self.changes(), {*map(self.own, self.repository.staged())}
        theirs |= {
            path for path, blob in changes.items() if self._before.get(path) == blob
        }
        given = changes if paths is None else dict.fromkeys([*paths, *LOGS])
        wanted = [path for path in given if path in changes]
        left = [
            path
            for path in wanted
            if path in theirs
            and path not in LOGS
            and (paths is None or self._stands(path))
        ]
        mine = [path for path in wanted if path not in left]
        moved = [
            one
            for path in mine
            if not self._stands(path)
            for one in (live(path), archived(path))
        ]
        mine += [
            path for path in moved if path not in changes and self._stands(path)
        ]  # which git may ignore
        if mine or paths == []:
            self.repository.commit(
                [os.path.join(self.inside, path) for path in mine], words, at
            )
        return left


def _changes(repository: Repository, *inside: str) -> dict[str, str]:
    """What differs from the last commit under some paths and is to be kept, with its blob there; paths of the repository."""
    found = dict[str, str]()
    for line in fields(repository.run(*_STATUS, *map(spec, inside))):
        *facts, path = line.split(" ", {"?": 1, "u": 10}.get(line[0], 8))
        *folders, name = path.removeprefix(f"{inside[0]}/").split(
            "/"
        )  # where that lies may be hidden
        odd = (
            not name
            or "\n" in path
            or any(part[0] == "." for part in folders)
            or is_temporary_name(name)
        )
        # A memory, settings, or a log that git should have, rather than an editor's, or another repository.
        if path.endswith(LOGS) or name in (".gitignore", ".gitattributes") or not odd:
            found[path] = facts[6] if len(facts) > 1 and facts[6].strip("0") else ""
    return found


def ready(repository: Repository, moves: list[Move]) -> list[Move]:
    """What is left to do of some moves, new files first, what goes last, so that nothing is ever missing. Raises FilememError
    where uncommitted edits are in the way, or a path or kind of file has no use for memories and could lead elsewhere."""
    todo, met, staged = list[Move](), list[str](), repository.staged()
    for one in moves:
        path = one.there or one.here
        wrong = any(
            part in ("", ".", "..") or part.lower() == ".git"
            for part in path.split("/")
        )
        if (
            wrong
            or not f"{one.new or one.old} ".startswith(("100644", "100755"))
            or any(ord(c) < 32 for c in path)
        ):
            what = f"{one_line(path)} is not a regular file with a plain name"
            raise FilememError(f"{what}; bring it in by hand, with git pull.")
        here, there = (_on_disk(repository, path) for path in one[:2])
        if _is(there, one.new) and (here is None or one.here == one.there):
            continue
        free = _is(here, one.old) and (there is None or one.here == one.there)
        if not (free or path.endswith(LOGS)) or {one.here, one.there} & staged:
            met.append(one_line(path))
        todo.append(one)
    if met:
        raise FilememError(
            f"your uncommitted changes in {first_few(met)} are in the way; commit them, then try again."
        )
    return sorted(todo, key=lambda one: (bool(one.here), not one.there))


def _on_disk(repository: Repository, path: str) -> bytes | None:
    """What stands at a path of the repository, None for nothing; raises Refused for what is behind a link, or no plain file."""
    place = f"{repository.where}/{path}"
    if path and safe.through_link(place):
        what = f"the path to {one_line(path)} goes through a symbolic link"
        raise Refused(f"{what}, which is not followed; delete that link.")
    return safe.read(place) if path and os.path.lexists(place) else None


def _is(data: bytes | None, file: str) -> bool:
    """Are these the bytes of a file in a tree, or is neither there?"""
    if data is None or not file:
        return data is None and not file
    hashed, name = b"blob %d\0%b" % (len(data), data), file.rpartition(" ")[2]
    return (
        hashlib.new("sha1" if len(name) == 40 else "sha256", hashed).hexdigest() == name
    )


def carry_out(where: str, one: Move, data: bytes) -> None:
    """Make a move at `where`, to a file with `data`; raises Changed where a person has just saved what it meets."""
    here, there = (f"{where}/{path}" for path in one[:2])
    if not one.there:
        safe.delete_if(here, lambda at: _is(safe.read(at), one.old))
        safe.sync_folder(os.path.dirname(here))
        return
    log = one.there.endswith(LOGS)

    def change(now: bytes) -> bytes | None:
        return data if _is(now, one.old) else _with_lines(now, data) if log else None

    safe.make_folder(os.path.dirname(there))
    if not one.here and not os.path.lexists(there):
        safe.create(there, data)
        return
    if one.here not in ("", one.there):
        safe.rename_new(here, there)
        safe.sync_folder(os.path.dirname(there))
        safe.sync_folder(os.path.dirname(here))
    if not (safe.edit(there, change) or log or one.old == one.new):
        raise Changed(f"{one.there} has just been changed; commit it, then try again.")


def _with_lines(text: bytes, more: bytes) -> bytes:
    """A log with the lines of another that it has not."""
    known = {*text.splitlines(keepends=True)}
    lines = [line for line in more.splitlines(keepends=True) if line not in known]
    return b"".join([text, b"\n" * (text[-1:] not in (b"", b"\n")), *lines])


# -- three trees made one ------------------------------------------------------------------------------------------


def merge(
    repository: Repository,
    base: str,
    ours: str,
    theirs: str,
    inside: str = "",
    *,
    union: bool,
) -> tuple[list[Move], dict[str, str]]:
    """What has changed from `base` to `theirs` under `inside`, made in `ours`; and where they met, by path: what could not be
    merged, or was deleted on one side and changed on the other, is kept, and with `union` both versions of a line. An
    edit and a move into the archive come together: git would take two short facts for one that was renamed."""
    trees = [repository.tree(tree, inside) for tree in (base, ours, theirs)]
    twice = {
        name
        for tree in trees
        for path in tree
        if (name := _name(path)) != path and name in tree
    }
    named = [
        {path if _name(path) in twice else _name(path): path for path in tree}
        for tree in trees
    ]
    moves, met = list[Move](), dict[str, str]()
    for name in sorted({*named[0], *named[1], *named[2]}):
        was, here, there = (one.get(name, "") for one in named)
        old, mine, new = (
            tree.get(path, "")
            for tree, path in zip(trees, (was, here, there), strict=True)
        )
        if (there, new) in ((was, old), (here, mine)):
            continue  # changed on this side alone, or alike
        if mine and new:
            (one, meet), place = (
                _both(repository, mine, old, new, union=union),
                there if here == was else here,
            )
            moves += (
                [Move(here, place, mine, one or mine)]
                if (here, mine) != (place, one or mine)
                else []
            )
            if union and not one:
                free = next(
                    free
                    for free in numbered(place)
                    if not any(free in tree for tree in trees)
                )
                moves.append(Move("", free, "", new))
                met[place] = (
                    f"was changed on both machines and is no text; the other's is {one_line(free)} now."
                )
            elif not one or (meet and not _GROWING.search(place)):
                met[place] = (
                    "was changed on both machines in the same lines; it now holds both versions."
                )
        elif old == mine:  # taken out or new on the other side
            moves.append(Move(here, there, mine, new))
        elif old != new:
            met[here or there] = (
                "deleted on one machine and changed on the other; it is kept."
            )
            moves += [Move("", there, "", new)] if new and union else []
    return moves, met


def _name(path: str) -> str:
    """What a memory is called, in the archive or not."""
    return f"/{path}".replace(f"/{ARCHIVE}/", "/", 1)[1:]


def _both(
    repository: Repository, mine: str, old: str, new: str, *, union: bool
) -> tuple[str, bool]:
    """Two changes of a file in one, empty for what is no text; and whether they meet in a line. Both lines stand there then, with
    `union`, else it is empty. Lines between any two keep changes of neighbouring lines apart, which to git meet."""
    if old in (mine, new) or mine == new:
        return new if mine == old else mine, False
    names = [
        os.path.join(repository.aside, name) for name in ("ours", "base", "theirs")
    ]
    for name, text in zip(names, repository.contents((mine, old, new)), strict=True):
        with open(name, "wb") as file:
            file.write(
                text.replace(b"\n", b"\n\x1ea\n\x1eb\n\x1ec\n")
            )  # git takes three lines of signs for none
    done = repository.ask("merge-file", "-p", *names)
    if meet := bool(done.code) and union:
        done = repository.ask("merge-file", "-p", "--union", *names)
    text = re.sub(rb"\x1e[abc]\n", b"", done.out)
    blob = repository.text("hash-object", "-w", "--stdin", stdin=text)
    return "" if done.code else f"{mine[:6]} blob {blob}", meet


def _bring_in(
    history: History, theirs: str, subject: str, at: dt.datetime
) -> tuple[str, list[str]]:
    """Bring files and branch to another machine's commit, or one that holds both, for who has the repository `alone`; returns it,
    with a sentence on each file in which they met. Raises FilememError, with nothing written, as `ready` does."""
    repository, ours = history.repository, history.repository.head()
    base = repository.ask("merge-base", ours, theirs).out.decode().strip()
    if base == theirs:
        return ours, []
    if (
        ours
        and not base
        and ATTRIBUTES[0].encode()
        not in repository.ask("show", f"{theirs}:.gitattributes").out
    ):
        raise FilememError(
            "the remote holds something other than memories; name another remote."
        )
    moves, met = merge(repository, base, ours, theirs, union=True)
    store = StoreFolder(history.folder.store, history.folder.trust)
    places = (f"{repository.where}/{one.there or one.here}" for one in moves)
    tops = {os.path.relpath(place, store.root).split("/")[0] for place in places}
    users = [History(store.folder(name)) for name in sorted({*store.users()} & tops)]
    with contextlib.ExitStack() as held:
        for user in users:
            held.enter_context(user.folder.locked())
        todo = ready(repository, moves)
        for user in users:
            held.enter_context(user.noted())
        for step, data in zip(
            todo, repository.contents(step.new for step in todo), strict=True
        ):
            carry_out(repository.where, step, data)
        words = message(subject, {"Job": "sync"})
        repository.commit(
            {path for one in moves for path in one[:2] if path}, words, at
        )
        made, tree = repository.text("rev-parse", "HEAD", "HEAD^{tree}").split("\n")
        new = theirs
        if base != ours:
            parents = [
                part for parent in (ours, theirs) if parent for part in ("-p", parent)
            ]
            how = ("--no-gpg-sign", tree, *parents, "-m", words.rstrip("\n"))
            new = repository.text("commit-tree", *how, env=_dated(at))
        repository.run("update-ref", "-m", f"filemem: {subject}", "HEAD", new, made)
    return new, [f"{one_line(path)} {what}" for path, what in met.items()]


# -- the log ---------------------------------------------------------------------------------------------------------


class Commit(NamedTuple):
    """One commit: its parents, the author and the moment in local time, its subject and its trailers."""

    commit: str
    parents: list[str]
    at: dt.datetime
    author: str
    subject: str
    trailers: dict[str, str]

    @property
    def who(self) -> str:
        """The author as a person would name it: themselves, or the machine with its job and conversation."""
        if self.author != MACHINE:
            return self.author.rpartition(" <")[0]
        session = f"in {self.trailers['Session']}" if "Session" in self.trailers else ""
        return ", ".join(filter(None, ["filemem", self.trailers.get("Job"), session]))


def log(history: History, path: str = "", limit: int = 0) -> list[Commit]:
    """The commits on a user's memories, newest first: all, or those of one file or folder. A file is followed through its moves.
    Raises NotFound where a path is no memory's and never was."""
    place, file = path, bool(path) and not os.path.isdir(history.folder.absolute(path))
    with contextlib.suppress(NotFound):  # where it was when git last saw it
        place = history.folder.locate(path) if file else path
    follow = ["--follow"] if file else []
    kept = f":(top,exclude,literal){os.path.join(history.inside, BOOKKEEPING)}"
    specs = [spec(os.path.join(history.inside, place)), *([] if file else [kept])]
    if not history.repository.head():
        return []
    commits = _commits(
        history, *follow, *([f"-{limit}"] if limit else []), "HEAD", "--", *specs
    )
    if file and not commits:
        history.folder.locate(path)
    return commits


def _commits(history: History, *arguments: str) -> list[Commit]:
    found = []
    for line in fields(history.repository.run("log", "-z", _LOG_FORMAT, *arguments)):
        commit, parents, at, author, subject, trailers = line.split("\x1f", 5)
        pairs = (entry.partition(":") for entry in trailers.splitlines())
        named = {key: one_line(value) for key, colon, value in pairs if colon}
        when = dt.datetime.fromisoformat(at).astimezone()
        found.append(Commit(commit, parents.split(), when, author, subject, named))
    return found


# -- as of a day ----------------------------------------------------------------------------------------------------


class Past(Folder):
    """One person's memories as a commit has them, in a temporary folder: every question is answered as ever, and nothing can be
    written. `moment` is what was asked for. They lie with what the repository has aside."""

    moment: dt.datetime
    commit: Commit
    repository: Repository

    @contextlib.contextmanager
    def locked(self, wait: float = 10.0) -> Iterator[None]:
        """Refuse to write; raises Refused."""
        what = f"these are the memories as of {self.commit.at:%Y-%m-%d}, which can be read but not changed"
        raise Refused(f"{what}; leave out the day.")
        yield


def as_of(folder: Folder, moment: dt.date | dt.datetime) -> Past:
    """What was believed at `moment`, a date meaning its end in local time: the last commit by then on this branch, to read only.
    Raises NotFound where nothing of the user's had been committed by then."""
    history = History(folder)
    repository, inside = history.repository, history.inside
    end = (
        moment
        if isinstance(moment, dt.datetime)
        else dt.datetime.combine(moment, dt.time(23, 59, 59))
    )
    line = _commits(history, "--first-parent", "HEAD") if repository.head() else []
    found = next((one for one in line if one.at <= end.astimezone()), None)
    if not found or not repository.tree(found.commit, inside):
        raise NotFound(
            f"nothing of {folder.name} had been committed by {moment:%Y-%m-%d}; name a later day."
        )
    aside = tempfile.mkdtemp(dir=repository.aside)
    past = Past(os.path.join(aside, folder.name), folder.name, folder.trust)
    past.store, past.moment, past.commit, past.repository = (
        folder.store,
        end.astimezone(),
        found,
        repository,
    )
    private = {"GIT_INDEX_FILE": os.path.join(aside, "index")}
    repository.run("read-tree", f"{past.commit.commit}:{inside}", env=private)
    checkout = (
        "-c",
        "core.symlinks=false",
        "checkout-index",
        "--all",
        "--quiet",
        f"--prefix={past.root}/",
    )
    repository.run(*checkout, env=private)
    return past


# -- taking back -----------------------------------------------------------------------------------------------------


def undo(
    history: History, name: str | None, at: dt.datetime
) -> tuple[Commit, list[str]]:
    """Undo a commit, the last one of a job where none is named; returns it, and a sentence on each file. Raises FilememError,
    with nothing written, where a file has changed since in the same lines. Where one was cut off, what it had written is
    committed, and the same call does the rest."""
    repository = history.require()
    history.catch_up()  # what waits may be the last commit
    with repository.alone(), history.folder.locked():
        if name is not None and not repository.head(name):
            raise GitError(
                f"{one_line(name) or 'an empty name'} is not a commit here; filemem log lists them."
            )
        commit = (
            _last_undoable(history)
            if name is None
            else _commits(history, "-1", repository.head(name))[0]
        )
        short = commit.commit[:8]
        if len(commit.parents) > 1:
            raise FilememError(
                f"{short} is a merge; undo the commits that it brought in, filemem log lists them."
            )
        before, inside = "".join(commit.parents), history.inside
        moves, met = merge(
            repository, commit.commit, repository.head(), before, inside, union=False
        )
        if since := [
            one_line(history.own(path))
            for path in met
            if not _stays(history, commit, path)
        ]:
            what = "what it wrote there has been changed since; correct it by hand, git log -p shows who wrote it"
            raise FilememError(f"nothing was undone: {first_few(since)}: {what}.")
        moves = [
            one for one in moves if not _stays(history, commit, one.there or one.here)
        ]
        if name and not moves:
            what = f"there is nothing left of {short} ({one_line(commit.subject, 60)}) to undo"
            raise FilememError(f"{what}; see filemem log.")
        todo, own = (
            ready(repository, moves),
            [(history.own(one.here), history.own(one.there)) for one in moves],
        )
        with history.noted():
            # Else the next sweep would archive again what comes back.
            back = [
                there
                for here, there in own
                if there and here != there and here == archived(there)
            ]
            journal.note_recalls(history.folder, back, journal.RESTORED, at)
            for step, data in zip(
                todo, repository.contents(step.new for step in todo), strict=True
            ):
                carry_out(repository.where, step, data)
            words = message(
                f'Undo "{commit.subject}"', {"Job": "undo", "Undoes": commit.commit}
            )
            history.commit([path for pair in own for path in pair if path], words, at)
    return commit, [_sentence(here, there) for here, there in own]


def _sentence(here: str, there: str) -> str:
    """What has become of a file."""
    if here and there:
        return (
            f"Changed {there} back."
            if here == there
            else f"Moved {here} back to {there}."
        )
    return f"Brought back {there}." if there else f"Deleted {here}."


def _last_undoable(history: History) -> Commit:
    """The last commit of a job that is no undo, no merge and not undone; raises FilememError where there is none."""
    undone = set[str]()
    for commit in log(history):
        if (
            commit.author != MACHINE
            or commit.trailers.get("Job", "sync") == "sync"
            or commit.commit in undone
        ):
            continue
        if undoes := commit.trailers.get("Undoes"):
            undone.add(undoes)
        elif len(commit.parents) == 1:
            listed = history.repository.run(
                "diff-tree", "-r", "-z", "--name-only", *commit.parents, commit.commit
            )
            if not all(_stays(history, commit, path) for path in fields(listed)):
                return commit
    raise FilememError(
        "filemem has made no commit that could be undone; filemem log lists all, and any can be named. Your own edits, where "
        f"not committed, git takes back: git -C {shlex.quote(history.folder.root)} diff shows them, restore FILE undoes them."
    )


def _stays(history: History, commit: Commit, path: str) -> bool:
    """Is a file, a path of the repository, as it is whatever is undone? A log is, and what was said in a chat."""
    return path.endswith(LOGS) or (
        commit.trailers.get("Job") == "chat"
        and history.own(path).startswith("sessions/")
    )


# -- several machines ------------------------------------------------------------------------------------------------


def sync(history: History, remote: str | None, at: dt.datetime) -> list[str]:
    """Bring in what other machines have learnt and send what this one has, never by force, with every line that anyone wrote
    still there; returns what to tell the person. Raises FilememError, with what is committed here kept for next time, where the
    remote cannot be reached or does not take it, or what comes in meets uncommitted edits."""
    repository = history.require()
    if os.path.realpath(history.home) != repository.where:
        what = f"{history.home} is only a part of {repository.where}"
        raise FilememError(f"{what}; merge it with git pull and git push.")
    name, branch = _remote(repository, remote)
    history.catch_up()
    history.record("Note what was recalled and imported", LOGS, {}, at)
    fetched, sent, refused, last, said = 0, 0, "", "", list[str]()
    with repository.alone():
        for attempt in range(TRIES):
            ours, (branch, theirs) = repository.head(), _fetch(repository, name, branch)
            if not ours and not theirs:
                raise FilememError(
                    "there is nothing to sync yet, here or there; remember something first."
                )
            if attempt and theirs == last:  # nobody else's push came first
                break
            words = f"Merge memories from {one_line(name, 40)}"
            commit, met = (
                _bring_in(history, theirs, words, at) if theirs else (ours, [])
            )
            said += met
            fetched, sent, last = (
                fetched + _count(repository, theirs, ours),
                _count(repository, commit, theirs),
                theirs,
            )
            refused = (
                _push(repository, name, branch, commit) if commit != theirs else ""
            )
            if not refused:
                break
        if refused:
            what = "what came in is merged, and what is committed here goes with the next sync"
            raise GitError(
                f"{one_line(name)} did not take the push ({refused}); {what}."
            )
        left = [path for path in _changes(repository, "") if not path.endswith(LOGS)]
    said += [f"Not committed by you, so not sent: {first_few(left)}."] if left else []
    counts = f"Brought in {counted(fetched, 'commit')}, sent {sent}."
    return [
        *said,
        counts if fetched or sent else "Everything is the same here and there.",
    ]


def _count(repository: Repository, after: str, before: str) -> int:
    """How many commits one has that the other has not."""
    return (
        int(
            repository.text(
                "rev-list", "--count", after, *([f"^{before}"] if before else [])
            )
        )
        if after
        else 0
    )


def _remote(repository: Repository, given: str | None) -> tuple[str, str]:
    """Which remote is meant, and which of its branches; raises FilememError with the command that adds one."""
    branch, known = repository.branch(), repository.text("remote").split()
    followed = repository.setting(f"branch.{branch}.remote")
    name = (
        given
        or followed
        or (known[0] if len(known) == 1 else "origin" if "origin" in known else "")
    )
    if not name:
        add = f"git -C {repository.where} remote add origin URL"
        raise FilememError(
            f"there is no remote to sync with; name one, or add one: {add}."
        )
    return name, (
        name == followed and repository.setting(f"branch.{branch}.merge")
    ) or f"refs/heads/{branch}"


def _fetch(repository: Repository, name: str, branch: str) -> tuple[str, str]:
    """The remote's branch, its only one where another machine calls it otherwise, and its newest commit, fetched; empty where
    there is none yet. Raises GitError."""
    purged, commit = {*text_in(repository.folder, PURGED).split()}, ""
    done = repository.ask("ls-remote", "--heads", "--", name, timeout=NETWORK)
    if not done.code and done.out:
        heads = dict(
            line.split("\t")[::-1] for line in os.fsdecode(done.out).splitlines()
        )
        branch = branch if branch in heads or len(heads) > 1 else next(iter(heads))
        if (commit := heads.get(branch, "")) and commit not in purged:
            done = repository.ask(
                "fetch", "--quiet", "--no-tags", "--", name, branch, timeout=NETWORK
            )
    if done.code:
        words = f"{one_line(name)} cannot be reached ({done.why})"
        raise GitError(
            f"{words}; everything is committed here and goes with the next sync."
        )
    if commit in purged or (
        purged
        and commit
        and not purged.isdisjoint(repository.text("rev-list", commit).split())
    ):
        what = f"{one_line(name)} still has the history that was purged here, and would bring it back"
        raise FilememError(
            f"{what}; replace it with git push --force, then sync again."
        )
    return branch, commit


def _push(repository: Repository, name: str, branch: str, commit: str) -> str:
    """Send a commit as the remote branch's new end, never by force; why it was not taken."""
    url = repository.setting(f"remote.{name}.pushurl") or repository.text(
        "ls-remote", "--get-url", "--", name
    )
    local = os.path.exists(os.path.join(repository.where, url.removeprefix("file://")))
    here = [f"--receive-pack={_INERT_RECEIVER}"] if local else []
    done = repository.ask(
        "push", *here, "--", name, f"{commit}:{branch}", timeout=NETWORK
    )
    return done.why if done.code else ""


# -- setting up ----------------------------------------------------------------------------------------------------


def set_up(
    home: str, person: str, at: dt.datetime, trust: Trust | None = None
) -> list[str]:
    """Let filemem keep the memories under `home`, a store or one user's folder, in git; returns what was done. The person has
    named the repository from now on; where there is none it is made, and begins with what is there, under their name. Of their
    files only .gitignore and .gitattributes are touched, and get the lines that are missing."""
    said = list[str]()
    if not git_place(home):
        Repository(os.path.join(os.path.realpath(home), ".git")).run("init", "--quiet")
        said.append(f"Made a git repository in {os.path.realpath(home)}.")
    agree(git_place(home), trust or Trust())
    repository = Repository(git_place(home))
    inside = os.path.relpath(os.path.realpath(home), repository.where)
    prefix = "" if inside == "." else f"{inside}/"
    if (
        prefix
        and repository.ask("check-ignore", "--quiet", "--", prefix + "profile.md").code
        == 0
    ):
        raise FilememError(
            f"{home} is ignored by {repository.where}/.gitignore; remove that line first."
        )
    begins = not prefix and not repository.head()
    files = {prefix + ".gitignore": IGNORE, prefix + ".gitattributes": ATTRIBUTES}
    before = {} if begins else _changes(repository, *files)
    for name, wanted in files.items():
        path, said_there = (
            os.path.join(repository.where, name),
            text_in(repository.where, name).splitlines(),
        )
        if missing := [line for line in wanted if line not in said_there]:
            with contextlib.suppress(FileExistsError):
                safe.create(path, b"")
            safe.append(path, "".join(f"{line}\n" for line in missing).encode())
            said.append(f"Added {len(missing)} lines to {path}.")
    chosen = [*_changes(repository, *([""] if begins else files))]
    if (
        obstacle := "the two files had changes of yours"
        if before
        else repository.unfinished()
    ):
        said.append(f"Not committed: {obstacle}; commit them.")
    elif chosen:
        name, email = (repository.setting(key) for key in ("user.name", "user.email"))
        owner = (
            f"{name or person} <{email or f'{person}@localhost'}>"
            if begins
            else MACHINE
        )
        subject = (
            "Begin to keep these memories in git"
            if begins
            else "Let filemem keep its memories in git"
        )
        repository.commit(chosen, message(subject, {}), at, owner)
        said.append(f"Committed {len(chosen)} files.")
    return said or [f"{home} is set up for git already; nothing was changed."]
