"""Lines that match a regular expression."""
