"""The graph that `[[links]]` draw: which names there are, which stand in one passage, and since when and until when."""

import datetime as dt
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any, NamedTuple

from filemem.errors import FilememError
from filemem.files.facts import plain
from filemem.files.folder import Folder
from filemem.files.memory import LARGEST, Memory, is_note
from filemem.files.passages import Passage
from filemem.text import terms
from filemem.text.plain import LINK, counted, one_line
from filemem.text.terms import LETTER

ROUNDS = 20  # of label propagation, which settles in a few


class EntityMention(NamedTuple):
    """A passage that names something; `since` and `until` are when what it says holds, where the memory tells."""

    path: str
    line: int
    date: dt.date | None
    text: str
    archived: bool
    since: dt.date | None
    until: dt.date | None
    kind: str = ""  # the key of the front matter that links, as in `works_at: [[Google]]`
    speaker: str = ""

    def as_json(self) -> dict[str, Any]:
        """For a script, without what it has not."""
        return {key: value for key, value in self._asdict().items() if value not in (None, False, "")}


class Edge(NamedTuple):
    """Two names that stand in the same passages, newest first."""

    one: str
    other: str
    places: list[EntityMention]

    @property
    def kinds(self) -> list[str]:
        """As what they are tied, where front matter says so, the newest first."""
        return list(dict.fromkeys(place.kind for place in self.places if place.kind))

    @property
    def ended(self) -> bool:
        """Has all that ties them ended?"""
        return all(place.until for place in self.places)


class Graph(NamedTuple):
    """The names with the passages that link to them, most first, and what ties them."""

    names: dict[str, list[EntityMention]]
    ties: list[Edge]

    def of(self, name: str) -> "Graph":
        """The part of the graph around one name: it, its neighbours, and the ties between them and it."""
        ties = [tie for tie in self.ties if name in (tie.one, tie.other)]
        near = {name} | {one for tie in ties for one in (tie.one, tie.other)}
        return Graph({one: places for one, places in self.names.items() if one in near}, ties)

    def beside(self, name: str) -> list[tuple[str, Edge]]:
        """The names tied to one, with the tie, most passages first."""
        found = [(tie.other if tie.one == name else tie.one, tie) for tie in self.ties if name in tie[:2]]
        return sorted(found, key=lambda item: (-len(item[1].places), item[0]))

    def clusters(self, without: str) -> list[list[str]]:
        """The names that hang together more than with others, by label propagation; the largest cluster first, in each the
        most central name. `without` one to which most are tied, whose memories these are."""
        beside = {
            name: [(other, len(tie.places)) for other, tie in self.beside(name) if other != without]
            for name in self.names
        }
        beside.pop(without, None)
        order = sorted(beside, key=lambda name: (-sum(count for _, count in beside[name]), name))
        label = {name: name for name in order}
        for _ in range(ROUNDS):
            before = dict(label)
            for name in reversed(order):  # those at the edge first, which follow the central ones
                votes = Counter[str]()
                for other, count in beside[name]:
                    votes[label[other]] += count
                if votes and votes[label[name]] < max(votes.values()):
                    label[name] = min(votes, key=lambda one: (-votes[one], order.index(one)))
            if label == before:
                break
        groups: dict[str, list[str]] = {}
        for name in order:
            groups.setdefault(label[name], []).append(name)
        return sorted((group for group in groups.values() if len(group) > 1), key=lambda group: (-len(group), group[0]))


def graph(folder: Folder, people: Collection[str], aliases: Mapping[str, list[str]]) -> Graph:
    """The graph of all memories. Where a passage links to something, `people` whom it names count as linked, too.

    `aliases` are what else names stand for, as folded words: they are one name, spelt as it is most often.
    """
    spelt: dict[str, Counter[str]] = {}
    places: dict[str, list[EntityMention]] = {}
    tied: dict[tuple[str, str], list[EntityMention]] = {}
    known = {_key(name): re.compile(rf"(?<!{LETTER}){re.escape(name)}(?!{LETTER})", re.I) for name in people if name}
    for memory, passage in _linking(folder):
        place = _place(memory, passage)
        named = _named(memory, passage, known).items()
        found = {_merged(key, label, aliases): label for key, label in named}
        for key, label in found.items():
            spelt.setdefault(key, Counter())[label] += 1
            places.setdefault(key, []).append(place)
        for pair in combinations(sorted(found), 2):
            tied.setdefault(pair, []).append(place)
    labels = {key: min(forms, key=lambda label: (-forms[label], label)) for key, forms in spelt.items()}
    names = sorted(places, key=lambda key: (-len(places[key]), key))
    ties = [Edge(labels[one], labels[other], _newest_first(found)) for (one, other), found in sorted(tied.items())]
    return Graph({labels[key]: _newest_first(places[key]) for key in names}, ties)


