"""Commands that make memories of what was said: remember, consolidate, review."""

from collections.abc import Iterator
from typing import Any

import click

from filemem.cli.all_users import run_job
from filemem.cli.common import a_user, now, the_user, welcome
from filemem.cli.options import (
    json_option,
    json_option_that,
    many_options,
    model_option,
    new_user_option,
)
from filemem.cli.screen import choose, dim, for_script, put, say, say_aside, say_json
from filemem.cli.telling import remembered
from filemem.jobs.running import job
from filemem.jobs.telling import committed, lines
from filemem.remembering.consolidation import Applied
from filemem.remembering.remembering import Proposal, Review
from filemem.remembering.supersession import SUPERSEDE
from filemem.text.plain import escape_controls, one_line

ASK = "[a]ccept, [e]dit, [r]eject, [s]kip, accept a[l]l, [q]uit"


@click.command("remember")
@click.argument("text", nargs=-1, required=True)
@click.option(
    "--importance",
    type=click.IntRange(1, 10),
    help="From 1 to 10; 8 where it is not given.",
)
@click.option("--pinned", is_flag=True, help="Never fades.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="May be given several times.")
@click.option("--with-secrets", is_flag=True, help="Keep passwords, keys and codes in it, too.")
@new_user_option
def remember_command(text: tuple[str, ...], **how: Any) -> None:
    """Keep one fact.

    TEXT gets a file of its own, dated today. Told twice it stays one fact; told otherwise, it supersedes what was known.
    Secrets in it are taken out, which is said, unless --with-secrets is given.

    Example: filemem remember "Prefers oolong tea."
    """
    user = a_user()
    welcome(user)
    say(*remembered(user, " ".join(text), **how))


@click.command("consolidate")
@many_options
@click.option("--dry-run", is_flag=True, help="Say what it would take, ask nobody, and write nothing.")
@click.option("--review", is_flag=True, help="Only propose; filemem review then asks you about each.")
@model_option
@json_option
def consolidate_command(**options: Any) -> int:
    """Have the model make memories of what was said.

    Every conversation is read once, several in a request; what it tells becomes facts, lessons and lines of the profile, each
    with its source. What that takes is said with --dry-run, and before the work. Without a model all conversations wait. With
    --review, or review: true in filemem.yaml, it becomes proposals first. Exit code 1 where the model could not be asked.

    Example: filemem consolidate --dry-run
    """
    return run_job("consolidate", "remembering", **options)


@click.command("review")
@click.option("--accept-all", is_flag=True, help="Accept every proposal without asking.")
@json_option_that("List the proposals, one JSON object a line, and change nothing.")
def review_command(accept_all: bool) -> int:
    """Decide what is remembered, proposal by proposal.

    Proposals come from `filemem consolidate --review`, or from all reading with `review: true` in filemem.yaml; what a model
    noted in a form that is not kept waits here, too, with the reason. Each is shown with the turn that it comes from; what is
    skipped is asked again next time. Answers are read by line, so they can be piped. Exit code 1 where nothing waits.

    Example: filemem review
    """
    folder = the_user()
    review = Review(folder)
    waiting = list(review.proposals())
    if for_script():
        for found in waiting:
            say_json(_as_json(found))
        return 0 if waiting else 1
    if not waiting:
        say("Nothing waits for review.")
        return 1
    done: list[Applied] = []
    answer = "all" if accept_all else ""
    with job(folder, "review", now(), alone=False) as run:
        try:
            for number, found in enumerate(waiting, 1):
                answer = _decide(review, found, f"\n{number} of {len(waiting)}", answer, done)
                if answer == "quit":
                    break
        except click.Abort:
            say("\nThe rest waits.")
        finally:
            decisions = [one for each in done for one in each.decisions]
            say_aside(committed(run, Applied(decisions, [p for each in done for p in each.paths], [])))
    return 0


def _decide(review: Review, found: Proposal, place: str, last: str, done: list[Applied]) -> str:
    """Ask about a proposal, unless the person has accepted all, and do what they want with it; returns their answer.

    What form forbade is never accepted along with all others.
    """
    answer, text = last, ""
    if last != "all":
        for line in _shown(found, place):
            put(line)
        answer, text = _asked(found)
    if answer == "reject":
        review.reject(found.claim)
        say("rejected")
    elif answer == "accept" or (answer == "all" and not found.because):
        made = review.accept(found.claim, now(), text)
        done.append(made)
        say(*(line for one in made.decisions for line in lines(one, whole=True)), *made.notes)
    return answer


def _asked(found: Proposal) -> tuple[str, str]:
    """The person's answer, and their own words where they changed the text."""
    while True:
        answer = choose(ASK)
        if answer != "edit":
            return answer, ""
        written = " ".join((click.edit(found.claim.text + "\n", extension=".md") or "").split())
        if written and written != found.claim.text:
            return "accept", written
        say("The text is as it was.")


def _shown(found: Proposal, place: str) -> Iterator[str]:
    """A proposal beside what it would change and the turns that it comes from."""
    yield f"{place}, {'a lesson' if found.claim.kind == 'lessons' else 'new' if not found.instead_of else 'a change'}"
    yield f"  {escape_controls(found.claim.text)}"
    if found.instead_of:
        how = "supersedes" if found.claim.action == SUPERSEDE else "updates"
        yield f"  {how} {escape_controls(found.claim.target)}: {escape_controls(one_line(found.instead_of, 200))}"
    if found.because:
        yield f"  refused: {escape_controls(found.because)}"
    for turn in found.turns:
        said = f"{turn.speaker}: {one_line(turn.text, 400)}" if turn.text else "(the turn is gone)"
        yield dim(f"  {escape_controls(turn.source)}  {escape_controls(said)}")


def _as_json(found: Proposal) -> dict[str, Any]:
    """A proposal for a script."""
    return {
        "action": found.claim.action.lower(),
        "text": found.claim.text,
        "kind": found.claim.kind,
        "importance": found.claim.importance,
        "confidence": found.claim.confidence,
        "target": found.claim.target,
        "because": found.because,
        "turns": [turn._asdict() for turn in found.turns],
    }
