"""Commands that keep and look after the memories: what a person decides themselves; every job, for one user or all; what git
keeps; what sets a store up."""

import dataclasses
import json
import os
import pathlib
import shlex
import subprocess
import sys
import webbrowser
from collections.abc import Generator, Sequence
from dataclasses import asdict
from importlib import resources
from typing import Any

import click

from filemem import jobs, overview
from filemem.cli import context
from filemem.cli.context import (
    Context,
    Output,
    Row,
    Safe,
    command,
    confirmed,
    progress,
    say,
    say_dim,
    split_line,
)
from filemem.errors import FilememError
from filemem.files import config, globs, person, safe
from filemem.files.folder import Folder, StoreFolder
from filemem.files.memory import PROFILE, Memory, live
from filemem.forgetting import sweeper
from filemem.forgetting.plan import plan_deletion, split_place
from filemem.git.history import Commit, History, log
from filemem.git.setup import set_up
from filemem.git.sync import sync
from filemem.git.undo import undo
from filemem.importers import ImportedMemory, Skipped
from filemem.jobs import Job, UserJob
from filemem.learn import proposals, remember
from filemem.learn.consolidate import cost
from filemem.learn.log import LearnLog
from filemem.learn.outcome import Applied, together
from filemem.learn.proposals import Proposal
from filemem.llm.client import OPENAI_URL
from filemem.models.offline import OfflineModel
from filemem.search import question
from filemem.text.plain import counted, one_line

REPORT = "tmp/report/report.html"  # in the bookkeeping, emptied by the next job
ASK = "[a]ccept, [e]dit, [r]eject, [s]kip, accept a[l]l, [q]uit"


@command(
    "remember",
    click.argument("text", nargs=-1, required=True),
    click.option(
        "--importance", type=click.IntRange(1, 10), help="From 1 to 10; 8 by default."
    ),
    click.option("--pinned", is_flag=True, help="Never fades."),
    click.option(
        "--tag",
        "tags",
        multiple=True,
        metavar="TAG",
        help="May be given several times.",
    ),
    "--with-secrets --new",
)
def remember_command(call: Context, text: tuple[str, ...], **how: Any) -> Output:
    """Keep one fact.

    TEXT gets its own file, dated today; a fact told twice is kept once. A fact that it contradicts stays
    until you edit or forget it. Secrets are taken out, and you are told so, unless you give --with-secrets.

    Example: filemem remember 'Prefers oolong tea.'"""
    done = jobs.remembered(call.writer(), " ".join(text), call.now, **how)
    yield from remember.told(done)


@command(
    "review",
    click.option(
        "--accept-all",
        is_flag=True,
        help="Accept, without asking, all whose form is right.",
    ),
    "--json",
)
def review_command(call: Context, accept_all: bool) -> Output:
    """Decide what is remembered, one proposal at a time.

    Each is a file in `proposed/`, which you may also edit, move to the same place among your memories, or
    delete. Proposals come from `filemem consolidate --review`, or from every consolidation with `review: true`.
    What a model noted in a form that cannot be kept waits here too, with the reason, and what you told it to
    forget: accepted, that is deleted. What you skip is asked again next time. --json only lists. Exit code 1
    if nothing waits.

    Example: filemem review"""
    user = call.the_user()
    log = LearnLog(user)
    if not call.json:
        proposals.carry_over(user, log)
    waiting = proposals.waiting(user)
    if not waiting:
        yield "Nothing waits for review."
        return 1
    if call.json:
        yield from (_proposal(user, found, "") for found in waiting)
        return 0
    yield from _reviewed(call, user, log, waiting, accept_all)
    return 0


