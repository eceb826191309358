"""The command that talks: chat, in the terminal or as JSON events."""

import contextlib
import datetime as dt
import json
import os
import re
import select
import sys
import threading
from collections.abc import Iterator
from typing import Any

import click

from filemem import index
from filemem.chat import (
    CITED,
    Conversation,
    Event,
    Notice,
    Prompt,
    Text,
    ToolCalled,
    day_of,
    preferences,
)
from filemem.cli import context
from filemem.cli.context import (
    Context,
    Output,
    Row,
    Safe,
    Wrapper,
    command,
    say,
    say_dim,
    sentence,
    split_line,
)
from filemem.errors import Busy, FilememError, NotFound, in_words
from filemem.files import config, transcript
from filemem.files.folder import Folder
from filemem.files.memory import ASSISTANT, NO_ANSWER, is_archived, when_of
from filemem.files.transcript import Transcript
from filemem.jobs import ASKED, JobRun, consolidated
from filemem.learn import sessions
from filemem.llm.model import Model
from filemem.models.offline import NOTICE, OfflineModel, said_to
from filemem.search import semantic
from filemem.text import terms
from filemem.text.plain import (
    count_tokens,
    counted,
    escape_controls,
    first_few,
    one_line,
)

with contextlib.suppress(ImportError):  # a Python built without it reads plain lines
    import readline  # noqa: F401  lines are edited and called back, and what is pasted stays whole

HELP = """\
/search WORDS   the best passages for some words or a question
/open PATH      read a memory; also PATH:LINE
/remember TEXT  keep one fact
/forget WORDS   delete what holds them and what tells of it, after a question; also a path
/edit PATH      change a memory in your editor
/list GLOB      list memories, as in: facts/**
/sessions       the latest conversations; filemem chat --resume NAME goes on with one
/memory         what is in the prompt, with token counts
/model [NAME]   which model answers, or have another one answer; offline quotes only
/off            keep nothing of what is said from here on
/quit           end; so does Ctrl-D; Ctrl-C stops an answer"""
HELP_IN_CHINESE = """\
/search 詞語     找出與詞語或問題最相符的段落
/open 路徑       閱讀一條記憶；也可寫 路徑:行號
/remember 內容   記下一條事實
/forget 詞語     先詢問，再刪除含有這些詞以及講到它的內容；也可寫路徑
/edit 路徑       用編輯器修改一條記憶
/list 模式       列出記憶，如 facts/**
/sessions        最近的對話；用 filemem chat --resume 名稱 繼續其中一個
/memory          提示詞裡有什麼，各佔多少詞元
/model [名稱]    由哪個模型回答，或換一個；offline 只引用記憶
/off             從這裡起什麼都不保存
/quit            結束；也可按 Ctrl-D；Ctrl-C 停止正在輸出的回答"""
ENDS = ("/quit", "/exit", "quit", "exit", "退出")
EVENTS = {Text: "text", ToolCalled: "call", Notice: "notice"}  # as a script has them
COMMANDS = (
    "search",
    "open",
    "remember",
    "forget",
    "edit",
    "list",
)  # that a chat has under their own names
WORKING, WORKED = (
    ("looking …", "在查 …"),
    f"\r{' ' * 9}\r",
)  # a sign of work until the answer begins, and its end
OFF = (
    "From here on nothing is kept; what was said before is.",
    "從現在起什麼都不保存；之前說的還在。",
)
KEPT = ("The conversation is in {}. ", "對話保存在 {}。")
KNOWN = (
    "Facts: {}; conversations that wait for a model: {}.",
    "事實：{}條；等待模型閱讀的對話：{}段。",
)
UNSHOWN = ("(the model was not shown this)", "（模型沒有看到這一行）")
LAST_TURNS, LAST_WORDS = 4, 300  # that a resumed session shows; characters of each
WORTH_READING = 2_000  # tokens that wait, from which on a chat has them read; what is less waits for maintain
_SLASH = re.compile(
    r"[/／]([a-zA-Z0-9_]+)(?:\s+(.*))?", re.DOTALL
)  # blanks of Chinese width and line ends, too
_OF_FILES = re.compile(r"([\d,]+) files?\b")
# Brackets about a citation, as its number has some of its own.
_QUOTED = re.compile(
    rf"([(（])?[\[【]{{0,2}}`?({CITED.pattern})`?[\]】]{{0,2}}(?(1)[)）])"
)


