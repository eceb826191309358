"""What one search is asked, and over which passages."""

import datetime as dt
import functools
from dataclasses import dataclass

from filemem.index import Corpus, IndexedFile
from filemem.search import validity
from filemem.search.filters import Filters
from filemem.search.query import Query
from filemem.search.weights import Weights
from filemem.text.dayrange import DayRange


@dataclass(frozen=True)
class SearchRequest:
    """A question, with all that a search for it goes by.

    Attributes:
        corpus: the passages.
        query: the question, parsed.
        filters: which files and passages may be shown.
        in_prompt: the numbers of passages that the prompt has, which count for nothing.
        today: the day in question if the question names none.
        weights: the numbers of the ranking.
    """

    corpus: Corpus
    query: Query
    filters: Filters
    in_prompt: frozenset[int]
    today: dt.date
    weights: Weights

    @functools.cached_property
    def is_limited(self) -> bool:
        """Whether there is a passage that may not be shown."""
        return bool(self.in_prompt) or self.filters != Filters()

    def admits(self, entry: IndexedFile, number: int) -> bool:
        """Say whether a passage of a file may be shown."""
        if number in self.in_prompt or not self.filters.admits(entry):
            return False
        return self.filters.admits_passage(self.corpus, entry, number)

    def file_weight(self, entry: IndexedFile) -> float:
        """Return what a file counts.

        Nothing where it was not asked for, less where it is archived, uncertain, or
        holds on none of the days in question.
        """
        if not self.filters.admits(entry):
            return 0.0
        weight = 1.0
        if entry.archived:
            weight *= self.weights.archived
        if not any(map(validity.held_days(entry).overlaps, self._days)):
            weight *= self.weights.lapsed
        if not validity.is_certain(entry):
            weight *= self.weights.doubtful
        return weight

    def role_weight(self, number: int) -> float:
        """Return what a passage counts by who says it.

        That is less for an assistant's words, unless they are asked for.
        """
        if self.corpus.by_assistant(number) and not self.query.asks_assistant:
            return self.weights.assistant
        return 1.0

    @functools.cached_property
    def _days(self) -> tuple[DayRange, ...]:
        """The days that the question names, else today."""
        now = self.today.toordinal()
        return self.query.days or (DayRange(now, now),)
