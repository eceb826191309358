"""filemem as a process of its own that starts warm: a fork of one that has imported everything, so that a start costs a tenth.

It has its own words, environment, folder, streams and end; only its imports, and what is made of the tables of filemem/data, are
there already. What is run is a small program that hands its words and streams over, and ends as what came of them ends. A cold
start, for what is to get signals or lead a terminal, is [*COLD, "search", "tea"].

    done = filemem("search", "tea", cwd=tmp_path)
    filemem("-c", code, ...)  # as Python's own, with filemem imported
    shell_command(tmp_path / "bin/filemem")  # for lines that a shell runs
"""

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from filemem.cli import COMMANDS, cli, main

COLD = [
    sys.executable,
    "-c",
    "import sys; from filemem.cli import main; sys.argv[0] = 'filemem'; main()",
]
_LEAD = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
LEADING = [
    sys.executable,
    "-c",
    _LEAD,
]  # what runs the program that follows as the first in the terminal of a session
SAMPLE = Path(__file__).parents[2] / "memory_store"
OWN = (
    "FILEMEM_",
    "OPENAI_",
)  # how the variables begin that would decide what a test sees
_TRIED = (  # what has the tables read
    ["remember", "My sister Ida lives in Ghent."],
    [
        "chat",
        "-m",
        "I moved to Porto yesterday. 我昨天搬到了北京。",
        "--today",
        "2026-09-01",
    ],
    ["chat", "-m", "Where does my sister live?"],
    ["maintain"],
)
_START = "import sys; sys.path.insert(0, {!r}); import programs; sys.path[0] = ''; programs.serve({!r}); programs.run()"
_CLIENT = """#!{python} -IS
import _socket, json, os, sys
if {{*sys.argv[1:2]}} & {{*{apart!r}}}:  # they run until a shell ends them
    os.execv({python!r}, [*{cold!r}, *sys.argv[1:]])
request = os.memfd_create("request")
os.write(request, json.dumps([["filemem", *sys.argv[1:]], dict(os.environ), os.getcwd()]).encode())
rights = b"".join(number.to_bytes(4, sys.byteorder) for number in (request, 0, 1, 2))
line = _socket.socket(_socket.AF_UNIX)
line.connect({server!r})
line.sendmsg([b"?"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)])
sys.exit(int(line.recv(9)))
"""


def lay(folder: str | Path, files: Mapping[str, str]) -> None:
    """Write files below a folder, by their paths."""
    for path, text in files.items():
        place = Path(folder, path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode())


def contents(folder: str | Path) -> dict[str, bytes]:
    """Return the bytes of every file under a folder, bookkeeping too."""
    paths = Path(folder).rglob("*")
    return {str(path): path.read_bytes() for path in paths if path.is_file()}


def sample(place: Path) -> Path:
    """A copy of the sample store at a place, without what somebody has kept in it that git does not know."""
    for path in _sample_files():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(SAMPLE / path, place / path)
    return place


@functools.cache
def _sample_files() -> list[str]:
    known = subprocess.run(
        ["git", "ls-files", "-z"], cwd=SAMPLE, capture_output=True, check=True
    ).stdout.decode()
    return known.split("\0")[:-1]


def without_rights() -> list[str]:
    """Return what begins a command for which the rights of files count, for root too.

    The test is skipped where nothing does that.
    """
    if os.geteuid():
        return []
    drop = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    if shutil.which("setpriv"):
        tried = subprocess.run([*drop, "true"], capture_output=True, check=False)
        if tried.returncode == 0:
            return drop
    pytest.skip("root reads and writes everything, and setpriv cannot prevent it")


def clean(home: Path | None = None, **more: str) -> dict[str, str]:
    """An environment without what may have been set for filemem; with a person's home, one with nothing else in it."""
    if home:
        kept = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
        }
    else:
        kept = {
            name: text for name, text in os.environ.items() if not name.startswith(OWN)
        }
    return kept | more


