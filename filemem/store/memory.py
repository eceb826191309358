"""What a memory file says: its front matter, its lines, its passages; and how to change one line of it.

A file is only ever read here as bytes under a path; `folder` knows where it lies on disk. A mistake in a person's
file is a `Problem`, never an exception, and never hides the file's text.
"""

import datetime as dt
import functools
import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any

from filemem.errors import Problem
from filemem.store.encodings import decode, encoding_of
from filemem.store.passages import (
    _HEADING,
    SPOKEN,
    WHOLE,
    Passage,
    paragraphs,
    turns,
    whole,
    windows,
)
from filemem.store.paths import (
    _DATE,
    KINDS,
    FileDate,
    date_at_head,
    day_of,
    is_archived,
    kind_of,
    moment_of,
    when_of,
)
from filemem.store.roles import Role, role_of
from filemem.text.plain import one_line

NAMELESS = "forgotten"  # in the place of a name
IMPORTANCE = 5  # of a memory that does not say
LARGEST = (
    10_000_000  # bytes; a larger file is grepped and opened by line, but not ranked
)
LARGEST_YAML = 200_000  # characters; YAML takes a second for each million
# Front matter that describes the memory and says nothing to search for.
METADATA_KEYS = frozenset(
    "importance pinned source valid_from valid_until supersedes superseded_by confidence date created timezone "
    "origin assistant records actions".split()
)

NAMING = frozenset(
    "title aliases tags".split()
)  # front matter that names what the memory is about

# The same, of what the program writes into facts and lessons.
OF_FACTS = ("kind", "day", "retold_by", "said_by", "tool", "calls", "success")
SOURCE_MARK = re.compile(r"<!-- ((?:facts|lessons)/.+?) -->\s*$")
"""How a line of profile.md ends that the program wrote: with the memory that it rests on."""
REFERENCE = re.compile(r"(?P<path>.+?\.\w+)(?::(?P<line>\d{1,9}))?$")
"""A source, `path` or `path:line`."""
# As every session has it that filemem writes; to load it as YAML takes longer than to cut the body into passages.
_PLAIN_FRONT = re.compile(
    r"---\ndate: (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\n(?:timezone: ([A-Za-z_]+/[A-Za-z_/-]+)\n)?---\n"
)
_NO_KEY = ("", *" \t#-]}")  # how a line begins that begins no key of a mapping


# -- the pieces of a file that a search returns: the turns of a transcript, each with its day, or paragraphs -----------------

_FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)


# -- the file itself -------------------------------------------------------------------------------------------------


