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
    HEAD,
    Held,
    Matcher,
    Occurrence,
    occurrences,
)
from filemem.store.folder import (
    BOOKKEEPING,
    PROPOSED,
    Folder,
    Progress,
    no_progress,
)
from filemem.store.memory import NAMELESS, SOURCE_MARK, Memory, parse
from filemem.store.passages import FORGOTTEN, Passage
from filemem.store.paths import DATED, PROFILE, live
from filemem.text.plain import digest, one_line

# In the bookkeeping: what is made anew, what the next chat was to tell, and digests of
# an earlier version's server.
CACHES = ("index", "vectors", "news.txt", "chats.jsonl")
MAX_LINES = 10_000  # of a range that a citation names

_LINES = r"(?::(\d[\d,\s-]*))?"
_PLACE = re.compile(rf"(.*?){_LINES}", re.DOTALL)
_SPAN = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
_CITED = re.compile(r"[^\s,:()\[\]][^,:()\[\]]*\.\w+:\d[\d,-]*")
_LIKE_A_PATH = re.compile(r"\S*/\S*|\S+\.(?:md|markdown|txt|ya?ml)")
_NAMED = re.compile(
    rf"{DATED.pattern}[\w-]+"
    r"|(?<![\d_a-zA-Z./-])[A-Za-z][\w./-]{0,200}/[\w-]{1,200}\.[A-Za-z]+"
)


@dataclass(frozen=True)
class Removal:
    """A file that goes, or lines of one that do.

    Attributes:
        path: of the file, in the user's folder.
        line: the first line, from 1; 0 where the whole file goes.
        text: what is said there, to be shown.
        why: the reason, to be shown.
        level: 0 for what was asked for; higher levels are deleted before lower ones.
        old: the lines that go, without their ends.
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
        return frozenset(live(item.path) for item in self.items if not item.line)

    @functools.cached_property
    def shortened(self) -> frozenset[str]:
        """The live paths of the files that lose lines."""
        return frozenset(live(item.path) for item in self.items if item.line)

    @functools.cached_property
    def places(self) -> frozenset[str]:
        """The live places of all that goes, with lines."""
        return frozenset(live(item.place) for item in self.items)

    def told(self) -> Iterator[str]:
        """Yield what would go and what would be left, a line each, for a person."""
        if self.items:
            yield "To be deleted; of a line that is named, only its words:"
        yield from (f"  {item}" for item in self.items)
        if self.records:
            yield f"Also their entries in {', '.join(self.records)}."
        if self.others:
            yield "These say the same, and stay unless you take them along:"
        yield from (f"  {occurrence}" for occurrence in self.others)
        if self.left:
            yield "These stay; look at them yourself:"
        yield from (f"  {occurrence}" for occurrence in self.left)


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
        folder: whose memories.
        places: memories to forget, each a path, `path:12`, `path:12,15` or
            `path:12-14`.
        words: instead of places: all that holds all these words.
        others: take along what says the same elsewhere or in another form.
        progress: told how many files have been read, of how many.

    Raises:
        NotFound: a place names nothing.
        Refused: a place names a folder, or what cannot be read.
        FilememError: there is no word in `words`.
    """
    least = Held.OTHER_FORM if others else Held.EXACT
    cascade = _Cascade(folder, Matcher(words, least), progress)
    if places:
        cascade.ask([item for place in places for item in cascade.at(place)])
    elif not cascade.matcher:
        raise FilememError(
            f"{one_line(words, 60)} contains no word to search for; name one."
        )
    if others or not places:
        cascade.ask(cascade.saying())
    return cascade.plan()


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
    """Return the path and the lines that a citation names.

    The lines are `12`, `12,15`, `12-14` or none.
    """
    match = _PLACE.fullmatch(text.strip())
    path, numbers = match.groups("") if match else ("", "")
    lines = set[int]()
    for first, last in _SPAN.findall(numbers):
        start = int(first)
        end = min(int(last or first), start + MAX_LINES)
        lines.update(range(start, end + 1))
    return path, lines


