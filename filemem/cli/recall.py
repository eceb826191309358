"""Commands that read files as they are: grep, open, list. They load no index, unless it is large."""

import contextlib
import itertools
from collections.abc import Iterator
from typing import Any

import click

from filemem.cli.context import (
    Context,
    as_of_option,
    command,
    complete_path,
    json_option,
    path_option,
    speaker_option,
    split_line,
)
from filemem.cli.screen import Line, Output, Row, answer, colours, say_dim
from filemem.errors import FilememError
from filemem.files import episode, globs
from filemem.files.folder import Folder, Stat
from filemem.files.memory import Memory, is_archived, kind_of, only_asked, when_of
from filemem.files.safe import listed
from filemem.grep import Listed, PlainFiles, grep, newest_first
from filemem.text.plain import one_line
from filemem.tools import answers

WORTH_LOADING = 3_000_000  # bytes of index, of some five thousand sessions; fewer files are read in the time it loads


@command(
    "grep",
    click.argument("pattern"),
    path_option,
    speaker_option,
    click.option("--context", "-C", type=click.IntRange(0, 20), default=0, help="Lines to show around each match."),
    click.option("--offset", type=click.IntRange(0), default=0, help="Matches to pass over."),
    json_option,
    as_of_option,
)
def grep_command(call: Context, pattern: str, offset: int, **asked: Any) -> Output:
    r"""Find the lines that match a regular expression.

    Newest file first, archived files last. Case counts only where PATTERN holds a capital letter. \b marks the edge of a word.

    Example: filemem grep "oolong|乌龙"

    Exit code 1 where nothing was found.
    """
    user = call.the_user()
    page = 10**9 if call.json or not colours() else 200
    where, said_by = _listed(user), None
    if asked["speaker"]:
        from filemem import index  # noqa: PLC0415  as below
        from filemem.search import filters  # noqa: PLC0415  who speaks at all, which a grep for words need not know

        where = index.of(user).corpus()
        said_by = filters.said_by(where, asked["speaker"])
    how = {"path": asked["path"], "context": asked["context"], "offset": offset}
    found = grep(user, where, pattern, said_by=said_by, page=page, **how)
    if call.json:
        for line in found.lines:
            if line.matches:
                facts = {"path": line.path, "line": line.line, "text": line.text, "archived": is_archived(line.path)}
                yield Row(facts, [])
        if found.next_offset:
            left = found.total - found.next_offset
            say_dim(f"{left:,} more lines match; --offset {found.next_offset} shows the next.")
    else:
        given = {"pattern": pattern, **{key: value for key, value in asked.items() if value}}
        yield from answer(answers.grepped(user, found, given, whole=True))
    return 0 if found.total else 1


def _listed(folder: Folder) -> Listed:
    """The index where it is large enough to be worth loading for one search, else the folder as it is."""
    size = 0
    with contextlib.suppress(FilememError, OSError), listed(folder.bookkeeping("index")) as entries:
        size = sum(entry.stat(follow_symlinks=False).st_size for entry in entries)
    if size <= WORTH_LOADING:
        return PlainFiles(folder)
    from filemem import index  # noqa: PLC0415  which a small folder does without

    return index.of(folder).corpus()


@command(
    "open",
    click.argument("path", shell_complete=complete_path),
    click.option("--lines", type=click.IntRange(1), help="How many lines to show."),
    as_of_option,
)
def open_command(call: Context, path: str, lines: int | None) -> Iterator[Line]:
    """Read a memory by line.

    PATH:LINE reads from that line on.

    Example: filemem open profile.md
    """
    user = call.the_user()
    name, line = split_line(user, path)
    where = user.locate(name)
    yield from answer(answers.page(user, where, line or 1, lines or 10**9, 10**9, moved_from=name, whole=True))


@command(
    "list",
    click.argument("glob", required=False, shell_complete=complete_path),
    click.option("--sessions", is_flag=True, help="Conversations only, with what came of each and what is left to do."),
    click.option("--limit", "-n", type=click.IntRange(1), help="Most memories to list."),
    json_option,
    as_of_option,
)
def list_command(call: Context, glob: str | None, sessions: bool, limit: int | None) -> Output:
    """List memories, newest first.

    Archived ones come last; GLOB names the files to list.

    Example: filemem list "facts/**"
    """
    user = call.the_user()
    wanted = globs.matcher(glob) if glob else None
    stats = [stat for stat in user.files() if wanted is None or wanted(stat.path)]
    stats = [stat for stat in stats if kind_of(stat.path) == "sessions" or not sessions]
    stats.sort(key=newest_first)
    shown = ((stat, row) for stat in stats if (row := _row(user, stat, asked=bool(glob))))
    for stat, row in itertools.islice(shown, limit):
        summed = row.get(episode.KEY, {}) if sessions else {}
        more = [("wanted", summed.get("intent")), ("outcome", summed.get("outcome"))]
        more += [(key, text) for key in episode.LISTS[:2] for text in summed.get(key, [])]
        more += [("tags", ", ".join(summed.get("tags", [])))]
        lines = [f"  {key}: {one_line(text, 160)}" for key, text in more if text]
        yield Row(row, [f"{stat.path}  {one_line(row['title'], 80)}", *lines])
    return 0 if stats else 1


def _row(folder: Folder, stat: Stat, *, asked: bool) -> dict[str, Any]:
    """A memory as `list` shows it; empty for a session that only holds unanswered questions, unless it is `asked` for."""
    when = when_of(stat.path)
    try:
        memory = Memory(stat.path, folder.read(stat.path, 20_000))
        if not asked and only_asked(memory):
            return {}
        said = next((one for one in memory.passages if one.line != memory.episode_line), None)
        title = memory.named or (said.text.split("\n")[0] if said else "")
        summed = memory.episode.as_json()
    except FilememError as error:
        title, summed = str(error), {}
    about = {"path": stat.path, "kind": kind_of(stat.path), "date": when.date if when else None, "size": stat.size}
    about |= {"archived": is_archived(stat.path), "title": title}
    return about | ({episode.KEY: summed} if summed else {})
