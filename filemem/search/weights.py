"""The weights of the ranking, in one place. What each is worth is in docs/search.md.

`benchmarks/features.py` switches each off in turn and prints that table anew.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Weights:
    """What counts how much when passages are ranked and an answer is put together."""

    bm25_k1: float = 0.9
    """How soon a word said again stops to count (Robertson and Zaragoza 2009)."""
    bm25_b: float = 0.5
    """How much a long passage is held back, from 0 to 1."""
    neighbors: tuple[float, ...] = (1.0, 0.75, 0.5, 0.3, 0.2, 0.1)
    """What a word counts so many passages away: people answer without repeating."""
    repeated: float = 0.1
    """Of a word's score, the part that is summed over all of its places in reach."""
    session: float = 0.1
    """What the best place of each word in a file counts for all of its passages."""

    lesser_word: float = 0.5
    """What a word counts that any question may have ("tell"), that stands for one asked
    for (related.txt, kinds.txt, `aliases`), or that is a piece of a Chinese word; and
    the words of a date, or the name of a person asked about, together."""

    assistant: float = 0.3
    """The factor of an assistant's passage, unless its words are asked for; and of what
    a chat's quotes of the memory give to the turns near them."""
    named_speaker: float = 0.25
    """Share of the question's weight for what the person asked about says."""
    on_day: float = 0.5
    """Share of the question's weight for what is of a day asked for, or held on it."""
    near_day: float = 0.25
    """The same for what is of a day shortly before or after one."""
    follows_question: float = 0.06
    """Share of the question's weight, where people talk with each other, for what
    follows a question."""
    length: float = 0.04
    """Share of the question's weight, where people talk with each other, that is taken
    off for each e-fold of a passage's length in words."""
    echo: float = 0.5
    """The factor of a turn that has no word but those of the question: who asked the
    same before holds all of it, and would stand above every answer."""

    archived: float = 0.85
    """The factor of a memory in the archive."""
    lapsed: float = 0.5
    """The factor of one that does not hold on the day in question; of what was replaced
    only where a day is asked for."""

    meaning: float = 0.75
    """What likeness in meaning counts, beside the best score by words."""
    least_meaning: float = 0.06
    """How much more alike the question than the middle one a passage must be that has
    no word of it."""
    enough: float = 0.75
    """The share of the question's content words that the best passage must hold for no
    embedder to be loaded, which takes a second."""

    answer_tokens: int = 1065
    """How many tokens an answer has at most."""
    best_tokens: int = 240
    """How many tokens of the best passages stand together, by file, before more."""
    least_share: float = 0.3
    """Of the best score, what a passage must have to be shown."""
    least_fact_share: float = 0.45
    """The same for a fact, which says one thing, so that others rarely belong to it."""
    equal_share: float = 0.93
    """Of the best score, from which on passages count as equal: the newest is first."""


WEIGHTS = Weights()
