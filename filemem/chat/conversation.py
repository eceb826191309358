"""One turn of a conversation: it is recorded, a model is asked, its calls are made, the
answer is recorded. Without a model the best passages of one search answer."""

import contextlib
import datetime as dt
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from filemem.chat import citations, phrases, quoting
from filemem.chat.core_memory import core_memory
from filemem.chat.listener import Listener, Notice, Text, ToolCalled, ignore
from filemem.chat.phrases import said_to
from filemem.chat.recall import NOTHING_FOUND, recall
from filemem.chat.window import Prompt, Summary, beginnings, window_start
from filemem.errors import FilememError
from filemem.llm import prompt
from filemem.llm.choice import OfflineModel
from filemem.llm.client import OpenAIModel
from filemem.llm.model import (
    Messages,
    Model,
    ModelError,
    Reply,
    Tools,
    ToolsRefused,
)
from filemem.store import config, pending, recalls
from filemem.store.folder import CurrentConversation, Folder
from filemem.store.gate import Gate
from filemem.store.passages import FORGOTTEN, NO_ANSWER, Passage
from filemem.store.paths import PROFILE
from filemem.store.roles import ASSISTANT
from filemem.store.transcript import INTERRUPTED, OffTheRecord, Transcript
from filemem.text import terms
from filemem.text.plain import clip_tokens, escape_controls, one_line, printable
from filemem.text.redaction import kinds
from filemem.tools import render
from filemem.tools.toolbox import Toolbox

NO_MORE_CALLS = (
    "<program>\nNo more calls can be made. Answer now, with what has been found.\n"
    "</program>"
)
RECALL_TOKENS = 400  # of what stands beside a message for a model with tools
TOOLLESS_RECALL_TOKENS = 1200  # for one without
MAX_ARGUMENTS_CHARS = 20_000  # of a call's arguments that the model is shown again
_REMEMBER = re.compile(  # matched with simplified characters
    r"\s*(?:remember that\b|remember\s*[:：]|请?记住)[\s:：,，]*", re.IGNORECASE
)


@dataclass(frozen=True)
class Remembered:
    """What became of words that were to be kept as a fact.

    `path` is the memory's, `written` all paths that changed, `notes` sentences on it.
    """

    path: str
    written: list[str]
    notes: list[str]


Remember = Callable[[Folder, str, dt.datetime, str], Remembered]


@dataclass
class TurnState:
    """What is known of the message that is being answered.

    `notice` tells what the program did about it; `shown` is all that the model, or the
    person, was shown of the memory before the answer ended.
    """

    notice: str = ""
    shown: str = ""


@dataclass
class ToolLoop:
    """What has come of the requests for one answer so far."""

    rounds_left: int
    messages: Messages
    spoken: list[str]
    last_text: str = ""
    has_called: bool = False


