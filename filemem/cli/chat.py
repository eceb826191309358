"""The command that talks: chat, in the terminal or as JSON events."""

import contextlib
import datetime as dt
import json
import os
import re
import select
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import click

from filemem import index
from filemem.chat import core_memory
from filemem.chat.conversation import CITED, UNSEEN, Conversation, Event, Notice, Text, Thought, ToolCalled, call_line
from filemem.chat.recalling import day_of
from filemem.cli import screen
from filemem.cli.context import Context, json_option_that, model_option, new_option, pass_call, split_line, usage
from filemem.cli.screen import Row, Safe, Wrapper, colours, dim, say, say_dim
from filemem.errors import Busy, FilememError, NotFound, in_words
from filemem.files import config, transcript, trust
from filemem.files.folder import Folder
from filemem.files.memory import is_archived, when_of
from filemem.files.transcript import Transcript
from filemem.jobs.running import ASKED, consolidated, job, lines
from filemem.models import Model, OpenAIModel
from filemem.models.offline import NOT_TRUSTED, NOTICE, OfflineModel, chosen_model, in_chinese
from filemem.remembering import sessions
from filemem.search import semantic
from filemem.text import tokens
from filemem.text.plain import counted, escape_controls, first_few, one_line

with contextlib.suppress(ImportError):  # a Python built without it reads plain lines
    import readline  # noqa: F401  lines are edited and called back, and what is pasted stays whole

HELP = """\
/search WORDS   the best passages for some words or a question
/open PATH      read a memory; also PATH:LINE
/remember TEXT  keep one fact
/forget WORDS   delete what holds them and what tells of it, after a question; also a path
/edit PATH      change a memory in your editor
/sessions       the latest conversations; filemem chat --resume NAME goes on with one
/memory         what is in the prompt, with token counts
/model [NAME]   which model answers, or have another one answer; offline quotes only
/off            keep nothing of what is said from here on
/quit           end; so does Ctrl-D

Ctrl-C stops an answer."""
EXAMPLES = {  # of the commands that a chat has under their own names
    "/search": "What tea do I like?",
    "/open": "profile.md",
    "/remember": "Prefers oolong tea.",
    "/forget": "the words, or a path:line",
    "/edit": "profile.md",
}
EVENTS = {Text: "text", Thought: "thought", ToolCalled: "call", Notice: "notice"}  # as a script has them
WORKING = ("looking …", "在查 …")
UNSHOWN = ("(the model was not shown this)", "（模型没有看到这一行）")
NOT_THERE = ("(there is no such line)", "（没有这一行）")
MARK = "\001\x1b[1m\002> \001\x1b[0m\002"  # as readline wants what takes no room
LAST_TURNS, LAST_WORDS = 4, 300  # that a resumed session shows; characters of each
LONGEST_CITED = 300  # characters
WORTH_READING = 2_000  # tokens that wait, from which on a chat has them read; what is less waits for maintain
_OF_FILES = re.compile(r"([\d,]+) files?\b")
_QUOTED = re.compile(f"`?({CITED.pattern})`?")
_MAY_CITE = re.compile(r"`?(?:(?:facts|sessions|lessons|summaries)/[\w./\-:]*|[A-Za-z0-9_][A-Za-z0-9_./\-:]*)?`?$")


class Sources:
    """Puts numbers for the citations in an answer as it streams, and has the list of them; where it is not `numbered`, they stay,
    and those of what the model was not shown are marked."""

    def __init__(self, known: Callable[[str], bool], *, numbered: bool) -> None:
        self._known = known
        self._numbered = numbered
        self._waiting = ""
        self.numbers: dict[str, int] = {}  # by place, of the answer that streams

    def feed(self, text: str, *, end: bool = False) -> str:
        """What of the text may be shown now; what may be the beginning of a citation waits, but not for more at its `end`."""
        text = self._waiting + text
        waits = None if end else _MAY_CITE.search(text)
        cut = waits.start() if waits and len(text) - waits.start() < LONGEST_CITED else len(text)
        text, self._waiting = text[:cut], text[cut:]
        return _QUOTED.sub(self._number, text)

    def _number(self, cited: re.Match[str]) -> str:
        known = self._known(cited[1])
        if not self._numbered:
            return cited[0] + ("" if known else UNSEEN)
        return f"[{self.numbers.setdefault(cited[1], len(self.numbers) + 1)}{'' if known else '?'}]"


