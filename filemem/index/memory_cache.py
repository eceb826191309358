"""Memories read for one question, kept for the next as long as their files stay as they were."""

import threading
import time

from filemem.files.folder import Folder
from filemem.files.memory import Memory

MOST = 2_000_000  # bytes of files kept; the parsed ones take some ten times as much
SETTLED = 2_000_000_000  # nanoseconds: a file that changed so shortly before it was read may change again unseen

Stats = tuple[int, ...]  # of a file as `watching.listing` has them: times of modification and inode change, size, inode


class MemoryCache:
    """The files read last. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[str, tuple[Stats, Memory]] = {}  # by path, the one used last at the end
        self._bytes = 0

    def memory(self, folder: Folder, path: str, stats: Stats) -> Memory:
        """The memory whose file has just been listed with these stats. Raises FilememError."""
        with self._lock:
            held = self._held.pop(path, None)
            if held and held[0] == stats:
                self._held[path] = held
                return held[1]
            self._bytes -= len(held[1].data) if held else 0
        memory = folder.memory(path)
        if abs(time.time_ns() - stats[1]) > SETTLED and len(memory.data) == stats[2] <= MOST:
            self._hold(path, stats, memory)
        return memory

    def _hold(self, path: str, stats: Stats, memory: Memory) -> None:
        with self._lock:
            before = self._held.pop(path, None)
            self._held[path] = stats, memory
            self._bytes += len(memory.data) - (len(before[1].data) if before else 0)
            while self._bytes > MOST:
                self._bytes -= len(self._held.pop(next(iter(self._held)))[1].data)
