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
from filemem.chat.conversation import CITED, UNSEEN, Conversation, Event, Notice, Prompt, Text, ToolCalled, call_line
from filemem.chat.recalling import day_of
from filemem.cli import screen
from filemem.cli.context import OPTIONS, Context, json_option_that, pass_call, split_line, usage
from filemem.cli.screen import Row, Safe, Wrapper, colours, dim, say, say_dim
from filemem.errors import Busy, FilememError, NotFound, in_words
from filemem.files import config, transcript, trust
from filemem.files.folder import Folder
from filemem.files.memory import ASSISTANT, NO_ANSWER, is_archived, when_of
from filemem.files.transcript import Transcript
from filemem.jobs import ASKED, consolidated, job, lines
from filemem.models import Model, OpenAIModel
from filemem.models.offline import NOT_TRUSTED, NOTICE, OfflineModel, chosen_model, in_chinese
from filemem.remembering import sessions
from filemem.search import semantic
from filemem.text.plain import count_tokens, counted, escape_controls, first_few, one_line

with contextlib.suppress(ImportError):  # a Python built without it reads plain lines
    import readline  # noqa: F401  lines are edited and called back, and what is pasted stays whole

HELP = (
    """\
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

Ctrl-C stops an answer.""",
    """\
/search 词语     找出与词语或问题最相符的段落
/open 路径       阅读一条记忆；也可写 路径:行号
/remember 内容   记下一条事实
/forget 词语     先询问，再删除含有这些词以及讲到它的内容；也可写路径
/edit 路径       用编辑器修改一条记忆
/sessions        最近的对话；用 filemem chat --resume 名称 继续其中一个
/memory          提示词里有什么，各占多少词元
/model [名称]    由哪个模型回答，或换一个；offline 只引用记忆
/off             从这里起什么都不保存
/quit            结束；也可按 Ctrl-D

Ctrl-C 停止正在输出的回答。""",
)
TOKENS = ("{:>6,} tokens  {}", "{:>6,} 个词元  {}"), ("in all", "合计")
EXAMPLES = {  # of the commands that a chat has under their own names
    "/search": "What tea do I like?",
    "/open": "profile.md",
    "/remember": "Prefers oolong tea.",
    "/forget": "the words, or a path:line",
    "/edit": "profile.md",
}
EVENTS = {Text: "text", ToolCalled: "call", Notice: "notice"}  # as a script has them
WORKING, WORKED = ("looking …", "在查 …"), f"\r{' ' * 9}\r"  # a sign of work until the answer begins, and its end
OFF = ("From here on nothing is kept; what was said before is.", "从现在起什么都不保存；之前说的仍然保存着。")
ANSWERS = ("{} answers.", "由 {} 回答。")
UNSHOWN = ("(the model was not shown this)", "（模型没有看到这一行）")
NOT_THERE = ("(there is no such line)", "（没有这一行）")
MARK = "\001\x1b[1m\002> \001\x1b[0m\002"  # as readline wants what takes no room
LAST_TURNS, LAST_WORDS = 4, 300  # that a resumed session shows; characters of each
LONGEST_CITED = 300  # characters
WORTH_READING = 2_000  # tokens that wait, from which on a chat has them read; what is less waits for maintain
_OF_FILES = re.compile(r"([\d,]+) files?\b")
_QUOTED = re.compile(rf"[\[【]{{0,2}}`?({CITED.pattern})`?[\]】]{{0,2}}")  # the number has brackets of its own
_MAY_CITE = re.compile(
    r"(?:[\[【]{0,2}`?(?:(?:facts|sessions|lessons|summaries)/[\w./\-:]*|[A-Za-z0-9_][A-Za-z0-9_./\-:]*)`?[\]】]?|[\[【]{1,2}`?|`)$"
)


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
            return cited[0] if known else cited[0].replace(cited[1], cited[1] + UNSEEN)
        return f"[{self.numbers.setdefault(cited[1], len(self.numbers) + 1)}{'' if known else '?'}]"


