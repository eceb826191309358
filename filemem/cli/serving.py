"""Commands that serve other programs: mcp and its clients; serve, and keys."""

import contextlib
import datetime as dt
import json
import logging
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import click

from filemem.chat.core_memory import WISHES_WAIT, wait_for_a_name
from filemem.cli.context import Context, model_option, new_option, pass_call, prints
from filemem.cli.output import Output, Safe, confirmed, say, say_dim
from filemem.errors import FilememError, NotFound, in_words, missing_extra
from filemem.jobs import imported
from filemem.learn import background
from filemem.llm.choice import chosen_model
from filemem.mcp import clients, hooks, server
from filemem.store import keys
from filemem.store.folder import Folder
from filemem.store.heard import LOG
from filemem.store.keys import EXPOSED, LOOPBACK
from filemem.store.users import StoreFolder
from filemem.text.plain import counted, one_line

MAX_EVENT_BYTES = 1_000_000
HOOK_SECONDS = 0.7  # to begin and to end takes the rest of one
NO_KEY = "nobody has a key yet; make one with filemem serve keys add NAME."
NO_MODEL = (
    "nobody would answer; set OPENAI_API_KEY, and name a model with --model or"
    " FILEMEM_MODEL."
)
PORT = click.IntRange(0, 65535)
write_option = click.option(
    "--write",
    is_flag=True,
    help="Also offer tools that write: remember, update, forget.",
)
host_option = click.option(
    "--host",
    default=LOOPBACK[0],
    show_default=True,
    help="The address to listen on.",
)


def _limit(*names: str, default: int, help: str) -> Callable[[Any], Any]:
    """Return an option of serve for a limit, a whole number from 1.

    Args:
        names: of the option.
        default: how many there are where it is not given.
        help: what it limits.
    """
    number = click.IntRange(1)
    return click.option(
        *names, default=default, show_default=True, type=number, help=help
    )


def _opened(call: Context) -> StoreFolder:
    """Return the store to serve; a named one is begun, if agreed to."""
    return call.begin_store() if call.named_store else call.open_store()


def _tell_whose(call: Context, user: Folder) -> None:
    """Say how to say that a store is one's own, where wishes in it are data.

    Args:
        call: the command that serves it.
        user: whose wishes.
    """
    if wait_for_a_name(user, call.now.date()):
        say_dim(WISHES_WAIT.format(one_line(user.root)))


def _command(user: Folder, *words: str) -> list[str]:
    """Return how another program runs a command of filemem's for a user."""
    start = [sys.executable, "-m", "filemem"]
    program = shutil.which(sys.argv[0]) or shutil.which("filemem")
    if program:
        start = [os.path.abspath(program)]
    return [*start, *words, "--store", user.store, "--user", user.name]


# -- mcp -------------------------------------------------------------------------------


@click.group("mcp", invoke_without_command=True)
@click.option(
    "--http",
    is_flag=True,
    help="Serve over HTTP those who have a key, instead of one client over a pipe.",
)
@host_option
@click.option(
    "--port", default=8365, show_default=True, type=PORT, help="0 takes a free one."
)
@write_option
@new_option
@pass_call
def mcp_command(call: Context, http: bool, host: str, port: int, write: bool) -> None:
    """Serve an agent that speaks MCP, or set up a client.

    Your client starts this itself once you have run filemem mcp install. It gets the
    four tools. Over HTTP a key tells the user: filemem serve keys add NAME.

    Example: filemem mcp install claude-code"""
    if click.get_current_context().invoked_subcommand:
        return
    if http:
        store = _keyed(call)
        with _needing_extra():
            from filemem.mcp.http import PATH, Endpoint  # noqa: PLC0415
        local = host in LOOPBACK
        for name in store.users():
            _tell_whose(call, store.folder(name))
        endpoint = Endpoint(store, call.clock, write=write, local=local)
        _serve(endpoint.app(), host, port, PATH)
        return
    _opened(call)
    user = call.writer(begins=False)
    _tell_whose(call, user)
    if sys.stdin.isatty():
        say_dim(
            "This waits for a client's JSON on standard input; to set one up:"
            " filemem mcp install CLIENT."
        )
    wire = os.fdopen(os.dup(0), "rb")
    # Nothing started from here may read what is meant for the server.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    dispatcher = server.Dispatcher(user, call.clock, write=write)
    server.serve_pipe(dispatcher, wire, sys.stdout.buffer)


