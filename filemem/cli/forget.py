"""The command that deletes for good."""

import os
from typing import Any

import click

from filemem import jobs
from filemem.chat.phrases import (
    ASKS_TO_DELETE,
    NONE_DELETED,
    NONE_FOUND,
    said_to,
)
from filemem.cli.context import Context, dry_run_option, prints, split_line
from filemem.cli.output import (
    Output,
    Progress,
    at_terminal,
    confirmed,
    say_dim,
)
from filemem.errors import FilememError, NotFound
from filemem.forget import purge
from filemem.forget.delete import plan_whole_user
from filemem.forget.matching import occurrences
from filemem.forget.plan import DeletionPlan, Removal, plan_deletion
from filemem.git.history import History
from filemem.git.repository import find_dot_git
from filemem.store.folder import Folder
from filemem.store.paths import live
from filemem.text.plain import counted, one_line

NAME_ONE = (
    "name one thing to forget: a PATH, some WORDS, or everything of a user with"
    " --whole-user NAME."
)
REWRITES = (
    "Commits get new names; the reflog is emptied, and unreferenced objects are pruned."
)


@click.command("forget")
@click.argument("what", type=click.Path(), required=False)
@click.option(
    "--about",
    metavar="WORDS",
    help="All that contains all these words, even if they look like a path.",
)
@click.option(
    "--whole-user",
    metavar="NAME",
    help="Everything of this user, keys of serve too.",
)
@click.option(
    "--yes",
    is_flag=True,
    help="Delete without asking, and list what else says it.",
)
@dry_run_option
@click.option(
    "--purge-history",
    "purges",
    is_flag=True,
    help="Also have git filter-repo rewrite the repository without it.",
)
@prints
def forget_command(call: Context, what: str | None, **how: Any) -> Output:
    """Delete something for good, with what derives from it.

    That is a memory, a PATH:LINE, or everything that contains some words. The turns
    that it came from go too (their lines stay and say [forgotten]), with facts, lines
    of summaries and of the profile that rest on it. Words match whole words, an address
    or a number to its end, also in another form; in Chinese, anywhere. It shows a list
    and asks first. Exit code 1 if nothing was found or deleted, or if something still
    says it or cannot be searched.

    Example: filemem forget Bergen --dry-run"""
    _check(call, what, how)
    call.user = how["whole_user"] or call.user
    user = call.the_user(must_exist=not how["purges"])
    if how["purges"] and not (how["whole_user"] and _has_own_git(user)):
        purge.require(History(user))
    plan = _plan(user, what or "", how)
    yield from _listed(user, plan, how)
    if not plan and not (plan.whole_user and user.exists()):
        if what and not plan.matcher:  # a path, which only git may have
            plan = DeletionPlan([Removal(live(split_line(user, what).path))])
        past = purge.remembers(History(user), plan) if how["purges"] else []
        yield from past or [said_to(call.heard, NONE_FOUND)]
        if not past:
            return 1
    if how["dry"]:
        return 0
    if how["purges"] and not how["yes"]:
        yield REWRITES
    if not how["yes"] and not confirmed(said_to(call.heard, ASKS_TO_DELETE)):
        yield said_to(call.heard, NONE_DELETED)
        return 1
    return (yield from _carry_out(call, user, plan, how))


def _check(call: Context, what: str | None, how: dict[str, Any]) -> None:
    """Look at what was given before anything else is done.

    Raises:
        FilememError: not one thing is named, or nobody can be asked.
    """
    named = [what, how["about"], how["whole_user"]]
    given = [one for one in named if one is not None]
    # An empty word is what a script's unset variable leaves.
    if len(given) != 1 or not given[0].strip():
        raise FilememError(NAME_ONE)
    user = how["whole_user"]
    if user and call.user not in ("", user):
        raise FilememError(
            f"--whole-user {one_line(user)} deletes that user; leave --user out."
        )
    if not (how["yes"] or how["dry"] or at_terminal()):
        raise FilememError(
            "forget asks before it deletes, and here is no terminal;"
            " add --yes, or --dry-run to look."
        )


def _has_own_git(user: Folder) -> bool:
    """Tell whether a user's folder is a repository of its own."""
    return os.path.lexists(os.path.join(user.root, ".git"))


def _plan(user: Folder, what: str, how: dict[str, Any]) -> DeletionPlan:
    """Return what would go; of a path that only git may have, that alone."""
    if how["whole_user"]:
        return plan_whole_user(user)
    name, line = split_line(user, what)
    place = f"{name}:{line}" if line else name
    try:
        with Progress("looking") as show:
            about = how["about"] or ""
            return plan_deletion(user, place, about=about, progress=show)
    except NotFound:
        if line or not how["purges"]:
            raise
        return DeletionPlan()


def _listed(user: Folder, plan: DeletionPlan, how: dict[str, Any]) -> Output:
    """Yield what would go, for a person and for a script."""
    if plan.whole_user and user.exists():
        git = "; its git repository stays" if _has_own_git(user) else ""
        if git and how["purges"]:
            git = ", and its git repository"
        count = counted(len(plan.items), "memory", "memories")
        yield (
            f"{count} of {user.name} in {user.root}, with archive, recalls, traces,"
            f" index and keys of serve{git}."
        )
        if how["purges"] and History(user).deletions():
            yield "Git has who was called so before and was deleted; that goes, too."
        return
    yield from plan.told()


def _carry_out(
    call: Context, user: Folder, plan: DeletionPlan, how: dict[str, Any]
) -> Output:
    """Delete, and report what was reached and what was not.

    Returns:
        The exit code: 1 where something still says it, or may.
    """
    history = History(user, tuple(user.names()), whole=plan.whole_user)
    if how["purges"]:
        say_dim("Rewriting the history …")
        if not _has_own_git(user):
            history = history.before_purge()
    done = jobs.forget(user, plan, call.now, purges=how["purges"])
    said = [*done.said, *done.facts["rewritten"]]
    held = list[str]()
    if not how["purges"]:
        said += purge.remembers(history, plan)
    elif find_dot_git(user.root):
        held = [*purge.search(history, plan), *purge.told_of_places(history)]
        said += [f"Git still says it: {line}" for line in held]
        if not held and plan.matcher:
            said.append(
                "Nothing of this user's in git says it any more:"
                " every object and every file was read."
            )
    said += _elsewhere(user, plan)
    said.append("Backups, where there are any, have it too.")
    yield from said
    say_dim(*done.facts["notes"])
    return int(bool(held or done.facts["stayed"] or done.facts["left"]))


def _elsewhere(user: Folder, plan: DeletionPlan) -> list[str]:
    """Return a sentence on where other users have the words, which are not shown."""
    found = occurrences(user.store, plan.matcher, (user.own_folder, ".git"))
    if not found:
        return []
    places = ", ".join(one_line(one.place) for one in found)
    return [f"Outside this user's folder, and untouched, the words are in: {places}."]