class Chat:
    """One conversation, whose answers stream to a terminal, or as JSON events; else an answer is printed when it is whole."""

    def __init__(self, call: Context, talk: Conversation, *, verbose: bool) -> None:
        self._call, self._talk, self._verbose = call, talk, verbose
        self._live = sys.stdout.isatty() and not call.json  # do answers stream?
        self._message = ""  # the last one, whose language the answers are in
        self._at_work = False  # does the terminal show the sign of work?
        self._calls: list[ToolCalled] = []  # not told of yet
        self._behind: list[
            str
        ] = []  # what was read in the background, and not told of yet
        self._numbers: dict[str, int] = {}  # of the places that the answer cites
        self._streams = False  # is the cursor behind a piece of the answer?
        self._wrapper = Wrapper(self._numbered)

    def once(self, message: str) -> int:
        """Answer one message; exit code 2 where there was no whole answer."""
        if not message.strip():
            raise FilememError(
                "the message is empty; say something, as in: filemem chat -m 'What tea do I like?'"
            )
        self._say_if_offline(again=not transcript.newest(self._talk.user))
        return self._take(message.strip())

    def run(self) -> int:
        """Read and answer until Ctrl-D or /quit."""
        talk, turns = self._talk, self._talk.transcript.turns()
        talk.command = "/"
        place = min(
            os.path.relpath(talk.user.root),
            talk.user.root,
            key=lambda place: place[:2] == "..",
        )
        self._aside(f"{talk.user.name}, {talk.model.name}. Memories are in {place}.")
        self._say_if_offline(again=True)
        if not talk.kept:
            self._aside(OFF[0])
        if turns:
            self._aside(
                f"Going on with {talk.transcript.path}, {counted(len(turns), 'turn')}."
            )
        for turn in turns[-LAST_TURNS:]:
            self._aside(f"{turn.speaker}: {one_line(turn.text, LAST_WORDS)}")
        self._aside("/help (帮助) lists the commands, Ctrl-D ends.")
        reads = not talk.offline and config.of(talk.user).consolidate
        if (
            reads
            and sessions.waiting(talk.user, talk.transcript.path)[1] >= WORTH_READING
        ):
            threading.Thread(
                target=self._read_earlier, args=[talk.model], daemon=True
            ).start()
        for message in self._messages():
            if message.lower() in ENDS:
                break
            if message:
                self._take(message)
            while self._behind:
                self._aside(self._behind.pop(0))
        if talk.user.exists():
            path, entries = talk.transcript.path, index.of(talk.user).corpus().entries()
            facts = sum(
                entry.kind == "facts" and not entry.archived for entry in entries
            )
            told = said_to(self._message, KNOWN).format(
                facts, sessions.waiting(talk.user)[0]
            )
            self._aside(
                said_to(self._message, KEPT).format(path) + told if path else told
            )
            semantic.catch_up(index.of(talk.user))
        return 0

    def _say_if_offline(self, *, again: bool) -> None:
        """Say that no model is configured, where it is to be said `again`."""
        if self._talk.offline and again and not self._call.told:
            self._aside(NOTICE)

    def _messages(self) -> Iterator[str]:
        """What is typed, until Ctrl-D. Lines that were pasted together are one message."""
        while True:
            typed: list[str] = []
            try:
                typed.append(input("> "))
                while select.select([sys.stdin], [], [], 0.03)[0]:
                    typed.append(input())
            except EOFError:
                if not typed:
                    say("")
                    return
            except KeyboardInterrupt:
                say("\nCtrl-D or /quit ends.")
                continue
            yield "\n".join(typed).strip()

    def _take(self, message: str) -> int:
        """One message or slash command; an error is one line, and the session goes on."""
        if terms.simplified(message.lower()) in ("help", "帮助"):
            self._message = self._message if message.isascii() else message
            message = "/help"
        slash = _SLASH.fullmatch(message)
        try:
            return (
                self._command(slash[1].lower(), slash[2] or "")
                if slash
                else self._answer(message)
            )
        except (KeyboardInterrupt, click.Abort) as stop:  # the latter at a question
            self._failed(
                "Stopped." if isinstance(stop, KeyboardInterrupt) else "\nStopped."
            )
            return 130
        except (click.ClickException, FilememError, OSError) as error:
            self._failed(sentence(error))
        return 2

    def _failed(self, text: str) -> None:
        self._stream("", end=True)
        if not self._tell("error", text=text):
            self._put("")
            say(
                Safe(
                    click.style(
                        context.wrapped(escape_controls(text), sys.stderr), fg="red"
                    )
                ),
                err=True,
            )

    def _answer(self, message: str) -> int:
        self._message = message
        self._numbers.clear()
        with context.progress("reading the memories") as show:
            index.of(self._talk.user).progress = show
            if self._live and not self._talk.offline:
                self._put(context.dim(said_to(self._message, WORKING)))
                self._at_work = True
            said = self._talk.say(message, self._hear)
        self._stream("", end=True)
        if not (
            self._live
            or self._tell("answer", text=said, session=self._talk.transcript.path)
        ):
            say(said)
        for place, number in self._numbers.items():
            when = when_of(place.rpartition(":")[0])
            day = f"{day_of(when, self._message)}  " if when else ""
            doubt = (
                ""
                if self._talk.was_shown(place)
                else f"  {said_to(self._message, UNSHOWN)}"
            )
            self._aside(f"[{number}] {day}{place}{doubt}")
        return 0

    def _tell(self, event: str, **facts: Any) -> bool:
        """Print an event for a script; is it one that listens?"""
        context.show(
            iter([Row({"event": event, **facts}, [])]), as_json=self._call.json
        )
        return self._call.json

    def _aside(self, text: str) -> None:
        """A notice on standard error; scripts get none."""
        if not self._call.json:
            self._put("")
            say_dim(text)

    def _hear(self, event: Event) -> None:
        """Show one event as it comes; what was called and not shown is told in one line, once an answer begins."""
        if self._tell(EVENTS[type(event)], **event._asdict()):
            return
        if isinstance(event, Text):
            if self._calls and event.text.strip():
                counts = [
                    int(one.replace(",", ""))
                    for call in self._calls
                    for one in _OF_FILES.findall(call.brief)
                ]
                opened = {
                    one.arguments
                    for one in self._calls
                    if one.name == "open" and one.brief[:6] != "Error:"
                }
                most, self._calls = max([*counts, len(opened)]), []
                self._aside(
                    said_to(
                        self._message,
                        (f"searched {counted(most, 'file')}", f"查了{most:,}個文件"),
                    )
                )
            if self._live:
                self._stream(event.text)
        else:
            self._stream("", end=True)
            if isinstance(event, Notice):
                self._aside(event.text)
            elif self._verbose:
                self._aside(
                    f"{one_line(f'{event.name} {event.arguments}', 100)} -> {event.brief}"
                )
            else:
                self._calls.append(event)

    def _stream(self, text: str, *, end: bool = False) -> None:
        """Show a piece of the answer, empty lines at either end of it left out; at its `end` what was waiting."""
        shown = self._wrapper.feed(escape_controls(text), end=end)
        if end:
            shown = f"{shown.rstrip()}\n"
            self._wrapper = Wrapper(self._numbered)
        if shown := shown if self._streams else shown.lstrip("\n"):
            self._put(shown)
            self._streams = not end

    def _put(self, text: str) -> None:
        """Print on the terminal, in the place of the sign of work."""
        say(Safe((WORKED if self._at_work else "") + text), nl=False)
        self._at_work = False
        sys.stdout.flush()

    def _numbered(self, text: str) -> str:
        """The text with numbers for what a model cites, and a question mark behind that of what it was not shown."""

        def number(cited: re.Match[str]) -> str:
            at = self._numbers.setdefault(cited[2], len(self._numbers) + 1)
            return f"[{at}{'' if self._talk.was_shown(cited[2]) else '?'}]"

        return text if self._talk.offline else _QUOTED.sub(number, text)

    def _command(self, name: str, rest: str) -> int:
        """What a line that begins with a slash asks for: a command of filemem's as it is, for this user, or one of the chat's."""
        talk, options = self._talk, list[str]()
        if name == "sessions":
            name, rest, options = "list", "sessions/**", ["--limit=10"]
        if name in COMMANDS:
            if not rest:
                raise FilememError(
                    f"say what, behind /{name}; /help has what each takes."
                )
            root = click.get_current_context().find_root()
            self._call.talking = talk.user
            found = root.command.get_command(root, name)  # type: ignore[attr-defined]
            with found.make_context(
                f"/{name}", [*options, "--", rest], obj=self._call
            ) as made:
                code: int = found.invoke(made)
            talk.remembered, self._call.remembered = (
                self._call.remembered or talk.remembered,
                "",
            )
            return code
        if name == "memory":
            parts = [
                *_sections(talk.view()),
                *talk.tools.pages(),
            ]  # the open files stand beside the message
            word = said_to(self._message, ("tokens", "個詞元"))
            said = "\n".join(
                f"{count_tokens(text):>6,} {word}  {name}" for name, text in parts
            )
        elif name == "model":
            if rest:
                talk.model = self._call.model(talk.user, rest) or OfflineModel()
                self._say_if_offline(again=True)
            said = said_to(
                self._message,
                (f"{talk.model.name} answers.", f"由 {talk.model.name} 回答。"),
            )
        elif name == "off":
            talk.go_off_the_record()
            said = said_to(self._message, OFF)
        elif name == "help":
            said = said_to(self._message, (HELP, HELP_IN_CHINESE))
        else:
            raise FilememError(f"there is no command /{name}; /help lists them.")
        if not self._tell("notice", text=said):
            say(context.wrapped(said, sys.stdout))
        return 0

    def _read_earlier(self, model: Model) -> None:
        """Have earlier conversations read, in a thread of its own: the chat shows what came of it, and never waits."""
        talk = self._talk
        try:
            for done in consolidated(
                talk.user, talk.now(), model, besides=talk.transcript.path
            ):
                self._behind += done.lines()
        except Busy:
            return  # another job is at it
        except (FilememError, OSError) as error:
            self._behind.append(in_words(error))


