"""Commands for other programs: hook and mcp, which say how these call filemem, or serve them."""

import json
import os
import shlex
import shutil
import sys

import click

from filemem.cli.common import a_user
from filemem.cli.options import new_user_option, shared_options
from filemem.cli.screen import say, say_dim

HOOKS = {"claude-code": "~/.claude/settings.json"}  # where the hooks of a client are set


def program() -> str:
    """Where this program lies, for another one to call it."""
    return shutil.which(sys.argv[0]) or shutil.which("filemem") or os.path.abspath(sys.argv[0])


@click.command("hook")
@click.argument("client", type=click.Choice(list(HOOKS)))
@new_user_option
@shared_options
def hook_command(client: str) -> int:
    """Print what to put into a client's settings, so that each session is taken in when it ends.

    Nothing is written. What is taken in becomes facts with the next filemem maintain or consolidate.

    Example: filemem hook claude-code --user mara
    """
    user = a_user()
    call = [program(), "import", client, "-", "--store", user.store, "--user", user.name, "--new-user"]
    hook = {"type": "command", "command": shlex.join(call), "timeout": 60}
    say_dim(f"Put this into {HOOKS[client]}; beside other hooks, add the entry to the list SessionEnd.")
    say(json.dumps({"hooks": {"SessionEnd": [{"hooks": [hook]}]}}, indent=2, ensure_ascii=False))
    return 0
