"""The command that talks: chat, in the terminal or as JSON events."""

import contextlib
import os
import re
import select
import sys
from collections.abc import Collection, Iterator
from typing import Any

import click

from filemem import index
from filemem.chat.conversation import Conversation
from filemem.chat.core_memory import WISHES_WAIT, wait_for_a_name
from filemem.chat.phrases import said_to
from filemem.cli.context import (
    Context,
    json_lines_option,
    model_option,
    new_option,
    prints,
    split_line,
)
from filemem.cli.output import Output, Progress, Row, say, say_dim, sentence, show
from filemem.cli.screen import Screen
from filemem.errors import FilememError, NotFound
from filemem.forget.sweep import waiting_line
from filemem.index import vectors
from filemem.jobs import JobRun
from filemem.learn import background
from filemem.learn.sessions import unread
from filemem.llm.choice import NOTICE, OfflineModel
from filemem.llm.model import ModelError
from filemem.store import config, transcript, usage
from filemem.store.folder import Folder
from filemem.store.learned import LearnLog
from filemem.store.roles import ASSISTANT
from filemem.store.transcript import Transcript
from filemem.text.plain import (
    count_tokens,
    counted,
    first_few,
    one_line,
    printable,
)

with contextlib.suppress(ImportError):  # a Python built without it reads plain lines
    import readline  # noqa: F401  lines can be edited; what is pasted stays whole

HELP = (
    """\
/search WORDS: the best passages for some words or a question.
/open PATH: read a memory; also PATH:LINE.
/remember TEXT: keep one fact.
/forget [WORDS]: delete the last exchange, or what holds the words and what tells of \
it; also a path. It shows everything first, and asks.
/edit PATH: change a memory in your editor; also by words of a fact.
/list GLOB: list memories, as in sessions/**. To go on with a conversation: \
filemem chat --resume NAME.
/status: what there is, and what stands in the prompt; so with any other command of \
filemem.
/off [TEXT]: say TEXT and keep nothing of it; alone: keep nothing of what follows, \
until /off is said again.
/quit ends, as does Ctrl-D; Ctrl-C stops an answer.""",
    """\
/search 詞語：找出與詞語或問題最相符的段落。
/open 路徑：閱讀一條記憶；也可寫 路徑:行號。
/remember 內容：記下一條事實。
/forget [詞語]：刪除上一次問答，或含有這些詞以及講到它的內容；
也可寫路徑；先列出，再詢問。
/edit 路徑：用編輯器修改一條記憶；也可寫事實中的詞語。
/list 模式：列出記憶，如 sessions/**；用 filemem chat --resume 名稱 繼續一次對話。
/status：有哪些記憶，提示詞裡有什麼；filemem 的其他命令也都可用。
/off [內容]：只說這一句，不保存；單獨使用：以下都不保存，直到再次輸入 /off。
/quit：結束；也可按 Ctrl-D；Ctrl-C 停止正在輸出的回答。""",
)
ENDS = ("/quit", "/exit", "quit", "exit", "退出", "/退出")
HELP_WORDS = ("help", "帮助", "幫助")
NOT_IN_A_CHAT = ("chat", "mcp", "serve")  # which take what is typed themselves
OFF = (
    "From here on nothing is kept; what was said before is.",
    "從現在起什麼都不保存；之前說的還在。",
)
ON = ("From here on everything is kept again.", "從現在起恢復保存。")
KEPT = ("The conversation is in {}. ", "對話保存在 {}。")
WAITING = (
    "Conversations that wait for a model: {}. /remember TEXT keeps a fact meanwhile.",
    "等待模型閱讀的對話：{}段。可用 /remember 內容 記下事實。",
)
READ_ONLY = "{} cannot be written, so nothing of this is kept."
NO_WRITER = (
    "A model changes no memory, whatever it says; /remember, /forget and /edit do."
)
SHOWN_TURNS = 4  # of a resumed session
SHOWN_CHARS = 300  # of each
PASTE_SECONDS = 0.03  # in which the next line of what is pasted comes
_SLASH = re.compile(  # blanks of Chinese width and line ends, too
    r"[/／]([a-zA-Z0-9_]+)(?:\s+(.*))?", re.DOTALL
)


