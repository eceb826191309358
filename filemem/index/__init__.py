"""The cache over the files: a snapshot of postings, compared with the files at every question."""

from filemem.index.cache import (
    FOLDER,
    Index,
    of,
)

__all__ = ["FOLDER", "Index", "of"]
