"""What is written is on the disk before it counts: the file's bytes first, then its name, then the folder that holds it."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from filemem.files import safe


def calls(act: Callable[[], Any]) -> list[str]:
    """What is synced, and when a file gets its name, while something is done: `sync PATH`, `rename`."""
    found: list[str] = []

    def seen(frame: FrameType, event: str, called: Any) -> None:
        if event == "c_call" and called is os.fsync:
            [fd] = [value for name, value in frame.f_locals.items() if name == "fd"]
            found.append(f"sync {os.readlink(f'/proc/self/fd/{fd}')}")
        elif event == "c_call" and called in (os.rename, os.replace, os.link):
            found.append("rename")

    sys.setprofile(seen)
    try:
        act()
    finally:
        sys.setprofile(None)
    return found


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="no /proc to see what a descriptor is")
@pytest.mark.parametrize("how", ["write", "create", "edit", "append"])
def test_bytes_then_name_then_folder(tmp_path: Path, how: str) -> None:
    place = str(tmp_path / "a.md")
    if how in ("edit", "append"):
        safe.write(place, b"before\n")
    done = {
        "write": lambda: safe.write(place, b"text\n"),
        "create": lambda: safe.create(place, b"text\n"),
        "edit": lambda: safe.edit(place, lambda data: data + b"text\n"),
        "append": lambda: safe.append(place, b"text\n"),
    }
    told = calls(done[how])
    if how == "append":
        assert told == [f"sync {place}"]
        return
    named = [n for n, one in enumerate(told) if one == "rename"]
    assert any(one.startswith(f"sync {tmp_path}/.") for one in told[: named[0]]), told
    assert f"sync {tmp_path}" in told[named[0] :], told
