"""Commands that serve other programs: mcp, which also tells a client of itself; serve, and its keys."""

import copy
import json
import os
import re
import shlex
import shutil
import signal
import sys

import click

from filemem.cli.context import (
    OPTIONS,
    Context,
    Output,
    Safe,
    command,
    confirmed,
    pass_call,
    say,
    say_dim,
)
from filemem.errors import FilememError, NotFound, in_words, missing_extra
from filemem.files import keys
from filemem.files.folder import StoreFolder
from filemem.files.keys import EXPOSED, LOOPBACK
from filemem.mcp import clients, hooks, server
from filemem.models.offline import NOTICE, OfflineModel
from filemem.text.plain import one_line

HOOKS = {
    "claude-code": "~/.claude/settings.json",
    "codex": "$CODEX_HOME/hooks.json",
}  # where a client's are set
LONGEST_CALL = 1_000_000  # bytes that a hook says of what happened
PATIENCE = 0.7  # seconds of a hook; to begin and to end takes the rest of one
_write_option = click.option(
    "--write",
    is_flag=True,
    help="Also offer tools that write: remember, update, forget.",
)
_host_option = click.option(
    "--host",
    default=LOOPBACK[0],
    show_default=True,
    help="The address to listen on.",
)
_PORT = click.IntRange(0, 65535)


def program() -> str:
    """Where this program is, for another one to call it."""
    beside = os.path.join(
        os.path.dirname(sys.executable), "filemem"
    )  # which python -m filemem runs, too
    return (
        shutil.which(sys.argv[0])
        or shutil.which(beside)
        or shutil.which("filemem")
        or os.path.abspath(sys.argv[0])
    )


@click.group("mcp", invoke_without_command=True)
@click.option(
    "--http",
    is_flag=True,
    help="Serve over HTTP those who have a key, instead of one client over a pipe.",
)
@_host_option
@click.option(
    "--port",
    default=8365,
    show_default=True,
    type=_PORT,
    help="The port; 0 takes a free one.",
)
@_write_option
@OPTIONS["--new"]
@pass_call
def mcp_command(call: Context, http: bool, host: str, port: int, write: bool) -> None:
    """Serve an agent that speaks MCP, or set up a client.

    Your client starts this itself once you have run filemem mcp install. It gets the
    four tools. Over HTTP a key tells the user: filemem serve keys add NAME.

    Example: filemem mcp install claude-code"""
    if click.get_current_context().invoked_subcommand:
        return
    store = call.open_store(begins=bool(call.named_store))
    if http:
        _serve_mcp_over_http(call, store, host, port, write)
        return
    user = store.folder(call.writer(begins=False).name)
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


def _serve_mcp_over_http(
    call: Context, store: StoreFolder, host: str, port: int, write: bool
) -> None:
    """Serve all who have a key, or of these the user of this call, until Ctrl-C."""
    try:
        from filemem.mcp.http import PATH, Endpoint  # noqa: PLC0415  needs the extra
        from filemem.serve import running  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise missing_extra(str(error.name), "serve") from None
    if not keys.keys_of(store.root):
        raise FilememError(
            f"nobody has a key for {store.root} yet; make one with:"
            " filemem serve keys add NAME"
        )
    local = host in LOOPBACK
    endpoint = Endpoint(store, call.clock, write=write, only=call.user, local=local)
    with running.bound(host, port) as (listening, address):
        say_dim("" if local else EXPOSED)
        say_dim(f"Serving at {address}{PATH}; Ctrl-C ends.")
        running.server(endpoint.app()).run(sockets=[listening])