def filemem(
    *words: object,
    cwd: Path | str | None = None,
    env: dict[str, str] | None = None,
    given: str = "",
) -> subprocess.CompletedProcess[str]:
    """What a command says, with `given` on its standard input; of a cold one where there is no Linux, or a variable is set by
    which Python starts otherwise."""
    env = clean() if env is None else env
    other = any(
        name.startswith("PYTHON") and os.environ.get(name) != text
        for name, text in env.items()
    )
    call = [sys.executable, "-IS", _server().client]
    if sys.platform != "linux" or other:
        call = COLD[:1] if words[:1] == ("-c",) else COLD
    call = [*call, *map(str, words)]
    return subprocess.run(
        call,
        cwd=cwd,
        env=env,
        input=given,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )


def shell_command(place: Path) -> None:
    """Make an executable `filemem` for a shell's path: a warm one, where it can be."""
    text = f"#!{sys.executable}\nfrom filemem.cli import main\nmain()\n"
    if sys.platform == "linux":
        text = _CLIENT.format(
            python=sys.executable,
            cold=COLD,
            server=_server().name,
            apart=["mcp", "serve"],
        )
    place.parent.mkdir(exist_ok=True)
    place.write_text(text)
    place.chmod(0o755)


@functools.cache
def _server() -> "_Server":
    return _Server()


class _Server:
    """The process of which each filemem is a fork; it ends with the one that has started it. `client` calls it."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.name, self.client = (
            os.path.join(self._folder.name, name) for name in ("filemem", "client")
        )
        Path(self.client).write_text(
            _CLIENT.format(python=sys.executable, cold=COLD, server=self.name, apart=[])
        )
        code = _START.format(os.path.dirname(__file__), self.name)
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=pipe,
            stdout=pipe,
            start_new_session=True,
        )
        assert self._process.stdout and self._process.stdout.read(1) == b"!"
        atexit.register(self._process.communicate)


# -- in the server -------------------------------------------------------------------------------------------------------


def serve(place: str) -> None:
    """Come back in a new process for each request, as what it asks for; end where who started this has ended."""
    _warm()
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(place)
        door.listen()
        os.write(1, b"!")
        gc.collect()
        gc.freeze()
        while door in select.select([0, door], [], [])[0]:
            line, _ = door.accept()
            _, numbers, _, _ = socket.recv_fds(line, 1, 4)
            if not os.fork():
                return _become(line, numbers)
            line.close()
            for number in numbers:
                os.close(number)
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
        os._exit(0)


def _become(line: socket.socket, numbers: list[int]) -> None:
    """Fork once more, so that there is somebody who tells how it has ended."""
    with open(numbers[0], "rb") as request:
        request.seek(0)
        words, env, cwd = json.load(request)
    for number, stream in enumerate(numbers[1:]):
        os.dup2(stream, number)
        os.close(stream)
    if child := os.fork():
        os.closerange(0, 3)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        line.send(b"%d" % (code if code >= 0 else 128 - code))
        os._exit(0)
    line.close()
    os.chdir(cwd)
    _replace_environment(env)
    tempfile.tempdir = None
    sys.argv = words
    sys.stdin = os.fdopen(0, encoding="utf-8", errors="surrogateescape", closefd=False)
    sys.stdout = os.fdopen(
        1, "w", encoding="utf-8", errors="surrogateescape", closefd=False
    )
    sys.stderr = os.fdopen(
        2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False
    )


def run() -> None:
    """Run the command line to its end, as the interpreter ends, but for taking apart, for 50 ms, what is there of the imports."""
    try:
        if sys.argv[1:2] == ["-c"]:
            code = sys.argv[2]
            sys.argv = ["-c", *sys.argv[3:]]
            exec(code, {"__name__": "__main__"})  # noqa: S102  as python -c does
            sys.exit(0)
        main()
    except SystemExit as end:
        if not isinstance(end.code, int):
            raise
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        os._exit(end.code)


def _replace_environment(env: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(env)
    time.tzset()


def _warm() -> None:
    """Import what the commands do, and have the tables read by some of them in a folder of their own."""
    for module in set(COMMANDS.values()):
        importlib.import_module(f"filemem.cli.{module}")
    importlib.import_module("openai.resources.chat")
    with tempfile.TemporaryDirectory() as folder:
        _replace_environment(clean(Path(folder)))
        for words in _TRIED:
            said = CliRunner().invoke(
                cli, [*words, "--store", folder, "--user", "ann"], standalone_mode=False
            )
            assert said.exception is None, said.exception