class Chat:
    """One conversation shown in the terminal, or as JSON events."""

    def __init__(self, call: Context, talk: Conversation, *, verbose: bool) -> None:
        self._call = call
        self._talk = talk
        self._verbose = verbose
        self._ended = False  # was Ctrl-D typed behind a pasted text?
        self._chinese = False  # is the answer to a message in Chinese?
        self._at_work = ""  # what a terminal says until the answer begins
        self._calls: list[ToolCalled] = []  # not told of yet
        self._behind: list[str] = []  # what was read in the background, and not told of yet
        self._streams: type[Event] | None = None  # is the cursor behind a piece of the answer, or of a thought?
        self._held = ""  # line ends that came last; they are shown once more text follows
        self._wrapper = Wrapper(sys.stdout)
        self._sources = Sources(talk.was_shown, numbered=sys.stdout.isatty())
        self._listen()

    def _listen(self) -> None:
        if isinstance(self._talk.model, OpenAIModel):
            self._talk.model.on_notice = lambda text: self._hear(Notice(text))
            self._talk.model.on_thought = lambda text: self._hear(Thought(text))

    # -- running -------------------------------------------------------------------------------------------------

    def once(self, message: str) -> int:
        """Answer one message; exit code 2 where there was no whole answer."""
        message = message.strip()
        if not message:
            raise FilememError("the message is empty; say something, as in: filemem chat -m 'What tea do I like?'")
        self._say_if_offline(again=not transcript.newest(self._talk.user))
        return self._take(message)

    def run(self) -> int:
        """Read and answer until Ctrl-D or /quit."""
        talk = self._talk
        place = os.path.relpath(talk.user.root)
        self._aside(
            f"{talk.user.name}, {talk.model.name}. Memories are in {talk.user.root if place[:2] == '..' else place}."
        )
        self._say_if_offline()
        turns = talk.transcript.turns()
        if turns:
            self._aside(f"Going on with {talk.transcript.path}, {counted(len(turns), 'turn')}.")
        for turn in turns[-LAST_TURNS:]:
            self._aside(f"{turn.speaker}: {one_line(turn.text, LAST_WORDS)}")
        self._aside("/help lists the commands, Ctrl-D ends.")
        if (
            isinstance(talk.model, OpenAIModel)
            and config.of(talk.user).consolidate
            and sessions.waiting(talk.user, talk.transcript.path)[1] >= WORTH_READING
        ):
            threading.Thread(target=self._read_earlier, args=(talk.model.apart(), talk.now()), daemon=True).start()
        while (message := self._read()) is not None and message.split()[:1] != ["/quit"]:
            if message:
                self._take(message)
            self._tell_behind()
        if not self._call.json:
            say("")
        if talk.transcript.path:
            entries, waits = index.of(talk.user).corpus().entries(), sessions.waiting(talk.user)[0]
            facts = counted(sum(entry.kind == "facts" and not entry.archived for entry in entries), "fact")
            whom = "filemem maintain" if isinstance(talk.model, OpenAIModel) else "a model"
            wait = f"; {counted(waits, 'conversation')} {'waits' if waits == 1 else 'wait'} for {whom}" if waits else ""
            self._aside(f"The conversation is in {talk.transcript.path}. {facts}{wait}.")
            semantic.catch_up(index.of(talk.user))
        return 0

    def _say_if_offline(self, again: bool = True) -> None:
        if self._talk.model.name == OfflineModel.name and not self._call.told:
            held = config.withheld(self._talk.user.store, trust=self._talk.user.trust)
            if {"model", "base_url"} & {*held}:
                self._aside(NOT_TRUSTED)
            elif again:
                self._aside(NOTICE)

    def _read(self) -> str | None:
        """The next message; None at the end of input. Lines that were pasted together stay together."""
        if self._ended:
            return None
        typed: list[str] = []
        try:
            typed.append(input(MARK if colours() else "> "))
            while select.select([sys.stdin], [], [], 0.03)[0]:
                typed.append(input())
        except EOFError:
            self._ended = True
            if not typed:
                return None
        except KeyboardInterrupt:
            say("\nCtrl-D or /quit ends.")
            return ""
        return "\n".join(typed).strip()

    def _take(self, message: str) -> int:
        """One message or slash command; an error is one line, and the session goes on."""
        word, _, rest = message.partition(" ")
        command = word[0] == "/" and "/" not in word[1:] and "\n" not in message and word.isascii()
        try:
            return self._command(word, rest.strip()) if command else self._answer(message)
        except KeyboardInterrupt:
            self._failed("Stopped." if command else "Stopped; what had come is kept in the session.")
            return 130
        except click.Abort:  # Ctrl-C or Ctrl-D at the question of /forget
            say("\nNothing was deleted.")
            return 1
        except click.ClickException as error:
            self._failed(usage(error))
        except FilememError as error:
            self._failed(str(error))
        except OSError as error:
            self._failed(in_words(error))
        return 2

    def _failed(self, sentence: str) -> None:
        self._line_end()
        self._tell("error", text=sentence)
        if not self._call.json:
            shown = screen.wrapped(escape_controls(sentence), sys.stderr)
            say(Safe(click.style(shown, fg="red") if colours(sys.stderr) else shown), err=True)

    def _answer(self, message: str) -> int:
        self._chinese = in_chinese(message)
        with screen.progress("reading the memories") as show:
            index.of(self._talk.user).progress = show
            self._sign(WORKING[self._chinese] if self._talk.model.name != OfflineModel.name else "")
            try:
                said = self._talk.say(message, self._hear)
            finally:
                self._sign("")
        self._line_end()
        for place, number in self._sources.numbers.items():
            there, when = self._talk.exists(place), when_of(place.rpartition(":")[0])
            day = f"{day_of(when, chinese=self._chinese)}  " if when and there else ""
            doubt = "" if self._talk.was_shown(place) else f"  {(UNSHOWN if there else NOT_THERE)[self._chinese]}"
            self._aside(f"[{number}] {day}{place}{doubt}")
        self._sources.numbers = {}
        self._tell("answer", text=said, session=self._talk.transcript.path)
        return 0

    # -- showing -------------------------------------------------------------------------------------------------

    def _tell(self, event: str, **facts: Any) -> None:
        """An event, for a script only."""
        screen.show(iter([Row({"event": event, **facts}, [])]), as_json=self._call.json)

    def _aside(self, text: str) -> None:
        """A notice on standard error; scripts get none."""
        if not self._call.json:
            say_dim(text)

    def _sign(self, text: str) -> None:
        """Say on a terminal that the answer is being worked at, or with "" no more."""
        if (text or self._at_work) and sys.stdout.isatty() and not self._call.json:
            say(dim(text) if text else Safe(f"\r{' ' * screen.columns(self._at_work)}\r"), nl=False)
            sys.stdout.flush()
            self._at_work = text

    def _hear(self, event: Event) -> None:
        """Show one event as it comes; what the model thinks on a terminal only."""
        if isinstance(event, Thought) and (self._call.json or not sys.stdout.isatty()):
            return
        if self._call.json:
            self._tell(EVENTS[type(event)], **event._asdict())
            return
        if not isinstance(event, ToolCalled) or self._verbose:
            self._sign("")
        if isinstance(event, Text | Thought):
            if self._streams not in (None, type(event)):
                self._line_end()
            if self._calls and event.text.strip():
                self._aside(self._looked_at())
            cites = self._cites and isinstance(event, Text)
            self._show(self._sources.feed(event.text) if cites else event.text, type(event))
            return
        self._line_end()
        if isinstance(event, ToolCalled) and not self._verbose:
            self._calls.append(event)
        else:
            self._aside(call_line(event) if isinstance(event, ToolCalled) else event.text)

    def _show(self, text: str, kind: type[Event]) -> None:
        """Show a piece of the answer, or dim of what the model thinks; empty lines at either end are left out."""
        text = self._held + text if self._streams else text.lstrip("\n")
        shown = text.rstrip("\n")
        self._held = text[len(shown) :]
        if shown:
            self._streams = kind
            self._put(self._wrapper.feed(escape_controls(shown)))

    def _put(self, text: str) -> None:
        say(dim(text) if self._streams is Thought else Safe(text), nl=False)
        sys.stdout.flush()

    def _line_end(self) -> None:
        """End the line that streams, with what was waiting."""
        if self._cites and (rest := self._sources.feed("", end=True)):
            self._show(rest, Text)
        if self._streams and not self._call.json:
            self._put(f"{self._wrapper.feed('', end=True)}\n")
            self._wrapper = Wrapper(sys.stdout)
        self._streams, self._held = None, ""

    @property
    def _cites(self) -> bool:
        """Does a model answer, which may cite what it was not shown?"""
        return self._talk.model.name != OfflineModel.name and not self._call.json

    def _looked_at(self) -> str:
        """What the calls that were not told of looked at, in the person's language."""
        calls, self._calls = self._calls, []
        counts = [int(found[1].replace(",", "")) for call in calls if (found := _OF_FILES.search(call.brief))]
        opened = len({call.arguments for call in calls if call.name == "open"})
        if self._chinese:
            said = [f"查了{max(counts):,}个文件"] * bool(counts) + [f"打开了{opened}个"] * bool(opened)
            return "，".join(said) or "查了一次"
        said = [f"searched {counted(max(counts), 'file')}"] * bool(counts) + [f"opened {opened}"] * bool(opened)
        return ", ".join(said) or "searched"

    # -- slash commands ------------------------------------------------------------------------------------------

    def _command(self, word: str, rest: str) -> int:
        """What a line that begins with a slash asks for."""
        said = ""
        if word == "/help":
            said = HELP
        elif word == "/off":
            self._talk.go_off_the_record()
            said = "From here on nothing is kept; what was said before is."
        elif word == "/model":
            if rest:
                self._talk.model = the_model(self._call, self._talk.user, rest)
                self._listen()
                self._say_if_offline()
            said = f"{'From now on ' * bool(rest)}{self._talk.model.name} answers."
        elif word == "/memory":
            seen = self._talk.view()
            parts = [*seen.system, *seen.beside, ("the turns", "\n".join(turn.text for turn in seen.turns))]
            sizes = [(tokens.count(text), name) for name, text in parts]
            sizes.append((sum(size for size, _ in sizes), "in all"))
            said = "\n".join(f"{size:>6,} tokens  {name}" for size, name in sizes)
        if said:
            self._tell("notice", text=said)
            say(*[] if self._call.json else [screen.wrapped(said, sys.stdout)])
            return 0
        if word == "/sessions":
            return self._run("list", "--sessions", "--limit=10")
        if word not in EXAMPLES:
            raise FilememError(f"there is no command {word}; /help lists them.")
        if not rest:
            raise FilememError(f"say what, as in: {word} {EXAMPLES[word]}")
        return self._run(word[1:], "--", rest)

    def _run(self, name: str, *words: str) -> int:
        """Run a command of filemem's as it is, for this user."""
        root, user = click.get_current_context().find_root(), self._talk.user
        command = root.command.get_command(root, name)  # type: ignore[attr-defined]
        self._call.talking = user
        with command.make_context(f"/{name}", [*words], obj=self._call) as context:
            code: int = command.invoke(context)
        path = self._talk.transcript.path
        self._talk.transcript.path = self._call.renamed.get(path, path)
        return code

    # -- in the background ---------------------------------------------------------------------------------------

    def _read_earlier(self, model: OpenAIModel, at: dt.datetime) -> None:
        """Have earlier conversations read, in a thread of its own: the chat shows what came of it, and never waits."""
        try:
            for done, note in consolidated(self._talk.user.apart(), at, model, besides=self._talk.transcript.path):
                made = ["\n".join(lines(one)) for one in done.decisions]
                self._behind += filter(None, [*made, *done.notes, done.error, note])
        except Busy:
            return  # another job is at it
        except (FilememError, OSError) as error:
            self._behind.append(str(error))

    def _tell_behind(self) -> None:
        while self._behind:
            said = self._behind.pop(0)
            self._tell("notice", text=said)
            self._aside(said)


