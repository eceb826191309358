"""The chat in the terminal: reading lines, showing events, the slash commands."""

import contextlib
import datetime as dt
import json
import os
import re
import select
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import TextIO

import click

from filemem import index
from filemem.chat import requests
from filemem.chat.conversation import CITED, UNSEEN, Conversation, Event, Notice, Text, Thought, ToolCalled, call_line
from filemem.chat.quoting import day_of
from filemem.cli.context import split_line
from filemem.cli.keep import edited, remembered
from filemem.cli.screen import (
    Wrapper,
    colours,
    columns,
    confirmed,
    dim,
    for_script,
    progress,
    put,
    say,
    say_answer,
    say_aside,
    say_dim,
    say_json,
    tell,
    wrapped,
)
from filemem.cli.telling import BackgroundReading, standing
from filemem.errors import FilememError, NotFound, in_words
from filemem.files import config, safe, transcript
from filemem.files.folder import Folder
from filemem.files.memory import LARGEST, is_archived, when_of
from filemem.files.safe import Place
from filemem.files.transcript import Transcript
from filemem.forgetting import deletion
from filemem.forgetting.deletion import TextMatcher
from filemem.jobs.running import forget
from filemem.models import Model, OpenAIModel
from filemem.models.offline import NOTICE, OfflineModel, in_chinese
from filemem.search import semantic
from filemem.text import tokens
from filemem.text.plain import counted, escape_controls, first_few, one_line
from filemem.text.redaction import OwnPatterns, redact
from filemem.tools.toolbox import Toolbox

with contextlib.suppress(ImportError):  # a Python built without it reads plain lines
    import readline

MOST_TYPED = 1000  # lines kept of what was typed
HELP = """\
/search WORDS   the best passages for some words or a question
/sessions       the latest conversations; filemem chat --resume NAME goes on with one
/model [NAME]   which model answers, or have another one answer; offline quotes only
/memory         what is in the prompt, with token counts
/remember TEXT  keep one fact
/forget PATH    delete a memory and what tells of it, after a question; also --about WORDS
/open PATH      read a memory, which then stays in the prompt; also PATH:LINE
/edit PATH      change a memory in your editor
/off            keep nothing of what is said from here on
/quit           end; so does Ctrl-D

Ctrl-C stops an answer. Tab completes a command or a path."""
EVENTS = {Text: "text", Thought: "thought", ToolCalled: "call", Notice: "notice"}  # as a script has them
WORKING = ("looking …", "在查 …")
UNSHOWN = ("(the model was not shown this)", "（模型没有看到这一行）")
NOT_THERE = ("(there is no such line)", "（没有这一行）")
LAST_TURNS = 4  # that a resumed session shows
LAST_WORDS = 300  # characters shown of each
LONGEST_CITED = 300  # characters
LISTED = 10  # sessions that /sessions shows
_OF_FILES = re.compile(r"([\d,]+) files?\b")
_QUOTED = re.compile(f"`?({CITED.pattern})`?")
_MAY_CITE = re.compile(
    r"`?(?:(?:facts|sessions|lessons|summaries|blocks)/[\w./\-:]*|[A-Za-z0-9_][A-Za-z0-9_./\-:]*)?`?$"
)
_NEXT = re.compile(r'open (\{"path": .*\}) shows the next\.$', re.MULTILINE)


class Sources:
    """Puts numbers for the citations in an answer as it streams, and has the list of them; where it is not `numbered`, they stay,
    and those of what the model was not shown are marked."""

    def __init__(self, known: Callable[[str], bool], *, numbered: bool) -> None:
        self._known = known
        self._numbered = numbered
        self._waiting = ""
        self._numbers: dict[str, int] = {}

    def feed(self, text: str) -> str:
        """What of the text may be shown now; what may be the beginning of a citation waits."""
        text = self._waiting + text
        waits = _MAY_CITE.search(text)
        cut = waits.start() if waits and len(text) - waits.start() < LONGEST_CITED else len(text)
        text, self._waiting = text[:cut], text[cut:]
        return _QUOTED.sub(self._number, text)

    def end(self) -> str:
        """What was still waiting."""
        text, self._waiting = self._waiting, ""
        return _QUOTED.sub(self._number, text)

    def _number(self, cited: re.Match[str]) -> str:
        known = self._known(cited[1])
        if not self._numbered:
            return cited[0] + ("" if known else UNSEEN)
        mark = "" if known else "?"
        return f"[{self._numbers.setdefault(cited[1], len(self._numbers) + 1)}{mark}]"

    def taken(self) -> list[tuple[int, str]]:
        """The citations since the last answer, by number; the next answer begins anew."""
        found = [(number, place) for place, number in self._numbers.items()]
        self._numbers = {}
        return found


