"""Whatever starts the tests, a Ctrl-C reaches the programs that they start: a shell has its background jobs ignore it."""

import signal

signal.signal(signal.SIGINT, signal.default_int_handler)
