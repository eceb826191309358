"""The files of coding agents' sessions: one a session, only ever added to.

docs/agents.md has the table of what is kept of each.
"""

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import tzinfo
from typing import Any

from filemem.errors import FilememError, NotFound
from filemem.importers.base import (
    BROKEN,
    SUBAGENT,
    ImportedConversation,
    Item,
    LeftOut,
    Skipped,
    as_dict,
    as_list,
    decode_json,
    joined,
    spoken_part,
    text_lines,
)
from filemem.store import files

_COMPRESSED = ".zst"
MAX_UNPACKED_BYTES = 500_000_000


Entries = Iterator[tuple[int, dict[str, Any]]]
"""The entries of a session's file, each with the line on which it stands."""


def sessions(
    assistant: str,
    name_pattern: str,
    read: Callable[[Entries, tzinfo | None, LeftOut], ImportedConversation | None],
    path: str,
    zone: tzinfo | None,
) -> Iterator[Item]:
    """Yield the sessions of an agent.

    Args:
        assistant: the agent's name, as the speaker of its turns.
        name_pattern: matches the names of sessions' files.
        read: makes a conversation of a file's entries.
        path: of a session, or of a folder; links in it are left out.
        zone: the person's.
    """
    left_out = LeftOut()
    found = [path]
    if os.path.isdir(path):
        found = _session_files(path, name_pattern, left_out)
    if not found:
        raise NotFound(
            f"{path} holds no sessions of {assistant}; name the folder that it keeps "
            "them in."
        )
    forks = list[ImportedConversation]()
    for file in found:
        try:
            session = read(_entries(file, left_out), zone, left_out)
        except FilememError as error:
            if file == path:
                raise
            yield Skipped(file, str(error))
            continue
        if session is None:
            continue
        id = session.id or os.path.basename(file).partition(".")[0]
        session = replace(session, id=id, assistant=assistant)
        if session.is_fork:
            forks.append(session)
        else:
            yield session
    yield from forks  # what they begin with has been taken in by now
    yield left_out


def _session_files(folder: str, name_pattern: str, left_out: LeftOut) -> list[str]:
    found = []
    for _, entry in files.walk(folder, lambda *_: True):
        name = entry.name.removesuffix(_COMPRESSED)
        is_session = re.fullmatch(name_pattern, name)
        if not is_session or not entry.is_file(follow_symlinks=False):
            continue
        if name.startswith("agent-"):
            left_out[SUBAGENT] += 1
        else:
            found.append(entry.path)
    return sorted(found)


def _entries(file: str, left_out: LeftOut) -> Entries:
    """Yield the entries of a file; the last may be in the midst of being written."""
    lines = text_lines(file)
    if file.endswith(_COMPRESSED):
        lines = enumerate(_unpacked(file).strip().split("\n"), 1)
    for number, line in lines:
        try:
            yield number, as_dict(decode_json(line))
        except FilememError:
            left_out[BROKEN] += 1


def _unpacked(file: str) -> str:
    try:
        import zstandard  # noqa: PLC0415  of an extra
    except ImportError:
        raise FilememError(
            "it is compressed; install filemem[zstd], or unpack it with zstd -d, and "
            "import again"
        ) from None
    with open(files.open_regular(file), "rb") as packed:
        reader = zstandard.ZstdDecompressor().stream_reader(packed)
        try:
            return str(reader.read(MAX_UNPACKED_BYTES), "utf-8", "replace")
        except zstandard.ZstdError as error:
            raise FilememError(
                f"it cannot be unpacked ({error}); see zstd -t"
            ) from None


# -- whose words -----------------------------------------------------------------------

# How texts begin that a client writes in the person's place.
_CLIENT_BEGINNINGS = (
    "[Request interrupted by user",
    "This session is being continued from",
    "# AGENTS.md instructions",
    "Warning: apply_patch was requested via",
    "Another language model started to solve this problem",
    "Another Claude session sent a message:\n",
    "Another Claude session sent a message while you were working:\n",
)


def spoken(content: object, tags: list[str], left_out: LeftOut) -> str:
    """Return the words of a message's content, a text or blocks.

    Calls of tools, their results, thoughts and what a client put in are no words.
    """
    texts = []
    for part in as_list(content) or [content]:
        text = spoken_part(part, left_out)
        left_out["typed shell command"] += text.startswith(
            ("<bash-input>", "<user_shell_command>")
        )
        if text.startswith(_CLIENT_BEGINNINGS):
            continue
        for tag in tags:
            # Behind the last end there is nothing to search for, however long it is.
            tagged, end, rest = text.rpartition(f"</{tag}>")
            pattern = rf"(?s)<{tag}(?:\s[^>]{{0,200}})?>.*?</{tag}>"
            text = (re.sub(pattern, "", tagged + end) + rest).strip()
        texts.append(text)
    return joined(texts, "\n\n")
