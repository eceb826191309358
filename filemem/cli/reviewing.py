"""The command that asks about proposals: review."""

from collections.abc import Iterator
from typing import Any

import click

from filemem.cli.common import now, the_user
from filemem.cli.options import shared_options
from filemem.cli.screen import ask, dim, put, say, say_json
from filemem.cli.telling import committed, lines
from filemem.files.folder import Folder
from filemem.history import History
from filemem.remembering import retold
from filemem.remembering.comparison import SUPERSEDE, UPDATE
from filemem.remembering.consolidation import Applied
from filemem.remembering.retold import Retold
from filemem.remembering.review import Proposal, Review
from filemem.text.plain import escape_controls, one_line

ASK_RETOLD = "[q]uote the turn, [k]eep, [d]rop, [s]kip, [e]nd"
ASK = "[a]ccept, [e]dit, [r]eject, [s]kip, accept a[l]l, [q]uit"
_ANSWERS = {"a": "accept", "e": "edit", "r": "reject", "s": "skip", "l": "all", "q": "quit"}


@click.command("review")
@click.option("--accept-all", is_flag=True, help="Accept every proposal without asking.")
@click.option(
    "--retold", "about_retold", is_flag=True, help="Go through facts whose words stand in no turn that they cite."
)
@click.option("--json", "as_json", is_flag=True, help="List the proposals, one JSON object a line, and change nothing.")
@shared_options
def review_command(accept_all: bool, about_retold: bool, as_json: bool) -> int:
    """Decide what is remembered, proposal by proposal.

    Proposals come from `filemem consolidate --review`, or from every chat with `review: true` in filemem.yaml. Each is shown
    with the turn that it comes from; what is skipped is asked again next time. Answers are read by line, so they can be
    piped. Exit code 1 where nothing waits. With --retold it asks about facts that an older version told in words which nobody
    had said: quote the turn in their place, keep them, or drop them into the archive.

    Example: filemem review
    """
    user = the_user()
    if about_retold:
        return _walk_retold(user, as_json=as_json)
    review = Review(user)
    done: list[Applied] = []
    if as_json:
        found = list(review.proposals())
        for one in found:
            say_json(_as_json(one))
        return 0 if found else 1
    if not review.claims:
        say("Nothing waits for review.")
        return 1
    before = History(user).before(now())
    try:
        _walk(review, done, sure=accept_all)
    except click.Abort:
        say("\nThe rest waits.")
    finally:
        together = Applied(
            [one for each in done for one in each.decisions], [p for each in done for p in each.paths], []
        )
        committed(user, together, "", before, job="review")
    return 0


def _walk(review: Review, done: list[Applied], *, sure: bool) -> None:
    """Ask about each proposal, all the rest accepted from where the person is `sure` of them."""
    total = len(review.claims)
    for number, found in enumerate(review.proposals(), 1):
        text, answer = "", "accept"
        if not sure:
            for line in _shown(found, f"{number} of {total}"):
                put(line)
            answer, text = _asked(found)
        if answer == "quit":
            break
        sure = sure or answer == "all"
        if answer == "reject":
            review.reject(found.claim)
            say("rejected")
        elif answer != "skip":
            done.append(review.accept(found.claim, now(), text))
            _tell(done[-1])


def _walk_retold(user: Folder, *, as_json: bool) -> int:
    """Ask about each fact that retells; 1 where there is none."""
    waiting = list(retold.found(user))
    if as_json:
        for one in waiting:
            say_json({"path": one.memory.path, "text": one.text, "turns": [source for source, _ in one.turns]})
        return 0 if waiting else 1
    if not waiting:
        say("Every fact says what a turn says that it cites.")
        return 1
    changed: list[str] = []
    before = History(user).before(now())
    try:
        for number, one in enumerate(waiting, 1):
            answer = _asked_retold(one, f"{number} of {len(waiting)}")
            if answer == "end":
                break
            changed += _decide_retold(user, one, answer)
    except click.Abort:
        say("\nThe rest waits.")
    finally:
        committed(user, Applied([], changed, []), "", before, job="review")
    return 0


def _asked_retold(one: Retold, place: str) -> str:
    """What the person wants done with a fact, which is shown beside the turns that it cites."""
    say(f"\n{place}\n  {one_line(one.text, 400)}\n  {one.memory.path}")
    for source, turn in one.turns:
        put(
            dim(
                f"  {escape_controls(source)}  {escape_controls(turn.speaker)}: {escape_controls(one_line(turn.text, 400))}"
            )
        )
    words = {word[0]: word for word in ("quote", "keep", "drop", "skip", "end")}
    while True:
        given = str(ask(ASK_RETOLD, prompt_suffix=": ", default="", show_default=False)).strip().lower()
        answer = words.get(given, given)
        if answer in words.values():
            return answer


def _decide_retold(user: Folder, one: Retold, answer: str) -> list[str]:
    """Do what the person wants with a fact; returns the paths that changed."""
    path = one.memory.path
    if answer == "quote":
        say(f"quoted {retold.quote(user, one)}")
    elif answer == "keep":
        retold.keep(user, one)
        say(f"kept {path}")
        return []
    elif answer == "drop":
        place = retold.drop(user, one, now())
        say(f"dropped {path}; it lies in {place}")
        return [path, place]
    return [path] if answer == "quote" else []


def _tell(done: Applied) -> None:
    for one in done.decisions:
        for line in lines(one, whole=True):
            say(line)
    for note in done.notes:
        say(note)


def _asked(found: Proposal) -> tuple[str, str]:
    """The person's answer, one of _ANSWERS, and their own words where they changed the text."""
    while True:
        given = ask(ASK, prompt_suffix=": ", default="", show_default=False).strip().lower()
        answer = _ANSWERS.get(given, given)
        if answer == "edit":
            written = " ".join((click.edit(found.claim.text + "\n", extension=".md") or "").split())
            if written and written != found.claim.text:
                return "accept", written
            say("The text is as it was.")
        elif answer in _ANSWERS.values():
            return answer, ""


def _shown(found: Proposal, place: str) -> Iterator[str]:
    """A proposal beside what it would replace and the turns that it comes from."""
    kind = "told again" if found.verdict.action == UPDATE else "a lesson" if found.claim.kind == "lessons" else "new"
    yield f"\n{place}, {kind}"
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
