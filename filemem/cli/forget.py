"""The command that deletes for good."""

import os
import sys
from typing import Any

import click

from filemem import jobs
from filemem.cli.context import Context, dry_run_option, json_option, prints, split_line
from filemem.cli.output import Output, Row, confirmed, progress, say_dim
from filemem.errors import FilememError, NotFound
from filemem.forget import execute, purge
from filemem.forget.matching import OTHER_FORM, occurrences
from filemem.forget.plan import DeletionPlan, Removal, plan_deletion, plan_for
from filemem.git.history import History
from filemem.store.folder import JOB_WAIT_SECONDS, Folder, JobDone
from filemem.store.paths import live
from filemem.store.pending import pending_places, settle_pending
from filemem.text.plain import counted, one_line

NAME_ONE = (
    "name one thing to forget: a PATH, some WORDS, or everything of a user with"
    " --whole-user NAME."
)


@click.command("forget")
@click.argument("what", type=click.Path(), required=False)
@click.option(
    "--about",
    metavar="WORDS",
    help="All that contains all these words, even if they look like a path.",
)
@click.option(
    "--pending",
    is_flag=True,
    help="What chats of earlier versions were asked to forget, and have hidden.",
)
@click.option(
    "--others",
    is_flag=True,
    help="Also what says the same elsewhere or in another form.",
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
    "--wait",
    type=click.FloatRange(0),
    metavar="SECONDS",
    default=JOB_WAIT_SECONDS,
    help="Wait so long for another job.",
)
@click.option(
    "--purge-history",
    is_flag=True,
    help="Also have git filter-repo rewrite the repository without it.",
)
@json_option
@prints
def forget_command(call: Context, what: str | None, **how: Any) -> Output:
    """Delete something for good, with what derives from it.

    That is a memory, a PATH:LINE, or everything that contains some words. The turns that
    it came from go too (their lines stay and say [forgotten]), with facts, lines of
    summaries and of the profile that rest on it. Words match whole words, an address or
    a number to its end; in Chinese, anywhere. It shows a list and asks first, also about
    the same thing in other forms. Exit code 1 if nothing was found or deleted, or if
    something still says it or cannot be searched. Without anything named it finishes what
    an earlier version of the program was cut off in.

    Example: filemem forget Bergen --dry-run"""
    about = how["about"]
    if not _given(what, how) and not call.json:
        return (yield from _finish(call))
    _check(call, what, how)
    if how["whole_user"]:
        return (yield from _forget_user(call, how))
    user = call.the_user(must_exist=not how["purge_history"])
    if not how["dry"]:
        yield from jobs.finish_forgetting(user, call.now)
    if how["purge_history"]:
        purge.require(History(user))
    if how["pending"]:
        return (yield from _forget_pending(call, user, how))
    plan = _plan(user, what or "", about or "", how)
    if not plan:
        return (yield from _forget_in_git(call, user, what or "", plan, how))
    yield from _listed(plan)
    if how["dry"]:
        return 0
    if plan.others and not how["yes"]:
        count = counted(len(plan.others), "other place")
        if confirmed(f"Take along {count}, too?"):
            plan = _plan(user, what or "", about or "", {**how, "others": True})
            yield from _listed(plan)
    if how["purge_history"] and not how["yes"]:
        yield _REWRITES
    return (yield from _carry_out(call, user, plan, how))


def _given(what: str | None, how: dict[str, Any]) -> list[str]:
    """Return all that was named to be forgotten, of which there may be one."""
    named = [what, how["about"], how["whole_user"]]
    if how["pending"]:
        named.append("--pending")
    return [one for one in named if one is not None]


def _check(call: Context, what: str | None, how: dict[str, Any]) -> None:
    """Raise FilememError where not one thing is named, or nobody can be asked."""
    given = _given(what, how)
    # An empty word is what a script's unset variable leaves.
    if len(given) != 1 or not given[0].strip():
        raise FilememError(NAME_ONE)
    if not (how["yes"] or how["dry"] or (sys.stdin.isatty() and not call.json)):
        raise FilememError(
            "forget asks before it deletes, and here is no terminal;"
            " add --yes, or --dry-run to look."
        )


_REWRITES = (
    "Commits get new names; the reflog is emptied, and unreferenced objects are pruned."
)


def _forget_pending(call: Context, user: Folder, how: dict[str, Any]) -> Output:
    """Delete what is hidden only; on a yes it is no more in the log of what waits."""
    pending = [place for held in pending_places(user).values() for place in held]
    places = []
    for place in dict.fromkeys(pending):
        if user.find(split_line(user, place)[0]) is not None:
            places.append(place)
    if not places:
        yield "Nothing waits for its deletion."
        return 1
    plan = plan_deletion(user, places=places, others=how["others"])
    yield from _listed(plan)
    if how["dry"]:
        return 0
    code = yield from _carry_out(call, user, plan, how)
    if code == 0:
        settle_pending(user, pending)
    return code