def _merged(key: str, label: str, aliases: Mapping[str, list[str]]) -> str:
    """What a name is known by together with what else it is called."""
    folded = " ".join(terms.words(label))
    return min(folded, *aliases[folded]) if aliases.get(folded) else key


def _linking(folder: Folder) -> Iterator[tuple[Memory, Passage]]:
    """Every passage with a link in it; what cannot be read has none."""
    for path in folder.paths():
        try:
            data = folder.read(path, LARGEST)
        except (FilememError, OSError):
            continue
        memory = Memory(path, data) if b"[[" in data else None
        for passage in memory.passages if memory and not memory.binary else ():
            if memory and "[[" in _written(memory, passage):
                yield memory, passage


def _written(memory: Memory, passage: Passage) -> str:
    """A passage as its file has it."""
    return "\n".join(memory.lines[passage.line - 1 : passage.end_line])


def _named(memory: Memory, passage: Passage, people: dict[str, re.Pattern[str]]) -> dict[str, str]:
    """The names in a passage, as they are compared and as it writes them; whom a note is about, where its front matter links."""
    found = {_key(link[1]): _label(link[1]) for link in LINK.finditer(_written(memory, passage))}
    if _kind(memory, passage) and is_note(memory.path):
        found.setdefault(_key(memory.title), _label(memory.title))
    said = f"{passage.speaker}: {plain(passage.text)}"
    for key, pattern in people.items():
        if key not in found and (match := pattern.search(said)):
            found[key] = _label(match[0])
    return {key: label for key, label in found.items() if key}


def _kind(memory: Memory, passage: Passage) -> str:
    """The key of the front matter that a passage is; empty for one of the text."""
    key = _written(memory, passage).partition(":")[0].strip("\"' ")
    return key if key != "text" and (memory.is_yaml or passage.line < memory.front_end) else ""


def _place(memory: Memory, passage: Passage) -> EntityMention:
    when = memory.when
    since, until = memory.particular("valid_from"), memory.particular("valid_until")
    text = re.sub(r"^[-*+] ", "", " ".join(passage.text.split()))
    return EntityMention(
        memory.path, passage.line, when.date if when else None, text, memory.archived, since, until,
        _kind(memory, passage), passage.speaker,
    )  # fmt: skip


def _newest_first(places: Iterable[EntityMention]) -> list[EntityMention]:
    return sorted(places, key=lambda place: (place.archived, -(place.date or dt.date.min).toordinal(), place.path))


def _key(label: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", label).casefold().split())


def _label(name: str) -> str:
    return one_line(unicodedata.normalize("NFC", name), 80)


# -- printed -------------------------------------------------------------------------------------------------------


def dot(drawn: Graph, title: str) -> str:
    """The graph for Graphviz: dashed is what has ended."""
    lines = [f"graph {_quoted(title)} {{"]
    sizes = {name: counted(len(places), "passage") for name, places in drawn.names.items()}
    lines += [f"  {_quoted(name)} [tooltip={_quoted(size)}];" for name, size in sizes.items()]
    for tie in drawn.ties:
        marks = [f"tooltip={_quoted(one_line(plain(tie.places[0].text)))}"]
        told = ", ".join(tie.kinds) or (str(len(tie.places)) if len(tie.places) > 1 else "")
        marks += [f"label={_quoted(told) if tie.kinds else told}"] if told else []
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
            {
                "names": [tie.one, tie.other],
                **({"types": tie.kinds} if tie.kinds else {}),
                "ended": tie.ended,
                "memories": [place.as_json() for place in tie.places],
            }
            for tie in drawn.ties
        ],
    }


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _entities(text: str) -> str:
    """Text within a Mermaid label: what means something to it as numbered entities."""
    return "".join(char if char.isalnum() or char in " '-.,_" else f"#{ord(char)};" for char in text)
