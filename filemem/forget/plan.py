"""What goes when something is forgotten: it, the turns that it came from, and all that
cites what goes.

A fact or a lesson goes whole. Of a conversation, a summary, the profile or a note the
lines in question go; the others keep their numbers. Whatever was found because of
another removal stands behind it in the plan, and goes before it: so a deletion that is
cut off is finished by asking for the same again.
"""

import contextlib
import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from filemem.errors import FilememError, NotFound, Refused
from filemem.forget.matching import HEAD, Matcher, Occurrence, occurrences
from filemem.forget.names import FileNames, last_word, words_of_paths
from filemem.store.folder import BOOKKEEPING, PROPOSED, Folder
from filemem.store.memory import NAMELESS, SOURCE_MARK, Memory, parse
from filemem.store.passages import FORGOTTEN, Passage
from filemem.store.paths import DATED, DISTILLED, PROFILE, Kind, live
from filemem.text.plain import digest, one_line
from filemem.work import Progress, no_progress

# In the bookkeeping: what is made anew, what the next chat was to tell, and digests of
# an earlier version's server.
CACHES = ("index", "vectors", "news.txt", "chats.jsonl")
NAMES_IT = "names it"  # why a line stays without the name of a file that goes
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
    """A file that goes, or lines of one that change.

    Attributes:
        path: of the file, in the user's folder.
        line: the first line, from 1; 0 where the whole file goes.
        text: what is said there, to be shown.
        why: the reason, to be shown.
        old: the lines that go, without their ends.
        new: what the first of them becomes; the others become empty.
        digest: of the bytes of a file that goes.
    """

    path: str
    line: int = 0
    text: str = ""
    why: str = "as asked"
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
        items: what goes, each behind that for which it goes.
        records: the program's own records that lose lines, by path.
        left: what else says it or cannot be searched: nothing that is deleted here.
        matcher: what is looked for afterwards.
        whole_user: everything of the user goes.
    """

    items: Sequence[Removal] = ()
    records: Sequence[str] = ()
    left: Sequence[Occurrence] = ()
    matcher: Matcher = field(default_factory=Matcher)
    whole_user: bool = False

    def __bool__(self) -> bool:
        """Return whether there is anything to delete."""
        return bool(self.items or self.records)

    @property
    def listed(self) -> list[Removal]:
        """What goes, as it is shown: files first, then lines in their order."""
        return sorted(self.items, key=lambda one: (bool(one.line), one.path, one.line))

    @functools.cached_property
    def gone(self) -> frozenset[str]:
        """The live paths of the files that go."""
        return frozenset(live(item.path) for item in self.items if not item.line)

    @functools.cached_property
    def names(self) -> FileNames:
        """The names of the files that go."""
        return FileNames(self.gone)

    @functools.cached_property
    def lines_by_path(self) -> dict[str, list[Removal]]:
        """The removals of lines, by the live path of their file."""
        by_path = defaultdict[str, list[Removal]](list)
        for item in self.items:
            if item.line:
                by_path[live(item.path)].append(item)
        return by_path

    @functools.cached_property
    def shortened(self) -> frozenset[str]:
        """The live paths of the files that lose lines."""
        return frozenset(place.rpartition(":")[0] for place in self.places - self.gone)

    @functools.cached_property
    def places(self) -> frozenset[str]:
        """The live places of all that goes, with lines."""
        going = [item for item in self.items if item.why != NAMES_IT]
        return frozenset(live(item.place) for item in going)

    def told(self) -> Iterator[str]:
        """Yield what would go and what would be left, a line each, for a person."""
        if self.items:
            yield "To be deleted; of a line that is named, only its words:"
        yield from (f"  {item}" for item in self.listed)
        if self.records:
            yield f"Also their entries in {', '.join(self.records)}."
        if self.left:
            yield "These say it, too, or cannot be searched; they stay:"
        yield from (f"  {occurrence}" for occurrence in self.left)


def plan_deletion(
    folder: Folder,
    what: str = "",
    *,
    about: str = "",
    places: Sequence[str] = (),
    progress: Progress = no_progress,
) -> DeletionPlan:
    """Return everything that would go with some memories; none of them is changed.

    What killed writers have left is finished first, so that it goes, too.

    Args:
        folder: whose memories.
        what: what a person typed: a path, `path:12`, `path:12,15`, `path:12-14`, or
            words; what has the form of a path is one.
        about: instead: words, even if they look like a path.
        places: instead: several such paths.
        progress: told how many files have been read, of how many.

    Raises:
        NotFound: a place names nothing.
        Refused: a place names a folder, or what cannot be read.
        FilememError: there is no word in what is to be looked for.
    """
    with contextlib.suppress(FilememError, OSError):  # it is read-only, or busy
        folder.finish_writes()
    path = split_place(what).path
    is_path = any(folder.existing(path)) or _LIKE_A_PATH.fullmatch(path)
    if is_path and not about:
        places = [what]
    if places:
        cascade = _Cascade(folder, Matcher(), progress)
        return cascade.plan([item for place in places for item in cascade.at(place)])
    words = about or what
    cascade = _Cascade(folder, Matcher(words), progress)
    if not cascade.matcher:
        raise FilememError(
            f"{one_line(words, 60)} contains no word to search for; name one."
        )
    return cascade.plan(cascade.saying())


class Place(NamedTuple):
    """The path and the lines that a citation names."""

    path: str
    lines: set[int]


def split_place(text: str) -> Place:
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
    return Place(path, lines)


# -- of one memory ---------------------------------------------------------------------


def removals_saying(memory: Memory, matcher: Matcher) -> list[Removal]:
    """Return what of one memory is to be forgotten.

    That is the passages that say it, and lines outside them such as headings and front
    matter; the whole of what is one statement. Names of other memories in a text do not
    count.

    Args:
        memory: which.
        matcher: of what is to be forgotten.

    Returns:
        The removals, each with the reason that is shown.
    """
    if not matcher.holds(memory.text):
        return []
    pieces = list(memory.passages)
    inside = {line for one in pieces for line in range(one.line, one.end_line + 1)}
    pieces += [one for one in _lines(memory) if one.line not in inside]
    saying = [one for one in pieces if matcher.holds(_NAMED.sub(" ", one.text))]
    found = list[Removal]()
    for item in removals(memory, saying) if saying else ():
        text = item.text if item.line else memory.text
        found.append(replace(item, why=matcher.reason(text)))
    return found


def removals(memory: Memory, passages: Sequence[Passage] = ()) -> list[Removal]:
    """Return the removals of some passages of a memory.

    Args:
        memory: which.
        passages: of it; without one it goes whole, and where it is one statement: a
            fact, a lesson, a proposal, YAML.
    """
    is_one = memory.kind in (*DISTILLED, PROPOSED) or memory.is_yaml
    if passages and not is_one:
        return [_lines_of(memory, passage) for passage in passages]
    text = memory.passages[0].text if memory.passages else ""
    return [Removal(memory.path, text=text, digest=digest(memory.data))]


def _lines_of(memory: Memory, passage: Passage) -> Removal:
    """Return the removal of a passage's lines.

    Of front matter the value goes, of a summary or the profile all, else all but the
    head of the first line.
    """
    start = passage.line
    if start < memory.front_end:
        start = max(2, start)  # the first line opens it
        key, colon, _ = memory.lines[start - 1].partition(":")
        new = f"{key}: {NAMELESS}" if colon else f"# {NAMELESS}"
    elif memory.kind == Kind.SUMMARIES or memory.path == PROFILE:
        new = ""
    else:
        head = HEAD.match(memory.lines[start - 1])
        before = head[0].rstrip() if head else ""
        new = f"{before} {FORGOTTEN}".lstrip()
    old = tuple(memory.lines[start - 1 : passage.end_line])
    return Removal(memory.path, start, passage.text, old=old, new=new)


# -- the cascade -----------------------------------------------------------------------


class _Cascade:
    """What is to be deleted so far, and all that cites any of it.

    Args:
        folder: whose memories.
        matcher: of the words that were named; else the lines that go are added to it.
        progress: told how many files have been read, of how many.

    Attributes:
        memories: all that can be read, by path, proposals among them.
        items: what goes, in the order in which it was found.
        going: the numbers of their lines by path; 0 is a whole file.
    """

    def __init__(self, folder: Folder, matcher: Matcher, progress: Progress) -> None:
        self.folder = folder
        self.matcher = matcher
        self.memories = dict[str, Memory]()
        self.items = list[Removal]()
        self.going = defaultdict[str, set[int]](set)
        self._naming = defaultdict[str, list[str]](list)
        self._read_memories(progress)
        self._note_names()

    def _read_memories(self, progress: Progress) -> None:
        """Read all memories and proposals that can be read."""
        paths = [*self.folder.paths(), *self.folder.proposals()]
        for number, path in enumerate(paths, 1):
            progress(number, len(paths))
            with contextlib.suppress(FilememError, OSError):
                self.memories[path] = parse(path, self.folder.read(path))

    def _note_names(self) -> None:
        """Note which memories have a word that may end the name of a file.

        So what cites a file is found without reading all memories for each.
        """
        for path, memory in self.memories.items():
            text = "\n".join([memory.text, *memory.sources])
            for word in words_of_paths(text):
                self._naming[word].append(path)

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

    def plan(self, asked: Iterable[Removal]) -> DeletionPlan:
        """Return the plan for what was named.

        With it go the turns that it came from and all that cites it; named is also
        what says it and does not go.
        """
        waiting = list(asked)
        while waiting:
            item = waiting.pop()
            if self._take(item):
                waiting += self._sources(item)
        for cause in self.items:  # to which what cites it is added
            for path in self._may_cite(cause):
                if not self._goes(path):
                    self._take_citing(self.memories[path], cause)
        self._take_names()
        skipped = [".git", *(f"{BOOKKEEPING}/{name}" for name in CACHES)]
        records = dict[str, None]()
        left = list[Occurrence]()
        for one in occurrences(self.folder.root, self.matcher, skipped):
            if one.path.startswith(f"{BOOKKEEPING}/"):
                records[one.path] = None
            elif not self._goes(one.path, one.line):
                left.append(one)
        items = [one for one in self.items if not (one.line and self._goes(one.path))]
        return DeletionPlan(items, [*records], left, self.matcher)

    def _sources(self, item: Removal) -> Iterator[Removal]:
        """Yield what a removal names as its source.

        That is lines, and the fact that a line of the profile rests on. Of a line that
        says words by itself none is looked for.
        """
        memory = self.memories[item.path]
        text = "\n".join(item.old)
        places = list[str]()
        if not item.line:
            places = [place for place in memory.sources if split_place(place).lines]
        elif item.path == PROFILE and not self.matcher.words:
            places = SOURCE_MARK.findall(text)
        elif memory.kind == Kind.SUMMARIES and not self.matcher.words:
            places = _CITED.findall(text)
        for place in places:
            with contextlib.suppress(FilememError):
                for source in self.at(place):
                    yield replace(source, why=f"the source of {item.place}")

    def _take(self, item: Removal) -> bool:
        """Mark a removal to be done, and look for its lines elsewhere.

        Returns:
            False if it is marked already, or was done before.
        """
        is_gone = item.old[:1] == (item.new,)
        if is_gone or self._goes(item.path, item.line):
            return False
        self.going[item.path].update(item.lines or [0])
        self.items.append(item)
        if not self.matcher.words:
            texts = [item.text]
            if not item.line:
                texts = [one.text for one in self.memories[item.path].passages]
            for text in texts:
                self.matcher.add_lines(text)
        return True

    def _goes(self, path: str, line: int = 0) -> bool:
        """Tell whether a line goes, or the whole file.

        Line 0 stands for that.
        """
        return not {0, line}.isdisjoint(self.going[path])

    def _may_cite(self, cause: Removal) -> Iterable[str]:
        """Return the paths of all memories that may cite the file of a removal."""
        word = last_word(cause.path)
        if not word:
            return self.memories
        return self._naming.get(word, [])

    def _take_citing(self, memory: Memory, cause: Removal) -> None:
        """Take a memory that was distilled from what goes, and passages that cite it.

        A line of a file that goes is cited by its number; a source, and the mark of a
        line of the profile, may name the file alone.
        """
        path = live(cause.path)
        cited = re.compile(rf"(?<![\w-]){re.escape(path)}{_LINES}")
        passages = list(memory.passages)
        if memory.path == PROFILE:
            passages = _lines(memory)
        sources = Passage(1, 1, "", "", "\n".join(memory.sources))
        for passage in (*passages, sources):
            named = [split_place(one[0]).lines for one in cited.finditer(passage.text)]
            is_mark = memory.path == PROFILE or passage is sources
            if not _names_cause(named, cause, is_mark=is_mark):
                continue
            for item in removals(memory, [passage]):
                # As one line: a line of it alone may quote what stays.
                text = " ".join(item.text.split())
                self._take(replace(item, why="cites it", text=text))

    def _take_names(self) -> None:
        """Take the names of the files that go out of the lines that stay.

        They may tell what was forgotten.
        """
        names = FileNames(live(item.path) for item in self.items if not item.line)
        for path, memory in self.memories.items():
            if self._goes(path) or names.without(memory.text) == memory.text:
                continue
            for line in _lines(memory):
                new = names.without(line.text)
                if new != line.text and not self._goes(path, line.line):
                    self.going[path].add(line.line)
                    old = (line.text,)
                    self.items.append(Removal(path, line.line, new, NAMES_IT, old, new))


def _names_cause(named: Sequence[set[int]], cause: Removal, *, is_mark: bool) -> bool:
    """Tell whether citations of a file name what goes of it.

    Args:
        named: the lines of each citation; none where it names the file alone.
        cause: what goes.
        is_mark: they are a source, or the mark of a line of the profile.
    """
    if cause.line:
        return any(not lines.isdisjoint(cause.lines) for lines in named)
    if is_mark:
        return bool(named)
    return any(named)


def _lines(memory: Memory) -> list[Passage]:
    """Return the lines of a memory that have words, each as a passage."""
    return [
        Passage(number, number, "", "", line)
        for number, line in enumerate(memory.lines, 1)
        if not memory.is_formal(number)
    ]
