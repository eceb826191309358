"""The names that memories link to, `[[Porto]]`, which of them stand in one memory, and an order that keeps these together."""

import math
import unicodedata
from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from typing import NamedTuple

from filemem.errors import FilememError
from filemem.folder import Folder
from filemem.memory import LARGEST, Memory
from filemem.plain import one_line

MOST = 40  # names


class Name(NamedTuple):
    """A name as it is mostly written, and the number of memories that link to it."""

    label: str
    files: int


class Web(NamedTuple):
    """The names in most memories, most first; in how many memories two of them stand together, by their places in `names`
    (the lower first); the places in the order of a ring; how many names there are in all.
    """

    names: list[Name]
    pairs: dict[tuple[int, int], int]
    ring: list[int]
    total: int

    def near(self, place: int, most: int = 3) -> list[str]:
        """The names that stand with one most often."""
        found = [(-n, a + b - place) for (a, b), n in self.pairs.items() if place in (a, b)]
        return [self.names[other].label for _, other in sorted(found)[:most]]


def web(folder: Folder, paths: Iterable[str], most: int = MOST) -> Web:
    """The web of names in some memories; what cannot be read has none."""
    spelt: dict[str, Counter[str]] = {}
    named: list[frozenset[str]] = []
    for path in paths:
        found = _names(folder, path)
        named.append(frozenset(found))
        for key, label in found.items():
            spelt.setdefault(key, Counter())[label] += 1
    counted = Counter(key for keys in named for key in keys)
    chosen = sorted(counted, key=lambda key: (-counted[key], key))[:most]
    place = {key: number for number, key in enumerate(chosen)}
    pairs: Counter[tuple[int, int]] = Counter()
    for keys in named:
        pairs.update(combinations(sorted(place[key] for key in keys if key in place), 2))
    labels = [min(spelt[key], key=lambda label: (-spelt[key][label], label)) for key in chosen]
    names = [Name(label, counted[key]) for label, key in zip(labels, chosen, strict=True)]
    return Web(names, dict(sorted(pairs.items())), _ring(names, pairs), len(counted))


def _names(folder: Folder, path: str) -> dict[str, str]:
    """The names that a memory links to, as they are compared and as it writes them."""
    try:
        data = folder.read(path, LARGEST)
    except (FilememError, OSError):
        return {}
    links = Memory(path, data).links if b"[" in data else []
    labels = (unicodedata.normalize("NFC", label) for _, label in links if label)
    return {unicodedata.normalize("NFKC", label).casefold(): one_line(label, 80) for label in labels}


def _ring(names: list[Name], pairs: dict[tuple[int, int], int]) -> list[int]:
    """The places so that names which stand together are neighbours: the closest pairs are joined into chains first, as by
    the greedy edge heuristic for the travelling salesman; how close is the cosine of the sets of memories.
    """
    chains = {place: [place] for place in range(len(names))}  # by both of their ends

    def closeness(pair: tuple[int, int]) -> float:
        return pairs[pair] / math.sqrt(names[pair[0]].files * names[pair[1]].files)

    for one, other in sorted(pairs, key=lambda pair: (-closeness(pair), pair)):
        left, right = chains.get(one), chains.get(other)
        if left is None or right is None or left is right:
            continue
        del chains[one], chains[other]
        joined = (left if left[-1] == one else left[::-1]) + (right if right[0] == other else right[::-1])
        chains[joined[0]] = chains[joined[-1]] = joined
    ends = sorted({min(chain[0], chain[-1]): chain for chain in chains.values()}.items())
    return [place for _, chain in sorted(ends, key=lambda item: (-len(item[1]), item[0])) for place in chain]
