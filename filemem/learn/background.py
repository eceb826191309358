"""Reading in time: a process of its own reads what has ended, and the next chat tells
what came of it."""

import datetime as dt
import subprocess
import sys
import threading
from collections.abc import Collection
from contextlib import suppress

from filemem.errors import FilememError
from filemem.learn.sessions import unread
from filemem.llm.choice import OfflineModel
from filemem.llm.model import Model
from filemem.store import config, files
from filemem.store.folder import Folder
from filemem.store.learned import LearnLog
from filemem.text.plain import one_line

NEWS = "news.txt"  # in the bookkeeping: one line for the next chat
PAUSE = dt.timedelta(minutes=45)  # after which nothing follows in a conversation


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
    if not config.of(folder).consolidate or not _has_ended(folder, now, ended):
        return False
    program = [sys.executable, "-P", "-m", "filemem", "consolidate", "--for-later"]
    whose = ["--store", folder.store, "--user", folder.name, "--model", model.name]
    child = subprocess.Popen(
        [*program, *whose, "--today", now.isoformat()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    threading.Thread(target=child.wait, daemon=True).start()  # or it stays a zombie
    return True


def _has_ended(folder: Folder, now: dt.datetime, ended: Collection[str]) -> bool:
    """Tell whether a conversation that waits has ended."""
    latest = f"{now - PAUSE:%Y-%m-%d %H:%M}"
    for turn in unread(folder, LearnLog.of(folder)):
        session = turn.session
        if turn.has_words and (session.path in ended or session.last <= latest):
            return True
    return False


def leave_news(folder: Folder, told: str) -> None:
    """Leave one line for the next chat, in the place of any before it."""
    place = folder.bookkeeping(NEWS)
    files.write(place, f"{one_line(told, 1000)}\n".encode("utf-8", "replace"))


def take_news(folder: Folder) -> str:
    """Return what was left for the next chat, and delete it; '' for nothing."""
    place = folder.bookkeeping(NEWS)
    with suppress(FilememError, OSError):
        told = files.read(place).decode(errors="replace")
        files.delete(place)
        return one_line(told)
    return ""
