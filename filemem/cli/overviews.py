"""Commands that show memories as a whole: graph, timeline."""

import datetime as dt
from collections.abc import Iterator

import click

from filemem import index
from filemem.cli.common import complete_path, completing, now, reader
from filemem.cli.options import after_option, as_of_option, before_option, json_option, shared_options
from filemem.cli.screen import dim, put, say, say_json
from filemem.errors import FilememError
from filemem.files import archive, globs
from filemem.files.folder import Folder
from filemem.files.transcript import ASSISTANT
from filemem.overview import graph as graphs
from filemem.overview import timeline as times
from filemem.overview.graph import Graph, Naming
from filemem.remembering.comparison import display
from filemem.text import terms
from filemem.text.dates import parse_bound
from filemem.text.plain import escape_controls, nearest, one_line

SHOWN = 8  # names beside one in the list of all


def _names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in _graph(completing(ctx)).names if name.casefold().startswith(incomplete.casefold())]


@click.command("graph")
@click.argument("name", required=False, shell_complete=_names)
@click.option("--dot", "form", flag_value="dot", help="For Graphviz: filemem graph --dot | dot -Tsvg > names.svg")
@click.option("--mermaid", "form", flag_value="mermaid", help="For a Markdown file, in a mermaid block.")
@click.option("--json", "form", flag_value="json", help="One JSON object: names, ties, and where they stand.")
@as_of_option
@shared_options
def graph_command(name: str | None, form: str | None) -> int:
    """Show how the names that memories link to hang together.

    Two names are tied by each passage that holds both; where it links to something, people who speak in the memories count
    as linked, too. With NAME only what is tied to that, and every memory that says so. Exit code 1 where nothing is linked.

    Example: filemem graph
    """
    user = reader()
    whole = _graph(user)
    chosen = _found(user, whole, name) if name else None
    drawn = whole.of(chosen) if chosen else whole
    if form == "dot":
        say(graphs.dot(drawn, user.name))
    elif form == "mermaid":
        say(graphs.mermaid(drawn))
    elif form == "json":
        say_json(graphs.as_json(drawn))
    elif not drawn.names:
        say("No memory links to anything yet; write names as [[Porto]].")
    else:
        for line in _of_one(drawn, chosen) if chosen else _of_all(drawn):
            put(line)
    return 0 if drawn.names else 1


def _graph(user: Folder) -> Graph:
    spoken = set(index.of(user).corpus().speaker_names) - {"", ASSISTANT}
    return graphs.graph(user, spoken | {display(user.name)})


def _found(user: Folder, whole: Graph, given: str) -> str:
    """The name that a person means, by any of its spellings; raises FilememError with the nearest names."""
    folded = {_folded(name): name for name in whole.names}
    for spelling in (_folded(given), *index.of(user).corpus().names().get(_folded(given), [])):
        if spelling in folded:
            return folded[spelling]
    near = nearest(_folded(given), folded, 3, 0.4) or list(folded)[:3]
    known = f"near it are {', '.join(folded[name] for name in near)}" if near else "write names as [[Porto]]"
    raise FilememError(f"no memory links to {one_line(given, 60)}; {known}.")


def _folded(name: str) -> str:
    """A name as it is looked for: without case and accents."""
    return " ".join(terms.words(name))


def _of_all(drawn: Graph) -> Iterator[str]:
    for name, places in drawn.names.items():
        beside = drawn.beside(name)
        more = f" and {len(beside) - SHOWN} more" if len(beside) > SHOWN else ""
        near = ", ".join(other for other, _ in beside[:SHOWN]) + more
        yield f"{escape_controls(name)}  {len(places)}" + (f"  {dim(escape_controls(near))}" if near else "")


def _of_one(drawn: Graph, name: str) -> Iterator[str]:
    beside = ", ".join(f"{other} {count}" for other, count in drawn.beside(name))
    count = len(drawn.names[name])
    yield escape_controls(f"{name}  {count} passage{'s' * (count != 1)}{', beside ' * bool(beside)}{beside}")
    for place in drawn.names[name]:
        where = dim(escape_controls(f"{place.path}:{place.line}"))
        yield f"{place.date or ''!s:10}  {escape_controls(one_line(place.text, 160))}{_ended(place)}  {where}"


def _ended(place: Naming) -> str:
    return f" (until {place.until})" if place.until else " (archived)" if place.archived else ""


@click.command("timeline")
@click.argument("glob", default="facts/**", shell_complete=complete_path)
@after_option
@before_option
@json_option
@as_of_option
@shared_options
def timeline_command(glob: str, after: str | None, before: str | None, as_json: bool) -> int:
    """Show what happened when, oldest first.

    Each fact stands at the day that it tells of, else at its own date; what has ended says when. GLOB names other memories,
    such as 'sessions/**' or '**'; archived ones are shown, too. Exit code 1 where there is nothing.

    Example: filemem timeline --after 2026-05
    """
    user, wanted, today = reader(), globs.matcher(glob), now().date()
    first = _bound(after, today, end=False) or dt.date.min
    last = _bound(before, today, end=True) or dt.date.max
    events = times.timeline(user, lambda path: wanted(archive.live(path)), first, last)
    for event in events:
        if as_json:
            say_json(event.as_json())
            continue
        ended = f" (until {event.until})" if event.until else " (archived)" if event.archived else ""
        where = dim(escape_controls(f"{event.path}:{event.line}"))
        put(f"{event.day():10}  {escape_controls(one_line(event.text, 160))}{ended}  {where}")
    return 0 if events else 1


def _bound(given: str | None, today: dt.date, *, end: bool) -> dt.date | None:
    try:
        return parse_bound(given, today, end) if given else None
    except ValueError as error:
        raise FilememError(str(error)) from None
