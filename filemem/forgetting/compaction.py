"""Compaction: old conversations are summarised by month, and the originals move to the archive.

A conversation gets a section in the summary of its month, where that is under half of it; one that is too short for that, or for
its most telling turn, stays. `plan` looks; `apply` writes the sections of a month, moves the originals, and logs each with its
digest, so that nothing is done twice, what a killed job began is gone on with, and what was edited since is compacted again.

What a summary says are the most telling turns: those that name a day, a number or a name, open a conversation, answer a question,
tell of their speaker, or do so in rare words; of two equals the shorter, since it leaves room for others.
"""

import datetime as dt
import math
import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from filemem import index
from filemem.files import config, journal, safe, sections
from filemem.files.folder import Folder, JobDone, Progress, draft_stays, no_progress
from filemem.files.journal import Compacted, PendingDeletion
from filemem.files.memory import (
    LARGEST,
    Memory,
    Passage,
    archived,
    decode,
    in_utf8,
    live,
)
from filemem.files.sections import DIGITS, Bullet
from filemem.forgetting.matching import FORGOTTEN
from filemem.index import Corpus
from filemem.text import dates, redaction, terms
from filemem.text.plain import count_tokens, counted, digest, escape_controls, one_line

# By how much a turn is worth more, as logarithms of odds: those of a regression on the turns that answer LoCoMo's questions
# (Maharana et al. 2024, five conversations), rounded.
DATE, NAME, OPENING, ANSWER, OWN, QUESTION = 1.3, 0.4, 0.8, 0.75, 0.5, -1.2
RARITY = (
    0.95  # for the mean inverse frequency of its words in all memories, as a logarithm
)
PRICE = 60  # characters that a bullet costs besides its text: speaker, link, line
THRIFT = 0.8  # how strongly length counts against a turn
ENOUGH = 120  # letters and digits, behind which a turn is cut at the end of a sentence
_END = re.compile(
    r"(?<=[.!?…][\"”’')])\s+|(?<=[.!?…])\s+|(?<=[。！？])(?![。！？”’」』）])|\n+"
)
# Lines that are no prose: headings, items, quotes, tables, rules and fences; behind them an assistant's text is cut.
_BLOCK = re.compile(
    r"^\s*(?:#{1,6}\s|[-*+•]\s|[|>]|\d+[.)、]|```|---|\*\*[^*\n]*\*\*\W*$)",
    re.MULTILINE,
)


class Source(NamedTuple):
    """A conversation that is to be summarised; `old` is what the log says of it, if anything."""

    memory: Memory
    digest: str
    old: Compacted | None

    @property
    def path(self) -> str:
        """Where it lies when it is live: the name by which it is logged and linked."""
        return live(self.memory.path)

    @property
    def room(self) -> float:
        """The tokens that its section may have besides its heading; what was summarised once keeps a section."""
        if self.old:
            return math.inf
        return (count_tokens(self.memory.text) - 1) // 2 - count_tokens(
            sections.section(self.path, []).decode()
        )


# -- the plan ----------------------------------------------------------------------------------------------------


def plan(
    folder: Folder,
    today: dt.date,
    older_than: int | None = None,
    progress: Progress = no_progress,
) -> dict[str, list[Source]]:
    """What is due by `today`: the sessions more than `older_than` days old, else as set, by the summary that takes each up. One
    too short to be summarised by its most telling turn is left as it is."""
    known, hidden, paths = (
        journal.compacted(folder),
        journal.pending_deletions(folder),
        dict.fromkeys(folder.paths()),
    )
    before = today.toordinal() - (
        config.of(folder).compact_after_days if older_than is None else older_than
    )
    homes = dict[str, str]()  # the summaries that have a section already, by its title
    for path in paths:
        if live(path).startswith("summaries/") and (summary := folder.find(path)):
            homes |= dict.fromkeys(
                re.findall("^## (.+?)\r?$", summary.text, re.MULTILINE), path
            )
    sessions = [
        path for path in sorted(paths, key=live) if live(path).startswith("sessions/")
    ]
    found, corpus = dict[str, list[Source]](), None
    for done, path in enumerate(sessions, 1):
        progress(done, len(sessions))
        memory = (
            folder.find(path) if path == live(path) or live(path) not in paths else None
        )
        if (
            memory
            and memory.date
            and memory.date.toordinal() < before
            and _tells(memory, hidden)
        ):
            month = f"summaries/{memory.date.year:04}/{str(memory.date)[:7]}-conversations.md"
            home = homes.get(sections.title(path)) or next(
                folder.standing(month), month
            )
            source = Source(memory, digest(memory.data, DIGITS), known.get(live(path)))
            due, room = (
                not source.old or source.old.digest != source.digest,
                source.room,
            )
            # No bullet is shorter than the path in it, so most that are too short need not be cut into bullets at every run.
            if due and room > count_tokens(source.path):
                corpus = corpus or index.of(folder).corpus()
                if (
                    max(_weighed(memory, corpus), key=lambda turn: turn[0])[1].tokens
                    <= room
                ):
                    found.setdefault(home, []).append(source)
    return found


