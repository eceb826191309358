"""How one answer is shown: as it streams on a terminal, as events for a script, else
when it is whole."""

import re
import sys
from typing import Any

import click

from filemem.chat.citations import CITED
from filemem.chat.conversation import Conversation
from filemem.chat.listener import Event, Notice, Text, ToolCalled
from filemem.chat.phrases import said_to
from filemem.chat.quoting import day_of
from filemem.cli.output import Row, Safe, Wrapper, dim, say, say_dim, show, wrapped
from filemem.store.paths import when_of
from filemem.text.plain import counted, escape_controls, one_line

EVENTS = {Text: "text", ToolCalled: "call", Notice: "notice"}  # as a script has them
WORKING = ("looking …", "在查 …")  # a sign of work until the answer begins
WORKED = f"\r{' ' * 9}\r"  # takes it away again
UNSHOWN = ("(the model was not shown this)", "（模型沒有看到這一行）")
_FILES = re.compile(r"([\d,]+) files?\b")
# Brackets about a citation, as its number has some of its own.
_QUOTED = re.compile(
    rf"([(（])?[\[【]{{0,2}}`?({CITED.pattern})`?[\]】]{{0,2}}(?(1)[)）])"
)


class Screen:
    """Shows what a conversation says.

    Args:
        talk: the conversation.
        as_json: print one JSON object an event.
        verbose: show each tool call, instead of one line on all of them.
    """

    def __init__(self, talk: Conversation, *, as_json: bool, verbose: bool) -> None:
        self.message = ""  # the last one, whose language the answers are in
        self._talk = talk
        self._as_json = as_json
        self._verbose = verbose
        self._live = sys.stdout.isatty() and not as_json  # do answers stream?
        self._is_working = False  # does the terminal show the sign of work?
        self._is_streaming = False  # is the cursor behind a piece of the answer?
        self._calls: list[ToolCalled] = []  # not told of yet
        self._numbers: dict[str, int] = {}  # of the places that the answer cites
        self._wrapper = Wrapper(self._numbered)

    def begin(self, message: str) -> None:
        """Get ready for the answer to a message."""
        self.message = message
        self._numbers.clear()
        if self._live and not self._talk.offline:
            self._put(dim(said_to(message, WORKING)))
            self._is_working = True

    def hear(self, event: Event) -> None:
        """Show one event as it comes."""
        if self.tell(EVENTS[type(event)], **event._asdict()):
            return
        if isinstance(event, Text):
            if event.text.strip():
                self._tell_calls()
            if self._live:
                self._stream(event.text)
            return
        self._stream("", end=True)
        if isinstance(event, Notice):
            self.aside(event.text)
        elif self._verbose:
            call = one_line(f"{event.name} {event.arguments}", 100)
            self.aside(f"{call} -> {event.brief}")
        else:
            self._calls.append(event)

    def end(self, answer: str) -> None:
        """Show the whole answer where it did not stream, then what it cites."""
        self._stream("", end=True)
        path = self._talk.transcript.path
        if not (self._live or self.tell("answer", text=answer, session=path)):
            say(answer)
        for place, number in self._numbers.items():
            parts = [f"[{number}]", place]
            when = when_of(place.rpartition(":")[0])
            if when:
                parts[1] = f"{day_of(when, self.message)}  {place}"
            told = " ".join(parts)
            if not self._talk.was_shown(place):
                told += f"  {said_to(self.message, UNSHOWN)}"
            self.aside(told)

    def fail(self, text: str) -> None:
        """Show why there is no answer, as one red line."""
        self._stream("", end=True)
        if not self.tell("error", text=text):
            self._put("")
            shown = wrapped(escape_controls(text), sys.stderr)
            say(Safe(click.style(shown, fg="red")), err=True)

    def tell(self, event: str, **data: Any) -> bool:
        """Print an event for a script; return whether it is one that listens."""
        row = Row({"event": event, **data}, [])
        show(iter([row]), as_json=self._as_json)
        return self._as_json

    def aside(self, text: str) -> None:
        """Show a notice on standard error; scripts get none."""
        if not self._as_json:
            self._put("")
            say_dim(text)

    def _tell_calls(self) -> None:
        """Tell in one line how much was looked at, once the answer begins."""
        if not self._calls:
            return
        opened = set()
        counts = [0]
        for call in self._calls:
            for count in _FILES.findall(call.brief):
                counts.append(int(count.replace(",", "")))
            if call.name == "open" and not call.brief.startswith("Error:"):
                opened.add(call.arguments)
        self._calls = []
        most = max(*counts, len(opened))
        searched = (f"searched {counted(most, 'file')}", f"查了{most:,}個文件")
        self.aside(said_to(self.message, searched))

    def _stream(self, text: str, *, end: bool = False) -> None:
        """Show a piece of the answer, without empty lines at either end of it."""
        shown = self._wrapper.feed(escape_controls(text), end=end)
        if end:
            shown = f"{shown.rstrip()}\n"
            self._wrapper = Wrapper(self._numbered)
        if not self._is_streaming:
            shown = shown.lstrip("\n")
        if shown:
            self._put(shown)
            self._is_streaming = not end

    def _put(self, text: str) -> None:
        """Print on the terminal, in the place of the sign of work."""
        if self._is_working:
            text = WORKED + text
            self._is_working = False
        say(Safe(text), nl=False)
        sys.stdout.flush()

    def _numbered(self, text: str) -> str:
        """Return a text with numbers for what a model cites; [2?] was not shown to it."""

        def number(cited: re.Match[str]) -> str:
            place = cited[2]
            known = self._numbers.setdefault(place, len(self._numbers) + 1)
            return f"[{known}]" if self._talk.was_shown(place) else f"[{known}?]"

        return text if self._talk.offline else _QUOTED.sub(number, text)
