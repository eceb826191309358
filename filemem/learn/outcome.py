"""What learning did, told to people and programs."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from filemem.learn.records import WAITING, WRITTEN, Action, Decision
from filemem.store.facts import plain
from filemem.store.folder import JobDone
from filemem.text.plain import first_few, one_line

MAX_TOLD_CHARS = 160  # of a fact in a list of what was done
_WORDS = {
    Action.ADD: "remembered",
    Action.SUPERSEDE: "remembered",
    Action.UPDATE: "updated",
    Action.NOOP: "known",
    Action.DROP: "left out",
    Action.PROPOSE: "proposed",
    Action.REFUSE: "refused",
}
_NEW = (Action.ADD, Action.SUPERSEDE)


@dataclass
class Applied:
    """What was done.

    Attributes:
        decisions: those that were carried out, or wait as proposals.
        paths: the paths that changed.
        notes: sentences for the person.
        error: why the model read no further, where it failed and the rest waits.
    """

    decisions: list[Decision] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    error: str = ""

    def add(self, other: "Applied") -> None:
        """Take in what else was done, and the last error, if any.

        Args:
            other: what came of another request.
        """
        self.decisions += other.decisions
        self.paths += [one for one in other.paths if one not in self.paths]
        self.notes += other.notes
        self.error = other.error or self.error

    @property
    def subject(self) -> str:
        """The subject of its commit."""
        new = [one for one in self.decisions if one.action in _NEW]
        if len(new) == 1:
            return f"Learn: {new[0].claim.text}"
        return f"Learn {len(new)} facts" if new else "Bring what was known up to date"

    def lines(self) -> Iterator[str]:
        """Tell each decision, the notes and the error."""
        for one in self.decisions:
            where = one.path or ", ".join(one.claim.sources)
            text = one_line(one.claim.text, MAX_TOLD_CHARS)
            reason = f" ({one.reason})" if one.reason else ""
            yield f"{_WORDS[one.action]} {where}: {text}{reason}"
            if one.action not in WAITING:
                yield from (f"superseded {old}" for old in one.replaces)
        yield from self.notes
        if self.error:
            yield self.error

    @property
    def news(self) -> str:
        """What was kept, what that took and why there is no more, in one line."""
        written = [one for one in self.decisions if one.action in WRITTEN]
        refused = [one for one in self.decisions if one.action is Action.REFUSE]
        told = [*self.notes, self.error]
        if refused:
            told.insert(0, f"Refused: {len(refused)}; see: filemem review.")
        if written:
            texts = [plain(one.claim.text) for one in written]
            told.insert(0, f"Kept of what was said: {first_few(texts)}")
        return " ".join(filter(None, told))

    def told(self) -> JobDone:
        """Tell all of it as a job's.

        Returns:
            The lines with one that sums up, each decision as JSON in the fact `facts`,
            and the paths that changed.
        """
        counts = Counter(_WORDS[one.action] for one in self.decisions)
        counts["new"] = counts["remembered"]
        for one in self.decisions:
            if one.action not in WAITING:
                counts["superseded"] += len(one.replaces)
        order = (
            "new",
            "superseded",
            "updated",
            "known",
            "left out",
            "proposed",
            "refused",
        )
        summed = [f"{counts[word]:,} {word}" for word in order if counts[word]]
        end = ", ".join(summed)
        if not end and self.paths:
            end = f"Changed {', '.join(self.paths)}"
        end = end or "Nothing new to remember"
        waits = counts["proposed"] or counts["refused"]
        end += "; see: filemem review" if waits else "."
        notes = [*self.notes, *([self.error] if self.error else [])]
        facts = {"facts": list(map(_as_json, self.decisions)), "notes": notes}
        said = [*self.lines(), end]
        decisions = self.decisions
        return JobDone("consolidate", said, facts, self.paths, decisions=decisions)


def _as_json(one: Decision) -> dict[str, object]:
    return {
        "action": one.action.lower(),
        "path": one.path,
        "text": one.claim.text,
        "reason": one.reason,
        "source": list(one.claim.sources),
        "supersedes": list(one.replaces),
    }
