"""What is told, beside what is known: a claim, the memories that it may update or supersede, and what is done about it.

The decisions are those of Mem0 (Chhikara et al. 2025); its DELETE is a supersession here, so that nothing is lost. Which
memory a claim is about the model says that made it; code only looks whether that memory may be changed so.
"""

import datetime as dt
import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from filemem.files import facts, journal
from filemem.files.facts import plain
from filemem.files.folder import Folder, numbered
from filemem.files.front import quoted
from filemem.files.memory import ARCHIVE, IMPORTANCE, Memory, kind_of, live, when_of
from filemem.remembering.sessions import ConsolidationLog, display
from filemem.text import dates
from filemem.text.quotes import one_form_of_numbers
from filemem.text.terms import content, fold

# What becomes of a claim: it is written, is known already, is older than what is known, waits for the person, has not its form.
ADD, UPDATE, SUPERSEDE, NOOP, DROP, PROPOSE, REFUSE = (
    "ADD UPDATE SUPERSEDE NOOP DROP PROPOSE REFUSE".split()
)
WRITTEN = (ADD, UPDATE, SUPERSEDE)
KINDS = ("facts", "lessons")
ALL, ALIKE = (
    100,
    40,
)  # memories: so many are shown beside what was said, of more only those most like it
_BETWEEN = re.compile(
    r"[\s\"'“”‘’.,;:!?。、]+(?!\d)"
)  # words; what stands before a digit may be of a number


class Claim(NamedTuple):
    """Something told that may become a memory; `body` is what its file says where that is not `text`.

    `action` and `target` are what its maker says is to be done: ADD, or UPDATE or SUPERSEDE the memory at that path; `ends` are
    further memories that hold no more because of it.
    `sources` are `path:line`, `origins` the digests of each turn and of the text; `said_by` is empty for what people said
    themselves. `nature` is `event` for what happens on the day `when` or has happened, empty for what stands; `heading` is the
    section of the profile that it goes under, if any; `retold_by` the model whose words these are; `waits`: only the person may
    have it kept.
    """

    text: str
    day: dt.date
    kind: str = "facts"
    action: str = ADD
    target: str = ""
    ends: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    origins: tuple[tuple[str, str], ...] = ()
    importance: int = IMPORTANCE
    confidence: float = 1.0
    valid_from: dt.date | None = None
    valid_until: dt.date | None = None
    said_by: str = ""
    pinned: bool = False
    tags: tuple[str, ...] = ()
    body: str = ""
    nature: str = ""
    when: dt.date | None = None
    heading: str = ""
    retold_by: str = ""
    waits: bool = False

    def page(self, supersedes: Sequence[str]) -> str:
        """The file that says it."""
        front = {
            "source": facts.reference(self.sources) if self.sources else "",
            "importance": str(self.importance) if self.importance != IMPORTANCE else "",
            "confidence": f"{self.confidence:g}" if self.confidence < 1 else "",
            "pinned": "true" if self.pinned else "",
            "tags": f"[{', '.join(map(quoted, self.tags))}]" if self.tags else "",
            "said_by": self.said_by,
            "valid_from": str(self.valid_from or ""),
            "valid_until": str(self.valid_until or ""),
            "retold_by": quoted(self.retold_by) if self.retold_by else "",
            "kind": self.nature,
            "day": str(self.when or ""),
            "supersedes": facts.reference(supersedes) if supersedes else "",
        }
        return facts.page(self.body or self.text, front)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Claim":
        """A claim from its `_asdict` as JSON has it; raises ValueError, TypeError or KeyError for anything else."""
        known: dict[str, Any] = {
            key: tuple(one) if isinstance(one, list) else one
            for key, one in value.items()
        }
        days = (
            key
            for key in ("day", "valid_from", "valid_until", "when")
            if known.get(key)
        )
        known |= {key: dt.date.fromisoformat(known[key]) for key in days}
        known["origins"] = tuple((turn, said) for turn, said in known["origins"])
        return cls(**{key: known[key] for key in cls._fields if key in known})


