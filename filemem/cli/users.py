"""The command that lists the users of a store."""

import click

from filemem.cli.common import the_store
from filemem.cli.options import json_option
from filemem.cli.screen import for_script, say, tell
from filemem.text.plain import counted


@click.command("users")
@json_option
def users_command() -> None:
    """List the users of the store, each with the number of their memories.

    Example: filemem users
    """
    store = the_store()
    names = store.users()
    if not names and not for_script():
        say(f"There is nobody in {store.root} yet; start with: filemem chat")
    for name in names:
        count = sum(1 for _ in store.folder(name).files())
        tell({"user": name, "memories": count}, f"{name}  {counted(count, 'memory', 'memories')}")