def _sections(seen: Prompt) -> list[tuple[str, str]]:
    """The sections of a prompt and its turns, in their order."""
    turns = [
        ("assistant" if turn.speaker == ASSISTANT else "user", turn.text)
        for turn in seen.turns
    ]
    return [*seen.system, *turns[:-1], *seen.beside, *turns[-1:]]


def resumed(folder: Folder, name: str) -> Transcript:
    """The session to go on with, by its path or a part of its name, the latest for ""; raises FilememError if several fit."""
    paths, (path, _) = transcript.newest(folder), split_line(folder, name.strip())
    if not paths:
        raise NotFound(
            f"{folder.name} has no session yet; start one with: filemem chat."
        )
    part = path.removesuffix(".md").casefold()
    found = (
        [path] if path in paths else [one for one in paths if part in one.casefold()]
    )
    found = [one for one in found if not is_archived(one)] or found
    if not found:
        raise NotFound(
            f"{folder.name} has no session {one_line(name, 80)}; the latest are {first_few(paths)}."
        )
    if path and len(found) > 1:
        raise FilememError(
            f"{one_line(name, 80)} matches {len(found)} sessions; say which: {first_few(found, 5)}."
        )
    return Transcript(folder, found[0])


def unanswered(folder: Folder, today: dt.date) -> Transcript | None:
    """The session that began last, where nothing in it was ever answered and it is of today: the next try goes on with it."""
    for path in transcript.newest(folder)[:1]:
        session, when = Transcript(folder, path), when_of(path)
        answers = {turn.text for turn in session.turns() if turn.speaker == ASSISTANT}
        if when and when.date == today and answers == {NO_ANSWER}:
            return session
    return None


