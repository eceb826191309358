"""Import of what other programs exported: each parser reads one format and yields the same few shapes."""