class Chat:
    """One conversation shown in the terminal, or as JSON events."""

    def __init__(self, call: Context, talk: Conversation, *, verbose: bool) -> None:
        self._call = call
        self._talk = talk
        self._verbose = verbose
        self._ended = False  # was Ctrl-D typed behind a pasted text?
        self._chinese = False  # is the answer to a message in Chinese?
        self._at_work = False  # does a terminal show the sign of work?
        self._calls: list[ToolCalled] = []  # not told of yet
        self._behind: list[str] = []  # what was read in the background, and not told of yet
        self._streams = False  # is the cursor behind a piece of the answer?
        self._held = ""  # line ends that came last; they are shown once more text follows
        self._wrapper = Wrapper(sys.stdout)
        self._sources = Sources(talk.was_shown, numbered=sys.stdout.isatty())
        self._listen()

    def _listen(self) -> None:
        if isinstance(self._talk.model, OpenAIModel):
            self._talk.model.on_notice = lambda text: self._hear(Notice(text))

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
        talk, turns = self._talk, self._talk.transcript.turns()
        place = min(os.path.relpath(talk.user.root), talk.user.root, key=lambda place: place[:2] == "..")
        self._aside(f"{talk.user.name}, {talk.model.name}. Memories are in {place}.")
        self._say_if_offline()
        if not talk.kept:
            self._aside(OFF[0])
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
            while self._behind:
                self._hear(Notice(self._behind.pop(0)))
        if self._ended and not self._call.json:
            say("")
        path = talk.transcript.path
        if path or (not talk.kept and talk.user.exists()):
            entries, waits = index.of(talk.user).corpus().entries(), sessions.waiting(talk.user)[0]
            facts = sum(entry.kind == "facts" and not entry.archived for entry in entries)
            by_model = isinstance(talk.model, OpenAIModel)
            if self._chinese:
                wait = f"；{waits}段对话在等{'运行 filemem maintain' if by_model else '一个模型'}" if waits else ""
                self._aside((f"对话保存在 {path}。" if path else "") + f"共{facts}条事实{wait}。")
            else:
                whom = "filemem maintain" if by_model else "a model"
                waiting = counted(waits, "conversation waits", "conversations wait")
                wait = f"; {waiting} for {whom}" if waits else ""
                self._aside((f"The conversation is in {path}. " if path else "") + f"{counted(facts, 'fact')}{wait}.")
        if path:
            semantic.catch_up(index.of(talk.user))
        return 0

    def _say_if_offline(self, *, again: bool = True) -> None:
        if self._talk.model.name == OfflineModel.name and not self._call.told:
            if {"model", "base_url"} & {*config.withheld(self._talk.user.store, trust=self._talk.user.trust)}:
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
        self._chinese |= message == "帮助"
        word, _, rest = ("/help" if message.lower() in ("help", "帮助") else message).partition(" ")
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
        self._stream("", end=True)
        self._tell("error", text=sentence)
        if not self._call.json:
            shown = screen.wrapped(escape_controls(sentence), sys.stderr)
            say(Safe(click.style(shown, fg="red") if colours(sys.stderr) else shown), err=True)

    def _answer(self, message: str) -> int:
        self._chinese = in_chinese(message)
        with screen.progress("reading the memories") as show:
            index.of(self._talk.user).progress = show
            if self._talk.model.name != OfflineModel.name and sys.stdout.isatty() and not self._call.json:
                self._at_work = True
                self._put(dim(WORKING[self._chinese]))
            try:
                said = self._talk.say(message, self._hear)
            finally:
                self._begin()
        self._stream("", end=True)
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

    def _hear(self, event: Event) -> None:
        """Show one event as it comes; what was called and not shown is told in one line, once an answer begins."""
        if self._call.json:
            self._tell(EVENTS[type(event)], **event._asdict())
        elif isinstance(event, Text):
            if self._calls and event.text.strip():
                self._begin()
                self._aside(self._looked_at())
            self._stream(event.text)
        else:
            self._stream("", end=True)
            if isinstance(event, ToolCalled) and not self._verbose:
                self._calls.append(event)
            else:
                self._begin()
                self._aside(call_line(event) if isinstance(event, ToolCalled) else event.text)

    def _stream(self, text: str, *, end: bool = False) -> None:
        """Show a piece of the answer, empty lines at either end of it left out; at its `end` what was waiting."""
        if self._talk.model.name != OfflineModel.name and not self._call.json:  # a model may cite what it was not shown
            text = self._sources.feed(text, end=end)
        text = self._held + text if self._streams else text.lstrip("\n")
        shown = text.rstrip("\n")
        self._held = text[len(shown) :]
        if shown or self._streams:
            self._begin()
            self._streams = True
            self._put(self._wrapper.feed(escape_controls(shown), end=end) + "\n" * end)
        if end:
            self._streams, self._held, self._wrapper = False, "", Wrapper(sys.stdout)

    def _begin(self) -> None:
        """Take the sign of work away."""
        if self._at_work:
            self._put(WORKED)
            self._at_work = False

    def _put(self, text: str) -> None:
        say(Safe(text), nl=False)
        sys.stdout.flush()

    def _looked_at(self) -> str:
        """How many files the unreported calls looked at, in the person's language."""
        opened = {call.arguments for call in self._calls if call.name == "open"}
        counts = [int(found[1].replace(",", "")) for call in self._calls if (found := _OF_FILES.search(call.brief))]
        most, self._calls = max([*counts, len(opened)]), []
        return f"查了{most:,}个文件" if self._chinese else f"searched {counted(most, 'file')}"

    # -- slash commands ------------------------------------------------------------------------------------------

    def _command(self, word: str, rest: str) -> int:
        """What a line that begins with a slash asks for."""
        if word == "/sessions":
            return self._run("list", "sessions/**", "--limit=10")
        if word in EXAMPLES:
            if not rest:
                raise FilememError(f"say what, as in: {word} {EXAMPLES[word]}")
            return self._run(word[1:], "--", rest)
        if word == "/help":
            said = HELP[self._chinese]
        elif word == "/off":
            self._talk.go_off_the_record()
            said = OFF[self._chinese]
        elif word == "/model":
            if rest:
                self._talk.model = the_model(self._call, self._talk.user, rest)
                self._listen()
                self._say_if_offline()
            said = ANSWERS[self._chinese].format(self._talk.model.name)
        elif word == "/memory":
            sizes = [(name, count_tokens(text)) for name, text in _parts(self._talk.view())]
            line, whole = (both[self._chinese] for both in TOKENS)
            sizes.append((whole, sum(size for _, size in sizes)))
            said = "\n".join(line.format(size, name) for name, size in sizes)
        else:
            raise FilememError(f"there is no command {word}; /help lists them.")
        self._tell("notice", text=said)
        say(*[] if self._call.json else [screen.wrapped(said, sys.stdout)])
        return 0

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

    def _read_earlier(self, model: OpenAIModel, at: dt.datetime) -> None:
        """Have earlier conversations read, in a thread of its own: the chat shows what came of it, and never waits."""
        try:
            for done, note in consolidated(self._talk.user, at, model, besides=self._talk.transcript.path):
                made = ["\n".join(lines(one)) for one in done.decisions]
                self._behind += filter(None, [*made, *done.notes, done.error, note])
        except Busy:
            return  # another job is at it
        except (FilememError, OSError) as error:
            self._behind.append(str(error))