@mcp_command.command("hook")
@click.argument("client", type=click.Choice(list(hooks.CLIENTS)))
@click.option(
    "--wait", is_flag=True, help="End once the session is imported, and not before."
)
@new_option
@prints
def hook_command(call: Context, client: str, wait: bool) -> Output:
    """Answer a hook of a coding agent.

    It runs this with the event as JSON on standard input. When a session begins, it
    gets the profile and the plans; with a prompt, what a search for it finds, if that
    is strong. When a session ends or is compacted, it is imported. The plugin for
    Claude Code sets this up; filemem mcp install CLIENT --sessions prints what other
    clients need. A failure disturbs no session.

    Example: filemem mcp hook claude-code"""
    try:
        event = json.loads(sys.stdin.buffer.read(MAX_EVENT_BYTES))
        asks = event["hook_event_name"] in hooks.ASKING
        user = call.writer()
        if asks:
            if not wait:
                signal.signal(signal.SIGALRM, lambda *_: os._exit(1))
                signal.setitimer(signal.ITIMER_REAL, HOOK_SECONDS)
            told = hooks.answer(user, client, event, call.now)
            if told:
                yield Safe(told)
            signal.setitimer(signal.ITIMER_REAL, 0)
        elif wait or _detached():
            _take_in(user, client, event, call.now)
    except Exception as error:  # noqa: BLE001  an agent's session must not end by it
        reason = one_line(in_words(error) or repr(error))
        say(f"filemem: no hook's event was answered: {reason}", err=True)
        return 1  # 2 would keep the agent from going on
    return 0


def _take_in(user: Folder, client: str, event: dict[str, Any], at: dt.datetime) -> None:
    """Import the session of an event, and have it read if that has ended it."""
    report = imported(user, client, event["transcript_path"], at)
    ended = []
    if event["hook_event_name"] == hooks.ENDING:
        ended = [entry.path for entry in (*report.added, *report.updated)]
    background.start(user, chosen_model(user, None), at, ended)


def _detached() -> bool:
    """Go on in a child of its own session; True there, and False in the parent.

    Claude Code ends what its hooks have started 1.5 s after a session's end, but
    nothing in another session.
    """
    if os.fork():
        return False
    os.setsid()
    for stream in range(3):
        os.dup2(os.open(os.devnull, os.O_RDWR), stream)
    return True


@mcp_command.command("install")
@click.argument("client", type=click.Choice([*clients.COMMANDS, *clients.CLIENTS]))
@click.option("--yes", is_flag=True, help="Run the client's command without asking.")
@click.option(
    "--sessions",
    is_flag=True,
    help="Print the hooks that import sessions, and tell of what is known.",
)
@write_option
@new_option
@prints
def install_command(
    call: Context, client: str, yes: bool, sessions: bool, write: bool
) -> Output:
    """Tell a client of this server.

    Claude Code and Codex have a command that does it, which is printed, and run if you
    agree; for others, what to paste into their settings is printed. What hooks import
    is read by your model when the session has ended, if you have one.

    Example: filemem mcp install claude-code"""
    is_there = os.path.isdir(_opened(call).root)
    user = call.writer(begins=False)
    if sessions:
        if client not in hooks.CLIENTS:
            who = " and ".join(hooks.CLIENTS)
            raise FilememError(
                f"{client} has no hooks that import sessions; {who} have."
            )
        say_dim(f"Put this into {hooks.CLIENTS[client]}, beside other hooks.")
        command = _command(user, "mcp", "hook", client, "--new")
        yield Safe(hooks.settings(client, shlex.join(command)))
        return 0
    command = _command(user, "mcp")
    if write:
        command.append("--write")
    if not is_there:
        command.append("--new")
    if client in clients.CLIENTS:
        kind = clients.CLIENTS[client]
        yield Safe(clients.entry(kind, command))
        say_dim(f"Put this into {kind.settings}, beside other servers.")
        return 0
    add = [*clients.COMMANDS[client], *command]
    yield Safe(shlex.join(add))
    if not shutil.which(add[0]):
        say_dim(f"There is no {add[0]} here; run that line where it is.")
    elif yes or confirmed("Run that now?"):
        return subprocess.run(add, check=False).returncode
    return 0


# -- serve -----------------------------------------------------------------------------


