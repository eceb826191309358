"""Commands for what a person decides about facts: remember, review, edit."""

import datetime as dt
import os
from typing import Any

import click

from filemem import jobs
from filemem.chat.phrases import said_to
from filemem.cli.context import (
    Context,
    NamedLine,
    new_option,
    prints,
    split_line,
    with_secrets_option,
)
from filemem.cli.output import Output, choose, dim, say, say_dim
from filemem.errors import NotFound
from filemem.learn import proposals, remember
from filemem.learn.outcome import Applied
from filemem.learn.proposals import Proposal
from filemem.overview.checks import faults
from filemem.store.facts import page
from filemem.store.folder import Folder, is_memory_name
from filemem.store.memory import parse
from filemem.store.paths import PROFILE, Kind, kind_of
from filemem.store.usage import note_use
from filemem.text.answers import KEPT
from filemem.text.plain import one_line


@click.command("remember")
@click.argument("text", nargs=-1, required=True)
@click.option(
    "--importance", type=click.IntRange(1, 10), help="From 1 to 10; 8 by default."
)
@click.option("--pinned", is_flag=True, help="Never fades.")
@click.option(
    "--tag", "tags", multiple=True, metavar="TAG", help="May be given several times."
)
@click.option("--on", metavar="DATE", help="The day of the event or plan it tells of.")
@with_secrets_option
@new_option
@prints
def remember_command(
    call: Context, text: tuple[str, ...], on: str | None, with_secrets: bool, **how: Any
) -> Output:
    """Keep one fact.

    TEXT gets its own file, dated today; a fact told twice is kept once. A fact that it
    contradicts stays until you edit or forget it. Secrets are taken out, and you are
    told so, unless you give --with-secrets.

    Example: filemem remember 'Prefers oolong tea.'"""
    asked = remember.Asked(" ".join(text), on=on or "", **how)
    user = call.writer()
    done = jobs.remembered(user, [asked], call.now, with_secrets=with_secrets)
    said, *notes = remember.told(done)
    kept = KEPT[1].format(one_line(asked.text), done.decisions[0].path)
    yield said_to(call.heard, (said, kept))
    yield from notes


@click.command("review")
@click.option(
    "--accept-all",
    is_flag=True,
    help="Accept, without asking, all whose form is right.",
)
@prints
def review_command(call: Context, accept_all: bool) -> Output:
    """Decide what is remembered, one proposal at a time.

    Each is a file in `proposed/`, which you may also edit, move to the same place among
    your memories, or delete. Proposals come from `filemem maintain` with
    `review: true`, or from `filemem consolidate --review`. What a model noted in a form
    that cannot be kept waits here too, with the reason, and what you told it to forget:
    accepted, that is deleted. What you skip is asked again next time. Exit code 1 if
    nothing waits.

    Example: filemem review"""
    user = call.the_user()
    waiting = proposals.waiting(user)
    if not waiting:
        yield "Nothing waits for review."
        return 1
    done = Applied()
    with jobs.JobRun(user, "review", call.now, exclusive=False) as run:
        note_use(user, call.now.date())
        try:
            for number, found in enumerate(waiting, 1):
                answer = "s" if found.fault or found.forgets else "a"
                if not accept_all:
                    yield f"\n{number} of {len(waiting)}, {found.path}"
                    yield from _shown(user, found)
                    answer = _answer(user, found)
                carried_out = _carry_out(call, user, found, answer)
                done = done.plus(carried_out)
                yield from carried_out.lines()
                if answer == "r":
                    yield "rejected"
        except click.Abort:
            yield "\nThe rest waits."
        finally:
            say_dim(*run.commit(done.subject, done.paths))
    return 0


def _shown(user: Folder, found: Proposal) -> Output:
    """Show a proposal beside what it would change and the turns that it comes from.

    Args:
        user: whose it is.
        found: the proposal.
    """
    yield f"  {found.text}"
    for path in found.supersedes:
        old = user.find(path)
        text = f": {one_line(old.body, 200)}" if old else ""
        yield f"  supersedes {path}{text}"
    for place in found.forgets:
        yield f"  deletes {place}"
    if found.fault:
        yield f"  refused: {found.fault}"
    for source in found.memory.sources:
        words = one_line(proposals.quoted_turn(user, source), 400)
        yield dim(f"  {source}  {words or '(the turn is gone)'}")


