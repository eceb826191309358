"""The program's block of `profile.md`: what is known, a line each, by section.

    <!-- filemem -->

    ## Home

    - Mara lives in [[Porto]]. <!-- facts/2026/….md -->

    <!-- /filemem -->

The block is written anew, whole, from the memories behind its lines; all else in the
file is the person's and stays to the byte. A line in it that the program did not write
is moved above it. In a file of before, which has no such block, the program's lines are
those that the log knows; they move into one.
"""

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from filemem.errors import FilememError
from filemem.learn.decide import said_in
from filemem.learn.log import LearnLog, digest
from filemem.learn.sessions import display
from filemem.store import pending
from filemem.store.folder import Folder
from filemem.store.memory import SOURCE_MARK, Memory
from filemem.store.paths import PROFILE, live
from filemem.store.profile_sections import BEGIN, END, HEADING, SECTIONS, section_of
from filemem.text import terms
from filemem.text.plain import one_line

MAX_LINE_CHARS = 200
MIN_CONFIDENCE = 0.7
_NOTHING: Mapping[str, str] = {}
_BLOCK = re.compile(rf"^{BEGIN}\s*?$.*?(?:^{END}[^\S\n]*\n?|\Z)", re.M | re.S)
_EMPTY_SECTION = re.compile(
    rf"^## (?:{'|'.join(name for names in SECTIONS.values() for name in names)})\s+"
    r"(?=^#{1,6}\s|\Z)",
    re.M,
)


@dataclass(frozen=True)
class ProfileLine:
    """A line of the block: the live path of the memory behind it, section, and text."""

    path: str
    section: str
    text: str


class Revised(NamedTuple):
    """The paths that changed, and sentences for the person."""

    paths: list[str]
    notes: list[str]


def sources(body: str) -> list[str]:
    """The paths of the memories that the lines of a profile rest on."""
    marks = map(SOURCE_MARK.search, body.splitlines())
    return [mark[1] for mark in marks if mark]


def own_text(body: str) -> str:
    """What a person wrote in the profile; nothing where there are only headings."""
    lines = [line for line in _BLOCK.sub("", body).split("\n") if line.strip()]
    kept = [line for line in lines if not SOURCE_MARK.search(line)]
    has_words = any(not line.startswith("#") for line in kept)
    return "\n".join(kept) if has_words else ""


def revise(
    folder: Folder, log: LearnLog, today: dt.date, fresh: Mapping[str, str] = _NOTHING
) -> Revised:
    """Write the block anew, as the memories are by a day.

    What was superseded gives its line to what replaced it; what is over, gone or
    doubtful has none.

    Args:
        folder: whose profile it is.
        log: knows the program's lines, and is told of new ones.
        today: the day.
        fresh: the section for each memory that is to have a line, by its live path;
            a memory that is in the block moves there.

    Returns:
        The profile's path where it changed, and why the file could not be written.
    """

    def change(data: bytes) -> bytes:
        text = data.decode()
        match = _BLOCK.search(text)
        ours = list(_our_lines(match[0] if match else text, log))
        own = _person_s_text(text, match, log)
        lines = _current_lines(folder, ours, fresh, today, set(sources(own[0])))
        # Noted first, so that a run that is killed here leaves no line of the program's
        # that it does not know.
        new = {line.path: digest(line.text) for line in lines}
        known = log.lines
        log.add(
            {"line": at, "digest": one} for at, one in new.items() if one not in known
        )
        return _written(*own, lines).encode()

    try:
        with folder.locked():
            if not list(folder.existing(PROFILE)):
                if not fresh:
                    return Revised([], [])
                folder.create(PROFILE, f"# {display(folder.name)}\n")
            elif folder.memory(PROFILE).front.get("read_only") is True:
                return Revised(
                    [], [f"{PROFILE} says that it is read only, so it stays."]
                )
            is_changed = folder.edit(PROFILE, change)
    except (FilememError, UnicodeDecodeError) as error:
        return Revised([], [f"{PROFILE} is as it was: {error}"])
    return Revised([PROFILE] if is_changed else [], [])


