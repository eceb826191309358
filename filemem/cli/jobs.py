"""Commands that look after the memories: every job, for one user or all; what git keeps of them; and what sets a store up."""

import json
import os
import re
import shlex
import sys
from collections.abc import Generator, Iterator
from importlib import resources
from typing import Any

import click

from filemem.cli.context import (
    Context,
    command,
    complete_path,
    dry_option,
    json_option,
    json_option_that,
    many_options,
    model_option,
    new_option,
    split_line,
)
from filemem.cli.screen import Line, Output, Row, progress, say, say_aside, say_dim
from filemem.errors import FilememError, Problem
from filemem.files import config, journal, safe, trust
from filemem.files.folder import StoreFolder
from filemem.forgetting import sweeper
from filemem.history import History, set_up
from filemem.history.diary import Commit, log, sync, undo
from filemem.importers import ImportReport, find_parser, import_file
from filemem.jobs import maintenance
from filemem.jobs.maintenance import JobDone
from filemem.jobs.running import committed_imports
from filemem.jobs.table import JOBS, Order, Outcome, outcomes
from filemem.models.offline import chosen_model
from filemem.remembering import consolidation
from filemem.text.plain import counted, one_line

MOST_TOLD = 12  # lines on one of many users


def _run(call: Context, job: str, label: str, **options: Any) -> Output:
    """Do a job for the user of this call, or with --all-users for each; exit code 1 where it failed for one of these."""
    many, order = call.many(), _order(call, job, options)
    if not many:
        user = call.the_user()
        if job == "consolidate" and order.options["model"] and not order.options["dry_run"]:
            say_dim(consolidation.cost(user).text)
        with progress(f"{label} {user.name}") as show:
            told = JOBS[job](order, user, show)
        for one in told:
            yield Row(_facts(user.name, one), one.said)
        return 0
    users = call.open_store().users()
    failed, _ = yield from _for_each(call, order, label, users, brief=True)
    yield f"{len(users) - failed:,} of {len(users):,} users done."
    return 1 if failed else 0


def _order(call: Context, job: str, options: dict[str, Any]) -> Order:
    """The order that every worker gets; the model's name is resolved here, once."""
    store = call.open_store()
    if "model" in options:
        unsettled = call.unsettled(None if call.all_users else call.the_user())
        model = chosen_model(config.load(store.root, trust=store.trust), options["model"])
        options["model"] = model.name if model and "base_url" not in unsettled else ""
    return Order(job, store.root, call.now, options, call.trust)


def _for_each(
    call: Context, order: Order, label: str, users: list[str], *, brief: bool
) -> Generator[Row, None, tuple[int, int]]:
    """Do a job for many users, and name in the end those for whom it failed; returns how many, and of how much the rest told.

    `brief`: of each user only what is news, in the first lines.
    """
    count, failed = 0, list[Outcome]()
    with progress(label, 1) as show:
        for done, one in enumerate(outcomes(order, users, call.answers, call.scheduler or ""), 1):
            count += sum("followed" not in told.facts for told in one.told)
            if one.error:
                failed.append(one)
            if brief:
                lines = [f"{one.user}: {line}" for told in one.told if told.news for line in told.said]
                more = [f"{one.user}: and {len(lines) - MOST_TOLD:,} more."] * (len(lines) > MOST_TOLD)
                yield Row({}, [*lines[:MOST_TOLD], *more])
            for told in one.told:
                yield Row(_facts(one.user, told), [] if brief else told.said)
            show(done, len(users))
    for one in failed:
        yield Row({"user": one.user, "error": one.error}, [])
        if not call.json:
            say(f"filemem: {one.user}: {one.error}", err=True)
    return len(failed), count


def _facts(user: str, done: JobDone) -> dict[str, Any]:
    """What a job has to tell a script."""
    return {"user": user, **({"job": done.job} if done.job else {}), **done.facts}


@command(
    "consolidate",
    many_options,
    dry_option,
    click.option("--review", is_flag=True, help="Only propose; filemem review then asks you about each."),
    model_option,
    json_option,
)
def consolidate_command(call: Context, **options: Any) -> Output:
    """Have the model make memories of what was said.

    Every conversation is read once, several in a request; what it tells becomes facts, lessons and lines of the profile, each
    with its source. What that takes is said with --dry-run, and before the work. Without a model all conversations wait. With
    --review, or review: true in filemem.yaml, it becomes proposals first. Exit code 1 where the model could not be asked.

    Example: filemem consolidate --dry-run
    """
    return _run(call, "consolidate", "remembering", **options)


