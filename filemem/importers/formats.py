"""The formats that an import knows, and an import of one file."""

import os
from collections import Counter
from datetime import UTC, datetime, tzinfo
from importlib import metadata

from filemem.errors import Changed, NotFound, Refused
from filemem.importers import portable
from filemem.importers.base import ImportedNote, Parser, Skipped
from filemem.importers.chatgpt import chatgpt
from filemem.importers.claude import claude
from filemem.importers.claude_code import claude_code
from filemem.importers.codex import codex
from filemem.importers.intake import ImportReport, Intake
from filemem.importers.jsonl import openai_jsonl
from filemem.importers.markdown import markdown
from filemem.store.folder import Folder
from filemem.store.zones import person_zone
from filemem.text.plain import one_line

FORMATS: dict[str, Parser] = {
    "chatgpt": chatgpt,
    "claude": claude,
    "openai-jsonl": openai_jsonl,
    "claude-code": claude_code,
    "codex": codex,
    "markdown": markdown,
}


def find_parser(format_: str) -> Parser:
    """Return the parser of a format, ours or one that an installed package adds.

    Raises:
        NotFound: there is none; it names the formats that there are.
    """
    if format_ in FORMATS:
        return FORMATS[format_]
    for found in metadata.entry_points(group="filemem.importers", name=format_):
        parser: Parser = found.load()
        return parser
    raise NotFound(
        f"there is no format {one_line(format_, 40)}; take one of {', '.join(FORMATS)}."
    )


def import_file(
    folder: Folder,
    format_: str,
    path: str,
    *,
    zone: tzinfo | None = None,
    dry_run: bool = False,
    with_secrets: bool = False,
) -> ImportReport:
    """Take into a user's memory what an export holds and the memory does not.

    A second run changes nothing. What was taken before an error stays; the next run
    goes on from there.

    Args:
        folder: of the user whose memory it is.
        format_: what `find_parser` knows, or `filemem`.
        path: of the export.
        zone: in which times are written; None for the person's own.
        dry_run: report the same and write nothing.
        with_secrets: keep secrets, which are taken out and reported otherwise.

    Raises:
        NotFound, Refused, FilememError: `path` is no such export.
    """
    zone = zone or person_zone(folder)
    path = os.path.realpath(path)
    if not os.path.exists(path):
        raise NotFound(
            f"{one_line(path)} does not exist; name the export's file or folder."
        )
    common = os.path.commonpath([path, folder.store])
    if os.path.isdir(path) and common in (path, folder.store):
        raise Refused(
            f"{one_line(path)} contains the store or lies in it; "
            "import from a separate folder."
        )
    if format_ == portable.FORMAT:
        return portable.unpack(folder, path, dry_run=dry_run)
    modified_at = datetime.fromtimestamp(int(os.path.getmtime(path)), UTC)
    intake = Intake(
        folder,
        format_,
        modified_at.astimezone(zone),
        dry_run=dry_run,
        with_secrets=with_secrets,
    )
    for item in find_parser(format_)(path, zone):
        if isinstance(item, Skipped):
            intake.skip(*item)
        elif isinstance(item, Counter):
            intake.report.left_out.update(+item)  # none of a kind is not told
        else:
            try:
                intake.take(item)
            except (Refused, Changed) as error:
                name = item.path if isinstance(item, ImportedNote) else item.title
                intake.skip(name or item.id, str(error))
    return intake.report
