"""A request to a model, noted in a trace with what it was for, its tokens and its time."""

import datetime as dt
import time
from collections.abc import Callable
from typing import Any, TypeVar

from filemem.endpoint.completions import Model
from filemem.endpoint.reply import Reply
from filemem.files.folder import Folder
from filemem.files.trace import Trace

M = TypeVar("M", bound=Model | None)


def noted(
    model: Model,
    note: Callable[..., None],
    messages: list[dict[str, Any]],
    tools: list[dict[str, Any]],
    on_text: Callable[[str], None] = lambda text: None,
    **more: Any,
) -> Reply:
    """The reply of a model, after `note` was told of it as a step `model`, with `more`."""
    start = time.perf_counter()
    reply = model.ask(messages, tools, on_text)
    note(
        "model",
        model=model.name,
        milliseconds=round(1000 * (time.perf_counter() - start)),
        tokens_in=reply.usage.tokens_in,
        tokens_out=reply.usage.tokens_out,
        calls=len(reply.calls),
        finish=reply.finish,
        **more,
    )
    return reply


class TracedModel:
    """A model that works for a job, `purpose`, on a user's memories: its requests are noted in the jobs' own trace."""

    def __init__(self, model: Model, folder: Folder, now: Callable[[], dt.datetime], purpose: str) -> None:
        self.name = model.name
        self._model = model
        self._folder = folder
        self._now = now
        self._purpose = purpose

    def ask(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], on_text: Callable[[str], None]) -> Reply:
        """The model's answer, once it is noted."""
        return noted(self._model, self._note, messages, tools, on_text, purpose=self._purpose)

    def _note(self, kind: str, **values: Any) -> None:
        now = self._now()
        Trace.of_jobs(self._folder, now).note(now, kind, **values)


def traced(model: Model | None, folder: Folder, now: Callable[[], dt.datetime], purpose: str) -> Model | None:
    """The model so traced; what is none stays none, and what asks nobody as it is."""
    return TracedModel(model, folder, now, purpose) if model and model.name != "offline" else model
