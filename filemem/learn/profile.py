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
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from filemem.errors import FilememError
from filemem.learn.outcome import Applied
from filemem.learn.sessions import display
from filemem.llm import prompt
from filemem.llm.asking import ask
from filemem.llm.model import Model, ModelError
from filemem.search.validity import CERTAIN, fate
from filemem.store import config
from filemem.store.facts import MAX_FACT_CHARS, page
from filemem.store.folder import Folder
from filemem.store.learned import LearnLog, digest
from filemem.store.memory import SOURCE_MARK, Memory
from filemem.store.paths import PROFILE, Kind, live
from filemem.store.profile_sections import (
    BEGIN,
    BLOCK,
    END,
    HEADING,
    SECTIONS,
    section_of,
)
from filemem.text import terms
from filemem.text.plain import count_tokens, counted, one_line
from filemem.text.redaction import redact

_NUMBERS = re.compile(r"[\W\d]+")


def sources(body: str) -> list[str]:
    """Return the paths of the memories that the lines of a profile rest on."""
    marks = map(SOURCE_MARK.search, body.splitlines())
    return [mark[1] for mark in marks if mark]


def revise(
    folder: Folder, log: LearnLog, today: dt.date, fresh: Mapping[str, str]
) -> Applied:
    """Write the block anew, as the memories are by a day.

    What was superseded gives its line to what replaced it; what is over, gone or
    doubtful has none.

    Args:
        folder: whose profile it is.
        log: knows the program's lines, and is told of new ones.
        today: the day.
        fresh: the section for each memory that is to have a line, by its live path;
            a memory that is in the block moves there, or leaves it for no section.

    Returns:
        The profile's path where it changed, and why the file could not be written.
    """
    try:
        with folder.locked():
            if not list(folder.existing(PROFILE)):
                if not any(successor(folder, path, today) for path in fresh):
                    return Applied()
                heading = f"# {display(folder.person)}"
                folder.create(PROFILE, page(Kind.PROFILE, heading))
            change = partial(_revised, folder, log, today, fresh)
            is_changed = folder.edit(PROFILE, change)
    except FilememError as error:
        return Applied(notes=[f"{PROFILE} is as it was: {error}"])
    return Applied(paths=[PROFILE] if is_changed else [])


def _revised(
    folder: Folder,
    log: LearnLog,
    today: dt.date,
    fresh: Mapping[str, str],
    data: bytes,
) -> bytes:
    """Return the whole file with the block as it is to be.

    Args:
        folder: whose profile it is.
        log: knows the program's lines, and is told of new ones.
        today: the day.
        fresh: the section for each memory that is to have a line, by its live path.
        data: the file as it is.
    """
    own, behind, sections = _parted(log, data.decode())
    lines: dict[str, _Line] = {}
    for path, section in {**sections, **fresh}.items():
        memory = successor(folder, path, today)
        place = live(memory.path) if memory else ""
        if memory and section and place not in sources(own):
            said = one_line(memory.statement, MAX_FACT_CHARS)
            lines[place] = _Line(section, f"- {said} <!-- {place} -->")
    # Noted first, so that a run that is killed here leaves no line of the program's
    # that it does not know.
    entries = []
    for place, line in lines.items():
        entries.append({"line": place, "digest": digest(line.text)})
    log.add([one for one in entries if one["digest"] not in log.lines])
    return _written(own, behind, lines.values()).encode()


class _Line(NamedTuple):
    """The program's line about a memory, and the section that it stands in."""

    section: str
    text: str


class _Parts(NamedTuple):
    """What of a profile is a person's and what is the program's.

    Attributes:
        own: the person's text before the block, with their lines in it.
        behind: their text behind it.
        sections: the section for each memory that has a line, by the path in that.
    """

    own: str
    behind: str
    sections: dict[str, str]


def _parted(log: LearnLog, text: str) -> _Parts:
    """Part a profile.

    Args:
        log: knows the program's lines.
        text: the whole file; without a block, the program's lines are anywhere in it.
    """
    block = BLOCK.search(text)
    own = ""
    behind = ""
    if block:
        own = text[: block.start()]
        behind = text[block.end() :]
    sections: dict[str, str] = {}
    section = ""
    for line in (block[0] if block else text).splitlines(keepends=True):
        is_frame = line.strip() in ("", BEGIN, END)
        heading = HEADING.match(line.strip())
        if heading:
            section = section_of(heading[1])
            is_frame = bool(section)
        marks = sources(line)
        if marks and digest(line.strip("\r\n")) in log.lines:
            sections[marks[0]] = section or "who"
        elif not (block and is_frame):
            own += line
    return _Parts(own, behind, sections)