def _answer(user: Folder, found: Proposal) -> str:
    """Return what a person answers to a proposal, once they have edited its file.

    That is one of a, e, r and s; e is asked again if they changed nothing.
    """
    while True:
        answer = choose("[a]ccept, [e]dit, [r]eject, [s]kip")
        if answer != "e":
            return answer
        click.edit(filename=user.absolute(found.path))
        if proposals.read(user, found.path).text not in ("", found.text):
            return answer
        say("The text is unchanged.")


def _carry_out(call: Context, user: Folder, found: Proposal, answer: str) -> Applied:
    """Do what was answered to a proposal.

    Args:
        call: the command.
        user: whose proposal it is.
        found: the proposal; where its text was edited, as the file has it.
        answer: one of a, e, r and s, where e was edited and s does nothing.

    Returns:
        What was done, for the commit.
    """
    if answer == "r":
        return remember.reject(user, found)
    if answer in ("a", "e"):
        return jobs.accept(user, found, call.now)
    return Applied()


# Editors that take +12 before a file
_TAKE_LINES = frozenset(
    "vi vim nvim gvim nano pico emacs emacsclient micro kak joe ne gedit ed".split()
)


def _found_by_words(user: Folder, words: str, today: dt.date) -> str:
    """Find the fact or note that some words mean, or else what was said of it.

    Args:
        user: whose memories.
        words: as the person typed them.
        today: from which days count.

    Returns:
        Its path, or the place of a turn; '' if nothing holds any of the words.
    """
    from filemem import index  # noqa: PLC0415  which a path does without
    from filemem.search.searching import search_files  # noqa: PLC0415

    found = search_files(index.of(user), words, today=today)
    for hit in found.hits:
        if kind_of(hit.path) not in (Kind.SESSIONS, Kind.SUMMARIES):
            return hit.path
    return next((hit.place for hit in found.hits), "")


def _place(call: Context, user: Folder, named: str) -> NamedLine:
    """Return what `edit` is to open: a path, with a line or without, or what some words
    find. A profile that is not there yet is made.

    Raises:
        NotFound: there is no memory of that path, and it is no words that find one.
    """
    place = split_line(user, named)
    if place.path == PROFILE and not os.path.lexists(user.absolute(PROFILE)):
        user.create(PROFILE, page(Kind.PROFILE))
    try:
        return NamedLine(user.locate(place.path), place.line)
    except NotFound:
        if is_memory_name(place.path):
            raise
        found = _found_by_words(user, place.path, call.now.date())
        if not found:
            raise
        say_dim(found)
        return split_line(user, found)


@click.command("edit")
@click.argument("path", nargs=-1, required=True, type=click.Path())
@prints
def edit_command(call: Context, path: tuple[str, ...]) -> Output:
    """Open a memory in your editor.

    PATH may also be words, for the fact or note that a search finds by them, else for
    what was said. The editor is $VISUAL or $EDITOR; PATH:LINE opens it at that line if
    it understands +LINE. What you save is checked and, as by remember, committed. Exit
    code 1 if there is a problem.

    Example: filemem edit profile.md"""
    user = call.the_user()
    with jobs.JobRun(user, "edit", call.now, exclusive=False) as run:
        is_new = not os.path.lexists(user.absolute(PROFILE))
        where, line = _place(call, user, " ".join(path))
        user.read(where, 1)  # refuses a device, say, on which an editor could hang
        before = user.read(where)
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
        if line and os.path.basename(editor.split(" ")[0]) in _TAKE_LINES:
            editor += f" +{line}"
        click.edit(filename=user.absolute(where), editor=editor)
        note_use(user, call.now.date())
        after = user.read(where)
        if after != before or (is_new and where == PROFILE):
            say_dim(*run.commit(f"Edit {where}", [where]))
    problems = faults(user, parse(where, after))
    yield from map(str, problems)
    return int(bool(problems))
