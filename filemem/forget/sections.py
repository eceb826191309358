"""A summary file: a section for each conversation that it stands for.

    ## 2026-10-05-0930-trip-to-kyoto

    - **Mara**: We fly on Monday. (sessions/2026/2026-10-05-0930-trip-to-kyoto.md:12)

A section is the machine's as long as its bytes are what the machine wrote, which the
log of what was compacted knows by their digest; one that a person has changed is
theirs.
"""

import re
from collections.abc import Iterable

from filemem.store.bullets import Bullet
from filemem.text.plain import digest

DIGEST_LETTERS = 32


def section_digest(section: bytes) -> str:
    """Return the digest by which the log knows a section."""
    return digest(section, DIGEST_LETTERS)


def section_title(path: str) -> str:
    """Return the heading for a conversation: the name of its file."""
    return path.rpartition("/")[2].rpartition(".")[0]


def write_section(path: str, bullets: Iterable[Bullet]) -> bytes:
    """Return the section of a conversation."""
    lines = "".join(map(str, bullets))
    return f"## {section_title(path)}\n\n{lines}".encode("utf-8", "replace")


def put_section(summary: bytes, path: str, new: bytes, known: str) -> bytes:
    """Return a summary with a section in its place, at the end where it is new.

    A section with the digest `known` is replaced, by an empty one, too. Another one is
    a person's and stays, with the lines that it lacks at its end.
    """
    place = _find_section(summary, path)
    if place is None:
        gap = b"\n" if summary and new else b""
        return _ended(summary) + gap + new
    old = summary[place]
    if section_digest(old) != known:
        lacking = [line for line in new.splitlines(True)[2:] if line not in old]
        new = old
        if lacking:
            new = _ended(old) + b"".join(lacking)
    before = summary[: place.start]
    if not new:
        before = before.removesuffix(b"\n")  # the empty line above it
    return before + new + summary[place.stop :]


def _find_section(summary: bytes, path: str) -> slice | None:
    """Return where the section of a conversation stands; None where it has none."""
    title = re.escape(section_title(path).encode())
    heading = re.search(rb"^## " + title + rb"\r?\n", summary, re.MULTILINE)
    if not heading:
        return None
    following = re.compile(rb"\n##? ").search(summary, heading.end() - 1)
    end = following.start() if following else len(summary)
    return slice(heading.start(), end)


def _ended(text: bytes) -> bytes:
    """Return a text with a newline at its end, if it has any line."""
    return text if text.endswith(b"\n") or not text else text + b"\n"
