"""Commands that set up: init, users, import."""

import json
import os
import shlex
from collections.abc import Iterator
from importlib import resources

import click

from filemem.cli.context import Context, command, dry_option, json_option, json_option_that, new_option
from filemem.cli.screen import Line, Output, Row, progress, say_aside, say_dim
from filemem.errors import FilememError
from filemem.files import config, safe
from filemem.files.folder import StoreFolder
from filemem.history import set_up
from filemem.importers import ImportReport, find_parser, import_file
from filemem.jobs.running import committed_imports
from filemem.text.plain import counted

SETTINGS = "# Settings of this store. Every key is optional; remove the # before one to change it.\n"
SHOWN = {"model": "gpt-4o-mini", "base_url": "http://localhost:8080/v1"}  # where the default is empty
NEXT = "Next: filemem consolidate makes facts of it; filemem review shows what waits for your decision."
NEXT_OF_NOTES = "Next: filemem search already finds it; filemem chat answers from it."


@command(
    "init",
    click.argument("folder", required=False, type=click.Path()),
    click.option(
        "--git", "with_git", is_flag=True, help="Keep the memories in git, in their own repository or the one here."
    ),
)
def init_command(call: Context, folder: str | None, with_git: bool) -> Iterator[Line]:
    """Create a store.

    It is made in FOLDER, else where --store or FILEMEM_STORE say, else in ./memory_store, and begins with a file of all
    settings, commented out.

    With --git, in a store that exists too, a commit follows each conversation and job; only memories are ever committed.

    Example: filemem init ~/memories --git
    """
    root = StoreFolder(folder or call.store or os.environ.get("FILEMEM_STORE") or "memory_store").root
    settings = os.path.join(root, config.NAME)
    if os.path.lexists(root) and not os.path.isdir(root):
        raise FilememError(f"{root} is not a folder; name another place.")
    if not os.path.lexists(settings):
        safe.make_folder(root)
        safe.create(settings, _settings().encode())
        yield f"Created {settings}."
        call.store = None
        if StoreFolder(call.folder_of_store()).root != root:
            yield f"Name it with --store {shlex.quote(root)} or FILEMEM_STORE."
        yield "Next: filemem chat, or filemem remember 'Prefers oolong tea.'"
    elif not with_git:
        yield f"{root} is a store already; nothing was changed."
    store = StoreFolder(root, call.answers)
    for home in _homes(store) if with_git else ():
        yield from set_up(home, (store.users() or ["me"])[0], call.now, call.answers)


def _homes(store: StoreFolder) -> list[str]:
    """The folders to set up for git: users' own repositories; the store where it is one, or no user's is."""
    folders = [store.folder(name).root for name in store.users()]
    own = [folder for folder in folders if os.path.lexists(os.path.join(folder, ".git"))]
    return [*own, *([store.root] if not own or os.path.lexists(os.path.join(store.root, ".git")) else [])]


def _settings() -> str:
    """Every setting with its default, commented out under a sentence of what it does."""
    schema = json.loads((resources.files("filemem") / "schemas" / "settings.schema.json").read_text(encoding="utf-8"))
    parts = [SETTINGS]
    for key, told in schema["properties"].items():
        says, value = told["description"], SHOWN.get(key) or json.dumps(told["default"])
        parts.append(f"\n# {says[:1].upper()}{says[1:]}.\n# {key}: {value}\n")
    return "".join(parts)


@command("users", json_option)
def users_command(call: Context) -> Iterator[Line]:
    """List the users of the store, each with the number of their memories.

    Example: filemem users
    """
    store = call.open_store()
    names = store.users()
    if not names:
        yield f"There is nobody in {store.root} yet; start with: filemem chat"
    for name in names:
        count = sum(1 for _ in store.folder(name).files())
        yield Row({"user": name, "memories": count}, [f"{name}  {counted(count, 'memory', 'memories')}"])


@command(
    "import",
    click.argument("format_", metavar="FORMAT"),
    click.argument("file", type=click.Path(exists=True)),
    dry_option,
    click.option("--with-secrets", is_flag=True, help="Take passwords, keys and codes in them, too."),
    json_option_that("The whole report as one JSON object."),
    new_option,
)
def import_command(call: Context, format_: str, file: str, dry_run: bool, with_secrets: bool) -> Output:
    """Import conversations and notes from elsewhere.

    A second run adds only what is new. FORMAT is locomo, chatgpt or claude (the export as it came: zip, folder or
    conversations.json), openai-jsonl (messages by line), claude-code or codex (a session of theirs or their folder of them),
    agents-sessions (the SQLite file of the OpenAI Agents SDK), markdown (a folder of notes), or one that an installed package
    adds. Secrets are left out, which the report says, unless --with-secrets is given. Exit code 1 where there was nothing to
    import.

    Example: filemem import chatgpt conversations.json
    """
    find_parser(format_)
    store = call.open_store()
    user = None if format_ == "locomo" else call.the_user(must_exist=False) if dry_run else call.writer()
    call.unsettled(user)
    with progress("importing") as show:
        name = user.name if user else None
        report = import_file(store, format_, file, user=name, seen=show, dry_run=dry_run, with_secrets=with_secrets)
    as_json = {name: [entry._asdict() for entry in entries] for name, entries in report._asdict().items()}
    yield Row(as_json, _taken_in(report, dry=dry_run))
    turns = sum(entry.turns for entry in (*report.added, *report.updated))
    if (report.added or report.updated) and not dry_run and not call.json:
        say_dim(NEXT if turns else NEXT_OF_NOTES)
    for note in () if dry_run else committed_imports(store, report, format_, file, call.now):
        say_aside(note)
    return 0 if report.added or report.updated or report.unchanged else 1


def _taken_in(report: ImportReport, *, dry: bool) -> list[str]:
    """The report of an import in words; of long lists the beginning."""
    words = ("would add", "would update", "to be taken in") if dry else ("added", "updated", "taken in")
    said, taken = list[str](), [*report.added, *report.updated]
    notes = [f"note: {skipped.what}: {skipped.why}" for skipped in report.skipped]
    turns = {entry: f", {counted(entry.turns, 'turn')}" if entry.turns else "" for entry in taken}
    for word, entries in zip(words, (report.added, report.updated), strict=False):
        some = [f"{word} {entry.user}/{entry.path}{turns[entry]}" for entry in entries]
        said += _first(some, f"{word} {{}} more")
    counts = f"{len(report.added):,} added, {len(report.updated):,} updated, {len(report.unchanged):,} unchanged"
    total = counted(sum(entry.turns for entry in taken), "turn")
    end = f"{'Nothing was written: ' if dry else ''}{counts}, {total} {words[2]}."
    return [*said, *_first(notes, "note: {} more"), end]


def _first(lines: list[str], more: str) -> list[str]:
    """The first ten lines, and how many more there are."""
    rest = [f"{more.format(f'{len(lines) - 10:,}')}; --json lists them all"] if len(lines) > 10 else []
    return lines[:10] + rest
