"""What other programs keep of a person's conversations and notes, taken in once.

A format is a parser: a function of the path of an export and of a time zone (None: this
machine's), which yields an `ImportedConversation` for each conversation, an
`ImportedNote` for each text file, a `Skipped` for each thing that it leaves out or
changes, and a `LeftOut` that counts the rest of it by kind. A package adds one as an
entry point `filemem.importers`, under the format's name.
"""

from filemem.importers.base import (
    ImportedConversation,
    ImportedNote,
    ImportedTurn,
    LeftOut,
    Skipped,
)
from filemem.importers.formats import FORMATS, import_file
from filemem.importers.intake import ImportedMemory, ImportReport
from filemem.importers.messages import add_conversation

__all__ = [
    "FORMATS",
    "ImportReport",
    "ImportedConversation",
    "ImportedMemory",
    "ImportedNote",
    "ImportedTurn",
    "LeftOut",
    "Skipped",
    "add_conversation",
    "import_file",
]
