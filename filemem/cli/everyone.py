"""A job's command, for one user or for all of the store: how it goes, what it says, and which users failed."""

import contextlib
import os
from collections import Counter
from collections.abc import Mapping
from typing import Any

from filemem.cli.common import now, settled, the_store, the_trust, the_user
from filemem.cli.options import chosen
from filemem.cli.screen import bar, for_script, progress, put, say, tell
from filemem.errors import FilememError
from filemem.files import config
from filemem.jobs.pools import pool
from filemem.jobs.running import Journal, outcomes
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
    stray = [option for option in ("workers", "scheduler", "resume") if chosen(option) and not everybody]
    if stray:
        raise FilememError(f"--{stray[0]} is for many users; give --all-users, too.")
    return everybody


def order(job: str, options: dict[str, Any]) -> Order:
    """The order that every worker gets; the model's name is resolved here, once."""
    store = the_store()
    if "model" in options:
        unsettled = settled(store)
        model = chosen_model(config.load(store.root, trust=store.trust), options["model"])
        options["model"] = model.name if model and "base_url" not in unsettled else ""
    return Order(job, store.root, now(), options, bool(chosen("trust")), os.urandom(4).hex())


def for_all(order: Order, label: str, users: Mapping[str, str]) -> int:
    """Do a job for `users` (name: what is given for that one alone), print news and sums; return the exit code.

    It is 1 also where the users of a shard were left out, as that is not mounted.
    """
    failed, counts = for_each(order, label, users)
    if order.options.get("dry_run") and order.options.get("model"):
        _tell_cost(order, counts)
    if not for_script():
        say(f"{len(users) - failed:,} of {len(users):,} users done.")
    return 1 if failed or the_store().shards.absent() else 0


def for_each(order: Order, label: str, users: Mapping[str, str], *, brief: bool = True) -> tuple[int, Counter[str]]:
    """Do a job for many users; for how many it failed, and what was counted over all. What is done is kept, for --resume.

    `brief`: of each user only what is news, in the first lines.
    """
    journal = Journal(order) if users and chosen("all_users") and not order.options.get("dry_run") else None
    before = journal.done() if journal and chosen("resume") else set()
    left = {name: given for name, given in users.items() if name not in before}
    counts, failed = Counter[str](), 0
    with contextlib.closing(pool(chosen("workers") or 1, chosen("scheduler") or "", order, the_trust())) as workers:
        if journal:
            journal.begin(anew=not before)
        with bar(label, len(left)) as show:
            for found in outcomes(order, left, workers):
                show(0)
                if journal:
                    journal.add(one.user for one in found if not one.error)
                for one in found:
                    failed += bool(one.error)
                    counts.update(one.counts)
                    _report(one, brief=brief)
                show(len(found))
    if journal:
        journal.end(whole=not failed)
    return failed, counts


def _report(outcome: Outcome, *, brief: bool) -> None:
    """What became of one user."""
    name = outcome.user
    if outcome.error:
        failed = f"filemem: {name}: {outcome.error}"
        tell({"user": name, "error": outcome.error}, failed, how=lambda line: put(escape_controls(line), err=True))
        return
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


def _tell_cost(order: Order, counts: Counter[str]) -> None:
    """What a model would be asked for all users, in tokens, and in money where the settings have its price."""
    model = order.options["model"]
    prices = config.load(order.store, trust=the_trust()).costs.get(model, (0.0, 0.0))
    money = (prices[0] * counts["tokens_in"] + prices[1] * counts["tokens_out"]) / 1e6
    said = f"{model} would be asked {counts['requests']:,} times: some {counts['tokens_in']:,} tokens in, "
    said += f"{counts['tokens_out']:,} out" + (f", {money:,.2f} in money" if money else "")
    asked = {key: counts[key] for key in ("requests", "tokens_in", "tokens_out")}
    facts = {"event": "cost", "model": model, **asked, "money": money}
    tell(facts, f"{said}. What is planned above is by the offline rules.")