def _tells(memory: Memory, hidden: PendingDeletion) -> bool:
    """Is a session text, and not pinned? It loses the turns that are held back or forgotten."""
    if memory.binary or len(memory.data) > LARGEST or memory.particular("pinned"):
        return False
    told = [
        passage
        for passage in memory.passages
        if passage.line > memory.front_end and passage.text != FORGOTTEN
    ]
    memory.passages = [
        passage for passage in told if not hidden.hides(memory.path, passage.line)
    ]
    return any(passage.text.strip() for passage in memory.passages)


# -- apply -------------------------------------------------------------------------------------------------------


def apply(
    folder: Folder,
    found: dict[str, list[Source]],
    at: dt.datetime,
    progress: Progress,
    *,
    dry: bool,
) -> JobDone:
    """Do what the plan says, one summary after the other; `dry`: only say it. A conversation that was changed meanwhile waits for
    the next run."""
    made = list[dict[str, Any]]()
    drafts = list[str]()
    for done, (summary, all_sources) in enumerate(found.items()):
        progress(done, len(found))
        sources = [one for one in all_sources if one.memory.path not in folder.drafts]
        drafts += [one.path for one in all_sources if one not in sources]
        if dry:
            made += [{"summary": summary, "source": one.path} for one in sources]
            continue
        fresh = [
            one
            for one in sources
            if (now := folder.find(one.memory.path)) and now.data == one.memory.data
        ]
        made += _compact(folder, summary, fresh, at) if fresh else []
    progress(len(found), len(found))
    does = "{source}: {before:,} bytes in {after:,} of {summary}. {note}"
    does = "{source} would be summarised in {summary}." if dry else does
    said = [does.format(**one).strip() for one in made] or [
        "Nothing is due to be compacted."
    ]
    said += [draft_stays(path) for path in drafts]
    paths = [
        path
        for one in made
        for path in (one["summary"], one["source"], archived(one["source"]))
    ]
    subject = f"Summarise {counted(len(made), 'old conversation')}"
    return JobDone("compact", said, {"summaries": made, "notes": []}, paths, subject)


def _compact(
    folder: Folder, summary: str, sources: list[Source], at: dt.datetime
) -> Iterator[dict[str, Any]]:
    """Write the sections, but those that a run has written which was cut off; move the originals; log what is done. What became
    of each: its bytes and those of its section, and what went wrong."""
    where = folder.absolute(summary)
    standing = decode(safe.read(where)).encode() if os.path.lexists(where) else b""
    places = {
        one.path: sections.find(standing, one.path) for one in sources if not one.old
    }
    made = {
        path: standing[place[0] : place[1]] for path, place in places.items() if place
    }
    if left := [one for one in sources if one.path not in made]:
        chosen = _chosen(
            left, index.of(folder).corpus(), config.of(folder).summary_share
        )
        made |= {path: sections.section(path, said) for path, said in chosen.items()}

    def changed(data: bytes) -> bytes:
        for source in sources:
            place = sections.find(data, source.path)
            if not place or data[place[0] : place[1]] != made[source.path]:
                data = sections.put(
                    data,
                    source.path,
                    made[source.path],
                    source.old.section if source.old else "",
                )
        return data

    with folder.locked():
        if os.path.lexists(where):
            folder.edit(summary, lambda data: in_utf8(data, changed))
        else:
            folder.create(summary, changed(b"").decode())
    stayed = journal.archive(
        folder,
        [one.path for one in sources if not one.old and not one.memory.archived],
        at,
    )
    entries = (
        (
            one.path,
            one.digest,
            live(summary),
            digest(made[one.path], DIGITS),
            journal.DONE,
        )
        for one in sources
    )
    journal.add_rows(folder, journal.COMPACTED, entries)
    for one in sources:
        sizes = {"before": len(one.memory.data), "after": len(made[one.path])}
        yield {
            "summary": summary,
            "source": one.path,
            **sizes,
            "note": stayed.get(one.path, ""),
        }


# -- the most telling turns ---------------------------------------------------------------------------------------


