"""The line of a session's front matter that sums it up, as the model told it that read the session."""

from typing import Any

from filemem.errors import FilememError
from filemem.files import archive, episode
from filemem.files.folder import Folder
from filemem.files.memory import Memory, encoding_of, is_archived
from filemem.remembering.consolidation_log import ConsolidationLog, digest


def may_have_one(memory: Memory, log: ConsolidationLog) -> bool:
    """Is a session live, with room for an episode or with nothing but the program's in it?"""
    if is_archived(memory.path) or encoding_of(memory.data) != "utf-8":
        return False
    here = memory.lines[memory.episode_line - 1 : memory.episode_line] if memory.episode_line else []
    here += [memory.lines[n - 1] for n in episode.places(memory.lines, memory.front_end) if not memory.episode_line]
    if here:
        return all(_is_ours(line, log, memory.path) for line in here)
    room = memory.front_end and memory.lines[memory.front_end : memory.front_end + 1] == [""]
    return bool(room) and episode.KEY not in memory.front and (memory.front != {} or memory.front_end == 2)


def _is_ours(line: str, log: ConsolidationLog, path: str) -> bool:
    """Did the program write this line, or blank it?"""
    blanked = line.partition(":")[2].strip() == episode.OWN_NAME
    return blanked or digest(line) in log.episodes.get(archive.live(path), ())


def write(folder: Folder, path: str, written: str, log: ConsolidationLog) -> tuple[list[dict[str, Any]], int]:
    """Set a session's episode; returns what the log keeps, and by how many bytes the file grew."""
    grown = 0

    def change(data: bytes) -> bytes | None:
        nonlocal grown
        lines = episode.once(data.decode().split("\n"), Memory(path, data).front_end)
        memory = Memory(path, "\n".join(lines).encode())
        if f"{written}\n" not in memory.text and not may_have_one(memory, log):
            return None
        lines = episode.put(lines, memory.front_end, memory.episode_line, written)
        after = "\n".join(lines).encode()
        grown = len(after) - len(data)
        return after

    try:
        folder.edit(path, change)
        here = folder.memory(path)
    except (FilememError, UnicodeDecodeError):
        return [], 0
    if here.episode_line and here.lines[here.episode_line - 1] == written:
        return [{"episode": path, "written": digest(written)}], grown
    return [], 0
