"""Pydantic AI: a capability that sends the model a compacted view of the message history.

`ProcessHistory` replaces the history of a run by what it returns; this does not. The messages of
the run stay whole (`result.all_messages()`), only what an attempt sends is projected.

    from pydantic_ai import Agent
    from midfold.pydantic_ai import Midfold

    compacting = Midfold(window=20_000)
    agent = Agent(model, instructions="Work step by step.", tools=[shell],
                  capabilities=[compacting])
    result = agent.run_sync(task)
    more = agent.run_sync("Which codes were there?", message_history=result.all_messages())
    session = compacting.sessions.find(id=more.conversation_id)
    print(more.output, session.status()["compaction_count"], len(more.all_messages()))

A conversation is that of Pydantic AI: runs that go on with each other's messages share it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pydantic_ai import FunctionToolset, RunContext, Tool
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import RetryModelRequest
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from . import Context, Sessions, _host

__all__ = ["Midfold", "to_dicts"]

#: A message and the part of it that a dict was made of; a response is one dict, without a part.
_Piece = tuple[Any, Any]


class Midfold(AbstractCapability[Any]):
    """Projects each attempt at a model request; the history of the run is never touched.

    Arguments are those of `midfold.Session` but `id` (`window`, `preset`, `policy`, `store`, …), or
    `sessions`, conversations that are shared with something else. `recall=False` leaves out the
    tools that bring back what was folded.
    """

    def __init__(
        self, *, sessions: Sessions | None = None, recall: bool = True, **settings: Any
    ) -> None:
        #: The conversations: `sessions.find(id=result.conversation_id)`.
        self.sessions = _host.sessions_of(sessions, settings)
        self._recall = recall
        #: By run: what was sent last.
        self._sent: dict[str | None, Context] = {}

    @classmethod
    def get_serialization_name(cls) -> str | None:
        """No name: conversations cannot be written into the specification of an agent."""
        return None

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """The recall tools, if there are to be any."""
        if not self._recall:
            return None
        return FunctionToolset([self._tool(tool) for tool in _host.tools()])

    async def wrap_model_request(
        self, ctx: RunContext[Any], *, request_context: Any, handler: Any
    ) -> ModelResponse:
        """Forgets what was sent when the request is over, however it ends."""
        try:
            response: ModelResponse = await handler(request_context)
            return response
        finally:
            self._sent.pop(ctx.run_id, None)

    async def prepare_model_request(self, ctx: RunContext[Any], request_context: Any) -> Any:
        """Puts what is to be sent in the place of the messages, for this attempt alone."""
        given, pieces = to_dicts(request_context.messages)
        if not given:
            return request_context
        id = ctx.conversation_id
        context = await asyncio.to_thread(self.sessions.project, given, id=id)
        self._sent[ctx.run_id] = context
        built = _host.build(context, given, pieces, edited=_edited, written=_written)
        messages = [_message(owner, parts) for owner, parts in _host.regroup(built)]
        return replace(request_context, messages=messages)

    async def after_model_request(
        self, ctx: RunContext[Any], *, request_context: Any, response: ModelResponse
    ) -> ModelResponse:
        """Tells the session what the provider counted."""
        usage = response.usage
        await asyncio.to_thread(
            _host.tell,
            self._sent.get(ctx.run_id),
            usage.input_tokens,
            usage.output_tokens,
            cache_read=usage.cache_read_tokens,
            cache_write=usage.cache_write_tokens,
        )
        return response

    async def on_model_request_error(
        self, ctx: RunContext[Any], *, request_context: Any, error: Exception
    ) -> ModelResponse:
        """Tries once more, with less, where the provider found the prompt too long."""
        less = await asyncio.to_thread(_host.again, self._sent.get(ctx.run_id), error)
        if less is None:
            raise error
        # The session has folded: the next attempt is prepared with less.
        raise RetryModelRequest from error

    def _tool(self, tool: _host.Tool) -> Tool[Any]:
        def call(ctx: RunContext[Any], **arguments: Any) -> str:
            session = self.sessions.find(id=ctx.conversation_id)
            return _host.answer(session, tool.name, arguments)

        return Tool.from_schema(
            call, tool.name, tool.description, dict(tool.parameters), takes_ctx=True
        )


def to_dicts(messages: Sequence[ModelMessage]) -> tuple[list[dict[str, Any]], list[_Piece]]:
    """Messages as the dicts that midfold reads, and what each dict was made of.

    >>> to_dicts([ModelRequest([UserPromptPart("hi")])])[0]
    [{'role': 'user', 'content': 'hi'}]
    """
    dicts: list[dict[str, Any]] = []
    pieces: list[_Piece] = []
    for message in messages:
        if isinstance(message, ModelResponse):
            dicts.append(_response(message))
            pieces.append((message, None))
            continue
        for part in message.parts:
            dicts.append(_part(part))
            pieces.append((message, part))
    return dicts, pieces


def _response(message: ModelResponse) -> dict[str, Any]:
    texts = [part.content for part in message.parts if isinstance(part, TextPart)]
    made: dict[str, Any] = {"role": "assistant", "content": "\n\n".join(texts)}
    calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
    if calls:
        made["tool_calls"] = [
            _host.function_call(call.tool_call_id, call.tool_name, call.args_as_json_str())
            for call in calls
        ]
    return made


def _part(part: Any) -> dict[str, Any]:
    if isinstance(part, ToolReturnPart):
        text = part.model_response_str()
        return {"role": "tool", "tool_call_id": part.tool_call_id, "content": text}
    if isinstance(part, SystemPromptPart):
        return {"role": "system", "content": part.content}
    if not isinstance(part, UserPromptPart):
        # Feedback on an answer and changes of what is offered: no words of the user, but sent so.
        content = getattr(part, "content", None)
        said = part.model_response() if hasattr(part, "model_response") else content
        return {"role": "user", "content": said if isinstance(said, str) else str(said)}
    if isinstance(part.content, str):
        return {"role": "user", "content": part.content}
    return {"role": "user", "content": [_content(one) for one in part.content]}


def _content(one: Any) -> dict[str, Any]:
    text = one if isinstance(one, str) else getattr(one, "content", None)
    if isinstance(text, str):
        return {"type": "text", "text": text}
    url = getattr(one, "url", None) or getattr(one, "data_uri", None)
    if url and str(getattr(one, "media_type", "")).startswith("image/"):
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "text", "text": f"[{type(one).__name__} {getattr(one, 'identifier', '')}]"}


def _written(message: dict[str, Any]) -> _Piece:
    text = _host.text_of(message)
    if message["role"] == "assistant":
        return None, ModelResponse([TextPart(text)])
    return None, ModelRequest([UserPromptPart(text)])


def _edited(piece: _Piece, was: dict[str, Any], now: dict[str, Any]) -> _Piece:
    """A copy of a part with what midfold changed; of a response, a copy of all of it."""
    message, part = piece
    if part is not None:
        # The parts of one request stay together: `regroup` goes by their message.
        return message, replace(part, content=_host.text_of(now))
    texts = [_host.text_of(now)] if now.get("content") != was.get("content") else None
    calls = {call["id"]: call["function"]["arguments"] for call in now.get("tool_calls") or []}
    parts: list[Any] = []
    for one in message.parts:
        if isinstance(one, TextPart) and texts is not None:
            parts.extend(replace(one, content=texts.pop(0), id=None) for _ in texts[:1])
        elif (
            isinstance(one, ToolCallPart) and calls.get(one.tool_call_id) != one.args_as_json_str()
        ):
            # With its id, OpenAI's Responses would put the arguments of its own copy back.
            if one.tool_call_id in calls:
                parts.append(replace(one, args=calls[one.tool_call_id], id=None))
        else:
            parts.append(one)
    return None, replace(message, parts=parts)


def _message(owner: Any, parts: list[Any]) -> Any:
    """The message of these parts: the host's own where all of them are there as they were."""
    if owner is None:
        return parts[0]
    if isinstance(owner, ModelResponse):
        return owner
    same = len(parts) == len(owner.parts) and all(a is b for a, b in zip(parts, owner.parts))
    return owner if same else replace(owner, parts=parts)
