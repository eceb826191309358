"""What a memory's file says: its front matter, its lines, its passages.

A file is only ever read here as bytes under a path; `folder` knows where it lies on
disk. A mistake in a person's file is a `Problem`, never an exception, and never hides
the file's text.
"""

import datetime as dt
import json
import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from filemem.store.encodings import BINARY, decode, encoding_of
from filemem.store.fields import (
    DESCRIBING,
    FIELDS,
    FORMAL,
    NAMING,
    OF_FACTS,
    FrontMatter,
    day_of,
    texts,
)
from filemem.store.passages import Passage, Window, paragraphs, turns, whole
from filemem.store.passages import windows as windows_of
from filemem.store.paths import (
    DISTILLED,
    OWN_KINDS,
    FileDate,
    Kind,
    date_at_head,
    is_archived,
    kind_of,
    when_of,
)
from filemem.store.roles import Role, role_of
from filemem.text.plain import one_line

NAMELESS = "forgotten"  # in the place of a name
IMPORTANCE = 5  # of a memory that does not say
LARGEST = 10_000_000  # bytes; what is larger is grepped and opened, but not ranked
SOURCE_MARK = re.compile(r"<!-- ((?:facts|lessons)/(?:(?!<!--).)+) -->\s*$")
"""How a line of profile.md ends that the program wrote: with the memory it rests on."""
REFERENCE = re.compile(r"(?P<path>.+?\.\w+)(?::(?P<line>\d{1,9}))?$")
"""A source, `path` or `path:line`."""

# A line that begins a key of a mapping, and those behind it that begin none.
_ENTRY = re.compile(r"^[^\s#\]}-].*(?:\n(?:[ \t#\]}-].*)?$)*", re.MULTILINE)
_HEADING = re.compile(r"#{1,6}\s")
_LINK = re.compile(
    r"(?:(?:sources?|supersedes|superseded_by):|\s*-)"
    r"(?:[\s\[\"',]+(?:archive/)?(?:facts|lessons|sessions|summaries)/[^\s\]\"',]+)+"
    r"[\s\]\"']*$"
)
"""A line of front matter that names memories, and nothing else."""