def _reviewed(
    call: Context, user: Folder, log: LearnLog, waiting: list[Proposal], all_of_it: bool
) -> Output:
    """Ask about each proposal, do what is answered, and commit it."""
    made: list[Applied] = []
    with jobs.JobRun(user, "review", call.now, exclusive=False) as run:
        try:
            for number, found in enumerate(waiting, 1):
                answer = "l"
                text = ""
                if not all_of_it:
                    yield _proposal(user, found, f"\n{number} of {len(waiting)}")
                    answer, text = _answer(found)
                all_of_it = answer == "l"
                if answer == "q":
                    break
                if answer == "r":
                    remember.reject(user, found)
                    made.append(Applied(paths=[found.path]))
                    yield "rejected"
                elif found.forgets and answer == "a":
                    yield from _forgotten(call, user, found)
                elif answer in ("a", "e") or (answer == "l" and _has_form(found)):
                    made.append(remember.accept(user, log, found, call.now, text))
                    yield from made[-1].lines(whole=True)
        except click.Abort:
            yield "\nThe rest waits."
        finally:
            done = together(made)
            say_dim(*run.commit(done.subject, done.paths))
    return 0


def _has_form(found: Proposal) -> bool:
    """Tell whether a proposal may be accepted with all others."""
    return not (found.fault or found.forgets)


def _answer(found: Proposal) -> tuple[str, str]:
    """What a person answers to a proposal, and the text where they changed it."""
    while (answer := context.choose(ASK)) == "e":
        edited = click.edit(found.text + "\n", extension=".md") or ""
        text = " ".join(edited.split())
        if text not in ("", found.text):
            return answer, text
        say("The text is unchanged.")
    return answer, ""


def _forgotten(call: Context, user: Folder, found: Proposal) -> Output:
    """Delete what a person wanted forgotten, and the wish with it."""
    remember.detach(user, found)
    remember.reject(user, found)
    there = [one for one in found.forgets if user.find(split_place(one)[0])]
    if there:
        plan = plan_deletion(user, places=there)
        yield from jobs.forget(user, plan, call.now).said
    return 0


def _proposal(user: Folder, found: Proposal, place: str) -> Row:
    """A proposal beside what it would change and the turns that it comes from."""
    what = "a lesson" if found.memory.kind == "lessons" else "new"
    if found.supersedes:
        what = "a change"
    if found.forgets:
        what = "to be forgotten"
    said = [f"{place}, {what}", f"  {found.text}"]
    for path in found.supersedes:
        old = user.find(path)
        text = f": {one_line(old.body, 200)}" if old else ""
        said.append(f"  supersedes {path}{text}")
    said += [f"  deletes {one}" for one in found.forgets]
    if found.fault:
        said.append(f"  refused: {found.fault}")
    turns = []
    for turn in found.turns:
        turns.append(
            {"source": turn.source, "speaker": turn.speaker, "text": turn.text}
        )
        words = f"{turn.speaker}: {one_line(turn.text, 400)}"
        if not turn.text:
            words = "(the turn is gone)"
        said.append(context.dim(f"  {turn.source}  {words}"))
    facts = {
        "path": found.path,
        "text": found.text,
        "kind": found.memory.kind,
        "supersedes": list(found.supersedes),
        "forgets": list(found.forgets),
        "because": found.fault,
        "turns": turns,
    }
    return Row(facts, said)


_PLUS = frozenset(
    "vi vim nvim gvim nano pico emacs emacsclient micro kak joe ne gedit ed".split()
)  # +12 FILE


@command("edit", "PATH")
def edit_command(call: Context, path: str) -> Output:
    """Open a memory in your editor.

    The editor is $VISUAL or $EDITOR; PATH:LINE opens it at that line if it understands +LINE. What you save is
    checked; on a terminal you can reopen the editor at a line with a problem. Exit code 1 if a problem is left.

    Example: filemem edit profile.md"""
    user = call.the_user()
    name, line = split_line(user, path)
    if name == PROFILE and not os.path.lexists(user.absolute(PROFILE)):
        user.create(PROFILE, "")
    where = user.locate(name)
    editor = (
        os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    ).strip() or "vi"
    while True:
        user.read(
            where, 1
        )  # refuses what is not a regular file, on which an editor could hang
        try:
            words = shlex.split(editor)
            at = [f"+{line}"] if line and os.path.basename(words[0]) in _PLUS else []
            subprocess.run([*words, *at, user.absolute(where)], check=False)
        except (ValueError, OSError) as error:
            raise FilememError(
                f"{editor} cannot be started ({error}); set EDITOR to an editor of yours."
            ) from None
        problems = Memory(where, user.read(where)).problems
        if not problems:
            return 0
        yield from map(str, problems)
        line = problems[0].line
        if not confirmed(f"Fix line {line} now?", default=True):
            return 1


