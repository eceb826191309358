"""What fades, what is summarised, what is deleted, and the jobs that do it."""
