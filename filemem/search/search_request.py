"""What one search is asked, and over which passages."""

import datetime as dt
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

    def admits(self, number: int) -> bool:
        """Say whether a passage may be shown."""
        is_new = number not in self.in_prompt
        return is_new and self.filters.admits(self.corpus, number)

    def file_weight(self, entry: IndexedFile) -> float:
        """Return what a file counts: less if it is archived, or does not hold then.

        Where no day is asked for, what replaced a memory stands before it, and a
        question that names the old one by its words may ask what was before that.
        """
        now = self.today.toordinal()
        days = self.query.days or (DayRange(now, now),)
        weight = 1.0
        if entry.archived:
            weight *= self.weights.archived
        is_replaced = not self.query.days and "superseded_by" in entry.particulars
        if not is_replaced and not any(map(validity.held_days(entry).overlaps, days)):
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
        for."""
        days = self.query.days
        return entry.passages_naming(days) if days else set()
