"""The command that ranks: search."""

from typing import Any

import click

from filemem import answers
from filemem.cli.answering import say_answer
from filemem.cli.common import chosen_day, now, progress, say, say_json, the_user
from filemem.cli.options import as_of_option, shared_options
from filemem.search import search_files


@click.command("search")
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", "-n", type=click.IntRange(1, 200), help="Most passages to show.")
@click.option("--path", metavar="GLOB", help="Only these files, e.g. 'facts/**', 'archive/**'.")
@click.option("--speaker", metavar="NAME", help="Only what this person said.")
@click.option("--after", metavar="DATE", help="Only from this day on: 2026-05-08, 2026-05, 'last week'.")
@click.option("--before", metavar="DATE", help="Only up to this day.")
@click.option("--explain", is_flag=True, help="Show what made each passage's score.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@as_of_option
@shared_options
def search_command(query: tuple[str, ...], explain: bool, as_json: bool, **filters: Any) -> int:
    """Find the passages that best answer QUERY, words or a whole question.

    Example: filemem search "what tea does Mara like?"

    Exit code 1 where nothing was found.
    """
    user = the_user()
    with progress("indexing") as show:
        user.index.corpus(show)
    text = " ".join(query)
    found = search_files(user.index, text, today=now().date(), anchor=chosen_day(), **filters)
    if as_json:
        for hit in found.hits:
            say_json({**hit._asdict(), "when": None, "file": f"{user.root}/{hit.path}"})
        return 0 if found.hits else 1
    given = {key: value for key, value in filters.items() if value is not None}
    say_answer(user, answers.searched(found, {"query": text, **given}))
    if explain:
        for hit in sorted(found.hits, key=lambda hit: -hit.score):
            parts = ", ".join(f"{name} {value:+.2f}" for name, value in hit.parts.items())
            say(f"{hit.path}:{hit.line}  score {hit.score:.2f} = {parts}")
            say(f"    has {', '.join(hit.has) or 'nothing'}; lacks {', '.join(hit.lacks) or 'nothing'}")
    return 0 if found.hits else 1