class Chat:
    """One conversation in a terminal, or one message and its answer.

    Args:
        call: the command that it is.
        talk: the conversation.
        screen: shows what it says.
    """

    def __init__(self, call: Context, talk: Conversation, screen: Screen) -> None:
        self._call = call
        self._talk = talk
        self._screen = screen

    def once(self, message: str) -> int:
        """Answer one message; return exit code 2 where there was no whole answer."""
        if not message.strip():
            raise FilememError(
                "the message is empty; say something, as in:"
                " filemem chat -m 'What tea do I like?'"
            )
        if not transcript.newest(self._talk.user):
            self._say_what_answers()
        self._tell_news()
        return self._take(message.strip())

    def run(self) -> int:
        """Read and answer until Ctrl-D or /quit."""
        self._greet()
        self.have_read()
        for message in _messages():
            if message.lower() in ENDS:
                break
            if message:
                self._take(message)
            self._tell_news()
        self._say_goodbye()
        return 0

    def have_read(self, ended: Collection[str] = ()) -> None:
        """Begin to have read what has ended; so have the sessions named."""
        talk = self._talk
        background.start(talk.user, talk.model, talk.now(), ended)

    def _tell_news(self) -> None:
        """Tell what came of what was read meanwhile, in a line."""
        told = background.take_news(self._talk.user)
        if told:
            self._screen.aside(told)

    def _greet(self) -> None:
        """Say whose memories these are, what goes on, and what waits for the person.

        Of a conversation that is gone on with the last turns are shown.
        """
        talk = self._talk
        aside = self._screen.aside
        place = os.path.relpath(talk.user.root)
        if place.startswith(".."):
            place = talk.user.root
        aside(f"{talk.user.name}, {talk.model.name}. Memories are in {place}.")
        self._say_what_answers()
        if not talk.kept:
            aside(OFF[0])
        turns = talk.transcript.turns()
        if turns:
            count = counted(len(turns), "turn")
            aside(f"Going on with {talk.transcript.path}, {count}.")
        for turn in turns[-SHOWN_TURNS:]:
            aside(f"{turn.speaker}: {one_line(turn.text, SHOWN_CHARS)}")
        waiting = len(talk.user.proposals())
        if waiting:
            aside(f"Waiting for you, in filemem review: {waiting}.")
        for line in waiting_line(usage.waiting_for_a_yes(talk.user)):
            aside(line)
        self._tell_news()
        aside("/help (帮助) lists the commands, Ctrl-D ends.")

    def _say_goodbye(self) -> None:
        """Say where the conversation is, and how many wait for a model."""
        talk = self._talk
        told = ""
        if talk.transcript.path:
            told = self._said(KEPT).format(talk.transcript.path)
        if talk.offline:
            turns = unread(talk.user, LearnLog.of(talk.user))
            waiting = {turn.session.path for turn in turns}
            told += self._said(WAITING).format(len(waiting))
        self._screen.aside(told)
        if talk.offline:  # else the process that reads makes the vectors, too
            vectors.catch_up(index.of(talk.user))

    def _say_what_answers(self) -> None:
        """Say what a model does not do, or why answers are quotes.

        The latter was said with the model's choice, if that waits for an answer.
        """
        talk = self._talk
        if not talk.offline:
            self._screen.aside(NO_WRITER)
        elif not config.unanswered(talk.user.store):
            self._screen.aside(NOTICE)

    def _take(self, message: str) -> int:
        """Take one message or slash command; the chat goes on after an error.

        Return the exit code: 2 for an error, 130 if it was stopped.
        """
        if not message.isascii():
            self._screen.message = message
        if message.lower().lstrip("/／") in HELP_WORDS:
            message = "/help"
        slash = _SLASH.fullmatch(message)
        try:
            if slash:
                return self._command(slash[1].lower(), slash[2] or "")
            return self._answer(message)
        except (KeyboardInterrupt, click.Abort):  # the latter at a question
            self._screen.fail("Stopped.")
            return 130
        except (click.ClickException, FilememError, OSError) as error:
            self._screen.fail(sentence(error))
        return 2

    def _answer(self, message: str) -> int:
        """Have a message answered, and show the answer as it comes.

        Where the model fails, why, and what would answer without one; that is exit
        code 2.
        """
        with Progress("reading the memories") as show:
            index.of(self._talk.user).corpus(show)
        self._screen.begin(message)
        try:
            answer = self._talk.say(message, self._screen.hear)
        except ModelError as error:
            self._screen.fail(sentence(error))
            self._screen.quote(self._talk.passages())
            return 2
        self._screen.end(answer)
        return 0

    def _said(self, both: tuple[str, str]) -> str:
        """Return what to say in the language of the last message."""
        return said_to(self._screen.message, both)

    # -- commands ----------------------------------------------------------------------

    def _command(self, name: str, rest: str) -> int:
        """Do what a line that begins with a slash asks for; return the exit code."""
        if name == "help":
            code = self._tell(HELP)
            if rest:
                code = self._answer(rest)
            return code
        if name == "off":
            return self._switch_off(rest)
        if name == "forget" and not rest:
            rest = self._last_exchange()
        return self._filemem(name, rest)

    def _tell(self, both: tuple[str, str]) -> int:
        """Tell what a command of the chat's own has to tell."""
        return show(iter([self._said(both)]), self._call.form, talking=True)

    def _switch_off(self, message: str) -> int:
        """Go off the record, or on it again; with a message for that alone."""
        was_kept = self._talk.kept
        if not was_kept and not message:
            self._talk.go_on_the_record()
            return self._tell(ON)
        self._talk.go_off_the_record()
        if not message:
            return self._tell(OFF)
        try:
            return self._answer(message)
        finally:
            if was_kept:
                self._talk.go_on_the_record()

    def _filemem(self, name: str, rest: str) -> int:
        """Run a command of filemem's as it is, for the user of this chat.

        Raises:
            FilememError: there is none, or it needs to be told what.
        """
        root = click.get_current_context().find_root()
        group: Any = root.command
        found = group.get_command(root, name)
        if found is None or name in NOT_IN_A_CHAT:
            raise FilememError(f"there is no command /{name}; /help lists them.")
        if not rest and any(parameter.required for parameter in found.params):
            raise FilememError(f"say what, behind /{name}; /help has what each takes.")
        self._call.talking = self._talk.user
        self._call.heard = self._screen.message
        arguments = ["--", printable(rest)] if rest else []  # no NUL names a file
        with found.make_context(f"/{name}", arguments, obj=self._call) as inner:
            code: int = found.invoke(inner)
        return code

    def _last_exchange(self) -> str:
        """Return the lines of the last message and its answer, as `path:6,7`."""
        lines = self._talk.last_exchange()
        if not lines:
            raise FilememError(
                "nothing was said yet that could be deleted;"
                " /forget WORDS deletes what holds them."
            )
        return lines