def without_names(text: str, gone: Iterable[str]) -> str:
    """Return a text in which the names of files that are gone are a plain word.

    They may tell what was forgotten.

    Args:
        text: with paths, with or without lines, or links by the name alone.
        gone: the live paths of the files.
    """
    stems = dict[str, None]()
    for path in gone:
        stem = PurePath(path).stem
        if stem in text:
            place = rf"(?<![\w-])(?:archive/)?{re.escape(path)}(?::\d[\d,-]*)?"
            text = re.sub(place, NAMELESS, text)
            stems[stem] = None
    for stem in stems:
        if DATED.match(stem):
            text = re.sub(rf"(?<![\w-]){re.escape(stem)}(?![\w-])", NAMELESS, text)
    return text


# -- of one memory ---------------------------------------------------------------------


def removals_saying(memory: Memory, matcher: Matcher) -> list[Removal]:
    """Return what of one memory is to be forgotten.

    That is the passages that say it, and lines outside them such as headings and front
    matter; the whole of what is one statement. Names of other memories in a text do not
    count.
    """
    if not matcher.holds(memory.text):
        return []
    inside = set[int]()
    for passage in memory.passages:
        inside.update(range(passage.line, passage.end_line + 1))
    passages = list(memory.passages)
    for number, line in enumerate(memory.lines, 1):
        if number not in inside:
            passages.append(Passage(number, number, "", "", line))
    saying = list[Passage]()
    for passage in passages:
        is_gone = FORGOTTEN in passage.text
        if not is_gone and matcher.holds(_NAMED.sub(" ", passage.text)):
            saying.append(passage)
    return removals(memory, saying) if saying else []


def removals(memory: Memory, passages: Sequence[Passage] = ()) -> list[Removal]:
    """Return the removals of some passages of a memory.

    Without a passage it goes whole, and where it is one statement: a fact, a lesson, a
    proposal, YAML, or front matter alone.
    """
    last_line = memory.passages[-1].line if memory.passages else 0
    is_front_alone = 0 < last_line < memory.front_end
    is_one = memory.kind in ("facts", "lessons", PROPOSED) or memory.is_yaml
    if passages and not (is_one or is_front_alone):
        return [_lines_of(memory, passage) for passage in passages]
    text = memory.passages[0].text if memory.passages else ""
    return [Removal(memory.path, text=text, digest=digest(memory.data))]


def _lines_of(memory: Memory, passage: Passage) -> Removal:
    """Return the removal of a passage's lines: of front matter the value goes, of a
    summary or the profile all, else all but the head of the first line."""
    start = passage.line
    if start < memory.front_end:
        start = max(2, start)  # the first line opens it
        key, colon, _ = memory.lines[start - 1].partition(":")
        new = f"{key}: {NAMELESS}" if colon else f"# {NAMELESS}"
    elif memory.kind == "summaries" or memory.path == PROFILE:
        new = ""
    else:
        head = HEAD.match(memory.lines[start - 1])
        before = head[0].rstrip() if head else ""
        new = f"{before} {FORGOTTEN}".lstrip()
    old = tuple(memory.lines[start - 1 : passage.end_line])
    return Removal(memory.path, start, passage.text, old=old, new=new)


# -- the cascade -----------------------------------------------------------------------