@click.group("serve", invoke_without_command=True)
@host_option
@click.option(
    "--port", default=8765, show_default=True, type=PORT, help="0 takes a free one."
)
@model_option
@_limit("--answers", default=64, help="How many may be under way; later ones wait.")
@_limit(
    "--answers-per-user",
    "answers_of_user",
    default=8,
    help="How many for one user; later ones are refused.",
)
@_limit(
    "--connections",
    default=500,
    help="How many at once; later ones are told to come again.",
)
@_limit("--request-mb", default=20, help="How large a request may be, in MB.")
@_limit("--body-seconds", default=30, help="In which a request must have come.")
@new_option
@pass_call
def serve_command(
    call: Context,
    /,
    host: str,
    port: int,
    model: str | None,
    connections: int,
    **limits: int,
) -> None:
    """Give any chat client a memory: an OpenAI endpoint.

    It is at http://HOST:PORT/v1. Each user has a key, which their client sends:
    filemem serve keys add NAME. With --user, on this machine only, that user needs
    none. The model answers with the four tools.

    Example: filemem serve --model gpt-4o-mini"""
    if click.get_current_context().invoked_subcommand:
        return
    user = ""
    if call.user:
        if host not in LOOPBACK:
            why = f"--user serves without a key, so not on {host}"
            raise FilememError(f"{why}; leave one of them out.")
        store = _opened(call)
        user = call.writer(begins=False).name
    else:
        store = _keyed(call)
    with _needing_extra():
        from filemem.serve.app import Service  # noqa: PLC0415
    answering = call.model(store.folder(user or "anyone"), model)
    if answering is None:
        raise FilememError(NO_MODEL)

    def log(line: str) -> None:
        say_dim(f"{call.clock():%T} {line}")

    for name in store.users():
        _tell_whose(call, store.folder(name))
    service = Service(store, answering, call.clock, log, open_to=user, **limits)
    _serve(service.app(), host, port, "/v1", user, connections=connections)


def _keyed(call: Context) -> StoreFolder:
    """Return the store to serve over HTTP.

    Raises:
        FilememError: nobody has a key for it, or a user is named, whom a key tells.
    """
    store = _opened(call)
    if call.user:
        raise FilememError("over HTTP a key tells the user; leave --user out.")
    if not keys.keys_of(store.root):
        raise FilememError(NO_KEY)
    return store


@contextlib.contextmanager
def _needing_extra() -> Iterator[None]:
    """Say which extra brings a module that is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise missing_extra(str(error.name), "serve") from None


def _serve(
    app: Any, host: str, port: int, path: str, open_to: str = "", **limits: int
) -> None:
    """Serve an application until Ctrl-C.

    Args:
        app: the application.
        host: the address to listen on.
        port: likewise; 0 takes a free one.
        path: where the application is.
        open_to: the user who needs no key; '' for none.
        limits: of the server.
    """
    from filemem.serve import running  # noqa: PLC0415  needs the extra

    with running.bound(host, port) as (listening, address):
        if host not in LOOPBACK:
            say_dim(EXPOSED)
        whom = "whoever has a key"
        if open_to:
            whom = f"{open_to} without a key, and whoever else has one,"
        say(f"Serving {whom} at {address}{path}; Ctrl-C ends.")
        handler = logging.StreamHandler()  # of what happens, without a word of anybody
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
        LOG.addHandler(handler)
        LOG.setLevel(logging.INFO)
        running.server(app, **limits).run(sockets=[listening])


@serve_command.group("keys", no_args_is_help=False)
def keys_group() -> None:
    """Manage who may ask, here and over mcp --http: one key per user.

    Only their hashes are kept."""


@keys_group.command("add")
@click.argument("name")
@new_option
@prints
def add_command(call: Context, name: str) -> Output:
    """Make a key for a user, and print it once.

    Example: filemem serve keys add mara"""
    store = _opened(call)
    call.user = name
    user = call.writer(begins=False).name
    yield keys.add_key(store.root, user, call.now.date())
    say_dim(f"This is {user}'s key for {store.root}; it is shown only now.")


@keys_group.command("list")
@prints
def list_command(call: Context) -> Output:
    """Show who has a key, and since when."""
    found = keys.keys_of(call.open_store().root).values()
    for one in sorted(found, key=lambda one: (one["user"], one["made"])):
        yield f"{one['user']}  since {one['made']}"


@keys_group.command("remove")
@click.argument("name")
@prints
def remove_command(call: Context, name: str) -> Output:
    """Take all keys of a user away, from the next request on."""
    gone = keys.revoke_user(call.open_store().root, name)
    if not gone:
        raise NotFound(
            f"{name} has no key here; filemem serve keys list shows who has."
        )
    yield f"Took {counted(gone, 'key')} of {name} away."
