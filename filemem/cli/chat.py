"""The command that talks: chat, in the terminal or as JSON events; reading lines, showing events, the slash commands."""

import contextlib
import datetime as dt
import json
import os
import queue
import re
import select
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, TextIO

import click

from filemem import index
from filemem.chat import core_memory, requests
from filemem.chat.conversation import CITED, UNSEEN, Conversation, Event, Notice, Text, Thought, ToolCalled, call_line
from filemem.chat.recalling import day_of
from filemem.cli.context import Context, json_option_that, model_option, new_option, pass_call, split_line
from filemem.cli.keep import edited, remembered, to_delete
from filemem.cli.screen import (
    Row,
    Wrapper,
    answer,
    colours,
    columns,
    confirmed,
    dim,
    progress,
    put,
    say,
    say_aside,
    say_dim,
    show,
    wrapped,
)
from filemem.errors import Busy, FilememError, NotFound, in_words
from filemem.files import config, safe, transcript, trust
from filemem.files.folder import Folder
from filemem.files.memory import LARGEST, is_archived, when_of
from filemem.files.safe import Place
from filemem.files.transcript import Transcript
from filemem.forgetting import deletion
from filemem.jobs.running import ASKED, forget, job
from filemem.jobs.telling import as_json, consolidated, lines, waiting
from filemem.models import Model, OpenAIModel
from filemem.models.offline import NOT_TRUSTED, NOTICE, OfflineModel, chosen_model, in_chinese
from filemem.remembering import sessions
from filemem.remembering.consolidation import Applied
from filemem.remembering.supersession import PROPOSE
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
/forget WORDS   delete what holds them and what tells of it, after a question; also a path
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
NO_SESSION = "There is none yet; this one begins with a message."
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
        mark = "" if known else "?"
        return f"[{self._numbers.setdefault(cited[1], len(self._numbers) + 1)}{mark}]"

    def taken(self) -> list[tuple[int, str]]:
        """The citations since the last answer, by number; the next answer begins anew."""
        found = [(number, place) for place, number in self._numbers.items()]
        self._numbers = {}
        return found


