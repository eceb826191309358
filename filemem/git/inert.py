"""Show git a repository so that nothing in it can run a program or send anything.

Git takes what the work trees of a repository share from `GIT_COMMON_DIR`. Here that
is a temporary folder with links to the refs and logs, attributes that name no driver,
and of the configuration nothing but the format. The person's name and the remotes are
passed in the environment; hooks, editors, signing and helpers are off there. What a
person wants git to use they say in their global configuration.
"""

import os
import re
import tempfile
from pathlib import Path
from typing import NamedTuple

from filemem.git.command import Git

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
    r"|core\.(filemode|ignorecase|precomposeunicode)"
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


class InertView:
    """A repository as git may see it.

    `environment` makes it see that. The temporary `folder` holds no memories, at most
    their names in an index of a commit under way, and goes with this object.
    """

    def __init__(self, root: str, git_dir: str, common_dir: str, config: str) -> None:
        """Look at a repository's directories; `config` is its configuration's text."""
        self._temporary = tempfile.TemporaryDirectory(prefix="filemem-git-")
        self.folder = self._temporary.name
        format_lines = ""
        passed = [*_SETTINGS.items()]
        for key, value in _parse(config, root):
            if key in _FORMAT_SETTINGS and value.isalnum():
                section, _, name = key.partition(".")
                format_lines += f"[{section}]\n\t{name} = {value}\n"
            if _INERT_SETTING.fullmatch(key):
                passed.append((key, value))
        os.mkdir(f"{self.folder}/info")
        Path(self.folder, "config").write_text(format_lines, "utf-8")
        Path(self.folder, "info/attributes").write_text(_ATTRIBUTES, "utf-8")
        for name in _LINKED:
            os.symlink(os.path.join(common_dir, name), f"{self.folder}/{name}")
        self.environment = {
            "GIT_CONFIG_COUNT": str(len(passed)),
            "GIT_DIR": git_dir,
            "GIT_WORK_TREE": root,
            "GIT_COMMON_DIR": self.folder,
            "GIT_OBJECT_DIRECTORY": os.path.join(common_dir, "objects"),
        }
        for number, (key, value) in enumerate(passed):
            self.environment[f"GIT_CONFIG_KEY_{number}"] = key
            self.environment[f"GIT_CONFIG_VALUE_{number}"] = value


class _Setting(NamedTuple):
    """A line of a configuration."""

    key: str
    value: str


def _parse(config: str, root: str) -> list[_Setting]:
    """Return the settings of a configuration's text, read as data, in their order.

    A key may stand there several times, as the URLs of a remote do.
    """
    command = ("config", "--file", "-", "--no-includes", "--list", "-z")
    # With a GIT_DIR that is none, git looks for no repository.
    listed = Git(root).call(*command, stdin=os.fsencode(config), GIT_DIR=os.devnull)
    settings = []
    for entry in os.fsdecode(listed.stdout).split("\0")[:-1]:
        key, _, value = entry.partition("\n")
        settings.append(_Setting(key, value))
    return settings
