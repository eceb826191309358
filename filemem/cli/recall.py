"""Commands that read: search, grep, open, list, call."""

import datetime as dt
from typing import Any

import click

from filemem import answers, globs
from filemem.cli.common import (
    chosen_day,
    colours,
    complete_path,
    linked,
    now,
    progress,
    say,
    say_json,
    split_line,
    the_user,
)
from filemem.cli.options import as_of_option, shared_options
from filemem.errors import FilememError
from filemem.folder import Stat
from filemem.grep import Line, grep
from filemem.memory import ARCHIVE, Memory, kind_of, when_of
from filemem.plain import one_line, visible
from filemem.search import search_files
from filemem.store import User

_json = click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
_path = click.option("--path", metavar="GLOB", help="Only these files, e.g. 'facts/**', 'archive/**'.")


def ready(user: User) -> User:
    """The user with an index brought up to date, behind a progress bar where that takes long."""
    with progress("indexing") as show:
        user.index.corpus(show)
    return user


@click.command("search")
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", "-n", type=click.IntRange(1, 200), help="Most passages to show.")
@_path
@click.option("--speaker", metavar="NAME", help="Only what this person said.")
@click.option("--after", metavar="DATE", help="Only from this day on: 2026-05-08, 2026-05, 'last week'.")
@click.option("--before", metavar="DATE", help="Only up to this day.")
@click.option("--explain", is_flag=True, help="Show what made each passage's score.")
@_json
@as_of_option
@shared_options
def search_command(query: tuple[str, ...], explain: bool, as_json: bool, **filters: Any) -> int:
    """Find the passages that best answer QUERY, words or a whole question.

    Example: filemem search "what tea does Mara like?"

    Exit code 1 where nothing was found.
    """
    user = ready(the_user())
    text = " ".join(query)
    found = search_files(user.index, text, today=now().date(), anchor=chosen_day(), **filters)
    if as_json:
        for hit in found.hits:
            say_json({**hit._asdict(), "when": None, "file": f"{user.root}/{hit.path}"})
        return 0 if found.hits else 1
    given = {key: value for key, value in filters.items() if value is not None}
    _coloured(user, answers.searched(found, {"query": text, **given}))
    if explain:
        for hit in sorted(found.hits, key=lambda hit: -hit.score):
            parts = ", ".join(f"{name} {value:+.2f}" for name, value in hit.parts.items())
            say(f"{hit.path}:{hit.line}  score {hit.score:.2f} = {parts}")
            say(f"    has {', '.join(hit.has) or 'nothing'}; lacks {', '.join(hit.lacks) or 'nothing'}")
    return 0 if found.hits else 1


def _coloured(user: User, answer: str) -> None:
    """Print a tool's answer; on a terminal the headings stand out and lead to their files."""
    if not colours():
        say(answer)
        return
    for line in answer.split("\n"):
        path = line.split("  ")[0]
        if line[:1].isspace() or "/" not in path or " " in path:
            say(line)
        else:
            shown = click.style(visible(path), fg="magenta", bold=True)
            click.echo(linked(user, path, shown) + visible(line[len(path) :]))


@click.command("grep")
@click.argument("pattern")
@_path
@click.option("--context", "-C", type=click.IntRange(0, 20), default=0, help="Lines to show around each match.")
@click.option("--offset", type=click.IntRange(0), default=0, help="Matches to pass over.")
@_json
@as_of_option
@shared_options
def grep_command(pattern: str, path: str | None, context: int, offset: int, as_json: bool) -> int:
    r"""Find the lines that match PATTERN, a regular expression; newest file first, archived files last.

    Case counts only where PATTERN holds a capital letter. \b marks the edge of a word.

    Example: filemem grep "oolong|乌龙"

    Exit code 1 where nothing was found.
    """
    user = the_user()
    page = 10**9 if as_json or not colours() else 200
    found = grep(user.index, pattern, path=path, context=context, offset=offset, page=page)
    if as_json:
        for line in found.lines:
            if line.matches:
                say_json({"path": line.path, "line": line.line, "text": line.text, "archived": _archived(line)})
        return 0 if found.total else 1
    asked: dict[str, Any] = {"pattern": pattern, **({"path": path} if path else {})}
    _coloured(user, answers.grepped(found, {**asked, **({"context": context} if context else {})}))
    return 0 if found.total else 1


def _archived(line: Line) -> bool:
    return line.path.startswith(ARCHIVE + "/")


@click.command("open")
@click.argument("path", shell_complete=complete_path)
@click.option("--lines", type=click.IntRange(1), help="How many lines to show.")
@as_of_option
@shared_options
def open_command(path: str, lines: int | None) -> int:
    """Read the memory at PATH, or from PATH:LINE on.

    Example: filemem open profile.md
    """
    user = the_user()
    name, line = split_line(user, path)
    where = user.locate(name)
    _coloured(user, answers.page(user, where, line or 1, lines or 10**9, 10**9, moved_from=name))
    return 0


@click.command("list")
@click.argument("glob", required=False, shell_complete=complete_path)
@click.option("--limit", "-n", type=click.IntRange(1), help="Most memories to list.")
@_json
@as_of_option
@shared_options
def list_command(glob: str | None, limit: int | None, as_json: bool) -> int:
    """List memories, newest first, archived ones last; only those that match GLOB where one is given.

    Example: filemem list "facts/**"
    """
    user = the_user()
    wanted = globs.matcher(glob) if glob else None
    stats = [stat for stat in user.files() if wanted is None or wanted(stat.path)]
    stats.sort(key=_newest_first)
    for stat in stats[:limit]:
        if as_json:
            say_json(_row(user, stat))
        else:
            row = _row(user, stat)
            say(f"{stat.path}  {one_line(row['title'], 80)}")
    return 0 if stats else 1


def _newest_first(stat: Stat) -> tuple[bool, int, str]:
    when = when_of(stat.path)
    return stat.path.startswith(ARCHIVE + "/"), -(when.date.toordinal() if when else 0), stat.path


def _row(user: User, stat: Stat) -> dict[str, Any]:
    """A memory as `list` shows it."""
    when = when_of(stat.path)
    try:
        memory = Memory(stat.path, user.read(stat.path, 20_000))
        title = memory.passages[0].text.split("\n")[0] if memory.passages else ""
    except FilememError as error:
        title = str(error)
    date: dt.date | None = when.date if when else None
    return {
        "path": stat.path,
        "kind": kind_of(stat.path),
        "date": date,
        "size": stat.size,
        "archived": stat.path.startswith(ARCHIVE + "/"),
        "title": title,
    }


@click.command("call")
@click.argument("tool")
@click.argument("arguments", default="{}")
@shared_options
def call_command(tool: str, arguments: str) -> int:
    """Call one of the four tools with ARGUMENTS in JSON; print exactly what an agent would see.

    Example: filemem call search_files '{"query": "What tea does Mara like?"}'
    """
    answer = the_user().tools(now).call(tool, arguments)
    click.echo(answer)
    return 1 if answer.startswith("Error: ") else 0
