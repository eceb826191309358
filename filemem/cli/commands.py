"""The command line: parse, call, print. The only package that imports click, and the one place where errors leave the program."""

import functools
import importlib
import os
import signal
import sys

import click

from filemem.cli.context import usage, with_shared_options
from filemem.errors import FilememError, in_words
from filemem.text.plain import escape_controls, nearest, one_line

# Each command's module is imported when it is asked for, so that `filemem grep` does not pay for the rest. By groups of the help.
GROUPS = {
    "Every day": {
        "chat": ("chat", "Talk with an assistant that remembers."),
        "remember": ("keep", "Keep one fact."),
        "search": ("find", "Find the passages that best answer a question."),
        "open": ("find", "Read a memory by line."),
        "edit": ("keep", "Open a memory in your editor."),
        "forget": ("keep", "Delete something for good, with what derives from it."),
    },
    "Talk": {
        "consolidate": ("jobs", "Have the model turn conversations into memories."),
        "review": ("keep", "Decide what is remembered, one proposal at a time."),
    },
    "Find": {
        "grep": ("find", "Find the lines that match a regular expression."),
        "list": ("find", "List memories, newest first."),
        "timeline": ("jobs", "Show what happened when, oldest first."),
        "report": ("jobs", "Write one page to read, with what fades and why."),
        "call": ("find", "Call one of the four tools as an agent does."),
    },
    "Care": {
        "status": ("jobs", "Show counts, sizes and what fades; or one memory's state."),
        "check": ("jobs", "List every problem in the files, with its remedy."),
        "maintain": ("jobs", "Run all the jobs below, and consolidate: for cron."),
        "compact": ("jobs", "Summarise old conversations, and archive them."),
        "sweep": ("jobs", "Archive what has faded."),
        "restore": ("jobs", "Bring memories back from the archive."),
    },
    "History": {
        "log": ("jobs", "Show the diary that git keeps of the memories."),
        "undo": ("jobs", "Undo what one commit did."),
        "sync": ("jobs", "Share the memories with your other machines through git."),
    },
    "Set up": {
        "init": ("jobs", "Create a store."),
        "users": ("jobs", "List the users of the store."),
        "import": ("jobs", "Import conversations and notes from elsewhere."),
        "mcp": ("serving", "Serve an agent that speaks MCP, or set up a client."),
        "serve": ("serving", "Give any chat client a memory: an OpenAI endpoint."),
    },
}
COMMANDS = {name: told for group in GROUPS.values() for name, told in group.items()}
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
    "init, whose filemem.yaml has every setting": "config settings",
    "COMMAND --help": "help",
}
MEANT = {word: meant for meant, words in _MEANT.items() for word in words.split()}


@functools.cache
def _command(name: str) -> click.Command | None:
    """The command of that name, with the options that all commands take; it may come from an installed package."""
    if name in COMMANDS:
        module = importlib.import_module(f"filemem.cli.{COMMANDS[name][0]}")
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
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word, rest = args[0], args[1:]
        if (found := _command(word)) or word[:1] == "-":
            return (word, found, rest) if found else super().resolve_command(ctx, args)
        said = f"there is no command {one_line(word, 40)}"
        if word in MEANT:
            raise click.UsageError(f"{said}; use filemem {MEANT[word]}", ctx)
        if near := nearest(word, COMMANDS, 1, 0.75):
            raise click.UsageError(f"{said}; the nearest is {near[0]}", ctx)
        if rest and rest[0][:1] != "-":
            raise click.UsageError(f"{said}; put what you want to say in quotes, or use filemem chat", ctx)
        return "chat", _command("chat"), args

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write("\n")
        for heading, group in GROUPS.items():
            formatter.write(f"{heading}:\n")
            with formatter.indentation():
                formatter.write_dl([(name.ljust(11), text) for name, (_, text) in group.items()])
        formatter.write("Everywhere: --store FOLDER, --user NAME, --today DATE, --trust, -h; --version.\n")


_NO_COLOUR = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100, "color": False if _NO_COLOUR else None}


@click.group(cls=_Commands, context_settings=_SETTINGS)
@click.version_option(package_name="filemem")
def cli() -> None:
    """Long-term memory for LLM agents: a folder of dated Markdown and YAML files."""


with_shared_options(cli)


def main() -> None:
    """Run the command line; every mistake leaves as one sentence and exit code 2, an interrupt as 130."""
    for stream in (sys.stdout, sys.stderr):  # a locale without CJK shows what it cannot encode as an escape
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    # The end of a terminal: what was under way is put in order, as by Ctrl-C.
    ends = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) == signal.SIG_DFL]
    for number in ends:
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    try:
        code = cli.main(None if sys.argv[1:] else ["--help"], standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Abort:
        sys.exit(130)
    except click.ClickException as error:
        _leave(usage(error))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # else the interpreter complains when it flushes at its end
        sys.exit(141)
    except (FilememError, OSError) as error:
        _leave(in_words(error))
    except (MemoryError, RecursionError):
        _leave("something here is too large or nested too deeply; nothing on disk is lost; see filemem check.")
    finally:  # nothing is under way any more, and the interpreter would print a traceback of its own end
        for number in ends:
            signal.signal(number, signal.SIG_DFL)
    sys.exit(code)


def _leave(sentence: str) -> None:
    click.echo(f"filemem: {' '.join(escape_controls(sentence).split())}", err=True)
    sys.exit(2)
