"""Import of what other programs exported: a parser for each format, and one intake that writes what they yield."""

from filemem.importers.exports import Skipped
from filemem.importers.intake import ImportedMemory, ImportReport, find_parser, import_file

__all__ = ["ImportReport", "ImportedMemory", "Skipped", "find_parser", "import_file"]
