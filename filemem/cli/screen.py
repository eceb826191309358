"""How one answer is shown: as it streams on a terminal, as events for a script, else
when it is whole."""

import re
import sys

import click

from filemem.chat.citations import CITED
from filemem.chat.conversation import Conversation
from filemem.chat.listener import Event, Notice, Text, ToolCalled
from filemem.chat.phrases import day_of, said_to
from filemem.cli.output import (
    OutputForm,
    Safe,
    Wrapper,
    dim,
    print_json,
    say,
    say_dim,
    wrapped,
)
from filemem.store.paths import when_of
from filemem.text.plain import counted, escape_controls, one_line

EVENTS = {Text: "text", ToolCalled: "call", Notice: "notice"}  # as a script has them
WORKING = ("looking …", "在查 …")  # a sign of work until the answer begins
WORKED = f"\r{' ' * 9}\r"  # takes it away again
UNSHOWN = ("(the model was not shown this)", "（模型沒有看到這一行）")
NO_FILE = ("(there is no such file)", "（沒有這個檔案）")
# Marks of Markdown, which a terminal lacks; 2**10 has none.
_MARKS = re.compile(
    r"(?m)^#{1,6} +|(?<![\w*])\*\*(?=\S)|(?<=\S)\*\*(?![\w*])|`", re.ASCII
)
# A pair of marks round words; names in code, such as `_x`, are none.
_EMPHASIS = re.compile(
    r"(?<![\w*`])\*([^\s*](?:[^*\n]*[^\s*])?)\*(?![\w*`])"
    r"|(?<![\w`])_([^\s_](?:[^_\n]*[^\s_])?)_(?![\w`])",
    re.ASCII,
)
_LINK = re.compile(r"\[([^\[\]\n]+)\]\(([^()\s]+)\)")
# Brackets about a citation, as its number has some of its own.
_QUOTED = re.compile(
    rf"([(（])?[\[【]{{0,2}}`?({CITED.pattern})`?[\]】]{{0,2}}(?(1)[)）])"
)


class Screen:
    """Shows what a conversation says.

    Args:
        talk: the conversation.
        form: of an answer: text for a person, or one JSON object an event.
        verbose: show each tool call, what stood beside the message, and the tokens.

    Attributes:
        message: the last one, whose language the answers are in.
    """

    def __init__(self, talk: Conversation, form: OutputForm, *, verbose: bool) -> None:
        self.message = ""
        self._for_script = form is not OutputForm.TEXT
        self._talk = talk
        self._verbose = verbose
        self._live = sys.stdout.isatty() and not self._for_script  # do answers stream?
        self._is_working = False  # does the terminal show the sign of work?
        self._is_streaming = False  # is the cursor behind a piece of the answer?
        self._numbers: dict[str, int] = {}  # of the places that the answer cites
        self._wrapper = Wrapper(self._plain)

    def begin(self, message: str) -> None:
        """Get ready for the answer to a message.

        A terminal shows a sign of work until the answer begins.
        """
        self.message = message
        self._numbers.clear()
        if self._live and not self._talk.offline:
            self._put(dim(said_to(message, WORKING)))
            self._is_working = True

    def hear(self, event: Event) -> None:
        """Show one event as it comes.

        Pieces of an answer are shown on a terminal alone, calls if they are wanted.
        """
        if self._for_script:
            print_json({"event": EVENTS[type(event)], **event._asdict()})
            return
        if isinstance(event, Text):
            if self._live:
                self._stream(self._wrapper.feed(escape_controls(event.text)))
            return
        self._end_stream()
        if isinstance(event, Notice):
            self.aside(event.text)
        elif self._verbose:
            call = one_line(f"{event.name} {event.arguments}", 100)
            self.aside(f"{call} -> {event.brief}")

    def end(self, answer: str) -> None:
        """Show the whole answer where it did not stream, then what it cites."""
        if self._for_script:
            path = self._talk.transcript.path
            print_json({"event": "answer", "text": answer, "session": path})
            return
        self._end_stream()
        if not self._live:
            say(answer)
        turn = self._talk.turn
        if self._verbose and turn.recalled:
            self.aside(f"Beside the message: {', '.join(turn.recalled)}")
        if self._verbose and turn.tokens:
            sent = counted(turn.requests, "request")
            self.aside(f"{sent}, {turn.tokens:,} tokens")
        for place, number in self._numbers.items():
            self.aside(f"[{number}] {self._source(place)}")

    def _source(self, place: str) -> str:
        """Return a place that was cited, with its day, and what is odd about it."""
        told = place
        path = place.rpartition(":")[0]
        when = when_of(path)
        if when:
            told = f"{day_of(when, self.message)}  {place}"
        if not any(self._talk.user.existing(path)):
            told += f"  {said_to(self.message, NO_FILE)}"
        elif not self._talk.was_shown(place):
            told += f"  {said_to(self.message, UNSHOWN)}"
        return told

    def quote(self, passages: str) -> None:
        """Show passages in the place of an answer; scripts get none."""
        if passages and not self._for_script:
            say(wrapped(passages, sys.stdout))

    def fail(self, text: str) -> None:
        """Show why there is no answer, as one red line on standard error."""
        if self._for_script:
            print_json({"event": "error", "text": text})
            return
        self._end_stream()
        self._put("")
        shown = wrapped(escape_controls(text), sys.stderr)
        say(Safe(click.style(shown, fg="red")), err=True)

    def aside(self, text: str) -> None:
        """Show a notice on standard error; scripts get none."""
        if not self._for_script:
            self._put("")
            say_dim(text)

    def _stream(self, shown: str) -> None:
        """Show a piece of the answer, without empty lines before it."""
        if not self._is_streaming:
            shown = shown.lstrip("\n")
        if shown:
            self._put(shown)
            self._is_streaming = True

    def _end_stream(self) -> None:
        """Show what was held back of the answer, and end its line."""
        rest = self._wrapper.feed("", end=True)
        self._stream(rest.rstrip())
        if self._is_streaming:
            self._put(self._wrapper.feed("\n", end=True))
        self._is_streaming = False

    def _put(self, text: str) -> None:
        """Print on the terminal, in the place of the sign of work."""
        if self._is_working:
            text = WORKED + text
            self._is_working = False
        say(Safe(text), nl=False)
        sys.stdout.flush()

    def _plain(self, text: str) -> str:
        """Return a model's text with numbers for what it cites, and no marks."""
        if self._talk.offline:
            return text
        numbered = _QUOTED.sub(self._number, text)
        linked = _LINK.sub(r"\1 (\2)", numbered)
        return _MARKS.sub("", _EMPHASIS.sub(r"\1\2", linked))

    def _number(self, cited: re.Match[str]) -> str:
        """Return what stands for a citation: [2], or [2?] if it was not shown."""
        place = cited[2]
        number = self._numbers.setdefault(place, len(self._numbers) + 1)
        return f"[{number}]" if self._talk.was_shown(place) else f"[{number}?]"
