"""What in Chinese text can be told to be a name, though no capital shows it: a surname where a name may begin, a foreign
name by the characters that write its sounds, a place by a list. Names that look like other words go unnoticed.
"""

import re
from collections.abc import Iterator

from filemem.text import tables, terms

_WORDS = tables.words("names-zh.txt")
_SURNAMES = "|".join(
    f"{name}(?![{other}])" if other else name for name, _, other in (one.partition(":") for one in _WORDS["surnames"])
)
_BEFORE = rf"(?:^|(?<=[^\u4e00-\u9fff])|(?<=[{_WORDS['before'][0]}]))"
_OWN = re.compile(
    rf"{_BEFORE}(?:{_SURNAMES})(?![的了是在和与跟也都就很不])[\u4e00-\u9fff]"
    rf"(?:(?<=[小晓])[\u4e00-\u9fff]|(?![{_WORDS['follows'][0]}])[\u4e00-\u9fff])?"
)
_FOREIGN = re.compile(rf"(?!哈哈)[{''.join(_WORDS['sounds'])}]{{3,6}}|[\u30a1-\u30fa\u30fc]{{2,}}")
_PLACES = re.compile("|".join(_WORDS["places"]))


def names(text: str) -> Iterator[str]:
    """The names in a text, in simplified characters; behind a surname and one character, a third may be another word's."""
    folded = terms.fold(text)
    for pattern in (_OWN, _FOREIGN, _PLACES):
        yield from (match[0] for match in pattern.finditer(folded))