class Chat:
    """One conversation shown in the terminal, or as JSON events."""

    def __init__(self, talk: Conversation, make_model: Callable[[str], Model], *, verbose: bool = False) -> None:
        self._talk = talk
        self._make_model = make_model
        self._open_line = False  # is the cursor behind text that streamed?
        self._thinking = False  # was that text a thought?
        self._ended = False  # was Ctrl-D typed behind a pasted text?
        self._held = ""  # line ends that came last; they are shown once more text follows
        self._wrapper = Wrapper(_width)
        self._verbose = verbose
        self._behind = BackgroundReading(talk)
        self._calls: list[ToolCalled] = []  # not told of yet
        self._chinese = False  # is the answer to a message in Chinese?
        self._at_work = ""  # what a terminal says until the answer begins
        self._sources = Sources(talk.was_shown, numbered=sys.stdout.isatty())
        self._commands: dict[str, Callable[[str], None]] = {
            "/help": lambda _: self._say(HELP),
            "/search": self._search,
            "/sessions": lambda _: self._sessions(),
            "/model": self._model,
            "/memory": lambda _: self._memory(),
            "/remember": self._remember,
            "/forget": self._forget,
            "/open": self._open,
            "/edit": self._edit,
            "/off": lambda _: self._off(),
        }
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
        self._say_if_offline()
        return self._take(message)

    def run(self) -> int:
        """Read and answer until Ctrl-D or /quit."""
        self._greet()
        self._behind.start()
        user = self._talk.user
        with _history(user.bookkeeping("history"), self._completions, config.of(user).own):
            while (message := self._read()) is not None:
                if message.split()[:1] == ["/quit"]:
                    break
                if message:
                    self._take(message)
                    self._behind.show()
        if not for_script():
            say("")
        self._behind.show()
        if self._talk.transcript.path:
            _aside(f"The conversation is in {self._talk.transcript.path}. {standing(self._talk)}")
            semantic.catch_up(index.of(user))
        return 0

    def _greet(self) -> None:
        place = os.path.relpath(self._talk.user.root)
        place = self._talk.user.root if place.startswith("..") else place
        _aside(f"{self._talk.user.name}, {self._talk.model.name}. Memories are in {place}.")
        self._say_if_offline()
        turns = self._talk.transcript.turns()
        if turns:
            _aside(f"Going on with {self._talk.transcript.path}, {counted(len(turns), 'turn')}.")
        for turn in turns[-LAST_TURNS:]:
            _aside(f"{turn.speaker}: {one_line(turn.text, LAST_WORDS)}")
        _aside("/help lists the commands, Ctrl-D ends.")

    def _say_if_offline(self) -> None:
        if self._talk.model.name == OfflineModel.name:
            _aside(NOTICE)

    def _read(self) -> str | None:
        """The next message; None at the end of input. Lines that were pasted together stay together."""
        if self._ended:
            return None
        mark = click.style("> ", bold=True) if colours() else "> "
        lines: list[str] = []
        try:
            lines.append(input(re.sub("(\x1b\\[[0-9]*m)", "\001\\1\002", mark)))
            while select.select([sys.stdin], [], [], 0.03)[0]:
                lines.append(input())
        except EOFError:
            self._ended = True
            if not lines:
                return None
        except KeyboardInterrupt:
            say("\nCtrl-D or /quit ends.")
            return ""
        finally:
            if not self._talk.kept:
                _drop_typed(sum(1 for line in lines if line.strip()))
        return "\n".join(lines).strip()

    def _take(self, message: str) -> int:
        """One message or slash command; an error is one line, and the session goes on."""
        word, _, rest = message.partition(" ")
        stopped = "Stopped." if word in self._commands else "Stopped; what had come is kept in the session."
        try:
            if word in self._commands:
                self._commands[word](rest.strip())
            elif word[0] == "/" and "/" not in word[1:] and "\n" not in message and word.isascii():
                raise FilememError(f"there is no command {word}; /help lists them.")
            else:
                self._answer(message)
        except KeyboardInterrupt:
            self._failed(stopped)
            return 130
        except click.Abort:  # Ctrl-C or Ctrl-D at a question
            say("\nNothing was deleted.")
        except FilememError as error:
            self._failed(str(error))
            return 2
        except OSError as error:
            self._failed(in_words(error))
            return 2
        return 0

    def _failed(self, sentence: str) -> None:
        self._line_end()
        shown = _fitted(escape_controls(sentence), sys.stderr)
        shown = click.style(shown, fg="red") if colours(sys.stderr) else shown
        tell({"event": "error", "text": sentence}, shown, how=lambda line: put(line, err=True))

    def _answer(self, message: str) -> None:
        self._chinese = in_chinese(message)
        with progress("reading the memories") as show:
            index.of(self._talk.user).progress = show
            self._sign(WORKING[self._chinese] if self._talk.model.name != OfflineModel.name else "")
            try:
                answer = self._talk.say(message, self._hear)
            finally:
                self._sign("")
        if requests.unrecorded(message) or requests.to_forget(message):
            _drop_typed(1 + requests.to_forget(message))
        self._line_end()
        self._list_sources()
        tell({"event": "answer", "text": answer, "session": self._talk.transcript.path})

    # -- showing -------------------------------------------------------------------------------------------------

    def _sign(self, text: str) -> None:
        """Say on a terminal that the answer is being worked at, or with "" no more."""
        if (text or self._at_work) and sys.stdout.isatty() and not for_script():
            put(dim(text) if text else f"\r{' ' * columns(self._at_work)}\r", nl=False)
            sys.stdout.flush()
            self._at_work = text

    def _hear(self, event: Event) -> None:
        """Show one event as it comes."""
        if isinstance(event, Thought) and (for_script() or not sys.stdout.isatty()):
            return
        if for_script():
            say_json({"event": EVENTS[type(event)], **event._asdict()})
            return
        if not isinstance(event, ToolCalled) or self._verbose:
            self._sign("")
        match event:
            case Text(text):
                self._stream(text, thinking=False)
            case Thought(text):
                self._stream(text, thinking=True)
            case ToolCalled():
                self._line_end()
                if self._verbose:
                    _aside(call_line(event))
                else:
                    self._calls.append(event)
            case Notice(text):
                self._line_end()
                _aside(text)

    def _stream(self, text: str, *, thinking: bool) -> None:
        """Show a piece of the answer, or dim of what the model thinks; empty lines at either end are left out."""
        if thinking != self._thinking:
            self._line_end()
            self._thinking = thinking
        if self._calls and text.strip():
            _aside(self._looked_at())
        self._show(self._sources.feed(text) if self._cites and not thinking else text, thinking=thinking)

    def _show(self, text: str, *, thinking: bool) -> None:
        text = self._held + text if self._open_line else text.lstrip("\n")
        shown = text.rstrip("\n")
        self._held = text[len(shown) :]
        if shown:
            self._open_line = True
            fitted = self._wrapper.feed(escape_controls(shown)) if sys.stdout.isatty() else escape_controls(shown)
            put(dim(fitted) if thinking and fitted else fitted, nl=False)
            sys.stdout.flush()

    @property
    def _cites(self) -> bool:
        """Does a model answer, which may cite what it was not shown?"""
        return self._talk.model.name != OfflineModel.name and not for_script()

    def _looked_at(self) -> str:
        """What the calls that were not told of looked at, in the person's language."""
        calls, self._calls = self._calls, []
        searched = max(
            (int(found[1].replace(",", "")) for call in calls if (found := _OF_FILES.search(call.brief))), default=0
        )
        opened = len({call.arguments for call in calls if call.name == "open"})
        chinese = self._chinese
        files = f"{searched:,} file{'s' * (searched != 1)}"
        said = [f"查了{searched:,}个文件" if chinese else f"searched {files}"] if searched else []
        said += [f"打开了{opened}个" if chinese else f"opened {opened}"] if opened else []
        return ("，" if chinese else ", ").join(said) or ("查了一次" if chinese else "searched")

    def _list_sources(self) -> None:
        """The memories that the answer cites, by their numbers."""
        for number, place in self._sources.taken():
            there, when = self._talk.exists(place), when_of(place.rpartition(":")[0])
            day = f"{day_of(when, chinese=self._chinese)}  " if when and there else ""
            doubt = () if self._talk.was_shown(place) else UNSHOWN if there else NOT_THERE
            _aside(f"[{number}] {day}{place}{'  ' if doubt else ''}{doubt[self._chinese] if doubt else ''}")

    def _line_end(self) -> None:
        if self._cites and (rest := self._sources.end()):
            self._show(rest, thinking=False)
        if self._open_line and not for_script():
            rest = self._wrapper.end()
            put(dim(rest) if self._thinking and rest else rest)
            self._wrapper = Wrapper(_width)
        self._open_line, self._held = False, ""

    def _say(self, text: str) -> None:
        """What a slash command prints."""
        tell({"event": "notice", "text": text}, _fitted(escape_controls(text), sys.stdout))

    # -- slash commands ------------------------------------------------------------------------------------------

    def _search(self, words: str) -> None:
        if not words:
            raise FilememError("say for what, as in: /search What tea do I like?")
        found = Toolbox(self._talk.user, self._talk.now).call("search_files", {"query": words})  # this talk too
        if for_script():
            self._say(found)
        else:
            say_answer(self._talk.user, found)

    def _sessions(self) -> None:
        self._say("\n".join(_sessions(self._talk.user)) or "There is none yet; this one begins with a message.")

    def _model(self, name: str) -> None:
        if name:
            self._talk.model = self._make_model(name)
            self._listen()
        self._say(f"{'From now on ' * bool(name)}{self._talk.model.name} answers.")
        if name:
            self._say_if_offline()

    def _memory(self) -> None:
        seen = self._talk.view()
        turns = seen.turns
        sizes = [(tokens.count(part.text), part.name) for part in [*seen.system, *seen.beside]]
        said = sum(tokens.count(turn.text) for turn in turns)
        sizes.append((said, f"the last {len(turns)} turns" if len(turns) > 1 else f"{len(turns) or 'no'} turn"))
        total = sum(size for size, _ in sizes)
        self._say("\n".join(f"{size:>6,} tokens  {name}" for size, name in [*sizes, (total, "in all")]))

    def _remember(self, text: str) -> None:
        if not text:
            raise FilememError("say what, as in: /remember Prefers oolong tea.")
        self._say("\n".join(remembered(self._talk.user, text, self._talk.now())))

    def _forget(self, what: str) -> None:
        user = self._talk.user
        word, _, about = _needed(what, "/forget the words, or a path:line").partition(" ")
        about = about.strip().strip('"“”') if word == "--about" else ""
        name, line = split_line(user, what)
        found = deletion.plan(user, "" if about else f"{name}:{line}" if line else name, about=about)
        if not found:
            raise FilememError(f"nothing holds all the words of {about or what!r}.")
        self._say("\n".join(deletion.planned(found)))
        if not sys.stdin.isatty() or not confirmed("Delete all this for good?"):
            self._say("Nothing was deleted.")
            return
        done = forget(user, found, self._talk.now())
        path = self._talk.transcript.path
        self._talk.transcript.path = found.names.get(path) or path
        self._say("\n".join(deletion.report(done, user.name)))
        _forget_typed(found.matcher)
        say_aside(done.note)

    def _open(self, path: str) -> None:
        name, line = split_line(self._talk.user, _needed(path, "/open profile.md"))
        self._say(_NEXT.sub(_as_typed, self._talk.tools.open(name, line or 1)))

    def _edit(self, path: str) -> None:
        user = self._talk.user
        name, line = split_line(user, _needed(path, "/edit profile.md"))
        for problem in edited(user, user.locate(name), line):
            self._say(str(problem))

    def _off(self) -> None:
        self._talk.go_off_the_record()
        self._say("From here on nothing is kept; what was said before is.")

    def _completions(self, line: str, word: str) -> list[str]:
        """What Tab may make of the last word of a line."""
        if line.startswith("/") and " " not in line:
            return [f"{name} " for name in (*self._commands, "/quit") if name.startswith(line)]
        if line.partition(" ")[0] in ("/open", "/edit", "/forget"):
            return [path for path in self._talk.user.paths() if path.startswith(word)]
        return [f"{word}\t"]


