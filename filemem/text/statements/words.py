"""The words of a text that carry meaning, as they are compared: how alike two texts are, how much of one another has."""

from collections.abc import Iterable

from filemem.text import terms


def content(text: str) -> set[str]:
    """The stems of the words that carry meaning, captions aside; of Chinese the pairs of characters."""
    tokens = terms.tokens(terms.split_captions(text)[0])
    return {terms.stem(token) for token in tokens if len(token) > 1 and token not in terms.STOP}


def amount(words: Iterable[str]) -> float:
    """How many words these are: three pairs of Chinese characters overlap in about one word."""
    one_by_one = [terms.is_cjk(word) for word in words]
    return one_by_one.count(False) + one_by_one.count(True) / 3
