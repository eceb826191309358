"""What goes when something is forgotten: it, the turns that it came from, and all that
cites what goes.

A fact or a lesson goes whole. Of a conversation, a summary, the profile or a note the
lines in question go; the others keep their numbers. Whatever was found because of
another removal has a higher level than that, and goes first: so a deletion that is cut
off is finished by asking for the same again.
"""

import contextlib
import functools
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from filemem.errors import FilememError, NotFound, Refused
from filemem.forget.matching import (
    MARKS,
    Held,
    Matcher,
    Occurrence,
    is_record_of_other_form,
    occurrences,
    without_names,
)
from filemem.store import files
from filemem.store.folder import (
    BOOKKEEPING,
    Folder,
    Progress,
    is_temporary_name,
    no_progress,
)
from filemem.store.memory import LARGEST, NAMELESS, SOURCE_MARK, Memory, parse
from filemem.store.passages import FORGOTTEN, TURN_HEAD, Passage
from filemem.store.paths import DATED, PROFILE, live
from filemem.store.roles import ASSISTANT
from filemem.text.plain import digest, one_line

# In the bookkeeping: what is made anew, and digests of an earlier version's server.
CACHES = ("index", "vectors", "chats.jsonl")
MOST_LINES = 10_000  # of a range that a citation names

_HEAD = re.compile(rf"\ufeff?(?:{TURN_HEAD.pattern}|{MARKS.pattern})")
_NAMED = re.compile(
    rf"{DATED.pattern}[\w-]+"
    r"|(?<![\d_a-zA-Z./-])[A-Za-z][\w./-]{0,200}/[\w-]{1,200}\.[A-Za-z]+"
)
_PLACE = re.compile(r"(.*?)(?::(\d[\d,\s-]*))?", re.DOTALL)
_SPAN = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
_CITED = re.compile(r"[^\s,:()\[\]][^,:()\[\]]*\.\w+:\d[\d,-]*")
_LIKE_A_PATH = re.compile(r"\S*/\S*|\S+\.(?:md|markdown|txt|ya?ml)")


@dataclass(frozen=True)
class Removal:
    """A file that goes, or lines of one that do.

    Attributes:
        path: of the file, in the user's folder.
        line: the first line, from 1; 0 where the whole file goes.
        text: what is said there, to be shown.
        why: the reason, to be shown.
        level: 0 for what was asked for; higher levels are deleted before lower ones.
        old: the lines that go, without newlines.
        new: what the first of them becomes; the others become empty.
        digest: of the bytes of a file that goes.
    """

    path: str
    line: int = 0
    text: str = ""
    why: str = "as asked"
    level: int = 0
    old: tuple[str, ...] = ()
    new: str = ""
    digest: str = ""

    @property
    def place(self) -> str:
        """The path, with the line where lines go."""
        return f"{self.path}:{self.line}" if self.line else self.path

    @property
    def lines(self) -> range:
        """The numbers of the lines that go."""
        return range(self.line, self.line + len(self.old))

    def __str__(self) -> str:
        return f"{one_line(self.place)}: {one_line(self.text, 80)}  ({self.why})"


@dataclass(frozen=True)
class DeletionPlan:
    """What is to go, and what stays though it says it.

    Attributes:
        items: what goes, files first.
        records: the program's own records that lose lines, by path.
        others: places in memories that say the same, in these words or in another form.
        left: what else says it or cannot be searched: nothing that is deleted here.
        matcher: what is looked for afterwards.
        whole_user: everything of the user goes.
    """

    items: Sequence[Removal] = ()
    records: Sequence[str] = ()
    others: Sequence[Occurrence] = ()
    left: Sequence[Occurrence] = ()
    matcher: Matcher = field(default_factory=Matcher)
    whole_user: bool = False

    def __bool__(self) -> bool:
        """Return whether there is anything to delete."""
        return bool(self.items or self.records)

    @functools.cached_property
    def gone(self) -> frozenset[str]:
        """The live paths of the files that go."""
        return frozenset(live(one.path) for one in self.items if not one.line)

    def told(self) -> Iterator[str]:
        """Yield what would go and what would be left, a line each, for a person."""
        if self.items:
            yield "These files go, and these lines say [forgotten]:"
        for item in self.items:
            yield f"  {item}"
        if self.records:
            yield f"Lines go from {', '.join(self.records)}."
        if self.others:
            yield "These say the same, and stay unless you take them along:"
        for occurrence in self.others:
            yield f"  {occurrence}"
        if self.left:
            yield "These stay; they are yours to look at:"
        for occurrence in self.left:
            yield f"  {occurrence}"