@command(
    "chat",
    click.argument("text", metavar="[MESSAGE]", required=False),
    click.option("-m", "--message", metavar="TEXT", help="The same as MESSAGE."),
    "--model",
    click.option(
        "--resume",
        is_flag=False,
        flag_value="",
        metavar="[SESSION]",
        help="Go on with that, or the last.",
    ),
    click.option(
        "--off-the-record",
        "off",
        is_flag=True,
        help="Keep nothing of this chat: no turn, no recall.",
    ),
    click.option(
        "--prompt",
        is_flag=True,
        help="Print what the model would see, with its tokens, and exit.",
    ),
    click.option(
        "--log",
        metavar="FILE",
        help="Add every request with its reply to FILE, one JSON object a line.",
    ),
    click.option("-v", "--verbose", is_flag=True, help="Show each tool call."),
    "--json --new",
)
def chat_command(
    call: Context, text: str | None, message: str | None, resume: str | None, **how: Any
) -> Output:
    """Talk with an assistant that remembers.

    Given a MESSAGE, it answers that and exits. Without a model it quotes what it finds. Input that is piped in is one
    message. SESSION is a path or a part of one. With --json there is one event a line: text, call, notice, answer, error.

    Example: filemem chat -m 'What tea does Mara like?'"""
    message = text if message is None else message
    if how["off"] and how["log"]:
        raise FilememError(
            "--log keeps what is said, --off-the-record does not; use one of them."
        )
    user = (
        call.writer()
        if resume is None and not how["prompt"]
        else call.the_user(must_exist=not how["prompt"])
    )
    going_on = resumed(user, resume) if resume is not None else None
    if not (going_on or how["off"] or how["prompt"]):
        going_on = unanswered(user, call.clock().date())
    talk = Conversation(
        user,
        call.model(user, how["model"]) or OfflineModel(),
        call.clock,
        going_on,
        ASKED,
    )
    if how["prompt"]:
        yield _prompt(talk, message or "")
        return 0
    if how["off"]:
        talk.go_off_the_record()
    asks = talk.model.name != OfflineModel.name and user.exists()
    if asks and not user.is_own and preferences(user, talk.now().date()):
        call.say_wishes_wait(user)
    with _recorded(talk, how["log"]):
        chat = Chat(call, talk, verbose=how["verbose"])
        if message is None and sys.stdin.isatty():
            return chat.run()
        return chat.once(
            sys.stdin.buffer.read().decode(errors="replace")
            if message is None
            else message
        )


