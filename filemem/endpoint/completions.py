"""The model that answers: what an agent asks of one, and the one behind any OpenAI-compatible endpoint."""

import copy
import json
import re
import time
from collections.abc import Callable
from contextlib import closing, nullcontext
from typing import Any, NamedTuple, Protocol

from filemem.endpoint.connection import LONGEST_ANSWER, SILENCE, Connection, ModelError, PromptTooLong, Wire
from filemem.endpoint.failures import FIRST_PAUSE, Failure, span
from filemem.endpoint.limits import RequestLimits
from filemem.endpoint.reply import MOST_CALLS, Draft, Reply

NO_STREAM = r"\bstream(ing|ed)?\b"
NO_TOOLS = r"\b(tools?|tool_choice|functions?|function_call(ing)?)\b"


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

    `timeout` is the longest silence in seconds, `longest` what an answer may take in all. `on_notice` gets one line
    whenever an answer comes otherwise than it was asked for: after a pause, without streaming, cut at a limit.
    With `limits` a request waits for its turn among those of other processes.
    `on_thought` gets what the model thinks, which is no part of its answer. A Ctrl-C while the model answers closes
    the connection and goes on up; what had streamed by then was handed to `on_text`.
    """

    def __init__(
        self,
        name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = SILENCE,
        on_notice: Callable[[str], None] = _unheard,
        longest: float = LONGEST_ANSWER,
        limits: RequestLimits | None = None,
    ) -> None:
        super().__init__(name, base_url, api_key, timeout, longest)
        self._limits = limits
        self.on_notice = on_notice
        self.on_thought: Callable[[str], None] = _unheard
        self.options: dict[str, Any] = {}  # what else a request says, such as a temperature
        self._accepts = _Accepts(tools=True, stream=True, usage=True)
        self._tools_refused = False  # by the last request, which may have failed for another reason

    def apart(self) -> "OpenAIModel":
        """The same model with a connection of its own, which says nothing besides its answers."""
        other = copy.copy(self)
        other.on_notice = other.on_thought = _unheard
        other._wire, other._client = Wire(self._longest), None
        return other

    def hang_up(self) -> None:
        """End the answer under way, from another thread; whoever waits for it gets a ModelError."""
        self._wire.hang_up()

    def ask(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], on_text: Callable[[str], None]) -> Reply:
        """The answer to `messages`; raises ModelError with one sentence that says what to do.

        PromptTooLong and ToolsRefused are told apart. An error that only mentions tools costs one request and not the
        tools of a whole session: that there are none is taken for granted once an answer came without them.
        """
        messages, accepts, retries = _sendable(messages), self._accepts, 0
        if tools and not accepts.tools:
            raise self._refused()
        while True:
            request = self.options | accepts.request(self.name, messages, tools)
            draft = Draft(on_text, self.on_thought)
            try:
                reply = self._answer(request, draft)
            except Failure as failure:
                simpler = accepts.without(request, failure)
                pause = None if draft.text else (self._limits or Failure).pause(failure, retries)
                if simpler is not None:
                    if not simpler.tools:
                        self._tools_refused = True
                        raise self._refused() from None
                    if accepts.stream and not simpler.stream:
                        self._announce("does not stream, so the answer comes in one piece")
                    accepts = simpler
                elif pause is not None:
                    retries += 1
                    if failure.after and pause > FIRST_PAUSE:
                        self._announce(f"asks for a pause ({failure.status}), trying again in {span(pause)}")
                    time.sleep(pause)
                else:
                    self._tools_refused = False
                    raise self._explained(failure, draft.text) from None
            else:
                self._accepts = (
                    accepts._replace(tools=accepts.tools and not self._tools_refused) if not tools else accepts
                )
                self._tools_refused = False
                self._tell_limits(reply, draft)
                return reply

    def _answer(self, request: dict[str, Any], draft: Draft) -> Reply:
        """One request and its whole answer; raises Failure."""
        self._check()
        with self._limits.turn(request) if self._limits else nullcontext(), self._wire.bounded():
            try:
                with closing(self._events("/chat/completions", request)) as events:
                    for event in events:
                        draft.take(event)
                        if draft.full:
                            break
                reply = draft.reply(prefix=f"call_{len(request['messages'])}_")
                if self._limits:
                    self._limits.spend(reply.usage.tokens_out)
                return reply
            except Failure:
                if self._wire.over:
                    raise Failure("endless") from None
                raise

    def _announce(self, notice: str) -> None:
        self.on_notice(f"{self._who}: {notice}.")

    def _refused(self) -> ToolsRefused:
        return ToolsRefused(f"{self._who}: takes no tools; ask without them.")

    def _tell_limits(self, reply: Reply, draft: Draft) -> None:
        if reply.finish == "length":
            self._announce("the answer was cut at the endpoint's limit on length")
        if draft.full:
            self._announce(f"called more than {MOST_CALLS} tools at once; the first {MOST_CALLS} are answered")


class _Accepts(NamedTuple):
    """What an endpoint takes, as far as it has shown."""

    tools: bool
    stream: bool
    usage: bool  # token counts at the end of a stream

    def request(self, model: str, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
        """The body to send; an empty list of tools is left out, since vLLM refuses it."""
        body: dict[str, Any] = {"model": model, "messages": messages}
        if tools and self.tools:
            body["tools"] = tools
        if self.stream:
            body["stream"] = True
        if self.stream and self.usage:
            body["stream_options"] = {"include_usage": True}
        return body

    def without(self, request: dict[str, Any], failure: "Failure") -> "_Accepts | None":
        """What is left when `failure` blames a part of `request`, else None.

        Endpoints say so in words only, under many codes: "property 'stream_options' is unsupported" (400, Groq), "No
        endpoints found that support tool use" (404, OpenRouter), "tools param requires --jinja flag" (500, llama.cpp).
        """
        if failure.status not in (400, 404, 422, 500, 501) or failure.too_long or failure.code == "tool_use_failed":
            return None
        blame = str(failure.body).lower()
        if "stream_options" in request and ("stream_options" in blame or "include_usage" in blame):
            return self._replace(usage=False)
        if "stream" in request and re.search(NO_STREAM, blame):
            return self._replace(stream=False)
        if "tools" in request and re.search(NO_TOOLS, blame):
            return self._replace(tools=False)
        return None


class FailFastModel:
    """A model as a job asks it: no more once it has failed, so that many conversations do not wait for it one by one."""

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


def _sendable(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages with "?" for each lone surrogate, which a file in another encoding may hold and UTF-8 cannot."""
    sent: list[dict[str, Any]] = json.loads(json.dumps(messages, ensure_ascii=False).encode("utf-8", "replace"))
    return sent
