"""The jobs that may run at any time: compact, sweep, restore, and `maintain`: all that keeps a memory in order.

One job at a time works on a user's memories. It ends with what it did in words, in numbers, and as the paths that it wrote
or moved, which go into git where there is a repository. A conversation going on meanwhile is not disturbed: jobs hold the
user's lock for moments only.
"""

import datetime as dt
import functools
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from filemem import archive, compaction, consolidation, recalls, sweeper
from filemem.archive import Progress, live, unwatched
from filemem.compaction import Compaction
from filemem.consolidation import Decision, remembering
from filemem.consolidation.comparison import ADD, LATE, SUPERSEDE, UPDATE
from filemem.consolidation.extraction import listener
from filemem.history import History
from filemem.model import Model
from filemem.plain import few
from filemem.store import User

NAMED = 100  # details that a summary lacks, in words
PROPOSE = "PROPOSE"  # of a fact that waits for review
SAID = dict.fromkeys((ADD, SUPERSEDE, LATE), "Remembered") | {UPDATE: "Updated", PROPOSE: "Proposed"}


Expect = Callable[..., None]  # History.expect, with what a job that may be cut off has written or is about to move


class Done(NamedTuple):
    """What a job did; `facts` are for a script, `paths` for git, `subject` is what a person would write of it."""

    job: str
    said: list[str]
    facts: dict[str, Any]
    paths: list[str]
    subject: str


Job = Callable[[Expect], Done]


def compact(
    user: User, at: dt.datetime, model: Model | None, older_than: int | None = None, progress: Progress = unwatched
) -> Done:
    """Summarise and archive what is old."""
    return _alone(user, at, lambda expect: _compact(user, at, model, older_than, progress, expect))


def sweep(user: User, at: dt.datetime, progress: Progress = unwatched) -> Done:
    """Archive what has faded, bring back what was recalled."""
    return _alone(user, at, lambda expect: _sweep(user, at, progress, expect))


def restore(user: User, paths: Iterable[str], at: dt.datetime) -> Done:
    """Bring memories back from the archive; raises NotFound or Refused for what is none."""
    wanted = list(paths)
    return _alone(user, at, lambda expect: _restore(user, wanted, at, expect))


def maintain(user: User, at: dt.datetime, model: Model | None, progress: Progress = unwatched) -> list[Done]:
    """Every job, in the order in which each finds what the one before has left."""
    with archive.alone(user):
        return [_recorded(user, at, job) for job in steps(user, at, model, progress)]


def steps(user: User, at: dt.datetime, model: Model | None, progress: Progress) -> list[Job]:
    """The jobs of `maintain`, in its order."""
    return [
        lambda expect: _consolidate(user, at, model, progress, expect),
        lambda expect: _compact(user, at, model, None, progress, expect),
        lambda expect: _sweep(user, at, progress, expect),
        lambda _: _tidy(user, progress),
    ]


def _alone(user: User, at: dt.datetime, job: Job) -> Done:
    with archive.alone(user):
        return _recorded(user, at, job)


def _recorded(user: User, at: dt.datetime, job: Job) -> Done:
    """Do a job and commit what it wrote, where the memories are in git."""
    history = History(user)
    before = history.before(at)
    done = job(functools.partial(history.expect, at, before))
    if not done.paths:
        return done
    recorded = history.record(done.subject, done.paths, {"Job": done.job}, at, before)
    if not recorded.note:
        return done
    return done._replace(said=[*done.said, f"git: {recorded.note}"], facts={**done.facts, "git": recorded.note})


def _consolidate(user: User, at: dt.datetime, model: Model | None, progress: Progress, expect: Expect) -> Done:
    """Make facts of what was said since the last time."""
    notes: list[str] = []
    paths: list[str] = []
    facts: list[dict[str, str]] = []
    made: list[Decision] = []
    for _, done in consolidation.run(user, at, listener(model, notes.append), None, progress):
        expect("consolidate", done.paths)
        made += done.decisions
        action = {"action": PROPOSE} if done.staged else {}
        facts += [{"action": one.action, "path": one.path, **action} for one in done.decisions if one.path]
        paths += done.paths
        notes += done.notes
    said = notes + [f"{SAID[fact['action']]} {fact['path']}." for fact in facts if fact["action"] in SAID]
    said = said or ["Nothing new was said."]
    return Done(
        "consolidate", said, {"facts": facts, "notes": notes}, list(dict.fromkeys(paths)), remembering.subject(made)
    )