@command(
    "hook",
    click.argument("client", type=click.Choice(list(HOOKS))),
    click.option(
        "--wait", is_flag=True, help="End once the session is imported, and not before."
    ),
    "--new",
    within=mcp_command,
)
def hook_command(call: Context, client: str, wait: bool) -> Output:
    """Answer a hook of a coding agent.

    It runs this with the event as JSON on standard input. When a session begins, it gets the profile and the plans;
    with a prompt, what a search for it finds, if that is strong. When a session ends or is compacted, it is
    imported. The plugin for Claude Code sets this up; filemem mcp install CLIENT --sessions prints what other
    clients need. A failure disturbs no session; filemem mcp check tries the hooks.

    Example: filemem mcp hook claude-code"""
    try:
        said = json.loads(sys.stdin.buffer.read(LONGEST_CALL))
        asks, user = (
            str(said["hook_event_name"]) in hooks.CLIENTS[client][:2],
            call.writer(),
        )
        if asks and not wait:
            signal.signal(signal.SIGALRM, lambda *_: os._exit(1))
            signal.setitimer(signal.ITIMER_REAL, PATIENCE)
        elif not wait:
            # Claude Code ends what its hooks have started 1.5 s after a session's end, but no other session.
            if os.fork():
                return 0
            os.setsid()
            for stream in range(3):
                os.dup2(os.open(os.devnull, os.O_RDWR), stream)
        if asks:
            yield from filter(None, [Safe(hooks.answer(user, client, said, call.now))])
            signal.setitimer(signal.ITIMER_REAL, 0)
        else:
            hooks.take_in(
                StoreFolder(user.store),
                user.name,
                client,
                said["transcript_path"],
                call.now,
            )
    except Exception as error:  # noqa: BLE001  an agent's session must not end because of it, as with 2 it would
        why = "that is no hook's event as JSON; a coding agent runs this, and filemem mcp check tries it."
        wrong = isinstance(error, ValueError | KeyError | TypeError | RecursionError)
        say(
            f"filemem: {why if wrong else one_line(in_words(error) or repr(error))}",
            err=True,
        )
        return 1
    return 0


@command("check", within=mcp_command)
def check_command(call: Context) -> Output:
    """Try every hook as a coding agent runs it; each has one second. Exit code 1 if one fails.

    Example: filemem mcp check"""
    user, failed = call.writer(), 0
    shared = ["--store", user.store, "--user", user.name]
    for client in hooks.CLIENTS:
        for one in hooks.tried(
            client, [program(), "mcp", "hook", client, "--wait", "--new", *shared]
        ):
            failed += bool(one.failed)
            what = f"failed: {one.failed}" if one.failed else f"{one.tokens:,} tokens"
            yield f"{client} {one.event}: {what}, {one.seconds:.2f} s"
    return int(failed > 0)


@command(
    "install",
    click.argument("client", type=click.Choice(list(clients.CLIENTS))),
    click.option(
        "--name", default="filemem", show_default=True, help="What the client calls it."
    ),
    click.option("--yes", is_flag=True, help="Write without asking."),
    click.option(
        "--sessions",
        is_flag=True,
        help="Print the hooks that import sessions, and tell of what is known.",
    ),
    _write_option,
    "--new",
    within=mcp_command,
)
def install_command(
    call: Context, client: str, name: str, yes: bool, sessions: bool, write: bool
) -> Output:
    """Add this server to a client's settings.

    The entry is shown, and written if you agree; nothing else changes, and a copy of the settings is kept beside
    them. What hooks import becomes facts with the next filemem maintain or consolidate.

    Example: filemem mcp install claude-code"""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,40}", name):
        raise FilememError("--name takes up to forty letters, digits, - and _.")
    begins = not os.path.isdir(call.open_store(begins=bool(call.named_store)).root)
    user, kind = call.writer(begins=False), clients.CLIENTS[client]
    shared = ["--store", user.store, "--user", user.name]
    if sessions:
        if client not in hooks.CLIENTS:
            raise FilememError(
                f"{client} has no hooks that import sessions; {' and '.join(HOOKS)} have."
            )
        say_dim(f"Put this into {clients.expanded(HOOKS[client])}, beside other hooks.")
        yield hooks.settings(
            client, shlex.join([program(), "mcp", "hook", client, *shared, "--new"])
        )
        return
    where, options = (
        clients.expanded(kind.path),
        [*["--write"] * write, *["--new"] * begins],
    )
    others = client == "project"  # which others share: each has a store of their own
    started = (
        ["filemem", "mcp", *options]
        if others
        else [program(), "mcp", *shared, *options]
    )
    yield clients.entry(kind, name, started).rstrip("\n")
    if not (yes or (sys.stdin.isatty() and sys.stdout.isatty())):
        say_dim(f"This belongs into {where}; --yes writes it there.")
        return
    after = clients.settings(kind, name, started, before := clients.standing(kind))
    if after == before:
        say_dim(f"{where} has it already.")
    elif yes or confirmed(f"Write this into {where}?"):
        clients.write(kind, before, after)
        say_dim(f"Written; what was there stays. {kind.then}")
    else:
        say_dim("Nothing was written.")