def resumed(folder: Folder, name: str | None) -> Transcript | None:
    """The session to go on with: by its path or a part of its name, the latest for ""; None for None.

    Raises NotFound where there is none, FilememError where a part fits several.
    """
    if name is None:
        return None
    if not name.strip():
        return transcript.latest(folder)
    paths, (path, _) = transcript.newest(folder), split_line(folder, name)
    found = [path] if path in paths else [one for one in paths if path.removesuffix(".md").casefold() in one.casefold()]
    found = [one for one in found if not is_archived(one)] or found
    if not found:
        known = f"the latest are {first_few(paths)}" if paths else "there is none yet; start one with: filemem chat"
        raise NotFound(f"no session of {folder.name} is called {one_line(name, 80)}; {known}.")
    if len(found) > 1:
        raise FilememError(f"{one_line(name, 80)} fits {len(found)} sessions; say which: {first_few(found, 5)}.")
    return Transcript(folder, found[0])


def unanswered(folder: Folder, today: dt.date) -> Transcript | None:
    """The session that began last, where nothing in it was ever answered and it is of today: the next try goes on with it."""
    path = next(iter(transcript.newest(folder)), "")
    when = when_of(path) if path and not is_archived(path) else None
    if when is None or when.date != today:
        return None
    session = Transcript(folder, path)
    answers = {turn.text for turn in session.turns() if turn.speaker == transcript.ASSISTANT}
    return session if answers == {transcript.NO_ANSWER} else None


