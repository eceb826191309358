"""What learning did, told to people and programs."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from filemem.learn.records import ADD, SUPERSEDE, UPDATE, WRITTEN, Action, Decision
from filemem.store.folder import JobDone
from filemem.text.plain import one_line

_COUNTED_AS = {
    ADD: "new",
    SUPERSEDE: "new",
    UPDATE: "updated",
    Action.NOOP: "known",
    Action.DROP: "left out",
    Action.PROPOSE: "proposed",
}
_COUNTS = ("new", "superseded", "updated", "known", "left out", "proposed")


@dataclass(frozen=True)
class Applied:
    """What was done.

    Attributes:
        decisions: those that were carried out, or proposed.
        paths: the paths that changed.
        notes: sentences for the person.
        error: why the model read no further, where it failed and the rest waits.
    """

    decisions: list[Decision] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    error: str = ""

    @property
    def subject(self) -> str:
        """The subject of its commit."""
        new = [one for one in self.decisions if one.action in (ADD, SUPERSEDE)]
        if len(new) == 1:
            return f"Learn: {new[0].claim.text}"
        return f"Learn {len(new)} facts" if new else "Bring what was known up to date"

    def lines(self, *, whole: bool = False) -> Iterator[str]:
        """Tell each decision, notes and error; `whole`: what was left out, too."""
        for one in self.decisions:
            text = one_line(one.claim.text, 160)
            if one.action is Action.PROPOSE:
                yield f"proposed {one.path}: {text}"
            elif one.action is UPDATE:
                yield f"updated {one.path}: {text}"
            elif one.action in WRITTEN:
                reason = f" ({one.reason})" if one.reason else ""
                yield f"remembered {one.path}: {text}{reason}"
                yield from (f"superseded {old}" for old in one.replaces)
            elif whole:
                where = one.path or ", ".join(one.claim.sources)
                yield f"{_COUNTED_AS[one.action]} {where}: {text} ({one.reason})"
        yield from self.notes
        if self.error:
            yield self.error

    def told(self) -> JobDone:
        """Tell all of it as a job's, with a line that sums up."""
        counts = Counter(_COUNTED_AS[one.action] for one in self.decisions)
        superseding = [one for one in self.decisions if one.action is SUPERSEDE]
        counts["superseded"] = sum(len(one.replaces) for one in superseding)
        summed = [f"{counts[name]:,} {name}" for name in _COUNTS if counts[name]]
        end = ", ".join(summed) or "Nothing new to remember"
        end += "; see: filemem review" if counts["proposed"] else "."
        notes = [*self.notes, *([self.error] if self.error else [])]
        facts = {"facts": list(map(_as_json, self.decisions)), "notes": notes}
        said = [*self.lines(whole=True), end]
        return JobDone("consolidate", said, facts, self.paths)


def together(found: Iterable[Applied]) -> Applied:
    """Join what several requests came to."""
    whole = Applied()
    paths: dict[str, None] = {}
    error = ""
    for one in found:
        whole.decisions.extend(one.decisions)
        whole.notes.extend(one.notes)
        paths.update(dict.fromkeys(one.paths))
        error = one.error
    return Applied(whole.decisions, list(paths), whole.notes, error)


def _as_json(one: Decision) -> dict[str, object]:
    return {
        "action": one.action.lower(),
        "path": one.path,
        "text": one.claim.text,
        "reason": one.reason,
        "source": list(one.claim.sources),
        "supersedes": list(one.replaces),
    }
