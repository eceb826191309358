"""The memories as resources, `filemem://mara/facts/2026/…`: their names, a page of their list, their text."""

import datetime as dt
import itertools
import unicodedata
from typing import Any
from urllib.parse import quote, unquote

import mcp_types as types

from filemem.api import User
from filemem.errors import NotFound
from filemem.files import journal
from filemem.files.folder import Folder
from filemem.text.plain import escape_controls, one_line
from filemem.tools import answers

PAGE = 100  # resources of one answer
SCHEME = "filemem://"
KINDS = {"md": "text/markdown", "yaml": "application/yaml", "yml": "application/yaml"}


def uri_of(folder: Folder, path: str) -> str:
    """The name of a memory as a resource."""
    return f"{SCHEME}{quote(folder.name)}/{quote(path)}"


def path_of(folder: Folder, uri: str) -> str:
    """The path that a resource's name means; raises NotFound for another user's, in the same words whether there is one."""
    user, _, path = uri.removeprefix(SCHEME).partition("/")
    named = unicodedata.normalize("NFC", unquote(user)) == folder.name
    if not uri.startswith(SCHEME) or not named or not path:
        raise NotFound(f"{one_line(uri, 200)} is no memory of {folder.name}; resources/list names them.")
    return unquote(path)


def listed(folder: Folder, cursor: str | None) -> types.ListResourcesResult:
    """The memories in order of their paths, those behind the one that `cursor` names; what is withheld is not listed."""
    hidden = journal.pending_deletions(folder)
    stats = sorted(stat for stat in folder.files() if not hidden.hides(stat.path, 0) and stat.path > (cursor or ""))
    page = [
        types.Resource(
            uri=uri_of(folder, stat.path),
            name=stat.path,
            title=stat.path.rpartition("/")[2],
            mime_type=_kind(stat.path),
            size=stat.size,
            annotations=types.Annotations(
                last_modified=f"{dt.datetime.fromtimestamp(stat.changed // 10**9, dt.UTC):%FT%TZ}"
            ),
        )
        for stat in itertools.islice(stats, PAGE)
    ]
    return types.ListResourcesResult(resources=page, next_cursor=page[-1].name if len(stats) > PAGE else None)


def read(folder: Folder, uri: str, at: dt.datetime) -> types.ReadResourceResult:
    """A memory's lines as they are on disk now, without control characters and what is withheld; it counts as a recall."""
    where = folder.locate(path_of(folder, uri))
    memory = folder.memory(where)
    if memory.binary:
        raise NotFound(f"{one_line(where)} is not text; read another memory.")
    hidden = answers.hidden_lines(folder, where)
    lines = [
        answers.KEPT_BACK if number in hidden or 0 in hidden else line for number, line in enumerate(memory.lines, 1)
    ]
    journal.note_recall(folder, where, journal.OPENED, at)
    text = escape_controls("\n".join(lines)) + ("\n" if memory.data.endswith(b"\n") else "")
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=_kind(where), text=text)])


def searched(user: User, query: str, today: dt.date) -> dict[str, Any]:
    """The memories that answer a question, as ChatGPT's connectors want them of a tool `search`."""
    best = {hit.path: hit for hit in reversed(user.search_files(query, today=today))}
    found = [
        {
            "id": path,
            "title": one_line(hit.text, 80),
            "text": escape_controls(hit.text),
            "url": uri_of(user.folder, path),
        }
        for path, hit in reversed(best.items())
    ]
    return {"results": found}


def fetched(folder: Folder, id: str, at: dt.datetime) -> dict[str, Any]:
    """One memory in whole, as they want it of a tool `fetch`; raises NotFound."""
    uri = uri_of(folder, id.removeprefix(uri_of(folder, "")))
    return {"id": id, "title": one_line(id), "text": read(folder, uri, at).contents[0].text, "url": uri}


def _kind(path: str) -> str:
    return KINDS.get(path.rpartition(".")[2], "text/plain")