# -- the command ------------------------------------------------------------------------------------------------


def the_model(call: Context, folder: Folder, name: str | None) -> Model:
    """The model of this call: the one named, else none.

    None, too, where the store names an endpoint that the person has not agreed to: no other was meant.
    """
    held = call.unsettled(folder)
    return (chosen_model(config.of(folder), name) if "base_url" not in held else None) or OfflineModel()


@click.command("chat")
@click.argument("text", metavar="[MESSAGE]", required=False)
@click.option(
    "-m",
    "--message",
    metavar="TEXT",
    help="Send one message, print the answer and end; - reads it from standard input.",
)
@model_option
@click.option(
    "--resume",
    is_flag=False,
    flag_value="",
    metavar="[SESSION]",
    help="Go on with a session: its path or a part of its name; the last one where none is named.",
)
@click.option("--off-the-record", "off", is_flag=True, help="Keep nothing of this talk: no turn, no recall.")
@click.option(
    "--prompt", is_flag=True, help="Print what the model would see, with the tokens of each section, and end."
)
@click.option(
    "--log", metavar="FILE", help="Add every request to the model and its reply to FILE, one JSON object a line."
)
@click.option("-v", "--verbose", is_flag=True, help="Show each tool call.")
@json_option_that("One JSON event a line: text, call, notice, answer, error.")
@new_option
@pass_call
def chat_command(
    call: Context,
    text: str | None,
    message: str | None,
    model: str | None,
    resume: str | None,
    off: bool,
    prompt: bool,
    log: str | None,
    verbose: bool,
) -> int:
    """Talk with an assistant that remembers.

    Without a model it quotes what it finds. Standard input that is no terminal is taken as one message.

    Example: filemem chat -m "What tea does Mara like?"
    """
    message = text if message is None else message
    if off and log:
        raise FilememError("--log keeps what is said, --off-the-record does not; take one of them.")
    if prompt:
        user = call.the_user(must_exist=False)
        shown = Conversation(user, the_model(call, user, model), lambda: call.now, resumed(user, resume))
        _print_prompt(call, shown, message or "")
        return 0
    user = call.writer() if resume is None else call.the_user()
    going_on = resumed(user, resume) or (None if off else unanswered(user, call.clock().date()))
    conversation = Conversation(user, the_model(call, user, model), call.clock, going_on, ASKED)
    if off:
        conversation.go_off_the_record()
    _settle_wishes(call, conversation)
    talk = Chat(call, conversation, verbose=verbose)
    with _logged(conversation, log), _recorded(conversation):
        if message is None and sys.stdin.isatty():
            return talk.run()
        if message in (None, "-"):
            message = sys.stdin.buffer.read().decode(errors="replace")
        return talk.once(message or "")


