"""The cache over a user's files: which words stand in which passages."""

from filemem.index.corpus import Corpus as Corpus
from filemem.index.corpus import IndexedFile as IndexedFile
from filemem.index.updates import Index as Index
from filemem.index.updates import of as of
