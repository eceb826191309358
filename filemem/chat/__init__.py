"""One conversation: what the person says is on disk first, then it is answered."""
