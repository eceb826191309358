"""A user's memories in git: commits, the log, the past, undo, several machines."""
