"""Commands that look after the memories and over them: every job, for one user or all; what git keeps; what sets a store up."""

import json
import os
import pathlib
import shlex
import sys
import tempfile
import webbrowser
from collections.abc import Iterator
from importlib import resources
from typing import Any

import click

from filemem import jobs, overview
from filemem.cli.context import Context, command, split_line
from filemem.cli.screen import Line, Output, Row, Safe, dim, progress, say, say_dim
from filemem.errors import FilememError, Problem
from filemem.files import config, globs, safe
from filemem.files.folder import StoreFolder
from filemem.files.memory import archived, live
from filemem.files.trust import REMEDY
from filemem.forgetting import sweeper
from filemem.history import Commit, History, log, set_up, sync, undo
from filemem.importers import ImportReport
from filemem.jobs import Job, imported
from filemem.remembering import consolidation
from filemem.search import question
from filemem.text.plain import counted, one_line


def _run(call: Context, task: Job, **options: Any) -> Output:
    """Do a job for the user of this call, or with --all-users for each; exit code 1 where it failed for one of these."""
    many, store = call.many(), call.open_store()
    if "model" in options:  # its name is resolved here, once, as it travels to a cluster
        model = call.model(store.folder("all") if many else call.the_user(), options["model"])
        options["model"] = model.name if model else ""
    if many:
        users, failed = store.users(), 0
        for row in _for_each(call, task, users, ": ", **options):
            failed += "error" in row.facts
            yield row
        yield f"{len(users) - failed:,} of {len(users):,} users done."
        return 1 if failed else 0
    user = call.the_user()
    if task is jobs.consolidate and options["model"] and not options["dry"]:
        cost = consolidation.cost(user)
        say_dim(cost.text)
        options["requests"] = cost.requests
    with progress(f"{task.__name__} {user.name}") as show:
        told = jobs.do(task, user, call.now, show, **options)
    yield from (Row({"user": user.name, "job": one.job, **one.facts}, one.said) for one in told)
    return 0


def _for_each(call: Context, task: Job, users: list[str], mark: str, **options: Any) -> Iterator[Row]:
    """What a job tells for many users, each with lines for what is news, which begin with the name and a mark; an error for each
    for whom it failed."""
    with progress(task.__name__) as show:
        told = jobs.for_each(users, call.scheduler or "", task, call.open_store(), call.now, options)
        for done, (user, all_of_it) in enumerate(told, 1):
            for one in all_of_it:
                wrong, news = one.facts.get("error"), one.paths or one.facts.get("notes") or not one.job
                say(*[f"filemem: {user}: {wrong}"] if wrong and not call.json else [], err=True)
                said = [f"{user}{mark}{line}" for line in one.said if news and not wrong]
                yield Row({"user": user, "job": one.job, **one.facts}, said)
            show(done, len(users))


JOB = "--scheduler --all-users --dry-run --json"  # what every job takes that changes something


@command(
    "consolidate",
    click.option("--review", is_flag=True, help="Only propose; filemem review then asks you about each."),
    "--model",
    JOB,
)
def consolidate_command(call: Context, **options: Any) -> Output:
    """Have the model turn conversations into memories.

    Every conversation is read once, several per request; what it says becomes facts, lessons and lines of the
    profile, each with its source. The cost is shown before it begins, and by --dry-run. Without a model,
    conversations wait. With --review, or review: true in filemem.yaml, you get proposals first.

    Example: filemem consolidate --dry-run
    """
    return _run(call, jobs.consolidate, **options)


@command(
    "compact",
    click.option("--older-than", "days", type=click.IntRange(0), help="Sessions that old [30, or as set]."),
    JOB,
)
def compact_command(call: Context, **options: Any) -> Output:
    """Summarise old conversations by month, and archive them.

    A summary quotes the most telling turns, each with a link to it.

    Example: filemem compact --older-than 60 --dry-run
    """
    return _run(call, jobs.compact, **options)


