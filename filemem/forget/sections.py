"""A summary file: a section for each conversation that it stands for.

    ## 2026-10-05-0930-trip-to-kyoto

    - **Mara**: We fly on Monday. (sessions/2026/2026-10-05-0930-trip-to-kyoto.md:12)

A section is the machine's as long as its bytes are what the machine wrote, which the
log of what was compacted knows by their digest; one that a person has changed is
theirs.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from filemem.store import compactions
from filemem.store.bullets import Bullet
from filemem.store.compactions import Compacted
from filemem.store.folder import Folder
from filemem.store.paths import live
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


def unchanged_sections(
    folder: Folder, summaries: Collection[str]
) -> dict[str, Compacted]:
    """Return what the log says of the sections that no person has changed.

    Args:
        folder: whose they are.
        summaries: the paths of the files that they stand in.

    Returns:
        An entry of the log by the live path of each conversation.
    """
    names = set(map(live, summaries))
    found: dict[str, Compacted] = {}
    for source, entry in compactions.compacted(folder).items():
        if (
            entry.summary in names
            and _digest_now(folder, source, entry) == entry.section
        ):
            found[source] = entry
    return found


def note_sections(folder: Folder, sections: Mapping[str, Compacted]) -> None:
    """Note that sections are the machine's as they are now, with lines forgotten.

    Args:
        folder: whose they are.
        sections: what the log said of each, by the live path of the conversation.
    """
    changed: dict[str, Compacted] = {}
    for source, entry in sections.items():
        section = _digest_now(folder, source, entry)
        if section not in ("", entry.section):
            changed[source] = replace(entry, section=section)
    compactions.note_compacted(folder, changed)


def _digest_now(folder: Folder, source: str, entry: Compacted) -> str:
    """Return the digest of a conversation's section; '' where it has none."""
    memory = folder.find(entry.summary)
    place = _find_section(memory.data, source) if memory else None
    if memory is None or place is None:
        return ""
    return section_digest(memory.data[place])


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
