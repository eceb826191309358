"""What is told without talk: a person's notes and what programs report, such as a login or a sensor's reading; a session a day.

Its front matter says `origin`, so that nothing of it steers an assistant, as with what is imported; and `records`, so that rules
make facts of the person's own words alone.
"""

import datetime as dt

from filemem.errors import FilememError
from filemem.files import archive, config
from filemem.files.folder import Folder
from filemem.files.transcript import EVENTS, Transcript
from filemem.text.plain import one_line
from filemem.text.redaction import Redaction, redact

SPEAKER = "event"  # of what no person says
LONGEST_KIND = 60  # characters


def add(folder: Folder, text: str, at: dt.datetime, kind: str = "") -> tuple[str, list[Redaction]]:
    """Keep a note of the person's, or an event of some kind, in the file of its day; secrets are taken out unless the settings
    keep them. Returns its place as path:line, and what was taken out; raises FilememError where nothing is told.
    """
    kind = one_line(kind, LONGEST_KIND)
    said = ": ".join(filter(None, (kind, text.strip())))
    if not said:
        raise FilememError("there is nothing to note; say what, as in: filemem note 'The boiler was serviced.'")
    settings, found = config.of(folder), list[Redaction]()
    if settings.redact:
        said, found = redact(said, settings.own)
    path = f"sessions/{at:%Y}/{at:%Y-%m-%d}-{EVENTS}.md"
    with folder.locked():
        if not list(archive.places(folder, path)):
            folder.create(path, "---\ntitle: Events of the day\norigin: events\nrecords: true\n---\n\n")
        day = Transcript(folder, path)
        line = day.add(SPEAKER if kind else folder.name, said, at)
    return f"{day.path}:{line}", found