@command("sweep", JOB)
def sweep_command(call: Context, **options: Any) -> Output:
    """Archive what is no longer used, and bring back what is.

    Only what is over fades: summarised conversations, past events and plans, trifles. Nothing is deleted:
    what is archived is still found, and filemem restore brings it back. filemem status PATH says why.

    Example: filemem sweep --dry-run
    """
    return _run(call, jobs.sweep, **options)


@command("maintain", "--model", JOB)
def maintain_command(call: Context, **options: Any) -> Output:
    """Run consolidate, compact and sweep, and update the index.

    Safe to run at any time, from cron or a git hook.

    Example: filemem maintain --all-users --dry-run
    """
    return _run(call, jobs.maintain, **options)


@command("restore", click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path()))
def restore_command(call: Context, paths: tuple[str, ...]) -> Output:
    """Bring memories back from the archive.

    They go where they were, byte for byte; this counts as a recall. A session also gets back turns that an editor
    saved over; filemem check names them. Exit code 1 if another text is where one would go.

    Example: filemem restore archive/facts/2025/2025-11-23-drinks-four-coffees-a-day.md
    """
    user = call.the_user()
    done = jobs.restore(user, call.now, [split_line(user, path)[0] for path in paths])
    yield from done.said
    return int(any(os.path.lexists(user.absolute(archived(path))) for path in done.facts["paths"]))


@command("status", "[PATH] --scheduler --all-users --json")
def status_command(call: Context, path: str | None) -> Output:
    """Show counts, sizes and what fades; or one memory's state.

    That is by kind, with the tokens in the prompt. With PATH, show how that memory
    stands: why it is where it is and when it will fade. With --all-users, show a line of counts for each user.

    Example: filemem status facts/2026/2026-03-14-prefers-oolong-tea.md
    """
    if path is None:
        return (yield from _run(call, jobs.status, brief=call.many()))
    said = sweeper.why(call.the_user(), split_line(call.the_user(), path)[0], call.now.date())
    yield Row({"path": path, "said": said}, said)
    return 0


@command("check", "--scheduler --all-users --json")
def check_command(call: Context) -> Output:
    """List every problem in the files, with its remedy.

    Checks one user, or all of them where --user is not given and there are several. Exit code 1 if there is a problem.

    Example: filemem check
    """
    store = call.open_store()
    named = not call.many() and (call.user or os.environ.get("FILEMEM_USER"))
    names = [call.the_user().name] if named else store.users()
    try:
        unused = config.withheld(store.root, trust=store.trust)
        wrong = [Problem(config.NAME, 1, f"{key} is not used, as you have not agreed to it", REMEDY) for key in unused]
    except config.ConfigError as error:
        wrong = [Problem(config.NAME, *error.fault)]
    found = [Row({"user": "", **one._asdict()}, [str(one)]) for one in wrong]
    found += _for_each(call, jobs.check, names, "/")
    yield from found
    problems, files = sum("what" in row.facts for row in found), sum(len(store.folder(name).paths()) for name in names)
    yield f"{counted(files, 'file')} of {counted(len(names), 'user')}: {counted(problems, 'problem')}."
    return 1 if problems or any("error" in row.facts for row in found) else 0


@command("timeline", click.argument("glob", default="facts/**"), "--after --before --json --as-of")
def timeline_command(call: Context, glob: str, after: str | None, before: str | None) -> Output:
    """Show what happened when, oldest first.

    A fact is listed on the day it is about, or else on its own date; one that has ended says when. GLOB names other
    memories, such as 'sessions/**' or '**'; archived ones are shown too. Exit code 1 if there is nothing.

    Example: filemem timeline --after 2026-05
    """
    user, wanted = call.the_user(), globs.matcher(glob)
    days = question.bounds(after, before, call.now.date())
    events = overview.timeline(user, lambda path: wanted(path) or wanted(live(path)), days)
    for one in events:
        ended = f" (until {one.until})" if one.until else " (archived)" if one.archived else ""
        said = f"{one.day():10}  {one_line(one.text, 160)}{ended}  "
        yield Row(one._asdict(), [Safe(said + dim(f"{one.path}:{one.line}"))])
    if not events and not call.json:
        say_dim("Nothing is of that time; filemem timeline '**', without --after and --before, shows everything.")
    return 0 if events else 1


