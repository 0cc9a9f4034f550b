"""Google's Agent Development Kit: a plugin that sends the model a compacted view of the session.

The events of the session stay as they are; only the contents of a request to the model are
projected.

    from google.adk.agents import LlmAgent
    from google.adk.apps import App
    from google.adk.runners import InMemoryRunner
    from midfold.adk import MidfoldPlugin

    compacting = MidfoldPlugin(window=20_000)
    agent = LlmAgent(name="worker", model=model, tools=[shell, *compacting.tools()])
    runner = InMemoryRunner(app=App(name="work", root_agent=agent, plugins=[compacting]))
    events = await runner.run_debug(task, session_id="led-4100", quiet=True)
    session = compacting.sessions.find(id="led-4100/worker")
    print(events[-1].content.parts[0].text, session.status()["compaction_count"])

A conversation is a session of ADK as one agent sees it: `SESSION/AGENT` is its id. A plugin cannot
send a request again: what a provider refuses as too long ends the run, so give it the real window.
"""

from __future__ import annotations

import asyncio
from typing import Any

from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.base_tool import BaseTool
from google.genai import types

from . import Context, Sessions, _host

__all__ = ["MidfoldPlugin", "to_dict"]


class MidfoldPlugin(BasePlugin):
    """Projects the contents of each request of an app's agents.

    Arguments are those of `midfold.Session` but `id` (`window`, `preset`, `policy`, `store`, …), or
    `sessions`, conversations that are shared with something else.
    """

    def __init__(
        self, name: str = "midfold", *, sessions: Sessions | None = None, **settings: Any
    ) -> None:
        super().__init__(name=name)
        if sessions is None:
            settings.setdefault("dialect", "gemini")
        #: The conversations: `sessions.find(id="SESSION/AGENT")`.
        self.sessions = _host.sessions_of(sessions, settings)
        self._sent: dict[tuple[str, str], Context] = {}

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        """Puts what is to be sent in the place of the request's contents."""
        own = list(llm_request.contents)
        given = [to_dict(content) for content in own]
        if not given:
            return
        id = _id(callback_context)
        context = await asyncio.to_thread(self.sessions.project, given, id=id)
        self._sent[callback_context.invocation_id, id] = context
        llm_request.contents = _host.build(context, given, own, edited=_edited, written=_written)

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
        """Tells the session what the provider counted, once a request."""
        usage = llm_response.usage_metadata
        if usage is None or llm_response.partial:
            return
        key = callback_context.invocation_id, _id(callback_context)
        await asyncio.to_thread(
            _host.tell,
            self._sent.pop(key, None),
            usage.prompt_token_count,
            usage.candidates_token_count,
            cache_read=usage.cached_content_token_count,
        )

    async def after_run_callback(self, *, invocation_context: Any) -> None:
        """Forgets what was sent in a run, however its requests ended."""
        ended = invocation_context.invocation_id
        for key in [key for key in self._sent if key[0] == ended]:
            self._sent.pop(key, None)

    def tools(self) -> list[BaseTool]:
        """The recall tools: they bring back what was folded of the conversation that asks."""
        return [_Recall(tool, self.sessions) for tool in _host.tools()]


class _Recall(BaseTool):
    """A recall tool with the schema of midfold, so that a model reads the same everywhere."""

    def __init__(self, tool: _host.Tool, sessions: Sessions) -> None:
        super().__init__(name=tool.name, description=tool.description)
        self._tool, self._sessions = tool, sessions

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name,
            description=self.description,
            parameters_json_schema=self._tool.parameters,
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
        session = self._sessions.find(id=_id(tool_context))
        text = await asyncio.to_thread(_host.answer, session, self._tool.name, args)
        return {"result": text}


def to_dict(content: types.Content) -> dict[str, Any]:
    """A content as the API of Gemini writes it, which midfold reads.

    >>> to_dict(types.Content(role="user", parts=[types.Part(text="hi")]))
    {'parts': [{'text': 'hi'}], 'role': 'user'}
    """
    return content.model_dump(mode="json", by_alias=True, exclude_none=True)


def _written(message: dict[str, Any]) -> types.Content:
    return types.Content.model_validate(message)


def _edited(own: types.Content, was: dict[str, Any], now: dict[str, Any]) -> types.Content:
    """A copy of a content with the parts that midfold changed; the others are the host's own."""
    kept = dict(enumerate(own.parts or []))
    same = dict(enumerate(was.get("parts") or []))
    parts = [
        kept[n] if same.get(n) == part else types.Part.model_validate(part)
        for n, part in enumerate(now.get("parts") or [])
    ]
    return own.model_copy(update={"parts": parts})


def _id(context: Any) -> str:
    return f"{context.session.id}/{context.agent_name}"
