"""Deletion on request, first half: find all that tells of a memory. `plan` looks; `erasure` deletes.

A memory goes with the turns that it came from, with what was distilled from these turns, with answers that cite it and with
what repeats it word for word. Of a conversation, a summary, the profile or a note only the lines in question go.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from filemem.errors import FilememError, NotFound
from filemem.files import disk
from filemem.files.archive import Progress, live, no_progress
from filemem.files.facts import sources
from filemem.files.folder import BOOKKEEPING, Folder, is_temporary_name
from filemem.files.memory import LARGEST, Memory, slug
from filemem.files.passages import Passage
from filemem.files.places import files
from filemem.files.transcript import ASSISTANT, first_words
from filemem.forgetting.wording import (
    FORGOTTEN,
    LINE,
    NAMELESS,
    SENTENCE,
    LineCut,
    Wording,
    apply_cuts,
    blanked_lines,
    blanked_value,
    lines_named,
    words,
)
from filemem.models import prompt
from filemem.text import plain
from filemem.text.plain import one_line

_SOURCE = re.compile(r"(?P<path>.+?\.\w+)(?::(?P<lines>\d[\d,\s-]*))?$")
_NAMED = re.compile(r"\S*/\S+\.\w+(?::\d[\d,-]*)?|\b\d{4}-\d\d-\d\d-[^\s\]]+")  # a memory, by its path or its name
_LONGEST_NAME = 1000  # characters of a word that may name a memory
_CITED = re.compile(r"[^\s,:][^,:]*\.\w+:\d[\d,-]*")
_DATED = re.compile(r"\d{4}-\d\d-\d\d(?:-\d{4})?-")

ASKED, ITS_NAME = "as asked", "its name"
MOST = 0.75  # of the words of a request in somebody's own words


class DeletionItem(NamedTuple):
    """Something to be forgotten: the lines `line` to `end` of a memory or, with line 0, a whole file; and why."""

    path: str
    line: int
    end: int
    text: str
    why: str

    @property
    def place(self) -> str:
        """The path, with the line where only lines go."""
        return f"{self.path}:{self.line}" if self.line else self.path


class DeletionPlan(NamedTuple):
    """What is to go: whole files by path with the digest of their bytes; lines by path; sessions that told it in their
    name, with a new one. `notes` are sentences on what a person must look at.
    """

    items: list[DeletionItem]
    whole: dict[str, str]
    lines: dict[str, list[LineCut]]
    moved: dict[str, str]
    wording: Wording
    notes: list[str]


def candidates(folder: Folder, about: str, progress: Progress = no_progress) -> list[DeletionItem]:
    """What of the memories holds all these words, in whatever form; `progress` counts memories.

    Raises FilememError where there is no letter or digit to look for, which would be found everywhere.
    """
    if not re.search(r"[^\W_]", about):
        raise FilememError(f"{one_line(about, 60)} holds no word to look for; name one.")
    wording, found, count = Wording(about), list[DeletionItem](), len(folder.paths())
    for number, memory in enumerate(_memories(folder), 1):
        progress(number, count)
        found += matching(memory, wording)
    return found


def matching(memory: Memory, wording: Wording) -> list[DeletionItem]:
    """What of one memory holds all the words asked for: lines, or else its name."""
    found = list(passages_with(memory, lambda text: has_words(text, wording))) if wording.has_words(memory.text) else []
    if not found and name_has_words(memory.path, wording):
        return [DeletionItem(memory.path, 0, 0, "", ITS_NAME)]
    return [whole(memory)] if found and _one_statement(memory) else found


def has_words(text: str, wording: Wording) -> bool:
    """Does a text hold all the words asked for, the names of other memories in it aside?"""
    if "/" not in text and "-" not in text:
        return wording.has_words(text)
    nameless = (_NAMED.sub(" ", word) if len(word) <= _LONGEST_NAME else word for word in re.split(r"(\s+)", text))
    return wording.has_words("".join(nameless))


def name_has_words(path: str, wording: Wording) -> bool:
    """Does the name of a dated file hold all the words asked for? Another name is a person's, and stays."""
    return bool(_DATED.match(path.rpartition("/")[2])) and wording.has_words(_stem(path).replace("-", " "))


