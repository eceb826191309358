"""Dates that a text names, in English and Chinese, resolved against a day that the caller gives."""

from filemem.text.dates.mentions import Mention, annotate, mentioned, parse_bound
from filemem.text.dates.readers import number
from filemem.text.dates.spans import Span, in_words

__all__ = ["Mention", "Span", "annotate", "in_words", "mentioned", "number", "parse_bound"]