def _as_typed(call: re.Match[str]) -> str:
    """A call that shows the next lines, as a person types it."""
    asked = json.loads(call[1])
    return f"/open {asked['path']}:{asked['line']} shows the next."


def _width() -> int:
    return shutil.get_terminal_size().columns


def _fitted(text: str, stream: TextIO) -> str:
    """`text` broken at a terminal's width; as it is elsewhere."""
    return wrapped(text, _width()) if stream.isatty() else text


def _aside(text: str) -> None:
    """Print a notice on standard error; scripts get none."""
    if not for_script():
        say_dim(text)


def _needed(argument: str, example: str) -> str:
    if not argument:
        raise FilememError(f"name a memory, as in: {example}")
    return argument


def _forget_typed(matcher: TextMatcher) -> None:
    """Take the lines about something out of the input history, which is saved when the chat ends."""
    if "readline" in globals():
        for number in range(readline.get_current_history_length(), 0, -1):
            if matcher.holds(readline.get_history_item(number) or ""):
                readline.remove_history_item(number - 1)


def _drop_typed(count: int) -> None:
    """Take the last lines out of the input history."""
    if "readline" in globals():
        for _ in range(min(count, readline.get_current_history_length())):
            readline.remove_history_item(readline.get_current_history_length() - 1)


