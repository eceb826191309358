"""A job's command, for one user or for all of the store: how it goes, what it says, and which users failed."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from filemem.cli.common import now, settled, the_store, the_trust, the_user
from filemem.cli.options import chosen
from filemem.cli.screen import bar, for_script, progress, put, say, tell
from filemem.errors import FilememError
from filemem.files import config
from filemem.jobs.many import outcomes
from filemem.jobs.table import JOBS, Order, Outcome, Work
from filemem.jobs.telling import Told
from filemem.models.offline import chosen_model
from filemem.text.plain import escape_controls

SHOWN = 12  # lines on one of many users


def run_job(job: str, label: str, **options: Any) -> int:
    """Do a job for the user of this call, or with --all-users for each; exit code 1 where it failed for one of these."""
    wanted = order(job, options)
    if many():
        return for_all(wanted, label, dict.fromkeys(the_store().users(), ""))
    user = the_user()
    with progress(f"{label} {user.name}") as show:
        told = JOBS[job](Work(wanted, the_store(), user, Counter(), show=show))
    for one in told:
        _tell(user.name, one)
    return 0


def many() -> bool:
    """Is this command for all users? Raises FilememError where its options contradict each other."""
    everybody = bool(chosen("all_users"))
    if everybody and chosen("user"):
        raise FilememError("--user and --all-users exclude each other; give one of them.")
    if chosen("scheduler") and not everybody:
        raise FilememError("--scheduler is for many users; give --all-users, too.")
    return everybody


def order(job: str, options: dict[str, Any]) -> Order:
    """The order that every worker gets; the model's name is resolved here, once."""
    store = the_store()
    if "model" in options:
        unsettled = settled(store)
        model = chosen_model(config.load(store.root, trust=store.trust), options["model"])
        options["model"] = model.name if model and "base_url" not in unsettled else ""
    return Order(job, store.root, now(), options, bool(chosen("trust")))


def for_all(order: Order, label: str, users: Mapping[str, str]) -> int:
    """Do a job for `users` (name: what is given for that one alone), print news, sums and failures; return the exit code."""
    failed, _ = for_each(order, label, users)
    if not for_script():
        say(f"{len(users) - failed:,} of {len(users):,} users done.")
    return 1 if failed else 0


def for_each(order: Order, label: str, users: Mapping[str, str], *, brief: bool = True) -> tuple[int, Counter[str]]:
    """Do a job for many users, and name in the end those for whom it failed: how many, and what was counted over all.

    `brief`: of each user only what is news, in the first lines.
    """
    counts, failed = Counter[str](), list[Outcome]()
    with bar(label, len(users)) as show:
        for one in outcomes(order, users, the_trust(), chosen("scheduler") or ""):
            show(0)
            counts.update(one.counts)
            if one.error:
                failed.append(one)
            _report(one, brief=brief)
            show(1)
    for one in failed:
        line = escape_controls(f"filemem: {one.user}: {one.error}")
        tell({"user": one.user, "error": one.error}, line, how=lambda line: put(line, err=True))
    return len(failed), counts


def _report(outcome: Outcome, *, brief: bool) -> None:
    """What was done for one user."""
    name = outcome.user
    lines = [line for one in outcome.told if one.news for line in one.lines] if brief else []
    more = [f"and {len(lines) - SHOWN:,} more."] if len(lines) > SHOWN else []
    if not for_script():
        say(*(f"{name}: {line}" for line in [*lines[:SHOWN], *more]))
    for one in outcome.told:
        if for_script():
            _tell(name, one)
        elif not brief:
            say(*one.lines)


def _tell(name: str, one: Told) -> None:
    """What a job has to say of one user, in full."""
    if one.facts or not for_script():
        tell({"user": name, **one.facts}, *one.lines)
