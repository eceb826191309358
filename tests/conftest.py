"""Whatever starts the tests, a Ctrl-C reaches the programs that they start: a shell has its background jobs ignore it.

And nothing of the machine's owner decides or is changed: the person who has agreed to this or that lives in a new folder.
Files lie in memory where the system has room for them there, as a disk takes its time to sync; what is compiled is kept.
Hypothesis tries the same cases at each run, so that a failure is of the change; --hypothesis-profile=explore tries others.
"""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from scripted_server import ScriptedServer

from filemem.store.folder import Folder
from filemem.store.users import StoreFolder

settings.register_profile("repeat", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile("repeat")

_MEMORY, _ROOM = "/dev/shm", 4_000_000_000  # bytes
if os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", _MEMORY)
    os.environ.setdefault("TMPDIR", _MEMORY)
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which nohup has its programs ignore
_own = tempfile.TemporaryDirectory()
os.environ["XDG_CONFIG_HOME"] = _own.name
# A hook or `git bisect run` names its own repository to every git that is started.
for _name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR"):
    os.environ.pop(_name, None)
# No git that a test starts asks anybody for a name or a password.
os.environ |= {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "", "SSH_ASKPASS": ""}
os.environ["FILEMEM_EMBEDDINGS"] = (
    "off"  # words alone, whatever is installed; extras/test_semantic.py has it on
)


@pytest.fixture
def user(tmp_path: Path) -> Folder:
    """Nora, of whom nothing is known."""
    return StoreFolder(tmp_path).folder("nora")


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """An endpoint without a script."""
    with ScriptedServer() as running:
        yield running


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder in memory where the system has one: for what is done hundreds of times, while a disk takes its time to sync."""
    with tempfile.TemporaryDirectory(
        dir=_MEMORY if os.access(_MEMORY, os.W_OK) else None
    ) as folder:
        yield Path(folder)
