"""The command line's entry: its commands, and the one place where errors leave it."""

import contextlib
import functools
import importlib
import os
import re
import shutil
import signal
import sys
from types import FrameType
from typing import Any, NoReturn

import click

from filemem.cli.context import Context, with_shared_options
from filemem.cli.output import sentence, wrapped
from filemem.errors import FilememError
from filemem.store import person
from filemem.text.plain import escape_controls, nearest

GROUPS = {
    "Every day": "chat.chat facts.remember find.search find.open facts.edit"
    " forget.forget",
    "Find": "find.grep find.list find.timeline find.report find.call",
    "Care": "jobs.maintain facts.review jobs.status jobs.check jobs.restore"
    " jobs.consolidate jobs.compact jobs.sweep",
    "History": "git.log git.undo git.sync",
    "Set up": "setup.init setup.model setup.users setup.import serving.mcp"
    " serving.serve",
}
"""The commands of each group of the help, behind their modules.

A module is imported when its command is asked for: a grep does not pay for the rest.
"""
COMMANDS: dict[str, str] = {}
"""The module of each command."""
for _group in GROUPS.values():
    for _place in _group.split():
        _module, _, _name = _place.partition(".")
        COMMANDS[_name] = _module
READ_IN_PASSING = (
    "remember search open edit grep list timeline report call review status check log"
)
"""Behind these what has ended is read; a chat sees to it itself, and what moves or
deletes memories, or is a job, is left alone."""

INTERRUPTED = 130
READER_LEFT = 141


@functools.cache
def _command(name: str) -> click.Command | None:
    """Return the command of that name, which an installed package may bring."""
    if name in COMMANDS:
        module = importlib.import_module(f"filemem.cli.{COMMANDS[name]}")
        return with_shared_options(getattr(module, f"{name}_command"))
    from importlib import metadata  # noqa: PLC0415  slow to load, and rarely needed

    for found in metadata.entry_points(group="filemem.commands", name=name):
        return with_shared_options(found.load())
    return None


class _Commands(click.Group):
    """Imports a command when it runs; words that are no command go to a chat."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        return _command(name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[Any, Any, list[str]]:
        word = args[0]
        is_other = word.startswith("-") or ctx.resilient_parsing  # completes a word
        if is_other or _command(word):
            return super().resolve_command(ctx, args)
        if re.fullmatch("[a-z]+", word):  # a slip, which a chat would keep
            remedy = "put what you want to say in quotes behind filemem chat"
            for near in nearest(word, COMMANDS, 1):
                remedy = f"the nearest is {near}"
            ctx.fail(f"there is no command {word}; {remedy}")
        return "chat", _command("chat"), args

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        formatter.write_paragraph()
        for heading, group in GROUPS.items():
            rows = []
            for place in group.split():
                name = place.partition(".")[2]
                command = _command(name)
                if command:
                    rows.append((name.ljust(11), command.get_short_help_str(65)))
            formatter.write(f"{heading}:\n")
            with formatter.indentation():
                formatter.write_dl(rows)
        formatter.write_text(
            "Everywhere: --store FOLDER, --user NAME, --today DATE, -h; --version."
        )


_NO_COLOUR = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"


@click.group(
    cls=_Commands,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "terminal_width": min(100, shutil.get_terminal_size().columns),
        "color": False if _NO_COLOUR else None,
    },
)
@click.version_option(package_name="filemem")
def cli() -> None:
    """Long-term memory for LLM agents: a folder of dated Markdown and YAML files."""


with_shared_options(cli)


@cli.result_callback()
@click.pass_context
def _read_in_passing(ctx: click.Context, code: Any) -> Any:
    """Have what has ended read in the background, once a command has said its all."""
    call = ctx.ensure_object(Context)
    is_other = call.as_of or call.all_users or call.scheduler
    if ctx.invoked_subcommand in READ_IN_PASSING.split() and not is_other:
        with contextlib.suppress(FilememError, OSError):
            user = call.the_user()
            if user.is_own and person.may_name_model(user.store):
                from filemem.learn import background  # noqa: PLC0415  slow to load

                background.start_in_passing(user, call.clock())
    return code


def main() -> NoReturn:
    """Run the command line, and exit.

    Every mistake leaves as one sentence and exit code 2.
    """
    _open_standard_streams()
    _handle_ends()
    words = sys.argv[1:] or ["--help"]
    try:
        code = cli.main(words, "filemem", standalone_mode=False, obj=Context())
        sys.stdout.flush()
    except click.exceptions.Abort:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # Else the interpreter complains when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(READER_LEFT)
    except (click.ClickException, FilememError, OSError) as error:
        _leave(sentence(error))
    except (MemoryError, RecursionError):
        _leave(
            "something here is too large or nested too deeply; "
            "nothing on disk is lost; see filemem check."
        )
    sys.exit(code)


def _open_standard_streams() -> None:
    """Open those that are closed, and have them show what a locale cannot encode.

    The next file that is opened would get the number of a closed one.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def _handle_ends() -> None:
    """Have the end of a terminal put in order what is under way, as Ctrl-C does."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _end)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    sys.exit(128 + number)


def _leave(text: str) -> NoReturn:
    said = f"filemem: {' '.join(escape_controls(text).split())}"
    click.echo(wrapped(said, sys.stderr), err=True)
    sys.exit(2)
