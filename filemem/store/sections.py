"""A summary file: a section for each conversation that it stands for.

    ## 2026-10-05-0930-trip-to-kyoto

    - **Mara**: We fly on Monday [12 October 2026]. (sessions/2026/2026-10-05-0930-trip-to-kyoto.md:12,15)

A section is the machine's as long as its bytes are what the machine wrote, told by their digest in the log of what was
compacted (`journal.compacted`); one that a person has changed is theirs.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from filemem.store.memory import live
from filemem.text.plain import count_tokens, digest

DIGITS = 32  # of a digest that tells whether something was changed


class Bullet(NamedTuple):
    """One statement of a summary: who said it (empty: nobody in particular), what, and the lines it comes from."""

    speaker: str
    text: str
    path: str
    lines: tuple[int, ...]

    def __str__(self) -> str:
        who = f"**{self.speaker}**: " if self.speaker else ""
        return f"- {who}{self.text} ({self.path}:{','.join(map(str, self.lines))})\n"

    @property
    def tokens(self) -> int:
        """What it adds to a summary."""
        return count_tokens(str(self))


_BULLET = re.compile(
    r"[-*] (?:\*\*(.+?)\*\*: )?(.*?)"
    r"(?: \(((?:archive/)?(?:sessions|summaries)/(?:(?!:\d).)+|[^()]+):(\d+(?:,\d+)*)\))?\s*$"
)


def parse(line: str, path: str, number: int) -> Bullet | None:
    """A line of a summary as a bullet; one without a link, perhaps a person's, links to itself. None for any other line."""
    match = _BULLET.match(line)
    if not match or not match[2]:
        return None
    lines = tuple(map(int, match[4].split(","))) if match[4] else (number,)
    return Bullet(match[1] or "", match[2], match[3] or path, lines)


def title(path: str) -> str:
    """The heading of the section for a source: its file's name, or the path where that is not in the usual folder."""
    stem = path.rpartition("/")[2].rpartition(".")[0]
    return (
        stem
        if live(path) in (f"sessions/{stem}.md", f"sessions/{stem[:4]}/{stem}.md")
        else live(path)
    )


def section(path: str, bullets: Iterable[Bullet], told: str = "") -> bytes:
    """Write the section of one source: what it was about, if that is `told`, and lines."""
    about = f"**{told}**\n\n" if told else ""
    text = f"## {title(path)}\n\n{about}{''.join(map(str, bullets))}"
    return text.encode("utf-8", "replace")


def find(data: bytes, path: str) -> tuple[int, int] | None:
    """Where the section of a source stands in a summary's bytes; None where it has none."""
    match = re.search(
        rb"(?:^|\n)(## " + re.escape(title(path).encode()) + rb"\r?\n)", data
    )
    if not match:
        return None
    end = re.compile(rb"\n##? ").search(data, match.end() - 1)
    return match.start(1), end.start() if end else len(data)


def put(data: bytes, path: str, new: bytes, known: str) -> bytes:
    """The summary with a section in its place, in the order of headings. One with the digest `known` is replaced; another one is
    a person's and stays, with the new lines that it lacks at its end."""
    place = find(data, path)
    if place:
        start, end = place
        if digest(data[start:end], DIGITS) == known:
            return data[:start] + new + data[end:]
        fresh = b"".join(
            line for line in new.splitlines(True)[2:] if line not in data[start:end]
        )
        gap = b"" if data[start:end].endswith(b"\n") or not fresh else b"\n"
        return data[:end] + gap + fresh + data[end:]
    for match in re.finditer(rb"(?:^|\n)(## ([^\r\n]+))", data):
        if match[2].decode(errors="replace") > title(path):
            return data[: match.start(1)] + new + b"\n" + data[match.start(1) :]
    gap = b"" if not data else b"\n" if data.endswith(b"\n") else b"\n\n"
    return data + gap + new


# -- of the profile -------------------------------------------------------------------------------------------------

SECTIONS = {  # of the profile, with their headings in the file
    "who": ("Who this is", "基本情况"),
    "health": ("Health", "健康"),
    "home": ("Home", "住处"),
    "work": ("Work", "工作"),
    "talk": ("How to talk", "怎么说话"),
    "family": ("Family", "家人"),
    "likes": ("Likes", "喜好"),
}
BEGIN = "<!-- filemem -->"
END = "<!-- /filemem -->"
"""What stands around the program's block of the profile."""
HEADING = re.compile(r"#{1,6}\s+(.*?)\s*$")


def under(lines: Iterable[str], name: str) -> list[str]:
    """The lines below the heading of a section, up to the next heading."""
    found, inside = list[str](), False
    for said in lines:
        if match := HEADING.match(said):
            inside = is_of(match[1], SECTIONS[name])
        elif inside and said.strip() not in (BEGIN, END):
            found.append(said)
    return found


def is_of(title: str, names: tuple[str, str]) -> bool:
    """Tell whether this is the heading of a section with these names."""
    return title.casefold().startswith(tuple(name.casefold() for name in names))


def section_of(title: str) -> str:
    """Name the section that a heading is of, as the program writes it; else ''."""
    for name, titles in SECTIONS.items():
        if title in titles:
            return name
    return ""
