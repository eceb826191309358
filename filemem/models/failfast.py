"""A model that is asked no more once it has failed, so that a job on many conversations does not wait for it at each."""

from collections.abc import Callable
from typing import Any

from filemem.models.endpoint import Model, ModelError, PromptTooLong, Reply


class FailFastModel:
    """A model as a job asks it."""

    def __init__(self, model: Model) -> None:
        self.name = model.name
        self._model = model
        self._failed = False

    def ask(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], on_text: Callable[[str], None]) -> Reply:
        """The model's answer; raises ModelError, and ever after without asking, but for a prompt that was too long."""
        if self._failed:
            raise ModelError(f"{self.name} was not asked again, having failed before.")
        try:
            return self._model.ask(messages, tools, on_text)
        except PromptTooLong:
            raise
        except ModelError:
            self._failed = True
            raise
