"""One conversation: what the person says is on disk first, then the model answers with the four tools at hand."""

import datetime as dt
import json
import re
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from filemem.chat import quoting, recalling, requests
from filemem.chat.seen import PromptRecorder
from filemem.chat.standing import CoreMemory, core_memory
from filemem.endpoint.traced import noted
from filemem.errors import FilememError
from filemem.files import config, journal
from filemem.files.facts import set_front
from filemem.files.folder import CurrentConversation, Folder
from filemem.files.passages import Passage
from filemem.files.trace import Trace
from filemem.files.transcript import ASSISTANT, INTERRUPTED, OffTheRecord, Transcript
from filemem.forgetting import forget_in_chat
from filemem.models import Model, ModelError, PromptTooLong, Reply, ToolCall, ToolsRefused, offline, prompt
from filemem.models.offline import OfflineModel
from filemem.remembering import remembering
from filemem.text import tokens
from filemem.text.plain import one_line
from filemem.text.redaction import kinds, redact
from filemem.tools.toolbox import Toolbox

LEAST_SHARE = 0.1  # below which a prompt is not shortened any further
LONGEST_ARGUMENTS = 20_000  # characters of a call that the model is shown again, and that the trace keeps
LONGEST_KEPT = 200  # characters of a fact that are said again
UNUSED = 2  # answers without any call, after which a model gets passages as well
_WRAPPED = re.compile(r"(?:<tool_call>|```\w*)?\s*(\{.*\})\s*(?:</tool_call>|```)?", re.DOTALL)
_ARGUED = {"arguments", "parameters"}
_CITED = re.compile(r"\w[\w./\-]*\.(?:md|ya?ml|txt):\d+")
_SENTENCE = re.compile(r".{12,}?[.!?](?=\s)|.{6,}?[。！？]|[^\n]+", re.DOTALL)


class Text(NamedTuple):
    """A piece of the answer, as it streams."""

    text: str


class Thought(NamedTuple):
    """A piece of what the model thinks, which is no part of the answer."""

    text: str


class ToolCalled(NamedTuple):
    """A tool call that was made; `brief` is the first line of its answer."""

    name: str
    arguments: str
    brief: str
    milliseconds: int


class Notice(NamedTuple):
    """One line about how the answer came."""

    text: str


class Stopped(Exception):
    """A listener wants no more of an answer."""


Event = Text | Thought | ToolCalled | Notice
Listener = Callable[[Event], None]