@command("report", click.option("--output", "-o", metavar="FILE", help="Write the page there, and open nothing."))
def report_command(call: Context, output: str | None) -> Iterator[Line]:
    """Open one page to read, with what fades and why.

    It is one HTML file without scripts or network access, in a temporary folder, or where -o says; only an
    earlier report is overwritten there.

    Example: filemem report -o report.html
    """
    user = call.the_user()
    where = os.path.abspath(output or os.path.join(tempfile.mkdtemp(prefix="filemem-"), f"{user.name}.html"))
    if f"{os.path.realpath(os.path.dirname(where))}{os.sep}".startswith(os.path.realpath(user.above) + os.sep):
        raise FilememError(f"{one_line(where)} is inside the memories and would become one; name a place outside them.")
    if os.path.lexists(where) and not overview.is_our_page(where):
        raise FilememError(f"{one_line(where)} is not a filemem report; name another file.")
    with progress("looking") as show:
        text, memories = overview.page(user, call.now, show)
    safe.write(where, text.encode())
    yield f"Wrote {output or where}: {memories:,} memories."
    if not output and sys.stdout.isatty():
        webbrowser.open(pathlib.Path(where).as_uri())


# -- git ---------------------------------------------------------------------------------------------------------


@command("log", "[PATH] --limit --json")
def log_command(call: Context, path: str | None, limit: int | None) -> Output:
    """Show the diary that git keeps of the memories.

    It says who changed them, when and why; of one file or folder where PATH is given. Exit code 1 if nothing was found.

    Example: filemem log profile.md
    """
    user = call.the_user()
    found = log(History(user), split_line(user, path.rstrip("/"))[0] if path else "", limit or 0)
    for commit in found:
        yield Row({**commit._asdict(), "author": commit.author._asdict(), "who": commit.who}, [_line(commit)])
    if not found:
        say_dim("There is no such commit.")
    return 0 if found else 1


def _line(commit: Commit) -> str:
    """A commit in one line."""
    return f"{commit.commit[:8]}  {commit.at:%Y-%m-%d %H:%M}  {one_line(commit.subject)}  ({one_line(commit.who)})"


@command("undo", click.argument("commit", required=False))
def undo_command(call: Context, commit: str | None) -> Iterator[Line]:
    """Undo COMMIT, by default filemem's last one; later changes stay.

    If the same lines have changed since, nothing is undone, and the message says what is in the way.

    Example: filemem undo
    """
    undone, said = undo(History(call.the_user()), commit or "", call.now)
    yield f"Undid {_line(undone)}"
    yield from said


@command("sync", click.argument("remote", required=False))
def sync_command(call: Context, remote: str | None) -> Iterator[Line]:
    """Share the memories with your other machines through git.

    This fetches, merges and pushes, with a REMOTE where one is named. Nothing is ever forced. If two machines changed
    the same line, the file keeps both versions, and is named.

    Example: filemem sync origin
    """
    history = History(call.the_user())
    say_dim("Fetching, merging and sending …" if sys.stderr.isatty() else "")
    yield from sync(history, remote, call.now)


# -- set-up ------------------------------------------------------------------------------------------------------

SETTINGS = "# Settings of this store. Every key is optional; remove the # before one to change it.\n"
SHOWN = {"model": "gpt-4o-mini", "base_url": "http://localhost:8080/v1"}  # where the default is empty


