"""A summary file: a section for each conversation that it stands for.

    ## 2026-10-05-0930-trip-to-kyoto

    - **Mara**: We fly on Monday [12 October 2026]. (sessions/2026/2026-10-05-0930-trip-to-kyoto.md:12,15)

A section is the machine's as long as its bytes are what the machine wrote, told by their digest in the log of what was
compacted (`store.compactions`); one that a person has changed is theirs.
"""

import re
from collections.abc import Iterable

from filemem.store.bullets import Bullet
from filemem.store.paths import live
from filemem.text.plain import digest

DIGITS = 32  # of a digest that tells whether something was changed


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
