"""Commands that serve: serve, and its keys."""

import click

from filemem.cli.common import now, the_store, ticking
from filemem.cli.options import chosen, model_option
from filemem.cli.screen import put, say, say_dim
from filemem.cli.talk import the_model
from filemem.errors import FilememError, NotFound
from filemem.files.store import StoreFolder
from filemem.models import Model, OpenAIModel
from filemem.models.offline import NOTICE, OfflineModel
from filemem.serve import keys


@click.group("serve", invoke_without_command=True)
@click.option("--host", default=keys.LOOPBACK[0], show_default=True, help="The address to listen on.")
@click.option(
    "--port", default=8765, show_default=True, type=click.IntRange(0, 65535), help="The port; 0 takes a free one."
)
@click.option(
    "--origin", "origins", multiple=True, metavar="URL", help="A site whose pages may ask (CORS); none by default."
)
@model_option
@click.pass_context
def serve_command(ctx: click.Context, host: str, port: int, origins: tuple[str, ...], model: str | None) -> None:
    """Give any chat client a memory: an OpenAI-compatible endpoint at http://HOST:PORT/v1.

    Each user has a key (`filemem serve keys add NAME`). With --user, and on this machine only, that user needs none.

    Example: filemem serve --user mara
    """
    if ctx.invoked_subcommand:
        return
    store = the_store()
    open_to = _open_to(store, host)
    try:
        from filemem.serve import app, running  # noqa: PLC0415  only this command needs what the extra installs
        from filemem.serve.chats import Chats  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise FilememError(f"{error.name} is not installed; pip install 'filemem[serve]' installs it.") from None
    asked, clock = the_model(store.folder(open_to or "anyone"), model), ticking()

    def one_more() -> Model:
        return asked.apart() if isinstance(asked, OpenAIModel) else OfflineModel()

    def chats(user: str) -> Chats:
        return Chats(store.folder(user), one_more, clock)

    def log(line: str) -> None:
        say_dim(f"{clock():%H:%M:%S} {line}")

    with running.bound(host, port) as (listening, where):
        for note in [keys.EXPOSED] * (host not in keys.LOOPBACK) + [NOTICE] * isinstance(asked, OfflineModel):
            say_dim(note)
        who = f"{open_to} without a key" if open_to else "whoever has a key"
        say(f"Serving {who} at {where}/v1, answered by {asked.name}. End with Ctrl-C.")
        running.run(app.Service(store, chats, asked.name, log, open_to, origins).app(), listening)


def _open_to(store: StoreFolder, host: str) -> str:
    """The user who needs no key, empty where everybody does; raises FilememError where nobody could ask anything."""
    name = store.folder(chosen("user")).name if chosen("user") else ""
    if name and host not in keys.LOOPBACK:
        raise FilememError(
            f"--user needs no key, so it is for this machine alone, not for {host}; leave one of them out."
        )
    if not name and not keys.CHAT.of(store.root):
        raise FilememError(
            "nobody has a key yet; make one with filemem serve keys add NAME, or serve one user here with --user NAME."
        )
    return name


@serve_command.group("keys")
def keys_group() -> None:
    """Who may ask: a key a user. Only their hashes are kept."""


@keys_group.command("add")
@click.argument("name")
@click.option("--program", "programs", multiple=True, metavar="TEXT", help="A prompt that begins so is a program's.")
def add_command(name: str, programs: tuple[str, ...]) -> None:
    """Make a key for a user, and print it once.

    A prompt that a program writes, such as one for a chat's title, is passed on without being kept or searched with.

    Example: filemem serve keys add mara
    """
    store = the_store()
    user = store.folder(name).name
    put(keys.CHAT.add(store.root, user, now(), [text for text in programs if text.strip()]))
    say_dim(f"This is {user}'s key for {store.root}; it is shown only now.")


@keys_group.command("list")
def list_command() -> None:
    """Show who has a key, and since when."""
    for one in sorted(keys.CHAT.of(the_store().root).values(), key=lambda one: (one["user"], one["made"])):
        say(f"{one['user']}  since {one['made']}")


@keys_group.command("remove")
@click.argument("name")
def remove_command(name: str) -> None:
    """Take all keys of a user away; the next request with one is refused."""
    gone = keys.CHAT.remove(the_store().root, name)
    if not gone:
        raise NotFound(f"{name} has no key here; filemem serve keys list shows who has.")
    say(f"Took {gone} key{'s' * (gone != 1)} of {name} away.")
