"""What a person looks at: problems, counts, names, days, one page."""
