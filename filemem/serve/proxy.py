"""What stands between a chat client and its model: the memory of the person.

A request is answered for itself. What was said is kept before the model is asked, and
the answer once it has come; the client's messages go to the model as they are, with
what is remembered beside them, and the model may call the tools of the memory.
"""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from filemem.api import User
from filemem.chat import phrases
from filemem.chat.citations import cited
from filemem.chat.core_memory import core_memory
from filemem.chat.earlier import earlier, summarise
from filemem.chat.phrases import said_to, to_remember
from filemem.chat.recall import NOTHING_FOUND, recall, room_beside
from filemem.errors import FilememError, Refused
from filemem.importers.jsonl import message_text
from filemem.llm import prompt
from filemem.llm.client import OpenAIModel
from filemem.llm.model import (
    Messages,
    OnText,
    Reply,
    Tools,
    ToolsRefused,
    Usage,
)
from filemem.serve.request import ChatRequest
from filemem.serve.window import Window, fit
from filemem.store import config, recalls
from filemem.store.folder import Folder, Found
from filemem.store.transcript import INTERRUPTED, Transcript
from filemem.text import answers
from filemem.text.plain import one_line
from filemem.tools.render import spelt
from filemem.tools.toolbox import Toolbox

MAX_STEPS = 8  # requests of a model for one answer
THEIRS = "Not called yet: it is called once the memory has answered. Call it again."


@dataclass(frozen=True)
class Answer:
    """The model's last reply, with the text and tokens of all that led to it."""

    reply: Reply
    text: str
    usage: Usage


