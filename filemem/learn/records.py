"""The records that learning hands on: what was told, and what is done about it."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from filemem.learn.log import Origin
from filemem.store import facts
from filemem.store.frontmatter import quoted
from filemem.store.memory import IMPORTANCE


class Action(StrEnum):
    """What becomes of a claim."""

    ADD = "ADD"
    UPDATE = "UPDATE"
    SUPERSEDE = "SUPERSEDE"
    NOOP = "NOOP"
    """It is known already."""
    DROP = "DROP"
    """It is older than what is known."""
    PROPOSE = "PROPOSE"
    """It waits for the person."""
    REFUSE = "REFUSE"
    """It has not its form; it waits, too."""


WRITTEN = (Action.ADD, Action.UPDATE, Action.SUPERSEDE)


@dataclass(frozen=True)
class Claim:
    """Something told that may become a memory.

    Attributes:
        text: what is told, on one line.
        day: the last day on which it was told.
        kind: `facts` or `lessons`.
        action: what its maker says is to be done: ADD, UPDATE or SUPERSEDE.
        targets: the paths of the memories that it updates or ends; of a fact of the
            same answer its label, as `F1`.
        sources: `path:line` of each turn behind it.
        origins: the digests of each turn and of the text.
        importance: from 1 to 10.
        confidence: from 0 to 1.
        valid_from: the first day on which it holds, if told.
        valid_until: the last day, if told.
        said_by: empty for what people said themselves.
        is_own: whether the person whose memory it becomes has said it.
        pinned: whether it never fades.
        tags: of a person's.
        body: what its file says where that is not `text`.
        is_event: whether it happens on a day, and does not stand from then on.
        event_day: that day, if told.
        section: of the profile, by its name in `SECTIONS`; empty for none.
        retold_by: the model whose words these are.
        needs_review: whether only the person may have it kept.
        fault: what is wrong with its form; empty where it is right.
    """

    text: str
    day: dt.date
    kind: str = "facts"
    action: Action = Action.ADD
    targets: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    origins: tuple[Origin, ...] = ()
    importance: int = IMPORTANCE
    confidence: float = 1.0
    valid_from: dt.date | None = None
    valid_until: dt.date | None = None
    said_by: str = ""
    is_own: bool = True
    pinned: bool = False
    tags: tuple[str, ...] = ()
    body: str = ""
    is_event: bool = False
    event_day: dt.date | None = None
    section: str = ""
    retold_by: str = ""
    needs_review: bool = False
    fault: str = ""

    def page(self, supersedes: Sequence[str] = (), **more: str) -> str:
        """Write the file that says it; `more` are further keys, as YAML values."""
        front = {
            "source": facts.reference(self.sources) if self.sources else "",
            "importance": str(self.importance) if self.importance != IMPORTANCE else "",
            "confidence": f"{self.confidence:g}" if self.confidence < 1 else "",
            "pinned": "true" if self.pinned else "",
            "tags": f"[{', '.join(map(quoted, self.tags))}]" if self.tags else "",
            "said_by": self.said_by,
            **self.dates_and_maker(),
            "supersedes": facts.reference(supersedes) if supersedes else "",
        }
        return facts.page(self.body or self.text, front | more)

    def dates_and_maker(self) -> dict[str, str]:
        """Return the keys, as YAML values, that an update writes anew; some are empty."""
        return {
            "valid_from": str(self.valid_from or ""),
            "valid_until": str(self.valid_until or ""),
            "retold_by": quoted(self.retold_by) if self.retold_by else "",
            "kind": "event" if self.is_event else "",
            "day": str(self.event_day or ""),
        }


@dataclass(frozen=True)
class Decision:
    """What is done about one claim.

    Attributes:
        action: what becomes of it.
        path: the memory that is written, changed or known already.
        claim: what was told.
        reason: why, where that is not plain.
        replaces: the live paths of the memories that it supersedes.
    """

    action: Action
    path: str
    claim: Claim
    reason: str = ""
    replaces: tuple[str, ...] = ()