def _bullets(memory: Memory) -> Iterator[tuple[Passage, str, Bullet]]:
    """The turns of a conversation, each with its first sentences, captions aside, until they have ENOUGH letters and digits, and
    with the bullet that it would be: these, secrets out, relative dates resolved. Of an assistant's, where it has any, only the
    prose before a list and the like, without the last sentence of several that leads to it."""
    for turn in memory.passages:
        said, machine = (
            terms.split_captions(turn.text)[0].strip() or turn.text,
            memory.is_assistant(turn.speaker),
        )
        if machine:
            said = next(
                filter(None, map(str.strip, _BLOCK.split(said, maxsplit=1))), said
            )
        at = letters = 0
        for end in [*(gap.end() for gap in _END.finditer(said)), len(said)]:
            sentence = said[at:end].rstrip()
            if letters >= ENOUGH or (machine and at and sentence.endswith((":", "："))):
                break
            letters, at = letters + sum(map(str.isalnum, sentence)), end
        said = said[:at]
        text, said_on = (
            redaction.redact(escape_controls(" ".join(said.split())))[0],
            turn.day or memory.day,
        )
        text = dates.annotate(text, said_on) if said_on else text
        if text and said_on and said_on != memory.day:  # the heading has another
            text = f"[{dates.in_words(dates.one_day(said_on), terms.is_chinese(text))}] {text}"
        if text:
            yield (
                turn,
                said,
                Bullet(
                    one_line(turn.speaker, 80), text, live(memory.path), (turn.line,)
                ),
            )


def _weighed(memory: Memory, corpus: Corpus) -> Iterator[tuple[float, Bullet]]:
    """The turns of a conversation, in order, each with what keeping it is worth; an assistant's half, its quotes nothing."""

    def rarity(stem: str) -> float:
        return math.log(
            corpus.count / max(1, sum(map(corpus.frequency, corpus.concept(stem))))
        )

    asked, before = False, ""
    for turn, said, bullet in _bullets(memory):
        flags, machine = terms.flags(said), memory.is_assistant(turn.speaker)
        dated = dates.mentioned(said, memory.day or dt.date(2000, 1, 1))
        of_turn = {
            DATE: bool(dated),
            NAME: flags & terms.HAS_NAME,
            OPENING: not before,
            ANSWER: asked and before != turn.speaker and not machine,
            OWN: flags & terms.FIRST_PERSON and not machine,
            QUESTION: flags & terms.IS_QUESTION,
        }
        words = terms.content(said)
        # Added up so that the order of a set, which differs from run to run, changes nothing.
        total = RARITY * math.fsum(map(rarity, words)) / max(1, len(words))
        quotes = machine and terms.flags(turn.text) & terms.CITES
        worth = math.exp(
            total + sum(weight for weight, holds in of_turn.items() if holds)
        ) * (0.5 if machine else 1)
        yield 0.0 if quotes else worth, bullet
        asked, before = (
            bool(terms.flags(turn.text) & terms.IS_QUESTION),
            turn.speaker or " ",
        )


def _chosen(
    sources: list[Source], corpus: Corpus, share: float
) -> dict[str, list[Bullet]]:
    """The bullets of the turns that carry the most, by conversation: as many as fit within a share of the bytes of all and what
    each has room for, in tokens; of each at least the most telling turn that it has room for, a person's first."""
    best, others, room = (
        list[Bullet](),
        list[tuple[float, Bullet]](),
        {one.path: one.room for one in sources},
    )
    budget = share * sum(len(one.memory.data) for one in sources)
    for source in sources:
        budget -= 1 + len(sections.section(source.path, []))
        fitting = [
            turn
            for turn in _weighed(source.memory, corpus)
            if turn[1].tokens <= source.room
        ]
        first = max(
            fitting,
            key=lambda turn: (not source.memory.is_assistant(turn[1].speaker), turn[0]),
        )
        best.append(first[1])
        others += [turn for turn in fitting if turn[0] and turn is not first]
    others.sort(
        key=lambda turn: turn[0] / (PRICE + len(turn[1].text)) ** THRIFT, reverse=True
    )
    found = dict[str, list[Bullet]]()
    for bullet in [*best, *(bullet for _, bullet in others)]:
        size = len(str(bullet).encode("utf-8", "replace"))
        if bullet.path not in found or (
            size <= budget and bullet.tokens <= room[bullet.path]
        ):
            found.setdefault(bullet.path, []).append(bullet)
            budget -= size
            room[bullet.path] -= bullet.tokens
    return {
        path: sorted(bullets, key=lambda bullet: bullet.lines)
        for path, bullets in found.items()
    }