def _messages() -> Iterator[str]:
    """Yield what is typed, until Ctrl-D; lines pasted together are one message.

    Ctrl-C takes back a line that is half typed.
    """
    while True:
        typed: list[str] = []
        try:
            typed.append(input("> "))
            while select.select([sys.stdin], [], [], PASTE_SECONDS)[0]:
                typed.append(input())
        except EOFError:
            if not typed:
                say("")
                return
        except KeyboardInterrupt:
            say("\nCtrl-D or /quit ends.")
            continue
        yield "\n".join(typed).strip()


def resumed(folder: Folder, name: str) -> Transcript:
    """Return the newest session that has a name, or a part of one, in its path.

    Raises:
        NotFound: there is none.
    """
    paths = transcript.newest(folder)
    path = split_line(folder, name.strip()).path
    part = path.removesuffix(".md").casefold()
    holding = [one for one in paths if part in one.casefold()]
    if path in paths:
        holding = [path]
    if holding:
        return Transcript(folder, holding[0])
    latest = first_few(paths) or "none"
    named = one_line(name, 80)
    raise NotFound(f"{folder.name} has no session {named}; the latest are {latest}.")


@click.command("chat")
@click.argument("text", metavar="[MESSAGE]", required=False)
@click.option("-m", "--message", metavar="TEXT", help="The same as MESSAGE.")
@model_option
@click.option(
    "--resume",
    is_flag=False,
    flag_value="",
    metavar="[SESSION]",
    help="Go on with that, or the last.",
)
@click.option(
    "--off-the-record",
    "off",
    is_flag=True,
    help="Keep nothing of this chat: no turn, no recall.",
)
@click.option(
    "--prompt",
    is_flag=True,
    help="Print what the model would see, with its tokens, and exit.",
)
@click.option(
    "-v", "--verbose", is_flag=True, help="Show what the model saw and called."
)
@json_lines_option
@new_option
@prints
def chat_command(
    call: Context, text: str | None, message: str | None, resume: str | None, **how: Any
) -> Output:
    """Talk with an assistant that remembers.

    Given a MESSAGE, it answers that and exits. Without a model it quotes what it finds.
    Input that is piped in is one message. SESSION is a path or a part of one. With
    --json-lines there is one event a line: text, call, notice, answer, error.

    Example: filemem chat -m 'What tea does Mara like?'"""
    message = text if message is None else message
    talk = _conversation(call, resume, how)
    if how["prompt"]:
        yield _prompt(talk, message or "")
        return 0
    screen = Screen(talk, call.form, verbose=how["verbose"])
    if talk.user.is_read_only:
        screen.aside(READ_ONLY.format(talk.user.root))
        talk.go_off_the_record()
    elif how["off"]:
        talk.go_off_the_record()
    if not talk.offline and wait_for_a_name(talk.user, call.now.date()):
        screen.aside(WISHES_WAIT.format(one_line(talk.user.root)))
    chat = Chat(call, talk, screen)
    ended = ""
    with _recorded(talk):
        if message is None and sys.stdin.isatty():
            code = chat.run()
            ended = talk.transcript.path
        else:
            if message is None:
                message = sys.stdin.buffer.read().decode(errors="replace")
            code = chat.once(message)
    chat.have_read([ended])
    return code