def _print_prompt(call: Context, talk: Conversation, message: str) -> None:
    """Print every word that the model would see, or if the person said `message`."""
    seen = talk.view(message)
    turns = [("assistant" if turn.speaker == transcript.ASSISTANT else "user", turn.text) for turn in seen.turns]
    parts = [(name, text, tokens.count(text)) for name, text in [*seen.system, *turns[:-1], *seen.beside, *turns[-1:]]]
    told = [f"== {name} ({size} tokens)\n{text}\n" for name, text, size in parts]
    whole = f"== in all ({sum(size for *_, size in parts)} tokens, {len(talk.offered)} tools aside)"
    sizes = {name: tokens.count(text) for name, text in [*seen.system, *seen.beside]}
    facts = {"tokens": sizes, "messages": seen.messages(), "tools": talk.offered}
    screen.show(iter([Row(facts, [*told, whole])]), as_json=call.json)


@contextlib.contextmanager
def _logged(talk: Conversation, path: str | None) -> Iterator[None]:
    """Add the requests of a conversation and their replies to a file that only its owner can read."""
    if path is None:
        yield
        return
    try:
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError as error:
        raise FilememError(f"{one_line(path)} cannot be written: {error.strerror}; name another file.") from None
    with open(opened, "a", encoding="utf-8", errors="replace", buffering=1) as file:

        def log(step: dict[str, Any]) -> None:
            file.write(json.dumps(step, ensure_ascii=False, default=str) + "\n")

        talk.log = log
        yield


