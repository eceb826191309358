"""What learning did, told to people and programs."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from filemem.learn.records import NEW, WAITING, WRITTEN, Action, Decision
from filemem.store.facts import plain
from filemem.text.plain import first_few, one_line
from filemem.work import JobDone

MAX_TOLD_CHARS = 160  # of a fact in a list of what was done
_WORDS = {
    Action.ADD: "remembered",
    Action.SUPERSEDE: "remembered",
    Action.UPDATE: "updated",
    Action.CONFIRM: "confirmed",
    Action.NOOP: "known",
    Action.PROPOSE: "proposed",
    Action.REFUSE: "refused",
}


@dataclass(frozen=True)
class Applied:
    """What was done.

    Attributes:
        decisions: those that were carried out, or wait as proposals.
        paths: the paths that changed.
        notes: sentences for the person.
        error: why the model read no further, where it failed and the rest waits.
        requests: that were made to a model.
        tokens: that these took, as the endpoint reports them.
    """

    decisions: list[Decision] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    error: str = ""
    requests: int = 0
    tokens: int = 0

    def plus(self, other: "Applied") -> "Applied":
        """Return this with what else was done, and the last error, if any.

        A path that changed twice is there once.

        Args:
            other: what came of another request.
        """
        paths = [path for path in other.paths if path not in self.paths]
        return Applied(
            self.decisions + other.decisions,
            self.paths + paths,
            self.notes + other.notes,
            other.error or self.error,
            self.requests + other.requests,
            self.tokens + other.tokens,
        )

    def with_notes(self, notes: Iterable[str]) -> "Applied":
        """Return this with more sentences for the person.

        Args:
            notes: such as what git has to say of the commit.
        """
        return replace(self, notes=[*self.notes, *notes])

    @property
    def subject(self) -> str:
        """The subject of its commit."""
        new = [one for one in self.decisions if one.action in NEW]
        if len(new) == 1:
            return f"Learn: {new[0].claim.text}"
        return f"Learn {len(new)} facts" if new else "Bring what was known up to date"

    @property
    def replaced(self) -> list[str]:
        """The paths of what was superseded."""
        done = [one for one in self.decisions if one.action not in WAITING]
        return [path for one in done for path in one.replaces]

    def lines(self) -> Iterator[str]:
        """Tell each decision, what was superseded, the notes and the error."""
        for one in self.decisions:
            where = one.path or ", ".join(one.claim.sources)
            text = one_line(one.claim.text, MAX_TOLD_CHARS)
            reason = f" ({one.reason})" if one.reason else ""
            yield f"{_WORDS[one.action]} {where}: {text}{reason}"
        for path in self.replaced:
            yield f"superseded {path}"
        yield from filter(None, [*self.notes, self.error])

    @property
    def news(self) -> str:
        """What was kept, what that took and why there is no more, in one line.

        Empty where there is nothing to tell.
        """
        texts = []
        refused = 0
        for one in self.decisions:
            refused += one.action is Action.REFUSE
            if one.action in WRITTEN:
                texts.append(plain(one.claim.text))
        told = [*self.notes, self.error]
        if refused:
            told.insert(0, f"Refused: {refused}; see: filemem review.")
        if texts:
            told.insert(0, f"Kept of what was said: {first_few(texts)}")
        return " ".join(filter(None, told))

    def told(self) -> JobDone:
        """Tell all of it as a job's.

        Returns:
            The lines with one that sums up, each decision as JSON in the fact `facts`,
            in `waits` whether something was not read, and the paths that changed.
        """
        counts = Counter(_WORDS[one.action] for one in self.decisions)
        counts["superseded"] = len(self.replaced)
        summed = [f"{count:,} {word}" for word, count in counts.items() if count]
        end = ", ".join(summed) or "Nothing new to remember"
        if not summed and self.paths:
            end = f"Changed {', '.join(self.paths)}"
        waits = counts["proposed"] or counts["refused"]
        end += "; see: filemem review" if waits else "."
        facts = {
            "facts": [_as_json(one) for one in self.decisions],
            "notes": [*filter(None, [*self.notes, self.error])],
            "waits": bool(self.error),
            "requests": self.requests,
            "tokens": self.tokens,
        }
        return JobDone(
            job="consolidate",
            said=[*self.lines(), end],
            facts=facts,
            paths=self.paths,
            decisions=self.decisions,
        )


def _as_json(one: Decision) -> dict[str, object]:
    """Return a decision as a script reads it."""
    return {
        "action": one.action.lower(),
        "path": one.path,
        "text": one.claim.text,
        "reason": one.reason,
        "source": list(one.claim.sources),
        "supersedes": list(one.replaces),
    }