def neutral_path(path: str, taken: Iterable[str]) -> str:
    """The path of a dated file with a name that says nothing; `taken` are live paths."""
    folder, _, name = path.rpartition("/")
    start, ending = _DATED.match(name), os.path.splitext(name)[1]
    known = set(taken)
    found = (
        f"{folder}/{start[0] if start else ''}{NAMELESS}{f'-{n}' if n > 1 else ''}{ending}" for n in range(1, 10_000)
    )
    return next(candidate for candidate in found if live(candidate) not in known)


def passages_with(memory: Memory, test: Callable[[str], bool]) -> Iterator[DeletionItem]:
    """The passages of a memory, and the lines outside them, such as headings and front matter, whose text passes a test."""
    inside = {n for passage in memory.passages for n in range(passage.line, passage.end_line + 1)}
    for passage in memory.passages:
        if test(passage.text):
            yield DeletionItem(memory.path, passage.line, passage.end_line, passage.text, ASKED)
    for number, line in enumerate(memory.lines, 1):
        if number not in inside and test(line):
            yield DeletionItem(memory.path, number, number, line, ASKED)


def item_at(folder: Folder, path: str, line: int | None) -> DeletionItem:
    """The memory at `path`, or what stands at one line of it; raises NotFound where nothing does."""
    memory = bounded(folder, path)
    if line is None:
        return whole(memory)
    passage = _passage(memory, line)
    if passage is None:
        raise NotFound(f"{path} says nothing on line {line}; filemem open {path} shows its lines.")
    return _item(memory, passage, ASKED)


def plan(folder: Folder, asked: list[DeletionItem], about: str = "", share: float = 1.0) -> DeletionPlan:
    """Everything that goes with what is asked for; nothing is changed."""
    gathering = _Gathering(folder, Wording(about, share))
    for item in asked:
        gathering.ask(item)
    gathering.follow()
    leftovers, notes = _leftovers(folder, gathering.wording)
    gone = {item.path: disk.digest(folder.place / item.path) for item in leftovers}
    for path in gathering.whole:
        data = gathering.memories[path].data  # none of what is too large to be read
        gone[path] = plain.digest(data) if data else disk.digest(folder.absolute(path))
    passages = sorted(item for found in gathering.lines.values() for item in found.values())
    items = [*gathering.whole.values(), *passages, *leftovers]
    lines = {path: gathering.cuts(path) for path in gathering.memories if path not in gathering.whole}
    return DeletionPlan(
        items=items,
        whole=gone,
        lines={path: sorted(found) for path, found in lines.items() if found},
        moved=gathering.moved,
        wording=gathering.wording,
        notes=[*gathering.notes, *notes],
    )


def mentions(folder: Folder, words: str) -> DeletionPlan:
    """What would go, were somebody to say "forget that …" with these words: every memory and turn with the telling ones of
    them (three quarters, where there are more than three), the request's own turn too, and what was made of these turns.
    """
    wording = Wording(words, MOST)
    return plan(folder, [item for memory in _memories(folder) for item in matching(memory, wording)], words, MOST)


def _memories(folder: Folder) -> Iterator[Memory]:
    for path in folder.paths():
        try:
            yield bounded(folder, path)
        except (FilememError, OSError):
            continue


def bounded(folder: Folder, path: str) -> Memory:
    """A memory; one that is too large to be read has no text here, and can go as a whole."""
    data = folder.read(path, LARGEST + 1)
    return Memory(path, data if len(data) <= LARGEST else b"")


def _passage(memory: Memory, line: int) -> Passage | None:
    return next((p for p in memory.passages if p.line <= line <= p.end_line), None)


def whole(memory: Memory, why: str = ASKED) -> DeletionItem:
    """A memory as a whole."""
    title = memory.passages[0].text if memory.passages else ""
    return DeletionItem(memory.path, 0, 0, title, why)


def _one_statement(memory: Memory) -> bool:
    """Is this one statement, to be deleted as a whole: a fact, a lesson, or front matter alone?"""
    bare = bool(memory.passages) and memory.passages[-1].line < memory.front_end
    return memory.kind in ("facts", "lessons") or memory.is_yaml or bare


def _item(memory: Memory, passage: Passage, why: str) -> DeletionItem:
    """A passage of a memory, or all of a memory that makes one statement."""
    if _one_statement(memory):
        return whole(memory, why)
    return DeletionItem(memory.path, passage.line, passage.end_line, passage.text, why)


