"""Overviews for a person: problems, counts, days, one page to read."""
