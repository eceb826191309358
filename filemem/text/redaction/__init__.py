"""Secrets taken out of text: keys, tokens, passwords, codes, card and account numbers, national ids."""

from filemem.text.redaction.redacting import KINDS, Redaction, kinds, redact

__all__ = ["KINDS", "Redaction", "kinds", "redact"]
