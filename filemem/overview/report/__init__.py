"""A report on a user's memories as one page: `gather` looks, `page` writes it up."""

from filemem.overview.report.contents import Report, gather

__all__ = ["Report", "gather"]
