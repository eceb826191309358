"""A tool's answer on the screen."""

import click

from filemem.cli.common import colours, linked, say
from filemem.folder import Folder
from filemem.plain import visible


def say_answer(user: Folder, answer: str) -> None:
    """Print a tool's answer; on a terminal the headings stand out and lead to their files."""
    if not colours():
        say(answer)
        return
    for line in answer.split("\n"):
        path = line.split("  ")[0]
        if line[:1].isspace() or "/" not in path or " " in path:
            say(line)
        else:
            shown = click.style(visible(path), fg="magenta", bold=True)
            click.echo(linked(user, path, shown) + visible(line[len(path) :]))
