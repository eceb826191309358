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
from filemem.chat.core_memory import preferences
from filemem.cli.context import (
    Context,
    json_lines_option,
    model_option,
    new_option,
    pass_call,
    split_line,
)
from filemem.cli.output import Progress, say, say_dim, sentence
from filemem.cli.screen import Screen
from filemem.errors import FilememError, NotFound
from filemem.forget.sweep import waiting_line
from filemem.index import vectors
from filemem.jobs import JobRun
from filemem.learn import background, proposals
from filemem.learn.log import LearnLog
from filemem.learn.sessions import unread
from filemem.llm.choice import NOTICE, OfflineModel
from filemem.store import config, transcript, usage
from filemem.store.folder import Folder
from filemem.store.transcript import Transcript
from filemem.text.plain import counted, first_few, one_line

with contextlib.suppress(ImportError):  # a Python built without it reads plain lines
    import readline  # noqa: F401  lines can be edited; what is pasted stays whole

HELP = """\
/search WORDS: the best passages for some words or a question.
/open PATH: read a memory; also PATH:LINE.
/remember TEXT: keep one fact.
/forget [WORDS]: delete the last exchange, or what holds the words and what tells of \
it; also a path. It shows everything first, and asks.
/edit PATH: change a memory in your editor.
/list GLOB: list memories, as in sessions/**. To go on with a conversation: \
filemem chat --resume NAME.
/status: what there is, and what stands in the prompt; so with any other command of \
filemem.
/off: keep nothing of what follows, until /off is said again.
/quit ends, as does Ctrl-D; Ctrl-C stops an answer."""
ENDS = ("/quit", "/exit", "quit", "exit", "退出")
NOT_IN_A_CHAT = ("chat", "mcp", "serve")  # which take what is typed themselves
OFF = "From here on nothing is kept; what was said before is."
ON = "From here on everything is kept again."
READ_ONLY = "{} cannot be written, so nothing of this is kept."
WISHES_WAIT = (
    "What {} says on how to talk with you is read as data, as this store only lies"
    " here; if it is yours, name it with --store or FILEMEM_STORE."
)
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
    """One conversation in a terminal, or one message and its answer."""

    def __init__(self, call: Context, talk: Conversation, screen: Screen) -> None:
        self._call = call
        self._talk = talk
        self._screen = screen

    def once(self, message: str) -> int:
        """Answer one message; return exit code 2 where there was no whole answer."""
        if not transcript.newest(self._talk.user):
            self._say_if_offline()
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
        talk = self._talk
        aside = self._screen.aside
        aside(f"{talk.user.name}, {talk.model.name}. Memories are in {talk.user.root}.")
        self._say_if_offline()
        if not talk.offline:
            aside(NO_WRITER)
        if not talk.kept:
            aside(OFF)
        turns = talk.transcript.turns()
        if turns:
            count = counted(len(turns), "turn")
            aside(f"Going on with {talk.transcript.path}, {count}.")
        for turn in turns[-SHOWN_TURNS:]:
            aside(f"{turn.speaker}: {one_line(turn.text, SHOWN_CHARS)}")
        waiting = proposals.count(talk.user)
        if waiting:
            aside(f"Waiting for you, in filemem review: {waiting}.")
        for line in waiting_line(usage.waiting_for_a_yes(talk.user)):
            aside(line)
        self._tell_news()
        aside("/help lists the commands, Ctrl-D ends.")

    def _say_goodbye(self) -> None:
        talk = self._talk
        if talk.transcript.path:
            self._screen.aside(f"The conversation is in {talk.transcript.path}.")
        if talk.offline:
            turns = unread(talk.user, LearnLog(talk.user))
            waiting = len({turn.session.path for turn in turns})
            self._screen.aside(
                f"Conversations that wait for a model: {waiting}. /remember TEXT keeps"
                " a fact meanwhile."
            )
        vectors.catch_up(index.of(talk.user))

    def _say_if_offline(self) -> None:
        """Say why answers are quotes, unless that was said with the model's choice."""
        talk = self._talk
        if talk.offline and not config.unanswered(talk.user.store):
            self._screen.aside(NOTICE)

    def _take(self, message: str) -> int:
        """Take one message or slash command; the chat goes on after an error."""
        slash = _SLASH.fullmatch(message)
        try:
            if slash:
                return self._command(slash[1].lower(), slash[2] or "")
            with Progress("reading the memories") as show:
                index.of(self._talk.user).corpus(show)
            self._screen.begin()
            self._screen.end(self._talk.say(message, self._screen.hear))
            return 0
        except (KeyboardInterrupt, click.Abort):  # the latter at a question
            self._screen.fail("Stopped.")
            return 130
        except (click.ClickException, FilememError, OSError) as error:
            self._screen.fail(sentence(error))
        return 2

    # -- commands ----------------------------------------------------------------------

    def _command(self, name: str, rest: str) -> int:
        """Do what a line that begins with a slash asks for; return the exit code."""
        if name == "help":
            self._screen.aside(HELP)
            return 0
        if name == "off":
            return self._switch_off()
        if name == "forget" and not rest:
            rest = self._last_exchange()
        return self._filemem(name, rest)

    def _switch_off(self) -> int:
        """Go off the record, or on it again."""
        if self._talk.kept:
            self._talk.go_off_the_record()
            self._screen.aside(OFF)
        else:
            self._talk.go_on_the_record()
            self._screen.aside(ON)
        return 0

    def _filemem(self, name: str, rest: str) -> int:
        """Run a command of filemem's as it is, for the user of this chat."""
        root = click.get_current_context().find_root()
        group: Any = root.command
        found = group.get_command(root, name)
        if found is None or name in NOT_IN_A_CHAT:
            raise FilememError(f"there is no command /{name}; /help lists them.")
        if not rest and any(parameter.required for parameter in found.params):
            raise FilememError(f"say what, behind /{name}; /help has what each takes.")
        self._call.talking = self._talk.user
        arguments = ["--", rest] if rest else []
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
        path = lines[0].rpartition(":")[0]
        numbers = [place.rpartition(":")[2] for place in lines]
        return f"{path}:{','.join(numbers)}"


