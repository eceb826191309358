"""A conversation: a turn is recorded, a model is asked, its calls are made, the answer
is recorded. Without a model the best passages of one search answer."""

import datetime as dt
import functools
from collections.abc import Callable, Collection

from filemem.chat import citations, phrases
from filemem.chat.core_memory import core_memory
from filemem.chat.earlier import earlier, summarise
from filemem.chat.listener import Event, Listener, Notice, Text, ToolCalled
from filemem.chat.phrases import said_to, to_remember
from filemem.chat.recall import NOTHING_FOUND, Quotes, quoted, recall, room_beside
from filemem.chat.window import (
    Part,
    Prompt,
    window_start,
    with_last_cut,
)
from filemem.errors import FilememError
from filemem.learn.remember import remember
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
from filemem.store import config, recalls, usage
from filemem.store.current import CurrentConversation
from filemem.store.folder import Folder
from filemem.store.gate import Gate
from filemem.store.heard import ignore
from filemem.store.passages import FORGOTTEN, NO_ANSWER, Passage
from filemem.store.roles import ASSISTANT
from filemem.store.transcript import INTERRUPTED, OffTheRecord, Transcript
from filemem.text import answers
from filemem.text.plain import escape_controls, one_line
from filemem.text.redaction import kinds
from filemem.tools import render
from filemem.tools.toolbox import Toolbox

NO_MORE_CALLS = (
    "<program>\nNo more calls can be made. Answer now, with what has been found.\n"
    "</program>"
)
TOO_LONG = (
    "The message is too long for a request, so the model reads its beginning and end;"
    " all of it is kept."
)


class TurnState:
    """Gathers what comes while one message is answered.

    Args:
        said: the message, as it was kept.
        listen: hears the answer piece by piece.
        rounds_left: how often the model may still call tools.

    Attributes:
        notice: what the program did about the message.
        shown: all that the model, or the person, was shown of the memory.
        recalled: the lines of the memory that stood beside the message, for a model.
        streamed: the pieces of the answer so far.
        spoken: the texts of the model's replies.
        worked: the replies with calls, and what the tools answered.
        requests: that were made to the model.
        tokens: that these took, as the endpoint reports them.
    """

    def __init__(
        self, said: Passage, listen: Listener = ignore, rounds_left: int = 0
    ) -> None:
        self.said = said
        self.listen = listen
        self.rounds_left = rounds_left
        self.notice = ""
        self.shown = ""
        self.recalled: list[str] = []
        self.streamed: list[str] = []
        self.spoken: list[str] = []
        self.worked: Messages = []
        self.requests = 0
        self.tokens = 0

    def tell(self, event: Event) -> None:
        """Have the listener hear something, and note the text."""
        if isinstance(event, Text):
            self.streamed.append(event.text)
        self.listen(event)

    def stream(self, text: str) -> None:
        """Have the listener hear a piece of the answer."""
        self.tell(Text(text))