def _parts(seen: Prompt) -> list[tuple[str, str]]:
    """The sections of a prompt and its turns, in their order."""
    turns = [("assistant" if turn.speaker == ASSISTANT else "user", turn.text) for turn in seen.turns]
    return [*seen.system, *turns[:-1], *seen.beside, *turns[-1:]]


def resumed(folder: Folder, name: str | None) -> Transcript | None:
    """The session to go on with: by its path or a part of its name, the latest for ""; None for None.

    Raises NotFound where there is none, FilememError where a part fits several.
    """
    if name is None:
        return None
    paths, (path, _) = transcript.newest(folder), split_line(folder, name)
    if not name.strip():
        if not paths or is_archived(paths[0]):
            raise NotFound(f"{folder.name} has no session to resume; start one with: filemem chat.")
        return Transcript(folder, paths[0])
    found = [path] if path in paths else [one for one in paths if path.removesuffix(".md").casefold() in one.casefold()]
    found = [one for one in found if not is_archived(one)] or found
    if len(found) == 1:
        return Transcript(folder, found[0])
    if found:
        raise FilememError(f"{one_line(name, 80)} matches {len(found)} sessions; say which: {first_few(found, 5)}.")
    known = f"the latest are {first_few(paths)}" if paths else "there is none yet; start one with: filemem chat"
    raise NotFound(f"no session of {folder.name} is called {one_line(name, 80)}; {known}.")


def unanswered(folder: Folder, today: dt.date) -> Transcript | None:
    """The session that began last, where nothing in it was ever answered and it is of today: the next try goes on with it."""
    path = next(iter(transcript.newest(folder)), "")
    when = when_of(path) if path and not is_archived(path) else None
    if when is None or when.date != today:
        return None
    session = Transcript(folder, path)
    answers = {turn.text for turn in session.turns() if turn.speaker == ASSISTANT}
    return session if answers == {NO_ANSWER} else None


