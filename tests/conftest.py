"""Whatever starts the tests, a Ctrl-C reaches the programs that they start: a shell has its background jobs ignore it.

And nothing of the machine's owner decides or is changed: the person who has agreed to this or that lives in a new folder.
"""

import os
import signal
import tempfile

signal.signal(signal.SIGINT, signal.default_int_handler)
_own = tempfile.TemporaryDirectory()
os.environ["XDG_CONFIG_HOME"] = _own.name
os.environ.pop("FILEMEM_TRUST", None)
