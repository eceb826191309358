"""What one search is asked, and over which passages."""

import datetime as dt
import functools
from dataclasses import dataclass

from filemem.index import Corpus, IndexedFile
from filemem.search import validity
from filemem.search.filters import Filters
from filemem.search.query import Query
from filemem.search.weights import Weights
from filemem.store.paths import Kind
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

    def admits(self, entry: IndexedFile, number: int) -> bool:
        """Say whether a passage of a file may be shown."""
        if number in self.in_prompt:
            return False
        return self.filters.admits(self.corpus, entry, number)

    def admits_any(self, entry: IndexedFile) -> bool:
        """Say whether any passage of a file may be shown."""
        return any(self.admits(entry, number) for number in entry.numbers)

    def file_weight(self, entry: IndexedFile) -> float:
        """Return what a file counts: less if it is archived, or does not hold then."""
        weight = 1.0
        if entry.archived:
            weight *= self.weights.archived
        if not any(map(validity.held_days(entry).overlaps, self._days)):
            weight *= self.weights.lapsed
        return weight

    def role_weight(self, number: int) -> float:
        """Return what a passage counts by who says it.

        That is less for an assistant's words, unless they are asked for.
        """
        if self.corpus.by_assistant(number) and not self.query.asks_assistant:
            return self.weights.assistant
        return 1.0

    def passages_naming(self, entry: IndexedFile) -> set[int]:
        """Return the passages of a file that a date in their text puts on a day asked
        for.

        In a conversation that is a day to come: what is past was told of in its days.
        """
        days = self.query.days
        if entry.kind == Kind.SESSIONS:
            days = self._days_to_come
        return entry.passages_naming(days)

    @functools.cached_property
    def _days_to_come(self) -> tuple[DayRange, ...]:
        now = self.today.toordinal()
        return tuple(days for days in self.query.days if days.last > now)

    @functools.cached_property
    def _days(self) -> tuple[DayRange, ...]:
        """The days that the question names, else today."""
        now = self.today.toordinal()
        return self.query.days or (DayRange(now, now),)