def _settle_wishes(call: Context, talk: Conversation) -> None:
    """Have the person agree, once, to what a folder that was not begun here says on how to talk with them."""
    folder = talk.user
    if talk.model.name == OfflineModel.name or not folder.exists():
        return
    said = core_memory.preferences(folder, index.of(folder).corpus(), talk.now().date())
    where = trust.wishes(folder.root)
    if said and folder.trust.kept(where, trust.WISHES) is None:
        asks = "\n  ".join(f"- {one_line(wish, 100)}" for wish in said)
        question = f"{one_line(where)} was not agreed to on this machine, and says how to talk with you:\n  {asks}"
        settled = folder.trust.settle(where, trust.WISHES, question)
        if not settled and not call.told and folder.trust.first(where, trust.WISHES):
            call.tell_untrusted(f"what {one_line(where)} says on how to talk with you", folder)


@contextlib.contextmanager
def _recorded(talk: Conversation) -> Iterator[None]:
    """Commit the conversation when it ends, where the memories are kept in git."""
    kept = talk.transcript
    with job(talk.user, "chat", talk.now(), alone=False) as run:
        try:
            yield
        finally:
            path, turns = kept.path, kept.turns()
            if path and turns:
                subject = f"Talk with {talk.user.name}: {transcript.first_words(turns[0].text)}"
                screen.say_aside(run.commit(subject, [path, *talk.written], Session=path))