class Conversation:
    """One user's talk with one model.

    Args:
        user: whose memories these are.
        model: who answers; an OfflineModel has the best passages quoted.
        now: returns the person's local time, with its zone.
        transcript: the conversation to go on with; a new one by default.
    """

    def __init__(
        self,
        user: Folder,
        model: Model,
        now: Callable[[], dt.datetime],
        transcript: Transcript | None = None,
    ) -> None:
        self.user = user
        self._found = user.found()
        self.model = model
        self.now = now
        self.transcript = transcript or Transcript(user)
        self.tools = Toolbox(user, now)
        self.written: list[str] = []  # memories that the program wrote on request
        self.turn = TurnState(Passage(0, 0, user.person, "", ""))
        self._recorded: Transcript | None = None  # while nothing is kept
        self._toolless: Model | None = None  # the model that was found to use no tools

    # -- one turn ----------------------------------------------------------------------

    def say(self, text: str, listen: Listener = ignore) -> str:
        """Keep what the person said, answer it, keep the answer, and return that.

        Args:
            text: the message.
            listen: gets the answer piece by piece.

        Raises:
            FilememError: the message is empty.
            NotFound: the user was deleted or renamed since the conversation began.
            ModelError, KeyboardInterrupt, or what `listen` raises to stop it: all that
                was said by then is on disk.
        """
        if not text.strip():
            raise FilememError("the message is empty; say something.")
        with self.user.only(self._found):
            return self._say(text, listen)

    def _say(self, text: str, listen: Listener) -> str:
        """Keep a message and answer it; return and raise as `say`."""
        self.user.check_found()
        self.keep(self.user.person, text, listen)
        turn = TurnState(self._turns()[-1], listen, self._settings.steps)
        self.turn = turn
        try:
            answer = self._answered(turn)
            self.keep(ASSISTANT, answer)
        except BaseException as error:  # whatever a listener raises, too
            self._keep_partial(turn, error)
            raise
        finally:
            if turn.notice and not self.offline:
                listen(Notice(turn.notice))
        return answer

    def _answered(self, turn: TurnState) -> str:
        """Keep what the message asks to be remembered, and answer it.

        Without a model the best passages are the answer, and one line says so where
        there are none.
        """
        if not self.offline:
            turn.notice = self._keep_fact(turn.said)
            turns = self._turns()
            gone = turns[: window_start(turns, self._settings.window_tokens)]
            summarise(self.user, self.model, self.transcript.path, gone)
            return self._converse(turn)
        found = self._quoted(turn.said)  # before a fact is kept, which is no answer
        turn.notice = self._keep_fact(turn.said)
        parts = [turn.notice]
        if not found.text and not turn.notice:
            nothing = answers.NOTHING if self.kept else answers.NOTHING_KEPT
            parts.append(said_to(turn.said.text, nothing))
        if found.is_held or not turn.notice:
            parts.append(found.text)
        answer = "\n\n".join(filter(None, parts))
        turn.shown = answer
        turn.stream(answer)
        return answer

    def _keep_partial(self, turn: TurnState, error: BaseException) -> None:
        """Keep what had come of an answer; no session ends with a question."""
        partial = "".join(turn.streamed).rstrip()
        kept = NO_ANSWER
        if partial or not isinstance(error, ModelError):
            kept = f"{partial} {INTERRUPTED}".strip()
        self.keep(ASSISTANT, kept)

    def keep(self, speaker: str, text: str, listen: Listener = ignore) -> int:
        """Write one turn to disk, before anybody hears of it.

        Args:
            speaker: the person's name, or ASSISTANT.
            text: what they said; secrets are taken out, unless settings say otherwise.
            listen: is told of what was taken out.

        Returns:
            The line of the session on which the turn begins; 0 off the record.
        """
        before = [turn.text for turn in self._turns()][-1:]
        kept, found = Gate(self.user).clean(text, *before)
        if found:
            of_what = " of what is kept" if self.kept else ""
            listen(Notice(f"Taken out{of_what}: {kinds(found)}."))
        line = self.transcript.add(speaker, kept, self.now())
        if line:
            self.user.tell("kept", 1)
        if line and speaker != ASSISTANT:
            usage.note_use(self.user, self.now().date())
        return line

    @property
    def _settings(self) -> config.Config:
        return config.of(self.user)

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
        """Keep nothing from now on: no turn, no recall.

        What was said before is seen by the model as before.
        """
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

    def last_exchange(self) -> str:
        """Return the lines of what the person said last and of the answer to it.

        They are read from disk, as `path:6,7`; '' where nothing is kept.
        """
        transcript = self._recorded or self.transcript
        lines: list[str] = []
        for turn in reversed(transcript.turns()):
            if turn.text == FORGOTTEN:
                continue
            lines.insert(0, str(turn.line))
            if turn.speaker != ASSISTANT:
                return f"{transcript.path}:{','.join(lines)}"
        return ""

    def _keep_fact(self, said: Passage) -> str:
        """Keep as a fact what a message asks to be remembered.

        Returns what there is to say of that, in the message's language; '' where it
        asks for nothing.
        """
        words = to_remember(said.text)
        if not words:
            return ""
        if not self.kept:
            return said_to(said.text, phrases.OFF_THE_RECORD)
        source = f"{self.transcript.path}:{said.line}"
        try:
            done = remember(self.user, words, self.now(), source=source)
        except FilememError as error:
            return said_to(said.text, phrases.NOT_KEPT).format(error)
        self.written += done.paths
        kept = said_to(said.text, answers.KEPT)
        return "\n".join(
            [kept.format(one_line(words), done.decisions[0].path), *done.notes]
        )

    def passages(self) -> str:
        """Return what answers the last message without a model; '' for nothing."""
        return self._quoted(self.turn.said).text

    def _quoted(self, said: Passage) -> Quotes:
        """Return the best passages for a message."""
        current = None
        if self.transcript.path:
            current = CurrentConversation(self.transcript.path, said.line)
        return quoted(self.user, said.text, self.now().date(), current)

    # -- the prompt --------------------------------------------------------------------

    def view(self, message: str = "") -> Prompt:
        """Return what the model would see now, or if the person said `message`.

        From here on the tools leave out what the prompt has of this conversation.
        """
        turns = self._turns()
        if message:
            turns.append(Passage(0, 0, self.user.person, "", message))
        room = self._settings.window_tokens
        start = window_start(turns, room)
        if self.transcript.path and turns[start:] and turns[start].line:
            self.tools.current = CurrentConversation(
                self.transcript.path, turns[start].line
            )
        now = self.now()
        core = core_memory(self.user, now.date())
        notice = prompt.MARK.sub("&lt;", self.turn.notice)
        told = f"{notice}\nNow it is {render.spelt(now.date())} {now:%H:%M}.".strip()
        recalled = Part("recalled", self._recalled(turns, core.told))
        program = Part("program", f"<program>\n{told}\n</program>")
        system = core.parts(self.user.person, has_tools=bool(self.offered))
        system.append(earlier(self.user, self.transcript.path, turns[:start]))
        return Prompt(
            [part for part in system if part.text],
            with_last_cut(turns[start:], room),
            [part for part in (recalled, program) if part.text],
        )

    def _recalled(self, turns: list[Passage], told: Collection[str]) -> str:
        """Return the passages nearest to the last message, as data; '' where none are
        to stand there."""
        said = [turn.text for turn in turns if turn.speaker != ASSISTANT]
        has_tools = bool(self.offered)
        wanted = not has_tools or self._settings.recall == "both"
        if self.offline or not said or not wanted:
            return ""
        found = recall(
            self.user,
            said[-1],
            self.now().date(),
            self.tools.current,
            room_beside(has_tools=has_tools),
            before="".join(said[-2:-1]),
            told=told,
        )
        return prompt.data("search_files", found or NOTHING_FOUND)

    @property
    def offered(self) -> Tools:
        """The tools that the model is offered: all four, or none where it uses none."""
        if self._settings.offers_tools and self._toolless is not self.model:
            return self.tools.schemas
        return []

    def _turns(self) -> list[Passage]:
        """Return the turns so far, without answers that never came."""
        turns = []
        for turn in self.transcript.turns():
            if turn.text != NO_ANSWER or turn.speaker != ASSISTANT:
                turns.append(turn)
        return turns

    # -- the tool loop -----------------------------------------------------------------

    def _converse(self, turn: TurnState) -> str:
        """Ask the model until it calls no more tools, or all rounds are used up.

        Returns:
            All that it said, citations marked.

        Raises:
            ModelError: it fails, or says nothing in the end.
        """
        seen = self.view()
        if seen.turns[-1].text != turn.said.text:
            turn.tell(Notice(TOO_LONG))
        turn.recalled = citations.cited(dict(seen.beside).get("recalled", ""))
        while True:
            try:
                reply = self._reply(turn, seen)
            except ToolsRefused:
                self._toolless = self.model  # from now on
                told = "takes no tools, so it gets the best passages of the memory"
                turn.tell(Notice(f"{self.model.name} {told} with each message."))
                seen = self.view()
                continue
            if reply.calls and turn.rounds_left:
                self._make_calls(turn, reply)
                continue
            if not reply.text.strip():
                told = "answered nothing; ask again, or try another model"
                raise ModelError(f"{self.model.name} {told}.")
            return self._marked("\n\n".join(turn.spoken))

    def _make_calls(self, turn: TurnState, reply: Reply) -> None:
        """Make the calls of a reply, with the results ready for the next request."""
        turn.rounds_left -= 1
        turn.worked.append(reply.as_returned())
        if reply.text:
            turn.stream("\n\n")
        for call in reply.calls:
            result = self.tools.call(call.name, call.arguments)
            brief = one_line(result.split("\n", 1)[0], 160)
            turn.tell(ToolCalled(call.name, call.arguments, brief))
            turn.worked.append(
                {"role": "tool", "tool_call_id": call.id, "content": result}
            )
        if not turn.rounds_left:
            turn.worked.append({"role": "user", "content": NO_MORE_CALLS})

    def _reply(self, turn: TurnState, seen: Prompt) -> Reply:
        """Ask once, with the open files as they are now.

        Those whose text a tool has just answered are left out. What the model sees is
        noted, so that its citations can be checked. Raises ModelError.
        """
        results = [one["content"] for one in turn.worked if one["role"] == "tool"]
        pages = []
        for path, page in self.tools.pages().items():
            if not any(escape_controls(page) in result for result in results):
                pages.append(prompt.data(path, page))
        messages = seen.messages("\n".join(pages)) + turn.worked
        contents = [str(message.get("content") or "") for message in messages]
        turn.shown = citations.without_marked("\n".join(contents))
        tools = self.offered
        self.user.check_found()  # else what was read may be somebody else's
        ask: Callable[..., Reply] = self.model.ask
        if tools and not turn.rounds_left and isinstance(self.model, OpenAIModel):
            # They are named all the same, as the turns have calls of them.
            ask = functools.partial(ask, tool_choice="none")
        reply = ask(messages, tools, turn.stream)
        self.user.tell("requested", 1, *reply.usage)
        turn.requests += 1
        turn.tokens += sum(reply.usage)
        if reply.notice:
            turn.tell(Notice(reply.notice))
        if reply.text.strip():
            turn.spoken.append(reply.text.strip())
        return reply

    # -- citations ---------------------------------------------------------------------

    def was_shown(self, place: str) -> bool:
        """Tell whether the model saw something of `path:line` before it answered."""
        return citations.is_shown(self.user, place, self.turn.shown)

    def _marked(self, answer: str) -> str:
        """Mark citations of what the model was not shown; the others are recalls."""
        unseen = set()
        recalled = set()
        for place in citations.cited(answer):
            if self.was_shown(place):
                recalled.add(place.rpartition(":")[0])
            else:
                unseen.add(place)
        if self.kept:
            for path in sorted(recalled):
                recalls.note_recall(self.user, path, recalls.How.CITED, self.now())
        return citations.mark(answer, unseen)
