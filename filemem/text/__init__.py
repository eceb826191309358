"""Pure text: terms, dates, secrets, what is safe to show. No clock, no user's files."""
