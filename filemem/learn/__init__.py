"""From what was said to facts, lessons and the profile."""