def _compact(
    user: User, at: dt.datetime, model: Model | None, older_than: int | None, progress: Progress, expect: Expect
) -> Done:
    made: list[Compaction] = []
    for _ in range(2):  # conversations first, then the months that they have become, where these are old as well
        found = compaction.plan(user, at.date(), older_than)
        for number, batch in enumerate(found.batches):
            progress(number, len(found.batches))
            expect("compact", moving=_away(source.path for source in batch.sources))
            made += compaction.apply(user, found._replace(batches=[batch]), at, model)
            expect("compact", [item.summary for item in made[-1:]])
        progress(len(found.batches), len(found.batches))
    said = [sentence for item in made for sentence in compacted(item)] or ["Nothing is old enough to be compacted."]
    sources = [path for item in made for path in item.sources]
    paths = [*(item.summary for item in made), *sources, *map(archive.archived, sources)]
    kinds = f"{len(sources)} old conversation{'s' * (len(sources) != 1)}"
    return Done("compact", said, {"summaries": [item._asdict() for item in made]}, paths, f"Summarise {kinds}")


def compacted(item: Compaction) -> list[str]:
    """One summary's fate in words."""
    said = []
    if item.sources:
        count = f"{len(item.sources)} source{'s' * (len(item.sources) != 1)}"
        lost = f"; in the archive only: {few(item.archive_only, NAMED)}" if item.archive_only else ""
        said.append(f"{item.summary}: {count} of {item.before:,} bytes in {item.after:,} ({item.by}){lost}.")
    said += [f"{path} was taken back: its most telling turn could not be found any more." for path in item.taken_back]
    return said + item.notes


def _away(paths: Iterable[str]) -> list[tuple[str, str]]:
    """The moves of live memories into the archive."""
    return [(path, archive.archived(path)) for path in paths]


def _back(paths: Iterable[str]) -> list[tuple[str, str]]:
    """The moves of memories out of the archive."""
    return [(archive.archived(path), live(path)) for path in paths]


def _sweep(user: User, at: dt.datetime, progress: Progress, expect: Expect) -> Done:
    found = sweeper.plan(user, at.date(), progress)
    expect("sweep", moving=[*_away(item.path for item in found.going), *_back(item.path for item in found.coming)])
    done = sweeper.apply(user, found, at, progress)
    gone, back = len(done.archived), len(done.restored)
    said = [*done.notes, *(f"Brought back {path}." for path in done.restored)]
    said += [f"Archived {path}." for path in done.archived]
    said = said or ["Nothing has faded, and nothing was recalled in the archive."]
    facts = {"archived": done.archived, "restored": done.restored, "notes": done.notes}
    both = [*done.archived, *done.restored]
    subject = f"Archive {gone} faded memor{'y' if gone == 1 else 'ies'}" + (f", bring back {back}" if back else "")
    return Done("sweep", said, facts, [*both, *map(archive.archived, both)], subject)


def _restore(user: User, paths: list[str], at: dt.datetime, expect: Expect) -> Done:
    found = [user.locate(path) for path in paths]
    expect("restore", moving=_back(path for path in found if path != live(path)))
    said = sweeper.restore(user, paths, at)
    both = [*map(live, found), *map(archive.archived, map(live, found))]
    return Done("restore", said, {"paths": [live(path) for path in found]}, both, f"Restore {few(map(live, found))}")


def _tidy(user: User, progress: Progress) -> Done:
    """Fold the log of recalls, and bring the index up to date."""
    folded, corpus = recalls.fold(user), user.index.corpus(progress)
    said = [f"The index holds {corpus.count:,} passages of {corpus.files:,} files."]
    said += [f"Folded {folded:,} lines of the log of recalls."] if folded else []
    return Done("tidy", said, {"files": corpus.files, "passages": corpus.count, "recalls_folded": folded}, [], "")