class _Cascade:
    """What is to be deleted so far, and all that cites any of it."""

    def __init__(self, folder: Folder, matcher: Matcher, progress: Progress) -> None:
        self.folder = folder
        self.matcher = matcher
        self.memories = dict[str, Memory]()
        self.taken = list[Removal]()
        self.going = dict[str, set[int]]()  # their lines by path; 0 is a whole file
        self.fresh = list[Removal]()  # of which no citation was looked for
        paths = [*folder.paths(), *folder.proposals()]
        for number, path in enumerate(paths, 1):
            progress(number, len(paths))
            with contextlib.suppress(FilememError, OSError):
                self.memories[path] = parse(path, folder.read(path))

    def at(self, place: str) -> list[Removal]:
        """Return the removal of a memory, or of what stands at its lines.

        Raises:
            NotFound, Refused: there is none, or it says nothing there.
        """
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

    def saying(self) -> list[Removal]:
        """Return all that says what is to be forgotten."""
        found = list[Removal]()
        for memory in self.memories.values():
            found += removals_saying(memory, self.matcher)
        return found

    def ask(self, items: Iterable[Removal]) -> None:
        """Take what was named, with the turns that it came from and all that cites it.

        Of what says words by itself no source is looked for but that of a whole file.
        """
        waiting = list(items)
        while waiting:
            item = waiting.pop()
            if not self._take(item):
                continue
            for place in self._sources(item):
                with contextlib.suppress(FilememError):
                    why = f"the source of {item.place}"
                    for source in self.at(place):
                        if FORGOTTEN not in source.text:
                            level = item.level + 1
                            waiting.append(replace(source, why=why, level=level))
        self._follow()

    def _sources(self, item: Removal) -> list[str]:
        """Return the places that a removal names as its source: lines, and the fact
        that a line of the profile rests on."""
        memory = self.memories[item.path]
        if not item.line:
            return [place for place in memory.sources if split_place(place)[1]]
        text = "\n".join(item.old)
        if self.matcher.words:
            return []
        if item.path == PROFILE:
            return SOURCE_MARK.findall(text)
        return _CITED.findall(text) if memory.kind == "summaries" else []

    def _take(self, item: Removal) -> bool:
        """Mark it to go; return False if it is marked already."""
        if self._goes(item.path, item.line):
            return False
        self.going.setdefault(item.path, set()).update(item.lines or [0])
        self.taken.append(item)
        if not self.matcher.words:
            self.matcher.add_lines(item.text)
        if not (self.matcher.words or item.line):
            for passage in self.memories[item.path].passages:
                self.matcher.add_lines(passage.text)
        self.fresh.append(item)
        return True

    def _goes(self, path: str, line: int) -> bool:
        """Tell whether a line goes, or the whole file."""
        return not {0, line}.isdisjoint(self.going.get(path, ()))

    def _follow(self) -> None:
        """Take the memories that were distilled from what goes, and passages that cite
        it, until no more do."""
        while self.fresh:
            causes = self.fresh
            self.fresh = []
            for memory in self.memories.values():
                if self._goes(memory.path, 0):
                    continue
                for cause in causes:
                    self._take_citing(memory, cause)

    def _take_citing(self, memory: Memory, cause: Removal) -> None:
        path = live(cause.path)
        if os.fsencode(PurePath(path).stem) not in memory.data:
            return
        cited = re.compile(rf"(?<![\w-]){re.escape(path)}{_LINES}")
        for passage in _citing(memory, cited, cause):
            for item in removals(memory, [passage]):
                # As one line: a line of it alone may quote what stays.
                text = " ".join(item.text.split())
                level = cause.level + 1
                self._take(replace(item, why="cites it", text=text, level=level))

    def plan(self) -> DeletionPlan:
        """Return the plan, with what says it and does not go."""
        skipped = [".git", *(f"{BOOKKEEPING}/{name}" for name in CACHES)]
        found = occurrences(self.folder.root, self.matcher, skipped)
        items = [
            item for item in self.taken if not (item.line and self._goes(item.path, 0))
        ]
        items.sort(key=lambda item: (bool(item.line), item.path, item.line))
        gone = [live(item.path) for item in items if not item.line]
        records = dict[str, None]()
        others = list[Occurrence]()
        left = list[Occurrence]()
        for one in found:
            if one.path.startswith(f"{BOOKKEEPING}/"):
                records[one.path] = None
            elif self._goes(one.path, one.line):
                continue
            elif not one.line or one.path not in self.memories:
                left.append(one)
            elif self.matcher.match(without_names(one.text, gone)):
                others.append(one)
        return DeletionPlan(items, [*records], others, left, self.matcher)


def _citing(
    memory: Memory, cited: re.Pattern[str], cause: Removal
) -> Iterator[Passage]:
    """Yield the passages of a memory that cite what goes.

    A line of a file that goes is cited by its number; a source, and the mark of a line
    of the profile, may name the file alone.

    Args:
        memory: where they are looked for.
        cited: the pattern of the path of what goes, with or without lines.
        cause: what goes.
    """
    passages = list(memory.passages)
    if memory.path == PROFILE:
        passages = [
            Passage(number, number, "", "", line)
            for number, line in enumerate(memory.lines, 1)
        ]
    passages.append(Passage(1, 1, "", "", "\n".join(memory.sources)))
    for passage in passages:
        is_mark = memory.path == PROFILE or passage is passages[-1]
        for match in cited.finditer(passage.text):
            lines = split_place(match[0])[1]
            if not cause.line:
                is_cause = bool(lines) or is_mark
            else:
                is_cause = not lines.isdisjoint(cause.lines)
            if is_cause and FORGOTTEN not in passage.text:
                yield passage
                break
