"""What consolidation and `remember` did, told to the person: lines with paths, and the commit behind them."""

from collections.abc import Iterator
from typing import Any

from filemem.chat.conversation import Conversation
from filemem.cli.common import clock
from filemem.cli.screen import say_aside, say_dim, say_json
from filemem.errors import Busy, FilememError
from filemem.files import archive, config
from filemem.files.folder import Folder
from filemem.files.memory import Memory
from filemem.history import Before, History
from filemem.remembering import consolidation, remembering
from filemem.remembering.comparison import ADD, DROP, LATE, NOOP, SUPERSEDE, UPDATE
from filemem.remembering.consolidation import Applied, Decision, Extractor
from filemem.remembering.extraction import listener
from filemem.text.plain import one_line

_WORDS = {
    ADD: "remembered",
    SUPERSEDE: "remembered",
    LATE: "remembered",
    UPDATE: "updated",
    NOOP: "knew",
    DROP: "dropped",
}


def lines(one: Decision, *, whole: bool = False, staged: bool = False) -> Iterator[str]:
    """A decision as lines; `whole` tells what was left out as well, `staged` what waits for review."""
    text = one_line(one.claim.text, 160)
    if staged:
        yield f"proposed: {text}"
    elif one.action in (ADD, SUPERSEDE, UPDATE, LATE):
        reason = f" ({one.reason})" if one.reason and one.action != UPDATE else ""
        yield f"{_WORDS[one.action]} {one.path}: {text}{reason}"
        if one.action == SUPERSEDE:
            yield from (f"superseded {old}" for old in one.replaces)
    elif whole:
        yield f"{_WORDS[one.action]} {one.path or ', '.join(one.claim.sources)}: {text} ({one.reason})"


def waiting(count: int) -> str:
    """What to do about proposals."""
    return f"{count:,} {'proposal waits' if count == 1 else 'proposals wait'} for your word; see: filemem review"


def as_json(one: Decision, *, staged: bool = False) -> dict[str, Any]:
    """A decision for a script."""
    return {
        "event": "proposal" if staged else "memory",
        "action": one.action.lower(),
        "path": one.path,
        "text": one.claim.text,
        "reason": one.reason,
        "source": list(one.claim.sources),
        "supersedes": list(one.replaces),
    }


def committed(user: Folder, done: Applied, session: str, before: Before, job: str = "consolidate") -> None:
    """Commit what consolidation wrote, where the memories are kept in git; `before` is how they stood."""
    if done.paths:
        trailers = {"Job": job, "Session": session} if session else {"Job": job}
        subject = remembering.subject(done.decisions)
        say_aside(History(user).record(subject, done.paths, trailers, clock(), before).note)


def remembered(user: Folder, text: str, **how: Any) -> tuple[Memory, list[str]]:
    """Keep one fact, and commit it where the memories are kept in git; the memory, and lines that say what was decided."""
    history = History(user)
    before = history.before(clock())
    done = remembering.remember(user, text, clock(), **how)
    paths = list(dict.fromkeys([done.memory.path, *done.paths]))
    say_aside(history.record(f"Remember: {done.decision.claim.text}", paths, {"Job": "remember"}, clock(), before).note)
    return done.memory, [*remembering.said(done.decision), *done.notes]


def after_talk(talk: Conversation, *, json: bool) -> None:
    """Make memories of the conversation that has ended, and of those that were cut off; what fails waits for the next time."""
    user = talk.user
    if not talk.transcript.path or not config.of(user).consolidate:
        return
    try:
        with archive.job_lock(user):
            listen = listener(talk.model, lambda sentence: aside(sentence, json=json))
            consolidate_and_print(user, listen, consolidation.interrupted(user), json=json)
    except KeyboardInterrupt:
        aside("Stopped; what is not remembered yet is, when the next chat ends or with filemem consolidate.", json=json)
    except Busy:
        return  # another job is at it; the next one finds these turns
    except (FilememError, OSError) as error:
        aside(f"Nothing was remembered of this: {error}", json=json)


def consolidate_and_print(user: Folder, listen: Extractor | None, paths: list[str], *, json: bool) -> None:
    """Consolidate the sessions at `paths`, showing every memory that is made or proposed."""
    staged, history = 0, History(user)
    before = history.before(clock())
    for session, done in consolidation.run(user, clock(), listen, paths):
        show(user, session, done, before, json=json)
        before = history.before(clock())
        staged += len(done.decisions) * done.staged
    if staged:
        aside(waiting(staged), json=json)


def show(user: Folder, session: str, done: Applied, before: Before, *, json: bool) -> None:
    """Show in a chat what was made of one session, and commit it."""
    for one in done.decisions:
        if json and one.action in (ADD, SUPERSEDE, UPDATE, LATE):
            say_json(as_json(one, staged=done.staged))
        elif not json:
            for line in lines(one, staged=done.staged):
                say_dim(line)
    for note in done.notes:
        aside(note, json=json)
    committed(user, done, session, before)


def aside(sentence: str, *, json: bool) -> None:
    """Say a sentence in the background."""
    if json:
        say_json({"event": "notice", "text": sentence})
    else:
        say_dim(sentence)
