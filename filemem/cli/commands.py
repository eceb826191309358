"""The command line: parse, call, print. The only package that imports click, and the one place where errors leave the program."""

import functools
import importlib
import os
import re
import signal
import sys
from typing import Any

import click

from filemem.cli.context import sentence, with_shared_options, wrapped
from filemem.errors import FilememError
from filemem.text.plain import escape_controls, nearest, one_line

GROUPS = {  # by module, which is imported when its command is asked for: `filemem grep` does not pay for the rest
    "Every day": "repl.chat upkeep.remember find.search find.open upkeep.edit forget.forget",
    "Talk": "upkeep.consolidate upkeep.review",
    "Find": "find.grep find.list upkeep.timeline upkeep.report find.call",
    "Care": "upkeep.status upkeep.check upkeep.maintain upkeep.compact upkeep.sweep upkeep.restore",
    "History": "upkeep.log upkeep.undo upkeep.sync",
    "Set up": "upkeep.init upkeep.model upkeep.users upkeep.import serving.mcp serving.serve",
}
COMMANDS = {
    place.partition(".")[2]: place.partition(".")[0]
    for group in GROUPS.values()
    for place in group.split()
}
_MEANT = {  # a command, and what people type who mean it
    "remember": "add note save",
    "forget": "delete remove rm",
    "open": "cat get show view",
    "search": "find",
    "list": "ls",
    "chat": "ask start talk",
    "log": "blame diff history",
    "sync": "backup",
    "status PATH": "why",
    "report": "export",
    "model, or init, whose filemem.yaml has every limit": "config settings",
    "COMMAND --help": "help",
}
MEANT = {word: meant for meant, words in _MEANT.items() for word in words.split()}


@functools.cache
def _command(name: str) -> click.Command | None:
    """The command of that name, with the options that all commands take; it may come from an installed package."""
    if name in COMMANDS:
        module = importlib.import_module(f"filemem.cli.{COMMANDS[name]}")
        return with_shared_options(getattr(module, f"{name}_command"))
    from importlib import metadata  # noqa: PLC0415  slow to load, and needed for other people's commands only

    found = next(iter(metadata.entry_points(group="filemem.commands", name=name)), None)
    return with_shared_options(found.load()) if found else None


class _Commands(click.Group):
    """A group that knows its commands' names and imports one when it runs; words that are no command go to a chat."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        return _command(name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[Any, Any, list[str]]:
        word, rest = args[0], args[1:]
        if (
            (found := _command(word)) or word[:1] == "-" or ctx.resilient_parsing
        ):  # of what is still being typed
            return (word, found, rest) if found else super().resolve_command(ctx, args)
        said = f"there is no command {one_line(word, 40)}"
        if word in MEANT:
            raise click.UsageError(f"{said}; use filemem {MEANT[word]}", ctx)
        if near := nearest(word, COMMANDS, 1, 0.75):
            raise click.UsageError(f"{said}; the nearest is {near[0]}", ctx)
        if re.fullmatch("[a-z]+", word) or (
            rest and rest[0][:1] != "-"
        ):  # a slip, which no chat should keep
            raise click.UsageError(
                f"{said}; put what you want to say in quotes behind filemem chat", ctx
            )
        return "chat", _command("chat"), args

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        formatter.write("\n")
        for heading, group in GROUPS.items():
            formatter.write(f"{heading}:\n")
            names = [place.partition(".")[2] for place in group.split()]
            found = [
                (name.ljust(11), one.get_short_help_str(65))
                for name in names
                if (one := _command(name))
            ]
            with formatter.indentation():
                formatter.write_dl(found)
        formatter.write(
            "Everywhere: --store FOLDER, --user NAME, --today DATE, -h; --version.\n"
        )


_NO_COLOUR = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
_SETTINGS = {
    "help_option_names": ["-h", "--help"],
    "max_content_width": 100,
    "color": False if _NO_COLOUR else None,
}


@click.group(cls=_Commands, context_settings=_SETTINGS)
@click.version_option(package_name="filemem")
def cli() -> None:
    """Long-term memory for LLM agents: a folder of dated Markdown and YAML files."""


with_shared_options(cli)


def main() -> None:
    """Run the command line; every mistake leaves as one sentence and exit code 2, an interrupt as 130."""
    for name in (
        "stdin",
        "stdout",
        "stderr",
    ):  # one that is closed, whose number the next file would get
        if getattr(sys, name) is None:
            setattr(
                sys,
                name,
                os.fdopen(
                    os.open(os.devnull, os.O_RDWR), "r" if name == "stdin" else "w"
                ),
            )
    for stream in (
        sys.stdout,
        sys.stderr,
    ):  # a locale without CJK shows what it cannot encode as an escape
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    # The end of a terminal: what was under way is put in order, as by Ctrl-C.
    ends = [
        number
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) == signal.SIG_DFL
    ]
    for number in ends:
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    try:
        code = cli.main(None if sys.argv[1:] else ["--help"], standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Abort:
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), 1
        )  # else the interpreter complains when it flushes at its end
        sys.exit(141)
    except (click.ClickException, FilememError, OSError) as error:
        _leave(sentence(error))
    except (MemoryError, RecursionError):
        _leave(
            "something here is too large or nested too deeply; nothing on disk is lost; see filemem check."
        )
    finally:  # nothing is under way any more, and the interpreter would print a traceback of its own end
        for number in ends:
            signal.signal(number, signal.SIG_DFL)
    sys.exit(code)


def _leave(text: str) -> None:
    click.echo(
        wrapped(f"filemem: {' '.join(escape_controls(text).split())}", sys.stderr),
        err=True,
    )
    sys.exit(2)
