"""What is wrong in a user's folder and in a memory's file, each with its remedy."""

import os
from collections.abc import Iterator

from filemem.errors import Problem
from filemem.store import files
from filemem.store.fields import FIELDS, day_of
from filemem.store.files import MAX_DEPTH, too_far, walk
from filemem.store.folder import BOOKKEEPING, SUFFIXES, Folder, enters, is_unprintable
from filemem.store.memory import LARGEST, Memory
from filemem.store.paths import DATED, type_of, when_of
from filemem.text.plain import one_line


def problems_of(memory: Memory) -> list[Problem]:
    """Return what is wrong with a memory's file, by line."""
    if memory.binary:
        remedy = "move it out of the memories, or describe it in a Markdown file"
        return [Problem(memory.path, 1, "not a text file", remedy)]
    if len(memory.data) > LARGEST:
        what = f"larger than {LARGEST // 1_000_000} MB: grep and open read it"
        remedy = "split it into smaller files"
        return [Problem(memory.path, 1, f"{what}, search_files does not", remedy)]
    return sorted([*_in_text(memory), *_in_date(memory), *_in_fields(memory)])


def _in_text(memory: Memory) -> Iterator[Problem]:
    """Yield what is wrong with the bytes, and with the fences of front matter."""
    path = memory.path
    try:
        memory.data.decode()
    except UnicodeDecodeError as error:
        line = memory.data.count(b"\n", 0, error.start) + 1
        what = f"not UTF-8, read as {memory.encoding}"
        yield Problem(path, line, what, "save it as UTF-8")
    is_opened = memory.lines[:1] and memory.lines[0].rstrip() == "---"
    if is_opened and not memory.front_end and not memory.is_yaml:
        what = "the front matter is never closed"
        yield Problem(path, 1, what, "add a line with --- under it")
    if memory.front_matter.fault:
        yield memory.front_matter.fault


def _in_date(memory: Memory) -> Iterator[Problem]:
    """Yield what is wrong with the date of the name, or of the front matter.

    Of a name that says only the month the day may be any in it.
    """
    when = when_of(memory.path)
    if not when and DATED.match(os.path.basename(memory.path)):
        what = "the file's name starts with what is not a date"
        yield Problem(memory.path, 1, what, "rename it with a real date, YYYY-MM-DD")
    day = str(day_of(memory.front.get("date")) or "")
    named = str(when.date) if when else ""
    if when and when.day_unknown:
        named = f"{when.date:%Y-%m}"
    if day and not day.startswith(named):
        what = f"date is {day}, but the file's name says {named}"
        remedy = "the name decides: rename the file or correct the key"
        yield Problem(memory.path, memory.line_of("date"), what, remedy)


def _in_fields(memory: Memory) -> Iterator[Problem]:
    """Yield what is wrong with the values of known keys.

    A key that has no rule may hold anything.
    """
    for key, field in FIELDS.items():
        value = memory.front.get(key)
        if value is None or not field.rule or field.is_valid(value):
            continue
        line = memory.line_of(key)
        what = f"{key} is {one_line(repr(value), 40)}"
        yield Problem(memory.path, line, what, f"{key} is {field.rule}")


def bundle_problems(folder: Folder) -> list[Problem]:
    """Return why a user's folder is no bundle of the Open Knowledge Format 0.2.

    Its specification, okf/SPEC.md of GoogleCloudPlatform/knowledge-catalog, asks for a
    `type` in the front matter of each Markdown file, proposals too. Two names are
    reserved: `index.md` has front matter only to name the version, and the headings of
    `log.md` are days.

    Raises:
        FilememError: a file cannot be read.
    """
    found: list[Problem] = []
    for path in [*folder.paths(), *folder.proposals()]:
        if path.endswith(".md"):
            found += _in_bundle(folder.memory(path))
    return sorted(found)


def _in_bundle(memory: Memory) -> Iterator[Problem]:
    """Yield why a Markdown file may not be in a bundle."""
    path = memory.path
    name = os.path.basename(path)
    broken = list(_in_text(memory))
    yield from broken
    if name == "log.md":
        for number, line in enumerate(map(str.rstrip, memory.lines), 1):
            said = line.removeprefix("## ")
            if said not in (line, str(day_of(said))):
                what = "this heading of a log is no day"
                yield Problem(path, number, what, "write it like ## 2026-11-20")
    elif name == "index.md":
        if memory.front and "okf_version" not in memory.front:
            what = "an index has front matter only to name its okf_version"
            yield Problem(path, 1, what, "take it out, or rename the file")
    elif not broken and not memory.front.get("type"):
        line = f"type: {type_of(memory.kind)}"
        remedy = f"write {line} at its head, between two lines ---"
        yield Problem(path, 1, "its front matter has no type", remedy)


def strays(folder: Folder) -> Iterator[Problem]:
    """Yield what lies in a folder and is not a memory, though it may look like one:
    links, devices, unreadable folders."""
    for path, entry in walk(folder.root, enters):
        what, _, remedy = _fault_of(path, entry).partition("; ")
        if what:
            yield Problem(one_line(path), 1, what, remedy)


def _fault_of(path: str, entry: "os.DirEntry[str]") -> str:
    """Return what is wrong with an entry that looks like a memory, and its remedy.

    The two stand in one sentence, with a semicolon between them. '' where nothing is
    wrong, as with what an editor or another program keeps for itself.
    """
    is_file = entry.is_file(follow_symlinks=False)
    is_folder = entry.is_dir(follow_symlinks=False)
    if entry.name.startswith(files.TEMPORARY):
        # `maintain` deletes it where it is the program's own.
        return "left by a write that was cut off; look at it, then delete it"
    if path == BOOKKEEPING and not is_folder:
        return "this is not a folder, so nothing can be kept here; rename it"
    if entry.name[0] == ".":
        return ""
    if is_unprintable(entry.name):
        what = "its name holds a backslash, control characters or no UTF-8"
        return f"{what}, so it is not read; rename it"
    if is_folder and too_far(path):
        what = f"more than {MAX_DEPTH} folders deep or too long a path"
        return f"{what}, and not read; move it"
    if not is_folder and not is_file:
        return "a link or no plain file, so not read; put a file in its place"
    if not os.access(entry.path, os.R_OK):
        return "not readable; give its owner the right to read it (chmod u+r)"
    if is_file and not any(suffix in entry.name.lower() for suffix in SUFFIXES):
        return f"not read, as its name has none of {', '.join(SUFFIXES)}; rename it"
    return ""