@dataclass(frozen=True, eq=False, repr=False)
class Memory:
    """One file of a user, as `parse` has read it.

    Attributes:
        path: relative to the user's folder, with `/`.
        data: the bytes.
        encoding: as they are read.
        text: theirs, without a byte order mark; '' for a binary file.
        lines: as an editor numbers them, without their ends.
        front_end: the number of the line that closes the front matter, 0 for none.
    """

    path: str
    data: bytes
    encoding: str
    text: str
    lines: list[str]
    front_end: int

    def __repr__(self) -> str:
        first = self.passages[0].text if self.passages else ""
        return f"<Memory {self.path}: {one_line(first, 60)}>"

    # -- what the path says ------------------------------------------------------------

    @property
    def kind(self) -> str:
        """The folder, such as `facts`; `profile`, or `notes` for another at the top."""
        return kind_of(self.path)

    @property
    def archived(self) -> bool:
        """Whether it lies in the archive."""
        return is_archived(self.path)

    @property
    def is_yaml(self) -> bool:
        """Whether the whole file is one YAML mapping, whose `text` is the body."""
        return _is_yaml(self.path)

    @property
    def is_note(self) -> bool:
        """Whether it is a person's, in no folder of the program's: it speaks of what
        its title says without naming it again."""
        return self.kind not in OWN_KINDS

    @property
    def binary(self) -> bool:
        """Whether this is no text, such as a picture dropped in by mistake."""
        return self.encoding == BINARY

    @cached_property
    def when(self) -> FileDate | None:
        """The date of the path, else of the front matter (`date`, `created`)."""
        named = when_of(self.path)
        day = day_of(self.front.get("date") or self.front.get("created"))
        if named or day is None:
            return named
        return FileDate(day, False, "")

    @property
    def date(self) -> dt.date | None:
        """The day of the memory, if it has one."""
        return self.when.date if self.when else None

    @property
    def day(self) -> dt.date | None:
        """The day that what it says counts from; None if only a month is known."""
        return self.when.day if self.when else None

    # -- front matter ------------------------------------------------------------------

    @cached_property
    def front_matter(self) -> FrontMatter:
        """The front matter, or the whole of a YAML memory, or what is wrong with it."""
        lines = self._front_lines
        if not "".join(lines).strip():
            return FrontMatter({})
        # The yaml package takes a third of click's time to import, which a grep that
        # reads no front matter need not pay.
        from filemem.store.frontmatter import load  # noqa: PLC0415

        return load("\n".join([*lines, ""]), self.path, self._above)

    @property
    def front(self) -> dict[str, Any]:
        """The front matter as a mapping; empty if there is none or it is broken."""
        values = self.front_matter.values
        if self.is_yaml:
            return {key: value for key, value in values.items() if key != "text"}
        return values

    @cached_property
    def metadata(self) -> dict[str, Any]:
        """The well-formed values of known keys; a date is a day.

        `sources` and `stale_after` count as `source` and `valid_until`.
        """
        found: dict[str, Any] = {}
        for key, value in self.front.items():
            if key in FIELDS and value is not None and FIELDS[key].is_valid(value):
                found[key] = day_of(value) or value
        _take_bundle_keys(found)
        return found

    @property
    def sources(self) -> list[str]:
        """What it names as its source."""
        return list(texts(self.metadata.get("source")))

    @property
    def aliases(self) -> list[str]:
        """Other names of what this memory is about."""
        return list(texts(self.front.get("aliases")))

    def line_of(self, key: str) -> int:
        """Return the line of a front matter key, 1 if it cannot be told."""
        named = re.compile(rf"[\"']?{re.escape(key)}[\"']?\s*:")
        for number, line in enumerate(self._front_lines, self._above + 1):
            if named.match(line):
                return number
        return 1

    def is_formal(self, number: int) -> bool:
        """Tell whether a line, by its number, only says what a format asks for."""
        return number < self.front_end and self.lines[number - 1] in FORMAL

    def is_link(self, number: int) -> bool:
        """Tell whether a line, by its number, is front matter that only names other
        memories."""
        return number < self.front_end and bool(_LINK.match(self.lines[number - 1]))

    def role(self, speaker: str) -> Role:
        """Tell whose words the turns of a speaker in this file are."""
        return role_of(speaker, self.front)

    @property
    def _above(self) -> int:
        """How many lines stand over the mapping."""
        return 0 if self.is_yaml else 1

    @property
    def _front_lines(self) -> list[str]:
        end = len(self.lines) if self.is_yaml else max(self.front_end - 1, self._above)
        return self.lines[self._above : end]

    # -- text --------------------------------------------------------------------------

    @property
    def _body_start(self) -> int:
        """The number of the line behind which the body stands: broken front matter
        counts as body, so as to be found."""
        return 0 if self.front_matter.fault else self.front_end

    @property
    def body(self) -> str:
        """The text behind the front matter; of a YAML memory its `text`."""
        if self.is_yaml:
            return str(self.front_matter.values.get("text") or "")
        return "\n".join(self.lines[self._body_start :])

    @cached_property
    def statement(self) -> str:
        """What it says, on one line."""
        return " ".join(self.body.split())

    @property
    def own_title(self) -> str:
        """What the front matter calls it, or ''."""
        return " ".join(texts(self.front.get("title"))).strip()

    @cached_property
    def heading(self) -> str:
        """The heading over all its text, which no other has the rank of, or ''."""
        body = [line for line in self.lines[self._body_start :] if line.strip()]
        rank = _HEADING.match(body[0]) if body else None
        if rank and sum(line.startswith(rank[0]) for line in body) == 1:
            return body[0].strip("# ")
        return ""

    @property
    def file_words(self) -> str:
        """The words of the file's name, without its date."""
        name = self.path.rpartition("/")[2]
        dated = date_at_head(name)
        undated = name[dated.end :] if dated else name
        return re.sub("[-_ ]+", " ", undated.rpartition(".")[0]).strip()

    @cached_property
    def title(self) -> str:
        """What it calls itself, else its heading, else the words of its name."""
        return self.own_title or self.heading or self.file_words

    @property
    def told_title(self) -> str:
        """The title of a note; '' if its path says the same."""
        is_said = _words(self.path) >= _words(self.title)
        return self.title if self.is_note and not is_said else ""

    @cached_property
    def passages(self) -> list[Passage]:
        """What a search returns, in order: front matter by key, then the text.

        What the file is called, and of a note its title, is searched along.
        """
        entries = self._entries()
        cut = [] if entries and self.is_yaml else self._cut()
        about = ""
        if self.is_note:
            about = f"{self.own_title} {self.heading} {self.file_words}"
            cut = [_under(passage, about) for passage in cut]
        found = [_under(entry, about or self.title) for entry in entries] + cut
        if not found and self.front_end:
            found = paragraphs(["" if one in FORMAL else one for one in self.lines], 0)
        names = " ".join(texts([self.front.get(key) for key in NAMING]))
        if found and names:
            context = f"{found[0].context} {names}".strip()
            found[0] = replace(found[0], context=context)
        return found

    @cached_property
    def windows(self) -> list[Window]:
        """What of the passages is scored, in order."""
        found = []
        for place, passage in enumerate(self.passages):
            found += windows_of(passage.text, place)
        return found

    def _cut(self) -> list[Passage]:
        """Return a session's turns, or a fact left whole, else paragraphs."""
        start = self._body_start
        found = []
        if self.kind == Kind.SESSIONS:
            found = turns(self.lines, start, self.day)
        elif self.kind in DISTILLED:
            found = whole(self.lines, start)
        return found or paragraphs(self.lines, start, dated=self.is_note)

    def _entries(self) -> list[Passage]:
        """Return a passage for each key that neither describes nor names the memory."""
        silent = DESCRIBING | NAMING
        if self.kind in DISTILLED:
            silent |= OF_FACTS
        values = self.front_matter.values
        source = "\n".join(self._front_lines) if values else ""
        found = []
        for match in _ENTRY.finditer(source):
            text = match[0].rstrip()
            key = text.partition(":")[0].strip(" \"'")
            if key in silent or text in FORMAL or values.get(key, "") is None:
                continue
            first = self._above + source.count("\n", 0, match.start()) + 1
            last = first + text.count("\n")
            if self.is_yaml and key == "text":
                text = str(values[key]).strip()
            found.append(Passage(first, last, "", "", text))
        return found


