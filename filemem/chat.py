"""One conversation: what the person says is on disk first, then the model answers with the four tools at hand.

Beside its turns a model sees the core memory, read once a message: the profile, and the person's preferences on how they are
talked with; and what one search for the message finds, which is the answer where there is no model. Of preferences only what
they said themselves in a chat or wrote by hand counts: no import, no note, no other speaker; and none of a store that merely
lies where they stand, as it may be a stranger's.
"""

import contextlib
import datetime as dt
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from filemem import index
from filemem.errors import FilememError, NotFound
from filemem.files import config, journal
from filemem.files.facts import plain
from filemem.files.folder import CurrentConversation, Folder
from filemem.files.memory import (
    ASSISTANT,
    NO_ANSWER,
    PROFILE,
    SOURCE_MARK,
    FileDate,
    Passage,
    kind_of,
)
from filemem.files.sections import BEGIN, END, under
from filemem.files.transcript import INTERRUPTED, OffTheRecord, Transcript
from filemem.llm import prompt
from filemem.llm.client import OpenAIModel
from filemem.llm.model import (
    Messages,
    Model,
    ModelError,
    Reply,
    ToolCall,
    Tools,
    ToolsRefused,
)
from filemem.models import offline
from filemem.models.offline import said_to
from filemem.search import question, ranking
from filemem.search.searching import CERTAIN, MAYBE, Found, Hit, search_files
from filemem.text import dates, terms
from filemem.text.plain import (
    clip_tokens,
    count_tokens,
    escape_controls,
    one_line,
    printable,
)
from filemem.text.redaction import kinds, redact
from filemem.tools import answers
from filemem.tools.grep import lines_of
from filemem.tools.toolbox import Toolbox

# -- the conversation --------------------------------------------------------------------------------------------------

UNSEEN = " [?]"  # follows a citation of something that the model was not shown
NO_MORE = "<program>\nNo more calls can be made. Answer now, with what has been found.\n</program>"
CALLED = (
    "tool_calls"  # why a reply ended that called tools, or wrote a call into its text
)
_KIND = r"(?:archive/)?(?:facts|sessions|lessons|summaries)/"
CITED = re.compile(  # in a language without spaces, words may touch the path
    rf"(?:{_KIND}[\w./\-]+?|(?<![\w./\-])(?![\w./\-]*?{_KIND})\w[\w./\-]*)\.(?:md|ya?ml|txt):\d+"
)
_MARKED = re.compile(CITED.pattern + re.escape(UNSEEN))
_PROGRAM = re.compile(r"<(?=\s*/?\s*program\s*>)", re.IGNORECASE)
_REMEMBER = re.compile(  # these and those below are matched with simplified characters
    r"\s*(?:please,?\s+)?(?:remember|don['’]?t forget)\b(?P<to>\s+to\b)?(?:\s+that\b)?[\s:,—-]*"
    r"|\s*请?你?(?:记住|别忘了)[\s:：,，]*",
    re.IGNORECASE,
)
_FORGET = re.compile(
    r"(?:please\s+)?(?:forget (?:that|this|it)|(?:don['’]?t|do not) keep (?:that|this))(?:,? please)?"
    r"|请?(?:忘[了掉](?:吧|它|这个|刚才说的)|把它忘了|别记了|不要记)",
    re.IGNORECASE,
)
_FORGET_WHAT = re.compile(
    r"\s*(?:please,?\s+)?forget\b|\s*请?(?:忘掉|忘记|忘了)", re.IGNORECASE
)
_UNRECORDED = re.compile(
    r"\s*(?:(?:this is )?off the record|(?:don['’]?t|do not) keep this)\s*[:,—-]|\s*(?:别记|不要记)\s*[:：,，]",
    re.IGNORECASE,
)


class Text(NamedTuple):
    """A piece of the answer, as it streams."""

    text: str


class ToolCalled(NamedTuple):
    """A tool call that was made; `brief` is the first line of its answer."""

    name: str
    arguments: str
    brief: str


class Notice(NamedTuple):
    """One line about how the answer came."""

    text: str


class Prompt(NamedTuple):
    """What a model sees of a message: `system` and the turns change little from one request to the next, so that endpoints can
    cache them; `beside` stands with the last message. A part is its name and its text."""

    system: list[tuple[str, str]]
    turns: list[Passage]
    beside: list[tuple[str, str]]

    def messages(self, opened: str = "") -> Messages:
        """The request with the open files: one system message, then the turns; those of one role in a row become one message."""
        out: Messages = [
            {"role": "system", "content": "\n\n".join(text for _, text in self.system)}
        ]
        for place, turn in enumerate(self.turns, 1):
            role = "assistant" if turn.speaker == ASSISTANT else "user"
            beside = (
                [opened, *(text for _, text in self.beside)]
                if place == len(self.turns) and role == "user"
                else []
            )
            text = "\n\n".join(filter(None, [*beside, _PROGRAM.sub("&lt;", turn.text)]))
            if out[-1]["role"] == role:
                out[-1]["content"] += f"\n\n{text}"
            else:
                out.append({"role": role, "content": text})
        return out


class Delegated(Exception):
    """The model calls tools that are not run here; the answer comes once they are."""


Event = Text | ToolCalled | Notice
Listener = Callable[[Event], None]


