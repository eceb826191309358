"""Run git as a process that nothing of its surroundings steers or asks."""

import os
import re
import subprocess
import time
from dataclasses import dataclass

from filemem.errors import FilememError
from filemem.text.plain import one_line

TIMEOUT_SECONDS = 900.0
RETRY_DELAYS_SECONDS = (0.05, 0.2, 0.8, 2.0)

# How this machine reaches others. Every other GIT_* variable speaks of some other
# repository, commit or person.
_KEPT_VARIABLE = re.compile(
    r"GIT_(SSH|SSL|PROXY|EXEC_PATH$|CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)$)"
)
_DROPPED_VARIABLES = ("SSH_ASKPASS", "LANGUAGE", "LC_MESSAGES")
_ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_COMMITTER_NAME": "filemem",
    "GIT_COMMITTER_EMAIL": "filemem@localhost",
}


class GitError(FilememError):
    """Git is missing or could not do what it was asked; the message says why."""


@dataclass(frozen=True)
class GitResult:
    """What a git command came to; `reason` says why it failed, to end a sentence."""

    code: int
    stdout: bytes
    reason: str


class Git:
    """Git in a folder; `environment` are the variables that it is given."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.environment: dict[str, str] = {}

    def start(self, *arguments: str, **env: str) -> subprocess.Popen[bytes]:
        """Start a git command; `env` are more variables.

        Raises GitError if git is missing.
        """
        inherited = {
            key: value
            for key, value in os.environ.items()
            if key not in _DROPPED_VARIABLES
            and (not key.startswith("GIT_") or _KEPT_VARIABLE.match(key))
        }
        try:
            return subprocess.Popen(
                ["git", "-C", self.root, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**inherited, **_ENVIRONMENT, **self.environment, **env},
                start_new_session=True,  # no terminal to ask at
                umask=0o077,
            )
        except OSError as error:
            raise GitError(
                "git is not installed, or cannot be started "
                f"({error.strerror}); install it, then try again."
            ) from None

    def call(self, *arguments: str, stdin: bytes = b"", **env: str) -> GitResult:
        """Run a git command, whatever its exit code.

        Raises GitError if git is missing, or takes longer than it may.
        """
        with self.start(*arguments, **env) as process:
            try:
                stdout, stderr = process.communicate(stdin, TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                process.terminate()
                raise GitError(
                    f"git {arguments[0]} took longer than {TIMEOUT_SECONDS:g} s and "
                    f"was stopped; try again, or run it by hand in {self.root}."
                ) from None
            except BaseException:
                process.terminate()  # not killed: it takes its locks away
                raise
        reason = _reason(stderr.decode(errors="replace"), process.returncode)
        return GitResult(process.returncode, stdout, f"git: {reason}")

    def run(self, *arguments: str, stdin: bytes = b"", **env: str) -> bytes:
        """Return what a git command prints; raises GitError if it fails.

        Where another git holds a lock it is tried again for three seconds.
        """
        for delay in (*RETRY_DELAYS_SECONDS, 0.0):
            result = self.call(*arguments, stdin=stdin, **env)
            if not result.code:
                return result.stdout
            if "File exists" not in result.reason:
                raise GitError(f"{result.reason}.")
            time.sleep(delay)
        raise GitError(
            f"{result.reason}; if no other git is at work here, delete that lock."
        )

    def text(self, *arguments: str, stdin: bytes = b"", **env: str) -> str:
        """Return what a git command prints as text, without its last newline."""
        output = self.run(*arguments, stdin=stdin, **env)
        return os.fsdecode(output).removesuffix("\n")

    def items(self, *arguments: str, stdin: bytes = b"", **env: str) -> list[str]:
        """Return what a git command prints, each item of which ends in NUL."""
        output = self.run(*arguments, stdin=stdin, **env)
        return os.fsdecode(output).split("\0")[:-1]


def _reason(stderr: str, code: int) -> str:
    """Return git's first error, else all that it said, else its exit code."""
    error = re.search(r"^(?:fatal|error): (.+)", stderr, re.MULTILINE)
    said = error[1] if error else stderr
    return one_line(said, 300).rstrip(".") or f"exit code {code}"