class Answering:
    """One answer in the making; the model is its own, so that it can be hung up on.

    Args:
        folder: whose memories are asked.
        request: what the client sent.
        model: what answers.
        now: returns the moment, with the person's zone.
        on_text: gets the answer piece by piece; it may raise to end it.
    """

    def __init__(
        self,
        folder: Folder,
        request: ChatRequest,
        model: OpenAIModel,
        now: Callable[[], dt.datetime],
        on_text: OnText,
    ) -> None:
        self._folder = folder
        self._user = User(folder)
        self._request = request
        self._is_kept = request.is_kept and not folder.is_read_only
        self._model = model
        self._now = now
        self._on_text = on_text
        self._said: list[str] = []
        self._acted = ""  # what the program did about the message
        self._spent: list[Usage] = []

    def pass_on(self) -> Answer:
        """Return the model's answer without any memory: nothing is read or kept."""
        return self._whole(self._ask(self._request.messages, self._request.tools))

    def answer(self, found: Found) -> Answer:
        """Keep what was said, answer it, keep the answer.

        What had come is kept, marked, where the model fails or the client ends it.

        Args:
            found: whom the folder is of; it is kept for nobody else.

        Raises:
            ModelError: there is no whole answer.
            NotFound: the user was deleted or renamed meanwhile.
        """
        with self._folder.only(found):
            return self._answer()

    def _answer(self) -> Answer:
        """Keep, answer and keep the answer; return and raise as `answer`."""
        path = self._keep("")
        self._acted = self._remember()
        try:
            last = self._converse(self._fit(path))
        except BaseException:  # whatever `on_text` raises, too
            if self._said:
                self._keep(f"{self._text().rstrip()} {INTERRUPTED}")
            raise
        self._keep(self._text())
        return self._whole(last)

    def _text(self) -> str:
        return "".join(self._said)

    def _say(self, text: str) -> None:
        """Hand a piece of the answer to the client."""
        self._said.append(text)
        self._on_text(text)

    def _keep(self, answer: str) -> str:
        """Keep what is new of the conversation; return its session, '' for none.

        What the person has deleted, the client may send again: it is not kept.

        Args:
            answer: what was answered so far.
        """
        if not self._is_kept:
            return ""
        messages = list(self._request.messages)
        if answer.strip():
            messages.append({"role": "assistant", "content": answer})
        try:
            return self._user.add_conversation(messages, id=self._request.conversation)
        except Refused:
            return ""

    def _fit(self, path: str) -> Window:
        """Return what of the conversation the model sees; the rest is summarised.

        Args:
            path: the session; '' where none is kept.
        """
        kept = Transcript(self._folder, path).turns()
        room = config.of(self._folder).client_window_tokens
        window = fit(list(self._request.messages), path, kept, room)
        summarise(self._folder, self._model, path, window.to_summarise)
        return window

    def _remember(self) -> str:
        """Keep as a fact what the message asks to be remembered.

        Returns:
            A sentence on what was done, '' where nothing was asked for.
        """
        message = self._request.message
        words = to_remember(message)
        if not (words and self._is_kept):
            return ""
        try:
            path = self._user.remember(words).path
        except FilememError as error:
            return said_to(message, phrases.NOT_KEPT).format(error)
        return said_to(message, answers.KEPT).format(one_line(words), path)

    def _converse(self, window: Window) -> Reply:
        """Ask the model until it answers, or calls the client's tools alone.

        Raises:
            ModelError: it fails, or takes no tools where the client has some.
        """
        toolbox = self._user.tools()
        toolbox.current = window.current
        toolbox.noting = self._is_kept
        theirs = self._request.tool_names
        ours = [one for one in toolbox.schemas if one["function"]["name"] not in theirs]
        messages = self._with_memory(window, has_tools=True)
        for step in range(MAX_STEPS, 0, -1):
            if step == 1:
                ours = []
            try:
                last = self._ask(messages, [*ours, *self._request.tools])
            except ToolsRefused:
                if theirs:
                    raise
                messages = self._with_memory(window, has_tools=False)
                ours = []
                continue
            if all(call.name in theirs for call in last.calls):
                break
            if last.text:
                self._say("\n\n")
            messages = [*messages, *_called(last, toolbox, theirs)]
        self._note_recalls(messages)
        return last

    def _ask(self, messages: Messages, tools: Tools) -> Reply:
        """Ask the model once, with the client's settings, its text streaming."""
        self._on_text("")  # raises where the client has left meanwhile
        self._folder.check_found()  # else what was read may be somebody else's
        options = self._request.options
        last = self._model.ask(messages, tools, self._say, **options)
        self._spent.append(last.usage)
        self._folder.tell("requested", 1, *last.usage)
        return last

    def _whole(self, last: Reply) -> Answer:
        """Return the answer with all that led to it."""
        tokens_in = sum(usage.tokens_in for usage in self._spent)
        tokens_out = sum(usage.tokens_out for usage in self._spent)
        return Answer(last, self._text(), Usage(tokens_in, tokens_out))

    def _with_memory(self, window: Window, *, has_tools: bool) -> Messages:
        """Return the client's messages in the window with what is remembered.

        What hardly ever changes stands in front of the client's own instructions, so
        that endpoints can cache it; what a search finds, beside the last message.

        Args:
            window: what of the conversation the model sees.
            has_tools: the model can search for itself, and gets fewer passages.
        """
        now = self._now()
        core = core_memory(self._folder, now.date())
        room = room_beside(has_tools=has_tools)
        message = self._request.message
        found = recall(
            self._folder, message, now.date(), window.current, room, told=core.told
        )
        acted = prompt.MARK.sub("&lt;", f"{self._acted}\n".lstrip("\n"))
        time = f"Now it is {spelt(now.date())} {now:%H:%M}."
        beside = [
            prompt.data("search_files", found or NOTHING_FOUND),
            f"<program>\n{acted}{time}\n</program>",
        ]
        messages = list(window.messages)
        spoken = [n for n, one in enumerate(messages) if one["role"] == "user"]
        for last in spoken[-1:]:
            messages[last] = _before(messages[last], beside)
        if messages[0]["role"] not in ("system", "developer"):
            messages.insert(0, {"role": "system", "content": ""})
        standing = core.parts(self._folder.person, has_tools=has_tools)
        standing.append(earlier(self._folder, window.path, window.gone))
        messages[0] = _before(messages[0], [part.text for part in standing])
        return messages

    def _note_recalls(self, messages: Messages) -> None:
        """Count a memory as recalled that the answer cites and the model was shown."""
        if not self._is_kept:
            return
        shown = "\n".join(message_text(message) for message in messages)
        paths = {place.rpartition(":")[0] for place in cited(self._text())}
        for path in sorted(paths):
            if path in shown:
                recalls.note_recall(self._folder, path, recalls.How.CITED, self._now())


def _called(last: Reply, toolbox: Toolbox, theirs: set[str]) -> Messages:
    """Return a reply that calls, as it came, and the answers to its calls.

    Args:
        last: the reply.
        toolbox: makes the calls of the memory's tools.
        theirs: the names of the client's tools, which are not called here.
    """
    answered = [last.as_returned()]
    for call in last.calls:
        content = THEIRS
        if call.name not in theirs:
            content = toolbox.call(call.name, call.arguments)
        answer = {"role": "tool", "tool_call_id": call.id, "content": content}
        answered.append(answer)
    return answered


def _before(message: dict[str, Any], parts: list[str]) -> dict[str, Any]:
    """Return a message with some text in front of its own."""
    text = "\n\n".join(part for part in parts if part)
    content = message.get("content") or ""
    if isinstance(content, list):
        return {**message, "content": [{"type": "text", "text": text}, *content]}
    return {**message, "content": f"{text}\n\n{content}".rstrip()}
