"""The models: what an agent asks of one, the one behind any OpenAI-compatible endpoint, and the one there that makes vectors."""

import copy
import json
import math
import re
from array import array
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any, Protocol

from filemem.endpoint.connection import (
    LONGEST_ANSWER,
    RETRIES,
    SILENCE,
    Connection,
    Failure,
    ModelError,
    PromptTooLong,
)
from filemem.endpoint.reply import Draft, Reply

# What an endpoint that does not take a part of a request says in words only, under many codes: "property 'stream_options' is
# unsupported" (400, Groq), "No endpoints found that support tool use" (404, OpenRouter), "tools param requires --jinja flag"
# (500, llama.cpp).
_REFUSALS = {
    "stream_options": r"stream_options|include_usage",
    "stream": r"\bstream(ing|ed)?\b",
    "tools": r"\b(tools?|tool_choice|functions?|function_call(ing)?)\b",
}
BATCH = 64  # texts of a request: Gemini's endpoint takes 100, a small machine embeds so many in some seconds
WIDEST = 20_000  # numbers of a vector; the largest models in use have 8,192


class Model(Protocol):
    """Whatever answers a conversation."""

    name: str

    def ask(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], on_text: Callable[[str], None]) -> Reply:
        """The answer to `messages`, its text handed to `on_text` piece by piece; raises ModelError.

        ToolsRefused where there are `tools` and the model takes none.
        """


class ToolsRefused(ModelError):
    """An endpoint that takes no tools; asking again without them helps."""


def _unheard(text: str) -> None:
    pass


class OpenAIModel(Connection):
    """A model behind an OpenAI-compatible endpoint: `base_url` as in OPENAI_BASE_URL, None for OpenAI itself.

    Only OpenAI itself needs an `api_key`; other endpoints say so where they do.

    `timeout` is the longest silence in seconds, `longest` what an answer may take in all. `on_notice` gets one line whenever an
    answer comes otherwise than it was asked for: without streaming, cut at a limit. `on_thought` gets what the model thinks,
    which is no part of its answer. A Ctrl-C while the model answers closes the connection and goes on up; what had streamed by
    then was handed to `on_text`.
    """

    def __init__(
        self,
        name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = SILENCE,
        on_notice: Callable[[str], None] = _unheard,
        longest: float = LONGEST_ANSWER,
    ) -> None:
        super().__init__(name, base_url, api_key, timeout, longest)
        self.on_notice = on_notice
        self.on_thought: Callable[[str], None] = _unheard
        self.options: dict[str, Any] = {}  # what else a request says, such as a temperature
        self._refused: set[str] = set()  # the parts of a request that the endpoint does not take
        self._doubted = False  # whether tools were refused last, which counts once an answer comes without them

    def apart(self) -> "OpenAIModel":
        """The same model for another conversation at the same time; it says nothing besides its answers."""
        other = copy.copy(self)
        other.on_notice = other.on_thought = _unheard
        other._client, other.options, other._refused = None, {}, set(self._refused)
        return other

    def ask(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], on_text: Callable[[str], None]) -> Reply:
        """The answer to `messages`; raises ModelError with one sentence that says what to do.

        PromptTooLong and ToolsRefused are told apart. An error that only mentions tools costs one request and not the
        tools of a whole session: that there are none is taken for granted once an answer came without them.
        """
        refusal = ToolsRefused(f"{self._who}: takes no tools; ask without them.")
        if tools and "tools" in self._refused:
            raise refusal
        while True:
            request = self._request(_sendable(messages), tools)
            draft = Draft(on_text, self.on_thought)
            try:
                reply = self._answer(request, draft)
            except Failure as failure:
                part = None if draft.text else _refused(request, failure)
                self._doubted = part == "tools"
                if self._doubted:
                    raise refusal from None
                if not part:
                    raise self._explained(failure, draft.text) from None
                self._refused.add(part)
                if part == "stream":
                    self.on_notice(f"{self._who}: does not stream, so the answer comes in one piece.")
                continue
            if self._doubted and not tools:
                self._refused.add("tools")
            self._doubted = False
            if reply.finish == "length":
                self.on_notice(f"{self._who}: the answer was cut at the endpoint's limit on length.")
            return reply

    def _request(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
        """The body to send; an empty list of tools is left out, since vLLM refuses it."""
        body = {**self.options, "model": self.name, "messages": messages}
        body |= {"tools": tools} if tools else {}
        if "stream" not in self._refused:
            usage = {"stream_options": {"include_usage": True}} if "stream_options" not in self._refused else {}
            body |= {"stream": True, **usage}
        return body

    def _answer(self, request: dict[str, Any], draft: Draft) -> Reply:
        """One request and its whole answer; raises Failure."""
        with closing(self._answers("/chat/completions", request, RETRIES)) as events:
            for event in events:
                draft.take(event)
        return draft.reply(prefix=f"call_{len(request['messages'])}_")


def _refused(request: dict[str, Any], failure: Failure) -> str | None:
    """The part of a request that a failure blames."""
    if failure.status not in (400, 404, 422, 500, 501) or failure.too_long or failure.code == "tool_use_failed":
        return None
    blame = str(failure.body).lower()
    return next((part for part, words in _REFUSALS.items() if part in request and re.search(words, blame)), None)


class FailFastModel:
    """A model as a job asks it: no more once it has failed, so that many conversations do not wait for it one by one."""

    def __init__(self, model: Model) -> None:
        self.name = model.name
        self._model = model
        self._failed = False

    def ask(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], on_text: Callable[[str], None]) -> Reply:
        """The model's answer; raises ModelError, and ever after without asking, but for a prompt that was too long."""
        if self._failed:
            raise ModelError(f"{self.name} was not asked again, having failed before; put it right first.")
        try:
            return self._model.ask(messages, tools, on_text)
        except PromptTooLong:
            raise
        except ModelError:
            self._failed = True
            raise


