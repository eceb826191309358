"""The `git` command, run safely: no shell, no questions, no foreign environment, and an end after a set time."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from filemem.errors import FilememError
from filemem.text.plain import one_line

LOCAL = 60.0  # seconds that a command may take that only looks at this machine
NETWORK = 300.0  # seconds for one that talks to a remote
# Whatever any configuration says.
PINNED = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "diff.ignoreSubmodules=all",  # git looks into a submodule with that one's own configuration
    "fetch.recurseSubmodules=false",
    "submodule.recurse=false",
    "protocol.ext.allow=never",
    "gc.autoDetach=false",  # it would outlive the folder of `sealed`
    "maintenance.autoDetach=false",
    "log.showSignature=false",
    "log.follow=false",
    "core.quotePath=false",
    "color.ui=false",
    "i18n.commitEncoding=UTF-8",
)
# How this machine reaches others; the rest of GIT_* speaks of some other repository, commit or person.
_KEPT = frozenset(
    "GIT_SSH GIT_SSH_COMMAND GIT_SSH_VARIANT GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_NOSYSTEM GIT_EXEC_PATH "
    "GIT_SSL_CAINFO GIT_SSL_CAPATH GIT_SSL_NO_VERIFY GIT_PROXY_COMMAND GIT_CEILING_DIRECTORIES".split()
)


class GitError(FilememError):
    """Git could not do what it was asked, or is not there; the sentence says why in git's words."""


class GitDone(NamedTuple):
    """What a command left behind."""

    code: int
    out: bytes
    err: str


class Git:
    """Git in one folder; `env` is what its environment has beyond this process's own."""

    def __init__(self, where: str, env: Mapping[str, str] | None = None) -> None:
        self.where = where
        self.env = env or {}

    def start(self, *arguments: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        """Start a command whose output is read, or input written, as it runs; raises GitError where git is missing."""
        settings = [part for option in PINNED for part in ("-c", option)]
        try:
            return subprocess.Popen(
                ["git", "-C", self.where, *settings, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**environment(os.environ), **self.env, **(env or {})},
                start_new_session=True,  # no terminal to ask at, and the whole group can be ended
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
        process = self.start(*arguments, env=env)
        with process:
            try:
                out, err = process.communicate(stdin, timeout)
            except BaseException as error:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
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


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """The environment for git: whatever speaks of another repository, or would ask a person, is left out."""
    kept = {key: value for key, value in given.items() if not key.startswith("GIT_") or key in _KEPT}
    for key in ("SSH_ASKPASS", "LANGUAGE", "LC_MESSAGES"):
        kept.pop(key, None)
    return kept | {
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_PAGER": "cat",
        "GIT_EDITOR": "true",
        "SSH_ASKPASS_REQUIRE": "never",
    }


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
