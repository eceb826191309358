"""Which repositories filemem uses, and git there without what they could have it run.

Used are those that it was told to set up, or that a person has agreed to, on this machine. Each has a mark, a name drawn by lot
in its git directory, and the person's own configuration folder has the same by its path (`trust`). A repository that came with
a store, or took the place of another, has no such mark.

In all of them filemem's own configuration, attributes and no hooks stand in their place.

Git takes what the work trees of a repository share from `GIT_COMMON_DIR`. That is a temporary folder here: links to the refs
and logs, and a configuration that holds just those of the repository's own keys that only say what it is and where its remotes
are. So `core.fsmonitor`, filters, textconv, merge drivers, include paths, credential
helpers and whatever a later git may think of do nothing; what a person wants git to run they say in their global configuration.
"""

import contextlib
import os
import re
import secrets
import shutil
import tempfile
import weakref

from filemem.errors import FilememError, NotFound
from filemem.files import safe
from filemem.files.trust import VARIABLE, Trust
from filemem.history.git import Git, GitError, fields
from filemem.text.plain import first_few, one_line

NAME = "filemem-mark"  # in the git directory
_REMEDY = f"if it is yours, run filemem init --git, or say so with --trust or {VARIABLE}"
_INERT = re.compile(
    r"core\.(repositoryformatversion|filemode|symlinks|ignorecase|precomposeunicode|logallrefupdates|sharedrepository)"
    r"|extensions\.(objectformat|refstorage)|user\.(name|email)"
    r"|gc\.(auto|autopacklimit|pruneexpire|reflogexpire|reflogexpireunreachable)|maintenance\.auto"
    r"|remote\..*\.(url|pushurl|fetch)|branch\..*\.(remote|merge)",
    re.DOTALL,
)
# What a person should hear of when it is left out.
_STEERS = re.compile(
    r"core\.(fsmonitor|hookspath|editor|pager|sshcommand|askpass|gitproxy|alternaterefscommand|worktree|attributesfile)"
    r"|(filter|credential|gpg|include|includeif|url|http|https|alias|trailer|browser|pager|protocol|uploadpack)\..*"
    r"|merge\..*\.driver|diff\.external|diff\..*\.(command|textconv)|sequence\.editor|gc\.recentobjectshook"
    r"|remote\..*\.(uploadpack|receivepack|vcs|proxy|promisor)|extensions\.(worktreeconfig|partialclone)",
    re.DOTALL,
)
_LINKS = ("refs", "packed-refs", "reftable", "logs", "worktrees", "shallow", "gc.pid", "gc.log", "info/exclude")


class Untrusted(GitError):
    """A repository that the person has not agreed to; the sentence says what it would have done."""


class Declined(Untrusted):
    """One that they have said no to."""


