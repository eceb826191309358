"""Whether what a model writes was shown to it: its numbers and its names.

Pure functions of the texts.
"""

import datetime as dt
import re
from collections.abc import Iterable
from typing import Protocol

from filemem.text import dates, terms
from filemem.text.expressions import numbers
from filemem.text.plain import LINK
from filemem.text.quotes import comparable, one_form_of_numbers

PAIR_LETTERS = 2  # of a pair of Chinese characters, which need not be a word


class DatedText(Protocol):
    """What was said on a day."""

    @property
    def text(self) -> str:
        """What was said."""

    @property
    def day(self) -> dt.date:
        """From which its words count."""


class ShownText:
    """The numbers and the letters that a model was shown in a request.

    Args:
        text: of the request.
        turns: those in it.
    """

    def __init__(self, text: str, turns: Iterable[DatedText]) -> None:
        text = re.sub(r"(?m)^\[\d+:\d+\]", "", text)
        for turn in turns:
            for mention in dates.mentioned(turn.text, turn.day):
                for span in mention.spans:  # a bare Friday's may be several
                    text += f" {span.start} {span.end}"
        self._letters = comparable(text)
        self._numbers = _in_digits(text) | numbers(terms.simplified(text))

    def holds(self, text: str) -> bool:
        """Tell whether the numbers and the linked names of a text were shown.

        Args:
            text: a fact, with its links.
        """
        names = " ".join(name for name, _ in LINK.findall(text))
        words = [word for word in terms.tokens(names) if len(word) != PAIR_LETTERS]
        is_named = all(comparable(word) in self._letters for word in words)
        return is_named and _in_digits(text) <= self._numbers


def _in_digits(text: str) -> set[int]:
    """Return the numbers in a text's digits; the minutes of 14:00 are none."""
    digits = re.findall(r"\d{1,18}", one_form_of_numbers(text))
    return {int(one) for one in digits} - {0}