class Memory:
    """One file of a user, read: `path` is relative to the user's folder, with `/`."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data
        self.kind = kind_of(path)  # `profile` for profile.md, `notes` at the top
        self.archived = is_archived(path)
        self.is_yaml = path.endswith(
            (".yaml", ".yml")
        )  # the whole file is one YAML mapping

    def __repr__(self) -> str:
        first = next((passage.text for passage in self.passages), "")
        return f"<Memory {self.path}: {one_line(first, 60)}>"

    @functools.cached_property
    def when(self) -> FileDate | None:
        """The date of the file's name, else of its front matter (`date` or `created`), else None."""
        if named := when_of(self.path):
            return named
        value = moment_of(self.front.get("date") or self.front.get("created"))
        day, time = (
            day_of(value),
            f"{value:%H:%M}" if isinstance(value, dt.datetime) else "",
        )
        return FileDate(day, False, time) if day else None

    @property
    def date(self) -> dt.date | None:
        """The day of the memory, where it has one."""
        return self.when.date if self.when else None

    @property
    def day(self) -> dt.date | None:
        """The day that what it says counts from; None where its date is a month or it has none."""
        return self.when.date if self.when and not self.when.month else None

    @functools.cached_property
    def binary(self) -> bool:
        """Is this not text at all, such as a picture dropped in by mistake?"""
        return b"\0" in self.data[:65536] and not self.data.startswith(
            (b"\xff\xfe", b"\xfe\xff")
        )

    @functools.cached_property
    def text(self) -> str:
        """The file's text; bytes that are no UTF-8 are read as UTF-16, GB 18030 or Latin-1; empty for a binary file."""
        if self.binary:
            return ""
        text = decode(self.data)
        if "\n" in text:
            return text
        return text.replace("\r", "\n")  # how lines ended on old Macs

    @functools.cached_property
    def lines(self) -> list[str]:
        """The lines as an editor numbers them, without their ends."""
        lines = self.text.split("\n")
        if lines[-1] == "":
            lines.pop()
        return (
            [line.removesuffix("\r") for line in lines] if "\r" in self.text else lines
        )

    @functools.cached_property
    def front_end(self) -> int:
        """The number of the line that closes the front matter, 0 where there is none."""
        if self.is_yaml or not self.lines or self.lines[0].rstrip() != "---":
            return 0
        return next(
            (
                n
                for n, line in enumerate(self.lines[1:], 2)
                if line.rstrip() in ("---", "...")
            ),
            0,
        )

    @functools.cached_property
    def front(self) -> dict[str, Any]:
        """The front matter as a mapping; empty where there is none or it is broken."""
        found = self._loaded[0] or {}
        return (
            {key: value for key, value in found.items() if key != "text"}
            if self.is_yaml
            else found
        )

    @functools.cached_property
    def _loaded(self) -> tuple[dict[str, Any] | None, list[Problem]]:
        """The mapping, None where it is broken, and its problems."""
        if (
            (plain := _PLAIN_FRONT.match(self.text))
            and not self.is_yaml
            and (date := moment_of(plain[1]))
        ):
            return {"date": date} | ({"timezone": plain[2]} if plain[2] else {}), []
        source = "\n".join(
            [
                *(
                    self.lines
                    if self.is_yaml
                    else self.lines[1 : max(1, self.front_end - 1)]
                ),
                "",
            ]
        )
        if not source.strip():
            return {}, []
        if len(source) > LARGEST_YAML:
            large = f"over {LARGEST_YAML:,} characters, too large for YAML"
            return None, [Problem(self.path, 1, large, "keep it as Markdown")]
        # The yaml package takes a third of click's time to import, which a grep that reads no front matter need not pay.
        from filemem.store import frontmatter  # noqa: PLC0415

        return frontmatter.load(source, self.path, above=0 if self.is_yaml else 1)

    @property
    def _body(self) -> int:
        """The number of the line behind which the body stands; broken front matter counts as body, so as to be found."""
        return 0 if self._loaded[0] is None else self.front_end

    @property
    def body(self) -> str:
        """The text behind the front matter; of a YAML memory its `text`."""
        if self.is_yaml:
            return str((self._loaded[0] or {}).get("text") or "")
        return "\n".join(self.lines[self._body :])

    def line_of(self, key: str) -> int:
        """The line of a front matter key, 1 where it cannot be told."""
        lines = self.lines if self.is_yaml else self.lines[: self.front_end]
        named = re.compile(rf"[\"']?{re.escape(key)}[\"']?\s*:").match
        return next((number for number, line in enumerate(lines, 1) if named(line)), 1)

    @functools.cached_property
    def problems(self) -> list[Problem]:
        """The mistakes in this file, by line."""
        return sorted(self._problems())

    def _problems(self) -> Iterator[Problem]:
        wrong = functools.partial(Problem, self.path)
        if self.binary:
            yield wrong(
                1,
                "not a text file",
                "move it out of the memories, or describe it in a Markdown file",
            )
            return
        if len(self.data) > LARGEST:
            large = f"larger than {LARGEST // 1_000_000} MB: grep and open read it, search_files does not"
            yield wrong(1, large, "split it into smaller files")
            return
        if (encoding := encoding_of(self.data)) != "utf-8":
            yield wrong(1, f"not UTF-8, read as {encoding}", "save it as UTF-8")
        elif (
            at := self.text.find("\N{REPLACEMENT CHARACTER}")
        ) >= 0 and self.text.encode() not in self.data:
            line = self.text.count("\n", 0, at) + 1
            yield wrong(
                line,
                "bytes that are no UTF-8",
                "correct the characters shown as \N{REPLACEMENT CHARACTER}",
            )
        if (
            self.lines
            and self.lines[0].rstrip() == "---"
            and not self.front_end
            and not self.is_yaml
        ):
            yield wrong(
                1, "the front matter is never closed", "add a line with --- under it"
            )
        yield from self._loaded[1]
        named, when, own = (
            _DATE.match(self.path.rpartition("/")[2]),
            when_of(self.path),
            day_of(self.front.get("date")),
        )
        if named and not when:
            what = f"the file's name starts with {named[0]}, which is not a date"
            yield wrong(1, what, "rename it with a real date, YYYY-MM-DD")
        if when and own and (own.replace(day=1) if when.month else own) != when.date:
            what = f"date is {own}, but the file's name says {str(when.date)[: 7 if when.month else 10]}"
            yield wrong(
                self.line_of("date"),
                what,
                "the name decides: rename the file or correct the key",
            )
        for key, (right, remedy) in _CHECKS.items():
            value = self.front.get(key)
            if remedy and value is not None and not right(value):
                yield wrong(
                    self.line_of(key), f"{key} is {one_line(repr(value), 40)}", remedy
                )

    def role(self, speaker: str) -> Role:
        """Tell whose words the turns of a speaker in this file are."""
        return role_of(speaker, self.front)

    @functools.cached_property
    def metadata(self) -> dict[str, Any]:
        """The well-formed values of known keys; a date is a day."""
        found = {}
        for key, value in self.front.items():
            if key in _CHECKS and value is not None and _CHECKS[key][0](value):
                found[key] = day_of(value) or value
        return found

    @property
    def sources(self) -> list[str]:
        """What it names as its source."""
        value = self.metadata.get("source")
        return [
            str(entry)
            for entry in (
                value if isinstance(value, list) else [value] if value else []
            )
        ]

    @functools.cached_property
    def aliases(self) -> list[str]:
        """Other names of what this memory is about."""
        return list(_texts(self.front.get("aliases")))

    @functools.cached_property
    def title(self) -> str:
        """What the memory is called: its `title`, else the heading over all its text, else its file's name without a date."""
        return next(filter(None, self.titles), "")

    @functools.cached_property
    def titles(self) -> tuple[str, ...]:
        """What it calls itself, the heading over all its text, its file's name without the date; each may be empty."""
        name = self.path.rpartition("/")[2]
        dated = date_at_head(name)
        undated = name[dated.end :] if dated else name
        words = re.sub("[-_ ]+", " ", undated.rpartition(".")[0]).strip()
        given = " ".join(_texts(self.front.get("title"))).strip()
        body = self.lines[self._body :]
        first = next((line for line in body if line.strip()), "")
        rank, unfenced = (
            _HEADING.match(first),
            _FENCED.sub("", "\n".join(body)).split("\n"),
        )
        alone = (
            rank and sum(line.startswith(rank[0]) for line in unfenced) == 1
        )  # no other of the same rank
        return given, first.strip("# ") if alone else "", words

    @property
    def titled(self) -> bool:
        """Is this a note, in no folder of the program's, which speaks of what its title says without naming it again?"""
        return self.kind not in (*KINDS, "profile")

    @functools.cached_property
    def told_title(self) -> str:
        """The title of a note; empty if its path says the same."""
        path, words = (
            set(re.split(r"[\W_]+", text.casefold()))
            for text in (f"{self.path}.", self.title)
        )
        return self.title if self.titled and not words <= path else ""

    @functools.cached_property
    def passages(self) -> list[Passage]:
        """The file cut into what a search returns, in order: front matter by key, then its text, all of a note with its title."""
        entries = list(self._entries()) if self.front or self.is_yaml else []
        found: list[Passage] = []
        if not (
            entries and self.is_yaml
        ):  # turns, else a fact left whole, else paragraphs
            found = (
                turns(self.lines, self._body, self.day) if self.kind in SPOKEN else []
            )
            found = found or (
                list(whole(self.lines, self._body))
                if self.kind in ("facts", "lessons")
                else []
            )
            found = found or list(paragraphs(self.lines, self._body, dated=self.titled))
        if not found and not entries and self.front_end:
            found = [
                Passage(
                    1,
                    self.front_end,
                    "",
                    "",
                    " ".join(self.lines[1 : self.front_end - 1]),
                )
            ]
        named = " ".join(
            _texts(
                [
                    self.front[key]
                    for key in self.front
                    if key in NAMING and not self.is_yaml
                ]
            )
        )
        if named and (found or entries):
            first = (found or entries)[0]
            (found or entries)[0] = first._replace(
                context=f"{first.context} {named}".strip()
            )
        if not self.titled:
            return [*(_under(passage, self.title) for passage in entries), *found]
        about = " ".join(
            dict.fromkeys(word for title in self.titles for word in title.split())
        )
        return [_under(passage, about) for passage in (*entries, *found)]

    @functools.cached_property
    def windows(self) -> list[tuple[int, int, int]]:
        """What of the passages is scored: the place of each, and the places in its text where a window begins and ends."""
        texts = enumerate(passage.text for passage in self.passages)
        return [
            (n, *one)
            for n, text in texts
            for one in ([(0, len(text))] if len(text) <= WHOLE else windows(text))
        ]

    def _entries(self) -> Iterator[Passage]:
        """A passage for each key of the front matter or of a YAML memory, but those that describe or name it; none if broken."""
        mapping = self._loaded[0] or {}
        lines = self.lines if self.is_yaml else self.lines[: self.front_end - 1]
        above = 0 if self.is_yaml else 1
        ours = OF_FACTS if self.kind in ("facts", "lessons") else ()
        untold = METADATA_KEYS.union(() if self.is_yaml else NAMING, ours)
        starts = [
            n
            for n, line in enumerate(lines[above:], above + 1)
            if mapping and line[:1] not in _NO_KEY
        ]
        for start, after in itertools.pairwise([*starts, len(lines) + 1]):
            written = "\n".join(lines[start - 1 : after - 1]).rstrip()
            key, _, said = written.partition(":")
            key, end = key.strip().strip("\"'"), start + written.count("\n")
            if key in untold:
                continue
            value = mapping.get(key)
            several = value is not None and end > start
            if (
                isinstance(value, str | list | dict) or several
            ):  # YAML reads 07:30 as a number
                said = ", ".join(_texts(value))
            if said := said.strip():
                yield Passage(
                    start,
                    end,
                    "",
                    "",
                    said if self.is_yaml and key == "text" else f"{key}: {said}",
                )


