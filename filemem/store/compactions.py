"""The log of what was compacted."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass

from filemem.store.folder import Folder
from filemem.store.logs import Log

COMPACTED = "compacted.log"
DONE = "done"
RETOLD = "retold"  # done, in a model's words


@dataclass(frozen=True)
class Compacted:
    """What the log says last of one source.

    Attributes:
        digest: of the source.
        summary: the summary that stands for it, by path.
        section: the digest of its section there.
        how: DONE or RETOLD.
    """

    digest: str
    summary: str
    section: str
    how: str

    @property
    def is_retold(self) -> bool:
        """Whether the section is a model's words, and no quotes."""
        return self.how == RETOLD


def note_compacted(folder: Folder, done: Mapping[str, Compacted]) -> None:
    """Note what was compacted, by the source's live path."""
    entries = [{"source": source, **asdict(what)} for source, what in done.items()]
    if entries:
        _log(folder).add(entries)


def compacted(folder: Folder) -> dict[str, Compacted]:
    """Return what was compacted, by the source's live path."""
    found: dict[str, Compacted] = {}
    for entry in _log(folder).readable():
        source = str(entry.pop("source", ""))
        if entry.get("how") in (DONE, RETOLD):
            with suppress(TypeError):
                found[source] = Compacted(**entry)
    return found


def _log(folder: Folder) -> Log:
    columns = ("source", "digest", "summary", "section", "how")
    return Log(folder, COMPACTED, columns)