@click.group("serve", invoke_without_command=True)
@_host_option
@click.option(
    "--port",
    default=8765,
    show_default=True,
    type=_PORT,
    help="The port; 0 takes a free one.",
)
@click.option(
    "--origin",
    "origins",
    multiple=True,
    metavar="URL",
    help="A site whose pages may use it (CORS).",
)
@OPTIONS["--model"]
@OPTIONS["--new"]
@pass_call
def serve_command(
    call: Context, host: str, port: int, origins: tuple[str, ...], model: str | None
) -> None:
    """Give any chat client a memory: an OpenAI endpoint.

    It is at http://HOST:PORT/v1. Each user has a key (`filemem serve keys add NAME`). With --user, on this machine
    only, that user needs no key.

    Example: filemem serve --user mara"""
    if click.get_current_context().invoked_subcommand:
        return
    store = call.open_store(begins=bool(call.named_store))
    user = call.writer(begins=False).name if call.user else ""
    if user and host not in LOOPBACK:
        raise FilememError(
            f"--user serves without a key, so not on {host}; leave one of them out."
        )
    if not user and not keys.keys_of(store.root):
        raise FilememError(
            "nobody has a key yet; make one with filemem serve keys add NAME, or serve --user NAME."
        )
    try:
        from filemem.serve import app, running  # noqa: PLC0415  needs the extra
    except ModuleNotFoundError as error:
        raise missing_extra(str(error.name), "serve") from None
    model_of_run = call.model(store.folder(user or "anyone"), model) or OfflineModel()
    service = app.Service(
        store,
        lambda: copy.copy(model_of_run),
        call.clock,
        lambda line: say_dim(f"{call.clock():%T} {line}"),
        user,
        origins,
    )
    with running.bound(host, port) as (listening, where):
        say_dim("" if host in LOOPBACK else EXPOSED)
        say_dim(NOTICE if isinstance(model_of_run, OfflineModel) else "")
        who = f"{user} without a key" if user else "whoever has a key"
        answered = f"answered by {model_of_run.name}"
        say(f"Serving {who} at {where}/v1, {answered}. End with Ctrl-C.")
        running.server(service.app()).run(sockets=[listening])


@serve_command.group("keys", no_args_is_help=False)
def keys_group() -> None:
    """Manage who may ask, here and over mcp --http: one key per user. Only their hashes are kept."""


@command(
    "add",
    click.argument("name"),
    "--new",
    within=keys_group,
)
def add_command(call: Context, name: str) -> Output:
    """Make a key for a user, and print it once.

    Example: filemem serve keys add mara"""
    store = call.open_store(begins=bool(call.named_store))
    call.user = name
    user = call.writer(begins=False).name
    yield keys.add_key(store.root, user, call.now)
    say_dim(f"This is {user}'s key for {store.root}; it is shown only now.")


@command("list", within=keys_group)
def list_command(call: Context) -> Output:
    """Show who has a key, and since when."""
    for one in sorted(
        keys.keys_of(call.open_store().root).values(),
        key=lambda one: (one["user"], one["made"]),
    ):
        yield f"{one['user']}  since {one['made']}"


@command("remove", click.argument("name"), within=keys_group)
def remove_command(call: Context, name: str) -> Output:
    """Take all keys of a user away, from the next request on."""
    gone = keys.revoke_user(call.open_store().root, name)
    if not gone:
        raise NotFound(
            f"{name} has no key here; filemem serve keys list shows who has."
        )
    yield f"Took {gone} key{'s' * (gone != 1)} of {name} away."