def plan_deletion(
    folder: Folder,
    *,
    places: Sequence[str] = (),
    words: str = "",
    others: bool = False,
    progress: Progress = no_progress,
) -> DeletionPlan:
    """Return everything that would go with some memories; nothing is changed.

    Args:
        places: memories to forget, each a path, `path:12`, `path:12,15` or `path:12-14`.
        words: instead of places: all that holds all these words.
        others: take along what says the same elsewhere or in another form.
        progress: told how many files have been read, of how many.

    Raises:
        NotFound: a place names nothing.
        Refused: a place names a folder, or what cannot be read.
        FilememError: there is no word in `words`.
    """
    cascade = _Cascade(folder, progress)
    if places:
        asked = [item for place in places for item in cascade.at(place)]
    else:
        cascade.matcher = Matcher(words)
        asked = cascade.with_words()
    return cascade.plan(asked, others=others)


def plan_for(
    folder: Folder,
    what: str = "",
    *,
    about: str = "",
    others: bool = False,
    progress: Progress = no_progress,
) -> DeletionPlan:
    """Return the plan for what a person typed.

    Args:
        what: a path, `path:line`, or words; what has the form of a path is one.
        about: words, even if they look like a path; instead of `what`.
        others, progress: see `plan_deletion`, which has the errors too.
    """
    if what and not about and _names_a_memory(folder, what):
        return plan_deletion(folder, places=[what], others=others, progress=progress)
    words = about or what
    return plan_deletion(folder, words=words, others=others, progress=progress)


def _names_a_memory(folder: Folder, what: str) -> bool:
    """Return whether a text is the place of a memory, with or without lines.

    Raises:
        NotFound, Refused: it has the form of a path, and is none, or a folder's.
    """
    path, _ = split_place(what)
    try:
        folder.locate(path)
    except (NotFound, Refused):
        is_folder = os.path.isdir(f"{folder.root}/{path}")
        if is_folder or _LIKE_A_PATH.fullmatch(path):
            raise
        return False
    return True


def split_place(text: str) -> tuple[str, set[int]]:
    """Return the path and the lines that a citation names: `12`, `12,15`, `12-14` or
    none."""
    match = _PLACE.fullmatch(text.strip())
    path, numbers = match.groups("") if match else ("", "")
    lines = set[int]()
    for first, last in _SPAN.findall(numbers):
        start = int(first)
        end = min(int(last or first), start + MOST_LINES)
        lines.update(range(start, end + 1))
    return path, lines


# -- of one memory ---------------------------------------------------------------------


def removals_with(memory: Memory, matcher: Matcher) -> list[Removal]:
    """Return what of one memory holds the words: its passages, and lines outside them
    such as headings and front matter; the whole of one statement.

    Names of other memories in a text do not count.
    """
    least = matcher.least
    if matcher.match_words(memory.text) < least:
        return []
    inside = set[int]()
    for passage in memory.passages:
        inside.update(range(passage.line, passage.end_line + 1))
    outside = [
        Passage(number, number, "", "", line)
        for number, line in enumerate(memory.lines, 1)
        if number not in inside
    ]
    found = list[Passage]()
    for passage in (*memory.passages, *outside):
        text = _NAMED.sub(" ", passage.text)
        if FORGOTTEN not in passage.text and matcher.match_words(text) >= least:
            found.append(passage)
    return removals(memory, found) if found else []


