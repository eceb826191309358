"""What a person sees and is asked: the one place that prints, and makes memory text safe."""

import json
import re
import shutil
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from types import TracebackType
from typing import Any, NamedTuple, Self, TextIO

import click

from filemem.errors import in_words
from filemem.text.plain import escape_controls, json_visible


class Safe(str):
    """A line that is safe to print as it is, colours and all."""


class Row(NamedTuple):
    """One thing to tell: data for a script, lines for a person."""

    data: dict[str, Any]
    lines: Iterable[str]


Line = str | Row
"""What a command tells: a line for a person only, or data with the lines that say it."""
Output = Generator[Line, None, Any]
"""All that a command tells, and its exit code in the end."""


def show(told: Iterator[Line], *, as_json: bool, talking: bool = False) -> int:
    """Print what a command yields, as it comes, and return its exit code.

    Args:
        told: what it yields.
        as_json: print only data, one JSON object a line.
        talking: within a chat, where lines for a person are data, too.
    """
    while True:
        try:
            item = next(told)
        except StopIteration as end:
            return int(end.value or 0)
        if isinstance(item, str):
            item = Row({"event": "notice", "text": item} if talking else {}, [item])
        if as_json:
            _print_json(item.data)
        else:
            for line in item.lines:
                _print_line(line)


def _print_json(data: dict[str, Any]) -> None:
    if data:
        text = json.dumps(data, ensure_ascii=False, default=str)
        click.echo(json_visible(text))


def _print_line(line: str) -> None:
    """Print a line for a person; a page, of several lines, is not wrapped."""
    if not isinstance(line, Safe) and "\n" not in line:
        line = wrapped(line, sys.stdout)
    say(line)


def say(*lines: str, err: bool = False, nl: bool = True) -> None:
    """Print lines of memory text, with anything that could control the terminal spelt out."""
    for line in lines:
        shown = line if isinstance(line, Safe) else escape_controls(line)
        click.echo(shown, err=err, nl=nl)


def say_dim(*notes: str) -> None:
    """Print dim notes on standard error, wrapped on a terminal; nothing for ""."""
    for text in notes:
        if text:
            say(dim(wrapped(escape_controls(text), sys.stderr)), err=True)


def dim(text: str) -> Safe:
    """Return a text dimmed; click takes colours out of what goes to no terminal."""
    return Safe(click.style(escape_controls(text), dim=True))


def confirmed(question: str, default: bool = False) -> bool:
    """Ask for a yes, again after what is neither yes nor no; False without a terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    return click.confirm(question, default=default, err=True)


def choose(question: str) -> str:
    """Ask until the answer is one of the letters that the question has in brackets."""
    letters = click.Choice(re.findall(r"\[(\w)\]", question), case_sensitive=False)
    return str(click.prompt(question, type=letters, show_choices=False))


def progress(label: str) -> "ProgressBar":
    """Return a context with a function of (done, total) that draws a bar."""
    return ProgressBar(label)


class ProgressBar:
    """Draws how much is done, on a terminal, once it has taken half a second."""

    PATIENCE_SECONDS = 0.5

    def __init__(self, label: str) -> None:
        self._label = label
        self._bar: Any = None
        self._started = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._close()

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        self._started = self._started or now
        if done >= total:
            self._close()
            return
        is_slow = now - self._started > self.PATIENCE_SECONDS
        if self._bar is None and is_slow and sys.stderr.isatty():
            self._bar = click.progressbar(
                length=total, label=self._label, show_pos=True, file=sys.stderr
            )
        if self._bar is not None:
            self._bar.update(done - self._bar.pos)

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.render_finish()
        self._bar = None
        self._started = 0.0


def sentence(error: Exception) -> str:
    """Return what went wrong; of a command's arguments with where its help is."""
    if not isinstance(error, click.ClickException):
        return in_words(error)
    command = getattr(getattr(error, "ctx", None), "command_path", "filemem")
    return f"{error.format_message().rstrip('.').strip()}; see {command} --help."


# -- wrapping --------------------------------------------------------------------------

_WIDE = (
    "\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f"
    "\uff00-\uff60\uffe0-\uffe6\U0001f300-\U0003ffff"
)
_WIDE_CHAR = re.compile(f"[{_WIDE}]")
_COMBINING = re.compile("[\u0300-\u036f\u200d\ufe0f]")
_OPENING = "（「『【《〈“‘(\\["
_CLOSING = "，。！？；：、）」』】》〉”’…ー々,.!?;:)\\]%\u0300-\u036f"
_PIECE = re.compile(
    f"\n|[^\\S\n]*(?:[{_OPENING}]*[{_WIDE}]|[^\\s{_WIDE}]+)[{_CLOSING}]*|[^\\S\n]+"
)
"""A word or a wide character, with the blanks before it and the signs that go with it."""
_COMPLETE = re.compile(  # up to where a word has ended; a path may have Chinese in it
    f"(?s).*(?:\\S(?=\\s)|[，。！？；：、](?=[^\\s{_CLOSING}]))"
)
_MAX_HELD_CHARS = 1_000


def columns(text: str) -> int:
    """Return the columns of a terminal that a text takes."""
    return len(text) + len(_WIDE_CHAR.findall(text)) - len(_COMBINING.findall(text))


class Wrapper:
    """Breaks text that comes in pieces between words, and Chinese between characters.

    Code between ``` lines stays as it is. `change` is applied to whole words first.
    """

    def __init__(self, change: Callable[[str], str] = str) -> None:
        self._change = change
        self._held = ""
        self._line = ""  # as it is shown
        self._written = ""  # as it came
        self._in_code = False

    def feed(self, text: str, *, end: bool = False) -> str:
        """Return what may be shown now; the last word waits for more, or for the `end`."""
        came = self._held + text
        complete = _COMPLETE.match(came)
        shown = complete.end() if complete else 0
        if end or len(came) - shown > _MAX_HELD_CHARS:
            shown = len(came)
        self._held = came[shown:]
        width = shutil.get_terminal_size().columns  # a window may change its size
        changed = _PIECE.findall(self._change(came[:shown]))
        return "".join(self._placed(piece, width) for piece in changed)

    def _placed(self, piece: str, width: int) -> str:
        if piece == "\n":
            if self._written.lstrip().startswith("```"):
                self._in_code = not self._in_code
            self._line = ""
            self._written = ""
            return piece
        self._written += piece
        fits = columns(self._line + piece) <= width
        if fits or self._in_code or not self._line:
            self._line += piece
            return piece
        self._line = piece.lstrip()
        return f"\n{self._line}" if self._line else ""


def wrapped(text: str, stream: TextIO) -> str:
    """Return a whole text, broken between words if the stream is a terminal."""
    return Wrapper().feed(text, end=True) if stream.isatty() else text