def _finish(call: Context) -> Output:
    """Finish what an earlier version had begun, and do no more."""
    told = jobs.finish_forgetting(call.the_user(), call.now)
    if not told:
        raise FilememError(NAME_ONE)
    yield from told
    return 0


def _plan(user: Folder, what: str, about: str, how: dict[str, Any]) -> DeletionPlan:
    """Return what would go; an empty plan for a path that only git may have."""
    name, line = split_line(user, what) if what else ("", None)
    place = name if line is None else f"{name}:{line}"
    try:
        with progress("looking") as show:
            return plan_for(
                user, place, about=about, others=how["others"], progress=show
            )
    except NotFound:
        if not how["purge_history"] or line is not None:
            raise
        return DeletionPlan()


def _listed(plan: DeletionPlan) -> Output:
    """Yield what would go, for a person and for a script."""
    for item in plan.items:
        facts = {"path": item.path, "line": item.line, "text": item.text}
        yield Row({"event": "plan", **facts}, [])
    for occurrence in plan.others:
        facts = {
            "path": occurrence.path,
            "line": occurrence.line,
            "text": occurrence.text,
        }
        yield Row({"event": "other", **facts, "why": occurrence.why}, [])
    yield from plan.told()
    return 0


def _forget_in_git(
    call: Context, user: Folder, what: str, plan: DeletionPlan, how: dict[str, Any]
) -> Output:
    """Forget what only git still has, if it is asked to purge that; else say that there
    is nothing, and what is like it."""
    if how["purge_history"]:
        if not plan.matcher:
            plan = DeletionPlan([Removal(live(split_line(user, what)[0]))])
        past = purge.remembers(History(user), plan)
        if past:
            yield from past
            if how["dry"]:
                return 0
            return (yield from _carry_out(call, user, plan, how))
    yield "Nothing was found."
    if plan.matcher:
        yield from plan.told()
    return 1


def _forget_user(call: Context, how: dict[str, Any]) -> Output:
    """Forget everything of one user."""
    name = how["whole_user"]
    if call.talking or (call.user and call.user != name):
        raise FilememError(
            f"--whole-user {one_line(name)} deletes that user; leave --user out,"
            " and give it at the shell."
        )
    call.user = name
    purges = how["purge_history"]
    user = call.the_user(must_exist=not purges)
    own_git = os.path.lexists(os.path.join(user.root, ".git"))
    if purges and not own_git:
        purge.require(History(user))
    plan = execute.plan_whole_user(user)
    if not user.exists():
        past = purge.remembers(History(user), plan)
        if not past:
            yield "Nothing was found."
            return 1
        yield from past
    else:
        git = ""
        if own_git:
            git = ", and its git repository" if purges else "; its git repository stays"
        count = counted(len(plan.items), "memory", "memories")
        yield (
            f"{count} of {user.name} in {user.root}, with archive, recalls, traces,"
            f" index and keys of serve{git}."
        )
    if how["dry"]:
        return 0
    return (yield from _carry_out(call, user, plan, how))


def _carry_out(
    call: Context, user: Folder, plan: DeletionPlan, how: dict[str, Any]
) -> Output:
    """Ask, delete, and report what was reached and what was not."""
    if not how["yes"] and not confirmed("Delete all this for good?"):
        yield "Nothing was deleted."
        return 1
    purges = how["purge_history"]
    if purges:
        say_dim("Rewriting the history …")
    done = jobs.forget(user, plan, call.now, wait=how["wait"], purges=purges)
    said = [*done.said, *done.facts["rewritten"]]
    held = list[str]()
    if purges and user.exists():
        held = purge.search(History(user), plan)
        said += [f"Git still says it: {line}" for line in held]
        if not held and plan.matcher:
            said.append(
                "Nothing of this user's in git says it any more:"
                " every object and every file was read."
            )
    elif not purges:
        past = purge.remembers(History(user), plan)
        said += past
        if past:
            said.append(
                "The same command with --purge-history rewrites this repository's"
                " own history."
            )
    said += _elsewhere(user, plan)
    said.append("Backups, where there are any, have it too.")
    facts = {
        "deleted": done.facts["deleted"],
        "stayed": done.facts["stayed"],
        "left": done.facts["left"],
    }
    yield Row({"event": "done", **facts, "said": said}, said)
    say_dim(*done.facts["notes"])
    return int(_is_left(done) or bool(held))


def _is_left(done: JobDone) -> bool:
    """Return whether something still says it, or nobody knows."""
    return bool(done.facts["stayed"] or done.facts["left"])


def _elsewhere(user: Folder, plan: DeletionPlan) -> list[str]:
    """Return a sentence on where other users have the words, which are not shown."""
    found = occurrences(user.store, plan.matcher, (user.name, ".git"))
    exact = [one for one in found if one.why != OTHER_FORM]
    if not exact:
        return []
    places = ", ".join(one_line(one.place) for one in exact)
    return [f"Outside this user's folder, and untouched, the words are in: {places}."]
