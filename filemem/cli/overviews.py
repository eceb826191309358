"""Commands that show memories as a whole: graph, timeline, report."""

import datetime as dt
import os
from collections.abc import Iterator

import click

from filemem import index
from filemem.cli.common import complete_path, completing, now, reader, the_user
from filemem.cli.options import after_option, as_of_option, before_option, json_option, model_option
from filemem.cli.screen import dim, progress, put, say, say_aside, say_json, tell
from filemem.cli.talk import the_model
from filemem.endpoint.traced import traced
from filemem.errors import FilememError
from filemem.files import archive, globs, safe
from filemem.files.folder import Folder
from filemem.files.transcript import ASSISTANT
from filemem.history.asof import Past
from filemem.overview import clusters as clusters_of
from filemem.overview import graph as graphs
from filemem.overview import report
from filemem.overview import timeline as times
from filemem.overview.clusters import NameCluster
from filemem.overview.graph import Edge, EntityMention, Graph
from filemem.overview.report import page
from filemem.overview.timeline import Event
from filemem.remembering.supersession import display
from filemem.text import terms
from filemem.text.dates import parse_bound
from filemem.text.plain import counted, escape_controls, nearest, one_line

CENTRAL = 3  # names by which a cluster goes
SHOWN = 8  # names beside one in the list of all
_BEGINNING = 2_000  # bytes, in which a report says whose it is


def _names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in _graph(completing(ctx)).names if name.casefold().startswith(incomplete.casefold())]


@click.command("graph")
@click.argument("name", required=False, shell_complete=_names)
@click.option("--about", metavar="NAME", shell_complete=_names, help="The same as NAME.")
@click.option(
    "--clusters", is_flag=True, help="Which names hang together, by their most central ones; and what a model says."
)
@model_option
@click.option("--dot", "form", flag_value="dot", help="For Graphviz: filemem graph --dot | dot -Tsvg > names.svg")
@click.option("--mermaid", "form", flag_value="mermaid", help="For a Markdown file, in a mermaid block.")
@click.option("--json", "form", flag_value="json", help="One JSON object: names, ties, and where they stand.")
@as_of_option
def graph_command(name: str | None, about: str | None, form: str | None, clusters: bool, model: str | None) -> int:
    """Show how the names that memories link to hang together.

    Two names are tied by each passage that holds both; where it links to something, people who speak in the memories count
    as linked, too. Front matter such as `works_at: "[[Acme]]"` in a note says as what, and what else a name is called is one with
    it. With NAME only what is tied to that, and every memory that says so. With --clusters a model, where there is one, says in a
    sentence what each is about, and is asked again only when its memories have changed. Exit code 1 where nothing is linked.

    Example: filemem graph
    """
    user = reader()
    whole = _graph(user)
    name = about or name
    chosen = _found(user, whole, name) if name else None
    drawn = whole.of(chosen) if chosen else whole
    if form == "dot":
        say(graphs.dot(drawn, user.name))
    elif form == "mermaid":
        say(graphs.mermaid(drawn))
    elif form == "json":
        more = {"clusters": [one.as_json() for one in _clusters(user, drawn, model)]} if clusters else {}
        say_json({**graphs.as_json(drawn), **more})
    elif not drawn.names:
        say("No memory links to anything yet; write names as [[Porto]].")
    else:
        of_all = _clustered(_clusters(user, drawn, model)) if clusters and not chosen else _of_all(drawn)
        for line in _of_one(drawn, chosen) if chosen else of_all:
            put(line)
    return 0 if drawn.names else 1


def _graph(folder: Folder) -> Graph:
    corpus = index.of(folder).corpus()
    spoken = set(corpus.speaker_names) - {"", ASSISTANT}
    return graphs.graph(folder, spoken | {display(folder.name)}, corpus.names())


def _found(folder: Folder, whole: Graph, given: str) -> str:
    """The name that a person means, by any of its spellings; raises FilememError with the nearest names."""
    folded = {_folded(name): name for name in whole.names}
    for spelling in (_folded(given), *index.of(folder).corpus().names().get(_folded(given), [])):
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
    beside = ", ".join(f"{other} {_typed(tie)}" for other, tie in drawn.beside(name))
    yield escape_controls(f"{name}  {counted(len(drawn.names[name]), 'passage')}{', beside ' * bool(beside)}{beside}")
    for place in drawn.names[name]:
        yield _row(place.date or place.since or "", place)