class Chat:
    """One conversation shown in the terminal, or as JSON events."""

    def __init__(self, call: Context, talk: Conversation, *, verbose: bool = False) -> None:
        self._call = call
        self._talk = talk
        self._open_line = False  # is the cursor behind text that streamed?
        self._thinking = False  # was that text a thought?
        self._ended = False  # was Ctrl-D typed behind a pasted text?
        self._held = ""  # line ends that came last; they are shown once more text follows
        self._wrapper = Wrapper(_width)
        self._verbose = verbose
        self._behind = BackgroundReading(call, talk)
        self._calls: list[ToolCalled] = []  # not told of yet
        self._chinese = False  # is the answer to a message in Chinese?
        self._at_work = ""  # what a terminal says until the answer begins
        self._sources = Sources(talk.was_shown, numbered=sys.stdout.isatty())
        self._commands: dict[str, Callable[[str], None]] = {
            "/help": lambda _: self._say(HELP),
            "/search": self._search,
            "/sessions": lambda _: self._say("\n".join(_sessions(self._talk.user)) or NO_SESSION),
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
                    self._behind.show(self._tell)
        if not self._call.json:
            say("")
        self._behind.show(self._tell)
        if self._talk.transcript.path:
            self._aside(f"The conversation is in {self._talk.transcript.path}. {standing(self._talk)}")
            semantic.catch_up(index.of(user))
        return 0

    def _greet(self) -> None:
        place = os.path.relpath(self._talk.user.root)
        place = self._talk.user.root if place.startswith("..") else place
        self._aside(f"{self._talk.user.name}, {self._talk.model.name}. Memories are in {place}.")
        self._say_if_offline()
        turns = self._talk.transcript.turns()
        if turns:
            self._aside(f"Going on with {self._talk.transcript.path}, {counted(len(turns), 'turn')}.")
        for turn in turns[-LAST_TURNS:]:
            self._aside(f"{turn.speaker}: {one_line(turn.text, LAST_WORDS)}")
        self._aside("/help lists the commands, Ctrl-D ends.")

    def _say_if_offline(self) -> None:
        if self._talk.model.name == OfflineModel.name and not self._call.told:
            held = config.withheld(self._talk.user.store, trust=self._talk.user.trust)
            self._aside(NOT_TRUSTED if {"model", "base_url"} & {*held} else NOTICE)

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
                _retype(lambda typed: typed[: -sum(bool(line.strip()) for line in lines) or None])
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
        self._tell({"event": "error", "text": sentence})
        if not self._call.json:
            put(shown, err=True)

    def _answer(self, message: str) -> None:
        self._chinese = in_chinese(message)
        with progress("reading the memories") as show:
            index.of(self._talk.user).progress = show
            self._sign(WORKING[self._chinese] if self._talk.model.name != OfflineModel.name else "")
            try:
                said = self._talk.say(message, self._hear)
            finally:
                self._sign("")
        if requests.unrecorded(message) or requests.to_forget(message):
            _retype(lambda typed: typed[: -1 - requests.to_forget(message)])
        self._line_end()
        self._list_sources()
        self._tell({"event": "answer", "text": said, "session": self._talk.transcript.path})

    # -- showing -------------------------------------------------------------------------------------------------

    def _sign(self, text: str) -> None:
        """Say on a terminal that the answer is being worked at, or with "" no more."""
        if (text or self._at_work) and sys.stdout.isatty() and not self._call.json:
            put(dim(text) if text else f"\r{' ' * columns(self._at_work)}\r", nl=False)
            sys.stdout.flush()
            self._at_work = text

    def _hear(self, event: Event) -> None:
        """Show one event as it comes."""
        if isinstance(event, Thought) and (self._call.json or not sys.stdout.isatty()):
            return
        if self._call.json:
            self._tell({"event": EVENTS[type(event)], **event._asdict()})
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
                    self._aside(call_line(event))
                else:
                    self._calls.append(event)
            case Notice(text):
                self._line_end()
                self._aside(text)

    def _stream(self, text: str, *, thinking: bool) -> None:
        """Show a piece of the answer, or dim of what the model thinks; empty lines at either end are left out."""
        if thinking != self._thinking:
            self._line_end()
            self._thinking = thinking
        if self._calls and text.strip():
            self._aside(self._looked_at())
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
        return self._talk.model.name != OfflineModel.name and not self._call.json

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
            self._aside(f"[{number}] {day}{place}{'  ' if doubt else ''}{doubt[self._chinese] if doubt else ''}")

    def _line_end(self) -> None:
        if self._cites and (rest := self._sources.feed("", end=True)):
            self._show(rest, thinking=False)
        if self._open_line and not self._call.json:
            rest = self._wrapper.end()
            put(dim(rest) if self._thinking and rest else rest)
            self._wrapper = Wrapper(_width)
        self._open_line, self._held = False, ""

    def _say(self, text: str) -> None:
        """What a slash command prints."""
        self._tell({"event": "notice", "text": text}, _fitted(text, sys.stdout))

    def _tell(self, facts: dict[str, Any], *lines: str) -> None:
        """Facts for a script, or lines for a person."""
        show(iter([Row(facts, lines)]), as_json=self._call.json)

    def _aside(self, text: str) -> None:
        """A notice on standard error; scripts get none."""
        if not self._call.json:
            say_dim(text)

    # -- slash commands ------------------------------------------------------------------------------------------

    def _search(self, words: str) -> None:
        if not words:
            raise FilememError("say for what, as in: /search What tea do I like?")
        found = Toolbox(self._talk.user, self._talk.now).call("search_files", {"query": words})  # this talk too
        if self._call.json:
            self._say(found)
        else:
            show(answer(found), as_json=False)

    def _model(self, name: str) -> None:
        if name:
            self._talk.model = the_model(self._call, self._talk.user, name)
            self._listen()
        self._say(f"{'From now on ' * bool(name)}{self._talk.model.name} answers.")
        if name:
            self._say_if_offline()

    def _memory(self) -> None:
        seen = self._talk.view()
        turns = seen.turns
        sizes = [(tokens.count(text), name) for name, text in [*seen.system, *seen.beside]]
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
        asks = sys.stdin.isatty()
        found = to_delete(user, "" if about else what, about, asks=asks)
        if not found and not found.left:
            raise FilememError(f"nothing holds all the words of {about or what!r}; name others, or a path.")
        if not found:
            self._say("Nothing was deleted.")
            return
        self._say("\n".join(deletion.planned(found)))
        if not asks or not confirmed("Delete all this for good?"):
            self._say("Nothing was deleted.")
            return
        done = forget(user, found, self._talk.now())
        path = self._talk.transcript.path
        self._talk.transcript.path = found.names.get(path) or path
        self._say("\n".join(deletion.report(done, user.name)))
        _retype(lambda lines: [line for line in lines if not found.matcher.holds(line)])
        say_aside(done.note)

    def _open(self, path: str) -> None:
        name, line = split_line(self._talk.user, _needed(path, "/open profile.md"))
        asked = "/open {path}:{line} shows the next."  # as a person types it
        self._say(_NEXT.sub(lambda call: asked.format(**json.loads(call[1])), self._talk.tools.open(name, line or 1)))

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


def _width() -> int:
    return shutil.get_terminal_size().columns


def _fitted(text: str, stream: TextIO) -> str:
    """`text` broken at a terminal's width; as it is elsewhere."""
    return wrapped(text, _width()) if stream.isatty() else text


def _needed(argument: str, example: str) -> str:
    if not argument:
        raise FilememError(f"name a memory, as in: {example}")
    return argument


def _retype(change: Callable[[list[str]], list[str]]) -> list[str]:
    """Change the input history, in earlier sessions too; returns what it is then."""
    if "readline" not in globals():
        return []
    typed = [readline.get_history_item(n + 1) or "" for n in range(readline.get_current_history_length())]
    kept = change(typed)
    if kept != typed:
        readline.clear_history()
        for line in kept:
            readline.add_history(line)
    return kept


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
                lines = _retype(lambda lines: [redact(line, own)[0] for line in lines])[-MOST_TYPED:]
                safe.write(path, "".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))


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
    answers = {turn.text for turn in session.turns() if turn.speaker == transcript.ASSISTANT}
    return session if answers == {transcript.NO_ANSWER} else None