class SafeConfig:
    """What a git directory's own configuration says, and the folder from which git takes its shared part instead."""

    def __init__(self, common: str) -> None:
        self.common = common
        self._said = list(_read(os.path.join(common, "config")))

    def unused_settings(self) -> list[str]:
        """What of the repository's own would run something or lead elsewhere, and does not."""
        hooks = os.path.join(self.common, "hooks")
        names = os.listdir(hooks) if os.path.isdir(hooks) else []
        live = [name for name in sorted(names) if "." not in name and os.access(os.path.join(hooks, name), os.X_OK)]
        keys = [key for key, _ in self._said if _STEERS.fullmatch(key)]
        return list(dict.fromkeys([*keys, *(f"hooks/{name}" for name in live)]))

    def remotes(self) -> list[str]:
        """Where it would fetch from and send to."""
        return [value or "" for key, value in self._said if re.fullmatch(r"remote\..*\.(url|pushurl)", key, re.DOTALL)]

    def make(self, attributes: str) -> str:
        """Lay the folder out, with these attributes above all others; returns its place, which lasts as long as this."""
        place = tempfile.mkdtemp(prefix="filemem-git-")
        weakref.finalize(self, _drop, place, os.getpid())
        os.mkdir(os.path.join(place, "info"))
        config = _written([one for one in self._said if _INERT.fullmatch(one[0])])
        for name, text in (("config", config), ("info/attributes", attributes)):
            with open(os.path.join(place, name), "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(text)
        for name in _LINKS:
            os.symlink(os.path.join(self.common, name), os.path.join(place, name))
        return place


def _drop(place: str, owner: int) -> None:
    if os.getpid() == owner:  # not the child of a fork
        shutil.rmtree(place, ignore_errors=True)


def _read(path: str) -> list[tuple[str, str | None]]:
    """The keys and values of one configuration file, without what it includes, read from outside any repository."""
    try:
        told = safe.read(path)
    except (FilememError, OSError):  # none, or no plain file, on which git could wait for ever
        return []
    done = Git("/").ask(
        "config", "--file", "-", "--no-includes", "--list", "-z", stdin=told, env={"GIT_DIR": os.devnull}
    )
    pairs = (entry.partition("\n") for entry in fields(done.out))
    return [(key, value if newline else None) for key, newline, value in pairs]


def _written(pairs: list[tuple[str, str | None]]) -> str:
    """A configuration file that says just this; None is a key without a value, which means true."""
    lines = []
    for key, value in pairs:
        section, _, rest = key.partition(".")
        middle, _, name = rest.rpartition(".")
        sub = f' "{_escaped(middle)}"' if middle else ""
        lines.append(f"[{section}{sub}]\n\t{name}" + (f' = "{_escaped(value)}"\n' if value is not None else "\n"))
    return "".join(lines)


def _escaped(text: str) -> str:
    for char, spelt in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t"), ("\b", "\\b")):
        text = text.replace(char, spelt)
    return text


# -- which are used ------------------------------------------------------------------------------------------------


def require(place: str, trust: Trust) -> None:
    """Have the person agree to the repository of a `.git`, as they have before or do now; raises Untrusted."""
    folder = _folder(place)
    content = {"mark": _mark(folder)}
    if trust.known(place, content) is None and trust.ask:
        question = f"{one_line(place)} was not agreed to on this machine; filemem would commit there{_would(folder)}."
        trust.settle(place, content, question)
    if not trust.known(place, content):
        words = (
            f"{one_line(place)} was not set up on this machine, so git is not used there{_would(folder)}; {_REMEDY}."
        )
        raise (Untrusted if trust.known(place, content) is None else Declined)(words)
    if trust.given or (trust.ask and not content["mark"]):
        agree(place, trust)


def agree(place: str, trust: Trust) -> None:
    """Mark a repository as one that the person has named."""
    folder = _folder(place)
    if _mark(folder) and trust.kept(place, {"mark": _mark(folder)}):
        return
    mark = secrets.token_hex(16)
    try:
        safe.write(os.path.join(folder, NAME), f"{mark}\n".encode())
    except OSError as error:
        raise GitError(f"{folder} cannot be written ({error.strerror}).") from None
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
        return safe.read(os.path.join(folder, NAME), 100).decode(errors="replace").strip()
    except NotFound:
        return ""
    except FilememError as error:
        raise GitError(str(error)) from None


def _would(folder: str) -> str:
    """What a repository's own configuration would have git run, and where it would send memories to."""
    common = ""
    with contextlib.suppress(FilememError):
        common = os.fsdecode(safe.read(os.path.join(folder, "commondir"), 10_000)).strip()
    seal = SafeConfig(os.path.join(folder, common))
    runs, sends = seal.unused_settings(), seal.remotes()
    words = [f"its settings would run or steer {first_few(map(one_line, runs))}"] if runs else []
    words += [f"a sync would send them to {first_few(one_line(url) for url in sends)}"] if sends else []
    return "".join(f" ({'; '.join(words)})" if words else "")
