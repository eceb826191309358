"""No call in the package is only Linux's, so that it runs on macOS too."""

import re
from pathlib import Path

ONLY_LINUX = re.compile(
    r"renameat2|inotify|epoll|/proc\b|O_TMPFILE|O_PATH|memfd|prctl|pidfd|\bsplice\b|sendfile|setns|unshare|ctypes"
)
PACKAGE = Path(__file__).parents[1] / "filemem"


def test_no_call_is_only_linuxs() -> None:
    assert not [path for path in PACKAGE.rglob("*.py") if ONLY_LINUX.search(path.read_text())]
