"""The log of what was compacted."""

import contextlib
import dataclasses

from filemem.errors import FilememError
from filemem.store.folder import Folder
from filemem.store.logs import rows

COMPACTED = "compacted.log"  # source<TAB>its digest<TAB>summary<TAB>the section's digest<TAB>done; the last counts

DONE = "done"

RETOLD = "retold"  # done, in a model's words


@dataclasses.dataclass(frozen=True)
class Compacted:
    """What the log says last of one source.

    Attributes:
        digest: of the source.
        summary: the summary that stands for it, by path.
        section: the digest of its section there.
        is_retold: whether the section is a model's words, and no quotes.
    """

    digest: str
    summary: str
    section: str
    is_retold: bool = False


def compacted(folder: Folder) -> dict[str, Compacted]:
    """What was compacted, by the source's live path; nothing where there is no log."""
    found: dict[str, Compacted] = {}
    with contextlib.suppress(FilememError):
        for source, *entry in rows(folder, COMPACTED):
            if entry[3:] in ([DONE], [RETOLD]):
                before, summary, section, how = entry
                is_retold = how == RETOLD
                found[source] = Compacted(before, summary, section, is_retold)
    return found