class Does(NamedTuple):
    """What the program does itself where a message asks for it, as `jobs.ASKED` does; a chat knows no more of either.

    `remember`: keep words as a fact with its source; the memory's path, all paths that changed, sentences. `take_back`: keep back
    the memory at a path, else the exchange before the last turn of a transcript; the places.
    """

    remember: Callable[
        [Folder, str, dt.datetime, str], tuple[str, list[str], list[str]]
    ]
    take_back: Callable[[Folder, str, list[Passage], dt.datetime, str], list[str]]


class Conversation:
    """One user's talk with one model; `now` gives the person's local time, with its zone."""

    def __init__(
        self,
        user: Folder,
        model: Model,
        now: Callable[[], dt.datetime],
        transcript: Transcript | None = None,
        does: Does | None = None,
    ) -> None:
        self.user = user
        self.model = model
        self.now = now
        self.transcript = transcript or Transcript(user)
        self.does = does  # what the program does itself where a message asks it to; without, that is the model's
        self.tools = Toolbox(user, now)
        self.command = (
            "filemem "  # before the name of a command that the person is told of
        )
        self.written: list[str] = []  # memories that the program wrote on request
        self.remembered = ""  # what a command has kept since the last message
        self.options: dict[
            str, Any
        ] = {}  # what else an endpoint is told, such as a temperature
        self.log: Callable[[dict[str, Any]], object] | None = (
            None  # gets every request with its reply
        )
        self._paused: Transcript | None = (
            None  # the transcript, while a message is answered that is not to be kept
        )
        self._done = ""  # what the program did about the last message
        self.left: tuple[list[Passage], str] | None = (
            None  # what left the prompt last, and the model's summary of it
        )
        self._toolless: Model | None = None  # the model that was found to use no tools
        self._shown = (
            ""  # what the last request said, without citations that were marked
        )

    def say(self, text: str, listen: Listener = lambda event: None) -> str:
        """Keep what the person said, answer it, keep the answer; returns the answer. `listen` gets it piece by piece.

        Raises ModelError, KeyboardInterrupt, or what `listen` raises to stop it, with all that was said by then on disk.
        """
        self.record_turn(text, listen)
        return self.answer(listen)

    def record_turn(self, text: str, listen: Listener = lambda event: None) -> None:
        """Keep what the person said: unless it begins by asking that it be not, or was said before and not answered. Raises
        FilememError for an empty message."""
        if not text.strip():
            raise FilememError("the message is empty; say something.")
        if self.kept and unrecorded(text):
            self._paused = self.transcript
            self.go_off_the_record()
        failed = [turn.text for turn in self.transcript.turns()[-1:]] == [NO_ANSWER]
        if not (failed and self.said_last(text)):
            self.keep(self.user.name, text, listen)

    def said_last(self, text: str) -> bool:
        """Is this what the person said last, as it is kept: without secrets and controls, white space aside?"""
        text = printable(redact(text)[0] if config.of(self.user).redact else text)
        return [
            turn.text.split() for turn in self._turns() if turn.speaker != ASSISTANT
        ][-1:] == [text.split()]

    def answer(self, listen: Listener = lambda event: None) -> str:
        """Answer what was said last, keep the answer and return it; raises as `say` does."""
        said: list[str] = []

        def tell(event: Event) -> None:
            if isinstance(event, Text):
                said.append(event.text)
            listen(event)

        turns = self._turns()
        self._done, taken_back = self._do(turns)
        self.remembered = ""
        try:
            answer = self._quoted(tell) if self.offline else self._answer(tell)
            line = self.keep(ASSISTANT, answer)
            if taken_back:  # which the answer may tell of
                path = self.transcript.path
                journal.hold_back(
                    self.user,
                    f"{path}:{turns[-1].line}",
                    [f"{path}:{line}"],
                    self.now(),
                )
        except Delegated:
            raise
        except BaseException as error:  # whatever a listener raises, too
            partial = "".join(said).rstrip()  # a session never holds a question alone
            failed = isinstance(error, ModelError) and not partial
            self.keep(
                ASSISTANT, NO_ANSWER if failed else f"{partial} {INTERRUPTED}".strip()
            )
            raise
        finally:
            if self._paused is not None:
                self.transcript, self._paused, self.tools.noting = (
                    self._paused,
                    None,
                    True,
                )
            if self._done and not self.offline:
                listen(Notice(self._done))
        return answer

    def keep(
        self, speaker: str, text: str, listen: Listener = lambda event: None
    ) -> int:
        """Write one turn to disk, secrets taken out unless the store is set otherwise; returns its line."""
        if config.of(self.user).redact:
            text, found = redact(text)
            if found:
                listen(
                    Notice(
                        f"Taken out{' of what is kept' if self.kept else ''}: {kinds(found)}."
                    )
                )
        return self.transcript.add(speaker, text, self.now())

    @property
    def kept(self) -> bool:
        """Is what is being said kept?"""
        return not isinstance(self.transcript, OffTheRecord)

    @property
    def offline(self) -> bool:
        """Is there no model, so that quotes answer?"""
        return isinstance(self.model, offline.OfflineModel)

    def go_off_the_record(self) -> None:
        """Keep nothing from now on: no turn, no recall."""
        self.transcript = OffTheRecord(self.user, self.transcript.turns())
        self.tools.noting = False

    # -- what the program does itself ----------------------------------------------------------------------------------

    def _do(self, turns: list[Passage]) -> tuple[str, bool]:
        """Do what the last message asks of the program, to remember it or to take back what came before; what is said of it, and
        whether something was taken back."""
        said, line, path = turns[-1].text, turns[-1].line, self.transcript.path
        words = to_remember(said) if self.does else ""
        if self.does and words and self.kept:
            try:
                fact, written, notes = self.does.remember(
                    self.user, words, self.now(), f"{path}:{line}"
                )
            except FilememError as error:
                return said_to(said, offline.NOT_KEPT).format(error), False
            self.written += written
            kept = said_to(said, offline.KEPT).format(one_line(words), fact)
            return "\n".join([kept, *notes]), False
        if self.does and to_forget(said):
            told = self._shown_turns(), self.now(), self.remembered
            places = self.does.take_back(self.user, path, *told) if self.kept else []
            if not places:
                return said_to(said, offline.NOTHING_SAID), False
            lines = ",".join(
                place.rpartition(":")[2] for place in places if place.startswith(path)
            )
            how = said_to(said, offline.DELETE).format(
                self.command, f"{path}:{lines}" if lines else places[0]
            )
            return "\n".join(
                [
                    said_to(said, offline.TAKEN_BACK),
                    *(f"- {place}" for place in places),
                    how,
                ]
            ), True
        if (
            self.offline
            and _FORGET_WHAT.match(terms.simplified(said))
            and not said.endswith(("?", "？"))
        ):
            return said_to(said, offline.TO_FORGET).format(self.command), False
        return said_to(said, offline.UNRECORDED) if words or (
            self._paused and not self.offline
        ) else "", False

    def _quoted(self, listen: Listener) -> str:
        """The answer without a model: what the program did, or else the best quotes."""
        turns, path = self._turns(), self.transcript.path
        said = [turn.text for turn in turns if turn.speaker != ASSISTANT]
        current = CurrentConversation(path, turns[-1].line) if path else None
        answer = self._done or reply(
            self.user, said, self.now().date(), current, kept=self.kept
        )
        self._shown += answer  # what is quoted stands there
        listen(Text(answer))
        return answer

    # -- the prompt ----------------------------------------------------------------------------------------------------

    def view(self, message: str = "") -> Prompt:
        """What the model would see now, or if the person said `message`."""
        turns = self._shown_turns()
        turns += [Passage(0, 0, self.user.name, "", message)] if message else []
        start = self._window(turns)
        if self.transcript.path and turns[start:] and turns[start].line:
            self.tools.current = CurrentConversation(
                self.transcript.path, turns[start].line
            )
        now = self.now()
        wishes, profile = core_memory(self.user, now.date())
        name, how = (
            prompt.contained(self.user.name),
            prompt.template("tools" if self.offered else "passages").strip(),
        )
        done = f"{prompt.MARK.sub('&lt;', self._done)}\n" if self._done else ""
        system = [
            (
                "rules",
                prompt.template("chat")
                .strip()
                .replace("{name}", name)
                .replace("{reading}", how),
            ),
            ("preferences", wishes),
            ("profile", prompt.data(PROFILE, profile)),
            ("earlier in this conversation", self._earlier(turns[:start])),
        ]
        beside = [
            ("recalled", self._recall(turns)),
            (
                "program",
                f"<program>\n{done}Now it is {answers.spelt(now.date())} {now:%H:%M}.\n</program>",
            ),
        ]
        return Prompt(
            [part for part in system if part[1]],
            turns[start:],
            [part for part in beside if part[1]],
        )

    def _recall(self, turns: list[Passage]) -> str:
        """The best passages for the last message, which the model need not ask for; more of them where it has no tools."""
        alone = not self.offered
        said = [turn.text for turn in turns if turn.speaker != ASSISTANT]
        if (
            self.offline
            or not said
            or not (alone or config.of(self.user).recall == "both")
        ):
            return ""
        if to_remember(said[-1]) or to_forget(said[-1]):
            return ""  # which asks for nothing that was
        room, least, sure = (
            (ALONE, 0.0, ALONE) if alone else (BESIDE_TOOLS, ranking.PARTIAL, SURE)
        )
        found = recall(
            self.user,
            said,
            self.now().date(),
            self.tools.current,
            room,
            least=least,
            sure=sure,
        )
        return prompt.data("search_files", found)

    @property
    def offered(self) -> Tools:
        """The tools that the model is offered: all four, or none where it is to use none or known to."""
        settings = config.of(self.user)
        wanted = settings.tools and settings.recall != "before"
        return self.tools.schemas if wanted and self._toolless is not self.model else []

    def _turns(self) -> list[Passage]:
        """The turns so far, without the marks of answers that never came."""
        return [
            turn
            for turn in self.transcript.turns()
            if turn.text != NO_ANSWER or turn.speaker != ASSISTANT
        ]

    def _shown_turns(self) -> list[Passage]:
        """The turns so far without those that are kept back; the last one is there, as it is answered."""
        turns, hidden = self._turns(), journal.pending_deletions(self.user)
        return [
            turn
            for turn in turns
            if turn is turns[-1] or not hidden.hides(self.transcript.path, turn.line)
        ]

    def _window(self, turns: list[Passage]) -> int:
        """The index of the first turn in the prompt: the same for whoever goes on with the conversation. It moves by a third of
        the window at a time, as endpoints cache a prompt that begins as the last one did."""
        room = config.of(self.user).window_tokens
        sizes, start, held = [count_tokens(turn.text) for turn in turns], 0, 0
        for place, size in enumerate(sizes):
            held += size
            moves = held > room
            while moves and start < place and held > room * 2 // 3:
                held -= sizes[start]
                start += 1
        while start < len(turns) - 1 and turns[start].speaker == ASSISTANT:
            start += 1  # it opens with what a person said
        return start

    def _earlier(self, gone: list[Passage]) -> str:
        """What stands for the turns that have left the prompt: the model's summary, made as they leave. Of what had left before
        this program went on with the conversation, or where the model fails, it is how the last of them begin."""
        before, summary = (
            self.left
            if self.left and gone[: len(self.left[0])] == self.left[0]
            else (gone, "")
        )
        room = config.of(self.user).summary_tokens
        if leaving := gone[len(before) :]:
            so_far, said = (
                summary or self._beginnings(before),
                "\n".join(f"{one.speaker}: {one.text}" for one in leaving),
            )
            asked, summary = (
                f"{prompt.data('summary so far', so_far)}\n{prompt.data('turns', said)}",
                "",
            )
            rules = prompt.template("summarise").replace("{words}", str(room // 2))
            messages = [
                {"role": "system", "content": rules},
                {"role": "user", "content": asked},
            ]
            with contextlib.suppress(ModelError):
                summary = clip_tokens(
                    self._ask(
                        messages, lambda event: None, [], last=False
                    ).text.strip(),
                    room,
                )
        self.left = gone, summary
        return prompt.data("summary", summary) or prompt.data(
            self.transcript.path or "earlier", self._beginnings(gone)
        )

    def _beginnings(self, gone: list[Passage]) -> str:
        """How the last of some turns begin, with their lines, in the room of a summary."""
        lines, room = list[str](), config.of(self.user).summary_tokens
        for turn in reversed(gone):
            line = f"{turn.line or '':>4}  {turn.speaker}: {one_line(turn.text)}"
            room -= count_tokens(line)
            if room < 0:
                break
            lines.insert(0, line)
        return "\n".join(lines)

    # -- the tool loop -------------------------------------------------------------------------------------------------

    def _answer(self, listen: Listener) -> str:
        """Ask the model until it stops calling tools, at most `steps` times and then once more without; the open files are
        re-read every time. Where all that comes to no answer, the best quotes are it."""
        seen, worked, spoken, last, called = (
            self.view(),
            Messages(),
            list[str](),
            "",
            False,
        )
        left = config.of(self.user).steps
        while True:
            try:
                reply = self._reply(seen, worked, listen, last=not left)
            except ToolsRefused:
                self._toolless = self.model  # from now on
                name = self.model.name
                listen(
                    Notice(
                        f"{name} takes no tools, so it gets the best passages of the memory with each message."
                    )
                )
                seen = self.view()
                continue
            except ModelError as error:
                if left:
                    raise
                listen(Notice(str(error)))
                last = ""
                break
            called, text = reply.finish == CALLED, reply.text.strip()
            last = "" if called else text
            spoken += [text] if text else []
            if reply.text and called:
                listen(Text("\n\n"))
            if not reply.calls:
                break
            sound = [
                replace(call, arguments=_sound(call.arguments)) for call in reply.calls
            ]
            worked.append(replace(reply, calls=tuple(sound)).as_sent())
            for call in reply.calls:
                found = self.tools.call(call.name, call.arguments)
                listen(
                    ToolCalled(
                        call.name,
                        call.arguments,
                        one_line(found.split("\n", 1)[0], 160),
                    )
                )
                worked.append(
                    {"role": "tool", "tool_call_id": call.id, "content": found}
                )
            left -= 1
            if not left:
                worked.append({"role": "user", "content": NO_MORE})
        if not (last or worked or called):
            raise ModelError(
                f"{self.model.name} answered nothing; ask again, or try another model."
            )
        answer = self._marked("\n\n".join(spoken))
        return (
            answer
            if last
            else "\n\n".join(filter(None, [answer, self._quoted(listen)]))
        )

    def _reply(
        self, seen: Prompt, worked: Messages, listen: Listener, *, last: bool
    ) -> Reply:
        """One reply to a prompt and the calls since, with the open files as they are now, but those that a call just showed."""
        shown = [one["content"] for one in worked if one["role"] == "tool"]
        pages = [
            page
            for page in self.tools.pages()
            if not any(escape_controls(page[1]) in one for one in shown)
        ]
        messages = (
            seen.messages("\n".join(prompt.data(*page) for page in pages)) + worked
        )
        self._shown = _MARKED.sub(
            "", "\n".join(str(message.get("content") or "") for message in messages)
        )
        return self._ask(messages, listen, self.offered, last=last)

    def _ask(
        self, messages: Messages, listen: Listener, tools: Tools, *, last: bool
    ) -> Reply:
        """One reply, whose text streams up to the first call that is written in it; logged with its request. The `last` time no
        call can be made, yet tools are named, as the turns have calls of them."""
        screen, said = CallFilter(lambda text: listen(Text(text))), CallFilter()
        options = (
            {**self.options, "tool_choice": "none"} if last and tools else self.options
        )
        ask: Callable[..., Reply] = self.model.ask
        step = {
            "at": f"{self.now():%Y-%m-%dT%H:%M:%S}",
            "model": self.model.name,
            "messages": messages,
            "tools": tools,
        }
        try:
            reply = ask(
                messages,
                tools,
                screen.feed,
                **(options if isinstance(self.model, OpenAIModel) else {}),
            )
            step |= {
                "text": reply.text,
                "calls": [call.as_sent() for call in reply.calls],
                **reply.usage._asdict(),
            }
        except ModelError as error:
            step["error"] = str(error)
            raise
        finally:
            if self.log:
                self.log(step)
            screen.feed("", end=True)  # shows what waited to be told from a call
        said.feed(
            reply.text, end=True
        )  # what streamed may have turned out to be thoughts
        if screen.found and not said.found:  # in the thoughts
            listen(Text(said.text))
        if reply.notice:
            listen(Notice(reply.notice))
        written = [
            ToolCall(f"written_{len(messages)}_{n}", *call)
            for n, call in enumerate(said.calls)
        ]
        calls = reply.calls or tuple(written if tools else ())
        finish = (
            CALLED
            if reply.calls or said.found
            else reply.finish.replace(CALLED, "stop")
        )
        return replace(
            reply, text=said.text, calls=() if last else calls, finish=finish
        )

    # -- citations -----------------------------------------------------------------------------------------------------

    def _marked(self, answer: str) -> str:
        """The answer with a mark behind each citation of what the model was not shown; the others count as recalled."""
        seen = {place: self.was_shown(place) for place in cited(answer)}
        for path in dict.fromkeys(
            place.rpartition(":")[0]
            for place, shown in seen.items()
            if shown and self.kept
        ):
            journal.note_recall(self.user, path, journal.CITED, self.now())
        return CITED.sub(
            lambda match: match[0] + ("" if seen[match[0]] else UNSEEN), answer
        )

    def was_shown(self, place: str) -> bool:
        """Is `path:line` a line of a memory that the model saw something of before it answered?"""
        path, _, line = place.rpartition(":")
        try:
            lines = len(lines_of(self.user, self.user.locate(path)))
        except FilememError:
            return False
        shown = re.search(rf"(?<![\w./-]){re.escape(path)}\b", self._shown)
        return shown is not None and 0 < int(line) <= lines


def to_remember(message: str) -> str:
    """What a message asks to be remembered, in its own words; empty where it asks for nothing, or a question."""
    opening = _REMEMBER.match(terms.simplified(message))
    if (
        not opening
        or message.rstrip().endswith(("?", "？"))
        or not re.search(r"\w", message[opening.end() :])
    ):
        return ""
    return message[0 if opening["to"] else opening.end() :].strip()


def to_forget(message: str) -> bool:
    """Does the whole message take back what was said just before it?"""
    return (
        _FORGET.fullmatch(terms.simplified(message).strip().rstrip(".!。！~ "))
        is not None
    )


def unrecorded(message: str) -> bool:
    """Does a message begin by asking that it not be kept?"""
    return _UNRECORDED.match(terms.simplified(message)) is not None


def cited(answer: str) -> list[str]:
    """The memories that an answer names, as `path:line`."""
    return list(dict.fromkeys(match[0] for match in CITED.finditer(answer)))


def _sound(arguments: str) -> str:
    """The arguments as sent, or an empty object where they are none: some endpoints refuse to see such text again."""
    with contextlib.suppress(ValueError, RecursionError):
        if len(arguments) <= LONGEST_CALL and isinstance(json.loads(arguments), dict):
            return arguments
    return "{}"


# -- what always stands in the prompt ----------------------------------------------------------------------------------

MOST_PREFERENCES, LONGEST_PREFERENCE = (
    600,
    400,
)  # tokens of all preferences; characters of one


def core_memory(folder: Folder, today: dt.date) -> tuple[str, str]:
    """How the person wants to be addressed, as part of the instructions, empty if nothing is known, and the profile within its
    limit; from the files as they are now."""
    said = preferences(folder, today) if folder.is_own else []
    template = (
        prompt.template("preferences").strip().replace("{name}", one_line(folder.name))
    )
    wishes = template.replace(
        "{preferences}", "\n".join(f"- {prompt.contained(one)}" for one in said)
    )
    return wishes if said else "", _profile(folder)


def _profile(folder: Folder) -> str:
    """The profile as the prompt has it; why, if it cannot be read."""
    try:
        lines = folder.memory(PROFILE).body.split("\n")
        text = "\n".join(
            SOURCE_MARK.sub("", line).rstrip()
            for line in lines
            if line.strip() not in (BEGIN, END)
        ).strip()
    except FilememError as error:
        text = "" if isinstance(error, NotFound) else str(error)
    limit = config.of(folder).profile_tokens
    kept = clip_tokens(text, limit)
    return (
        kept
        if kept == text
        else f"{kept}\n[cut at {limit:,} tokens; open {PROFILE} shows all of it]"
    )


def prompt_context(
    folder: Folder,
    message: str,
    today: dt.date,
    current: CurrentConversation | None = None,
    room: int = 0,
) -> str:
    """What belongs into the prompt of a chat that is not filemem's: preferences, the profile, and within `room` tokens what a
    search for a message finds, all but preferences as data between marks."""
    wishes, profile = core_memory(folder, today)
    found = (
        recall(folder, [message], today, current, room)
        if room and message.strip()
        else ""
    )
    return "\n\n".join(
        filter(
            None,
            (wishes, prompt.data(PROFILE, profile), prompt.data("search_files", found)),
        )
    )


def preferences(folder: Folder, today: dt.date) -> list[str]:
    """What stands, the newest first and within MOST_PREFERENCES tokens; then the person's own lines of the profile."""
    lessons = [
        one
        for one in index.of(folder).corpus().entries()
        if one.kind == "lessons" and not one.archived
    ]
    lessons.sort(key=lambda one: (one.date, one.path), reverse=True)
    told = [
        said
        for one in lessons
        if not question.lapse(one, today)
        for said in _lesson(folder, one.path)
    ]
    with contextlib.suppress(FilememError):
        for line in under(
            folder.memory(PROFILE).lines, "talk"
        ):  # those of the program stand in the lessons
            said = line.strip().lstrip("-*+").strip()
            if (
                said
                and len(said) <= LONGEST_PREFERENCE
                and not SOURCE_MARK.search(line)
            ):
                told.append(plain(said))
    spent, kept = 0, dict[str, None]()
    for one in told:
        spent += count_tokens(one)
        if spent > MOST_PREFERENCES:
            break
        kept[one] = None
    return list(kept)


def _lesson(folder: Folder, path: str) -> Iterator[str]:
    """The preferences in one lesson; none if it comes from someone else's words. What comes from an import the person has agreed
    to, else it would wait."""
    hidden = journal.pending_deletions(folder)
    with contextlib.suppress(FilememError):
        memory = folder.memory(path)
        if {"tool", "said_by"} & memory.front.keys():
            return
        for passage in memory.passages:
            own = passage.speaker.casefold() in ("", folder.name.casefold())
            if (
                own
                and len(passage.text) <= LONGEST_PREFERENCE
                and not hidden.hides(path, passage.line)
            ):
                yield plain(" ".join(passage.text.split()))


# -- one search of the memory for a message: its best passages stand beside it, or are the answer ----------------------

SURE, BESIDE_TOOLS, ALONE = (
    250,
    400,
    1200,
)  # tokens: of a strong match, of another, of any for a model without tools
LONGEST_QUERY = (
    2000  # characters of a message that are searched for: its beginning and its end
)
FEW = 1  # words to look for, up to which a message to a model is taken to go on with what was said before; for quotes none
BEFORE = 2  # of the person's turns that such a message goes on with
QUOTES, NEAR = 3, 2  # of an answer, and of one that is not sure
ALIKE = 0.6  # of the best score, from which on a passage answers about as well as the best one
BESIDE = 0.35  # of the best quote's score, and of what it holds of the question, from which on another stands beside it
LOOKED_AT = (
    20  # passages among which quotes are chosen, as questions and answers are left out
)
_ITEM = re.compile(r"^[-*+]\s+")
_WEEKDAYS = "一二三四五六日"


def recall(
    folder: Folder,
    said: Sequence[str],
    today: dt.date,
    current: CurrentConversation | None,
    room: int,
    least: float = ranking.PARTIAL,
    sure: int = 0,
) -> str:
    """The best passages for the last of a person's messages, whole ones within `room` tokens, of a strong match within `sure`,
    and how many of how many these are; of those weaker than `least` none, unless asked for by their days, none for a greeting,
    and of the profile what is not in every prompt."""
    query = searched(said)
    if terms.is_courtesy(query):
        return ""
    try:
        found = search_files(index.of(folder), query, today=today, current=current)
    except FilememError:  # nothing is kept yet, or nothing of it can be read
        return ""
    plans = (
        least <= ranking.PARTIAL and _asks(query) and found.strength.endswith(" alone")
    )
    if not plans and max((hit.strength for hit in found.hits), default=0.0) < least:
        return ""
    profile = _profile(folder) if any(hit.path == PROFILE for hit in found.hits) else ""
    hits = [
        hit
        for hit in found.hits
        if hit.path != PROFILE or SOURCE_MARK.sub("", hit.text).rstrip() not in profile
    ]
    room = sure if sure and found.certainty >= CERTAIN else room
    told, count = "", len(hits) + found.more
    while hits and (not told or count_tokens(told) > room):
        answer = answers.searched(found._replace(hits=hits), calls=False)
        told = f"shown {len(hits)} of {count}: {escape_controls(answer)}"
        hits.remove(min(reversed(hits), key=lambda hit: hit.score))
    return told


def searched(said: Sequence[str], few: int = FEW) -> str:
    """What to search for on the last of a person's messages; one with `few` words to look for, such as "and since when?", goes on
    with those before it."""
    text = said[-1]
    if len(question.parse(text).content) <= few:
        text = "\n".join(said[-1 - BEFORE :])
    half = LONGEST_QUERY // 2
    return text if len(text) <= LONGEST_QUERY else f"{text[:half]} {text[-half:]}"


def reply(
    folder: Folder,
    said: Sequence[str],
    today: dt.date,
    current: CurrentConversation | None,
    *,
    kept: bool,
) -> str:
    """What is said to the last of a person's messages, without a model; `kept` tells whether it is in a transcript."""
    message, asks = said[-1], _asks(said[-1])
    try:
        asked = searched(
            said if asks else said[-1:], few=0
        )  # thanks for an answer asks for no more of it
        found = search_files(
            index.of(folder), asked, limit=LOOKED_AT, today=today, current=current
        )
    except FilememError:  # nothing is kept yet, or nothing of it can be read
        found = Found([], 0, "", [], 0)
    of_its_days = asks and found.strength.endswith(
        " alone"
    )  # the days that it names, of which these are all
    sure = of_its_days or found.certainty >= (MAYBE if asks else CERTAIN)
    hits = telling = list(_telling(folder, found.hits))
    days = _days(message, today) if asks else set()
    if of_day := [
        hit for hit in telling if days & _days(hit.text, hit.date or today, hit.date)
    ]:
        hits, sure = of_day, True  # whatever their words
    elif telling and not of_its_days:
        # Beside the best none that is far behind it, only near its words, or holds but weak ones.
        least, held = BESIDE * telling[0].score, BESIDE * telling[0].strength
        near = [one for one in telling[1:] if one.score >= least]
        hits = telling[:1] + [
            one
            for one in near
            if "meaning" in one.parts or (one.held.itself and one.strength >= held)
        ]
    hits = hits[: QUOTES if sure else NEAR if asks else 0]
    parts = (
        [] if asks else [said_to(message, offline.SAID if kept else offline.UNRECORDED)]
    )
    if hits or asks:
        good = ALIKE * max((hit.score for hit in hits), default=0.0)

        def place(hit: Hit) -> tuple[bool, bool, int, bool]:
            """What is superseded is last; of those that answer about as well the newest is first, of a day a fact, which may
            have been edited."""
            day = hit.date.toordinal() if hit.date and hit.score >= good else 0
            return bool(hit.newer), hit.score < good, -day, kind_of(hit.path) != "facts"

        hits.sort(key=place)
        opening = said_to(
            message,
            offline.FOUND
            if hits and sure
            else offline.NEAREST
            if hits
            else offline.NOTHING,
        )
        parts.append("\n".join([opening, *(_quote(hit, message) for hit in hits)]))
    return "\n\n".join(parts)


def _asks(text: str) -> bool:
    return "?" in text or "？" in text


def _days(text: str, today: dt.date, own: dt.date | None = None) -> set[dt.date]:
    """Each single day that a text names, and its own."""
    spans = [span for one in dates.mentioned(text, today) for span in one.spans]
    return {span.start for span in spans if span.start == span.end} | (
        {own} if own else set()
    )


def _telling(folder: Folder, hits: Sequence[Hit]) -> Iterator[Hit]:
    """The hits that tell something, best first; of those that tell the same only one. No question, answer, heading or front
    matter."""
    lines = (
        folder.memory(PROFILE).lines if any(hit.path == PROFILE for hit in hits) else []
    )
    told: set[str] = set()
    for hit in sorted(hits, key=lambda hit: hit.score, reverse=True):
        text = SOURCE_MARK.sub("", hit.text).strip()
        places = {text, f"{hit.path}:{hit.line}", *hit.sources}
        heading = hit.path == PROFILE and lines[hit.line - 1].startswith("#")
        front = kind_of(hit.path) == "sessions" and not hit.speaker
        asks = text.endswith(("?", "？")) or _FORGET_WHAT.match(terms.simplified(text))
        asked = (
            asks or hit.is_aside or hit.speaker == ASSISTANT or "pasted" in hit.parts
        )
        if not (heading or front or asked or told & places):
            told |= places
            yield hit


def _quote(hit: Hit, message: str) -> str:
    """A passage as a list item under a blank line: who said it and what, then its day, as told to a message, and `path:line`."""
    lines = (
        SOURCE_MARK.sub("", line).rstrip()
        for line in _ITEM.sub("", hit.excerpt).split("\n")
    )
    first, *rest = [
        answers.line_text(line, hit.date, hit.path, hit.line) for line in lines
    ]
    who = f"{hit.speaker or hit.title}: " if hit.speaker or hit.title else ""
    of_month = hit.when and hit.when.month and hit.date == hit.when.date
    when = hit.when if of_month or not hit.date else FileDate(hit.date, False, "")
    where = ", ".join(
        filter(None, (day_of(when, message) if when else "", f"{hit.path}:{hit.line}"))
    )
    note = f"  ({hit.note})" if hit.note else ""
    return "\n".join(
        ["", f"- {who}{first}", *(f"  {line}" for line in rest), f"  {where}{note}"]
    )


def day_of(when: FileDate, message: str) -> str:
    """A file's day, or its month where that is all it has, as whoever wrote the message writes it."""
    day = when.date
    month = f"{day:%B %Y}", f"{day.year}年{day.month}月"
    whole = answers.spelt(day), f"{month[1]}{day.day}日 週{_WEEKDAYS[day.weekday()]}"
    return said_to(message, month if when.month else whole)


# -- tool calls that a model writes into its answer: none reaches the screen, and those that can be read are made ------

WAITS = (
    400  # characters behind what may begin a call, in which it must show that it is one
)
LONGEST_CALL = 20_000  # characters of a call that are read, and of arguments that the model is shown again
_KEYS = {
    tool["function"]["name"]: tool["function"]["parameters"]["properties"]
    for tool in Toolbox.schemas
}
_TOOL = rf"(?<![\w/-])(?:\w+\.)*({'|'.join(_KEYS)})\b"
_KEY = rf"(?:arguments|parameters|{'|'.join(dict.fromkeys(key for keys in _KEYS.values() for key in keys))})"
_OPENS = re.compile(  # no run in it is without a bound, as what waits is looked at again with each piece
    rf"(?<=\n)[ \t]{{0,40}}(?:`{{3}}|~{{3}})|`{{0,40}}\[?\s{{0,40}}\{{|<(?:tool_call|function|invoke|[|｜]\w|/?{_TOOL})"
    rf"|\[TOOL_CALL|(?<=\n)[^\w\n]{{0,40}}(?:{_TOOL}|(?:Action|Tool|Function)\b)"
)
_MAY_OPEN = re.compile(
    r"(?:<[^<>\s]{0,30}|[`~]{1,40}|\[[\sA-Z_]{0,40}|(?<=\n)[^\w\n]{0,40}(?:[a-zAFT][a-z_.]{0,20})?)\Z"
)
_PYTHON = re.compile(rf"{_TOOL}\((?=\s{{0,40}}\w{{1,20}}\s{{0,40}}=)([^()]*)\)")
_KEYWORD = re.compile(
    r"""(\w{1,20})\s{0,40}=\s{0,40}(?:"([^"]*)"|'([^']*)'|(\d{1,9}))"""
)
_CALL = re.compile(  # a tool and the first of its arguments, any name with arguments in JSON, or a tag of calls alone
    rf"""{_TOOL}.{{0,80}}?(?:[{{(<]\s*\W{{0,2}}|,\s*["']){_KEY}(?:\W{{0,2}}\s*[:=]|>)"""
    r"""|["']name["']\s*:\s*["'][\w.]+["']\s*,\s*["'](?:arguments|parameters)["']\s*:"""
    r"""|<(?:tool_call|function=|invoke\b|[|｜]\w)|\[TOOL_CALL""",
    re.DOTALL,
)


class CallFilter:
    """Passes on the text of one reply as it streams, up to the first call that is written in it, if one is `found`.

    What a model writes behind its own call is what it thinks the tool will say. What may begin one (a fence, a brace, a tag,
    a line that begins with a tool's name or with a label such as `Action:`) waits for what follows it.
    """

    def __init__(self, show: Callable[[str], object] = lambda text: None) -> None:
        self._show = show
        self._shown: list[str] = []
        self._waiting = "\n"  # behind its first character, which was passed on
        self.found = False

    @property
    def text(self) -> str:
        """All that was passed on."""
        return "".join(self._shown)

    @property
    def calls(self) -> list[tuple[str, str]]:
        """The calls that can be read, each the tool's name and its arguments as JSON."""
        read = (
            _calls(_PYTHON.sub(_as_json, self._waiting[:LONGEST_CALL]))
            if self.found
            else ()
        )
        return [(name, json.dumps(given, ensure_ascii=False)) for name, given in read]

    def feed(self, text: str, *, end: bool = False) -> None:
        """Take the next piece; at the `end` nothing waits but a call."""
        self._waiting += text
        begins = self._begins(end=end)
        passed, self._waiting = self._waiting[1:begins], self._waiting[begins - 1 :]
        if passed:
            self._shown.append(passed)
            self._show(passed)

    def _begins(self, *, end: bool) -> int:
        """Where a call begins in what waits, or may begin."""
        at = 1
        while opens := _OPENS.search(self._waiting, at):
            at, told = opens.end(), opens.end() + WAITS
            self.found = (
                _CALL.search("\n" + self._waiting[opens.start() : told]) is not None
            )
            if self.found or not (end or len(self._waiting) > told):
                return opens.start()
        waits = None if end else _MAY_OPEN.search(self._waiting, at)
        return waits.start() if waits else len(self._waiting)


def _calls(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The calls in a text: JSON that names a tool or stands behind its name."""
    decoder, names, at = (
        json.JSONDecoder(strict=False),
        list(re.finditer(_TOOL, text)),
        0,
    )
    while (at := text.find("{", at)) >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
            yield from _in(
                value,
                next((name[1] for name in reversed(names) if name.start() < at), ""),
            )
            at = end
        except (ValueError, RecursionError):
            at += 1


def _as_json(call: re.Match[str]) -> str:
    """A call that is written as in Python, as JSON behind the tool's name."""
    given = _KEYWORD.findall(call[2])
    return f"{call[1]} {json.dumps({key: int(number) if number else one or two for key, one, two, number in given})}"


def _in(value: Any, tool: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The calls in a JSON value, at any depth, JSON in its texts too; `tool` is the one that was named last."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        yield from _calls(f"{tool} {value}")
    elif isinstance(value, list):
        value = dict(enumerate(value))
    if isinstance(value, dict):
        named = (
            one.rpartition(".")[2] for one in value.values() if isinstance(one, str)
        )
        tool = next((one for one in named if one in _KEYS), tool)
        if given := {
            key: one for key, one in value.items() if key in _KEYS.get(tool, ())
        }:
            yield tool, given
        else:
            for one in value.values():
                yield from _in(one, tool)
