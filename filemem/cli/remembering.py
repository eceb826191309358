"""Commands that make memories of what was said: remember, consolidate, review."""

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import click

from filemem.cli.common import a_user, now, the_store, the_user, welcome
from filemem.cli.options import (
    all_users_option,
    json_option,
    json_option_that,
    model_option,
    new_user_option,
    shared_options,
)
from filemem.cli.screen import choose, dim, for_script, progress, put, say, say_aside, say_json, tell
from filemem.cli.talk import the_model
from filemem.cli.telling import as_json as decision_json
from filemem.cli.telling import committed, consolidated, lines, remembered, waiting
from filemem.endpoint.traced import traced
from filemem.errors import FilememError
from filemem.files import archive, events
from filemem.files.folder import Folder
from filemem.history import History
from filemem.remembering import consolidation
from filemem.remembering import retold as old_facts
from filemem.remembering.comparison import ADD, DOUBT, DROP, LATE, NOOP, SUPERSEDE, UPDATE
from filemem.remembering.consolidation import Applied, Decision
from filemem.remembering.extraction import listener
from filemem.remembering.retold import DerivedFact
from filemem.remembering.review import Proposal, Review
from filemem.text.plain import escape_controls, one_line
from filemem.text.redaction import kinds

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
@shared_options
def remember_command(text: tuple[str, ...], **how: Any) -> int:
    """Keep one fact.

    TEXT gets a file of its own, dated today. Told twice it stays one fact; told otherwise, it supersedes what was known.
    Secrets in it are taken out, which is said, unless --with-secrets is given.

    Example: filemem remember "Prefers oolong tea."
    """
    user = a_user()
    welcome(user)
    say(*remembered(user, " ".join(text), **how))
    return 0


@click.command("note")
@click.argument("text", nargs=-1, required=True)
@click.option(
    "--event", default="", metavar="KIND", help="What happened rather than what you say: login, like, sensor."
)
@new_user_option
@shared_options
def note_command(text: tuple[str, ...], event: str) -> int:
    """Note what happened, in the file of the day.

    TEXT becomes a turn of the day's events, searched as all that was said. Your own words may become facts when memories are
    made; nothing noted ever steers an assistant. Secrets in it are taken out, which is said.

    Example: filemem note --event sensor "Cellar 11.5 °C"
    """
    user = a_user()
    welcome(user)
    history = History(user)
    before = history.before(now())
    place, found = events.add(user, " ".join(text), now(), event)
    say(f"Noted {place}", *([f"Taken out: {kinds(found)}."] if found else []))
    path = place.rpartition(":")[0]
    say_aside(history.record(f"Note {event or 'in own words'}", [path], {"Job": "note"}, now(), before).note)
    return 0


@click.command("consolidate")
@all_users_option
@click.option("--dry-run", is_flag=True, help="Say what would be remembered, and write nothing.")
@click.option("--review", is_flag=True, help="Only propose; filemem review then asks you about each.")
@model_option
@json_option
@shared_options
def consolidate_command(all_users: bool, model: str | None, **how: bool) -> int:
    """Make memories of what was said.

    Every session is read once; what it tells becomes facts, lessons and lines of the profile, each with its source. With
    --review, or review: true in filemem.yaml, it becomes proposals first. Exit code 2 where it failed for one of the users.

    Example: filemem consolidate --dry-run
    """
    store = the_store()
    users = [store.folder(name) for name in store.users()] if all_users else [the_user()]
    failed = False
    for user in users:
        try:
            _consolidate(user, model, named=all_users, **how)
        except FilememError as error:
            if not all_users:
                raise
            failed = True
            put(f"{user.name}: {error}", err=True)
    return 2 if failed else 0


def _consolidate(folder: Folder, model: str | None, *, dry_run: bool, review: bool, named: bool) -> None:
    listen = listener(
        traced(the_model(folder, model), folder, now, "consolidation"), lambda sentence: put(sentence, err=True)
    )
    whose, before = ({"user": folder.name}, f"{folder.name}: ") if named else ({}, "")
    with (
        contextlib.nullcontext() if dry_run else archive.job_lock(folder),
        progress(f"remembering {folder.name}") as show,
    ):
        if dry_run:
            plans = consolidation.plan(folder, now(), listen, None, show)
            found = [Applied(list(plan.decisions), [], list(plan.notes)) for plan in plans]
        else:
            found = list(consolidated(folder, listen, None, show, review=review))
    decided = [(one, done.staged) for done in found for one in done.decisions]
    for one, staged in decided:
        tell({**whose, **decision_json(one, staged=staged)}, *lines(one, whole=True, staged=staged))
    for note in (note for done in found for note in done.notes):
        tell({**whose, "event": "notice", "text": note}, note)
    made, proposed = [one for one, staged in decided if not staged], sum(staged for _, staged in decided)
    said = [_summary(made)] if made or not proposed else []
    said += [f"{waiting(proposed)}."] if proposed else []
    said += ["Nothing was written."] if dry_run else []
    if not for_script():
        say(before + " ".join(said))


def _summary(made: list[Decision]) -> str:
    """What was decided, in one sentence."""
    counts = [
        (sum(one.action in (ADD, SUPERSEDE, LATE) for one in made), "new"),
        (sum(len(one.replaces) for one in made if one.action == SUPERSEDE), "superseded"),
        (sum(one.action == UPDATE for one in made), "told again"),
        (sum(one.action == DOUBT for one in made), "doubted"),
        (sum(one.action == NOOP for one in made), "known"),
        (sum(one.action == DROP for one in made), "dropped"),
    ]
    told = ", ".join(f"{count:,} {word}" for count, word in counts if count)
    return f"{told[:1].upper()}{told[1:]}." if told else "Nothing new was said."


@click.command("review")
@click.option("--accept-all", is_flag=True, help="Accept every proposal without asking.")
@click.option("--retold", is_flag=True, help="Go through facts whose words stand in no turn that they cite.")
@json_option_that("List the proposals, one JSON object a line, and change nothing.")
@shared_options
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
        committed(folder, Applied(decisions, [p for each in done for p in each.paths], []), "", before, job="review")
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
