"""The records that learning hands on: what was told, and what is done about it."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from filemem.store import facts
from filemem.store.frontmatter import quoted
from filemem.store.learned import Origin
from filemem.store.paths import Kind, live


class Action(StrEnum):
    """What becomes of a claim."""

    ADD = "ADD"
    UPDATE = "UPDATE"
    """A memory says it from now on, where it stands."""
    CONFIRM = "CONFIRM"
    """It is told again: the memory that says it has a further source."""
    SUPERSEDE = "SUPERSEDE"
    NOOP = "NOOP"
    """It is known already."""
    PROPOSE = "PROPOSE"
    """It waits for the person."""
    REFUSE = "REFUSE"
    """It has not its form; it waits, too."""


NEW = (Action.ADD, Action.SUPERSEDE)
WRITTEN = (*NEW, Action.UPDATE, Action.CONFIRM)
WAITING = (Action.PROPOSE, Action.REFUSE)


@dataclass(frozen=True)
class Claim:
    """Something told that may become a memory.

    Attributes:
        text: what is told, on one line.
        day: the last day on which it was told.
        kind: `facts` or `lessons`, or `forget` for a wish to forget.
        action: what its maker says is to be done: ADD, UPDATE or SUPERSEDE.
        targets: the paths of the memories that it updates or ends; of a fact of the
            same answer its label, as `F1`.
        sources: `path:line` of each turn behind it.
        origins: the digests of each turn and of the text.
        front: what its file's front matter says besides; empty values are left out.
        is_own: whether the person whose memory it becomes has said it.
        body: what its file says where that is not `text`.
        section: of the profile, by its name in `SECTIONS`; empty for none.
        needs_review: whether only the person may have it kept.
        fault: what is wrong with its form; empty where it is right.
    """

    text: str
    day: dt.date
    kind: str = Kind.FACTS
    action: Action = Action.ADD
    targets: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    origins: tuple[Origin, ...] = ()
    front: Mapping[str, Any] = field(default_factory=dict)
    is_own: bool = True
    body: str = ""
    section: str = ""
    needs_review: bool = False
    fault: str = ""

    @property
    def said_by(self) -> str:
        """Whose words these are; empty for what people said themselves."""
        return self.front.get("said_by") or ""

    def page(self, **more: object) -> str:
        """Write the file that says it; `more` are further keys of its front matter."""
        front = {"source": self.sources, **self.front, **more}
        return page(self.kind, self.body or self.text, front)


@dataclass(frozen=True)
class Decision:
    """What is done about one claim.

    Attributes:
        action: what becomes of it.
        path: the memory that is written, changed or known already.
        claim: what was told.
        reason: why, where that is not plain.
        replaces: the live paths of the memories that it supersedes; of one that waits,
            those that it would.
    """

    action: Action
    path: str
    claim: Claim
    reason: str = ""
    replaces: tuple[str, ...] = ()

    def deferred(self, action: Action, reason: str) -> "Decision":
        """Let it wait for the person; instead of an update it would supersede.

        Args:
            action: PROPOSE or REFUSE.
            reason: why.
        """
        ended = self.replaces
        if self.action is Action.UPDATE:
            ended = (live(self.path),)
        return replace(self, action=action, reason=reason, replaces=ended)


def page(kind: str, text: str, front: Mapping[str, object]) -> str:
    """Write a memory's file.

    Args:
        kind: the folder.
        text: what it says.
        front: its front matter; empty values are left out.
    """
    values = {key: _yaml_value(value) for key, value in front.items() if value}
    return facts.page(kind, text, values)


def _yaml_value(value: object) -> str:
    """Write a front matter value on one line; of a tuple with one entry that alone."""
    if isinstance(value, tuple):
        return facts.reference(value)
    if isinstance(value, list):
        return f"[{', '.join(map(quoted, value))}]"
    if isinstance(value, str):
        return quoted(value)
    return str(value).lower()
