"""What a cluster of linked names is about, in a model's words, checked against its lines; kept, so that it is asked for once.

A summary belongs to the lines it was made of: where one of them has changed, is new, gone or withheld, it is asked for anew;
without a model there is none.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from filemem.files import config, journal
from filemem.files.facts import plain
from filemem.files.folder import Folder
from filemem.models import Model, prompt
from filemem.models.offline import OfflineModel
from filemem.overview.graph import Graph
from filemem.remembering.extraction import whole
from filemem.remembering.structured import filled, objects, request, tool
from filemem.text.bounded import DatedText
from filemem.text.plain import digest, one_line
from filemem.text.redaction import redact

LINES, ASKED, LONGEST = 20, 12, 240  # of a cluster that a model sees; clusters in a request; characters of a summary
_CLUSTER = {
    "type": "object",
    "properties": {"number": {"type": "integer"}, "text": {"type": "string", "description": "One sentence."}},
    "required": ["number", "text"],
}


class NameCluster(NamedTuple):
    """Linked names, the lines that name them, the newest first, and their summary, empty where there is none;
    `by` is the model that did."""

    names: list[str]
    lines: list[DatedText]
    summary: str = ""
    by: str = ""

    @property
    def digest(self) -> str:
        """What names its lines."""
        return digest("\n".join([*self.names, *(f"{line.day} {line.text}" for line in self.lines)]), 24)

    def as_json(self) -> dict[str, Any]:
        """For a script, without what it has not."""
        told = {"names": self.names, "summary": self.summary, "by": self.by if self.summary else ""}
        return {key: value for key, value in told.items() if value}


def clusters(folder: Folder, drawn: Graph, owner: str) -> list[NameCluster]:
    """The clusters of a graph, each with what was said of its lines as they are now."""
    hidden, own, kept = journal.pending_deletions(folder), config.of(folder).own, journal.clusters(folder)
    found = []
    for names in drawn.clusters(owner):
        ties = [tie for tie in drawn.ties if tie.one in names and tie.other in names]
        places = dict.fromkeys(place for tie in ties for place in tie.places)
        places |= dict.fromkeys(place for name in names for place in drawn.names[name])
        live = [one for one in places if not (one.archived or one.until or hidden.hides(one.path, one.line))]
        said = ((f"{one.speaker}: {one.text}" if one.speaker else one.text, one.date) for one in live[:LINES])
        lines = [DatedText(one_line(redact(plain(text), own)[0], 400), day) for text, day in said]
        told = kept.get(NameCluster(names, lines).digest, {})
        found.append(NameCluster(names, lines, told.get("summary", ""), told.get("by", "")))
    return found


def summed_up(folder: Folder, found: Sequence[NameCluster], model: Model) -> list[NameCluster]:
    """The clusters with summaries; missing ones are asked for in one request and kept; raises ModelError."""
    asked = [one for one in found if not one.by and one.lines][:ASKED]
    if not asked or model.name == OfflineModel.name:
        return [*found]
    messages = request("clusters", "\n".join(_told(number, one) for number, one in enumerate(asked, 1)))
    reply = filled(model, messages, tool("sum_up", "Say what clusters are about.", "clusters", _CLUSTER))
    said: dict[str, NameCluster] = {}
    for entry in objects(reply, "clusters") or []:
        number = whole(entry.get("number"))
        one = asked[number - 1] if 0 < number <= len(asked) else None
        text = one_line(redact(str(entry.get("text") or ""), config.of(folder).own)[0], LONGEST)
        if one and text:
            said[one.digest] = one._replace(summary=text)
    by = one_line(model.name, 80)  # named for one without a sentence that holds, too, so that it is not asked for again
    after = [said.get(one.digest, one)._replace(by=by) if one in asked else one for one in found]
    journal.keep_clusters(folder, {one.digest: {"summary": one.summary, "by": one.by} for one in after if one.by})
    return after


def _told(number: int, one: NameCluster) -> str:
    lines = [f"{line.day or ''} {line.text}".strip() for line in one.lines]
    return f"Cluster {number}: {', '.join(one.names)}\n{prompt.data('cluster', chr(10).join(lines))}"