class Conversation:
    """One user's talk with one model.

    Args:
        user: whose memories these are.
        model: who answers; an OfflineModel has the best passages quoted.
        now: returns the person's local time, with its zone.
        transcript: the conversation to go on with; a new one by default.
        remember: keeps words as a fact, with their source; without it a message that
            begins "remember that" is a message like any other.
    """

    def __init__(
        self,
        user: Folder,
        model: Model,
        now: Callable[[], dt.datetime],
        transcript: Transcript | None = None,
        remember: Remember | None = None,
    ) -> None:
        self.user = user
        self.model = model
        self.now = now
        self.transcript = transcript or Transcript(user)
        self.remember = remember
        self.tools = Toolbox(user, now)
        self.written: list[str] = []  # memories that the program wrote on request
        self.log: Callable[[dict[str, Any]], object] | None = None  # of requests
        self.left: Summary | None = None  # what left the prompt last
        self.turn = TurnState()
        self._recorded: Transcript | None = None  # while nothing is kept
        self._toolless: Model | None = None  # the model that was found to use no tools

    # -- one turn ----------------------------------------------------------------------

    def say(self, text: str, listen: Listener = ignore) -> str:
        """Keep what the person said, answer it, keep the answer, and return that.

        `listen` gets the answer piece by piece. Raises ModelError, KeyboardInterrupt,
        or what `listen` raises to stop it, with all that was said by then on disk.
        """
        self.record_turn(text, listen)
        return self.answer(listen)

    def record_turn(self, text: str, listen: Listener = ignore) -> None:
        """Keep what the person said, unless it is there already and was not answered.

        Raises FilememError for an empty message.
        """
        if not text.strip():
            raise FilememError("the message is empty; say something.")
        last = self.transcript.turns()[-1:]
        has_failed = bool(last) and last[0].text == NO_ANSWER
        if not (has_failed and self._said_last(text)):
            self.keep(self.user.name, text, listen)

    def _said_last(self, text: str) -> bool:
        """Tell whether the person said this last, as it is kept; white space aside."""
        turns = self._turns()
        while turns and turns[-1].speaker == ASSISTANT:
            turns.pop()
        if not turns:
            return False
        said = turns.pop().text
        before = turns[-1].text if turns else ""
        kept = Gate(self.user).clean(text, before).text
        return said.split() == printable(kept).split()

    def answer(self, listen: Listener = ignore) -> str:
        """Answer what was said last, keep the answer, return it; raises as `say` does."""
        pieces: list[str] = []

        def hear(event: Text | ToolCalled | Notice) -> None:
            if isinstance(event, Text):
                pieces.append(event.text)
            listen(event)

        self.turn = TurnState()
        try:
            if self.offline:
                found = self._find_quotes()  # before a fact is kept, which is no answer
                self.turn.notice = self._keep_fact()
                answer = self._quote(found, hear, self.turn.notice)
            else:
                self.turn.notice = self._keep_fact()
                answer = self._ask_model(hear)
            self.keep(ASSISTANT, answer)
        except BaseException as error:  # whatever a listener raises, too
            partial = "".join(pieces).rstrip()
            if isinstance(error, ModelError) and not partial:
                self.keep(ASSISTANT, NO_ANSWER)  # no session ends with a question
            else:
                self.keep(ASSISTANT, f"{partial} {INTERRUPTED}".strip())
            raise
        finally:
            if self.turn.notice and not self.offline:
                listen(Notice(self.turn.notice))
        return answer

    def keep(self, speaker: str, text: str, listen: Listener = ignore) -> int:
        """Write one turn to disk and return its line.

        Secrets are taken out, unless the store is set otherwise.
        """
        turns = self._turns()
        before = turns[-1].text if turns else ""
        kept, found = Gate(self.user).clean(text, before)
        if found:
            of_what = " of what is kept" if self.kept else ""
            listen(Notice(f"Taken out{of_what}: {kinds(found)}."))
        return self.transcript.add(speaker, kept, self.now())

    @property
    def offline(self) -> bool:
        """Tell whether there is no model, so that quotes answer."""
        return isinstance(self.model, OfflineModel)

    # -- off the record ----------------------------------------------------------------

    @property
    def kept(self) -> bool:
        """Tell whether what is being said is kept."""
        return not isinstance(self.transcript, OffTheRecord)

    def go_off_the_record(self) -> None:
        """Keep nothing from now on: no turn, no recall."""
        if self.kept:
            self._recorded = self.transcript
            self.transcript = OffTheRecord(self.user, self.transcript.turns())
            self.tools.noting = False

    def go_on_the_record(self) -> None:
        """Keep what is said from now on, in the transcript of before."""
        if self._recorded is not None:
            self.transcript = self._recorded
            self._recorded = None
            self.tools.noting = True

    # -- what the program does itself --------------------------------------------------

    def last_exchange(self) -> list[str]:
        """Return the lines of what the person said last and of the answer to it.

        They are read from disk, as `path:line`; none where nothing is kept.
        """
        transcript = self._recorded or self.transcript
        exchange: list[str] = []
        for turn in reversed(transcript.turns()):
            if turn.text == FORGOTTEN:
                continue
            exchange.insert(0, f"{transcript.path}:{turn.line}")
            if turn.speaker != ASSISTANT:
                return exchange
        return []

    def _keep_fact(self) -> str:
        """Keep as a fact what the last message asks to be remembered; what is said of it."""
        turn = self._turns()[-1]
        words = to_remember(turn.text)
        if not words or self.remember is None:
            return ""
        if not self.kept:
            return said_to(turn.text, phrases.OFF_THE_RECORD)
        source = f"{self.transcript.path}:{turn.line}"
        try:
            done = self.remember(self.user, words, self.now(), source)
        except FilememError as error:
            return said_to(turn.text, phrases.NOT_KEPT).format(error)
        self.written += done.written
        kept = said_to(turn.text, phrases.KEPT).format(one_line(words), done.path)
        return "\n".join([kept, *done.notes])

    def _find_quotes(self) -> quoting.Quotes:
        """Return the passages that one search finds for what was said last."""
        turn = self._turns()[-1]
        current = None
        if self.transcript.path:
            current = CurrentConversation(self.transcript.path, turn.line)
        words = to_remember(turn.text) or turn.text
        return quoting.find_quotes(self.user, words, self.now().date(), current)

    def _quote(self, found: quoting.Quotes, listen: Listener, acted: str = "") -> str:
        """Answer with passages, behind what the program did itself."""
        message = self._turns()[-1].text
        answer = quoting.answer(message, found, kept=self.kept, acted=acted)
        self.turn.shown += answer
        listen(Text(answer))
        return answer

    # -- the prompt --------------------------------------------------------------------

    def view(self, message: str = "") -> Prompt:
        """Return what the model would see now, or if the person said `message`."""
        turns = self.visible_turns()
        if message:
            turns.append(Passage(0, 0, self.user.name, "", message))
        start = window_start(turns, config.of(self.user).window_tokens)
        if self.transcript.path and turns[start:] and turns[start].line:
            self.tools.current = CurrentConversation(
                self.transcript.path, turns[start].line
            )
        now = self.now()
        wishes, profile = core_memory(self.user, now.date())
        program = f"Now it is {render.spelt(now.date())} {now:%H:%M}."
        if self.turn.notice:
            notice = prompt.MARK.sub("&lt;", self.turn.notice)
            program = f"{notice}\n{program}"
        system = [
            ("rules", self._rules()),
            ("preferences", wishes),
            ("profile", prompt.data(PROFILE, profile)),
            ("earlier in this conversation", self._earlier(turns[:start])),
        ]
        beside = [
            ("recalled", self.recalled(turns)),
            ("program", f"<program>\n{program}\n</program>"),
        ]
        return Prompt(
            [part for part in system if part[1]],
            turns[start:],
            [part for part in beside if part[1]],
        )

    def _rules(self) -> str:
        reading = prompt.template("tools" if self.offered else "passages").strip()
        rules = prompt.template("chat").strip()
        name = prompt.contained(self.user.name)
        return rules.replace("{name}", name).replace("{reading}", reading)

    def recalled(self, turns: list[Passage]) -> str:
        """Return the passages nearest to the last message, as data; '' where none are
        to stand there."""
        said = [turn.text for turn in turns if turn.speaker != ASSISTANT]
        wanted = not self.offered or config.of(self.user).recall == "both"
        if self.offline or not said or not wanted:
            return ""
        room = RECALL_TOKENS if self.offered else TOOLLESS_RECALL_TOKENS
        before = said[-2] if len(said) > 1 else ""
        today = self.now().date()
        found = recall(
            self.user, said[-1], today, self.tools.current, room, before=before
        )
        return prompt.data("search_files", found or NOTHING_FOUND)

    @property
    def offered(self) -> Tools:
        """The tools that the model is offered: all four, or none where it uses none."""
        settings = config.of(self.user)
        wanted = settings.tools and settings.recall != "before"
        if wanted and self._toolless is not self.model:
            return self.tools.schemas
        return []

    def _turns(self) -> list[Passage]:
        """Return the turns so far, without the marks of answers that never came."""
        turns = []
        for turn in self.transcript.turns():
            if turn.text != NO_ANSWER or turn.speaker != ASSISTANT:
                turns.append(turn)
        return turns

    def visible_turns(self) -> list[Passage]:
        """Return the turns so far, without those that wait for their deletion."""
        hidden = pending.pending_deletions(self.user)
        turns = []
        for turn in self._turns():
            if not hidden.hides(self.transcript.path, turn.line):
                turns.append(turn)
        return turns

    def _earlier(self, gone: list[Passage]) -> str:
        """Return what stands for the turns that have left the prompt.

        That is the model's summary, made as they leave. Where the model fails, and of
        what had left before this program went on with the conversation, it is how the
        last of them begin.
        """
        room = config.of(self.user).summary_tokens
        summary = Summary(gone, "")
        if self.left and gone[: len(self.left.turns)] == self.left.turns:
            summary = self.left
            leaving = gone[len(summary.turns) :]
            if leaving:
                summary = Summary(gone, self._summarised(summary, leaving, room))
        self.left = summary
        if summary.text:
            return prompt.data("summary", summary.text)
        name = self.transcript.path or "earlier"
        return prompt.data(name, beginnings(gone, room))

    def _summarised(self, before: Summary, leaving: list[Passage], room: int) -> str:
        """Ask the model for a summary with some more turns; '' where it fails."""
        so_far = before.text or beginnings(before.turns, room)
        said = "\n".join(f"{turn.speaker}: {turn.text}" for turn in leaving)
        rules = prompt.template("summarise").replace("{words}", str(room // 2))
        asked = f"{prompt.data('summary so far', so_far)}\n{prompt.data('turns', said)}"
        messages = [
            {"role": "system", "content": rules},
            {"role": "user", "content": asked},
        ]
        try:
            reply = self._ask(messages, ignore, [], last=False)
        except ModelError:
            return ""
        return clip_tokens(reply.text.strip(), room)

    # -- the tool loop -----------------------------------------------------------------

    def _ask_model(self, listen: Listener) -> str:
        """Ask the model until it calls no more tools, or all rounds are used up.

        The open files are re-read every time. Where nothing comes of it the best
        passages are quoted.
        """
        seen = self.view()
        loop = ToolLoop(config.of(self.user).steps, [], [])
        while True:
            is_last = loop.rounds_left == 0
            try:
                reply = self._reply(seen, loop.messages, listen, last=is_last)
            except ToolsRefused:
                self._toolless = self.model  # from now on
                listen(
                    Notice(
                        f"{self.model.name} takes no tools, so it gets the best"
                        " passages of the memory with each message."
                    )
                )
                seen = self.view()
                continue
            except ModelError as error:
                if not is_last:
                    raise
                listen(Notice(str(error)))
                loop.last_text = ""
                break
            self._take_reply(loop, reply, listen)
            if is_last or not reply.calls:
                break
            self._make_calls(loop, reply, listen)
        return self._whole_answer(loop, listen)

    def _take_reply(self, loop: ToolLoop, reply: Reply, listen: Listener) -> None:
        """Note the text of a reply; what stands before a call is no answer yet."""
        text = reply.text.strip()
        loop.has_called = bool(reply.calls)
        loop.last_text = "" if loop.has_called else text
        if text:
            loop.spoken.append(text)
        if reply.text and loop.has_called:
            listen(Text("\n\n"))

    def _make_calls(self, loop: ToolLoop, reply: Reply, listen: Listener) -> None:
        """Make the calls of a reply, and have the results ready for the next request."""
        loop.rounds_left -= 1
        sound = []
        for call in reply.calls:
            sound.append(replace(call, arguments=_sound(call.arguments)))
        loop.messages.append(replace(reply, calls=tuple(sound)).as_sent())
        for call in reply.calls:
            result = self.tools.call(call.name, call.arguments)
            brief = one_line(result.split("\n", 1)[0], 160)
            listen(ToolCalled(call.name, call.arguments, brief))
            loop.messages.append(
                {"role": "tool", "tool_call_id": call.id, "content": result}
            )
        if loop.rounds_left == 0:
            loop.messages.append({"role": "user", "content": NO_MORE_CALLS})

    def _whole_answer(self, loop: ToolLoop, listen: Listener) -> str:
        """Return all that the model said, citations marked; quotes where it is nothing."""
        if not (loop.last_text or loop.messages or loop.has_called):
            raise ModelError(
                f"{self.model.name} answered nothing; ask again, or try another model."
            )
        answer = self._marked("\n\n".join(loop.spoken))
        if loop.last_text:
            return answer
        quoted = self._quote(self._find_quotes(), listen)
        return f"{answer}\n\n{quoted}" if answer else quoted

    def _reply(
        self, seen: Prompt, worked: Messages, listen: Listener, *, last: bool
    ) -> Reply:
        """Ask once, with the open files as they are now, but those just shown."""
        results = [one["content"] for one in worked if one["role"] == "tool"]
        pages = []
        for page in self.tools.pages():
            if not any(escape_controls(page[1]) in result for result in results):
                pages.append(prompt.data(*page))
        messages = seen.messages("\n".join(pages)) + worked
        contents = [str(message.get("content") or "") for message in messages]
        self.turn.shown = citations.without_marked("\n".join(contents))
        return self._ask(messages, listen, self.offered, last=last)

    def _ask(
        self, messages: Messages, listen: Listener, tools: Tools, *, last: bool
    ) -> Reply:
        """Ask the model, its text streaming; the request is logged with its reply.

        The `last` time no call can be made, yet tools are named, as the turns have
        calls of them.
        """
        ask: Callable[..., Reply] = self.model.ask
        options: dict[str, Any] = {}
        if last and tools and isinstance(self.model, OpenAIModel):
            options["tool_choice"] = "none"
        step: dict[str, Any] = {
            "at": f"{self.now():%Y-%m-%dT%H:%M:%S}",
            "model": self.model.name,
            "messages": messages,
            "tools": tools,
        }
        try:
            reply = ask(messages, tools, lambda text: listen(Text(text)), **options)
            step["text"] = reply.text
            step["calls"] = [call.as_sent() for call in reply.calls]
            step |= reply.usage._asdict()
        except ModelError as error:
            step["error"] = str(error)
            raise
        finally:
            if self.log:
                self.log(step)
        if reply.notice:
            listen(Notice(reply.notice))
        return reply

    # -- citations ---------------------------------------------------------------------

    def was_shown(self, place: str) -> bool:
        """Tell whether the model saw something of `path:line` before it answered."""
        return citations.is_shown(self.user, place, self.turn.shown)

    def _marked(self, answer: str) -> str:
        """Mark each citation of what the model was not shown; the others are recalls."""
        unseen = set[str]()
        recalled = dict[str, None]()
        for place in citations.cited(answer):
            if self.was_shown(place):
                recalled[place.rpartition(":")[0]] = None
            else:
                unseen.add(place)
        if self.kept:
            for path in recalled:
                recalls.note_recall(self.user, path, recalls.CITED, self.now())
        return citations.mark(answer, unseen)


def to_remember(message: str) -> str:
    """Return what a message asks to be remembered, in its own words; '' for nothing."""
    opening = _REMEMBER.match(terms.simplified(message))
    if not opening:
        return ""
    words = message[opening.end() :].strip()
    return words if re.search(r"\w", words) else ""


def _sound(arguments: str) -> str:
    """Return a call's arguments, or an empty object where they are none.

    Some endpoints refuse to see broken arguments again.
    """
    with contextlib.suppress(ValueError, RecursionError):
        is_short = len(arguments) <= MAX_ARGUMENTS_CHARS
        if is_short and isinstance(json.loads(arguments), dict):
            return arguments
    return "{}"
