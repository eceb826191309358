"""The graph that `[[links]]` draw: which names there are, which stand in one passage, and since when and until when."""

import datetime as dt
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from itertools import combinations
from typing import Any, NamedTuple

from filemem.errors import FilememError
from filemem.files.facts import plain
from filemem.files.folder import Folder
from filemem.files.memory import LARGEST, Memory
from filemem.files.passages import Passage
from filemem.text.plain import LINK, one_line
from filemem.text.terms import LETTER


class Naming(NamedTuple):
    """A passage that names something; `since` and `until` are when what it says holds, where the memory tells."""

    path: str
    line: int
    date: dt.date | None
    text: str
    archived: bool
    since: dt.date | None
    until: dt.date | None

    def as_json(self) -> dict[str, Any]:
        """For a script, without what it has not."""
        return {key: value for key, value in self._asdict().items() if value not in (None, False)}


class Tie(NamedTuple):
    """Two names that stand in the same passages, newest first."""

    one: str
    other: str
    places: list[Naming]

    @property
    def ended(self) -> bool:
        """Has all that ties them ended?"""
        return all(place.until for place in self.places)


class Graph(NamedTuple):
    """The names with the passages that link to them, most first, and what ties them."""

    names: dict[str, list[Naming]]
    ties: list[Tie]

    def of(self, name: str) -> "Graph":
        """The part of the graph around one name: it, its neighbours, and the ties between them and it."""
        ties = [tie for tie in self.ties if name in (tie.one, tie.other)]
        near = {name} | {one for tie in ties for one in (tie.one, tie.other)}
        return Graph({one: places for one, places in self.names.items() if one in near}, ties)

    def beside(self, name: str) -> list[tuple[str, int]]:
        """The names tied to one, with the number of passages, most first."""
        found = [(tie.other if tie.one == name else tie.one, len(tie.places)) for tie in self.ties if name in tie[:2]]
        return sorted(found, key=lambda item: (-item[1], item[0]))


def graph(folder: Folder, people: Collection[str]) -> Graph:
    """The graph of all memories. Where a passage links to something, `people` whom it names count as linked, too."""
    spelt: dict[str, Counter[str]] = {}
    places: dict[str, list[Naming]] = {}
    tied: dict[tuple[str, str], list[Naming]] = {}
    known = {_key(name): re.compile(rf"(?<!{LETTER}){re.escape(name)}(?!{LETTER})", re.I) for name in people if name}
    for memory, passage in _linking(folder):
        found = _named(passage, known)
        place = _place(memory, passage)
        for key, label in found.items():
            spelt.setdefault(key, Counter())[label] += 1
            places.setdefault(key, []).append(place)
        for pair in combinations(sorted(found), 2):
            tied.setdefault(pair, []).append(place)
    labels = {key: min(counted, key=lambda label: (-counted[label], label)) for key, counted in spelt.items()}
    names = sorted(places, key=lambda key: (-len(places[key]), key))
    ties = [Tie(labels[one], labels[other], _newest_first(found)) for (one, other), found in sorted(tied.items())]
    return Graph({labels[key]: _newest_first(places[key]) for key in names}, ties)


def _linking(folder: Folder) -> Iterator[tuple[Memory, Passage]]:
    """Every passage with a link in it; what cannot be read has none."""
    for path in folder.paths():
        try:
            data = folder.read(path, LARGEST)
        except (FilememError, OSError):
            continue
        memory = Memory(path, data) if b"[[" in data else None
        for passage in memory.passages if memory and not memory.binary else ():
            if memory and "[[" in passage.text:
                yield memory, passage


def _named(passage: Passage, people: dict[str, re.Pattern[str]]) -> dict[str, str]:
    """The names in a passage, as they are compared and as it writes them."""
    found = {_key(link[1]): _label(link[1]) for link in LINK.finditer(passage.text)}
    said = f"{passage.speaker}: {plain(passage.text)}"
    for key, pattern in people.items():
        if key not in found and (match := pattern.search(said)):
            found[key] = _label(match[0])
    return {key: label for key, label in found.items() if key}


def _place(memory: Memory, passage: Passage) -> Naming:
    when = memory.when
    since, until = memory.particular("valid_from"), memory.particular("valid_until")
    text = re.sub(r"^[-*+] ", "", " ".join(passage.text.split()))
    return Naming(memory.path, passage.line, when.date if when else None, text, memory.archived, since, until)


def _newest_first(places: Iterable[Naming]) -> list[Naming]:
    return sorted(places, key=lambda place: (place.archived, -(place.date or dt.date.min).toordinal(), place.path))


def _key(label: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", label).casefold().split())


def _label(name: str) -> str:
    return one_line(unicodedata.normalize("NFC", name), 80)


# -- printed -------------------------------------------------------------------------------------------------------


def dot(drawn: Graph, title: str) -> str:
    """The graph for Graphviz: dashed is what has ended."""
    lines = [f"graph {_quoted(title)} {{"]
    lines += [f"  {_quoted(name)} [tooltip={_quoted(_count(places))}];" for name, places in drawn.names.items()]
    for tie in drawn.ties:
        marks = [f"tooltip={_quoted(one_line(plain(tie.places[0].text)))}"]
        marks += [f"label={len(tie.places)}"] if len(tie.places) > 1 else []
        marks += ["style=dashed"] if tie.ended else []
        lines.append(f"  {_quoted(tie.one)} -- {_quoted(tie.other)} [{', '.join(marks)}];")
    return "\n".join([*lines, "}"])


def mermaid(drawn: Graph) -> str:
    """The graph for Mermaid, as Markdown viewers draw it: dotted is what has ended."""
    place = {name: f"n{number}" for number, name in enumerate(drawn.names, 1)}
    lines = ["graph LR", *(f'  {place[name]}["{_entities(name)}"]' for name in drawn.names)]
    for tie in drawn.ties:
        line = "-.-" if tie.ended else "---"
        many = f"|{len(tie.places)}|" if len(tie.places) > 1 else ""
        lines.append(f"  {place[tie.one]} {line}{many} {place[tie.other]}")
    return "\n".join(lines)


def as_json(drawn: Graph) -> dict[str, Any]:
    """The graph for a script."""
    return {
        "names": [
            {"name": name, "memories": [place.as_json() for place in places]} for name, places in drawn.names.items()
        ],
        "ties": [
            {"names": [tie.one, tie.other], "ended": tie.ended, "memories": [place.as_json() for place in tie.places]}
            for tie in drawn.ties
        ],
    }


def _count(places: list[Naming]) -> str:
    return f"{len(places)} passage{'s' * (len(places) != 1)}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _entities(text: str) -> str:
    """Text within a Mermaid label: what means something to it as numbered entities."""
    return "".join(char if char.isalnum() or char in " '-.,_" else f"#{ord(char)};" for char in text)
