"""What jobs did, in records for a program, and the events that a program hears."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from threading import Event

from filemem.errors import Stopped
from filemem.learn.records import WAITING, Action, Decision
from filemem.llm.model import Messages, Model, OnText, Reply, Tools
from filemem.work import JobDone


class Waits(StrEnum):
    """Why conversations were not read, and wait for the next time."""

    NOTHING = ""  # none does
    NO_MODEL = "no model is configured"
    NOT_CONFIRMED = "you have yet to say where this store's words go"
    FAILED = "the model failed, or gave no answer that could be read"
    STOPPED = "the job was asked to stop"


@dataclass(frozen=True)
class Report:
    """What consolidating or maintaining a user's memories came to.

    Attributes:
        kept: the new facts and lessons.
        changed: those that were told again or brought up to date.
        superseded: the paths of what something newer replaced.
        proposed: what waits for `user.review()`.
        refused: what had not its form, each with the reason; it waits there too.
        summaries: the summaries that were written.
        archived: what has faded.
        restored: what came back from the archive.
        waiting: how many conversations were not read.
        why: they were not.
        notes: what else there is to say, a sentence each: what was taken out, what the
            model took, and again why something waits.
        requests: how often a model was asked.
        tokens_in: that they took in all, as the endpoint reports them.
        tokens_out: that they answered with.
        error: why the job failed for this user; '' if it did not.
    """

    kept: tuple[Decision, ...] = ()
    changed: tuple[Decision, ...] = ()
    superseded: tuple[str, ...] = ()
    proposed: tuple[Decision, ...] = ()
    refused: tuple[Decision, ...] = ()
    summaries: tuple[str, ...] = ()
    archived: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    waiting: int = 0
    why: Waits = Waits.NOTHING
    notes: tuple[str, ...] = ()
    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    error: str = ""

    def __str__(self) -> str:
        """Tell in one line how many there are of what is not none."""
        told = []
        for name, value in vars(self).items():
            count = len(value) if isinstance(value, tuple) else value
            if count:
                told.append(f"{name} {count}")
        return ", ".join(told) or "nothing to do"


class MeteredModel:
    """A model whose requests and tokens are counted for a report.

    Args:
        model: who answers.
        tell: hears of each request, as `Folder.tell` does.
        stop: once it is set, no more is asked.

    Attributes:
        requests: how often it was asked.
        tokens_in: that these took, as the endpoint reports them.
        tokens_out: that they were answered with.
    """

    def __init__(
        self, model: Model, tell: Callable[..., None], stop: Event | None
    ) -> None:
        self.name = model.name
        self.requests = 0
        self.tokens_in = 0
        self.tokens_out = 0
        self._model = model
        self._tell = tell
        self._stop = stop

    def ask(self, messages: Messages, tools: Tools, on_text: OnText) -> Reply:
        """Return the model's answer; raise as it does, or Stopped."""
        check_stop(self._stop)
        self.requests += 1
        reply = self._model.ask(messages, tools, on_text)
        tokens = reply.usage
        self.tokens_in += tokens.tokens_in
        self.tokens_out += tokens.tokens_out
        self._tell("requested", 1, *tokens)
        return reply


def check_stop(stop: Event | None, *progress: int) -> None:
    """Raise Stopped once a job is asked to stop, however far it is."""
    if stop and stop.is_set():
        raise Stopped("the job was asked to stop; the next one goes on from here.")


def report_of(jobs: Iterable[JobDone], asked: MeteredModel | None) -> Report:
    """Return the report of jobs for one user.

    Args:
        jobs: what each has done.
        asked: the model that they asked, if any.
    """
    done = list(jobs)
    decisions = [one for job in done for one in job.decisions]
    replaced = [
        path for one in decisions if one.action not in WAITING for path in one.replaces
    ]
    facts = {key: value for job in done for key, value in job.facts.items()}
    summaries = [entry["summary"] for entry in facts.get("summaries", ())]
    return Report(
        kept=_of(decisions, Action.ADD, Action.SUPERSEDE),
        changed=_of(decisions, Action.UPDATE, Action.CONFIRM),
        superseded=tuple(dict.fromkeys(replaced)),
        proposed=_of(decisions, Action.PROPOSE),
        refused=_of(decisions, Action.REFUSE),
        summaries=tuple(dict.fromkeys(summaries)),
        archived=tuple(facts.get("archived", ())),
        restored=tuple(facts.get("restored", ())),
        notes=tuple(_notes(done)),
        requests=asked.requests if asked else 0,
        tokens_in=asked.tokens_in if asked else 0,
        tokens_out=asked.tokens_out if asked else 0,
    )


def _of(decisions: list[Decision], *actions: Action) -> tuple[Decision, ...]:
    return tuple(one for one in decisions if one.action in actions)


def _notes(done: list[JobDone]) -> list[str]:
    """Return what the jobs say besides what they did, a sentence each."""
    told: list[str] = []
    for job in done:
        told += job.facts.get("notes", [])
        told += job.facts.get("problems", [])
        if "question" in job.facts or job.facts.get("conversations"):
            told += job.said
    return list(dict.fromkeys(told))
