"""Commands that make memories of what was said: remember, consolidate, review."""

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

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
from filemem.files.folder import Folder
from filemem.history import History
from filemem.jobs.telling import committed, lines
from filemem.remembering import retold as old_facts
from filemem.remembering.comparison import SUPERSEDE, UPDATE
from filemem.remembering.consolidation import Applied
from filemem.remembering.retold import DerivedFact
from filemem.remembering.review import Proposal, Review
from filemem.text.plain import escape_controls, one_line

T = TypeVar("T")
ASK = "[a]ccept, [e]dit, [r]eject, [s]kip, accept a[l]l, [q]uit"
ASK_RETOLD = "[q]uote the turn, [k]eep, [d]rop, [s]kip, [e]nd"


@click.command("remember")
@click.argument("text", nargs=-1, required=True)
@click.option(
    "--importance",
    type=click.IntRange(1, 10),
    help="From 1 to 10; by what it is about, at least 8, where it is not given.",
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
@click.option("--dry-run", is_flag=True, help="Say what would be remembered, and write nothing.")
@click.option("--review", is_flag=True, help="Only propose; filemem review then asks you about each.")
@model_option
@json_option
def consolidate_command(**options: Any) -> int:
    """Make memories of what was said.

    Every session is read once; what it tells becomes facts, lessons and lines of the profile, each with its source. With
    --review, or review: true in filemem.yaml, it becomes proposals first. Exit code 1 where it failed for one of all users.

    Example: filemem consolidate --dry-run
    """
    return run_job("consolidate", "remembering", **options)


@click.command("review")
@click.option("--accept-all", is_flag=True, help="Accept every proposal without asking.")
@click.option("--retold", is_flag=True, help="Go through facts whose words stand in no turn that they cite.")
@json_option_that("List the proposals, one JSON object a line, and change nothing.")
def review_command(accept_all: bool, retold: bool) -> int:
    """Decide what is remembered, proposal by proposal.

    Proposals come from `filemem consolidate --review`, or from every chat with `review: true` in filemem.yaml. Each is shown
    with the turn that it comes from; what is skipped is asked again next time. Answers are read by line, so they can be
    piped. Exit code 1 where nothing waits. With --retold it asks about facts that an older version told in words which nobody
    had said: quote the turn in their place, keep them, or drop them into the archive.

    Example: filemem review
    """
    user = the_user()
    if retold:
        facts = list(old_facts.found(user))
        none = "Every fact says what a turn says that it cites."
        return _go_through(user, facts, len(facts), _retold_json, functools.partial(_decide_retold, user), none)
    review = Review(user)
    decide = functools.partial(_decide, review)
    first = "all" if accept_all else ""
    return _go_through(
        user, review.proposals(), len(review.claims), _as_json, decide, "Nothing waits for review.", first
    )


def _go_through(
    folder: Folder,
    waiting: Iterable[T],
    count: int,
    facts: Callable[[T], dict[str, Any]],
    decide: Callable[[T, str, str, list[Applied]], str],
    none: str,
    answer: str = "",
) -> int:
    """Have the person decide on each thing that waits until they end it, and commit what was done; 1 where there is none.

    `decide` gets the thing, its place, the answer before, and what was done, to which it adds; it gives the answer.
    """
    if for_script():
        listed = [facts(one) for one in waiting]
        for line in listed:
            say_json(line)
        return 0 if listed else 1
    if not count:
        say(none)
        return 1
    done: list[Applied] = []
    before = History(folder).before(now())
    try:
        for number, one in enumerate(waiting, 1):
            answer = decide(one, f"\n{number} of {count}", answer, done)
            if answer in ("quit", "end"):
                break
    except click.Abort:
        say("\nThe rest waits.")
    finally:
        decisions = [one for each in done for one in each.decisions]
        made = Applied(decisions, [p for each in done for p in each.paths], [])
        say_aside(committed(folder, made, "", before, now(), job="review"))
    return 0


def _decide(review: Review, found: Proposal, place: str, last: str, done: list[Applied]) -> str:
    """Ask about a proposal, unless the person has accepted all, and do what they want with it."""
    answer, text = last, ""
    if last != "all":
        for line in _shown(found, place):
            put(line)
        answer, text = _asked(found)
    if answer == "reject":
        done.append(Applied([], review.reject(found.claim), []))
        say("rejected")
    elif answer in ("accept", "all"):
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


def _decide_retold(folder: Folder, one: DerivedFact, place: str, _: str, done: list[Applied]) -> str:
    """Show a fact beside the turns that it cites, and do what the person wants with it."""
    path = one.memory.path
    say(f"{place}\n  {one_line(one.text, 400)}\n  {path}")
    for source, turn in one.turns:
        put(dim(escape_controls(f"  {source}  {turn.speaker}: {one_line(turn.text, 400)}")))
    answer = choose(ASK_RETOLD)
    if answer == "quote":
        say(f"quoted {old_facts.quote(folder, one)}")
        done.append(Applied([], [path], []))
    elif answer == "keep":
        old_facts.keep(folder, one)
        say(f"kept {path}")
    elif answer == "drop":
        archived = old_facts.drop(folder, one, now())
        say(f"dropped {path}; it lies in {archived}")
        done.append(Applied([], [path, archived], []))
    return answer


def _retold_json(one: DerivedFact) -> dict[str, Any]:
    """A fact that retells for a script."""
    return {"path": one.memory.path, "text": one.text, "turns": [source for source, _ in one.turns]}


def _shown(found: Proposal, place: str) -> Iterator[str]:
    """A proposal beside what it would replace and the turns that it comes from."""
    kind = "told again" if found.verdict.action == UPDATE else "a lesson" if found.claim.kind == "lessons" else "new"
    yield f"{place}, {kind}"
    yield f"  {escape_controls(found.claim.text)}"
    for fact in found.verdict.facts:
        how = "supersedes" if found.verdict.action == SUPERSEDE else "beside"
        yield f"  {how} {escape_controls(fact.path)}: {escape_controls(one_line(fact.text, 200))}"
    if found.verdict.reason:
        yield f"  {escape_controls(found.verdict.reason)}"
    for turn in found.turns:
        said = f"{turn.speaker}: {one_line(turn.text, 400)}" if turn.text else "(the turn is gone)"
        yield dim(f"  {escape_controls(turn.source)}  {escape_controls(said)}")


def _as_json(found: Proposal) -> dict[str, Any]:
    """A proposal for a script."""
    return {
        "action": found.verdict.action.lower(),
        "text": found.claim.text,
        "kind": found.claim.kind,
        "importance": found.claim.importance,
        "confidence": found.claim.confidence,
        "beside": [fact.path for fact in found.verdict.facts],
        "reason": found.verdict.reason,
        "turns": [turn._asdict() for turn in found.turns],
    }