def _messages() -> Iterator[str]:
    """Yield what is typed, until Ctrl-D; lines pasted together are one message."""
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
    part = split_line(folder, name.strip())[0].casefold()
    for path in paths:
        if part in path.casefold():
            return Transcript(folder, path)
    latest = first_few(paths) or "none"
    named = one_line(name, 80)
    raise NotFound(f"{folder.name} has no session {named}; the latest are {latest}.")


@click.command("chat")
@click.option("-m", "--message", metavar="TEXT", help="Answer this, and exit.")
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
@click.option("-v", "--verbose", is_flag=True, help="Show each tool call.")
@json_lines_option
@new_option
@pass_call
def chat_command(
    call: Context,
    message: str | None,
    model: str | None,
    resume: str | None,
    off: bool,
    verbose: bool,
) -> int:
    """Talk with an assistant that remembers.

    Without a model it quotes what it finds. Input that is piped in is one message.
    SESSION is a path or a part of one. With --json-lines there is one event a line:
    text, call, notice, answer, error.

    Example: filemem chat -m 'What tea does Mara like?'"""
    going_on = None
    if resume is None:
        user = call.writer()
    else:
        user = call.the_user()
        going_on = resumed(user, resume)
    answering = call.model(user, model) or OfflineModel()
    talk = Conversation(user, answering, call.clock, going_on)
    screen = Screen(talk, call.form, verbose=verbose)
    if _is_read_only(user):
        screen.aside(READ_ONLY.format(user.root))
        off = True
    if off:
        talk.go_off_the_record()
    if _has_wishes_that_wait(talk):
        screen.aside(WISHES_WAIT.format(one_line(user.root)))
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


def _is_read_only(user: Folder) -> bool:
    """Return whether nothing can be kept of what this user says."""
    place = user.root if user.exists() else user.store
    return os.access(place, os.R_OK | os.X_OK) and not os.access(place, os.W_OK)


def _has_wishes_that_wait(talk: Conversation) -> bool:
    """Return whether wishes stand in a store that was neither named nor begun here."""
    user = talk.user
    if talk.offline or user.is_own or not user.exists():
        return False
    return bool(preferences(user, talk.now().date()))


@contextlib.contextmanager
def _recorded(talk: Conversation) -> Iterator[None]:
    """Commit what is kept of a conversation when it ends."""
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
