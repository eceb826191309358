"""Every number of the search, in one place. What each is worth is in docs/search.md.

`benchmarks/features.py` switches each off in turn and prints that table anew.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Weights:
    """What counts how much when passages are ranked and an answer is put together."""

    bm25_k1: float = 0.9
    """How soon a word that is said again stops to count (Robertson and Zaragoza 2009)."""
    bm25_b: float = 0.5
    """How much a long passage is held back, from 0 to 1."""
    neighbors: tuple[float, ...] = (1.0, 0.75, 0.5, 0.3, 0.2, 0.1)
    """What a word counts so many passages away: people answer without repeating."""
    repeated: float = 0.1
    """Of a word's score, the part that is summed over all of its places in reach."""
    session: float = 0.1
    """What the best place of each word in a file counts for all of its passages."""

    related_word: float = 0.4
    """What a word of related.txt counts, of the word asked for."""
    kind_member: float = 0.5
    """What a member of a kind counts where the kind is asked for (kinds.txt)."""
    alias: float = 0.6
    """What another name of a thing counts (`aliases` in front matter)."""
    light_word: float = 0.5
    """What a word counts that any question may be put with, such as "tell"."""
    context_word: float = 0.3
    """What the words of a date count, and the name of a person asked about."""
    lone_character: float = 0.4
    """What a Chinese character counts that is a part of a word."""
    split_pair: float = 0.4
    """What a pair of characters counts that are of two words."""
    caption: float = 0.5
    """What a word in an image's caption counts, of a word said."""

    assistant: float = 0.3
    """The factor of an assistant's passage, unless its words are asked for."""
    named_speaker: float = 0.25
    """Share of the question's weight for what the person asked about says."""
    follows_question: float = 0.06
    """The same, where people talk with each other, for what follows a question."""
    length: float = 0.04
    """There, what is taken off for each e-fold of a passage's length in words."""
    on_day: float = 0.5
    """The same for what is of a day that the question names."""
    after_day: float = 0.25
    """The same for what was said shortly after it."""
    days_after: int = 14
    """How many days that is, at least."""

    archived: float = 0.85
    """The factor of a memory in the archive."""
    lapsed: float = 0.5
    """The factor of one that does not hold on the day in question."""
    replaced: float = 0.3
    """The factor of an archived one that another has replaced."""
    doubtful: float = 0.7
    """The factor of one with confidence 0, which grows to 1 at `sure`."""
    sure: float = 0.75
    """The confidence from which on a memory counts in full."""

    answer_tokens: int = 1600
    """How many tokens an answer has at most, where its best passage holds all."""
    weak_answer_tokens: int = 230
    """The same where it holds nothing; between them in proportion."""
    talk_tokens: int = 980
    """The least room where a person talks with an assistant, in long turns."""
    best_tokens: int = 240
    """How many tokens of the best passages stand together, by file, before more."""
    least_share: float = 0.15
    """Of the best score, what a passage must have to be shown."""
    least_fact_share: float = 0.4
    """The same for a fact, which says one thing, so that others rarely belong to it."""
    share_per_passage: float = 0.015
    """What is added to that for each passage that is shown already."""
    coverage_penalty: float = 0.28
    """What is added to it for a passage that holds none of the question."""
    adds_nothing: float = 0.5
    """The factor of a passage that has no word but those of the question."""
    equal_share: float = 0.93
    """Of the best score, from which on passages count as equal: the newest is first."""
    excerpt_tokens: int = 40
    """How much is shown of an assistant's turn that is not asked for."""


WEIGHTS = Weights()