class Decision(NamedTuple):
    """What is done about one claim; `path` is the memory that is written, changed or known already, `replaces` what it
    supersedes."""

    action: str
    path: str
    claim: Claim
    reason: str = ""
    replaces: tuple[str, ...] = ()


class KnownMemory(NamedTuple):
    """A live fact or lesson; `since` is the day of its last word, or of a person's edit, `own`: just as the program left it."""

    path: str
    text: str
    since: dt.date
    own: bool
    pinned: bool = False
    sources: tuple[str, ...] = ()
    until: dt.date | None = None
    said_by: str = ""


def _key(kind: str, text: str) -> tuple[str, str]:
    """A kind, and what a text says but for capitals, accents and what stands between words."""
    return kind, _BETWEEN.sub("", one_form_of_numbers(fold(text)))


class KnownMemories:
    """The facts and lessons of one user that nothing has superseded, and every path that is taken."""

    def __init__(self, folder: Folder, log: ConsolidationLog) -> None:
        self.folder = folder
        self.log = log
        self.paths: set[str] = set()
        self.live: dict[str, KnownMemory] = {}  # by path
        self._keys: dict[tuple[str, str], str] = {}
        hidden = journal.pending_deletions(folder)
        for stat in folder.files():
            self.paths.add(stat.path)
            if kind_of(stat.path) in KINDS and not hidden.hides(stat.path, 0):
                self._read(stat.path)

    def _read(self, path: str) -> None:
        memory = self.folder.find(path)
        if memory is None or memory.binary or memory.particular("superseded_by"):
            return
        own, known = (
            self.log.untouched(path, memory.data),
            live(path) in self.log.written,
        )
        named, when = tuple(memory.sources), when_of(path)
        told = [
            said.date
            for said in (when_of(source.rpartition(":")[0]) for source in named)
            if said
        ]
        if when is None or (known and not own):  # put right by a person since
            told.append(
                dt.date.fromtimestamp(os.stat(self.folder.absolute(path)).st_mtime)
            )
        since = max([*told, when.date] if when else told)
        pinned, until = (
            bool(memory.particular("pinned")),
            memory.particular("valid_until"),
        )
        by = str(memory.front.get("said_by") or "")
        self._put(
            KnownMemory(
                path, plain(said_in(memory)), since, own, pinned, named, until, by
            )
        )

    def _put(self, memory: KnownMemory) -> None:
        """Take in a memory, in the place of the one at its path."""
        self.live[memory.path] = memory
        self._keys[_key(kind_of(memory.path), memory.text)] = memory.path
        self.paths.add(memory.path)

    def same(self, claim: Claim) -> KnownMemory | None:
        """The memory of the claim's kind that says the same, letter by letter and number by number."""
        key = _key(claim.kind, plain(claim.text))
        found = self.live.get(self._keys.get(key, ""))
        return found if found and key == _key(claim.kind, found.text) else None

    def like(
        self, texts: Iterable[str], besides: Iterable[str] = ()
    ) -> list[KnownMemory]:
        """All memories by their days while there are few, else `besides` and those that share the rarest words with a text."""
        chosen = list(self.live.values())
        if len(chosen) > ALL:
            words = {one.path: content(one.text) for one in chosen}
            common = Counter(word for found in words.values() for word in found)
            told = [content(text) for text in texts]
            worth = {
                word: math.log(1 + len(chosen) / count)
                for word, count in common.items()
            }
            weights = {
                path: max(
                    (sum(map(worth.__getitem__, one & found)) for one in told),
                    default=0,
                )
                for path, found in words.items()
            }
            best = sorted(weights, key=lambda path: (-weights[path], path))[:ALIKE]
            near = {path for path in best if weights[path]}.union(besides)
            chosen = [one for one in chosen if one.path in near]
        return sorted(chosen, key=lambda one: (one.since, one.path))

    # -- decisions -----------------------------------------------------------------------------------------------

    def decided(self, claim: Claim, *, accepted: bool = False) -> Decision:
        """What is to be done about a claim, `accepted` by the person; takes it in, so that the next is decided beside it."""
        before = next(
            (
                self.log.made[origin]
                for origin in claim.origins[:1]
                if origin in self.log.made
            ),
            "",
        )
        if before:
            return Decision(
                NOOP, before, claim, f"this turn was made into {before} before"
            )
        if any(origin in self.log.refused for origin in claim.origins):
            return Decision(NOOP, "", claim, "it was proposed before and rejected")
        if same := self.same(
            claim
        ):  # a further source, and the confidence of the surer telling
            if not same.own or same.pinned or not claim.sources:
                return Decision(NOOP, same.path, claim, f"{same.path} says so already")
            return self._changed(claim, same, "told again")
        target = self.live.get(claim.target) if claim.action != ADD else None
        if target is None or claim.said_by not in (
            "",
            target.said_by,
        ):  # a machine's word changes no person's
            return self._new(claim)
        if target.pinned:
            return self._new(
                claim, f"says otherwise than {target.path}, which is pinned"
            )
        if (
            claim.action == SUPERSEDE
            and claim.day < target.since
            and (target.own or not accepted)
        ):
            # The day of a person's edit may be that on which git brought it here, so they decide.
            why = f"{target.path} was said later, on {target.since}"
            return Decision(DROP if target.own else REFUSE, target.path, claim, why)
        if claim.action == SUPERSEDE and self._was_over(claim, target):
            return self._new(claim, f"it was over before {target.path} was told")
        if claim.action == UPDATE and (
            claim.day < target.since or kind_of(target.path) != claim.kind
        ):
            return self._new(claim)
        if claim.action == UPDATE and target.own and target.sources and not claim.ends:
            return self._changed(claim, target, "")
        ends = filter(None, map(self.live.get, claim.ends))
        further = [
            one
            for one in ends
            if not one.pinned
            and one.since <= claim.day
            and claim.said_by in ("", one.said_by)
        ]
        return self._new(
            claim, replacing=(target, *further)
        )  # what a person wrote is kept as it is, superseded

    def _was_over(self, claim: Claim, target: KnownMemory) -> bool:
        """Does a claim tell of an event that was over on the day on which what stands at a path was first told?"""
        told, memory = when_of(target.path), self.folder.find(target.path)
        ends = [
            span.end
            for one in dates.mentioned(claim.text, claim.day)
            for span in one.spans
        ]
        over = claim.when or max(ends, default=claim.day)
        stands = memory is not None and memory.front.get("kind") != "event"
        return claim.nature != "" and stands and told is not None and over < told.date

    def _changed(self, claim: Claim, old: KnownMemory, reason: str) -> Decision:
        sources = tuple(dict.fromkeys([*old.sources, *claim.sources]))
        text = old.text if reason else plain(claim.text)
        self._put(
            old._replace(text=text, since=max(old.since, claim.day), sources=sources)
        )
        return Decision(UPDATE, old.path, claim, reason)

    def _new(
        self, claim: Claim, reason: str = "", replacing: Sequence[KnownMemory] = ()
    ) -> Decision:
        """A memory of its own under a name that none has, here or in the archive, in the place of others perhaps."""
        named = numbered(
            facts.name(claim.kind, claim.text, claim.day, display(self.folder.name))
        )
        path = next(
            name for name in named if self.paths.isdisjoint((name, f"{ARCHIVE}/{name}"))
        )
        for old in replacing:
            self.live.pop(old.path, None)
        told = claim.pinned, claim.sources, claim.valid_until, claim.said_by
        self._put(KnownMemory(path, plain(claim.text), claim.day, True, *told))
        replaced = tuple(live(old.path) for old in replacing)
        return Decision(SUPERSEDE if replaced else ADD, path, claim, reason, replaced)


def said_in(memory: Memory) -> str:
    """What a memory says, on one line: the words alone where one person is quoted."""
    speakers = {passage.speaker for passage in memory.passages}
    if memory.is_yaml or (len(speakers) == 1 and speakers != {""}):
        return " ".join(" ".join(passage.text for passage in memory.passages).split())
    return " ".join(
        line.strip() for line in memory.lines[memory.front_end :] if line.strip()
    )