def _run(call: Context, task: Job, **options: Any) -> Output:
    """Do a job for the user of this call, or with --all-users for each; exit code 1 where it failed for one of these."""
    many, store = call.many(), call.open_store()
    if (
        "model" in options
    ):  # for many its name is settled here, once, as that can travel to a cluster
        model = call.model(
            store.folder("all") if many else call.the_user(), options["model"]
        )
        options["model"] = model.name if many and model else model
    if many:
        failed = yield from _for_each(
            call, task, users := store.users(), ": ", **options
        )
        yield f"{len(users) - failed:,} of {len(users):,} users done."
        return int(failed > 0)
    user = call.the_user()
    if options.get("model") and not options["dry"]:
        takes = cost(user, options["model"])
        say_dim(*takes.said)
        if task is jobs.consolidate:
            options["requests"] = takes.facts["requests"]
    with progress(f"{task.__name__} {user.name}") as show:
        told = jobs.do(task, user, call.now, show, **options)
    yield from (
        Row({"user": user.name, "job": one.job, **one.facts}, one.said) for one in told
    )
    return 0


def _for_each(
    call: Context, task: Job, users: list[str], mark: str, **options: Any
) -> Generator[Row, None, int]:
    """What a job tells for many users, with lines for what is news, the name and a mark before each; for how many it failed."""
    failed = 0
    with progress(task.__name__) as show:
        run = os.urandom(4).hex()
        work = UserJob(task, call.open_store().root, call.now, options, run)
        told = jobs.for_each(users, call.scheduler, work)
        for done, (user, all_of_it) in enumerate(told, 1):
            for one in all_of_it:
                wrong, news = (
                    one.facts.get("error"),
                    one.paths or one.facts.get("notes") or not one.job,
                )
                failed += bool(wrong)
                say(
                    *[f"filemem: {user}: {wrong}"] if wrong and not call.json else [],
                    err=True,
                )
                said = [f"{user}{mark}{line}" for line in one.said if news]
                yield Row({"user": user, "job": one.job, **one.facts}, said)
            show(done, len(users))
    return failed


@command(
    "consolidate",
    click.option(
        "--review",
        is_flag=True,
        help="Only propose; filemem review then asks you about each.",
    ),
    "--model --scheduler --all-users --dry-run --json",
)
def consolidate_command(call: Context, **options: Any) -> Output:
    """Have the model turn conversations into memories.

    Every conversation is read once, several per request; what it says becomes facts, lessons and lines of the
    profile, each with its source. The cost is shown first, and by --dry-run. Without a model, conversations wait.

    Example: filemem consolidate --dry-run"""
    return _run(call, jobs.consolidate, **options)


@command(
    "compact",
    click.option(
        "--older-than",
        "days",
        type=click.IntRange(0),
        help="Sessions that old [30, or as set].",
    ),
    "--scheduler --all-users --dry-run --json",
)
def compact_command(call: Context, **options: Any) -> Output:
    """Summarise old conversations by month, and archive them.

    A summary quotes the most telling turns, each with a link to it.

    Example: filemem compact --older-than 60 --dry-run"""
    return _run(call, jobs.compact, **options)


@command("sweep", "--scheduler --all-users --dry-run --json")
def sweep_command(call: Context, **options: Any) -> Output:
    """Archive what is no longer used, and bring back what is.

    Only what is over fades: summarised conversations, past events and plans, trifles. Nothing is deleted:
    what is archived is still found, and filemem restore brings it back. filemem status PATH says why.

    Example: filemem sweep --dry-run"""
    return _run(call, jobs.sweep, **options)


@command("maintain", "--model --scheduler --all-users --dry-run --json")
def maintain_command(call: Context, **options: Any) -> Output:
    """Run consolidate, compact and sweep, and update the index.

    Safe to run at any time, from cron or a git hook.

    Example: filemem maintain --all-users --dry-run"""
    return _run(call, jobs.maintain, **options)


