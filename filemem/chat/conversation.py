"""One conversation: what the person says is on disk first, then the model answers with the four tools at hand."""

import datetime as dt
import json
import re
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from filemem.chat import recalling, requests
from filemem.chat.core_memory import CoreMemory, block_sections, core_memory, preferences_section
from filemem.chat.written_calls import CallFilter, mapping
from filemem.errors import FilememError
from filemem.files import config, journal
from filemem.files.folder import CurrentConversation, Folder
from filemem.files.passages import Passage
from filemem.files.transcript import ASSISTANT, INTERRUPTED, NO_ANSWER, OffTheRecord, Transcript
from filemem.grep import reading
from filemem.models import (
    Model,
    ModelError,
    OpenAIModel,
    PromptTooLong,
    Reply,
    ToolCall,
    ToolsRefused,
    offline,
    prompt,
)
from filemem.models.offline import OfflineModel
from filemem.text import tokens
from filemem.text.plain import one_line
from filemem.text.redaction import kinds, redact
from filemem.tools.answers import spelt
from filemem.tools.toolbox import Toolbox

LEAST_SHARE = 0.1  # below which a prompt is not shortened any further
MOST_CALLS = 32  # written in one reply that are made
LONGEST_ARGUMENTS = 20_000  # characters of a call that the model is shown again
LONGEST_KEPT = 200  # characters of a fact that are said again
UNSEEN = " [?]"  # behind a citation of what the model was not shown
UNREAD = "<program>\nThe call in that answer cannot be made: {}. Answer in plain words.\n</program>"
NO_MORE = "<program>\nNo more calls can be made. Answer now, with what has been found.\n</program>"
_KIND = r"(?:archive/)?(?:facts|sessions|lessons|summaries|blocks)/"
CITED = re.compile(  # words of a language without spaces may stand right before the path of a kind
    rf"(?:{_KIND}[\w./\-]+?|(?<![\w./\-])(?![\w./\-]*?{_KIND})\w[\w./\-]*)\.(?:md|ya?ml|txt):\d+"
)
_SHOWN_AS = re.compile(  # how what a model is shown begins its lines: a file's heading, a line's number, a further line of it
    r'(?P<path>[^\s<"]\S*\.(?:md|ya?ml|txt))(?=  |$)|<memory path="(?P<whole>[^"]*)">| {0,3}(?P<line>\d+)(?:- |  )|(?P<more> {6})'
)
_PROGRAM = re.compile(r"<(?=\s*/?\s*program\s*>)", re.IGNORECASE)
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


class Prompt(NamedTuple):
    """What a model sees: `system` and the turns change little from one request to the next, so that endpoints can cache them;
    `beside` stands with the last message. A part is its name and its text."""

    system: list[tuple[str, str]]
    turns: list[Passage]
    beside: list[tuple[str, str]]

    def messages(self) -> list[prompt.Message]:
        """The request: one system message, then the turns; turns of one role in a row become one message."""
        out: list[prompt.Message] = [{"role": "system", "content": "\n\n".join(text for _, text in self.system)}]
        for place, turn in enumerate(self.turns, 1):
            role = "assistant" if turn.speaker == ASSISTANT else "user"
            beside = [text for _, text in self.beside] if place == len(self.turns) and role == "user" else []
            text = "\n\n".join([*beside, _PROGRAM.sub("&lt;", turn.text)])
            if out[-1]["role"] == role:
                out[-1]["content"] += f"\n\n{text}"
            else:
                out.append({"role": role, "content": text})
        return out


class Stopped(Exception):
    """A listener wants no more of an answer."""


Event = Text | Thought | ToolCalled | Notice
Listener = Callable[[Event], None]


