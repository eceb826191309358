"""Whether the file system under a store holds the locks of writers: between processes, and between machines.

The locks are flock(2) on a file opened for writing, which Linux's NFS client has turned into record locks at the server since
2.6.12. What a mount's options keep on one machine is told by /proc/mounts, for nothing that one machine tries can tell.
"""

import contextlib
import os
import re
import subprocess
import sys

from filemem.errors import Busy, FilememError, Problem
from filemem.files import disk
from filemem.files.places import Place
from filemem.text.plain import one_line

MOUNTS = "/proc/mounts"
_TRY = """
import fcntl, sys
try:
    fcntl.flock(open(sys.argv[1], "r+b"), fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    sys.exit(7)
"""
_HELD = 7  # the exit code of who finds the lock taken
_LOCAL = {
    r"nfs4?": r"nolock|local_lock=(?:all|flock)",
    r"cifs|smb3": r"nobrl",
    r"lustre": r"localflock",
    r"fuse\.(?:sshfs|rclone|s3fs|gcsfuse)": r"",
}
"""Which file systems, with which option of the mount, keep locks on one machine: nfs(5), mount.cifs(8), mount.lustre(8). What
FUSE serves without locks of its own the kernel locks locally."""


def problems(folder: str) -> list[Problem]:
    """What keeps two writers from waiting for each other in a store's folder; none where nothing can be written there."""
    mounts = ""
    with contextlib.suppress(OSError), open(MOUNTS, encoding="utf-8", errors="surrogateescape") as file:
        mounts = file.read()
    kind, options = mounted(folder, mounts)
    for kinds, wanted in _LOCAL.items():
        option = next((one for one in options.split(",") if wanted and re.fullmatch(wanted, one)), "")
        if re.fullmatch(kinds, kind) and (option or not wanted):
            what = f"{one_line(folder)} ({kind}{f' with {option}' if option else ''}) holds locks on this machine only"
            remedy = f"mount it without {option}" if option else "let one machine alone write there"
            return [Problem(".", 1, what, remedy)]
    place = disk.temporary_in(Place(os.path.realpath(folder)))
    try:
        with disk.lock(place, 0):
            held = subprocess.run([sys.executable, "-I", "-S", "-c", _TRY, place], check=False, capture_output=True)
        wrong = "" if held.returncode == _HELD else "lets two processes hold one lock"
    except (Busy, OSError) as error:
        wrong = f"cannot lock ({error.strerror if isinstance(error, OSError) else error})"
        if isinstance(error, OSError) and not os.access(folder, os.W_OK):
            wrong = ""
    except FilememError:
        wrong = ""
    with contextlib.suppress(FilememError, OSError):
        disk.delete(place)
    remedy = "keep the store on a file system that can, or let one process alone write there; see docs/scale.md"
    return [Problem(".", 1, f"{one_line(folder)} ({kind}) {wrong}", remedy)] if wrong else []


def mounted(folder: str, mounts: str) -> tuple[str, str]:
    """The type and the options of the file system of a folder, of lines as in /proc/mounts; empty where they have none."""
    where, found = os.path.realpath(folder) + "/", ("", "", "")
    for line in mounts.splitlines():
        _, place, kind, options, *_ = [*line.split(" "), "", "", "", ""]
        place = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), place)
        if place and where.startswith(place.rstrip("/") + "/") and len(place) >= len(found[0]):
            found = place, kind, options
    return found[1:]
