"""Microsoft's Agent Framework: a `ContextProvider` that recalls before a run and keeps what was said after it."""

import asyncio
from collections.abc import Callable
from typing import Any

from agent_framework import AgentSession, ContextProvider, FunctionTool, SessionContext

from filemem.adapters.shared import KeptSession, functions
from filemem.api import User


class FileMemoryProvider(ContextProvider):
    """The memories of one user, or of whom `user` says of a session; each session is a transcript.

    A run gets the wishes, the profile, what a search for the message finds outside of the session itself, and the four tools.
    Before 1.12 an agent with providers has no history of its own: put `InMemoryHistoryProvider()` before this one.
    """

    def __init__(
        self, user: User | Callable[[AgentSession], User], source_id: str = "filemem"
    ) -> None:
        super().__init__(source_id)
        self._of = user

    async def before_run(
        self, *, agent: Any, session: AgentSession, context: SessionContext, state: Any
    ) -> None:
        """Add what is known to the run's instructions."""
        user, kept = self._kept(session, context)
        said = "\n".join(
            one.text for one in context.input_messages if one.role == "user"
        )
        current = await asyncio.to_thread(kept.current)
        known = await asyncio.to_thread(user.prompt_context, said, current=current)
        if known:
            context.extend_instructions(self.source_id, known)
        tools = [
            FunctionTool(
                func=one.arun,
                name=one.name,
                description=one.description,
                input_model=one.parameters,
            )
            for one in functions(user, kept.current)
        ]
        context.extend_tools(self.source_id, tools)

    async def after_run(
        self, *, agent: Any, session: AgentSession, context: SessionContext, state: Any
    ) -> None:
        """Keep what was said."""
        kept = self._kept(session, context)[1]
        said = [
            *context.input_messages,
            *(context.response.messages if context.response else ()),
        ]
        for one in said:
            if one.role in ("user", "assistant") and one.text.strip():
                await asyncio.to_thread(kept.say, one.role, one.text)

    def _kept(
        self, session: AgentSession, context: SessionContext
    ) -> tuple[User, KeptSession]:
        user = self._of if isinstance(self._of, User) else self._of(session)
        return user, KeptSession(
            user, "agent-framework", context.session_id or session.session_id
        )