@command(
    "init",
    click.argument("folder", required=False, type=click.Path()),
    click.option("--git", "with_git", is_flag=True, help="Keep the memories in git: a repository of theirs, or this."),
)
def init_command(call: Context, folder: str | None, with_git: bool) -> Iterator[Line]:
    """Create a store.

    It is created in FOLDER, else where --store or FILEMEM_STORE say, else in ./memory_store, with a file of
    all settings, commented out. With --git (in your present store if you name no other), a commit follows each
    conversation and job; only memories are ever committed.

    Example: filemem init ~/memories --git
    """
    used = call.folder_of_store()
    place = folder or (used if call.named_store or (with_git and os.path.isdir(used)) else "memory_store")
    root = StoreFolder(place).root
    settings = os.path.join(root, config.NAME)
    if begins := not os.path.lexists(settings):
        safe.make_folder(root)
        safe.create(settings, _settings().encode())
        yield f"Created {settings}."
        call.store = None
        if StoreFolder(call.folder_of_store()).root != root:
            yield f"Name it with --store {shlex.quote(root)} or FILEMEM_STORE."
    elif not with_git:
        yield f"{root} is a store already; nothing was changed."
    if with_git:
        names = StoreFolder(root).users()
        homes = [home for name in names if os.path.lexists(os.path.join(home := os.path.join(root, name), ".git"))]
        if not homes or os.path.lexists(os.path.join(root, ".git")):
            homes.append(root)  # users' own repositories; the store's where it is one, or no user's is
        for home in homes:
            yield from set_up(home, (names or ["me"])[0], call.now, call.answers)
    if begins:
        yield "Next: filemem chat, or filemem remember 'Prefers oolong tea.'"


def _settings() -> str:
    """Every setting with its default, commented out under a sentence of what it does."""
    schema = json.loads((resources.files("filemem") / "schemas" / "settings.schema.json").read_text(encoding="utf-8"))
    parts = [SETTINGS]
    for key, told in schema["properties"].items():
        says, value = told["description"], SHOWN.get(key) or json.dumps(told["default"])
        parts.append(f"\n# {says[:1].upper()}{says[1:]}.\n# {key}: {value}\n")
    return "".join(parts)


@command("users", "--json")
def users_command(call: Context) -> Iterator[Line]:
    """List the users of the store, and count their memories.

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
    "--dry-run",
    click.option("--with-secrets", is_flag=True, help="Also take passwords, keys and codes."),
    "--json --new",
)
def import_command(call: Context, format_: str, file: str, dry: bool, with_secrets: bool) -> Output:
    """Import conversations and notes from elsewhere.

    A second run adds only what is new. FORMAT is chatgpt or claude (the export as it came: zip, folder or
    conversations.json), openai-jsonl (messages by line), claude-code or codex (one of their sessions, or the folder
    of them), markdown (a folder of notes), or a format that an installed package adds. Secrets are left out, and the
    report says so, unless you give --with-secrets. Exit code 1 if there was nothing to import.

    Example: filemem import chatgpt conversations.json
    """
    store = call.open_store()
    user = call.the_user(must_exist=False) if dry else call.writer()
    say_dim("Reading the export …" if sys.stderr.isatty() else "")
    how = {"dry_run": dry, "with_secrets": with_secrets}
    taken, notes = imported(store, format_, file, call.now, user.name, **how)
    as_json = {name: [entry._asdict() for entry in entries] for name, entries in taken._asdict().items()}
    yield Row(as_json, _taken_in(taken, dry=dry))
    if not dry and not call.json and any(entry.turns for entry in (*taken.added, *taken.updated)):
        say_dim("Next: filemem consolidate makes facts of it; filemem review shows what waits for your decision.")
    say_dim(*notes)
    return 0 if taken.added or taken.updated or taken.unchanged else 1


def _taken_in(taken: ImportReport, *, dry: bool) -> list[str]:
    """The report of an import in words; of long lists the first ten."""
    added, updated = (
        [f"{one.user}/{one.path}" + f", {counted(one.turns, 'turn')}" * bool(one.turns) for one in entries]
        for entries in (taken.added, taken.updated)
    )
    notes = [f"{one.what}: {one.why}" for one in taken.skipped]
    lists = {"would add" if dry else "added": added, "would update" if dry else "updated": updated, "note:": notes}
    said = list[str]()
    for word, entries in lists.items():
        said += [f"{word} {entry}" for entry in entries[:10]]
        said += [f"{word} {len(entries) - 10:,} more; --json lists them all"] * (len(entries) > 10)
    counts = f"{len(taken.added):,} added, {len(taken.updated):,} updated, {len(taken.unchanged):,} unchanged"
    total = counted(sum(entry.turns for entry in (*taken.added, *taken.updated)), "turn")
    return [*said, f"{'Nothing was written: ' if dry else ''}{counts}, {total}."]
