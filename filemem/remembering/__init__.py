"""From what was said to facts, lessons and the profile: sentences worth keeping, extraction, verification, comparison."""
