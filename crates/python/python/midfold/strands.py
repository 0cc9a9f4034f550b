"""Strands Agents: a plugin that sends the model a compacted view of `agent.messages`.

The host's conversation managers take messages out of the agent; this does not. `agent.messages`
stays whole, and so does what a session manager writes: only what a model call sends is projected.

    from strands import Agent
    from strands.agent.conversation_manager import NullConversationManager
    from midfold.strands import Midfold

    compacting = Midfold(window=20_000)
    agent = Agent(model=model, tools=[shell], plugins=[compacting],
                  conversation_manager=NullConversationManager())
    result = agent(task)
    session = compacting.session(agent)
    print(result, session.status()["compaction_count"], len(agent.messages))

`NullConversationManager` matters: the sliding window that is the host's default would still take
the oldest messages away after a run, for midfold too.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from strands import Agent
from strands.middleware import InvokeModelStage
from strands.plugins import Plugin
from strands.tools.tools import PythonAgentTool

from . import Context, Session, Sessions, _host

__all__ = ["Midfold"]

_Message = dict[str, Any]


class Midfold(Plugin):
    """Projects each model call of the agents that it is given to.

    Arguments are those of `midfold.Session` but `id` (`window`, `preset`, `policy`, `store`, …), or
    `sessions`, conversations that are shared with something else. `recall=False` leaves out the
    tools that bring back what was folded. A conversation is found by its messages, so that one
    plugin serves any number of agents.
    """

    def __init__(
        self, *, sessions: Sessions | None = None, recall: bool = True, **settings: Any
    ) -> None:
        super().__init__()
        if sessions is None:
            settings.setdefault("dialect", "bedrock")
        #: The conversations, by what is in them.
        self.sessions = _host.sessions_of(sessions, settings)
        self._recall = recall

    @property
    def name(self) -> str:
        """The name of the plugin in an agent."""
        return "midfold"

    def init_agent(self, agent: Agent) -> None:
        """Stands in front of the agent's model calls, and gives it the recall tools."""
        agent.add_middleware(InvokeModelStage, self._call)
        if self._recall:
            agent.tool_registry.process_tools([self._tool(tool) for tool in _host.tools()])

    def session(self, agent: Agent) -> Session | None:
        """The session of an agent's conversation, `None` while nothing was sent of it."""
        return self.sessions.find(_bare(agent.messages))

    async def _call(self, context: Any, next_fn: Any) -> AsyncGenerator[Any, None]:
        """Sends what the session says; once more, and less, where that is too long."""
        given = _bare(context.messages)
        sent = await asyncio.to_thread(self.sessions.project, given)
        try:
            async for event in self._sent(sent, given, context, next_fn):
                yield event
        except Exception as error:
            less = await asyncio.to_thread(_host.again, sent, error)
            if less is None:
                raise
            async for event in self._sent(less, given, context, next_fn):
                yield event

    async def _sent(
        self, sent: Context, given: list[_Message], context: Any, next_fn: Any
    ) -> AsyncGenerator[Any, None]:
        def edited(own: _Message, was: _Message, now: _Message) -> _Message:
            return {**own, "content": now["content"]}

        own = _host.build(sent, given, context.messages, edited=edited, written=dict)
        async for event in next_fn(context.replace(messages=own)):
            usage = getattr(event, "usage", None)
            if usage is not None:
                await asyncio.to_thread(_observe, sent, usage)
            yield event

    def _tool(self, tool: _host.Tool) -> PythonAgentTool:
        def call(use: Any, **given: Any) -> Any:
            text = _host.answer(self.session(given["agent"]), tool.name, use.get("input") or {})
            answer = {"toolUseId": use["toolUseId"], "status": "success"}
            return {**answer, "content": [{"text": text}]}

        schema: Any = {"json": tool.parameters}
        return PythonAgentTool(
            tool.name,
            {"name": tool.name, "description": tool.description, "inputSchema": schema},
            call,
        )


def _bare(messages: Any) -> list[_Message]:
    """Messages as a provider gets them: what the host notes down about each is left out."""
    return [{"role": one["role"], "content": one["content"]} for one in messages]


def _observe(sent: Context, usage: Any) -> None:
    """Bedrock and Anthropic count what was read from a cache beside the rest, OpenAI within it."""
    read, write = usage.get("cacheReadInputTokens", 0), usage.get("cacheWriteInputTokens", 0)
    prompt = usage.get("inputTokens", 0)
    if usage.get("totalTokens", 0) >= prompt + usage.get("outputTokens", 0) + read + write:
        prompt += read + write
    _host.tell(sent, prompt, usage.get("outputTokens", 0), cache_read=read, cache_write=write)
