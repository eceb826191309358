"""Pure text: terms, tokens, dates, secrets, what is safe to show. No files, no clock."""
