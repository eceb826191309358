"""What a person sees and is asked: the one place that prints and the one that asks. Memory text is made safe here."""

import contextlib
import json
import os
import re
import shutil
import sys
import time
import unicodedata
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, NamedTuple

import click

from filemem.text.plain import escape_controls, json_visible


def put(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Print what is safe already, colours and all."""
    click.echo(text, err=err, nl=nl)


def confirmed(question: str, default: bool = False, err: bool = False) -> bool:
    """Ask for a yes; an interrupt ends the command."""
    return click.confirm(question, default=default, err=err)


def ask(question: str, default: str = "", **how: Any) -> str:
    """Ask for a line."""
    return str(click.prompt(question, default=default, **how)).strip()


def choose(question: str) -> str:
    """Ask until the answer is a word of which the question has a letter in brackets, or that letter; returns the word."""
    words: dict[str, str] = {
        letter: before + letter + after for before, letter, after in re.findall(r"(\w*)\[(\w)\](\w*)", question)
    }
    while True:
        given = ask(question, prompt_suffix=": ", show_default=False).lower()
        answer = words.get(given, given)
        if answer in words.values():
            return answer


def colours(stream: Any = None) -> bool:
    """May colour be used on this stream? Only on a terminal, and never with NO_COLOR or a dumb one."""
    stream = stream or sys.stdout
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def dim(text: str, stream: Any = None) -> str:
    """`text` in the background, where it goes to a terminal: standard output, or `stream`."""
    return click.style(text, dim=True) if colours(stream) else text


def say_dim(text: str) -> None:
    """Say in the background what is no answer: on standard error, broken by words on a terminal."""
    text = escape_controls(text)
    shown = wrapped(text, shutil.get_terminal_size().columns) if sys.stderr.isatty() else text
    put(dim(shown, sys.stderr), err=True)


def say(*lines: str) -> None:
    """Print lines of memory text, with whatever could command the terminal spelt out."""
    for line in lines:
        put(escape_controls(line))


def say_aside(note: str) -> None:
    """Say in the background how git fared, where there is anything to say."""
    if note:
        say_dim(f"git: {note}")


def say_working(what: str) -> None:
    """Say in the background, on a terminal only, what takes a while."""
    if sys.stderr.isatty():
        say_dim(f"{what} …")


class Safe(str):
    """A line that is safe to print as it is, colours and all."""


class Row(NamedTuple):
    """One thing to tell: facts for a script, lines for a person."""

    facts: dict[str, Any]
    lines: Iterable[str]


Line = str | Row
"""What a command tells: a line for a person only, or facts with the lines that say them."""
Output = Generator[Line, None, int | None]
"""All that a command tells, and its exit code in the end."""


def show(told: Iterator[Line], *, as_json: bool) -> int:
    """Print what a command tells, as it comes: lines, or JSON; returns what the command returns in the end, 0 for None."""
    while True:
        try:
            one = next(told)
        except StopIteration as end:
            return end.value or 0
        if as_json:
            if not isinstance(one, str) and one.facts:
                put(json_visible(json.dumps(one.facts, ensure_ascii=False, default=str)))
            continue
        for line in (one,) if isinstance(one, str) else one.lines:
            put(line if isinstance(line, Safe) else escape_controls(line))


def answer(text: str) -> Output:
    """The lines of a tool's answer; on a terminal the headings stand out."""
    for line in text.split("\n"):
        path = line.split("  ")[0]
        if not colours() or line[:1].isspace() or "/" not in path or " " in path:
            yield line
        else:
            shown = click.style(escape_controls(path), fg="magenta", bold=True)
            yield Safe(shown + escape_controls(line[len(path) :]))
    return 0


@contextlib.contextmanager
def progress(label: str) -> Iterator[Callable[[int, int], None]]:
    """A function of (done, total) that draws a bar on standard error, on a terminal only; it ends when all is done."""
    with contextlib.ExitStack() as shown:
        drawn: Any = None

        def show(done: int, total: int) -> None:
            nonlocal drawn
            if drawn is None and sys.stderr.isatty() and total > 500 and done < total:
                drawn = shown.enter_context(click.progressbar(length=total, label=label, file=sys.stderr))
            if drawn is not None:
                drawn.update(done - drawn.pos)
                if done >= total:
                    shown.close()
                    drawn = None

        yield show


@contextlib.contextmanager
def bar(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """A function of how many more are done that draws a bar with the rate and the time left, on standard error where that is a
    terminal; with 0 it makes room for a line."""
    if not sys.stderr.isatty():
        yield lambda more: None
        return
    began, drawn = time.monotonic(), click.progressbar(length=total, label=label, show_pos=True, file=sys.stderr)
    drawn.item_show_func = lambda _: f"{drawn.pos / (time.monotonic() - began):,.1f}/s"

    def show(more: int) -> None:
        if not more:
            put("\r\x1b[K", nl=False, err=True)
        drawn.update(more)

    with drawn:
        yield show


_NOT_FIRST = "，。！？；：、）」』】》〉”’…ー々,.!?;:)]}%"  # never open a line
_NOT_LAST = "（「『【《〈“‘([{"  # never close one
_LEAD = re.compile(r" *(?:\d+(?:[.)] +|  +)|> +)?(?:[-*+] +)?")  # what further lines are indented by
WIDEST_LEAD = 12  # columns
_SPECIAL = re.compile("[\u0300-\u036f\u1100-\uffff\U00010000-\U0003ffff]")
LEAST = 20  # columns; a narrower terminal breaks lines by itself


def columns(text: str) -> int:
    """The columns that `text` takes in a terminal: two for a wide character, none for a combining one."""
    if not _SPECIAL.search(text):
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if _wide(c) else 1 for c in text)


def _wide(char: str) -> bool:
    return char >= "\u1100" and unicodedata.east_asian_width(char) in "WF"


class Wrapper:
    """Breaks one text that comes in pieces; `width` is asked at every word, for a window may change its size.

    A further line of a list item or of an indented one begins under its text. Code between ``` lines stays as it is.
    """

    def __init__(self, width: Callable[[], int]) -> None:
        self._width = width
        self._line = ""  # what stands on the text's own line so far
        self._column = 0
        self._blanks = ""
        self._word = ""
        self._code = False

    def feed(self, text: str) -> str:
        """What of the text so far may be shown now; the last word waits until its end has come."""
        return "".join(map(self._take, text))

    def end(self) -> str:
        """What was still waiting."""
        return self._place()

    def _take(self, char: str) -> str:
        if char == "\n":
            return self._place() + self._new_line()
        if self._code or self._line.startswith("```"):
            self._line += char
            return self._place() + self._after_blanks(char)
        self._line += char
        if char in " \t":
            out = self._place()
            self._blanks += char
            return out
        if self._word and self._may_break(self._word[-1], char):
            out = self._place()
            self._word = char
            return out
        self._word += char
        return ""

    def _may_break(self, before: str, after: str) -> bool:
        between = _wide(before) or _wide(after)
        return between and after not in _NOT_FIRST and before not in _NOT_LAST and not unicodedata.combining(after)

    def _place(self) -> str:
        """The waiting word, on the next line where it does not fit on this one."""
        if not self._word:
            return ""
        word, self._word = self._word, ""
        wide = columns(word)
        lead = _LEAD.match(self._line)
        indent = min(WIDEST_LEAD, lead.end() if lead else 0)
        if self._column + len(self._blanks) + wide <= max(LEAST, self._width()) or self._column <= indent:
            return self._after_blanks(word)
        self._blanks, self._column = "", indent + wide
        return "\n" + " " * indent + word

    def _after_blanks(self, text: str) -> str:
        out, self._blanks = self._blanks + text, ""
        self._column += columns(out)
        return out

    def _new_line(self) -> str:
        if self._line.lstrip().startswith("```"):
            self._code = not self._code
        self._line, self._column, self._blanks = "", 0, ""
        return "\n"


def wrapped(text: str, width: int) -> str:
    """A whole text, broken at `width` columns."""
    wrapper = Wrapper(lambda: width)
    return wrapper.feed(text) + wrapper.end()
