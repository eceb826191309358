"""Commands about the users of a store: who there is, and moving one to another shard."""

import contextlib

import click

from filemem.cli.common import now, the_store
from filemem.cli.options import json_option
from filemem.cli.screen import for_script, say, say_aside, tell
from filemem.errors import Refused
from filemem.files import moving
from filemem.files.folder import Folder
from filemem.forgetting import erasure
from filemem.history import History
from filemem.history.git import GitError
from filemem.text.plain import counted


@click.group("users", invoke_without_command=True)
@json_option
@click.pass_context
def users_command(ctx: click.Context) -> None:
    """List the users of the store.

    Each with the number of their memories, and in a store on several disks with the one on which they lie.

    Example: filemem users
    """
    if ctx.invoked_subcommand:
        return
    store = the_store()
    names, sharded = store.users(), bool(store.shards)
    if not names and not for_script():
        say(f"There is nobody in {store.root} yet; start with: filemem chat")
    for name in names:
        folder = store.folder(name)
        count = sum(1 for _ in folder.files())
        where = {"store": folder.above} if sharded else {}
        shown = [name, counted(count, "memory", "memories"), *where.values()]
        tell({"user": name, "memories": count, **where}, "  ".join(shown))


@users_command.command("move")
@click.argument("name", metavar="USER")
@click.argument("to", metavar="STORE")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@json_option
def move_command(name: str, to: str, dry_run: bool) -> None:
    """Move USER to STORE, one of those that stores: in filemem.yaml lists.

    All is copied, with a git repository of the user's own, and compared before it counts; then the old folder is removed. Who
    writes for the user meanwhile waits. What was cut off ends in one whole copy, and the same command again finishes it.

    Example: filemem users move mara /mnt/second --dry-run
    """
    store = the_store()
    folder = store.folder(name)
    if folder.exists() and erasure.unfinished(folder):
        raise Refused(f"a forgetting of {folder.name} was cut off; give the same filemem forget again, then move.")
    kept_in = "" if dry_run else _store_history(folder)
    done = (moving.plan if dry_run else moving.apply)(store, name, to, erasure.CACHES)
    facts = {"user": folder.name, **done._asdict(), "dry_run": dry_run}
    if done.source == done.target:
        tell(facts, f"{folder.name} lies in {done.target}; nothing to move.")
        return
    does = "Would move" if dry_run else "Moved"
    size = f"{counted(done.files, 'file')}, {done.bytes:,} bytes"
    tell(facts, f"{does} {folder.name} from {done.source} to {done.target}: {size}.")
    if not dry_run:
        note = History(folder).record(f"Take in {folder.name}", folder.paths(), {"Job": "move"}, now()).note
        say_aside("; ".join(filter(None, (kept_in, note))))


def _store_history(folder: Folder) -> str:
    """A sentence on the history that stays, where git keeps the users of a shard together."""
    with contextlib.suppress(GitError):
        if History(folder).home == folder.above:
            return (
                f"the history until now stays in the repository of {folder.above}, where the removal is yours to commit"
            )
    return ""
