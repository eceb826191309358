"""Git without what a repository could have it run: filemem's own configuration, attributes and no hooks stand in their place.

Git takes what the work trees of a repository share from `GIT_COMMON_DIR`. That is a folder of filemem's here, `filemem/` in
the git directory: links to the refs and logs, and a configuration that holds just those of the repository's own keys that only
say what it is and where its remotes are. So `core.fsmonitor`, filters, textconv, merge drivers, include paths, credential
helpers and whatever a later git may think of do nothing; what a person wants git to run they say in their global configuration.
"""

import contextlib
import os
import re

from filemem import disk
from filemem.errors import FilememError
from filemem.history.git import Git, GitError, fields

FOLDER = "filemem"
_INERT = re.compile(
    r"core\.(repositoryformatversion|filemode|symlinks|ignorecase|precomposeunicode|logallrefupdates|sharedrepository)"
    r"|extensions\.(objectformat|refstorage)|user\.(name|email)"
    r"|gc\.(auto|autopacklimit|pruneexpire|reflogexpire|reflogexpireunreachable)|maintenance\.auto"
    r"|remote\..*\.(url|pushurl|fetch)|branch\..*\.(remote|merge)",
    re.DOTALL,
)
_STEERS = re.compile(
    r"core\.(fsmonitor|hookspath|editor|pager|sshcommand|askpass|gitproxy|alternaterefscommand|worktree|attributesfile)"
    r"|(filter|credential|gpg|include|includeif|url|http|https|alias|trailer|browser|pager|protocol|uploadpack)\..*"
    r"|merge\..*\.driver|diff\.external|diff\..*\.(command|textconv)|sequence\.editor|gc\.recentobjectshook"
    r"|remote\..*\.(uploadpack|receivepack|vcs|proxy|promisor)|extensions\.(worktreeconfig|partialclone)",
    re.DOTALL,
)  # what a person should hear of when it is left out
_LINKS = ("refs", "packed-refs", "reftable", "logs", "worktrees", "shallow", "gc.pid", "gc.log", "info/exclude")


class Seal:
    """What a git directory's own configuration says, and the folder from which git takes its shared part instead."""

    def __init__(self, common: str) -> None:
        self.common = common
        self._said = list(_read(os.path.join(common, "config")))

    def left_out(self) -> list[str]:
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
        """Lay the folder out, with these attributes above all others; returns its place. Raises GitError."""
        place = os.path.join(self.common, FOLDER)
        files = {
            "config": _written([one for one in self._said if _INERT.fullmatch(one[0])]),
            "info/attributes": attributes,
        }
        try:
            if any(os.path.islink(folder) for folder in (place, os.path.join(place, "info"))):
                raise GitError(f"{place} leads elsewhere; delete it.")
            disk.make_folder(os.path.join(place, "info"))
            for name, text in files.items():
                _keep(os.path.join(place, name), text.encode("utf-8", "surrogateescape"))
            for name in _LINKS:
                _link(os.path.join(place, name), os.path.join("../" * (name.count("/") + 1) + name))
        except OSError as error:
            raise GitError(f"{place} cannot be written ({error.strerror}).") from None
        return place


def _read(path: str) -> list[tuple[str, str | None]]:
    """The keys and values of one configuration file, without what it includes, read from outside any repository."""
    away = {"GIT_DIR": os.devnull}
    done = Git("/").ask("config", "--file", path, "--no-includes", "--list", "-z", env=away)
    pairs = (entry.partition("\n") for entry in fields(done.out))
    return [(key, value if newline else None) for key, newline, value in pairs]


def _written(pairs: list[tuple[str, str | None]]) -> str:
    """A configuration file that says just this; None is a key without a value, which means true."""
    lines = ["# Made by filemem from ../config, without what could run anything. Changes here are lost.\n"]
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


def _keep(path: str, data: bytes) -> None:
    """Have a file of filemem's hold just these bytes."""
    with contextlib.suppress(FilememError):
        if disk.read(path) == data:
            return
    disk.write(path, data)


def _link(path: str, target: str) -> None:
    """Have a link of filemem's lead to `target`."""
    with contextlib.suppress(OSError):
        if os.readlink(path) == target:
            return
    aside = disk.temporary_in(os.path.dirname(path))
    os.symlink(target, aside)
    os.replace(aside, path)