def _conversation(
    call: Context, resume: str | None, how: dict[str, Any]
) -> Conversation:
    """Return the conversation that the options ask for, new or gone on with."""
    going_on = None
    if resume is not None:
        user = call.the_user()
        going_on = resumed(user, resume)
    else:
        user = call.writer(begins=not how["prompt"])
    model = call.model(user, how["model"]) or OfflineModel()
    return Conversation(user, model, call.clock, going_on)


def _prompt(talk: Conversation, message: str) -> Row:
    """Return every word that the model would see, or if the person said `message`.

    A person gets them part by part, each with its tokens; a script the messages, too.
    """
    seen = talk.view(message)
    turns = []
    for turn in seen.turns:
        role = "assistant" if turn.speaker == ASSISTANT else "user"
        turns.append((role, turn.text))
    lines = []
    sizes: dict[str, int] = {}
    for name, text in [*seen.system, *turns[:-1], *seen.beside, *turns[-1:]]:
        sizes[name] = sizes.get(name, 0) + count_tokens(text)
        lines.append(f"== {name} ({count_tokens(text)} tokens)\n{text}\n")
    total = sum(sizes.values())
    lines.append(f"== in all ({total} tokens, {len(talk.offered)} tools aside)")
    data = {"tokens": sizes, "messages": seen.messages(), "tools": talk.offered}
    return Row(data, lines)


@contextlib.contextmanager
def _recorded(talk: Conversation) -> Iterator[None]:
    """Commit what is kept of a conversation when it ends.

    That is its transcript, and what the program wrote on request.
    """
    if not talk.kept:
        yield
        return
    kept = talk.transcript
    with JobRun(talk.user, "chat", talk.now(), exclusive=False) as run:
        try:
            yield
        finally:
            if kept.path and kept.turns():
                paths = [kept.path, *talk.written]
                say_dim(*run.commit(kept.subject(), paths, Session=kept.path))
