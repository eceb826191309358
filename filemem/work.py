"""What all work tells: how far it is, and what a job did."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

Progress = Callable[[int, int], None]
"""Told how much is done, and of how much."""


def no_progress(done: int, total: int) -> None:
    """Progress that is shown to nobody."""


@dataclass(frozen=True)
class JobDone:
    """What a job did.

    Attributes:
        job: its name; '' for one thing of several that a job has to tell, or, with
            the fact `error`, for why it failed.
        said: lines for a person.
        facts: the same for a script.
        paths: what it wrote or moved.
        subject: of their commit.
        decisions: what learning decided, as its records.
    """

    job: str
    said: list[str]
    facts: dict[str, Any]
    paths: list[str] = field(default_factory=list)
    subject: str = ""
    decisions: Sequence[Any] = ()
