"""What a person sees and is asked: the one place that prints, and makes text safe."""

import enum
import json
import re
import shutil
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, NamedTuple, Self, TextIO

import click

from filemem.errors import FilememError, in_words
from filemem.text.plain import escape_controls, json_visible


class OutputForm(enum.Enum):
    """How a command tells what it has to tell."""

    TEXT = "text"
    DOCUMENT = "one JSON document"
    LINES = "one JSON object a line"


class Safe(str):
    """A line that is safe to print as it is, colours and all."""


class Row(NamedTuple):
    """One thing to tell: data for a script, lines for a person."""

    data: dict[str, Any]
    lines: Iterable[str] = ()


Line = str | Row
"""What a command tells: a line for a person, or data with the lines that say it."""
Output = Generator[Line, None, Any]
"""All that a command tells, and its exit code in the end."""


def show(told: Iterator[Line], form: OutputForm, *, talking: bool = False) -> int:
    """Print what a command yields, as it comes, and return its exit code.

    Args:
        told: what it yields.
        form: a document is printed at the end, the other forms as it comes.
        talking: within a chat, where lines for a person are data, too.

    Raises:
        FilememError, OSError: the command fails, which the document says, too.
    """
    document: list[str] = []
    try:
        return _tell(told, form, document, talking=talking)
    except (FilememError, OSError) as error:
        document.append(_as_json({"error": in_words(error)}))
        raise
    finally:
        if form is OutputForm.DOCUMENT:
            click.echo("[" + ",\n ".join(document) + "]")


def _tell(
    told: Iterator[Line],
    form: OutputForm,
    document: list[str],
    *,
    talking: bool,
) -> int:
    """Print what a command yields, or put it into a document; return its exit code."""
    while True:
        try:
            item = next(told)
        except StopIteration as end:
            return int(end.value or 0)
        if isinstance(item, str):
            item = Row({"event": "notice", "text": item} if talking else {}, [item])
        if form is OutputForm.TEXT:
            for line in item.lines:
                say(line if isinstance(line, Safe) else wrapped(line, sys.stdout))
        elif form is OutputForm.LINES:
            print_json(item.data)
        elif item.data:
            document.append(_as_json(item.data))


def print_json(data: dict[str, Any]) -> None:
    """Print one JSON object as a line; nothing for an empty one."""
    if data:
        click.echo(_as_json(data))


def _as_json(data: dict[str, Any]) -> str:
    return json_visible(json.dumps(data, ensure_ascii=False, default=str))


def say(line: str, *, err: bool = False, nl: bool = True) -> None:
    """Print memory text, with anything that could control the terminal spelt out."""
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


def at_terminal() -> bool:
    """Return whether a person is there to be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def confirmed(question: str, default: bool = False) -> bool:
    """Ask for a yes until it is yes or no; return False without a terminal."""
    if not at_terminal():
        return False
    answers = "[Y/n]" if default else "[y/N]"
    shown = wrapped(f"{question} {answers}:", sys.stderr)
    return click.confirm(
        shown, default=default, show_default=False, prompt_suffix=" ", err=True
    )


def choose(question: str) -> str:
    """Ask until the answer is one of the letters that the question has in brackets."""
    letters = click.Choice(re.findall(r"\[(\w)\]", question), case_sensitive=False)
    shown = wrapped(f"{question}:", sys.stdout)
    typed = click.prompt(shown, type=letters, show_choices=False, prompt_suffix=" ")
    return str(typed)


def sentence(error: Exception) -> str:
    """Return what went wrong; of a command's arguments with where its help is."""
    if not isinstance(error, click.ClickException):
        return in_words(error)
    command = getattr(getattr(error, "ctx", None), "command_path", "filemem")
    return f"{error.format_message().rstrip('.').strip()}; see {command} --help."