def _our_lines(text: str, log: LearnLog) -> Iterator[ProfileLine]:
    """Yield the lines about memories that are as the program wrote them."""
    section = ""
    for line in text.split("\n"):
        heading = HEADING.match(line.strip())
        if heading:
            section = section_of(heading[1])
        elif _is_ours(line, log):
            yield ProfileLine(sources(line)[0], section, line.strip())


def _is_ours(line: str, log: LearnLog) -> bool:
    return bool(sources(line)) and digest(line.strip("\r")) in log.lines


def _person_s_text(
    text: str, block: re.Match[str] | None, log: LearnLog
) -> tuple[str, str]:
    """What is the person's before the block and behind it."""
    lines = (block[0] if block else text).split("\n")
    kept = [line for line in lines if not _is_ours(line, log)]
    if block is None:  # of before
        own = "\n".join(kept)
        return _EMPTY_SECTION.sub("", own) if len(kept) < len(lines) else own, ""
    strays = []
    for line in kept:
        heading = HEADING.match(line.strip())
        is_section = heading is not None and section_of(heading[1])
        if line.strip() not in ("", BEGIN, END) and not is_section:
            strays.append(f"{line}\n")
    return text[: block.start()] + "".join(strays), text[block.end() :]


def _current_lines(
    folder: Folder,
    lines: list[ProfileLine],
    fresh: Mapping[str, str],
    today: dt.date,
    own: set[str],
) -> list[ProfileLine]:
    """The lines that the block is to have; not about what a line of the person's is."""
    sections = {line.path: line.section for line in lines}
    found: dict[str, ProfileLine] = {}
    for path, section in [*sections.items(), *fresh.items()]:
        memory = successor(folder, path, today)
        if memory and live(memory.path) not in own:
            place = live(memory.path)
            text = f"- {one_line(said_in(memory), MAX_LINE_CHARS)} <!-- {place} -->"
            found[place] = ProfileLine(
                place, fresh.get(place) or section or "who", text
            )
    return list(found.values())


def successor(folder: Folder, path: str, today: dt.date) -> Memory | None:
    """Find the memory at a path, or what has superseded it by a day.

    Returns:
        None where that is gone, ended, or a plan whose day is over; where it is
        doubtful, a machine's word, or to be forgotten.
    """
    met: set[str] = set()
    hidden = pending.pending_deletions(folder)
    memory = folder.find(path)
    while memory and memory.metadata.get("superseded_by") and path not in met:
        until = memory.metadata.get("valid_until")
        if until and today < until:
            break  # what supersedes it is to come
        met.add(path)
        path = live(str(memory.metadata.get("superseded_by")))
        memory = folder.find(path)
    if memory is None or path in met or hidden.hides(path, 0):
        return None
    confidence = memory.metadata.get("confidence")
    if memory.front.get("said_by") or (confidence or 1) < MIN_CONFIDENCE:
        return None
    return memory if said_in(memory) and not _is_over(memory, today) else None


def _is_over(memory: Memory, today: dt.date) -> bool:
    end = memory.metadata.get("valid_until")
    day = memory.metadata.get("day")
    if not end and day and memory.date and memory.date < day:
        end = day
    return bool(end and end < today)


def _written(before: str, behind: str, lines: list[ProfileLine]) -> str:
    """Write the whole file: the person's text, and the block in it."""
    block: list[str] = []
    for name, headings in SECTIONS.items():
        items = [line.text for line in lines if line.section == name]
        if items:
            is_chinese = terms.is_chinese(items[0].partition("<!--")[0])
            block += [f"## {headings[is_chinese]}", "", *items, ""]
    if not block:
        return before + behind
    newline = "\r\n" if before.count("\r\n") * 2 > before.count("\n") else "\n"
    if before.strip():
        while not re.search(r"\n\r?\n\Z", before):
            before += newline
    return before + newline.join([BEGIN, "", *block, END, ""]) + behind