@command(
    "restore",
    click.argument(
        "paths", nargs=-1, required=True, metavar="PATH...", type=click.Path()
    ),
)
def restore_command(call: Context, paths: tuple[str, ...]) -> Output:
    """Bring memories back from the archive.

    They go where they were, byte for byte; this counts as a recall. A session also gets back turns that an editor
    saved over; filemem check names them. What was held back at PATH or PATH:LINE, as it was to be forgotten, is so no
    more. Exit code 1 if there is nothing to bring back, or another text is where one would go.

    Example: filemem restore archive/facts/2025/2025-11-23-drinks-four-coffees-a-day.md"""
    user = call.the_user()
    asked = [split_line(user, path) for path in paths]
    done = jobs.restore(
        user, call.now, [f"{path}:{line}" if line else path for path, line in asked]
    )
    yield from done.said
    return int(done.facts["failed"])


@command("status", "[PATH] --scheduler --all-users --json")
def status_command(call: Context, path: str | None) -> Output:
    """Show counts, sizes and what fades; or one memory's state.

    By kind, with the tokens in the prompt; for PATH, why it is where it is and when it will fade. With --all-users, a
    line of counts for each user.

    Example: filemem status facts/2026/2026-03-14-prefers-oolong-tea.md"""
    if path is None:
        return (yield from _run(call, overview.status, brief=call.many()))
    said = sweeper.why(
        call.the_user(), split_line(call.the_user(), path)[0], call.now.date()
    )
    yield Row({"path": path, "said": said}, said)
    return 0


@command("check", "--scheduler --all-users --json")
def check_command(call: Context) -> Output:
    """List every problem in the files, with its remedy.

    Checks one user, or all of them where --user is not given and there are several. Exit code 1 if there is a problem.

    Example: filemem check"""
    store = call.open_store()
    named = not call.many() and (call.user or os.environ.get("FILEMEM_USER"))
    names = [call.the_user().name] if named else store.users()
    try:
        config.load(store.root)
        wrong = config.misplaced(store.root)
    except config.ConfigError as error:
        wrong = [error.problem._replace(path=config.NAME)]
    found = [Row({"user": "", **one._asdict()}, [str(one)]) for one in wrong]
    found += _for_each(call, jobs.check, names, "/")
    yield from found
    problems, files = (
        sum("what" in row.data for row in found),
        sum(len(store.folder(name).paths()) for name in names),
    )
    yield f"{counted(files, 'file')} of {counted(len(names), 'user')}: {counted(problems, 'problem')}."
    return 1 if problems or any("error" in row.data for row in found) else 0


@command(
    "timeline",
    click.argument("glob", default="facts/**"),
    "--after --before --json --as-of",
)
def timeline_command(
    call: Context, glob: str, after: str | None, before: str | None
) -> Output:
    """Show what happened when, oldest first.

    A fact is listed on the day it is about, or else on its own date; one that has ended says when. GLOB names other
    memories, such as 'sessions/**' or '**'; archived ones are shown too. Exit code 1 if there is nothing.

    Example: filemem timeline --after 2026-05"""
    user, wanted = call.the_user(), globs.matcher(glob)
    days = question.bounds(after, before, call.now.date())
    events = overview.timeline(
        user, lambda path: wanted(path) or wanted(live(path)), days
    )
    for one in events:
        ended = (
            f" (until {one.until})"
            if one.until
            else " (archived)"
            if one.archived
            else ""
        )
        said = f"{one.day():10}  {one_line(one.text, 160)}{ended}  "
        yield Row(asdict(one), [Safe(said + context.dim(f"{one.path}:{one.line}"))])
    nothing = "Nothing is of that time; filemem timeline '**', without --after and --before, shows everything."
    say_dim(
        "" if events or call.json else nothing if days else str(user.no_match(glob))
    )
    return 0 if events else 1


