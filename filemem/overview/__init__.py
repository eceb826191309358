"""What a person looks at: problems, counts, what happened when, and one page."""

from filemem.overview.checks import problems
from filemem.overview.counts import Counts, KindCount, count, status
from filemem.overview.events import Event, timeline
from filemem.overview.report import page

__all__ = [
    "Counts",
    "Event",
    "KindCount",
    "count",
    "page",
    "problems",
    "status",
    "timeline",
]
