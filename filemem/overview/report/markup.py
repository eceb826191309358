"""HTML and SVG as nested calls: what is no markup by type is text, and is escaped where it is put in.

`element("p", "a < b", id="x")` is `<p id="x">a &lt; b</p>`. Control characters and marks that turn the direction of text
around are spelt out, as everywhere else; each text keeps to its own direction by the style sheet.
"""

import html
import re
from collections.abc import Iterable

from filemem.text.plain import escape_controls

_ALONE = frozenset({"meta"})  # elements without an end
# What no HTML document may hold, even spelt as a reference: the non-characters of Unicode.
_FORBIDDEN = re.compile(
    "[\ufdd0-\ufdef" + "".join(chr(n << 16 | 0xFFFE) + chr(n << 16 | 0xFFFF) for n in range(17)) + "]"
)


class Html(str):
    """Markup, which is put in as it is."""

    __slots__ = ()


Node = str | int | float
"""Markup, or text or a number that becomes text."""


def element(name: str, /, *children: Node, **attributes: Node) -> Html:
    """One element. In names of attributes `_` stands for `-`, a last one for nothing (`class_`)."""
    given = "".join(f' {key.rstrip("_").replace("_", "-")}="{text(value)}"' for key, value in attributes.items())
    if name in _ALONE:
        return Html(f"<{name}{given}>")
    return Html(f"<{name}{given}>{''.join(map(text, children))}</{name}>")


def joined(nodes: Iterable[Node], between: str = "") -> Html:
    """Some nodes in a row."""
    return Html(text(between).join(map(text, nodes)))


def text(node: Node) -> Html:
    """A node as markup: text escaped, a fraction with one decimal place at most."""
    if isinstance(node, Html):
        return node
    if isinstance(node, float):
        return Html(f"{node:.1f}".removesuffix(".0"))
    return Html(html.escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", escape_controls(str(node)))))