# -- the command ------------------------------------------------------------------------------------------------


def the_model(call: Context, folder: Folder, name: str | None) -> Model:
    """The model of this call: the one named, else none.

    None, too, where the store names an endpoint that the person has not agreed to: no other was meant.
    """
    held = call.unsettled(folder)
    return (chosen_model(config.of(folder), name) if "base_url" not in held else None) or OfflineModel()


@click.command("chat")
@click.argument("text", metavar="[MESSAGE]", required=False)
@click.option("-m", "--message", metavar="TEXT", help="The same as MESSAGE; - reads it from standard input.")
@OPTIONS["--model"]
@click.option(
    "--resume",
    is_flag=False,
    flag_value="",
    metavar="[SESSION]",
    help="Continue a session, named by its path or part of its name; by default the last one.",
)
@click.option("--off-the-record", "off", is_flag=True, help="Keep nothing of this chat: no turn, no recall.")
@click.option(
    "--prompt", is_flag=True, help="Print what the model would see, with the tokens of each section, and exit."
)
@click.option("--log", metavar="FILE", help="Add every request with its reply to FILE, one JSON object a line.")
@click.option("-v", "--verbose", is_flag=True, help="Show each tool call.")
@json_option_that("One JSON event a line: text, call, notice, answer, error.")
@OPTIONS["--new"]
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
    """Talk with an assistant that remembers; given a MESSAGE, answer it and exit.

    Without a model it quotes what it finds. Input that is piped in is one message.

    Example: filemem chat -m "What tea does Mara like?"
    """
    message = text if message is None else message
    if off and log:
        raise FilememError("--log keeps what is said, --off-the-record does not; use one of them.")
    if prompt:
        user = call.the_user(must_exist=False)
        shown = Conversation(user, the_model(call, user, model), lambda: call.now, resumed(user, resume))
        _print_prompt(call, shown, message or "")
        return 0
    user = call.writer() if resume is None else call.the_user()
    going_on = resumed(user, resume) or (None if off else unanswered(user, call.clock().date()))
    talk = Conversation(user, the_model(call, user, model), call.clock, going_on, ASKED)
    if off:
        talk.go_off_the_record()
    where, asks = trust.wishes(user.root), talk.model.name != OfflineModel.name and user.exists()
    if asks and core_memory.preferences(user, index.of(user).corpus(), talk.now().date()):
        call.agreed(where, trust.WISHES, f"what {one_line(where)} says on how to talk with you", user)
    with _recorded(talk, log):
        if message is None and sys.stdin.isatty():
            return Chat(call, talk, verbose=verbose).run()
        if message in (None, "-"):
            message = sys.stdin.buffer.read().decode(errors="replace")
        return Chat(call, talk, verbose=verbose).once(message or "")


def _print_prompt(call: Context, talk: Conversation, message: str) -> None:
    """Print every word that the model would see, or if the person said `message`."""
    seen = talk.view(message)
    parts = [(name, text, count_tokens(text)) for name, text in _parts(seen)]
    told = [f"== {name} ({size} tokens)\n{text}\n" for name, text, size in parts]
    whole = f"== in all ({sum(size for *_, size in parts)} tokens, {len(talk.offered)} tools aside)"
    sizes = {name: count_tokens(text) for name, text in [*seen.system, *seen.beside]}
    facts = {"tokens": sizes, "messages": seen.messages(), "tools": talk.offered}
    screen.show(iter([Row(facts, [*told, whole])]), as_json=call.json)


@contextlib.contextmanager
def _recorded(talk: Conversation, log: str | None) -> Iterator[None]:
    """Keep the requests of a conversation in a file that only its owner can read; commit it when it ends."""
    kept = talk.transcript
    with contextlib.ExitStack() as stack:
        if log is not None:
            opened = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            file = stack.enter_context(open(opened, "a", encoding="utf-8", errors="replace", buffering=1))

            def keep(step: dict[str, Any]) -> None:
                file.write(json.dumps(step, ensure_ascii=False, default=str) + "\n")

            talk.log = keep
        run = stack.enter_context(job(talk.user, "chat", talk.now(), alone=False))
        try:
            yield
        finally:
            path, turns = kept.path, kept.turns()
            if path and turns:
                subject = f"Talk with {talk.user.name}: {transcript.first_words(turns[0].text)}"
                screen.say_aside(run.commit(subject, [path, *talk.written], Session=path))
