"""Git without what a repository could have it run: filemem's own configuration, attributes and no hooks stand in their place.

Git takes what the work trees of a repository share from `GIT_COMMON_DIR`. That is a temporary folder here: links to the refs
and logs, and a configuration that holds just those of the repository's own keys that only say what it is and where its remotes
are. So `core.fsmonitor`, filters, textconv, merge drivers, include paths, credential
helpers and whatever a later git may think of do nothing; what a person wants git to run they say in their global configuration.
"""

import os
import re
import shutil
import tempfile
import weakref

from filemem.history.git import Git, fields

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
    away = {"GIT_DIR": os.devnull}
    done = Git("/").ask("config", "--file", path, "--no-includes", "--list", "-z", env=away)
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