def _age(value: str) -> int:
    """A number of days: `30d`, `4w`, `30`."""
    if not (match := re.fullmatch(r"(\d{1,5})([dw]?)", value)):
        raise click.BadParameter(f"{value!r} is not an age; write it as 30d or 4w.")
    return int(match[1]) * (7 if match[2] == "w" else 1)


@command(
    "compact",
    click.option(
        "--older-than", type=_age, metavar="AGE", help="Sessions more than this old: 30d, 4w [30d, or as set]."
    ),
    model_option,
    many_options,
    dry_option,
    json_option,
)
def compact_command(call: Context, **options: Any) -> Output:
    """Summarise old conversations by month, and archive them.

    Every line of a summary links to its source. Without a model, it holds the most telling turns in their own words.

    Example: filemem compact --older-than 60d --dry-run
    """
    return _run(call, "compact", "compacting", **options)


@command("sweep", many_options, dry_option, json_option)
def sweep_command(call: Context, **options: Any) -> Output:
    """Archive what is no longer used; bring back what was opened or cited in the archive.

    Only what was fades: summarised conversations, past events and plans, trifles. Nothing is deleted: what is archived still
    answers, and filemem restore brings it back. filemem status PATH says why.

    Example: filemem sweep --dry-run
    """
    return _run(call, "sweep", "sweeping", **options)


@command("maintain", model_option, many_options, dry_option, json_option)
def maintain_command(call: Context, **options: Any) -> Output:
    """Do all that keeps a memory in order: consolidate, compact, sweep, index. Safe at any time, from cron or a git hook.

    The files that imports: in filemem.yaml lists are imported first, as far as they are new.

    Example: filemem maintain --all-users --dry-run
    """
    return _run(call, "maintain", "maintaining", **options)


@command(
    "restore",
    click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=complete_path),
    click.option("--let-go", is_flag=True, help="Stop offering the turns that an editor saved over."),
)
def restore_command(call: Context, paths: tuple[str, ...], let_go: bool) -> Iterator[Line]:
    """Bring memories back from the archive, to where they were, byte for byte. Counts as a recall.

    A session gets back the turns that an editor has saved over, which filemem check names; or --let-go ends the offer.

    Example: filemem restore archive/facts/2025/2025-11-23-drinks-four-coffees-a-day.md
    """
    user = call.the_user()
    names = [split_line(user, path)[0] for path in paths]
    if not let_go:
        yield from maintenance.restore(user, names, call.now).said
    for path in map(user.locate, names if let_go else ()):
        journal.let_go(user, [path])
        yield f"No turn of {path} that was saved over is offered any more."


@command("status", click.argument("path", required=False, shell_complete=complete_path), many_options, json_option)
def status_command(call: Context, path: str | None) -> Output:
    """Show counts and sizes by kind, tokens in the prompt, what fades within a month, and the distribution of retention.

    With PATH how that memory stands: why it is where it is, and when it will fade. With --all-users a line of counts for each.

    Example: filemem status facts/2026/2026-03-14-prefers-oolong-tea.md
    """
    if path is None:
        return (yield from _run(call, "status", "looking at"))
    if call.many():
        raise click.UsageError("PATH belongs to one user; leave out --all-users.")
    user = call.the_user()
    name = split_line(user, path)[0]
    said = sweeper.why(user, name, call.now.date())
    yield Row({"path": name, "said": said}, said)
    return 0


@command("check", many_options, json_option)
def check_command(call: Context) -> Output:
    """List every problem in the files, with its remedy.

    Checks one user, or all of them where --user is not given and there are several. Exit code 1 where there is a problem.

    Example: filemem check
    """
    store = call.open_store()
    named = not call.many() and (call.user or os.environ.get("FILEMEM_USER"))
    names = [call.the_user().name] if named else store.users()
    found = _settings_problems(store)
    for problem in found:
        yield Row({"user": "", **problem._asdict()}, [str(problem)])
    failed, count = yield from _for_each(call, _order(call, "check", {}), "checking", names, brief=False)
    problems, files = len(found) + count, sum(1 for name in names for _ in store.folder(name).files())
    yield f"{counted(files, 'file')} of {counted(len(names), 'user')}: {counted(problems, 'problem')}."
    return 1 if failed or problems else 0


