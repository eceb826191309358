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
        """Return what a file counts, as a factor of at most 1.

        It is less if the file is archived, or if what it says does not hold on a day
        asked for, or today if the question names none.
        """
        weight = 1.0
        if entry.archived:
            weight *= self.weights.archived
        days = self.query.days
        if not days and "superseded_by" in entry.particulars:
            # What replaced it is put before it anyway; and who uses its words may ask
            # what was before that.
            return weight
        now = self.today.toordinal()
        held = validity.held_days(entry)
        if not any(map(held.overlaps, days or (DayRange(now, now),))):
            weight *= self.weights.lapsed
        return weight

    def role_weight(self, number: int) -> float:
        """Return what a passage counts by who says it.

        That is less for an assistant's words, unless they are asked for.
        """
        if self.corpus.by_assistant(number) and not self.query.asks_assistant:
            return self.weights.assistant
        return 1.0
