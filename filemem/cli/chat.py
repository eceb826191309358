"""The chat in the terminal: reading lines, showing events, the slash commands."""

import contextlib
import os
import select
import sys
from collections.abc import Callable

import click

from filemem import prompt, tokens
from filemem.agent import Called, Conversation, Event, Notice, Text, call_line
from filemem.cli.common import colours, dim, say, say_json, split_line
from filemem.cli.setup import edited, remembered
from filemem.errors import FilememError
from filemem.forget import forget
from filemem.model import OpenAIModel
from filemem.offline import NOTICE
from filemem.plain import visible

with contextlib.suppress(ImportError):  # a Python built without it reads plain lines
    import readline

HELP = """\
/memory         what is in the prompt, with token counts
/remember TEXT  keep one fact
/forget PATH    delete one memory, after a question
/open PATH      read a memory; it stays in the prompt
/edit PATH      change a memory in your editor
/help           this list
/quit           end; so does Ctrl-D. Ctrl-C stops an answer."""


class Chat:
    """One conversation shown in the terminal, or as JSON events."""

    def __init__(self, talk: Conversation, *, as_json: bool) -> None:
        self._talk = talk
        self._as_json = as_json
        self._open_line = False  # is the cursor behind text that streamed?
        self._commands: dict[str, Callable[[str], None]] = {
            "/help": lambda _: say(HELP),
            "/memory": lambda _: self._memory(),
            "/remember": self._remember,
            "/forget": self._forget,
            "/open": self._open,
            "/edit": self._edit,
        }
        if isinstance(talk.model, OpenAIModel):
            talk.model.on_notice = lambda text: self._hear(Notice(text))

    # -- running -------------------------------------------------------------------------------------------------

    def once(self, message: str) -> int:
        """Answer one message; exit code 2 where there was no whole answer."""
        message = message.strip()
        if not message:
            raise FilememError("the message is empty; say something, as in: filemem chat -m 'What tea do I like?'")
        if not self._as_json:
            self._say_if_offline()
        return self._take(message)

    def run(self) -> int:
        """Read and answer until Ctrl-D or /quit."""
        self._greet()
        history = self._talk.user.bookkeeping("history")
        with _history(history):
            while (message := self._read()) is not None:
                if message == "/quit":
                    break
                if message:
                    self._take(message)
        say()
        if self._talk.transcript.path:
            say(dim(f"Kept in {self._talk.transcript.path}"))
        return 0

    def _greet(self) -> None:
        name = self._talk.model.name
        say(dim(f"{self._talk.user.name}, {name}. /help lists the commands, Ctrl-D ends."))
        self._say_if_offline()
        turns = self._talk.transcript.turns()
        if turns:
            say(dim(f"Going on with {self._talk.transcript.path}, {len(turns)} turns."))

    def _say_if_offline(self) -> None:
        if self._talk.model.name == "offline":
            click.echo(dim(NOTICE), err=True)

    def _read(self) -> str | None:
        """The next message; None at the end of input. Lines that were pasted together stay together."""
        mark = click.style("> ", bold=True) if colours() else "> "
        try:
            lines = [input(mark.replace("\x1b[1m", "\001\x1b[1m\002").replace("\x1b[0m", "\001\x1b[0m\002"))]
            while select.select([sys.stdin], [], [], 0.03)[0]:
                lines.append(input())
        except EOFError:
            return None
        except KeyboardInterrupt:
            say("\nCtrl-D or /quit ends.")
            return ""
        return "\n".join(lines).strip()

    def _take(self, message: str) -> int:
        """One message or slash command; an error is one line, and the session goes on."""
        word, _, rest = message.partition(" ")
        try:
            if word in self._commands:
                self._commands[word](rest.strip())
            elif word[0] == "/" and "/" not in word[1:] and "\n" not in message and word.isascii():
                raise FilememError(f"there is no command {word}; /help lists them.")
            else:
                self._answer(message)
        except KeyboardInterrupt:
            self._line_end()
            say(dim("[interrupted; kept so in the session]"))
            return 130
        except FilememError as error:
            self._failed(str(error))
            return 2
        except OSError as error:
            self._failed(f"{error.filename or 'the disk'}: {error.strerror}; make room or put its permissions right.")
            return 2
        return 0

    def _failed(self, sentence: str) -> None:
        self._line_end()
        if self._as_json:
            say_json({"event": "error", "text": sentence})
        else:
            click.echo(click.style(visible(sentence), fg="red") if colours(sys.stderr) else visible(sentence), err=True)

    def _answer(self, message: str) -> None:
        answer = self._talk.say(message, self._hear)
        self._line_end()
        if self._as_json:
            say_json({"event": "answer", "text": answer, "session": self._talk.transcript.path})

    # -- showing -------------------------------------------------------------------------------------------------

    def _hear(self, event: Event) -> None:
        """Show one event as it comes."""
        if self._as_json:
            say_json({"event": type(event).__name__.lower().removesuffix("ed"), **event._asdict()})
            return
        match event:
            case Text(text):
                click.echo(visible(text), nl=False)
                sys.stdout.flush()
                self._open_line = not text.endswith("\n") if text else self._open_line
            case Called():
                self._line_end()
                say_dim(call_line(event))
            case Notice(text):
                self._line_end()
                say_dim(text)

    def _line_end(self) -> None:
        if self._open_line and not self._as_json:
            click.echo()
        self._open_line = False

    # -- slash commands ------------------------------------------------------------------------------------------

    def _memory(self) -> None:
        system, turns = self._talk.view()
        for part in system:
            say(f"{tokens.count(part.text):>6} tokens  {part.name}")
        said = sum(tokens.count(turn.text) for turn in turns)
        say(f"{said:>6} tokens  the last {len(turns)} turns")
        total = sum(tokens.count(str(message["content"])) for message in prompt.messages(system, turns))
        say(f"{total:>6} tokens  in all; filemem prompt --resume prints every word of it")

    def _remember(self, text: str) -> None:
        say(f"Remembered {remembered(self._talk.user, text).path}")

    def _forget(self, path: str) -> None:
        user = self._talk.user
        name, _ = split_line(user, _needed(path, "/forget facts/2026/2026-11-20-tea.md"))
        where = user.locate(name)
        if not sys.stdin.isatty() or not click.confirm(f"Delete {visible(where)} for good?"):
            say("Nothing was deleted.")
            return
        for line in forget(user, where):
            say(line)

    def _open(self, path: str) -> None:
        name, line = split_line(self._talk.user, _needed(path, "/open profile.md"))
        say(self._talk.tools.call("open", {"path": name, "line": line or 1}))

    def _edit(self, path: str) -> None:
        user = self._talk.user
        name, line = split_line(user, _needed(path, "/edit profile.md"))
        for problem in edited(user, user.locate(name), line):
            say(f"{problem.path}:{problem.line}: {problem.what}; {problem.remedy}.")


def say_dim(text: str) -> None:
    """Print one line in the background."""
    click.echo(dim(visible(text)))


def _needed(argument: str, example: str) -> str:
    if not argument:
        raise FilememError(f"name a memory, as in: {example}")
    return argument


@contextlib.contextmanager
def _history(path: str):  # type: ignore[no-untyped-def]
    """Keep what was typed for the next session, where readline is there."""
    if "readline" not in globals():
        yield
        return
    readline.set_history_length(1000)
    with contextlib.suppress(OSError):
        readline.read_history_file(path)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            if os.path.isdir(os.path.dirname(path)):
                readline.write_history_file(path)
                os.chmod(path, 0o600)
