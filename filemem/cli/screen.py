"""How one answer is shown: as it streams on a terminal, as events for a script, else
when it is whole."""

import re
import sys

import click

from filemem.chat.citations import cited
from filemem.chat.conversation import Conversation
from filemem.chat.listener import Event, Notice, Text, ToolCalled
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
from filemem.text.plain import escape_controls, one_line

EVENTS = {Text: "text", ToolCalled: "call", Notice: "notice"}  # as a script has them
WORKING = "looking …"  # a sign of work until the answer begins
WORKED = f"\r{' ' * len(WORKING)}\r"  # takes it away again
# Marks of Markdown, which a terminal lacks; 2**10 has none.
_MARKS = re.compile(
    r"(?m)^#{1,6} +|(?<![\w*])\*\*(?=\S)|(?<=\S)\*\*(?![\w*])|`", re.ASCII
)


class Screen:
    """Shows what a conversation says.

    Args:
        talk: the conversation.
        form: of an answer: text for a person, or one JSON object an event.
        verbose: show each tool call.
    """

    def __init__(self, talk: Conversation, form: OutputForm, *, verbose: bool) -> None:
        self.for_script = form is not OutputForm.TEXT
        self._talk = talk
        self._verbose = verbose
        self._live = sys.stdout.isatty() and not self.for_script  # do answers stream?
        self._is_working = False  # does the terminal show the sign of work?
        self._is_streaming = False  # is the cursor behind a piece of the answer?
        self._is_in_code = False
        self._wrapper = Wrapper(self._plain)

    def begin(self) -> None:
        """Get ready for an answer."""
        self._is_in_code = False
        if self._live and not self._talk.offline:
            self._put(dim(WORKING))
            self._is_working = True

    def hear(self, event: Event) -> None:
        """Show one event as it comes."""
        if self.for_script:
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
        """Show the whole answer where it did not stream; say which citations are odd.

        Elsewhere these are marked in the answer.
        """
        if self.for_script:
            path = self._talk.transcript.path
            print_json({"event": "answer", "text": answer, "session": path})
            return
        self._end_stream()
        if not self._live:
            say(answer)
            return
        for place in cited(answer):
            if not any(self._talk.user.existing(place.rpartition(":")[0])):
                self.aside(f"{place}: there is no such file.")
            elif not self._talk.was_shown(place):
                self.aside(f"{place}: the model was not shown this.")

    def fail(self, text: str) -> None:
        """Show why there is no answer, as one red line."""
        if self.for_script:
            print_json({"event": "error", "text": text})
            return
        self._end_stream()
        self._put("")
        shown = wrapped(escape_controls(text), sys.stderr)
        say(Safe(click.style(shown, fg="red")), err=True)

    def aside(self, text: str) -> None:
        """Show a notice on standard error; scripts get none."""
        if not self.for_script:
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
        """Return a model's text without Markdown's marks, but for code between ```."""
        if self._talk.offline:
            return text
        parts = []
        for part in re.split("(```)", text):
            if part == "```":
                self._is_in_code = not self._is_in_code
            elif not self._is_in_code:
                part = _MARKS.sub("", part)
            parts.append(part)
        return "".join(parts)
