"""The commands that rank: search, and call, which does what an agent does."""

from typing import Any

import click

from filemem import index
from filemem.cli.common import chosen_day, now, reader, the_user
from filemem.cli.options import after_option, as_of_option, before_option, json_option, path_option, speaker_option
from filemem.cli.screen import for_script, progress, put, say, say_answer, say_json
from filemem.search import search_files
from filemem.search.hits import Hit
from filemem.tools import answers
from filemem.tools.toolbox import Toolbox


@click.command("search")
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", "-n", type=click.IntRange(1, 200), help="Most passages to show.")
@path_option
@speaker_option
@after_option
@before_option
@click.option("--explain", is_flag=True, help="Show what made each passage's score.")
@json_option
@as_of_option
def search_command(query: tuple[str, ...], explain: bool, **filters: Any) -> int:
    """Find the passages that best answer QUERY, words or a whole question.

    --as-of DATE asks what was believed on a day, --today DATE what was true on it by what is known now.

    Example: filemem search "what tea does Mara like?"

    Exit code 1 where nothing was found.
    """
    user = reader()
    with progress("indexing") as show:
        index.of(user).corpus(show)
    text = " ".join(query)
    found = search_files(index.of(user), text, today=now().date(), anchor=chosen_day(), **filters)
    if for_script():
        for hit in found.hits:
            say_json({**_plain(hit), "file": f"{user.root}/{hit.path}"})
        return 0 if found.hits else 1
    given = {key: value for key, value in filters.items() if value is not None}
    say_answer(user, answers.searched(found, {"query": text, **given}))
    if explain:
        say(
            f"\n{found.certainty:.0%} certain\n"
            + "\n".join(map(_explained, sorted(found.hits, key=lambda hit: -hit.score)))
        )
    return 0 if found.hits else 1


def _plain(hit: Hit) -> dict[str, Any]:
    """A hit as a JSON object: what it says, where, how well it matches."""
    left_out = ("when", "excerpt", "cut", "before", "title", "newer", "sources", "parts")
    shown = {key: value for key, value in hit._asdict().items() if key not in left_out}
    more = {"title": hit.title, "sources": hit.sources, "superseded_by": hit.newer, "parts": hit.parts}
    return shown | {key: value for key, value in more.items() if value}


def _explained(hit: Hit) -> str:
    """What made a hit's score: its words' values and its signs, the largest first; then what it holds of the question."""
    factor = hit.parts.get("times", 1.0)
    parts = [(name, value) for name, value in hit.parts.items() if name != "times"]
    parts.sort(key=lambda part: -abs(part[1]))
    summed = "  ".join(f"{name} {value:+.2f}" for name, value in parts if abs(value) >= 0.005)
    times = f"  all times {factor:.2f}" if factor != 1.0 else ""
    words = [("has", hit.has), ("near", hit.near), ("lacks", hit.lacks)]
    holds = "; ".join(f"{name} {', '.join(found)}" for name, found in words if found)
    return f"{hit.score:6.2f}  {hit.path}:{hit.line}\n        {summed}{times}\n        {hit.strength:.0%}: {holds}"


@click.command("call")
@click.argument("tool")
@click.argument("arguments", default="{}")
def call_command(tool: str, arguments: str) -> int:
    """Call one of the four tools as an agent does.

    ARGUMENTS are JSON; what is printed is exactly what an agent would see. Exit code 1 where that is an error.

    Example: filemem call search_files '{"query": "What tea does Mara like?"}'
    """
    answer = Toolbox(the_user(), now).call(tool, arguments)
    put(answer)
    return 1 if answer.startswith("Error: ") else 0
