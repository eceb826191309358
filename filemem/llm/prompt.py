"""The program's own words to models, and memory text between marks.

The text cannot forge such a mark.
"""

import re
from importlib import resources

from filemem.text.plain import escape_controls, one_line

REQUEST_TOKENS = 6000  # of turns, in one request to read or to summarise

MARK = re.compile(r"<(?=\s*/?\s*(?:memory|program|filemem))", re.IGNORECASE)


def template(name: str) -> str:
    """The text of `filemem/prompts/<name>`, a `.md` where it does not say."""
    return (
        resources.files("filemem") / "prompts" / (name if "." in name else f"{name}.md")
    ).read_text("utf-8")


def contained(text: str, longest: int = 200) -> str:
    """A file's text on one line, of `longest` characters, that cannot forge a mark."""
    return MARK.sub("&lt;", one_line(text, longest))


def data(path: str, text: str) -> str:
    """Memory text between marks that it cannot forge; empty for none."""
    inside = MARK.sub("&lt;", escape_controls(text))
    name = (
        escape_controls(path)
        .replace("&", "&amp;")
        .replace('"', "&quot;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
    )
    return f'<memory path="{name}">\n{inside}\n</memory>' if text else ""