class Conversation:
    """One user's talk with one model; `now` gives the person's local time, with its zone."""

    def __init__(
        self, user: Folder, model: Model, now: Callable[[], dt.datetime], transcript: Transcript | None = None
    ) -> None:
        self.user = user
        self.now = now
        self.transcript = transcript or Transcript(user)
        self.tools = Toolbox(user, now)
        self.ask_from_now_on(model)
        self.written: list[str] = []  # memories that the program wrote on request
        self._paused: Transcript | None = None  # the transcript, while a message is answered that is not to be kept
        self._summary = ""
        self._summarised = 0  # turns that the running summary covers
        self._start = 0  # index of the first turn in the prompt
        self._toolless: Model | None = None  # the model that was found to use no tools
        self._unused = 0  # answers since the last tool call
        # What a search for the last message found, by the tokens that it may have.
        self._recalled: dict[int, recalling.Recalled] = {}
        self._stands: CoreMemory | None = None  # what stands in the prompt while a message is answered
        self._sight = PromptRecorder(user)
        self._seen: list[list[str]] = []  # what the last request showed, by reference
        self._share = 1.0  # of the window and of the tools' answers; smaller where the model's context holds no more

    def ask_from_now_on(self, model: Model) -> None:
        """Go on with a model."""
        self.model = model
        self._unused = 0

    def say(self, text: str, listen: Listener = lambda event: None) -> str:
        """Keep what the person said, answer it, keep the answer; returns the answer. `listen` gets it piece by piece.

        Raises ModelError, or KeyboardInterrupt, or what `listen` raises to stop it, with the turn and whatever had been
        answered by then on disk.
        """
        self.hear(text, listen)
        return self.answer(listen)

    def hear(self, text: str, listen: Listener = lambda event: None) -> None:
        """Keep what the person said, unless it begins by asking that it be not."""
        if self.kept and requests.unrecorded(text):
            self._paused = self.transcript
            self.go_off_the_record()
        line = self.keep(self.user.name, text, listen)
        self._note("turn", text=f"{self.transcript.path}:{line}")

    def answer(self, listen: Listener = lambda event: None) -> str:
        """Answer what was said last, keep the answer and return it; raises as `say` does."""
        try:
            return self._answered(listen)
        finally:
            if self._paused is not None:
                self.transcript, self._paused, self.tools.noting = self._paused, None, True

    def _answered(self, listen: Listener) -> str:
        self._recalled.clear()
        done = self._do(self.transcript.turns())
        said: list[str] = []

        def hear(event: Event) -> None:
            if isinstance(event, Text):
                said.append(event.text)
            listen(event)

        try:
            answer = self._quoted(done, hear) if self.model.name == OfflineModel.name else self._answer(hear)
        except (ModelError, Stopped, KeyboardInterrupt, SystemExit) as error:
            self._keep("".join(said), error)
            raise
        finally:
            self._stands = None
        self.keep(ASSISTANT, answer)
        if self.kept:
            self._note_citations(answer)
        return answer

    def _do(self, turns: list[Passage]) -> list[str]:
        """Do what the last message asks of the program, to remember it or to take back what came before; sentences on it."""
        said, chinese = turns[-1].text, offline.in_chinese(turns[-1].text)
        if words := requests.to_remember(said):
            return [self._remember(words, turns[-1].line, chinese=chinese)]
        if requests.to_forget(said):
            places = forget_in_chat.take_back(self.user, self.transcript.path, turns, self.now()) if self.kept else []
            if not places:
                return [offline.NOTHING_SAID[chinese]]
            told = [f"- {place}" for place in places]
            return ["\n".join([offline.TAKEN_BACK[chinese], *told, offline.DELETE[chinese].format(places[0])])]
        return []

    def _remember(self, words: str, line: int, *, chinese: bool) -> str:
        """Keep one fact in the person's words, unless nothing of this is kept; a sentence on it."""
        if not self.kept:
            return offline.UNRECORDED[chinese]
        try:
            done = remembering.remember(self.user, words, self.now())
            if "source" not in done.memory.front:
                place = f"{self.transcript.path}:{line}"
                self.user.edit(done.memory.path, lambda data: set_front(done.memory.path, data, "source", place))
        except FilememError as error:
            return offline.NOT_KEPT[chinese].format(error)
        self.written += [done.memory.path, *done.paths]
        kept = offline.KEPT[chinese].format(one_line(words, LONGEST_KEPT), done.memory.path)
        return "\n".join([kept, *done.notes])

    def _quoted(self, done: list[str], listen: Listener) -> str:
        """The answer without a model: what the program did, or else the best quotes."""
        turns = self.transcript.turns()
        said = [turn.text for turn in turns if turn.speaker != ASSISTANT]
        path = self.transcript.path
        current = CurrentConversation(path, turns[-1].line) if path else None
        answer = "\n".join(done) or quoting.reply(self.user, said, self.now().date(), current, kept=self.kept)
        listen(Text(answer))
        return answer

    def _keep(self, partial: str, error: BaseException) -> None:
        """Keep an interrupted answer, marked; note the error in the trace."""
        ended = not isinstance(error, ModelError)
        self._note("error", text="stopped" if ended else str(error))
        if partial.strip() or ended:
            self.keep(ASSISTANT, f"{partial.rstrip()} {INTERRUPTED}".strip())

    def keep(self, speaker: str, text: str, listen: Listener = lambda event: None) -> int:
        """Write one turn to disk, secrets taken out unless the store is set otherwise; returns its line."""
        settings = config.of(self.user)
        if settings.redact:
            text, found = redact(text, settings.own)
            if found:
                listen(Notice(f"Taken out{' of what is kept' if self.kept else ''}: {kinds(found)}."))
        line = self.transcript.add(speaker, text, self.now())
        if self.transcript.lost:
            gone, self.transcript.lost = len(self.transcript.lost), []
            listen(Notice(lost_turns(self.transcript.path, gone)))
        return line

    def _note(self, kind: str, **values: Any) -> None:
        """Add a step to the trace."""
        if self.kept:
            Trace(self.user, self.transcript.path).note(self.now(), kind, **values)

    @property
    def kept(self) -> bool:
        """Is what is said now kept?"""
        return not isinstance(self.transcript, OffTheRecord)

    def go_off_the_record(self) -> None:
        """From now on keep nothing: no turn, no trace, no recall."""
        self.transcript = OffTheRecord(self.user, self.transcript.turns())
        self.tools.noting = False

    # -- the prompt ----------------------------------------------------------------------------------------------

    def view(self, message: str = "") -> tuple[list[prompt.Section], list[Passage]]:
        """What the model would see now, or if the person said `message`: the system prompt's sections and the turns of the
        window."""
        turns = self._shown_turns()
        turns += [Passage(0, 0, self.user.name, "", message)] if message else []
        start = self._window(turns)
        if self.transcript.path and turns[start:] and turns[start].line:
            self.tools.current = CurrentConversation(self.transcript.path, turns[start].line)
        stands = self._stands or core_memory(self.user, self.now().date())
        system = prompt.sections(
            self.user,
            self.now(),
            stands.wishes,
            prompt.block_sections(stands.blocks, round(config.of(self.user).block_tokens * self._share)),
            self.tools.pages(),
            self._summarise(turns[:start]),
            tools=bool(self.offered),
        )
        return [*system, *self._recall(turns), prompt.Section("outside", stands.outside)], turns[start:]

    def _recall(self, turns: list[Passage]) -> list[prompt.Section]:
        """The best passages for the last message, which the model need not ask for; more of them where it calls no tool."""
        alone = not self.offered or self._unused > UNUSED
        said = [turn for turn in turns if turn.speaker != ASSISTANT]
        if self.model.name == OfflineModel.name or not said or not (alone or config.of(self.user).recall == "both"):
            return []
        room = recalling.ALONE if alone else recalling.BESIDE_TOOLS
        if room not in self._recalled:
            texts, today = [turn.text for turn in said], self.now().date()
            self._recalled[room] = recalling.recall(self.user, texts, today, self.tools.current, room, weak=alone)
            if self._stands:
                self._note("recall", places=self._recalled[room].places)
        found = self._recalled[room].text
        return [prompt.Section("recalled", prompt.data("search_files", found))] if found else []

    @property
    def offered(self) -> list[dict[str, Any]]:
        """The tools that the model is offered: all four, or none where it is to use none or known to."""
        settings = config.of(self.user)
        wanted = settings.tools and settings.recall != "before"
        return self.tools.schemas if wanted and self._toolless is not self.model else []

    def _shown_turns(self) -> list[Passage]:
        """The turns so far without those that are withheld; the last one is there, as it is answered."""
        turns, hidden = list(self.transcript.turns()), journal.pending_deletions(self.user)
        return [turn for turn in turns if turn is turns[-1] or not hidden.hides(self.transcript.path, turn.line)]

    def _window(self, turns: list[Passage]) -> int:
        """The index of the first turn in the prompt. It moves by a third of the window at a time, since each move has the
        model write a summary and endpoints cache a prompt that begins as the last one did."""
        budget = round(config.of(self.user).window_tokens * self._share)
        if not self._summarised and self.kept and self.transcript.path:  # of a conversation that is gone on with
            self._summary, self._summarised = journal.running_summary(self.user, self.transcript.path, turns[:-1])
            self._start = max(self._start, self._summarised)
        if self._start >= len(turns) or sum(tokens.count(turn.text) for turn in turns[self._start :]) > budget:
            self._start = prompt.window(turns, budget * 2 // 3)
        return self._start

    def _summarise(self, gone: list[Passage]) -> str:
        """The running summary, brought up to the turns that have left the window."""
        new = gone[self._summarised :]
        if new:
            budget = config.of(self.user).summary_tokens
            long_ago = prompt.window(new, 2 * config.of(self.user).window_tokens)  # more than one request should hold
            self._summary = plain_summary(self._summary, new[:long_ago], budget)
            new = new[long_ago:]
            told = self._model_summary(new, budget)
            self._summary = told or plain_summary(self._summary, new, budget)
            self._summarised = len(gone)
            if told and self.kept and self.transcript.path:
                journal.keep_summary(self.user, self.transcript.path, gone, told)
        return self._summary

    def _model_summary(self, new: list[Passage], budget: int) -> str:
        """The summary in the model's words; empty where there is no model, or it fails, or says nothing."""
        if self.model.name == "offline":
            return ""
        rules = prompt.template("summarise").replace("{words}", str(budget // 2))
        turns = "\n".join(f"{turn.speaker}: {turn.text}" for turn in new)
        told = f"{prompt.data('summary so far', self._summary)}\n{prompt.data('turns', turns)}"
        ask = [{"role": "system", "content": rules}, {"role": "user", "content": told}]
        try:
            reply = noted(self.model, self._note, ask, [], purpose="summary")
        except ModelError as error:
            self._note("notice", text=f"summary without the model: {error}")
            return ""
        return tokens.clip(reply.text.strip(), budget)

    # -- the tool loop -------------------------------------------------------------------------------------------

    def _answer(self, listen: Listener) -> str:
        """Ask the model until it stops calling tools, at most `steps` times; the open files are re-read every time."""
        self._unused += 1
        worked: list[prompt.Message] = []
        spoken: list[str] = []
        self._stands = core_memory(self.user, self.now().date())
        for left in range(config.of(self.user).steps, -1, -1):
            reply = self._fitting(worked, listen, with_tools=left > 0)
            if self.offered and left and not reply.calls and _is_call(reply.text):
                self._give_up_tools("writes its calls into its answer", listen)
                continue
            if reply.text.strip():
                spoken.append(reply.text.strip())
            if not reply.calls or not left:
                break
            self._unused = 0
            if reply.text:
                listen(Text("\n\n"))
            worked.append(_assistant(reply))
            worked += [self._run(call, listen) for call in reply.calls]
        answer = "\n\n".join(spoken)
        if not answer:
            raise ModelError(f"{self.model.name} answered nothing; ask again, or try another model.")
        return answer

    def _give_up_tools(self, why: str, listen: Listener) -> None:
        """From now on the model gets passages instead of tools; the person is told once."""
        self._toolless = self.model
        listen(Notice(f"{self.model.name} {why}, so it gets the best passages of the memory with each message."))

    def _fitting(self, worked: list[prompt.Message], listen: Listener, *, with_tools: bool) -> Reply:
        """Ask for one reply; where the prompt exceeds the model's context, ask again with a shorter one."""
        while True:
            system, turns = self.view()
            messages = prompt.messages(system, turns) + worked
            self._see(system, turns, worked)
            try:
                return self._ask(messages, listen, self.offered if with_tools else [])
            except ToolsRefused:
                self._give_up_tools("takes no tools", listen)
                continue
            except PromptTooLong:
                if self._share <= LEAST_SHARE:
                    raise
            self._share /= 2
            self.tools.open_files.clear()
            room = round(self._share * config.of(self.user).open_tokens)
            worked[:] = [{**message, "content": _cut(message["content"], room)} for message in worked]
            what = "this prompt is too long, so it is asked with less of the conversation and no open file"
            listen(Notice(f"{self.model.name}: {what}."))

    def _ask(self, messages: list[prompt.Message], listen: Listener, tools: list[dict[str, Any]]) -> Reply:
        return noted(self.model, self._note, messages, tools, lambda text: listen(Text(text)), saw=self._seen)

    def _see(self, system: list[prompt.Section], turns: list[Passage], worked: list[prompt.Message]) -> None:
        """Note what the model is about to see, by reference."""
        if self.kept:
            lessons = self._stands.lessons if self._stands else []
            new, self._seen = self._sight.steps(self.transcript.path, system, turns, worked, lessons)
            for step in new:
                self._note("saw", **step)

    def _run(self, call: ToolCall, listen: Listener) -> prompt.Message:
        """Make one call; its answer as a message."""
        start = time.perf_counter()
        answer = self.tools.call(call.name, call.arguments)
        spent = round(1000 * (time.perf_counter() - start))
        brief = one_line(answer.split("\n", 1)[0], 160)
        listen(ToolCalled(call.name, call.arguments, brief, spent))
        self._note(
            "call",
            name=call.name,
            arguments=call.arguments[:LONGEST_ARGUMENTS],
            answer=brief,
            characters=len(answer),
            hits=self.tools.hits,
            strength=self.tools.strength,
            milliseconds=spent,
        )
        return {"role": "tool", "tool_call_id": call.id, "content": answer}

    def _note_citations(self, answer: str) -> None:
        """A memory named as `path:line` in the answer counts as recalled."""
        for path in dict.fromkeys(place.rpartition(":")[0] for place in cited(answer)):
            try:
                journal.note_recall(self.user, self.user.locate(path), journal.CITED, self.now())
            except FilememError:
                continue


def cited(answer: str) -> list[str]:
    """The memories that an answer names, as `path:line`."""
    return list(dict.fromkeys(match[0] for match in _CITED.finditer(answer)))


def lost_turns(path: str, count: int) -> str:
    """What to tell a person whose editor saved over turns."""
    what = "A turn that was kept is" if count == 1 else f"{count:,} turns that were kept are"
    return f"{what} not in {path} any more, saved over by an editor perhaps; put back with: filemem restore {path}"


def plain_summary(before: str, new: list[Passage], budget: int) -> str:
    """The summary `before` and the first sentence of each `new` turn; beyond `budget` tokens the oldest lines are dropped."""
    lines = before.split("\n") if before else []
    lines += [f"{turn.speaker}: {first_sentence(turn.text)}" for turn in new]
    while len(lines) > 1 and tokens.count("\n".join(lines)) > budget:
        del lines[0]
    return tokens.clip("\n".join(lines), budget)


def first_sentence(text: str) -> str:
    """The first sentence of `text`, on one line, of at most 200 characters."""
    match = _SENTENCE.match(text.strip())
    return one_line(match[0] if match else text)


def call_line(event: ToolCalled) -> str:
    """A tool call as the chat shows it: `grep "oolong" -> 3 lines in 2 files`."""
    given = _mapping(event.arguments or "{}")
    if not given:
        return f"{event.name} {one_line(event.arguments, 60)} -> {event.brief}"
    first, *others = given.items()
    shown = [json.dumps(first[1], ensure_ascii=False)]
    shown += [f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in others]
    return one_line(" ".join([event.name, *shown]), 100) + f" -> {event.brief}"


def _assistant(reply: Reply) -> prompt.Message:
    """A reply that called tools, as the API wants it back."""
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": _sound(call.arguments)}}
        for call in reply.calls
    ]
    return {"role": "assistant", "content": reply.text or None, "tool_calls": calls}


def _cut(content: str | None, room: int) -> str | None:
    """A tool's answer, or what the model said before a call, within `room` tokens."""
    if content is None or tokens.count(content) <= room:
        return content
    return f"{tokens.clip(content, room)}\n[cut: the context is full]"


def _sound(arguments: str) -> str:
    """The arguments as sent, or an empty object where they are none: some endpoints refuse to see such text again."""
    return "{}" if len(arguments) > LONGEST_ARGUMENTS or _mapping(arguments) is None else arguments


def _mapping(text: str) -> dict[str, Any] | None:
    """The JSON object that `text` is, None where it is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _is_call(text: str) -> bool:
    """Is an answer nothing but a tool call written as text, as models write where the endpoint supports no tools?"""
    inside = _WRAPPED.fullmatch(text.strip())
    given = _mapping(inside[1]) if inside else None
    return (
        given is not None
        and isinstance(given.get("function", given.get("name")), str)
        and _ARGUED & given.keys() != set()
    )
