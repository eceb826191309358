"""Proposals: what waits until the person has decided, a file each in `proposed/`.

A fact or a lesson lies there as it would lie among the memories, with why its form was
refused, if it was, and what it would supersede. Moved to the same path without
`proposed/` it is kept, edited or not; deleted it is not, and not proposed again. A wish
to forget that was told in talk lies in `proposed/forget/`. No search reads these files.
"""

from dataclasses import dataclass

from filemem.learn.claims import FORGET
from filemem.learn.records import Action, Decision
from filemem.learn.sessions import display, speaker
from filemem.store import facts
from filemem.store.fields import texts
from filemem.store.folder import PROPOSED, Folder
from filemem.store.learned import LearnLog
from filemem.store.memory import LARGEST, Memory, parse

_NOT_KEPT = (b"why:", b"confidence:")


@dataclass(frozen=True)
class Proposal:
    """What waits: a file in `proposed/`, as it is now.

    Attributes:
        path: where it lies.
        memory: what it would be as a memory.
        text: what would be kept; of a wish to forget, its words.
        fault: why its form was refused; empty where it was not.
        supersedes: the paths of the memories that hold no more once it is kept.
        forgets: the memories and turns that a wish to forget means; empty for a fact.
    """

    path: str
    memory: Memory
    text: str
    fault: str
    supersedes: tuple[str, ...]
    forgets: tuple[str, ...]

    def page(self) -> bytes:
        """Return the file as it is kept, in which the person is sure."""
        lines = self.memory.data.splitlines(keepends=True)
        end = self.memory.front_end
        head = [line for line in lines[:end] if not line.startswith(_NOT_KEPT)]
        return b"".join([*head, *lines[end:]])


def waiting(folder: Folder) -> list[Proposal]:
    """Read every proposal, in the order of their paths."""
    return [read(folder, path) for path in folder.proposals()]


def read(folder: Folder, path: str) -> Proposal:
    """Read one proposal, as it is now.

    Raises:
        FilememError: it is gone.
    """
    memory = parse(path.removeprefix(f"{PROPOSED}/"), folder.read(path, LARGEST))
    front = memory.front
    return Proposal(
        path=path,
        memory=memory,
        text=memory.statement,
        fault=str(front.get("why") or ""),
        supersedes=tuple(texts(front.get("supersedes"))),
        forgets=tuple(texts(front.get(FORGET))),
    )


def propose(folder: Folder, log: LearnLog, decision: Decision) -> str:
    """Write a proposal.

    Args:
        folder: whose it is.
        log: is told what it was made of, so that it is not made a second time.
        decision: what would be kept, what that would supersede, other proposals among
            it, and, where its form was refused, why.

    Returns:
        The path of the proposal.
    """
    claim = decision.claim
    fault = ""
    if decision.action is Action.REFUSE:
        fault = decision.reason
    ended = list(decision.replaces)
    for target in claim.targets:
        if target.startswith(f"{PROPOSED}/"):
            ended.append(target.removeprefix(f"{PROPOSED}/"))
    page = claim.page(supersedes=tuple(ended), why=fault, section=claim.section)
    name = facts.name(claim.kind, claim.text, claim.day, display(folder.person))
    return log.create("proposal", f"{PROPOSED}/{name}", page, claim.origins)


def quoted_turn(folder: Folder, source: str) -> str:
    """Return who said what at a `path:line`; '' where that turn is gone."""
    path, _, line = source.rpartition(":")
    memory = folder.find(path)
    for passage in memory.passages if memory else ():
        if memory and passage.speaker and str(passage.line) == line:
            return f"{speaker(memory, passage)}: {passage.text}"
    return ""
