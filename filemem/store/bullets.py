"""A line of a summary: what somebody said, and the lines that it stands for."""

import re
from dataclasses import dataclass

from filemem.text.plain import count_tokens


@dataclass(frozen=True)
class Bullet:
    """One statement of a summary.

    Attributes:
        speaker: who said it; '' for nobody.
        text: what.
        path: of the conversation.
        lines: of it, which say so.
        title: of the conversation, which stands before its first line; '' for none.
            Read again, it is of the text.
    """

    speaker: str
    text: str
    path: str
    lines: tuple[int, ...]
    title: str = ""

    def __str__(self) -> str:
        who = f"**{self.speaker}**: " if self.speaker else ""
        if self.title:
            who = f"**{self.title}** – "
        return f"- {who}{self.text} ({self.path}:{','.join(map(str, self.lines))})\n"

    @property
    def tokens(self) -> int:
        """What it adds to a summary."""
        return count_tokens(str(self))


_BULLET = re.compile(
    r"[-*] (?:\*\*(.+?)\*\*: )?(.*?)"
    r"(?: \(((?:archive/)?(?:sessions|summaries)/(?:(?!:\d).)+|[^()]+)"
    r":(\d+(?:,\d+)*)\))?\s*$"
)


def parse(line: str, path: str, number: int) -> Bullet | None:
    """Return a line of a summary as a bullet; None for any other line.

    One without a link, perhaps a person's, links to itself.
    """
    match = _BULLET.match(line)
    if not match or not match[2]:
        return None
    lines = tuple(map(int, match[4].split(","))) if match[4] else (number,)
    return Bullet(match[1] or "", match[2], match[3] or path, lines)
