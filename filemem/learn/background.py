"""Reading in time: a process of its own reads what has ended, and the next chat tells
what came of it. Without a daemon any process of filemem that comes by begins one."""

import datetime as dt
import os
import subprocess
import sys
import threading
import time
from collections.abc import Collection
from contextlib import suppress

from filemem.errors import FilememError, NotFound
from filemem.learn.sessions import PAUSE, Ended, unread
from filemem.llm.choice import OfflineModel, chosen_model
from filemem.llm.model import Model
from filemem.store import config, files
from filemem.store.folder import Folder
from filemem.store.learned import LearnLog
from filemem.text.plain import one_line

NEWS = "news.txt"
"""In the bookkeeping: one line for the next chat, deleted once it was told."""
MAX_NEWS_CHARS = 1000
"""Of the line: what comes after waits in the memories."""
BEGUN = "reading"
"""In the bookkeeping: an empty file, as old as the last start in passing."""


def start(
    folder: Folder, model: Model | None, now: dt.datetime, ended: Collection[str] = ()
) -> bool:
    """Begin to have a model read what waits, once a conversation of it has ended.

    Nobody waits for that, nor does it end with this process.

    Args:
        folder: whose conversations these are.
        model: who reads; without one they wait.
        now: the moment.
        ended: the paths of sessions that end now; others have ended after a PAUSE.

    Returns:
        Whether anything is read.
    """
    if model is None or isinstance(model, OfflineModel):
        return False
    if not config.of(folder).consolidate or not _waits(folder, Ended(now, ended)):
        return False
    program = [sys.executable, "-P", "-m", "filemem", "consolidate", "--for-later"]
    whose = ["--store", folder.store, "--user", folder.name, "--model", model.name]
    named = [f"--ended={path}" for path in ended]
    child = subprocess.Popen(
        [*program, *whose, "--today", now.isoformat(), *named],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    threading.Thread(target=child.wait, daemon=True).start()  # or it stays a zombie
    return True


def start_in_passing(folder: Folder, now: dt.datetime) -> None:
    """Begin to have read what has ended, by the model in the settings, and say nothing.

    At most once a PAUSE, as an endpoint may fail; and never in memories that cannot be
    written, or that merely lie where the person stands and may be a stranger's.

    Args:
        folder: whose conversations these are.
        now: the moment; nothing is read at another than the clock's, as of --today.
    """
    is_today = abs(dt.datetime.now(dt.UTC) - now) < PAUSE
    if not (is_today and folder.exists() and folder.is_own) or folder.is_read_only:
        return
    with suppress(FilememError, OSError):
        begun = folder.bookkeeping(BEGUN)
        if not _is_recent(begun) and start(folder, chosen_model(folder, None), now):
            files.write(begun, b"")


def _is_recent(path: str) -> bool:
    """Tell whether a file was written less than a PAUSE ago."""
    with suppress(FileNotFoundError):
        age = time.time() - os.lstat(path).st_mtime
        return abs(age) < PAUSE.total_seconds()  # a clock may have been put back
    return False


def _waits(folder: Folder, ended: Ended) -> bool:
    """Tell whether a conversation that is over has anything to be read."""
    waiting = unread(folder, LearnLog.of(folder), ended)
    return any(turn.has_words for turn in waiting)


def leave_news(folder: Folder, told: str, at: dt.datetime) -> None:
    """Leave news for the next chat, behind what was left before, unless it says that.

    A folder that was moved away meanwhile gets none.

    Args:
        folder: whose chat tells it.
        told: the news.
        at: the moment; the chat may be days later, so its day is told.
    """
    with suppress(NotFound), folder.locked():
        before = _news(folder)
        if told in before:  # an endpoint fails again
            return
        line = one_line(f"{before} {at:%Y-%m-%d}: {told}", MAX_NEWS_CHARS)
        files.write(folder.bookkeeping(NEWS), f"{line}\n".encode("utf-8", "replace"))


def take_news(folder: Folder) -> str:
    """Return what was left for the next chat, and delete it; '' for nothing."""
    told = _news(folder)
    if told:
        with suppress(FilememError, OSError):
            files.delete(folder.bookkeeping(NEWS))
    return told


def _news(folder: Folder) -> str:
    """Return what was left for the next chat.

    Empty where nothing was, or it cannot be read.
    """
    with suppress(FilememError, OSError):
        told = files.read(folder.bookkeeping(NEWS)).decode(errors="replace")
        return one_line(told, MAX_NEWS_CHARS)
    return ""
