"""What is told, beside what is known: what is to be done about a claim.

The decisions are those of Mem0 (Chhikara et al. 2025); its DELETE is a supersession
here, so that nothing is lost. Which memory a claim is about the model says that made
it; code only looks whether that memory may be changed so.
"""

import datetime as dt
import os
import re
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Self

from filemem.errors import FilememError
from filemem.learn.records import WAITING, Action, Claim, Decision
from filemem.learn.sessions import display
from filemem.search import validity
from filemem.store import facts
from filemem.store.facts import plain
from filemem.store.fields import texts
from filemem.store.folder import Folder, Stat
from filemem.store.learned import LearnLog
from filemem.store.memory import Memory
from filemem.store.paths import DISTILLED, Kind, archived, live, when_of
from filemem.text.quotes import one_form_of_numbers
from filemem.text.terms import content, fold

MAX_SHOWN = 60  # memories beside what was said: all, or those most like it
_BETWEEN_WORDS = re.compile(r"[\s\"'“”‘’.,;:!?。、]+(?!\d)")  # before a digit: a point


class KnownMemories:
    """The facts and lessons of one user that nothing has superseded.

    Until `refresh` has read them all, what the program wrote is known only by the name
    that it gave, so that to keep one fact costs no look at every file.

    Args:
        folder: whose they are.
        log: knows which of them are just as the program left them.
    """

    def __init__(self, folder: Folder, log: LearnLog) -> None:
        self.folder = folder
        self._log = log
        self._owner = display(folder.person)
        self._is_whole = False  # whether all were read
        self._has_others = False  # or those that the program has not written
        self._seen: set[str] = set()  # what was read, or is as a decision says
        self._stats: list[Stat] = []  # of the files as they were read last
        self._memories: dict[str, Memory] = {}
        self._paths: dict[tuple[str, str], str] = {}  # by kind and letters

    # -- what is known -----------------------------------------------------------------

    def refresh(self) -> Self:
        """List the files anew, as others may have written some; read what changed.

        What was read of an unchanged file is kept with the folder.
        """
        stats = sorted(self.folder.files(*DISTILLED))
        if self._is_whole and stats == self._stats:
            return self
        self._is_whole = True
        self._stats = stats
        self._memories = {}
        self._paths = {}
        self.folder.cached["known"] = self._read_all(stats)
        return self

    def read_new(self) -> None:
        """Read what has a new name since the last `refresh`.

        What was changed under its name is read by each decision that touches it.
        """
        before = {stat.path for stat in self._stats}
        for path in self.folder.paths(*DISTILLED):
            if path not in before:
                self.read(path)

    def _read_all(self, stats: Iterable[Stat]) -> dict[Stat, Memory]:
        """Know what some files say; return them, to be kept with the folder."""
        before: dict[Stat, Memory] = self.folder.cached.get("known", {})
        now: dict[Stat, Memory] = {}
        for stat in stats:
            memory = before.get(stat) or self.folder.find(stat.path)
            if memory:
                now[stat] = memory
                self._put(stat.path, memory)
        return now

    def read(self, path: str) -> Memory | None:
        """Return a memory as it is on disk now; None where it is none any more."""
        self._memories.pop(path, None)
        self._seen.add(path)
        memory = self.folder.find(path)
        if memory:
            self._put(path, memory)
        return self._memories.get(path)

    def _put(self, path: str, memory: Memory) -> None:
        """Know a fact or lesson by its path and by what it says.

        One that is superseded or empty is not known.
        """
        kind = memory.kind
        is_over = validity.fate(memory.metadata)
        if kind in DISTILLED and memory.passages and not is_over:
            self._memories[path] = memory
            self._paths[kind, letters(memory.statement)] = path

    def same(self, kind: str, text: str) -> Memory | None:
        """Find the memory that says the same, letter by letter.

        Args:
            kind: `facts` or `lessons`.
            text: what is said, with links or without.

        Returns:
            The memory as it is on disk now; None if there is none.
        """
        said = letters(text)
        named = [] if self._is_whole else self._named(kind, text)
        for path in (self._paths.get((kind, said), ""), *named):
            memory = self.read(path)
            if memory and letters(memory.statement) == said:
                return memory
        return None

    def _named(self, kind: str, text: str) -> list[str]:
        """Return the program's files that are not read yet, with the name of this.

        What other hands have written is read first, whatever its name.

        Args:
            kind: `facts` or `lessons`.
            text: what it says.
        """
        if not self._has_others:
            self._has_others = True
            kept = self.folder.cached.setdefault("known", {})
            kept.update(self._read_all(self._log.others(*DISTILLED)))
        name = facts.name(kind, text, dt.date.min, self._owner)
        named = self._log.named(name)
        return [path for path in named if path not in self._seen]

    def note(self, decision: Decision) -> None:
        """Know what became of a claim."""
        if decision.action is Action.ADD and not self._is_whole:
            claim = decision.claim
            self._seen.add(decision.path)
            self._paths[claim.kind, letters(claim.text)] = decision.path
        elif decision.action not in WAITING:
            ended = decision.replaces
            for path in (*ended, *map(archived, ended), decision.path):
                self.read(path)

    def note_ids(self, decisions: Iterable[Decision]) -> None:
        """Note the origins of what was known by its words, so as to be known by them.

        A killed run may have written it, and not noted it.
        """
        lines = []
        for one in decisions:
            origins = one.claim.origins
            if one.action is not Action.NOOP or not one.path:
                continue
            if origins and not self._log.made_of(origins):
                line = {"known": live(one.path), "from": origins}
                lines.append(line)
        self._log.add(lines)

    def outdated(self, claim: Claim) -> list[str]:
        """Return the path of what the same id of another program told last.

        Behind it is what has superseded that, and so on.

        Args:
            claim: what is told now.

        Returns:
            Live paths; the last one may be gone. None where the same was told last, or
            nothing.
        """
        paths: list[str] = []
        path = self._log.outdated(claim.origins)
        while path and path not in paths:
            paths.append(path)
            memory = self.folder.find(path)
            path = ""
            if memory:
                path = live(str(memory.metadata.get("superseded_by", "")))
        return paths

    def is_said(self, paths: Iterable[str], claim: Claim) -> bool:
        """Tell whether another id than a claim's told one of some memories last.

        Args:
            paths: of the memories, live.
            claim: what is told now.
        """
        return any(self._log.is_said(path, claim.origins) for path in paths)

    def unfinished(self, path: str) -> list[str]:
        """Return what a memory supersedes that a killed run has written.

        Args:
            path: of the memory.

        Returns:
            Live paths; none where its writer came to an end.
        """
        if live(path) in self._log.written:
            return []
        memory = self.read(path)
        if memory is None:
            return []
        return [*map(live, texts(memory.front.get("supersedes")))]

    def is_ours(self, memory: Memory) -> bool:
        """Tell whether a memory is just as the program left it."""
        return self._log.is_untouched(memory.path, memory.data)

    def since(self, memory: Memory) -> dt.date:
        """Return the day of its last word: a source's, its name's, or an edit's."""
        named = map(when_of, [memory.path, *memory.sources])
        days = [when.date for when in named if when]
        is_edited = live(memory.path) in self._log.written and not self.is_ours(memory)
        if is_edited or not days:
            with suppress(FilememError, OSError):  # it may be gone by now
                changed = os.stat(self.folder.absolute(memory.path)).st_mtime
                days.append(dt.date.fromtimestamp(changed))
        return max(days, default=dt.date.min)

    def all(self) -> list[Memory]:
        """Return all of them, in no order."""
        return list(self._memories.values())

    def by_day(self, memories: Iterable[Memory]) -> list[Memory]:
        """Return some of them in the order of their days."""
        return sorted(memories, key=lambda one: (self.since(one), one.path))

    def alike(self, texts: Iterable[str], besides: Iterable[str]) -> list[Memory]:
        """Choose the memories to show beside what was said.

        Args:
            texts: what was said.
            besides: paths of memories that are shown in any case.

        Returns:
            All while there are few; of more `besides`, and those that share the rarest
            words with the texts. In the order of their days.
        """
        memories = self.all()
        if len(memories) <= MAX_SHOWN:
            return self.by_day(memories)
        said = content("\n".join(texts))
        words = {one.path: _content(one.statement) for one in memories}
        counts = Counter(word for own in words.values() for word in own)
        scores = Counter[str]()
        for path, own in words.items():
            scores[path] = sum(1000 // counts[word] for word in own & said)
        near = [path for path, score in scores.most_common(MAX_SHOWN) if score]
        chosen = {*near, *besides}
        return self.by_day(one for one in memories if one.path in chosen)

    # -- what is done about a claim ----------------------------------------------------

    def decide(self, claim: Claim) -> Decision:
        """Decide about a claim: of these the first that is so.

            of its turns it was made before             NOOP
            it has a fault                              REFUSE
            a memory says the same, letter by letter    CONFIRM or NOOP
            it has targets, and may end none            REFUSE
            an UPDATE, of one memory of the program's   UPDATE
            it may end a target                         SUPERSEDE
            else                                        ADD

        An UPDATE that puts accents or points right in what says the same goes on to the
        next lines. CONFIRM and NOOP end what the claim may end, too.

        Args:
            claim: what was told.

        Returns:
            What is to be done, and to which memory; where that is new, the path is the
            one wanted. What is refused names the memories that it would supersede.
            No file is changed.
        """
        made = self._log.made_of(claim.origins)
        if made:
            reason = f"this turn was made into {made} before"
            return Decision(Action.NOOP, made, claim, reason)
        targets = self._targets(claim)
        endable = [one for one in targets if self.may_end(one, claim.day)]
        ended = tuple(live(one.path) for one in endable)
        if claim.fault:
            return Decision(Action.REFUSE, "", claim, claim.fault, ended)
        is_update = claim.action is Action.UPDATE
        same = self.same(claim.kind, claim.text)
        if same and not (is_update and _is_corrected(same, claim)):
            return self._known_already(claim, same, ended)
        if targets and not endable:
            # An edit may be of the day on which git brought it here, so they decide.
            reason = f"{targets[0].path} is pinned, or was said later"
            free = [one for one in targets if not is_pinned(one)]
            ended = tuple(live(one.path) for one in free)
            return Decision(Action.REFUSE, targets[0].path, claim, reason, ended)
        # A person's own words stay as they are, and are superseded; so are those that
        # they asked to be remembered, which have no source.
        is_one = len(targets) == 1 and bool(targets[0].sources)
        if is_update and is_one and self.is_ours(targets[0]):
            return Decision(Action.UPDATE, targets[0].path, claim)
        if is_update:
            for target in endable:
                words = facts.linked_as(target.statement, claim.text)
                claim = replace(claim, text=words)
        path = facts.name(claim.kind, claim.text, claim.day, self._owner)
        action = Action.SUPERSEDE if ended else Action.ADD
        return Decision(action, path, claim, replaces=ended)

    def may_end(self, memory: Memory, day: dt.date) -> bool:
        """Tell whether what was said on a day may supersede a memory.

        It may not if that is pinned or was said later.
        """
        return not is_pinned(memory) and self.since(memory) <= day

    def _targets(self, claim: Claim) -> list[Memory]:
        """Return the memories that a claim is about and may change, as they are now.

        A machine's word changes no person's. A wish is changed only by what the person
        themselves has said, and never becomes a fact or the other way round.
        """
        found: list[Memory] = []
        for path in claim.targets if claim.action is not Action.ADD else ():
            memory = self.read(path)
            if memory is None or memory.kind != claim.kind:
                continue
            said_by = machine_of(memory)
            is_own_wish = memory.kind == Kind.LESSONS and not said_by
            if claim.said_by in ("", said_by) and (claim.is_own or not is_own_wish):
                found.append(memory)
        return found

    def _known_already(
        self, claim: Claim, same: Memory, ended: tuple[str, ...]
    ) -> Decision:
        """Decide about a claim that a memory says already, and that may end others.

        Args:
            claim: what was told.
            same: the memory that says so.
            ended: what the claim supersedes.
        """
        others = tuple(path for path in ended if path != live(same.path))
        place = f"{same.path}:{same.passages[0].line}"
        is_news = bool(claim.sources) and place not in claim.sources
        if is_news and self.is_ours(same) and not is_pinned(same):
            return Decision(Action.CONFIRM, same.path, claim, "told again", others)
        reason = f"{same.path} says so already"
        return Decision(Action.NOOP, same.path, claim, reason, others)


def is_pinned(memory: Memory) -> bool:
    """Tell whether a memory never changes."""
    return bool(memory.metadata.get("pinned"))


def machine_of(memory: Memory) -> str:
    """Return which machine's word a memory is.

    Empty for what people said themselves.
    """
    return str(memory.front.get("said_by") or "")


def _is_corrected(same: Memory, claim: Claim) -> bool:
    """Tell whether a claim puts accents, case or points right in what says the same."""
    is_target = same.path in claim.targets
    return is_target and plain(same.statement) != plain(claim.text)


@lru_cache(maxsize=10_000)
def _content(statement: str) -> set[str]:
    return content(plain(statement))


@lru_cache(maxsize=10_000)
def letters(text: str) -> str:
    """Return what a text says but for case, accents and what is between words."""
    return _BETWEEN_WORDS.sub("", one_form_of_numbers(fold(plain(text))))
