"""What a person decides themselves: one fact kept, a proposal accepted or rejected."""

import datetime as dt
import re
from collections.abc import Iterable
from dataclasses import replace

from filemem.errors import FilememError, NotFound
from filemem.learn import profile
from filemem.learn.decide import KnownMemories, said_in, texts_of
from filemem.learn.log import LearnLog
from filemem.learn.outcome import Applied
from filemem.learn.proposals import Proposal
from filemem.learn.records import WRITTEN, Action, Claim, Decision
from filemem.learn.write import Writer
from filemem.store import files
from filemem.store.folder import Folder
from filemem.store.gate import Gate
from filemem.store.paths import live
from filemem.text.plain import one_line, printable
from filemem.text.redaction import kinds

DEFAULT_IMPORTANCE = 8  # of what a person asks to be remembered
KEEPS_ALL = "filemem remember --with-secrets keeps it all"


def remember(
    user: Folder,
    text: str,
    at: dt.datetime,
    importance: int | None = None,
    pinned: bool = False,
    tags: Iterable[str] = (),
    with_secrets: bool = False,
    source: str = "",
    replaces: str = "",
) -> Applied:
    """Keep one fact; told again it stays the memory that it was.

    Args:
        user: whose memory it becomes.
        text: the fact; secrets are taken out, which a note says.
        at: the moment of keeping, whose day is the fact's.
        importance: from 1 to 10.
        pinned: whether it never fades.
        tags: of the person's.
        with_secrets: keep secrets, as where the store's settings do.
        source: `path:line` of the turn that says it, if it was said in a conversation.
        replaces: the path of a fact that it supersedes, as does a fact that says it
            already.

    Raises:
        FilememError: the text is empty or only a secret, the importance is out of
            range, `replaces` is no fact that may be superseded, or nothing can be
            written.
    """
    given = printable(text.replace("\r\n", "\n")).strip()
    if not given:
        example = "filemem remember 'Prefers oolong tea.'"
        raise FilememError(f"there is nothing to remember; say what, as in: {example}")
    if importance is not None and importance not in range(1, 11):
        raise FilememError(
            f"importance is a whole number from 1 to 10, not {importance}."
        )
    gate = Gate(user, with_secrets=with_secrets)
    body, secrets = gate.clean(given)
    if secrets and not re.search(r"\w", re.sub(r"\[redacted: [^]]*\]", "", body)):
        raise FilememError(
            f"that is only a secret ({kinds(secrets)}), so it was not kept; "
            f"{KEEPS_ALL}."
        )
    named = [tags] if isinstance(tags, str) else tags
    claim = Claim(
        text=" ".join(body.split()),
        day=at.date(),
        sources=(source,) if source else (),
        front={
            "importance": importance or DEFAULT_IMPORTANCE,
            "pinned": pinned,
            "tags": [gate.clean(str(tag)).text for tag in named],
        },
        body=body,
        action=Action.SUPERSEDE if replaces else Action.ADD,
        targets=(replaces,) if replaces else (),
    )
    with user.locked():
        log = LearnLog(user)
        known = KnownMemories(user, log)
        if replaces:
            _check_may_be_superseded(known, replaces, claim.day)
        writer = Writer(user, log, at)
        writer.write(known.decide(claim))
    if secrets:
        writer.done.notes.insert(0, f"Taken out: {kinds(secrets)}; {KEEPS_ALL}.")
    return writer.done


def accept(user: Folder, log: LearnLog, proposal: Proposal, at: dt.datetime) -> Applied:
    """Keep what was proposed, as its file says it now; it is the person's from then on.

    Args:
        user: whose memory it becomes.
        log: what was read and written.
        proposal: which goes then.
        at: the moment of keeping.

    Returns:
        What was done; what is known already is kept no second time, but supersedes.

    Raises:
        FilememError: it cannot be written.
    """
    memory = proposal.memory
    with user.locked():
        same = KnownMemories(user, log).same(memory.kind, proposal.text)
        if same:
            begin = memory.metadata.get("valid_from")
            day = memory.date or at.date()
            claim = Claim(proposal.text, day, front={"valid_from": begin})
            ended = tuple(one for one in proposal.supersedes if one != live(same.path))
            why = "it is known already"
            writer = Writer(user, log, at)
            writer.write(Decision(Action.NOOP, same.path, claim, why, ended))
            done = writer.done
            done.add(profile.revise(user, log, at.date()))
        else:
            path = user.create(memory.path, proposal.page())
            done = take_in(user, log, at, path)
        reject(user, proposal)
    return replace(done, paths=[*done.paths, proposal.path])


def take_in(user: Folder, log: LearnLog, at: dt.datetime, path: str) -> Applied:
    """Do what a memory asks for that a person has taken in, or a killed run written.

    What it supersedes goes to the archive, and the profile has a line about it if it
    names a section. If the log does not know it, it is the person's from now on.

    Args:
        user: whose memory it is.
        log: what was read and written.
        at: the moment that counts as now.
        path: of the memory.
    """
    memory = user.memory(path)
    day = memory.date or at.date()
    claim = Claim(said_in(memory), day)
    replaces = texts_of(memory.front.get("supersedes"))
    action = Action.SUPERSEDE if replaces else Action.ADD
    done = Applied([Decision(action, path, claim, "", replaces)], [path])
    writer = Writer(user, log, at, done)
    for old in replaces:
        writer.supersede(old, path, memory.metadata.get("valid_from") or day)
    if live(path) not in log.written:
        log.add([{"wrote": live(path), "digest": "", "from": []}])
    section = str(memory.front.get("section") or "")
    fresh = {live(path): section} if section else {}
    done.add(profile.revise(user, log, at.date(), fresh))
    return done


def reject(user: Folder, proposal: Proposal) -> None:
    """Delete a proposal; it is not made a second time."""
    files.delete(user.absolute(proposal.path))


def told(done: Applied) -> list[str]:
    """Say what became of one fact to the one who told it."""
    one = done.decisions[0]
    said = f"Knew that already: {one.path}"
    if one.action in WRITTEN and one.action is not Action.UPDATE:
        said = f"Remembered {one.path}"
    return [said, *(f"Superseded {old}" for old in one.replaces), *done.notes]


def _check_may_be_superseded(known: KnownMemories, path: str, today: dt.date) -> None:
    old = known.live.get(path)
    if old is None or old.kind != "facts" or not old.may_end(today):
        why = "is not a current fact that can be superseded"
        raise NotFound(f"{one_line(path)} {why}; name one as a search shows it.")