def parse(path: str, data: bytes) -> Memory:
    """Read the bytes of the file at `path`, whatever they are."""
    text = decode(data)
    if "\n" not in text:
        text = text.replace("\r", "\n")  # how lines ended on old Macs
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if lines[-1] == "":
        lines.pop()
    front_end = 0
    if not _is_yaml(path) and lines and lines[0].rstrip() == "---":
        for number, line in enumerate(lines[1:], 2):
            if line.rstrip() in ("---", "..."):
                front_end = number
                break
    return Memory(path, data, encoding_of(data), text, lines, front_end)


def in_iso(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return metadata as JSON has it, without what only names the memory."""
    told = {key: value for key, value in metadata.items() if key not in NAMING}
    found: dict[str, Any] = json.loads(json.dumps(told, default=str))
    return found


def _take_bundle_keys(found: dict[str, Any]) -> None:
    """Put what keys of the Open Knowledge Format say under the names of ours.

    A source is a place, or a mapping that names one as its `resource`. What is stale on
    a day held until the day before it.

    Args:
        found: well-formed values of known keys, which are changed.
    """
    if "sources" in found:
        places = [found.get("source")]
        for entry in found.pop("sources"):
            if isinstance(entry, dict):
                places.append(entry.get("resource"))
            else:
                places.append(entry)
        found["source"] = list(texts(places))
    if "stale_after" in found:
        stale = found.pop("stale_after").toordinal()
        last_day = dt.date.fromordinal(max(1, stale - 1))
        found.setdefault("valid_until", last_day)


def _is_yaml(path: str) -> bool:
    return path.endswith((".yaml", ".yml"))


def _words(text: str) -> set[str]:
    return {*re.split(r"[\W_]+", text.casefold()), ""}


def _under(passage: Passage, title: str) -> Passage:
    """Return a passage with the words of a title that are not over it yet."""
    known = passage.context.casefold().split()
    words = dict.fromkeys(title.split())
    more = [word for word in words if word.casefold() not in known]
    return replace(passage, context=" ".join([*more, passage.context]).strip())