def _typed(tie: Edge) -> str:
    """How often two names stand together, and as what, where front matter says so."""
    kinds = one_line(", ".join(tie.kinds), 60)
    return f"{len(tie.places)} ({escape_controls(kinds)})" if kinds else f"{len(tie.places)}"


def _clusters(folder: Folder, drawn: Graph, name: str | None) -> list[NameCluster]:
    """The clusters, with what a model says of each, where there is one; the past is asked of none."""
    found = clusters_of.clusters(folder, drawn, display(folder.name))
    model = None if isinstance(folder, Past) else traced(the_model(folder, name), folder, now, "clusters")
    try:
        return clusters_of.summed_up(folder, found, model) if model else found
    except FilememError as error:
        say_aside(str(error))
        return found


def _clustered(found: list[NameCluster]) -> Iterator[str]:
    """A line for each cluster: its most central names, how many it has, and the others; and what a model said of it."""
    for one in found:
        rest = ", ".join(one.names[CENTRAL:]) and f"  {dim(escape_controls(', '.join(one.names[CENTRAL:])))}"
        yield f"{escape_controls(', '.join(one.names[:CENTRAL]))}  {len(one.names)}{rest}"
        if one.summary:
            yield f"  {escape_controls(one.summary)}"


def _row(day: object, one: EntityMention | Event) -> str:
    """A day, what a passage says, whether that holds, and where it stands."""
    ended = f" (until {one.until})" if one.until else " (archived)" if one.archived else ""
    where = dim(escape_controls(f"{one.path}:{one.line}"))
    return f"{day!s:10}  {escape_controls(one_line(one.text, 160))}{ended}  {where}"


@click.command("timeline")
@click.argument("glob", default="facts/**", shell_complete=complete_path)
@after_option
@before_option
@json_option
@as_of_option
def timeline_command(glob: str, after: str | None, before: str | None) -> int:
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
        tell(event.as_json(), _row(event.day(), event), how=put)
    return 0 if events else 1


def _bound(given: str | None, today: dt.date, *, end: bool) -> dt.date | None:
    try:
        return parse_bound(given, today, end) if given else None
    except ValueError as error:
        raise FilememError(str(error)) from None


@click.command("report")
@click.option("--output", "-o", required=True, metavar="FILE", type=click.Path(), help="The page to write.")
@click.option("--force", "-f", is_flag=True, help="Overwrite a file that is no report.")
def report_command(output: str, force: bool) -> None:
    """Write a page to read: the profile, what holds by topic, what happened when, what faded and why.

    It is one HTML file that needs no network and no script. An earlier report is overwritten; another file is only with -f.

    Example: filemem report -o report.html
    """
    user = the_user()
    where = _place(user, output)
    _spare(where, force=force)
    with progress("looking") as show:
        found = report.gather(user, now(), show)
    data = page.page(found).encode()
    _spare(where, force=force)
    safe.write(where, data)
    say(f"Wrote {output}: {found.live + found.archived:,} memories.")


def _place(folder: Folder, output: str) -> str:
    """Where the page goes; raises FilememError for a folder, a missing one, or a place among somebody's memories."""
    where = os.path.join(os.path.realpath(os.path.dirname(output) or "."), os.path.basename(output))
    root = os.path.realpath(folder.above)
    if os.path.isdir(where):
        raise FilememError(f"{one_line(output)} is a folder; name a file.")
    if os.path.dirname(where).startswith(root + os.sep):
        raise FilememError(f"{one_line(output)} lies among the memories, and would become one; name a place outside.")
    if not os.path.isdir(os.path.dirname(where)):
        raise FilememError(f"the folder of {one_line(output)} does not exist; make it first.")
    return where


def _spare(where: str, *, force: bool) -> None:
    """Raise FilememError where writing would overwrite anything but a report."""
    if force or not os.path.lexists(where):
        return
    if os.path.islink(where) or not page.is_our_page(safe.read(where, _BEGINNING).decode(errors="replace")):
        raise FilememError(f"{one_line(where)} is no report of filemem's; name another file, or overwrite it with -f.")