class Conversation:
    """One user's talk with one model; `now` gives the person's local time, with its zone."""

    def __init__(
        self,
        user: Folder,
        model: Model,
        now: Callable[[], dt.datetime],
        transcript: Transcript | None = None,
        does: requests.Does | None = None,
    ) -> None:
        self.user = user
        self.model = model
        self.now = now
        self.transcript = transcript or Transcript(user)
        self.does = does  # what the program does itself where a message asks it to; without, that is the model's
        self.tools = Toolbox(user, now)
        self.written: list[str] = []  # memories that the program wrote on request
        self.log: Callable[[dict[str, Any]], None] | None = None  # gets every request with its reply
        self._paused: Transcript | None = None  # the transcript, while a message is answered that is not to be kept
        self._done: list[str] = []  # what the program did about the last message
        self._taken_back = ""  # the turn that asked for it, while a message is answered that takes something back
        self._summary = ""
        self._summarised = 0  # turns that the running summary covers
        self._start = 0  # index of the first turn in the prompt
        self._toolless: Model | None = None  # the model that was found to use no tools
        self._recalled: dict[bool, str] = {}  # what a search found; True: for a model without tools
        self._stands: CoreMemory | None = None  # what stands in the prompt while a message is answered
        self._told = set[tuple[str, str]]()  # what calls for the last message opened, as they showed it
        self._shown = set[str]()  # the lines that the last request showed, as `path:line`; of a whole file its path
        self._wrote_call = False  # was a call written into the last reply's text?
        self._last = False  # is this the request after which no call can be made?
        self._share = 1.0  # of the window and of the tools' answers; smaller where the model's context holds no more

    def say(self, text: str, listen: Listener = lambda event: None) -> str:
        """Keep what the person said, answer it, keep the answer; returns the answer. `listen` gets it piece by piece.

        Raises ModelError, or KeyboardInterrupt, or what `listen` raises to stop it, with the turn and whatever had been
        answered by then on disk.
        """
        self.record_turn(text, listen)
        return self.answer(listen)

    def record_turn(self, text: str, listen: Listener = lambda event: None) -> None:
        """Keep what the person said: unless it begins by asking that it be not, or was said before and not answered."""
        if self.kept and requests.unrecorded(text):
            self._paused = self.transcript
            self.go_off_the_record()
        failed = [turn.text for turn in self.transcript.turns()[-1:]] == [NO_ANSWER]
        if not (failed and self._turns()[-1].text == text):
            self.keep(self.user.name, text, listen)

    def answer(self, listen: Listener = lambda event: None) -> str:
        """Answer what was said last, keep the answer and return it; raises as `say` does."""
        said: list[str] = []

        def tell(event: Event) -> None:
            if isinstance(event, Text):
                said.append(event.text)
            listen(event)

        self._recalled.clear()
        self._told.clear()
        self._taken_back = ""
        self._done, quotes = self._do(self._turns()), self.model.name == OfflineModel.name
        try:
            answer = self._quoted(tell) if quotes else self._answer(tell)
            line = self.keep(ASSISTANT, answer)
            if self._taken_back:  # which the answer may tell of
                journal.hold_back(self.user, self._taken_back, [f"{self.transcript.path}:{line}"], self.now())
            for told in [] if quotes else self._done:
                listen(Notice(told))
            return answer
        except (ModelError, Stopped, KeyboardInterrupt, SystemExit) as error:
            partial = "".join(said).rstrip()  # a session never holds a question alone
            failed = isinstance(error, ModelError) and not partial
            self.keep(ASSISTANT, NO_ANSWER if failed else f"{partial} {INTERRUPTED}".strip())
            for told in self._done:
                listen(Notice(told))
            raise
        finally:
            self._stands = None
            self._told.clear()
            if self._paused is not None:
                self.transcript, self._paused, self.tools.noting = self._paused, None, True

    def keep(self, speaker: str, text: str, listen: Listener = lambda event: None) -> int:
        """Write one turn to disk, secrets taken out unless the store is set otherwise; returns its line."""
        settings = config.of(self.user)
        if settings.redact:
            text, found = redact(text, settings.own)
            if found:
                listen(Notice(f"Taken out{' of what is kept' if self.kept else ''}: {kinds(found)}."))
        line = self.transcript.add(speaker, text, self.now())
        if self.transcript.lost:
            path, count, self.transcript.lost = self.transcript.path, len(self.transcript.lost), []
            what = "A turn that was kept is" if count == 1 else f"{count:,} turns that were kept are"
            how = f"put back with: filemem restore {path}"
            listen(Notice(f"{what} not in {path} any more, saved over by an editor perhaps; {how}"))
        return line

    @property
    def kept(self) -> bool:
        """Is what is said now kept?"""
        return not isinstance(self.transcript, OffTheRecord)

    def go_off_the_record(self) -> None:
        """From now on keep nothing: no turn, no recall."""
        self.transcript = OffTheRecord(self.user, self.transcript.turns())
        self.tools.noting = False

    # -- what the program does itself ----------------------------------------------------------------------------------

    def _do(self, turns: list[Passage]) -> list[str]:
        """Do what the last message asks of the program, to remember it or to take back what came before; sentences on it."""
        said, chinese = turns[-1].text, offline.in_chinese(turns[-1].text)
        if self.does and (words := requests.to_remember(said)):
            return [self._remember(self.does, words, turns[-1].line, chinese=chinese)]
        if self.does and requests.to_forget(said):
            places = self.does.take_back(self.user, self.transcript.path, turns, self.now()) if self.kept else []
            if not places:
                return [offline.NOTHING_SAID[chinese]]
            self._taken_back = f"{self.transcript.path}:{turns[-1].line}"
            told = [f"- {place}" for place in places]
            said_here = [place for place in places if place.startswith(self.transcript.path)] or places[:1]
            how = [offline.DELETE[chinese].format(place) for place in said_here]
            return ["\n".join([offline.TAKEN_BACK[chinese], *told, *how])]
        return [offline.UNRECORDED[chinese]] if self._paused and self.model.name != OfflineModel.name else []

    def _remember(self, does: requests.Does, words: str, line: int, *, chinese: bool) -> str:
        """Keep one fact in the person's words, unless nothing of this is kept; a sentence on it."""
        if not self.kept:
            return offline.UNRECORDED[chinese]
        try:
            path, written, notes = does.remember(self.user, words, self.now(), f"{self.transcript.path}:{line}")
        except FilememError as error:
            return offline.NOT_KEPT[chinese].format(error)
        self.written += written
        return "\n".join([offline.KEPT[chinese].format(one_line(words, LONGEST_KEPT), path), *notes])

    def _quoted(self, listen: Listener) -> str:
        """The answer without a model: what the program did, or else the best quotes."""
        turns, path = self._turns(), self.transcript.path
        said = [turn.text for turn in turns if turn.speaker != ASSISTANT]
        current = CurrentConversation(path, turns[-1].line) if path else None
        answer = "\n".join(self._done) or recalling.reply(self.user, said, self.now().date(), current, kept=self.kept)
        listen(Text(answer))
        return answer

    # -- the prompt ----------------------------------------------------------------------------------------------------

    def view(self, message: str = "") -> Prompt:
        """What the model would see now, or if the person said `message`."""
        turns = self._shown_turns()
        turns += [Passage(0, 0, self.user.name, "", message)] if message else []
        start = self._window(turns)
        if self.transcript.path and turns[start:] and turns[start].line:
            self.tools.current = CurrentConversation(self.transcript.path, turns[start].line)
        stands = self._stands or core_memory(self.user, self.now().date())
        name, how = prompt.contained(self.user.name), prompt.template("tools" if self.offered else "passages").strip()
        summary = self._summarise(turns[:start])
        said = "".join(f"{prompt.MARK.sub('&lt;', one)}\n" for one in self._done)
        system = [
            ("rules", prompt.template("chat").strip().replace("{name}", name).replace("{reading}", how)),
            ("preferences", preferences_section(self.user.name, stands.preferences)),
            *block_sections(stands.blocks, round(config.of(self.user).block_tokens * self._share)),
            ("earlier in this conversation", prompt.data("summary", summary) if summary else ""),
        ]
        pages = [page for page in self.tools.pages() if page not in self._told]  # what changed since is shown anew
        beside = [
            ("open files", "\n".join(prompt.data(path, text) for path, text in pages)),
            ("recalled", self._recall(turns)),
            ("program", f"<program>\n{said}Now it is {spelt(self.now().date())} {self.now():%H:%M}.\n</program>"),
        ]
        return Prompt([part for part in system if part[1]], turns[start:], [part for part in beside if part[1]])

    def _recall(self, turns: list[Passage]) -> str:
        """The best passages for the last message, which the model need not ask for; more of them where it has no tools."""
        alone = not self.offered
        said = [turn for turn in turns if turn.speaker != ASSISTANT]
        if self.model.name == OfflineModel.name or not said or not (alone or config.of(self.user).recall == "both"):
            return ""
        if requests.to_remember(said[-1].text) or requests.to_forget(said[-1].text):
            return ""  # which asks for nothing that was
        if alone not in self._recalled:
            texts, today = [turn.text for turn in said], self.now().date()
            room, sure = (recalling.ALONE, 0) if alone else (recalling.BESIDE_TOOLS, recalling.SURE)
            self._recalled[alone] = recalling.recall(
                self.user, texts, today, self.tools.current, room, weak=alone, sure=sure
            )
        found = self._recalled[alone]
        return prompt.data("search_files", found) if found else ""

    @property
    def offered(self) -> list[dict[str, Any]]:
        """The tools that the model is offered: all four, or none where it is to use none or known to."""
        settings = config.of(self.user)
        wanted = settings.tools and settings.recall != "before"
        return self.tools.schemas if wanted and self._toolless is not self.model else []

    def _turns(self) -> list[Passage]:
        """The turns so far, without the marks of answers that never came."""
        return [turn for turn in self.transcript.turns() if turn.text != NO_ANSWER or turn.speaker != ASSISTANT]

    def _shown_turns(self) -> list[Passage]:
        """The turns so far without those that are kept back; the last one is there, as it is answered."""
        turns, hidden = self._turns(), journal.pending_deletions(self.user)
        return [turn for turn in turns if turn is turns[-1] or not hidden.hides(self.transcript.path, turn.line)]

    def _window(self, turns: list[Passage]) -> int:
        """The index of the first turn in the prompt. It moves by a third of the window at a time, since each move has the
        model write a summary and endpoints cache a prompt that begins as the last one did."""
        budget = round(config.of(self.user).window_tokens * self._share)
        if not self._summarised and self.kept and self.transcript.path:  # of a conversation that is gone on with
            self._summary, self._summarised = journal.running_summary(self.user, self.transcript.path, turns[:-1])
            self._start = max(self._start, self._summarised)
        if self._start >= len(turns) or sum(tokens.count(turn.text) for turn in turns[self._start :]) > budget:
            self._start = _tail(turns, budget * 2 // 3)
        return self._start

    def _summarise(self, gone: list[Passage]) -> str:
        """The running summary, brought up to the turns that have left the window."""
        new = gone[self._summarised :]
        if new:
            budget = config.of(self.user).summary_tokens
            long_ago = _tail(new, 2 * config.of(self.user).window_tokens)  # more than one request should hold
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
        if self.model.name == OfflineModel.name:
            return ""
        rules = prompt.template("summarise").replace("{words}", str(budget // 2))
        turns = "\n".join(f"{turn.speaker}: {turn.text}" for turn in new)
        told = f"{prompt.data('summary so far', self._summary)}\n{prompt.data('turns', turns)}"
        ask = [{"role": "system", "content": rules}, {"role": "user", "content": told}]
        try:
            reply = self._request(ask, [], lambda text: None)
        except ModelError:
            return ""
        return tokens.clip(reply.text.strip(), budget)

    # -- the tool loop -------------------------------------------------------------------------------------------------

    def _answer(self, listen: Listener) -> str:
        """Ask the model until it stops calling tools, at most `steps` times; the open files are re-read every time."""
        worked: list[prompt.Message] = []
        spoken: list[str] = []
        asked_again = False
        self._stands = core_memory(self.user, self.now().date())
        for _ in range(config.of(self.user).steps):
            reply = self._fitting(worked, listen, with_tools=True)
            if reply.text.strip():
                spoken.append(reply.text.strip())
            if not reply.calls and (not self._wrote_call or asked_again):
                break
            if reply.text:
                listen(Text("\n\n"))
            worked.append(_assistant(reply))
            worked += [self._run(call, listen) for call in reply.calls]
            if not reply.calls:
                asked_again = True
                why = "it could not be read" if self.offered else "there are no tools"
                worked.append({"role": "user", "content": UNREAD.format(why)})
        else:
            last = self._last_word(worked, listen)
            if not last:  # what was said before the calls answers nothing
                return "\n\n".join([*map(self._marked, spoken), self._quoted(listen)])
            spoken.append(last)
        answer = "\n\n".join(filter(None, spoken))
        if not answer:
            if not (worked or self._wrote_call):
                raise ModelError(f"{self.model.name} answered nothing; ask again, or try another model.")
            return self._quoted(listen)
        return self._marked(answer)

    def _last_word(self, worked: list[prompt.Message], listen: Listener) -> str:
        """What the model says when its steps are used up; empty where it does not answer even then."""
        said = (
            worked.pop()["content"] + "\n\n" if worked[-1]["role"] == "user" else ""
        )  # no two turns of one role in a row
        worked.append({"role": "user", "content": f"{said}{NO_MORE}"})
        try:
            reply = self._fitting(worked, listen, with_tools=False)
        except ModelError as error:
            listen(Notice(str(error)))
            return ""
        return reply.text.strip()

    def _fitting(self, worked: list[prompt.Message], listen: Listener, *, with_tools: bool) -> Reply:
        """Ask for one reply; where the prompt exceeds the model's context, ask again with a shorter one. Not `with_tools` they
        are still named, as the turns have calls of them, and no call is allowed."""
        self._last = not with_tools
        while True:
            messages = self.view().messages() + worked
            self._shown = shown_lines(str(message.get("content") or "") for message in messages)
            try:
                return self._ask(messages, listen, self.offered)
            except ToolsRefused:
                self._toolless = self.model  # from now on
                how = "gets the best passages of the memory with each message"
                listen(Notice(f"{self.model.name} takes no tools, so it {how}."))
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
        """One reply, whose text streams without the calls that are written in it."""
        screen = CallFilter(lambda text: listen(Text(text)))
        barred = self.model if self._last and tools and isinstance(self.model, OpenAIModel) else None
        options = barred.options if barred else {}
        try:
            if barred:  # the tools are named, as the turns have calls of them
                barred.options = {**options, "tool_choice": "none"}
            reply = self._request(messages, tools if barred or not self._last else [], screen.feed)
        except ModelError:
            screen.end()  # shows what waited to be told from a call
            raise
        finally:
            if barred:
                barred.options = options
        text, self._wrote_call = screen.end(), screen.found
        written = [ToolCall(f"written_{len(messages)}_{n}", *call) for n, call in enumerate(screen.calls[:MOST_CALLS])]
        calls = reply.calls or tuple(written if tools else ())
        return reply._replace(text=text, calls=() if self._last else calls)

    def _request(
        self, messages: list[prompt.Message], tools: list[dict[str, Any]], on_text: Callable[[str], None]
    ) -> Reply:
        """Ask the model, and log the request with what came of it."""
        start, step = time.perf_counter(), {"model": self.model.name, "messages": messages, "tools": tools}
        try:
            reply = self.model.ask(messages, tools, on_text)
            step |= {"text": reply.text, "calls": [call._asdict() for call in reply.calls], **reply.usage._asdict()}
            return reply
        except ModelError as error:
            step["error"] = str(error)
            raise
        finally:
            if self.log:
                spent = round(1000 * (time.perf_counter() - start))
                self.log({"at": f"{self.now():%Y-%m-%dT%H:%M:%S}", **step, "milliseconds": spent})

    def _run(self, call: ToolCall, listen: Listener) -> prompt.Message:
        """Make one call; its answer as a message."""
        start = time.perf_counter()
        answer = self.tools.call(call.name, call.arguments)
        spent = round(1000 * (time.perf_counter() - start))
        if call.name == "open" and not answer.startswith("Error: "):
            self._told.add(self.tools.pages()[-1])
        listen(ToolCalled(call.name, call.arguments, one_line(answer.split("\n", 1)[0], 160), spent))
        return {"role": "tool", "tool_call_id": call.id, "content": answer}

    # -- citations -----------------------------------------------------------------------------------------------------

    def _marked(self, answer: str) -> str:
        """The answer with a mark behind each citation of what the model was not shown; the others count as recalled."""
        seen = {place: self.was_shown(place) for place in cited(answer)}
        for path in dict.fromkeys(place.rpartition(":")[0] for place, shown in seen.items() if shown and self.kept):
            try:
                journal.note_recall(self.user, self.user.locate(path), journal.CITED, self.now())
            except FilememError:
                continue
        return CITED.sub(lambda match: match[0] + ("" if seen[match[0]] else UNSEEN), answer)

    def was_shown(self, place: str) -> bool:
        """Did the model see this line, `path:line`, before it answered, and is it there?"""
        path, _, line = place.rpartition(":")
        return self.exists(place) and (place in self._shown or path in self._shown) and int(line) > 0

    def exists(self, place: str) -> bool:
        """Is there such a line, `path:line`?"""
        path, _, line = place.rpartition(":")
        try:
            return int(line) <= reading.count(self.user, self.user.locate(path))
        except FilememError:
            return False


def _tail(turns: list[Passage], budget: int) -> int:
    """The index of the first turn that still stands in the prompt: the longest tail within `budget` tokens.

    The last turn always stands, and the tail opens with what a person said.
    """
    spent, start = 0, len(turns)
    while start and (spent + tokens.count(turns[start - 1].text) <= budget or start == len(turns)):
        start -= 1
        spent += tokens.count(turns[start].text)
    while start < len(turns) - 1 and turns[start].speaker == ASSISTANT:
        start += 1
    return start


def shown_lines(texts: Iterable[str]) -> set[str]:
    """The lines that some texts for a model show, as `path:line`, and the paths of files that stand there whole."""
    found = set[str]()
    for text in texts:
        found.update(match[0] for match in CITED.finditer(text) if not text.startswith(UNSEEN, match.end()))
        path, number = "", 0
        for line in text.split("\n"):
            shown = _SHOWN_AS.match(line)
            if not shown:
                continue
            if shown["line"] or shown["more"]:
                number = int(shown["line"] or number + 1)
                found.add(f"{path}:{number}")
            else:
                path, number = shown["path"] or "", 0
                found.add(shown["whole"] or path)
    return found - {"", *(one for one in found if one.startswith(":"))}


def cited(answer: str) -> list[str]:
    """The memories that an answer names, as `path:line`."""
    return list(dict.fromkeys(match[0] for match in CITED.finditer(answer)))


def plain_summary(before: str, new: list[Passage], budget: int) -> str:
    """The summary `before` and the first sentence of each `new` turn; beyond `budget` tokens the oldest lines are dropped."""
    lines = before.split("\n") if before else []
    for turn in new:
        sentence = _SENTENCE.match(turn.text.strip())
        lines.append(f"{turn.speaker}: {one_line(sentence[0] if sentence else turn.text)}")
    while len(lines) > 1 and tokens.count("\n".join(lines)) > budget:
        del lines[0]
    return tokens.clip("\n".join(lines), budget)


def call_line(event: ToolCalled) -> str:
    """A tool call as the chat shows it: `grep "oolong" -> 3 lines in 2 files`."""
    given = mapping(event.arguments or "{}")
    if not given:
        return f"{event.name} {one_line(event.arguments, 60)} -> {event.brief}"
    first, *others = given.items()
    shown = [json.dumps(first[1], ensure_ascii=False)]
    shown += [f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in others]
    return one_line(" ".join([event.name, *shown]), 100) + f" -> {event.brief}"


def _assistant(reply: Reply) -> prompt.Message:
    """A reply that called tools, as the API wants it back."""
    if not reply.calls:
        return {"role": "assistant", "content": reply.text or "…"}
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
    return "{}" if len(arguments) > LONGEST_ARGUMENTS or mapping(arguments) is None else arguments
