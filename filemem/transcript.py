"""One conversation on disk: a dated Markdown file to which every turn is appended as it is said."""

import datetime as dt
import os
from collections.abc import Iterable

from filemem.errors import NotFound
from filemem.folder import Folder
from filemem.memory import Passage, format_turn, quoted, slug, when_of

ASSISTANT = "assistant"
INTERRUPTED = "[interrupted]"


class Transcript:
    """The session file of one conversation; it is created with its first turn."""

    def __init__(self, folder: Folder, path: str = "") -> None:
        self.folder = folder
        self.path = path

    def add(self, speaker: str, text: str, at: dt.datetime) -> int:
        """Append one turn, durably; returns the line on which it starts. `at` is the person's local time."""
        turn = format_turn(speaker, f"{at:%H:%M}", text)
        with self.folder.locked():
            if not self.path:
                self.path = create(self.folder, slug(first_words(text)) or "conversation", at, [turn])
            else:
                self.folder.append(self.path, turn)
            return self.turns()[-1].line

    def turns(self) -> list[Passage]:
        """Every turn so far, as the file has it now."""
        return [p for p in self.folder.memory(self.path).passages if p.speaker] if self.path else []


def create(folder: Folder, name: str, at: dt.datetime, turns: Iterable[str], extra: str = "") -> str:
    """Write a session file of ready turns in one go; returns its path. `extra` is further front matter lines."""
    zone = f"timezone: {quoted(zone_name(at))}\n" if at.tzinfo else ""
    front = f"---\ndate: {at:%Y-%m-%dT%H:%M:%S}\n{zone}{extra}---\n\n"
    return folder.create(f"sessions/{at:%Y}/{at:%Y-%m-%d-%H%M}-{name}.md", front + "".join(turns))


def latest(folder: Folder) -> Transcript:
    """The session that began last; raises NotFound where there is none."""
    paths = [path for path in folder.paths() if path.startswith("sessions/") and when_of(path)]
    if not paths:
        raise NotFound(f"{folder.name} has no session to resume; start one with: filemem chat.")
    return Transcript(folder, max(paths, key=lambda path: (os.path.basename(path)[:15], path)))


def first_words(text: str) -> str:
    """What names the conversation: the beginning of its first message, a greeting aside."""
    return " ".join(text.split()[:12])


def zone_name(at: dt.datetime) -> str:
    """The zone of an aware time as a person knows it: `Europe/Lisbon` where the system tells, else `UTC+01:00`."""
    name = os.environ.get("TZ", "").lstrip(":") or os.path.realpath("/etc/localtime").partition("/zoneinfo/")[2]
    offset = f"{at:%z}"
    return name if "/" in name else f"UTC{offset[:3]}:{offset[3:5]}"