@command(
    "report",
    click.option(
        "--output", "-o", metavar="FILE", help="Write the page there, and open nothing."
    ),
)
def report_command(call: Context, output: str | None) -> Output:
    """Open one page to look at: who, what holds, what comes, what fades.

    It is one HTML file without scripts or network access. It lies in the store until the
    next job, or where -o says; only an earlier report is overwritten there.

    Example: filemem report -o report.html"""
    user = call.the_user()
    if output:
        where = os.path.abspath(output)
        folder = os.path.realpath(os.path.dirname(where))
        if f"{folder}{os.sep}".startswith(user.store + os.sep):
            raise FilememError(
                f"{one_line(where)} is inside the memories and would become one; "
                "name a place outside them."
            )
        if os.path.lexists(where) and not overview.is_our_page(where):
            raise FilememError(
                f"{one_line(where)} is not a filemem report; name another file."
            )
    else:
        where = user.bookkeeping(REPORT)
        safe.make_folder(os.path.dirname(where))
    with progress("looking") as show:
        text, memories = overview.page(user, call.now, show)
    safe.write(where, text.encode())
    yield f"Wrote {output or where}: {memories:,} memories."
    if not output and sys.stdout.isatty():
        webbrowser.open(pathlib.Path(where).as_uri())


@command("log", "[PATH] --limit --json")
def log_command(call: Context, path: str | None, limit: int | None) -> Output:
    """Show the diary that git keeps of the memories.

    It says who changed them, when and why; of one file or folder where PATH is given. Exit code 1 if nothing was found.

    Example: filemem log profile.md"""
    user = call.the_user()
    found = log(
        History(user), split_line(user, path.rstrip("/"))[0] if path else "", limit or 0
    )
    for commit in found:
        yield Row({**dataclasses.asdict(commit), "who": commit.who}, [_line(commit)])
    say_dim("" if found else "There is no such commit.")
    return 0 if found else 1


def _line(commit: Commit) -> str:
    """A commit in one line."""
    return f"{commit.commit[:8]}  {commit.at:%Y-%m-%d %H:%M}  {one_line(commit.subject)}  ({one_line(commit.who)})"


@command("undo", click.argument("commit", required=False))
def undo_command(call: Context, commit: str | None) -> Output:
    """Undo COMMIT, by default filemem's last one; later changes stay.

    If the same lines have changed since, nothing is undone, and the message says what is in the way.

    Example: filemem undo"""
    undone = undo(History(call.the_user()), commit, call.now)
    yield f"Undid {_line(undone.commit)}"
    yield from undone.sentences


@command("sync", click.argument("remote", required=False))
def sync_command(call: Context, remote: str | None) -> Output:
    """Share the memories with your other machines through git.

    This fetches, merges and pushes, with a REMOTE where one is named. Nothing is ever forced. If two machines changed
    the same line, the file keeps both versions, and is named.

    Example: filemem sync origin"""
    history = History(call.the_user())
    say_dim("Fetching, merging and sending …" if sys.stderr.isatty() else "")
    yield from sync(history, remote, call.now)


@command(
    "init",
    click.argument("folder", required=False, type=click.Path()),
    click.option(
        "--git",
        "with_git",
        is_flag=True,
        help="Keep the memories in git: a repository of theirs, or this.",
    ),
)
def init_command(call: Context, folder: str | None, with_git: bool) -> Output:
    """Create a store.

    In FOLDER, else where --store or FILEMEM_STORE say, else in ./memory_store, with a file of all settings, commented
    out. With --git (in your present store if you name no other), a commit of the memories follows each talk and job.

    Example: filemem init ~/memories --git"""
    used = call.folder_of_store()
    place = folder or (
        used
        if call.named_store or (with_git and os.path.isdir(used))
        else "memory_store"
    )
    root = StoreFolder(place).root
    settings = os.path.join(root, config.NAME)
    if begins := not os.path.lexists(settings):
        schema = resources.files("filemem") / "schemas" / "settings.schema.json"
        known = json.loads(schema.read_text("utf-8"))["properties"]
        text = (
            "# Limits of this store. Every key is optional; remove the # to change one.\n"
            "# The model, its endpoint and what is kept of secrets are yours to say:\n"
            "# filemem model, and config.yaml in ~/.config/filemem.\n"
        )
        for key in config.LIMITS:
            says = known[key]["description"]
            value = json.dumps(known[key]["default"])
            text += f"\n# {says[:1].upper()}{says[1:]}.\n# {key}: {value}\n"
        safe.make_folder(root)
        safe.create(settings, text.encode())
        person.note_begun(root)
        yield f"Created {settings}."
        call.store = ""
        if StoreFolder(call.folder_of_store()).root != root:
            yield f"Name it with --store {shlex.quote(root)} or FILEMEM_STORE."
    elif not with_git:
        yield f"{root} is a store already; nothing was changed."
    if with_git:
        names = StoreFolder(root).users()
        homes = [
            home
            for name in names
            if os.path.lexists(os.path.join(home := os.path.join(root, name), ".git"))
        ]
        if not homes or os.path.lexists(os.path.join(root, ".git")):
            homes.append(
                root
            )  # users' own repositories; the store's where it is one, or no user's is
        for home in homes:
            with progress("committing") as show:
                yield from set_up(home, (names or ["me"])[0], call.now, show)
    if begins:
        yield "Next: filemem chat, or filemem remember 'Prefers oolong tea.'"


