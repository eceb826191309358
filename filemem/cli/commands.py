"""The command line: parse, call, print. The only package that imports click, and the one place where errors leave the program."""

import functools
import importlib
import os
import signal
import sys
from typing import Any

import click

from filemem.cli.options import with_shared_options
from filemem.errors import FilememError, in_words
from filemem.text.plain import escape_controls, nearest

# Each command's module is imported when it is asked for, so that `filemem grep` does not pay for the rest.
COMMANDS = {
    "init": ("setup", "Create a store."),
    "chat": ("talk", "Talk with an assistant that remembers."),
    "remember": ("remembering", "Keep one fact."),
    "consolidate": ("remembering", "Make memories of what was said."),
    "review": ("remembering", "Decide what is remembered, proposal by proposal."),
    "search": ("searching", "Find the passages that best answer a question."),
    "grep": ("recall", "Find the lines that match a regular expression."),
    "open": ("recall", "Read a memory by line."),
    "list": ("recall", "List memories, newest first."),
    "timeline": ("overviews", "Show what happened when, oldest first."),
    "edit": ("editing", "Open a memory in your editor."),
    "forget": ("forgetting", "Delete a memory for good, and all that tells of it."),
    "check": ("setup", "List every problem in the files, with its remedy."),
    "import": ("imports", "Take in conversations and notes from elsewhere."),
    "hook": ("clients", "Print what has another program's sessions taken in as they end."),
    "mcp": ("clients", "Serve the memories to an agent that speaks MCP, or tell a client of it."),
    "call": ("searching", "Call one of the four tools as an agent does."),
    "users": ("users", "List the users of the store."),
    "schema": ("editing", "Print the JSON Schema of the settings or of a memory."),
    "status": ("jobs", "Show how the memories stand: sizes, what fades, how retention is spread."),
    "report": ("overviews", "Write a page to read: profile, facts by topic, timeline, what fades and why."),
    "restore": ("jobs", "Bring memories back from the archive."),
    "sweep": ("jobs", "Archive what has faded."),
    "compact": ("jobs", "Summarise old conversations, and archive them."),
    "maintain": ("jobs", "Consolidate, compact, sweep, index: for cron, systemd or a git hook."),
    "log": ("history", "Show the diary that git keeps of the memories."),
    "undo": ("history", "Take back what one commit did."),
    "serve": ("serving", "Give any chat client a memory, as an OpenAI-compatible endpoint."),
    "sync": ("history", "Share the memories with your other machines by git."),
}


@functools.cache
def _command(name: str) -> click.Command:
    """The command of that name, with the options that every command takes."""
    module = importlib.import_module(f"filemem.cli.{COMMANDS[name][0]}")
    return with_shared_options(getattr(module, f"{name}_command"))


class _Commands(click.Group):
    """A group that knows its commands' names and imports one when it runs."""

    def invoke(self, ctx: click.Context) -> Any:
        return super().invoke(ctx) or 0  # a command that has no exit code to tell has succeeded

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        return _command(name) if name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = nearest(args[0], COMMANDS, 1, 0.6)
            sentence = f"{error.message.rstrip('.')}{f', but {near[0]} is near' if near else ''}."
            raise click.UsageError(sentence, error.ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: filemem chat. Completion for your shell: _FILEMEM_COMPLETE=bash_source filemem (or zsh, fish).",
)
@click.version_option(package_name="filemem")
def cli() -> None:
    """Long-term memory for LLM agents that is just a folder of dated Markdown and YAML files."""


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
        _leave(_usage(error))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # else the interpreter complains when it flushes at its end
        sys.exit(141)
    except FilememError as error:
        _leave(str(error))
    except MemoryError:
        _leave("the memory that this process may use is full; nothing that was on disk is lost.")
    except RecursionError:
        _leave(
            "something here is nested too deeply; nothing that was on disk is lost; filemem check lists what is odd."
        )
    except OSError as error:
        _leave(in_words(error))
    finally:  # nothing is under way any more, and the interpreter would print a traceback of its own end
        for number in ends:
            signal.signal(number, signal.SIG_DFL)
    sys.exit(code)


def _usage(error: click.ClickException) -> str:
    """What is wrong with the words of a call, and where its help is."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    path = context.command_path if context else "filemem"
    return f"{error.format_message().rstrip('.').strip()}; see {path} --help."


def _leave(sentence: str) -> None:
    click.echo(f"filemem: {' '.join(escape_controls(sentence).split())}", err=True)
    sys.exit(2)