def _redact_typed(own: OwnPatterns) -> None:
    """Take secrets out of the lines that were typed, in earlier sessions too."""
    for number in range(readline.get_current_history_length()):
        line = readline.get_history_item(number + 1) or ""
        clean, found = redact(line, own)
        if found:
            readline.replace_history_item(number, clean)


@contextlib.contextmanager
def _history(place: Place, completions: Callable[[str, str], list[str]], own: OwnPatterns) -> Iterator[None]:
    """Keep what was typed for the next session, and complete words, where readline is there."""
    if "readline" not in globals():
        yield
        return
    readline.set_completer_delims(" \n")
    readline.set_completer(lambda word, n: [*completions(readline.get_line_buffer(), word), None][n])
    readline.parse_and_bind("bind ^I rl_complete" if "libedit" in (readline.__doc__ or "") else "tab: complete")
    path: Place | None = place
    try:
        typed = safe.read(place, LARGEST).decode(errors="replace").splitlines()
    except NotFound:
        typed = []
    except FilememError as error:
        say_dim(f"What you type is not kept: {error}")
        typed, path = [], None
    for line in typed[-MOST_TYPED:]:
        readline.add_history(line)
    try:
        yield
    finally:
        readline.set_completer(None)
        with contextlib.suppress(OSError, FilememError):
            if path and safe.exists(path.folder):
                _redact_typed(own)
                safe.write(path, _typed().encode("utf-8", "replace"))