def removals(memory: Memory, passages: Iterable[Passage]) -> list[Removal]:
    """Return the removals of some passages of a memory; of the whole for none, and where
    it is one statement: a fact, a lesson, YAML, or front matter alone."""
    told = list(passages)
    last_line = memory.passages[-1].line if memory.passages else 0
    front_alone = 0 < last_line < memory.front_end
    one_statement = memory.kind in ("facts", "lessons") or memory.is_yaml
    if told and not one_statement and not front_alone:
        return [_lines_of(memory, passage) for passage in told]
    text = memory.passages[0].text if memory.passages else ""
    return [Removal(memory.path, text=text)]


def _lines_of(memory: Memory, told: Passage) -> Removal:
    """Return the removal of a passage's lines: of front matter the value goes, of a
    summary or the profile all, else all but the head of the first line.

    Raises:
        Refused: the file is broken UTF-16.
    """
    lines = split_lines(memory.data).lines
    start, end = told.line, told.end_line
    if start < memory.front_end:
        start = end = max(2, start)
        key, colon, _ = lines[start - 1].partition(":")
        new = f"{key}: {NAMELESS}" if colon else f"# {NAMELESS}"
    elif memory.kind == "summaries" or memory.path == PROFILE:
        new = ""
    else:
        head = _HEAD.match(lines[start - 1])
        new = f"{head[0].rstrip() if head else ''} {FORGOTTEN}".lstrip()
    old = tuple(lines[start - 1 : end])
    return Removal(memory.path, start, told.text, old=old, new=new)


@dataclass(frozen=True)
class SplitLines:
    """The lines of a file, each with its `\\r`, and how they become bytes again."""

    lines: tuple[str, ...]
    newline: str
    codec: str
    errors: str

    def joined(self, lines: Iterable[str]) -> bytes:
        """Return the bytes of a file of such lines."""
        return self.newline.join(lines).encode(self.codec, self.errors)


@functools.lru_cache(2)
def split_lines(data: bytes) -> SplitLines:
    """Return the lines of a file's bytes, of which none is lost.

    Raises:
        Refused: the file is broken UTF-16.
    """
    codec = "utf-8"
    errors = "surrogateescape"  # which keeps every byte
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        codec = "utf-16-le" if data.startswith(b"\xff") else "utf-16-be"
        errors = "surrogatepass"
    try:
        text = data.decode(codec, errors)
    except UnicodeDecodeError:
        raise Refused(
            "the file is broken UTF-16; save it as UTF-8, then try again."
        ) from None
    newline = "\n" if "\n" in text or "\r" not in text else "\r"
    return SplitLines(tuple(text.split(newline)), newline, codec, errors)


# -- the cascade -----------------------------------------------------------------------


