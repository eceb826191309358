"""All that touches memory files: places, reads and writes, what a file says, logs."""