class _Gathering:
    """What is to be deleted so far; it grows until no further memory depends on it."""

    def __init__(self, folder: Folder, wording: Wording) -> None:
        self.folder = folder
        self.wording = wording
        self.memories = {memory.path: memory for memory in _memories(folder)}
        self.whole: dict[str, DeletionItem] = {}
        self.lines: dict[str, dict[int, DeletionItem]] = {}
        self.moved: dict[str, str] = {}
        self.notes: list[str] = []

    # -- what is asked for -----------------------------------------------------------------------------------------

    def ask(self, item: DeletionItem) -> None:
        """Take up what a person named, and the turns that it came from."""
        memory = self.memories[item.path]
        if item.why == ITS_NAME:
            self._rename(item.path)
            return
        if not item.line:
            self._take(whole(memory, item.why), SENTENCE if memory.kind == "sessions" else 0)
            named = sources(memory) if memory.kind != "sessions" else []
        else:
            self._take(item)
            named = []
        if memory.kind == "summaries" and item.line and not self.wording.about:  # else each says by itself what goes
            parts = re.split(r"[()\[\]]", "\n".join(memory.lines[item.line - 1 : item.end]))
            named = [name for part in parts if len(part) <= _LONGEST_NAME for name in _CITED.findall(part)]
        for entry in named:
            self._take_source(item, entry)

    def _take_source(self, item: DeletionItem, entry: str) -> None:
        """Take the turns that a memory names as its source."""
        match = _SOURCE.match(entry)
        if not match:
            return
        try:
            memory = self.memories[self.folder.locate(match["path"])]
        except (FilememError, KeyError):
            return
        if not match["lines"]:
            self.notes.append(f"{one_line(entry)} is named as its source without a line; look there for what was said.")
            return
        for line in sorted(lines_named(match["lines"])):
            passage = _passage(memory, line)
            if passage and FORGOTTEN not in passage.text:
                self._take(_item(memory, passage, f"the source of {item.path}"))

    # -- what follows from it --------------------------------------------------------------------------------------

    def follow(self) -> None:
        """Take what was distilled from it, cites it or repeats it, until there is no more; then what tells it by name."""
        size = -1
        while size != len(self.whole) + sum(map(len, self.lines.values())):
            size = len(self.whole) + sum(map(len, self.lines.values()))
            for memory in self.memories.values():
                if memory.path not in self.whole:
                    self._follow_to(memory)
        for path, found in self.lines.items():
            memory = self.memories[path]
            line = memory.episode_line
            # It may tell any turn in other words; it is made anew of the rest.
            if memory.episode.text and line not in found:
                found[line] = DeletionItem(path, line, line, memory.lines[line - 1], "cites it")
        self._own_words()
        for path, found in self.lines.items():
            for item in found.values():
                if _stem(path) == slug(first_words(item.text)) or name_has_words(path, self.wording):
                    self._rename(path)
                self.wording.add_whole(item.text)
        self.wording.names |= dict.fromkeys(map(live, self.whole), "")
        self.wording.names |= {live(old): live(new) for old, new in self.moved.items()}

    def _follow_to(self, memory: Memory) -> None:
        """Take a memory that was distilled from it, or the passages that cite it or hold a whole line or sentence of it."""
        near = [path for path in (*self.whole, *self.lines) if path.rpartition("/")[2].encode() in memory.data]
        entries = [entry for entry in sources(memory) if self._cites(entry, near, bare=True)]
        if entries and _one_statement(memory):
            self._take(whole(memory, f"distilled from {one_line(entries[0])}"))
            return
        if entries:
            self.notes.append(f"{memory.path} was made from {one_line(entries[0])}; read it through.")
        repeats = bool(self.wording.texts) and self.wording.repeats(memory.text)
        for passage in memory.passages if near or repeats else ():
            why = "cites it" if self._cites(passage.text, near) else "repeats it"
            if FORGOTTEN not in passage.text and (
                why == "cites it" or (repeats and self.wording.repeats(passage.text))
            ):
                self._take(_item(memory, passage, why))

    def _cites(self, text: str, near: list[str], *, bare: bool = False) -> bool:
        """Does a text name lines that go, or (`bare`) a file that goes?"""
        for path in near:
            gone = {n for item in self.lines.get(path, {}).values() for n in range(item.line, item.end + 1)}
            for match in re.finditer(rf"(?<![\w-]){re.escape(live(path))}(?::(\d[\d,\s-]*))?", text):
                if gone & lines_named(match[1] or "") or (path in self.whole and (match[1] or bare)):
                    return True
        return False

    def _take(self, item: DeletionItem, least: int = 0) -> None:
        """Add one thing; what was asked for, its sources and what was distilled from it are looked for elsewhere too."""
        memory = self.memories[item.path]
        if item.path in self.whole or item.line in self.lines.get(item.path, {}):
            return
        if item.line:
            self.lines.setdefault(item.path, {})[item.line] = item
        else:
            self.lines.pop(item.path, None)
            self.whole[item.path] = item
        if item.why in ("repeats it", "cites it"):
            return
        passage = _passage(memory, item.line)
        quoting = passage and passage.speaker == ASSISTANT
        texts = [item.text] if item.line else [passage.text for passage in memory.passages]
        for text in texts:
            if quoting or (self.wording.about and item.why == ASKED):  # what else it says has nothing to do with it
                self.wording.add_asked(text)
            else:
                self.wording.add(text, least or LINE)

    def _own_words(self) -> None:
        """The words of what goes that no text or name that stays has, nor what the program itself says and traces keep."""
        left = {word for text in self.wording.texts for word in words(text)}
        left -= words(prompt.own_words()) if left else set()
        for path, memory in self.memories.items():
            if left and path not in self.whole:
                gone = {n for item in self.lines.get(path, {}).values() for n in range(item.line, item.end + 1)}
                left -= words("\n".join(line for n, line in enumerate(memory.lines, 1) if n not in gone))
                left -= words(path.replace("-", " ")) if not gone else set()
        self.wording.words = left

    def _rename(self, path: str) -> None:
        """A file whose name tells it, as a conversation's tells its first words, gets a name that says nothing."""
        if path not in self.moved and _DATED.match(path.rpartition("/")[2]):
            self.moved[path] = neutral_path(path, map(live, (*self.memories, *self.moved.values())))

    def cuts(self, path: str) -> list[LineCut]:
        """The lines of one memory that go, those of its front matter too that repeat it."""
        memory = self.memories[path]
        found = [cut(memory, item) for item in self.lines.get(path, {}).values()]
        if found or path in self.moved:
            front = passages_with(memory, self.wording.repeats)
            found += [cut(memory, item) for item in front if 1 < item.line < memory.front_end]
        return list(dict.fromkeys(found))


