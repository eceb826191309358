"""What stands for the turns that left a conversation's window: a running summary.

It is kept beside the session, in a file of `.filemem/earlier/` that names the turns
that it is of, so that `forget` clears it with any of them; once a person has changed
one it counts no more.
"""

import contextlib
import os
from typing import NamedTuple

from filemem.chat.window import Part, beginnings
from filemem.errors import FilememError
from filemem.llm import prompt
from filemem.llm.asking import ask
from filemem.llm.model import Model
from filemem.store import config, files
from filemem.store.folder import Folder
from filemem.store.gate import Gate
from filemem.store.passages import Passage
from filemem.store.paths import live
from filemem.text.plain import both_ends, clip_tokens, count_tokens

FOLDER = "earlier"


class RunningSummary(NamedTuple):
    """A model's summary of the first `size` turns of a session."""

    size: int = 0
    text: str = ""


def earlier(folder: Folder, path: str, gone: list[Passage]) -> Part:
    """Return what stands in a prompt for the turns that have left it.

    That is the model's summary, and of the turns since how the last of them begin.

    Args:
        folder: whose session it is.
        path: the session; '' for one that is not kept.
        gone: the turns that have left the prompt.
    """
    summary = _read_summary(folder, path, gone)
    room = config.of(folder).summary_tokens
    since = beginnings(gone[summary.size :], room)
    told = [
        prompt.data("summary", summary.text),
        prompt.data(path or "earlier", since),
    ]
    text = "\n".join(part for part in told if part)
    return Part("earlier in this conversation", text)


def summarise(folder: Folder, model: Model, path: str, gone: list[Passage]) -> None:
    """Have the model summarise the turns that have left the prompt since it last did.

    It is asked once, of the first of them that fit into a request. For the others, and
    for all where it fails, how they begin stands until the next message.

    Args:
        folder: whose session it is.
        model: is asked.
        path: the session; nothing is done for '', one that is not kept.
        gone: the turns that have left the prompt.
    """
    summary = _read_summary(folder, path, gone)
    leaving = gone[summary.size :]
    if not leaving or not path:
        return
    room = config.of(folder).summary_tokens
    said = _said(leaving)
    told = gone[: summary.size + len(said)]
    so_far = prompt.data("summary so far", summary.text)
    since = prompt.data("turns", "\n".join(said))
    shown = f"{so_far}\n{since}"
    with contextlib.suppress(FilememError, OSError):
        reply = ask(model, "summarise", shown, words=room // 2)
        folder.tell("requested", 1, *reply.usage)
        text = clip_tokens(reply.text, room)
        _save_summary(folder, path, told, text)


def _said(turns: list[Passage]) -> list[str]:
    """Return what was said in the first of some turns, as many as a request holds.

    Of a long one it is both ends; the first is among them in any case.
    """
    said: list[str] = []
    room = prompt.REQUEST_TOKENS
    for turn in turns:
        text = both_ends(turn.text, prompt.REQUEST_TOKENS // 4)
        room -= count_tokens(text)
        if said and room < 0:
            break
        said.append(f"{turn.speaker}: {text}")
    return said


def _read_summary(folder: Folder, path: str, gone: list[Passage]) -> RunningSummary:
    """Return the summary of a session, if it is of its first turns as they are now.

    Args:
        folder: whose session it is.
        path: the session; '' for one that is not kept, which has no summary.
        gone: the turns that have left the prompt.
    """
    data = b""
    if path:
        with contextlib.suppress(FilememError):
            data = files.read(_place(folder, path))
    row = data.decode(errors="replace")
    said_of, *rest = row.split("\t")
    count = len(rest) - 1
    if count < 1 or said_of != _digest(folder, gone[:count]):
        return RunningSummary()
    return RunningSummary(count, rest[0])


def _save_summary(folder: Folder, path: str, gone: list[Passage], text: str) -> None:
    """Keep a summary of the first turns of a session.

    Raises:
        FilememError, OSError: it cannot be written.
    """
    row = [_digest(folder, gone), " ".join(text.split())]
    for turn in gone:
        row.append(f"{live(path)}:{turn.line}")
    line = "\t".join(row)
    place = _place(folder, path)
    with folder.locked():
        files.make_folder(os.path.dirname(place))
        files.write(place, f"{line}\n".encode("utf-8", "replace"))


def _place(folder: Folder, path: str) -> str:
    return folder.bookkeeping(f"{FOLDER}/{live(path)}")


def _digest(folder: Folder, turns: list[Passage]) -> str:
    said = []
    for turn in turns:
        said.append(f"{turn.speaker}: {turn.text}")
    return Gate(folder).digest(*said)
