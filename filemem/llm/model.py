"""What a model is to the rest of the program: messages in, a reply or an error out."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

from filemem.errors import FilememError

Messages = list[dict[str, Any]]  # as OpenAI's API has them, like the tools
Tools = list[dict[str, Any]]
OnText = Callable[[str], None]
MAX_ARGUMENTS_CHARS = 20_000  # of a call that the model is shown again


@dataclass(frozen=True)
class ToolCall:
    """A call that the model wants made.

    Attributes:
        id: by which its answer is known.
        name: of the tool.
        arguments: the JSON text as the model wrote it, well-formed or not.
        extra: what else the endpoint put into the call, such as a signature, and wants
            back.
    """

    id: str
    name: str
    arguments: str
    extra: Mapping[str, Any] = field(default_factory=dict)

    def as_sent(self) -> dict[str, Any]:
        """Return the call as an assistant's message has it."""
        function = {"name": self.name, "arguments": self.arguments}
        return {**self.extra, "id": self.id, "type": "function", "function": function}


class Usage(NamedTuple):
    """The tokens of one request, as the endpoint reports them; 0 where it does not.

    Attributes:
        tokens_in: of the messages.
        tokens_out: of the answer.
    """

    tokens_in: int
    tokens_out: int


@dataclass(frozen=True)
class Reply:
    """One whole answer.

    Attributes:
        text: in words; '' where it only calls.
        calls: of tools.
        usage: the tokens that it took.
        finish: the endpoint's reason for stopping.
        notice: a line for the person on what is otherwise than was asked for.
        extra: what else the endpoint put into the message, such as its reasoning, and
            wants back within the same turn.
    """

    text: str
    calls: tuple[ToolCall, ...]
    usage: Usage
    finish: str
    notice: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def texts(self) -> list[str]:
        """The arguments of its calls, and then what it says in words."""
        return [*(call.arguments for call in self.calls), self.text]

    def as_sent(self) -> dict[str, Any]:
        """Return the reply, with its calls, as the message that goes back."""
        message = {**self.extra, "role": "assistant", "content": self.text or None}
        if self.calls:
            message["tool_calls"] = [call.as_sent() for call in self.calls]
        return message

    def as_returned(self) -> dict[str, Any]:
        """Return the message that goes back to the endpoint that it came from.

        Some refuse to see arguments again that are no JSON object: these are empty
        then.
        """
        calls = []
        for call in self.calls:
            arguments = call.arguments if _is_object(call.arguments) else "{}"
            calls.append(replace(call, arguments=arguments))
        return replace(self, calls=tuple(calls)).as_sent()


def _is_object(arguments: str) -> bool:
    """Say whether a call's arguments are a JSON object of no excessive size."""
    if len(arguments) > MAX_ARGUMENTS_CHARS:
        return False
    try:
        return isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False


class Model(Protocol):
    """Whatever answers a conversation, by its `name`."""

    name: str

    def ask(self, messages: Messages, tools: Tools, on_text: OnText) -> Reply:
        """Return the answer, and hand its text on as it comes.

        Args:
            messages: as OpenAI's API has them.
            tools: their schemas; none for no tools.
            on_text: is given each piece.

        Raises:
            ToolsRefused: there are `tools`, and the model takes none.
            PromptTooLong: the messages do not fit.
            ModelError: there is no whole answer.
        """


class ModelError(FilememError):
    """A model that gave no whole answer."""


class PromptTooLong(ModelError):
    """More messages than the model's context holds; asking again with fewer helps."""


class ToolsRefused(ModelError):
    """An endpoint that takes no tools; asking again without them helps."""


class FailFastModel:
    """A model for a job, which does not ask again once it has failed.

    So many conversations do not wait, one by one, for an endpoint that is gone.
    """

    def __init__(self, model: Model) -> None:
        self.name = model.name
        self._model = model
        self._failed = False

    def ask(self, messages: Messages, tools: Tools, on_text: OnText) -> Reply:
        """Return the model's answer; raise ModelError at once if it failed before."""
        if self._failed:
            raise ModelError(
                f"{self.name} was not asked again after it failed; fix that first."
            )
        try:
            return self._model.ask(messages, tools, on_text)
        except (PromptTooLong, ToolsRefused):
            raise
        except ModelError:
            self._failed = True
            raise