class Progress:
    """A bar on a terminal, once the work has taken half a second; a context manager."""

    PATIENCE_SECONDS = 0.5

    def __init__(self, label: str) -> None:
        self._bar = click.progressbar(
            length=1, label=label, show_pos=True, width=0, file=sys.stderr
        )
        self._visible_from = time.monotonic() + self.PATIENCE_SECONDS

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar.pos:
            self._bar.render_finish()

    def __call__(self, done: int, total: int) -> None:
        """Show how much of the work is done."""
        if sys.stderr.isatty() and time.monotonic() > self._visible_from:
            if done < self._bar.pos:  # the next part of the work has begun
                self._bar.pos = 0
                self._bar.finished = False
            self._bar.length = total
            self._bar.update(done - self._bar.pos)


# -- wrapping --------------------------------------------------------------------------

_WIDE = (
    "\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\uff60"
    "\U0001f300-\U0003ffff"
)
"""The characters that take two columns of a terminal."""
_WIDE_CHAR = re.compile(f"[{_WIDE}]")
_CLOSING = "，。！？；：、）」』】》〉”’…ー々,.!?;:)\\]%\u0300-\u036f"
_PIECE = re.compile(
    f"\n|[^\\S\n]*(?:[（「『【《〈“‘(\\[]*[{_WIDE}]|[^\\s{_WIDE}]+)[{_CLOSING}]*|[^\\S\n]+"
)
"""A word or a wide character, with the blanks before it and the signs beside it."""
_COMPLETE = re.compile(  # up to where a word has ended; a path may have Chinese in it
    f"(?s).*(?:[^\\s#](?=\\s)|[，。！？；：、](?=[^\\s{_CLOSING}]))"
)
_OPENED = re.compile(  # what may yet become a pair of marks, or a link
    r"(?<![\w*])(?:\*(?=[^\s*])|_(?=[^\W_]))[^*_\n]{0,120}(?:[*_]\S{0,50})?\Z"
    r"|\[[^\[\]\n]{0,120}(?:\]\S{0,120})?\Z",
    re.ASCII,
)
MAX_HELD_CHARS = 1_000  # of a word or a pair that has not ended


def columns(text: str) -> int:
    """Return the columns of a terminal that a text takes, or a few more."""
    return len(text) + len(_WIDE_CHAR.findall(text))


class Wrapper:
    """Breaks text that comes in pieces between words, and Chinese between characters.

    Code between two ``` stays as it is. `change` is applied to other complete words
    first.
    """

    def __init__(self, change: Callable[[str], str] = str) -> None:
        self._change = change
        self._held = ""  # came, and was not shown yet
        self._column = 0  # at which the next piece begins
        self._in_code = False

    def feed(self, text: str, *, end: bool = False) -> str:
        """Return what may be shown now; the last word waits for more, or the `end`.

        So does what begins a pair of Markdown's marks on its line.
        """
        came = self._held + text
        complete = _COMPLETE.match(_OPENED.sub("", came))
        shown = complete.end() if complete else 0
        if end or len(came) - shown > MAX_HELD_CHARS:
            shown = len(came)
        self._held = came[shown:]
        placed = ""
        for part in re.split("(```)", came[:shown]):
            if part == "```":
                self._in_code = not self._in_code
            elif not self._in_code:
                part = self._change(part)
            placed += "".join(map(self._placed, _PIECE.findall(part)))
        self._in_code = self._in_code and not end
        return placed

    def _placed(self, piece: str) -> str:
        """Return a piece, on a line of its own where this one has no room for it."""
        if piece == "\n":
            self._column = 0
            return piece
        width = shutil.get_terminal_size().columns  # a window may change its size
        is_full = self._column + columns(piece) > width
        if self._column and is_full and not self._in_code:
            piece = piece.lstrip()
            self._column = columns(piece) % width  # the terminal breaks a longer one
            return f"\n{piece}" if piece else ""
        self._column += columns(piece)
        return piece


def wrapped(text: str, stream: TextIO) -> str:
    """Return a whole text, broken between words if the stream is a terminal."""
    return Wrapper().feed(text, end=True) if stream.isatty() else text