def _settings_problems(store: StoreFolder) -> list[Problem]:
    """What is wrong with the store's settings file."""
    path = os.path.join(store.root, config.NAME)
    data = safe.read(path, config.LARGEST) if os.path.lexists(path) else b""
    found = []
    try:
        for key in config.withheld(store.root, trust=store.trust):
            at = config.line_of(data.decode(errors="replace"), key)
            found.append(Problem(config.NAME, at, f"{key} is not used, as you have not agreed to it", trust.REMEDY))
    except config.ConfigError as error:
        found = found or [Problem(config.NAME, *error.fault)]
    return found


# -- git ---------------------------------------------------------------------------------------------------------


@command(
    "log",
    click.argument("path", required=False, shell_complete=complete_path),
    click.option("--about", metavar="WORDS", default="", help="Only commits that added, took out or name these words."),
    click.option("--limit", "-n", type=click.IntRange(1), help="Most commits to show."),
    json_option,
)
def log_command(call: Context, path: str | None, about: str, limit: int | None) -> Output:
    """Show the diary that git keeps: who changed the memories, when and why; of one file or folder where PATH is given.

    Example: filemem log --about oolong

    Exit code 1 where nothing was found.
    """
    found = log(History(call.the_user()), path or "", about, limit or 0)
    for commit in found:
        yield Row({**commit._asdict(), "author": commit.author._asdict(), "who": commit.who}, [_line(commit)])
    if not found:
        say_aside("there is no such commit.")
    return 0 if found else 1


def _line(commit: Commit) -> str:
    """A commit in one line."""
    return f"{commit.commit[:8]}  {commit.at:%Y-%m-%d %H:%M}  {one_line(commit.subject)}  ({one_line(commit.who)})"


@command("undo", click.argument("commit", required=False))
def undo_command(call: Context, commit: str | None) -> Iterator[Line]:
    """Take back what COMMIT did, or else filemem's last commit; what was done since stays.

    Where the same lines have changed since, nothing is undone, and it says what is in the way.

    Example: filemem undo
    """
    done = undo(History(call.the_user()), commit or "", call.now)
    yield f"Undid {_line(done.commit)}"
    yield from done.said


@command("sync", click.argument("remote", required=False))
def sync_command(call: Context, remote: str | None) -> Iterator[Line]:
    """Bring these memories together with those of your other machines: fetch, merge, push, to and from a git REMOTE.

    Nothing is ever forced. Where two machines changed one line, both versions stay in the file, and it is named.

    Example: filemem sync origin
    """
    history = History(call.the_user())
    say_dim("Fetching, merging and sending …" if sys.stderr.isatty() else "")
    done = sync(history, remote, call.now)
    yield from done.notes
    yield from (
        f"{path} was changed on both machines in the same lines; it now holds both versions." for path in done.doubled
    )
    if done.fetched or done.pushed:
        yield f"Brought in {counted(done.fetched, 'commit')}, sent {done.pushed}."
    else:
        yield "Everything is the same here and there."


# -- set-up ------------------------------------------------------------------------------------------------------

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
    names = StoreFolder(root).users() if with_git else []
    homes = [place for place in (os.path.join(root, name) for name in names) if os.path.lexists(f"{place}/.git")]
    if with_git and (not homes or os.path.lexists(os.path.join(root, ".git"))):
        homes.append(root)  # users' own repositories; the store's where it is one, or no user's is
    for home in homes:
        yield from set_up(home, (names or ["me"])[0], call.now, call.answers)


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

    A second run adds only what is new. FORMAT is chatgpt or claude (the export as it came: zip, folder or
    conversations.json), openai-jsonl (messages by line), claude-code or codex (a session of theirs or their folder of them),
    markdown (a folder of notes), or one that an installed package adds. Secrets are left out, which the report says, unless
    --with-secrets is given. Exit code 1 where there was nothing to import.

    Example: filemem import chatgpt conversations.json
    """
    find_parser(format_)
    store = call.open_store()
    user = call.the_user(must_exist=False) if dry_run else call.writer()
    call.unsettled(user)
    say_dim("Reading the export …" if sys.stderr.isatty() else "")
    report = import_file(store, format_, file, user=user.name, dry_run=dry_run, with_secrets=with_secrets)
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
