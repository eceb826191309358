"""`path:line` in an answer: which lines it names, and whether the model saw them."""

import re

from filemem.errors import FilememError
from filemem.store.folder import Folder
from filemem.tools.grep import text_file

UNSEEN = " [?]"  # follows a citation of something that the model was not shown
_KIND = r"(?:archive/)?(?:facts|sessions|lessons|summaries)/"
_ENDING = r"\.(?:md|ya?ml|txt):\d+"
CITED = re.compile(  # in a language without spaces, words may touch the path
    rf"(?:{_KIND}[\w./\-]+?"
    rf"|(?<![\w./\-])(?![\w./\-]*?{_KIND})\w[\w./\-]*){_ENDING}"
)
_MARKED = re.compile(CITED.pattern + re.escape(UNSEEN))


def cited(answer: str) -> list[str]:
    """Return the lines that an answer names, as `path:line`, each once.

    They may be lines of no memory: `is_shown` tells.
    """
    return list(dict.fromkeys(match[0] for match in CITED.finditer(answer)))


def without_marked(text: str) -> str:
    """Return a text without the citations that were marked as unseen."""
    return _MARKED.sub("", text)


def mark(answer: str, unseen: set[str]) -> str:
    """Return the answer with a mark behind each citation that is in `unseen`."""

    def marked(match: re.Match[str]) -> str:
        return match[0] + UNSEEN if match[0] in unseen else match[0]

    return CITED.sub(marked, answer)


def is_shown(folder: Folder, place: str, shown: str) -> bool:
    """Tell whether `path:line` is a line of a memory that a text has something of.

    Args:
        folder: whose memories these are.
        place: the citation, as `path:line`.
        shown: all that the model was shown before it answered.
    """
    path, _, line = place.rpartition(":")
    try:
        line_count = len(text_file(folder, folder.locate(path)).lines)
    except FilememError:
        return False
    if not 0 < int(line) <= line_count:
        return False
    return re.search(rf"(?<![\w./-]){re.escape(path)}\b", shown) is not None
