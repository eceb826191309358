"""Pydantic AI: a toolset over the memories of the user whom an agent's dependencies name."""

from collections.abc import Callable

from pydantic_ai import RunContext, Tool
from pydantic_ai.tools import AgentDepsT
from pydantic_ai.toolsets import FunctionToolset

from filemem.adapters.shared import added, functions
from filemem.api import User
from filemem.models import prompt


class MemoryToolset(FunctionToolset[AgentDepsT]):
    """grep, search_files, open and close; each run has open files of its own, and the profile in its instructions.

    `user` is whose memories they are, or says it of the dependencies: `MemoryToolset[Deps](lambda deps: deps.user)`. `chat` says
    of them the id under which `user.add_conversation` keeps the conversation going on, of which a search then finds nothing.
    """

    def __init__(
        self,
        user: User | Callable[[AgentDepsT], User],
        *,
        chat: Callable[[AgentDepsT], str] = lambda deps: "",
        id: str = "filemem",
    ) -> None:
        super().__init__(id=id)
        self._of = user
        self._chat = chat

    async def for_run(self, ctx: RunContext[AgentDepsT]) -> FunctionToolset[AgentDepsT]:
        """The toolset of one run, with the user of its dependencies."""
        user = self._of if isinstance(self._of, User) else self._of(ctx.deps)
        four = functions(user, lambda: added(user, self._chat(ctx.deps)))
        made = [
            Tool.from_schema(one.arun, one.name, one.description, one.parameters)
            for one in four
        ]
        how = prompt.template("tools").strip()
        return FunctionToolset[AgentDepsT](
            made,
            id=self.id,
            instructions=lambda: "\n\n".join(
                filter(None, [how, user.prompt_context()])
            ),
        )
