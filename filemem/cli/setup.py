"""Commands that set up a store, and take in what lies elsewhere."""

import os
import shlex
from importlib import resources

import click

from filemem import jobs
from filemem.cli.context import (
    Context,
    dry_run_option,
    json_option,
    login_name,
    new_option,
    prints,
    with_secrets_option,
)
from filemem.cli.jobs import NOBODY
from filemem.cli.output import Output, Row, say_dim
from filemem.errors import FilememError
from filemem.git.setup import set_up
from filemem.importers import ImportedMemory
from filemem.llm.choice import OfflineModel
from filemem.llm.client import OPENAI_URL
from filemem.store import config, files, person
from filemem.store.users import StoreFolder
from filemem.text.plain import counted, one_line

MAX_LISTED = 10  # of each list of what was imported


@click.command("init")
@click.argument("folder", required=False, type=click.Path())
@click.option(
    "--git",
    "with_git",
    is_flag=True,
    help="Keep the memories in git: a repository of theirs, or this.",
)
@prints
def init_command(call: Context, folder: str | None, with_git: bool) -> Output:
    """Create a store.

    In FOLDER, else where --store or FILEMEM_STORE say, else in ./memory_store, with a
    file of all settings, commented out. With --git (in your present store if you name
    no other), a commit of the memories follows each talk and job.

    Example: filemem init ~/memories --git"""
    place = folder or call.store_to_begin
    if with_git and not folder and os.path.isdir(call.folder_of_store()):
        place = call.folder_of_store()
    root = StoreFolder(place).root
    settings = os.path.join(root, config.NAME)
    begins = not os.path.lexists(settings)
    if begins:
        files.make_folder(root)
        template = resources.files("filemem.data") / "filemem.yaml"
        files.create(settings, template.read_bytes())
        person.note_begun(root)
        yield f"Created {settings}."
        call.store = ""
        if StoreFolder(call.folder_of_store()).root != root:
            yield f"Name it with --store {shlex.quote(root)} or FILEMEM_STORE."
    elif not with_git:
        yield f"{root} is a store already; nothing was changed."
    if with_git:
        names = StoreFolder(root).users()
        for home in _repositories(root, names):
            yield from set_up(home, (names or [login_name()])[0], call.now)
    if begins:
        who = ""
        if not (call.user or login_name()):
            who = " --user NAME"
        fact = "'Prefers oolong tea.'"
        yield f"Next: filemem chat{who}, or filemem remember{who} {fact}"


def _repositories(root: str, users: list[str]) -> list[str]:
    """Return the folders to keep in git: users' repositories, else the store."""
    homes = [StoreFolder(root).folder(name).root for name in users]
    homes = [home for home in homes if os.path.lexists(os.path.join(home, ".git"))]
    return homes or [root]


@click.command("model")
@click.argument("name", required=False)
@click.option(
    "--base-url", default="", metavar="URL", help="The endpoint; else your own."
)
@prints
def model_command(call: Context, name: str | None, base_url: str) -> Output:
    """Say which model may have the words of this store, or show it.

    It is kept in your configuration folder, for this store alone. The environment, and
    what you wrote for this store in config.yaml, count above it. NAME may be offline.

    Example: filemem model"""
    root = call.open_store(must_exist=True).root
    if name is not None:
        person.keep(root, model=name, base_url=base_url)
    settings = config.load(root)
    question = config.unanswered(root)
    if question:
        yield question
        return 1
    if settings.model in ("", OfflineModel.name):
        yield f"No model is asked for {root}."
    else:
        where = settings.base_url or OPENAI_URL
        yield f"{settings.model} at {where} is asked for {root}."
    return 0


@click.command("users")
@json_option
@prints
def users_command(call: Context) -> Output:
    """List the users of the store, and count their memories.

    Example: filemem users"""
    store = call.open_store(must_exist=True)
    names = store.users()
    if not names:
        yield NOBODY.format(store.root)
    for name in names:
        count = len(store.folder(name).paths())
        line = f"{name}  {counted(count, 'memory', 'memories')}"
        yield Row({"user": name, "memories": count}, [line])


@click.command("import")
@click.argument("format_", metavar="FORMAT")
@click.argument("file", type=click.Path(exists=True), required=False)
@dry_run_option
@with_secrets_option
@json_option
@new_option
@prints
def import_command(
    call: Context, format_: str, file: str | None, dry: bool, with_secrets: bool
) -> Output:
    """Import conversations and notes from elsewhere.

    A second run adds only what is new. FORMAT is chatgpt or claude (the export as it
    came: zip, folder or conversations.json), openai-jsonl (messages by line),
    claude-code or codex (one of their sessions, or the folder of them), markdown (a
    folder of notes), filemem (what `store.export` of Python wrote), or a format that an
    installed package adds. Secrets are left out, and the report says so, unless you
    give --with-secrets. Exit code 1 if there was nothing to import.

    Example: filemem import chatgpt conversations.json"""
    if file is None:
        what = "name the format, too, as in filemem import markdown"
        raise FilememError(f"{what} {one_line(format_)}; see filemem import --help.")
    user = call.writer(begins=not dry)
    taken = jobs.imported(
        user,
        format_,
        file,
        call.now,
        dry_run=dry,
        with_secrets=with_secrets,
    )
    data: dict[str, object] = {"left_out": taken.left_out}
    for name in ("added", "updated", "unchanged", "skipped"):
        data[name] = [entry._asdict() for entry in getattr(taken, name)]
    yield Row(data)
    skipped = [f"{one.what}: {one.why}" for one in taken.skipped]
    yield from _first("would add" if dry else "added", _named(taken.added))
    yield from _first("would update" if dry else "updated", _named(taken.updated))
    yield from _first("note:", skipped)
    kinds = sorted(taken.left_out.items())
    if kinds:
        told = ", ".join(counted(number, kind) for kind, number in kinds)
        yield f"left out: {told}"
    turns = sum(memory.turns for memory in (*taken.added, *taken.updated))
    counts = (
        f"{len(taken.added):,} added, {len(taken.updated):,} updated, "
        f"{len(taken.unchanged):,} unchanged, {counted(turns, 'turn')}."
    )
    yield f"Nothing was written: {counts}" if dry else counts
    if turns and not dry:
        say_dim("Next: filemem maintain makes facts of it.")
    say_dim(*taken.notes)
    return 0 if taken.added or taken.updated or taken.unchanged else 1


def _named(entries: list[ImportedMemory]) -> list[str]:
    """Return each memory's name, with its turns."""
    names = []
    for entry in entries:
        turns = f", {counted(entry.turns, 'turn')}" if entry.turns else ""
        names.append(f"{entry.user}/{entry.path}{turns}")
    return names


def _first(word: str, told: list[str]) -> list[str]:
    """Return lines on the first of what was imported, or was left out."""
    lines = [f"{word} {line}" for line in told[:MAX_LISTED]]
    more = len(told) - MAX_LISTED
    if more > 0:
        lines.append(f"{word} {more:,} more; --json lists them all")
    return lines