class _Cascade:
    """What is to be deleted so far; it grows until no further memory cites any of it."""

    def __init__(self, folder: Folder, progress: Progress) -> None:
        self.folder = folder
        self.matcher = Matcher()
        self.memories = dict[str, Memory]()
        self.going = dict[str, dict[int, Removal]]()  # by path and line
        self.left = list[Occurrence]()
        paths = folder.paths()
        for number, path in enumerate(paths, 1):
            progress(number, len(paths))
            with contextlib.suppress(FilememError, OSError):
                data = folder.read(path, LARGEST + 1)
                if len(data) > LARGEST:  # it can go, but only whole
                    data = b""
                self.memories[path] = parse(path, data)

    def at(self, place: str) -> list[Removal]:
        """Return the removal of a memory, or of what stands at its lines."""
        path, lines = split_place(place)
        memory = self.memories.get(self.folder.locate(path))
        if memory is None:
            raise Refused(
                f"{one_line(path)} cannot be read as a memory; check its permissions."
            )
        found = [
            passage
            for passage in memory.passages
            if lines.intersection(range(passage.line, passage.end_line + 1))
        ]
        if lines and not found:
            raise NotFound(
                f"{place.strip()} says nothing;"
                f" filemem open {memory.path} shows its lines."
            )
        return removals(memory, found)

    def with_words(self) -> list[Removal]:
        """Return all that holds the words."""
        if not self.matcher:
            raise FilememError(
                f"{one_line(self.matcher.words, 60)} contains no word to search for;"
                " name one."
            )
        found = list[Removal]()
        for memory in self.memories.values():
            found += removals_with(memory, self.matcher)
        return found

    def plan(self, asked: Iterable[Removal], *, others: bool) -> DeletionPlan:
        """Return the plan for what was asked for, with all that goes with it."""
        for item in asked:
            self._ask(item)
        self._follow()
        if others:
            self.matcher.least = Held.OTHER_FORM
            self._take_along(self._occurrences())
        found = self._occurrences()
        self._take_copies(found)
        records = dict[str, None]()
        says_it = list[Occurrence]()
        left = dict.fromkeys(self.left)
        for one in found:
            if one.path.startswith(f"{BOOKKEEPING}/"):
                records[one.path] = None
            elif one.path in self.memories and one.line:
                says_it.append(one)
            elif 0 not in self.going.get(one.path, ()):
                left[one] = None
        items = [item for lines in self.going.values() for item in lines.values()]
        for number, item in enumerate(items):
            if not item.line:
                data = files.read(f"{self.folder.root}/{item.path}")
                items[number] = replace(item, digest=digest(data))
        items.sort(key=lambda item: (bool(item.line), item.path, item.line))
        return DeletionPlan(items, [*records], says_it, [*left], self.matcher)

    def _ask(self, item: Removal) -> None:
        """Take what was named, and the turns that it came from, or the facts that a line
        of the profile rests on."""
        if not self._take(item):
            return
        for place in self._sources(item):
            with contextlib.suppress(FilememError):
                for source in self.at(place):
                    if not split_place(place)[1] and item.path != PROFILE:
                        why = "is named as its source, without a line"
                        self.left.append(Occurrence(source.path, 0, "", why))
                    elif FORGOTTEN not in source.text:
                        why = f"the source of {item.place}"
                        self._ask(replace(source, why=why, level=item.level + 1))

    def _sources(self, item: Removal) -> list[str]:
        """Return the places that a removal names as its source."""
        memory = self.memories[item.path]
        if memory.kind == "sessions":
            return []
        if not item.line:
            return memory.sources
        if self.matcher.words:  # each passage says by itself what goes
            return []
        text = "\n".join(item.old)
        rests_on = SOURCE_MARK.search(text)
        if rests_on:
            return [rests_on[1]]
        return _CITED.findall(text) if memory.kind == "summaries" else []

    def _take(self, item: Removal) -> bool:
        """Mark it to go; return False if it is marked already."""
        found = self.going.setdefault(item.path, {})
        if 0 in found or item.line in found:
            return False
        if not item.line:
            found.clear()
        found[item.line] = item
        if not self.matcher.words:
            self.matcher.add_lines(item.text)
            if not item.line:
                for passage in self.memories[item.path].passages:
                    self.matcher.add_lines(passage.text)
        return True

    def _follow(self) -> None:
        """Take all that cites what goes, until nothing more does."""
        size = -1
        while size != self._size():
            size = self._size()
            for memory in self.memories.values():
                if 0 not in self.going.get(memory.path, ()):
                    self._follow_to(memory)

    def _size(self) -> int:
        return sum(len(lines) for lines in self.going.values())

    def _follow_to(self, memory: Memory) -> None:
        """Take a memory that was distilled from what goes, or passages that cite it."""
        near = {
            live(path): lines
            for path, lines in self.going.items()
            if lines and os.fsencode(PurePath(path).stem) in memory.data
        }
        if not near:
            return
        names = "|".join(map(re.escape, near))
        cited = re.compile(rf"(?<![\w-])({names})(?::\d[\d,\s-]*)?")
        for passage in _citing(memory):
            if FORGOTTEN in passage.text:
                continue
            of_machine = passage.speaker == ASSISTANT or SOURCE_MARK.search(
                passage.text
            )
            for match in cited.finditer(passage.text):
                lines = split_place(match[0])[1]
                cause = _cause(near[match[1]], lines, whole=bool(of_machine))
                if cause:
                    self._take_citing(memory, passage, cause)

    def _take_citing(self, memory: Memory, passage: Passage, cause: Removal) -> None:
        for item in removals(memory, [passage]):
            # As one line: a line of it alone may quote what stays.
            text = " ".join(item.text.split())
            level = cause.level + 1
            self._take(replace(item, why="cites it", text=text, level=level))

    # -- what else says it -------------------------------------------------------------

    def _occurrences(self) -> list[Occurrence]:
        """Return every place in the folder that says it and does not go. A record that
        names what says it in another form is none."""
        skipped = [".git", *(f"{BOOKKEEPING}/{name}" for name in CACHES)]
        return [
            occurrence
            for occurrence in occurrences(self.folder.root, self.matcher, skipped)
            if not self._goes(occurrence) and not is_record_of_other_form(occurrence)
        ]

    def _goes(self, occurrence: Occurrence) -> bool:
        lines = self.going.get(occurrence.path, {})
        if 0 in lines or any(occurrence.line in item.lines for item in lines.values()):
            return True
        if not occurrence.line or occurrence.path not in self.memories:
            return False
        gone = [path for path, found in self.going.items() if 0 in found]
        return not self.matcher.match(without_names(occurrence.text, gone))

    def _take_along(self, found: Iterable[Occurrence]) -> None:
        """Take what says the same elsewhere, or in another form, as if asked for it."""
        for occurrence in found:
            memory = self.memories.get(occurrence.path)
            if memory is None or not occurrence.line:
                continue
            passages = [
                passage
                for passage in memory.passages
                if passage.line <= occurrence.line <= passage.end_line
            ]
            line = Passage(occurrence.line, occurrence.line, "", "", occurrence.text)
            with contextlib.suppress(FilememError):
                for item in removals(memory, passages or [line]):
                    self._ask(replace(item, why=occurrence.why))
        self._follow()

    def _take_copies(self, found: Iterable[Occurrence]) -> None:
        """Take the copies that editors keep of files that lose something."""
        items = [item for lines in self.going.values() for item in lines.values()]
        highest = max((item.level for item in items), default=0)
        for one in found:
            if one.path not in self.memories and self._is_copy(one.path):
                copy = Removal(one.path, why="a copy", level=highest + 1)
                self.going[one.path] = {0: copy}

    def _is_copy(self, path: str) -> bool:
        """Return whether an editor's file is a copy of one that loses something: each of
        its lines stands there."""
        above, _, name = path.rpartition("/")
        if not is_temporary_name(name):
            return False
        with contextlib.suppress(FilememError, OSError):
            data = files.read(f"{self.folder.root}/{path}", LARGEST)
            lines = set(data.splitlines())
            for going in list(self.going):
                memory = self.memories.get(going)
                if memory is None or going.rpartition("/")[0] != above:
                    continue
                if lines <= {b"", *memory.data.splitlines()}:
                    return True
        return False


def _citing(memory: Memory) -> list[Passage]:
    """Return the passages of a memory that may cite another, its sources as one."""
    if memory.path == PROFILE:
        return [
            Passage(number, number, "", "", line)
            for number, line in enumerate(memory.lines, 1)
        ]
    sources = Passage(1, 1, ASSISTANT, "", "\n".join(memory.sources))
    return [*memory.passages, sources]


def _cause(
    going: dict[int, Removal], lines: set[int], *, whole: bool
) -> Removal | None:
    """Return the removal that a citation of some lines rests on, if any.

    Args:
        going: what goes of the file that is cited, by line.
        lines: the lines that are cited; none for the file.
        whole: a file that goes is enough, without a line.
    """
    if 0 in going:
        return going[0] if lines or whole else None
    for item in going.values():
        if lines.intersection(item.lines):
            return item
    return None