def _prompt(talk: Conversation, message: str) -> Row:
    """Every word that the model would see, or if the person said `message`."""
    seen = talk.view(message)
    parts = [(name, text, count_tokens(text)) for name, text in _sections(seen)]
    told = [f"== {name} ({size} tokens)\n{text}\n" for name, text, size in parts]
    told.append(
        f"== in all ({sum(size for *_, size in parts)} tokens, {len(talk.offered)} tools aside)"
    )
    sizes = {name: count_tokens(text) for name, text in [*seen.system, *seen.beside]}
    return Row(
        {"tokens": sizes, "messages": seen.messages(), "tools": talk.offered}, told
    )


@contextlib.contextmanager
def _recorded(talk: Conversation, log: str | None) -> Iterator[None]:
    """Keep the requests of a conversation in a file that only its owner can read; commit it when it ends."""
    kept, place = talk.transcript, os.devnull if log is None else log
    opened = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with (
        open(opened, "a", 1, "utf-8", "replace") as file,
        JobRun(talk.user, "chat", talk.now(), exclusive=False) as run,
    ):
        if log is not None:
            talk.log = lambda step: file.write(
                json.dumps(step, ensure_ascii=False, default=str) + "\n"
            )
        try:
            yield
        finally:
            if kept.path and kept.turns():
                say_dim(
                    *run.commit(
                        kept.subject(), [kept.path, *talk.written], Session=kept.path
                    )
                )
