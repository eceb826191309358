"""A program in a terminal of its own, for tests that type and read as a person does: a pty, and nothing simulated.

with Terminal(["filemem", "chat"], env, cwd, columns=80) as term:
    term.expect("> ")
    term.type("Hello\\r")
    assert "Hello" in term.screen
    assert term.end() == 0
"""

import fcntl
import os
import re
import select
import struct
import subprocess
import termios
import time
from typing import Self

from programs import COLD, LEADING

PATIENCE = 30.0  # seconds until a text that does not come fails the test
_ESCAPE = re.compile(
    r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b\]8;;[^\x1b\x07]*(?:\x1b\\|\x07)|\x1b[=>]"
)
_TAKEN_BACK = re.compile(
    r"(?m)^[^\r\n]*(?:\r +\r)"
)  # a sign of work, gone when the answer began


class Terminal:
    """A running filemem, or a program by its path; `raw` is what it printed, `screen` that without its controls."""

    def __init__(
        self, command: list[str], env: dict[str, str], cwd: str, columns: int = 100
    ) -> None:
        self._command, self._env, self._cwd, self._columns = command, env, cwd, columns
        self._data = b""
        self._read = 0  # characters of the screen that `expect` has passed

    def __enter__(self) -> Self:
        self._master, slave = os.openpty()
        fcntl.ioctl(
            slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, self._columns, 0, 0)
        )
        name, *words = self._command
        command = [*LEADING, *(COLD if name == "filemem" else [name]), *words]
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), slave)
        self._process = subprocess.Popen(
            command, **streams, start_new_session=True, env=self._env, cwd=self._cwd
        )
        os.close(slave)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        os.close(self._master)

    @property
    def raw(self) -> str:
        return self._data.decode(errors="replace")

    @property
    def screen(self) -> str:
        return _TAKEN_BACK.sub("", _ESCAPE.sub("", self.raw).replace("\r\n", "\n"))

    def type(self, text: str) -> None:
        """Send keys; \\r is Enter, \\x03 Ctrl-C, \\x04 Ctrl-D."""
        data = text.encode()
        while data:  # a terminal takes no more at once than the program has read
            if select.select([self._master], [], [], 0.01)[0]:
                self._more(time.monotonic())
            if select.select([], [self._master], [], PATIENCE)[1]:
                data = data[os.write(self._master, data[:1024]) :]

    def expect(self, text: str) -> str:
        """Wait for a text on the screen, behind what was expected last; returns what came up to its end."""
        end = time.monotonic() + PATIENCE
        while text not in self.screen[self._read :]:
            if not self._more(end):
                raise AssertionError(
                    f"{text!r} did not come; on the screen is:\n{self.screen[self._read :]}"
                )
        at = self.screen.index(text, self._read) + len(text)
        came, self._read = self.screen[self._read : at], at
        return came

    def interrupt(self, text: str) -> str:
        """Press Ctrl-C until a text comes: Python overlooks a signal in the instant before it waits for a key."""
        for _ in range(round(PATIENCE)):
            self.type("\x03")
            end = time.monotonic() + 1
            while text not in self.screen[self._read :] and self._more(end):
                pass
            if text in self.screen[self._read :]:
                break
        return self.expect(text)

    def end(self) -> int:
        """Wait for the program to end by itself; returns its exit code."""
        end = time.monotonic() + PATIENCE
        while self._more(end):
            pass
        return self._process.wait(PATIENCE)

    def _more(self, end: float) -> bool:
        """Read what comes next; False at the end of the program, or of our patience."""
        if not select.select([self._master], [], [], max(0.0, end - time.monotonic()))[
            0
        ]:
            return False
        try:
            data = os.read(self._master, 65536)
        except OSError:  # Linux's way to say that the other side has closed
            data = b""
        self._data += data
        return bool(data)
