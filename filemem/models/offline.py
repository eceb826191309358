"""The responder where no model is configured: it searches with the same tools and quotes what it found."""

import datetime as dt
import json
import os
from collections.abc import Callable
from typing import Any

from filemem import index
from filemem.endpoint import ModelError, OpenAIModel, Reply, RequestLimits, ToolCall, Usage
from filemem.files.config import Config
from filemem.files.folder import CurrentConversation, Folder
from filemem.models import responder
from filemem.models.responder import wording
from filemem.tools.toolbox import Toolbox

NOTICE = (
    "No model is configured, so answers are quotes from your memories. To talk with a model, set OPENAI_API_KEY "
    "(and OPENAI_BASE_URL for another endpoint) and name it with --model, FILEMEM_MODEL or `model:` in filemem.yaml."
)


class OfflineModel:
    """A model that only quotes; it speaks the protocol of any other. A conversation gives it the memories at hand."""

    name = "offline"

    def __init__(self) -> None:
        self._folder: Folder | None = None

    def at_hand(self, folder: Folder, tools: Toolbox, now: Callable[[], dt.datetime]) -> None:
        """Take whose memories are asked, by what they are searched, and the clock."""
        self._folder, self._tools, self._now = folder, tools, now

    def ask(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], on_text: Callable[[str], None]) -> Reply:
        """First searches for the last message, then an answer made of what they returned."""
        asked = max(n for n, message in enumerate(messages) if message["role"] == "user")
        said = messages[asked]["content"]
        searched = any(message["role"] == "tool" for message in messages[asked + 1 :])
        memories = self._memories()
        if not searched:
            self._tools.found.clear()  # what an earlier message asked for answers no other
        if tools and not searched and wording.needs_lookup(said):
            self._tools.current = memories.current
            asks = ({"query": query, "limit": responder.LIMIT} for query in responder.searches(said))
            calls = (json.dumps(one, ensure_ascii=False) for one in asks)
            made = tuple(ToolCall(f"search{n}", "search_files", call) for n, call in enumerate(calls))
            return Reply("", made, Usage(0, 0), "tool_calls")
        text = responder.reply(said, [hit for found in self._tools.found for hit in found.hits], memories)
        on_text(text)
        return Reply(text, (), Usage(0, 0), "stop")

    def _memories(self) -> responder.Memories:
        """The memories, and the conversation going on up to its last turn; raises ModelError where none are at hand."""
        if self._folder is None:
            raise ModelError("the offline responder answers in a conversation only; start one with: filemem chat.")
        going_on = self._tools.current
        turns = self._folder.memory(going_on.path).passages if going_on else []
        current = CurrentConversation(going_on.path, turns[-1].line) if going_on and turns else None
        return responder.Memories(self._folder, index.of(self._folder), self._now(), current)


def chosen_model(settings: Config, name: str | None, limits: RequestLimits | None = None) -> OpenAIModel | None:
    """The model called `name`, else as the settings have it; None where the offline rules are meant."""
    chosen = name or settings.model
    if not chosen or chosen == OfflineModel.name:
        return None
    key = os.environ.get("OPENAI_API_KEY")
    return OpenAIModel(chosen, settings.base_url or None, key, settings.timeout, limits=limits)