@command(
    "model",
    click.argument("name", required=False),
    click.option(
        "--base-url", default="", metavar="URL", help="The endpoint; else your own."
    ),
)
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


@command("users", "--json")
def users_command(call: Context) -> Output:
    """List the users of the store, and count their memories.

    Example: filemem users"""
    store = call.open_store(must_exist=True)
    names = store.users()
    if not names:
        yield f"There is nobody in {store.root} yet; start with: filemem chat"
    for name in names:
        count = sum(1 for _ in store.folder(name).files())
        yield Row(
            {"user": name, "memories": count},
            [f"{name}  {counted(count, 'memory', 'memories')}"],
        )


@command(
    "import",
    click.argument("format_", metavar="FORMAT"),
    click.argument("file", type=click.Path(exists=True)),
    "--dry-run --with-secrets --json --new",
)
def import_command(
    call: Context, format_: str, file: str, dry: bool, with_secrets: bool
) -> Output:
    """Import conversations and notes from elsewhere.

    A second run adds only what is new. FORMAT is chatgpt or claude (the export as it came: zip, folder or
    conversations.json), openai-jsonl (messages by line), claude-code or codex (one of their sessions, or the folder
    of them), markdown (a folder of notes), or a format that an installed package adds. Secrets are left out, and the
    report says so, unless you give --with-secrets. Exit code 1 if there was nothing to import.

    Example: filemem import chatgpt conversations.json"""
    store = call.open_store()
    user = call.the_user(must_exist=False) if dry else call.writer()
    say_dim("Reading the export …" if sys.stderr.isatty() else "")
    taken, notes = jobs.imported(
        store,
        format_,
        file,
        call.now,
        user.name,
        dry_run=dry,
        with_secrets=with_secrets,
    )
    yield Row(
        {
            name: [entry._asdict() for entry in entries]
            for name, entries in vars(taken).items()
        },
        [],
    )
    came: list[ImportedMemory] = [*taken.added, *taken.updated]
    words = ("would add", "would update") if dry else ("added", "updated")
    lists: list[Sequence[ImportedMemory | Skipped]] = [
        taken.added,
        taken.updated,
        taken.skipped,
    ]
    for word, entries in zip((*words, "note:"), lists, strict=True):
        for one in entries[:10]:
            turns = (
                f", {counted(one.turns, 'turn')}"
                if isinstance(one, ImportedMemory) and one.turns
                else ""
            )
            what = (
                f"{one.what}: {one.why}"
                if isinstance(one, Skipped)
                else f"{one.user}/{one.path}"
            )
            yield f"{word} {what}{turns}"
        if len(entries) > 10:
            yield f"{word} {len(entries) - 10:,} more; --json lists them all"
    counts = f"{len(taken.added):,} added, {len(taken.updated):,} updated, {len(taken.unchanged):,} unchanged"
    yield f"{'Nothing was written: ' if dry else ''}{counts}, {counted(sum(one.turns for one in came), 'turn')}."
    if not dry and not call.json and any(one.turns for one in came):
        say_dim(
            "Next: filemem consolidate makes facts of it; filemem review shows what waits for your decision."
        )
    nothing = "There was nothing of it; filemem import --help has the formats."
    say_dim(*notes, "" if any(vars(taken).values()) or call.json else nothing)
    return 0 if came or taken.unchanged else 1
