"""search_files: the question, the ranking, the evidence, the choice of what to show."""
