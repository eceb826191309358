"""What a person sees and is asked: the one place that prints and the one that asks. Memory text is made safe here."""

import contextlib
import json
import re
import shutil
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, NamedTuple, TextIO

import click

from filemem.text.plain import escape_controls, json_visible

MOMENT = 0.5  # seconds of work without a bar


class Safe(str):
    """A line that is safe to print as it is, colours and all."""


class Row(NamedTuple):
    """One thing to tell: facts for a script, lines for a person."""

    facts: dict[str, Any]
    lines: Iterable[str]


Line = str | Row  # what a command tells: a line for a person only, or facts with the lines that say them
Output = Generator[Line, None, int | None]  # all that a command tells, and its exit code in the end


def show(told: Iterator[Line], *, as_json: bool, talking: bool = False) -> int:
    """Print what a command yields, as it comes, as lines or JSON, in a chat's what is for a person too; returns its exit code."""
    while True:
        try:
            one = next(told)
        except StopIteration as end:
            return end.value or 0
        if talking and isinstance(one, str):
            one = Row({"event": "notice", "text": one}, [one])
        if not as_json:
            say(*([one] if isinstance(one, str) else one.lines))
        elif isinstance(one, Row) and one.facts:
            click.echo(json_visible(json.dumps(one.facts, ensure_ascii=False, default=str)))


def say(*lines: str, err: bool = False, nl: bool = True) -> None:
    """Print lines of memory text, with anything that could control the terminal spelt out."""
    for line in lines:
        click.echo(line if isinstance(line, Safe) else escape_controls(line), err=err, nl=nl)


def say_dim(*notes: str) -> None:
    """Print dim notes on standard error, wrapped by words on a terminal; nothing for ""."""
    for text in filter(None, notes):
        say(dim(wrapped(escape_controls(text), sys.stderr)), err=True)


def confirmed(question: str, default: bool = False) -> bool:
    """Ask for a yes, on a terminal, again after what is neither yes nor no; an interrupt ends the command."""
    return sys.stdin.isatty() and sys.stderr.isatty() and click.confirm(question, default=default, err=True)


def choose(question: str) -> str:
    """Ask until the answer is one of the letters that the question has in brackets."""
    letters = click.Choice(re.findall(r"\[(\w)\]", question), case_sensitive=False)
    return str(click.prompt(question, type=letters, show_choices=False))


def dim(text: str) -> Safe:
    """`text` dimmed; click takes the colours out of what goes to no terminal, or where the person wants none."""
    return Safe(click.style(escape_controls(text), dim=True))


@contextlib.contextmanager
def progress(label: str) -> Iterator[Callable[[int, int], None]]:
    """A function of (done, total) that draws a bar on standard error, on a terminal only and for what takes a moment."""
    with contextlib.ExitStack() as shown:
        drawn: Any = None
        began = 0.0  # when what is counted now began

        def show(done: int, total: int) -> None:
            nonlocal drawn, began
            began = began or time.monotonic()
            if drawn is None and sys.stderr.isatty() and done < total and time.monotonic() - began > MOMENT:
                made: Any = click.progressbar(length=total, label=label, show_pos=True, file=sys.stderr)
                drawn = shown.enter_context(made)
            if drawn is not None:
                drawn.update(done - drawn.pos)
            if done >= total:
                shown.close()
                drawn, began = None, 0.0

        yield show


_WIDE = (
    "\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\U0001f300-\U0003ffff"
)
_COLUMNS = re.compile(f"([{_WIDE}])|[\u0300-\u036f\u200d\ufe0f]")  # two of a wide character, none of one that combines
_STOPS = "，。！？；：、）」』】》〉”’…ー々,.!?;:)\\]%\u0300-\u036f"  # open no line, as brackets end none
_WORD = re.compile(  # blanks stay with what follows them
    f"\n|[^\\S\n]*(?:[（「『【《〈“‘]*[{_WIDE}]|[^\\s{_WIDE}]+)[{_STOPS}]*|[^\\S\n]+"
)
# Up to where a word or clause has ended.
_WHOLE = re.compile(f"(?s).*(?:\\S(?=\\s)|[，。！？；：、](?=[^\\s{_STOPS}]))")


def columns(text: str) -> int:
    """The columns that `text` takes in a terminal: two for a wide character, none for a combining one."""
    return len(text) + sum(1 if wide else -1 for wide in _COLUMNS.findall(text))


class Wrapper:
    """Breaks a text that comes in pieces between words, and Chinese between characters, where a line of the terminal ends.

    Code between ``` lines stays as it is. What is shown is first put through `change`, by whole words."""

    def __init__(self, change: Callable[[str], str] = str) -> None:
        self._change = change
        self._waiting = list[str]()
        self._last = self._line = self._written = ""
        self._code = False

    def feed(self, text: str, *, end: bool = False) -> str:
        """What of the text so far may be shown now; a word, and the blanks behind one, wait until more has come or its `end`."""
        came = self._last + text  # of what waits, the last character alone may end a word now
        found = _WHOLE.match(came)
        self._waiting.append(text)
        self._last = came[-1:]
        if not (end or found):
            return ""
        rest = "" if end or not found else came[found.end() :]
        whole, self._waiting = "".join(self._waiting).removesuffix(rest), [rest]
        width = shutil.get_terminal_size().columns  # asked anew, as a window may change its size
        return "".join(self._placed(word, width) for word in _WORD.findall(self._change(whole)))

    def _placed(self, word: str, width: int) -> str:
        if word == "\n":
            self._code ^= self._written.lstrip().startswith("```")
            self._line = self._written = ""
            return word
        self._written += word
        breaks = self._line and not self._code and columns(self._line + word) > width
        word = word.lstrip() if breaks else word
        self._line = word if breaks else self._line + word
        return "\n" * bool(breaks and word) + word


def wrapped(text: str, stream: TextIO) -> str:
    """A whole text, broken between words where the stream is a terminal."""
    return Wrapper().feed(text, end=True) if stream.isatty() else text