def in_iso(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return metadata as JSON has it, without what only names the memory."""
    found = {}
    for key, value in metadata.items():
        if key in NAMING:
            continue
        if isinstance(value, list):
            value = [str(entry) for entry in value]
        found[key] = value.isoformat() if isinstance(value, dt.date) else value
    return found


def parse(path: str, data: bytes) -> Memory:
    """Read the bytes of the file at `path`; mistakes in it are its `problems`."""
    return Memory(path, data)


def _under(passage: Passage, title: str) -> Passage:
    """A passage with the words of a title that are not over it yet."""
    known = passage.context.casefold().split()
    more = " ".join(word for word in title.split() if word.casefold() not in known)
    return (
        passage._replace(context=f"{more} {passage.context}".strip())
        if more
        else passage
    )


def _texts(value: Any) -> Iterator[str]:
    """The strings in a front matter value, nested ones too."""
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from (f"{key}: {text}" for text in _texts(entry))
    elif isinstance(value, list | tuple | set):
        for entry in value:
            yield from _texts(entry)
    elif value is not None:
        yield str(value)


def _is(kind: Any) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kind)


_CHECKS: dict[str, tuple[Callable[[Any], object], str]] = {
    "importance": (
        lambda v: type(v) is int and 1 <= v <= 10,
        "importance is a whole number from 1 to 10",
    ),
    "confidence": (
        lambda v: type(v) in (int, float) and 0 <= v <= 1,
        "confidence is a number from 0 to 1",
    ),
    "pinned": (_is(bool), "pinned is true or false"),
    "tags": (_is(str | list), "tags are a list: [tea, family]"),
    "aliases": (_is(str | list), "aliases are a list: [NYC, Big Apple]"),
    "valid_from": (day_of, "valid_from is a date: 2026-11-20"),
    "valid_until": (day_of, "valid_until is a date: 2026-11-20"),
    "source": (
        _is(str | list),
        "source is path:line of where it was said, or a list of them",
    ),
    "supersedes": (_is(str | list), "supersedes is the path of the older memory"),
    "superseded_by": (_is(str), "superseded_by is the path of the newer memory"),
    "assistant": (_is(str), "assistant is the name of the speaker who is one"),
    "kind": (lambda v: v in ("event", "plan"), ""),  # which is over once its day is
    "day": (day_of, ""),  # of an event; a note's `day: Friday` is its own matter
}