def successor(folder: Folder, path: str, today: dt.date) -> Memory | None:
    """Find the memory at a path, or what has superseded it by a day.

    Args:
        folder: where it lies.
        path: of the memory behind a line.
        today: the day.

    Returns:
        None where that is gone, ended, or a plan whose day is over; where it is
        doubtful, or a machine's word.
    """
    met: set[str] = set()
    memory = folder.find(path)
    while memory and memory.metadata.get("superseded_by") and path not in met:
        until = memory.metadata.get("valid_until")
        if until and today < until:
            break  # what supersedes it is to come
        met.add(path)
        path = live(str(memory.metadata.get("superseded_by")))
        memory = folder.find(path)
    if memory is None or path in met or memory.front.get("said_by"):
        return None
    is_sure = memory.metadata.get("confidence", 1) >= CERTAIN
    return memory if is_sure and not _is_over(memory, today) else None


def _is_over(memory: Memory, today: dt.date) -> bool:
    """Tell whether what a memory says has ended by a day.

    A plan, which was told before its day, ends with that; what has happened stays.
    """
    front = memory.metadata
    end = front.get("valid_until") or front.get("day")
    if end is None or ("day" in front and memory.date and end <= memory.date):
        end = today
    return fate(front) == "deprecated" or bool(end < today)


def _written(own: str, behind: str, lines: Iterable[_Line]) -> str:
    """Write the whole file: the person's text, and the block in it.

    Args:
        own: the person's text before the block.
        behind: the person's text behind it.
        lines: of all memories; a section's heading is in the language of its first.
    """
    block: list[str] = []
    for name, headings in SECTIONS.items():
        items = [line.text for line in lines if line.section == name]
        if items:
            is_chinese = terms.is_chinese(items[0].partition("<!--")[0])
            block += [f"## {headings[is_chinese]}", "", *items, ""]
    if not block:
        return own + behind
    while own.strip() and not own.endswith(("\n\n", "\n\r\n")):
        own += "\n"
    return own + "\n".join([BEGIN, "", *block, END, ""]) + behind


# -- a profile beyond its room ---------------------------------------------------------


def excess(folder: Folder) -> int:
    """Return by how many tokens the profile is longer than `profile_tokens` allow.

    The wishes in it stand elsewhere in a prompt.
    """
    page = folder.find(PROFILE)
    lines = page.body.splitlines() if page else []
    told = [SOURCE_MARK.sub("", one) for one in lines if "<!-- lessons/" not in one]
    return max(0, count_tokens("\n".join(told)) - config.of(folder).profile_tokens)


def condense(
    folder: Folder, log: LearnLog, today: dt.date, model: Model
) -> Iterator[Applied]:
    """Have a model say which of the program's lines leave a profile that is too long.

    The facts behind them stay what they are.

    Args:
        folder: whose profile it is.
        log: knows the program's lines.
        today: the day.
        model: who says; where it fails all lines stay.

    Yields:
        What was done, if anything.
    """
    if not excess(folder):
        return
    told: list[str] = []
    paths: dict[str, str] = {}  # of the program's lines, by their number
    for number, line in enumerate(folder.memory(PROFILE).body.splitlines(), 1):
        told.append(f"{number}. {SOURCE_MARK.sub('', line)}")
        if digest(line) in log.lines:
            paths[str(number)] = sources(line)[0]
    if not paths:
        return
    shown = prompt.data(PROFILE, redact("\n".join(told)).text)
    try:
        reply = ask(model, "condense", shown, tokens=config.of(folder).profile_tokens)
    except ModelError as error:
        yield Applied(error=f"{error} The profile stays as it is.")
        return
    named: list[str] = []
    if _NUMBERS.fullmatch(reply.text):
        named = re.findall(r"\d+", reply.text)
    leaving = {paths[number]: "" for number in named if number in paths}
    if not leaving:
        said = f"{PROFILE} is too long, but {model.name} named no line to leave it"
        yield Applied(notes=[f"{said}; shorten it by hand."])
        return
    left = f"{counted(len(leaving), 'line')} left {PROFILE}, which was too long."
    yield revise(folder, log, today, leaving).with_notes([left])