def cut(memory: Memory, item: DeletionItem) -> LineCut:
    """How an item's lines go: of front matter the value, of a summary all, else all but what shows what they were."""
    if item.line < memory.front_end:
        return blanked_value(memory.data, max(2, item.line), NAMELESS)
    return blanked_lines(memory.data, item.line, item.end, gone=memory.kind == "summaries")


def without_episode(path: str, data: bytes) -> bytes:
    """A session without what sums it up, its line left."""
    line = Memory(path, data).episode_line
    return apply_cuts(data, [blanked_value(data, line, NAMELESS)]) if line else data


def _stem(path: str) -> str:
    """A file's name without date and ending."""
    return _DATED.sub("", os.path.splitext(path.rpartition("/")[2])[0])


def _leftovers(folder: Folder, wording: Wording) -> tuple[list[DeletionItem], list[str]]:
    """Files that are no memories and repeat it: what a cut-off write or an editor left goes, others are named."""
    found: list[DeletionItem] = []
    notes: list[str] = []
    for path in other_files(folder):
        name = path.rpartition("/")[2]
        try:
            told = wording.line_about(disk.read(folder.place / path, LARGEST))
        except (FilememError, OSError):
            continue
        if not told:
            continue
        if name.startswith(disk.TEMPORARY):
            found.append(DeletionItem(path, 0, 0, "", "left by a write that was cut off"))
        elif is_temporary_name(name.lstrip(".")):
            found.append(DeletionItem(path, 0, 0, "", "an editor's copy"))
        else:
            notes.append(f"{one_line(path)} says it too; it is no memory, so look at it and delete it yourself.")
    return found, notes


def other_files(user: Folder) -> Iterator[str]:
    """The plain files in a user's folder that are no memories, bookkeeping and git aside, as paths in it."""
    for path in files(user.place, lambda folder: folder.rpartition("/")[2] not in (BOOKKEEPING, ".git")):
        folder, _, name = path.rpartition("/")
        if is_temporary_name(name) or any(part[0] == "." for part in folder.split("/") if part):
            yield path
