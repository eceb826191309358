"""The commands for other programs: hook and mcp, which serve them or say how they are told of filemem."""

import datetime as dt
import importlib.util
import json
import os
import re
import shlex
import shutil
import sys

import click

from filemem.cli.common import a_user, clock, now, the_store, the_user
from filemem.cli.options import chosen, new_user_option
from filemem.cli.screen import confirmed, put, say, say_dim
from filemem.errors import FilememError
from filemem.files import safe
from filemem.mcp import clients, greeting
from filemem.serve import keys

HOOKS = {"claude-code": "~/.claude/settings.json"}  # where the hooks of a client are set
MISSING = "filemem mcp needs the package mcp, 2.3 or newer; install it with: pip install 'filemem[mcp]'"
_write_option = click.option("--write", is_flag=True, help="Offer tools that write as well: remember, update, forget.")


def program() -> str:
    """Where this program lies, for another one to call it."""
    return shutil.which(sys.argv[0]) or shutil.which("filemem") or os.path.abspath(sys.argv[0])


@click.command("hook")
@click.argument("client", type=click.Choice(list(HOOKS)))
@new_user_option
def hook_command(client: str) -> None:
    """Print what to put into a client's settings, so that each session is taken in when it ends.

    Nothing is written. What is taken in becomes facts with the next filemem maintain or consolidate.

    Example: filemem hook claude-code --user mara
    """
    user = a_user()
    call = [program(), "import", client, "-", "--store", user.store, "--user", user.name, "--new-user"]
    hook = {"type": "command", "command": shlex.join(call), "timeout": 60}
    say_dim(f"Put this into {HOOKS[client]}; beside other hooks, add the entry to the list SessionEnd.")
    say(json.dumps({"hooks": {"SessionEnd": [{"hooks": [hook]}]}}, indent=2, ensure_ascii=False))


@click.group("mcp", invoke_without_command=True)
@click.option(
    "--http", is_flag=True, help="Serve over HTTP those who have a token, rather than one client over a pipe."
)
@click.option("--host", default=keys.LOOPBACK[0], show_default=True, help="With --http: the address to listen at.")
@click.option("--port", default=8365, show_default=True, type=click.IntRange(0, 65535), help="With --http; 0: any.")
@click.option(
    "--connector", is_flag=True, help="Offer search and fetch, as ChatGPT wants them, instead of the four tools."
)
@_write_option
def mcp_command(http: bool, host: str, port: int, connector: bool, write: bool) -> None:
    """Serve the memories to an agent that speaks MCP, the Model Context Protocol.

    Your client starts this itself, once filemem mcp install has told it so. It gets the four tools, the memories as resources
    and the profile as a prompt; with --write also those that write. Over HTTP a token tells the user: filemem mcp token.

    Example: filemem mcp install claude-code
    """
    context = click.get_current_context()
    if context.invoked_subcommand:
        return
    if not _installed():
        raise FilememError(MISSING)
    store = the_store()
    user = None if http else the_user(must_exist=False).name
    if http and not keys.MCP.of(store.root):
        raise FilememError(f"nobody has a token for {store.root} yet; make one with: filemem mcp token --user NAME")
    if not http and sys.stdin.isatty():
        say_dim("This waits for a client's JSON on standard input; to set one up: filemem mcp install CLIENT.")
    if user:
        wire = os.fdopen(os.dup(0), "rb")
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # nothing started from here may read what is meant for the server
        greeted = greeting.greet(user, wire, sys.stdout.buffer)
    from filemem.mcp import server, transports  # noqa: PLC0415  an extra brings what they need, in a second

    def time() -> dt.datetime:
        with context.scope(cleanup=False):  # of the thread that asks
            return clock()

    built = server.MemoryServer(store, user, time, write=write, connector=connector).build()
    if http:
        if host not in keys.LOOPBACK:
            say_dim(keys.EXPOSED)
        transports.over_http(
            built, store.root, chosen("user"), host, port, lambda at: put(f"Serving at {at}; Ctrl-C ends.", err=True)
        )
    else:
        transports.over_stdio(built, wire, *greeted)


def _installed() -> bool:
    """Is what the extra brings there? Versions of mcp before 2 have no mcp_types."""
    return all(importlib.util.find_spec(name) for name in ("mcp_types", "uvicorn"))


@mcp_command.command("token")
@click.option("--revoke", is_flag=True, help="Let the user's token count no more.")
def token_command(revoke: bool) -> None:
    """Make a user's token for filemem mcp --http, and print it, this once: only a hash of it is kept.

    Example: filemem mcp token --user mara
    """
    user = the_user()
    had = keys.MCP.remove(user.store, user.name)
    if revoke:
        say(f"{user.name} had {'a' if had else 'no'} token{'; it counts no more' if had else ''}.")
        return
    say_dim(f"The token of {user.name}, shown only now{'; the one before counts no more' if had else ''}:")
    say(keys.MCP.add(user.store, user.name, now()))


@mcp_command.command("install")
@click.argument("client", type=click.Choice(list(clients.CLIENTS)))
@click.option("--name", default="filemem", show_default=True, help="What the client calls it.")
@click.option("--print", "only_print", is_flag=True, help="Only print the entry.")
@click.option("--yes", is_flag=True, help="Write without asking.")
@_write_option
def install_command(client: str, name: str, only_print: bool, yes: bool, write: bool) -> None:
    """Tell a client of this server: show the entry, ask, and write it into the client's settings.

    What is there stays as it is, and a copy of the settings is kept beside them. Without a terminal it only prints.

    Example: filemem mcp install claude-code
    """
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,40}", name):
        raise FilememError("--name takes up to forty letters, digits, - and _.")
    user, kind = the_user(must_exist=False), clients.CLIENTS[client]
    where = clients.place(kind)
    command = [program(), "mcp", "--store", user.store, "--user", user.name, *(["--write"] if write else [])]
    say(clients.entry(kind, name, command).rstrip("\n"))
    if not _installed():
        say_dim(f"{MISSING}.")
    if only_print or not (yes or (sys.stdin.isatty() and sys.stdout.isatty())):
        say_dim(f"This belongs into {where}; --yes writes it there.")
        return
    before = safe.read(os.path.realpath(where)).decode() if os.path.exists(where) else ""
    after = clients.settings(kind, name, command, before)
    if after == before:
        say_dim(f"{where} has it already.")
    elif yes or confirmed(f"Write this into {where}?"):
        clients.write(kind, before, after)
        say_dim(f"Written; what was there stays. {kind.then}")
    else:
        say_dim("Nothing was written.")
