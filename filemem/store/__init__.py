"""All that touches the files: places, reads and writes, a memory, a transcript, a fact, the settings, the logs."""