def _sessions(folder: Folder) -> list[str]:
    """A line each for the latest sessions: when, how many turns, where."""
    lines = []
    for path in transcript.newest(folder)[:LISTED]:
        when, turns = when_of(path), len(Transcript(folder, path).turns())
        began = f"{when.date} {when.time or '':5}" if when else ""
        left = [f"{'':24}open: {one_line(text, 100)}" for text in folder.memory(path).episode.open]
        lines += [f"{began}  {turns:>3} turn{'s' if turns != 1 else ' '}  {path}", *left]
    return lines


# -- in the background ------------------------------------------------------------------------------------------

WORTH_READING = 2_000  # tokens that wait, from which on a chat has them read; what is less waits for maintain


class BackgroundReading:
    """Earlier conversations that a chat's model reads in a thread of its own; the chat shows what came of it, and never waits."""

    def __init__(self, call: Context, talk: Conversation) -> None:
        self._call = call
        self._talk = talk
        self._done: queue.SimpleQueue[tuple[Applied, str]] = queue.SimpleQueue()

    def start(self) -> None:
        """Begin where there is a model and enough waits."""
        talk = self._talk
        if not isinstance(talk.model, OpenAIModel) or not config.of(talk.user).consolidate:
            return
        if sessions.waiting(talk.user, talk.transcript.path)[1] >= WORTH_READING:
            threading.Thread(target=self._read, args=(talk.model.apart(), talk.now()), daemon=True).start()

    def show(self, tell: Callable[..., None]) -> None:
        """Show what was done since the last time: in the background, or as events that `tell` prints."""
        while not self._done.empty():
            done, note = self._done.get()
            said = [(as_json(one), "\n".join(lines(one))) for one in done.decisions]
            proposed = sum(one.action == PROPOSE for one in done.decisions)
            notes = [*done.notes, done.error, waiting(proposed) if proposed else ""]
            said += [({"event": "notice", "text": sentence}, sentence) for sentence in notes]
            for facts, text in said:
                if text and self._call.json:
                    tell(facts)
                elif text:
                    say_dim(text)
            say_aside(note)

    def _read(self, model: OpenAIModel, at: dt.datetime) -> None:
        user, current = self._talk.user.apart(), self._talk.transcript.path
        try:
            for done, note in consolidated(user, at, model, besides=current):
                self._done.put((done, note))
        except Busy:
            return  # another job is at it
        except (FilememError, OSError) as error:
            self._done.put((Applied([], [], [str(error)]), ""))


def standing(talk: Conversation) -> str:
    """How many facts there are and how many conversations wait, for the end of a chat."""
    entries = index.of(talk.user).corpus().entries()
    facts = sum(entry.kind == "facts" and not entry.archived for entry in entries)
    waits, _ = sessions.waiting(talk.user)
    whom = "filemem maintain" if isinstance(talk.model, OpenAIModel) else "a model"
    wait = f"; {counted(waits, 'conversation')} {'waits' if waits == 1 else 'wait'} for {whom}"
    return f"{counted(facts, 'fact')}{wait if waits else ''}."


# -- the command ------------------------------------------------------------------------------------------------


def the_model(call: Context, folder: Folder, name: str | None) -> Model:
    """The model of this call: the one named, else none.

    None, too, where the store names an endpoint that the person has not agreed to: no other was meant.
    """
    held = call.unsettled(folder)
    settings = config.of(folder)
    return (chosen_model(settings, name) if "base_url" not in held else None) or OfflineModel()


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
    if call.json:
        sizes = {name: tokens.count(text) for name, text in [*seen.system, *seen.beside]}
        show(iter([Row({"tokens": sizes, "messages": seen.messages(), "tools": talk.offered}, [])]), as_json=True)
        return
    turns = [("assistant" if turn.speaker == transcript.ASSISTANT else "user", turn.text) for turn in seen.turns]
    named = [*seen.system, *turns[:-1], *seen.beside, *turns[-1:]]
    for name, text in named:
        say(f"== {name} ({tokens.count(text)} tokens)\n{text}\n")
    whole = sum(tokens.count(text) for _, text in named)
    say(f"== in all ({whole} tokens, {len(talk.offered)} tools aside)")


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
    with open(opened, "a", encoding="utf-8", errors="replace") as file:

        def log(step: dict[str, Any]) -> None:
            file.write(json.dumps(step, ensure_ascii=False, default=str) + "\n")
            file.flush()

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
                say_aside(run.commit(subject, [path, *talk.written], Session=path))
