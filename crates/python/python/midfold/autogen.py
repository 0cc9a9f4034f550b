"""AutoGen: a chat completion context that gives the model a compacted view.

The context keeps every message; `get_messages` returns what is to be sent. One context is one
conversation, as in AutoGen.

    from autogen_agentchat.agents import AssistantAgent
    from midfold.autogen import MidfoldContext

    context = MidfoldContext(window=20_000)
    agent = AssistantAgent(
        "worker", client, tools=[shell], model_context=context, max_tool_iterations=100
    )
    result = await agent.run(task=task)
    print(result.messages[-1].content, context.session.status()["compaction_count"])

`tools=[shell, *context.tools()]` lets the agent bring back what was folded. AutoGen hands a context
neither the usage nor the errors of a call, so midfold counts itself: `output_reserve` keeps room
for what it cannot see, the system message, the tools and the answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from autogen_core import CancellationToken, FunctionCall
from autogen_core.model_context import ChatCompletionContext
from autogen_core.models import (
    AssistantMessage,
    FunctionExecutionResultMessage,
    LLMMessage,
    SystemMessage,
    UserMessage,
)
from autogen_core.tools import BaseTool, ToolSchema
from pydantic import BaseModel, ConfigDict

from . import Session, Sessions, _host

__all__ = ["MidfoldContext", "to_dicts"]

#: A message and which of its results a dict was made of; without results, `None`.
_Piece = tuple[Any, Any]


class MidfoldContext(ChatCompletionContext):
    """A `ChatCompletionContext` that keeps all messages and returns those to send.

    Arguments are those of `midfold.Session` (`window`, `preset`, `policy`, `store` with `id`, …).
    """

    component_provider_override = "midfold.autogen.MidfoldContext"

    def __init__(self, initial_messages: list[LLMMessage] | None = None, **settings: Any) -> None:
        super().__init__(initial_messages)
        self._id: str = settings.pop("id", None) or "context"
        self._sessions = Sessions(**settings)

    @property
    def session(self) -> Session | None:
        """The session of midfold, `None` before the first call."""
        return self._sessions.find(id=self._id)

    async def get_messages(self) -> list[LLMMessage]:
        """What is to be sent of the messages; an unchanged one is the object that was added."""
        given, pieces = to_dicts(self._messages)
        if not given:
            return []
        context = await asyncio.to_thread(self._sessions.project, given, id=self._id)
        built = _host.build(context, given, pieces, edited=_edited, written=_written)
        return [_message(owner, parts) for owner, parts in _host.regroup(built)]

    def tools(self) -> list[BaseTool[Any, Any]]:
        """The recall tools: they bring back what was folded of this context."""
        return [_Recall(tool, self) for tool in _host.tools()]

    def _to_config(self) -> Any:
        raise NotImplementedError("a MidfoldContext is made in code: it holds a conversation")


class _Recall(BaseTool[Any, Any]):
    """A recall tool with the schema of midfold, so that a model reads the same everywhere."""

    def __init__(self, tool: _host.Tool, context: MidfoldContext) -> None:
        super().__init__(_Arguments, str, tool.name, tool.description)
        self._tool, self._context = tool, context

    @property
    def schema(self) -> ToolSchema:
        """The tool as a model gets it."""
        parameters: Any = self._tool.parameters
        return ToolSchema(
            name=self._tool.name, description=self._tool.description, parameters=parameters
        )

    async def run(self, args: Any, cancellation_token: CancellationToken) -> str:
        """Answers with text, an error included."""
        given = args.model_dump()
        session = self._context.session
        return await asyncio.to_thread(_host.answer, session, self._tool.name, given)


class _Arguments(BaseModel):
    """Whatever a model gives: midfold says what is wrong with it."""

    model_config = ConfigDict(extra="allow")


def to_dicts(messages: Sequence[LLMMessage]) -> tuple[list[dict[str, Any]], list[_Piece]]:
    """Messages as the dicts that midfold reads, and what each dict was made of.

    >>> to_dicts([UserMessage(content="hi", source="user")])[0]
    [{'role': 'user', 'content': 'hi'}]
    """
    dicts: list[dict[str, Any]] = []
    pieces: list[_Piece] = []
    for message in messages:
        if isinstance(message, FunctionExecutionResultMessage):
            for result in message.content:
                made = {"role": "tool", "tool_call_id": result.call_id, "content": result.content}
                dicts.append(made)
                pieces.append((message, result))
            continue
        dicts.append(_to_dict(message))
        pieces.append((message, None))
    return dicts, pieces


def _to_dict(message: Any) -> dict[str, Any]:
    if isinstance(message, SystemMessage):
        return {"role": "system", "content": message.content}
    if isinstance(message, AssistantMessage):
        if isinstance(message.content, str):
            return {"role": "assistant", "content": message.content}
        calls = [_host.function_call(c.id, c.name, c.arguments) for c in message.content]
        return {"role": "assistant", "content": message.thought or "", "tool_calls": calls}
    if isinstance(message.content, str):
        return {"role": "user", "content": message.content}
    blocks = [
        {"type": "text", "text": one}
        if isinstance(one, str)
        else {"type": "image_url", "image_url": {"url": one.data_uri}}
        for one in message.content
    ]
    return {"role": "user", "content": blocks}


def _written(message: Mapping[str, Any]) -> _Piece:
    text = _host.text_of(dict(message))
    if message["role"] == "assistant":
        return None, AssistantMessage(content=text, source="midfold")
    return None, UserMessage(content=text, source="midfold")


def _edited(piece: _Piece, was: dict[str, Any], now: dict[str, Any]) -> _Piece:
    """A copy with what midfold changed: the text, or the arguments of the calls."""
    message, result = piece
    if result is not None:
        return message, result.model_copy(update={"content": _host.text_of(now)})
    update: dict[str, Any] = {}
    if now.get("tool_calls") != was.get("tool_calls"):
        update["content"] = [
            FunctionCall(
                id=call["id"],
                name=call["function"]["name"],
                arguments=call["function"]["arguments"],
            )
            for call in now.get("tool_calls") or []
        ]
    if now.get("content") != was.get("content"):
        update["thought" if "tool_calls" in was else "content"] = _host.text_of(now)
    return None, message.model_copy(update=update)


def _message(owner: Any, parts: list[Any]) -> LLMMessage:
    """The message of these parts: the host's own where all of them are there as they were."""
    if owner is None:
        made: LLMMessage = parts[0]
        return made
    if not isinstance(owner, FunctionExecutionResultMessage):
        own: LLMMessage = owner
        return own
    same = len(parts) == len(owner.content) and all(a is b for a, b in zip(parts, owner.content))
    return owner if same else owner.model_copy(update={"content": parts})
