"""Another name of `safe`, until every room uses that one."""

from filemem.files.safe import *  # noqa: F403
