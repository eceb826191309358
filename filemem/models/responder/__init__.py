"""What answers where no model is configured: facts, what was told and what was said just now, quoted with `path:line`."""

from filemem.models.responder.replying import LIMIT, Memories, reply, searches

__all__ = ["LIMIT", "Memories", "reply", "searches"]