def _sendable(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages with "?" for each lone surrogate, which a file in another encoding may hold and UTF-8 cannot."""
    sent: list[dict[str, Any]] = json.loads(json.dumps(messages, ensure_ascii=False).encode("utf-8", "replace"))
    return sent


class Embedder(Connection):
    """A model that makes vectors; no request is tried again, as what calls it goes on without, and says so."""

    def embed(self, texts: Sequence[str]) -> list["array[float]"]:
        """A vector of length 1 for each text, in batches of BATCH; raises ModelError with one sentence."""
        return [one for at in range(0, len(texts), BATCH) for one in self._batch(texts[at : at + BATCH])]

    def _batch(self, texts: Sequence[str]) -> list["array[float]"]:
        sent = [text.encode("utf-8", "replace").decode() for text in texts]
        request = {"model": self.name, "input": sent, "encoding_format": "float"}
        try:
            with closing(self._answers("/embeddings", request, 0)) as answers:
                return _vectors(next(answers), len(texts))
        except Failure as failure:
            told = str(self._explained(failure))
            where = told.replace("OPENAI_BASE_URL", "the endpoint of embeddings in filemem.yaml")
            raise ModelError(where.replace("chat completion", "embedding")) from None


def _vectors(answer: Any, count: int) -> list["array[float]"]:
    """The vectors in an endpoint's answer, in the order of the texts; raises Failure for anything else."""
    try:
        found = [array("f", one["embedding"]) for one in sorted(answer["data"], key=lambda one: int(one["index"]))]
        if len(found) != count or not 0 < len(found[0]) <= WIDEST or len({len(one) for one in found}) > 1:
            raise ValueError
        return [array("f", (value / length for value in one)) for one in found if (length := _length(one))]
    except (TypeError, KeyError, ValueError, OverflowError):
        raise Failure("garbled") from None


def _length(vector: "array[float]") -> float:
    length = math.sqrt(sum(value * value for value in vector))
    if not 0 < length < math.inf:
        raise ValueError
    return length