def _typed() -> str:
    """The lines that were typed last, in earlier sessions too."""
    count = readline.get_current_history_length()
    lines = (readline.get_history_item(number) or "" for number in range(max(1, count - MOST_TYPED + 1), count + 1))
    return "".join(f"{line}\n" for line in lines)


def resumed(folder: Folder, name: str | None) -> Transcript | None:
    """The session to go on with: by its path or a part of its name, the latest for ""; None for None.

    Raises NotFound where there is none, FilememError where a part fits several.
    """
    if name is None:
        return None
    if not name.strip():
        return transcript.latest(folder)
    paths, (path, _) = transcript.newest(folder), split_line(folder, name)
    if path in paths:
        return Transcript(folder, path)
    wanted = path.removesuffix(".md").casefold()
    exact = [path for path in paths if path.rpartition("/")[2].removesuffix(".md").casefold() == wanted]
    live = [path for path in paths if wanted in path.casefold() and not is_archived(path)]
    found = exact or live or [path for path in paths if wanted in path.casefold()]
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
    answers = [turn.text for turn in session.turns() if turn.speaker == transcript.ASSISTANT]
    return session if answers and set(answers) == {transcript.NO_ANSWER} else None


def _sessions(folder: Folder) -> list[str]:
    """A line each for the latest sessions: when, how many turns, where."""
    lines = []
    for path in transcript.newest(folder)[:LISTED]:
        when, turns = when_of(path), len(Transcript(folder, path).turns())
        began = f"{when.date} {when.time or '':5}" if when else ""
        left = [f"{'':24}open: {one_line(text, 100)}" for text in folder.memory(path).episode.open]
        lines += [f"{began}  {turns:>3} turn{'s' if turns != 1 else ' '}  {path}", *left]
    return lines
