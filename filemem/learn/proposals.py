"""Proposals: what waits until the person has decided, a file each in `proposed/`.

A fact or a lesson lies there as it would lie among the memories, with why its form was
refused, if it was, and what it would supersede. Moved to the same path without
`proposed/` it is kept, edited or not; deleted it is not, and not proposed again. A wish
to forget that was told in talk lies in `proposed/forget/`. No search reads these files.
"""

import contextlib
import datetime as dt
from dataclasses import dataclass
from typing import Any

from filemem.learn.decide import said_in, texts_of
from filemem.learn.log import LearnLog, Origin, digest
from filemem.learn.records import ADD, Action, Claim, ForgetWish
from filemem.learn.sessions import display, speaker
from filemem.store import facts
from filemem.store.facts import plain
from filemem.store.folder import PROPOSED, Folder
from filemem.store.frontmatter import quoted
from filemem.store.memory import LARGEST, Memory, parse
from filemem.store.paths import live

FORGET = "forget"
"""The folder of wishes to forget, in `proposed/`."""


_DAYS_OF_BEFORE = {
    "day": "day",
    "valid_from": "valid_from",
    "valid_until": "valid_until",
    "when": "event_day",
}


@dataclass(frozen=True)
class QuotedTurn:
    """A turn behind a proposal: its `path:line`, who speaks, the text if it is there."""

    source: str
    speaker: str
    text: str


@dataclass(frozen=True)
class Proposal:
    """What waits: a file in `proposed/`, as it is now.

    Attributes:
        path: where it lies.
        memory: what it would be as a memory.
        turns: the turns that it comes from, as the sessions have them.
    """

    path: str
    memory: Memory
    turns: tuple[QuotedTurn, ...]

    @property
    def text(self) -> str:
        """What would be kept; of a wish to forget, its words."""
        return said_in(self.memory)

    @property
    def day(self) -> dt.date:
        """The day on which it was told."""
        return self.memory.date or dt.date.min

    @property
    def fault(self) -> str:
        """Why its form was refused; empty where it was not."""
        return str(self.memory.front.get("why") or "")

    @property
    def section(self) -> str:
        """The section of the profile that it is for, if any."""
        return str(self.memory.front.get("section") or "")

    def page(self) -> bytes:
        """The file as it is kept, in which the person is sure."""
        lines = self.memory.data.splitlines(keepends=True)
        end = self.memory.front_end
        aside = (b"why:", b"section:", b"confidence:")
        head = [line for line in lines[:end] if not line.startswith(aside)]
        if len(head) < 3:  # nothing between the marks
            return b"".join(lines[end:]).lstrip()
        return b"".join([*head, *lines[end:]])

    @property
    def supersedes(self) -> tuple[str, ...]:
        """The paths of the memories that hold no more once it is kept."""
        return texts_of(self.memory.front.get("supersedes"))

    @property
    def forgets(self) -> tuple[str, ...]:
        """The memories and turns that a wish to forget means; empty for a fact."""
        return texts_of(self.memory.front.get(FORGET))

    @property
    def keeps(self) -> tuple[str, ...]:
        """The memories that a wish to forget means in part, and that stay without it."""
        return texts_of(self.memory.front.get("keep"))


def waiting(folder: Folder) -> list[Proposal]:
    """Read every proposal, by the day on which it was told."""
    found = [read(folder, path) for path in folder.proposals()]
    return sorted(found, key=_order)


def _order(proposal: Proposal) -> tuple[dt.date, str, int]:
    source = next(iter(proposal.memory.sources), "")
    path, _, line = source.rpartition(":")
    return proposal.day, path, int(line) if line.isdecimal() else 0


def count(folder: Folder) -> int:
    """Count what waits, what a store of before has in its log among it."""
    return len(folder.proposals()) + len(LearnLog(folder).earlier)


def read(folder: Folder, path: str) -> Proposal:
    """Read one proposal; raises FilememError where it is gone."""
    kept_as = path.removeprefix(f"{PROPOSED}/")
    memory = parse(kept_as, folder.read(path, LARGEST))
    turns = tuple(_turn(folder, source) for source in memory.sources)
    return Proposal(path, memory, turns)


def propose(folder: Folder, log: LearnLog, claim: Claim, fault: str = "") -> str:
    """Write a proposal, once; return its path."""
    replaces = [live(one) for one in (claim.target, *claim.also_ends) if one]
    if claim.action == ADD:
        replaces = []
    name = facts.name(claim.kind, plain(claim.text), claim.day, display(folder.name))
    why = quoted(fault) if fault else ""
    page = claim.page(replaces, why=why, section=claim.section)
    return _create(folder, log, name, page, claim.origins)


def propose_to_forget(folder: Folder, log: LearnLog, wish: ForgetWish) -> str:
    """Write a wish to forget, for the person to confirm; return its path."""
    name = facts.name(FORGET, plain(wish.words), wish.day)
    front = {"source": quoted(wish.asked), FORGET: facts.reference(wish.places)}
    if wish.keeps:
        front["keep"] = facts.reference(wish.keeps)
    return _create(folder, log, name, facts.page(wish.words, front), ())


def carry_over(folder: Folder, log: LearnLog) -> list[str]:
    """Write the proposals that a store of before has in its log; return their paths."""
    paths = []
    for origin, earlier in [*log.earlier.items()]:
        if origin not in log.made:
            with contextlib.suppress(ValueError, TypeError, KeyError):
                claim = _earlier_claim(earlier.claim)
                paths.append(propose(folder, log, claim, earlier.fault))
    return paths


def _create(
    folder: Folder, log: LearnLog, name: str, page: str, origins: tuple[Origin, ...]
) -> str:
    """Write a proposal's file, unless a run that was killed has; note it in the log."""
    with folder.locked():
        known = [one for one in folder.proposals() if folder.read(one) == page.encode()]
        path = known[0] if known else folder.create(f"{PROPOSED}/{name}", page)
        log.add([{"proposal": path, "digest": digest(page), "from": origins}])
    return path


def _turn(folder: Folder, source: str) -> QuotedTurn:
    path, _, line = source.rpartition(":")
    memory = folder.find(path)
    for passage in memory.passages if memory else ():
        if memory and passage.speaker and str(passage.line) == line:
            return QuotedTurn(source, speaker(memory, passage), passage.text)
    return QuotedTurn(source, "", "")


def _earlier_claim(value: dict[str, Any]) -> Claim:
    """A claim from the JSON of a store of before; raises ValueError and the like."""
    more: dict[str, Any] = {
        new: dt.date.fromisoformat(value[old])
        for old, new in _DAYS_OF_BEFORE.items()
        if value.get(old)
    }
    names = {"heading": "section", "ends": "also_ends"}
    kept = "text kind target sources importance confidence said_by retold_by".split()
    more |= {key: value[key] for key in kept if key in value}
    more |= {new: value[old] for old, new in names.items() if old in value}
    origins = tuple((turn, text) for turn, text in value["origins"])
    is_event = bool(value.get("nature"))
    action = Action(value["action"])
    return Claim(**more, origins=origins, is_event=is_event, action=action)
