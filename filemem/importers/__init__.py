"""Import of what other programs exported: a parser for each format, and one intake that writes what they yield."""

from filemem.importers.exports import Skipped
from filemem.importers.intake import FORMATS, ImportedMemory, ImportReport, import_file, take_configured

__all__ = ["FORMATS", "ImportReport", "ImportedMemory", "Skipped", "import_file", "take_configured"]
