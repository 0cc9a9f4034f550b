"""LangChain and LangGraph: a middleware that sends the model a compacted view of the conversation.

The messages of the graph's state stay as they are, in memory and in the checkpointer: only what a
model call sends is projected. One middleware serves any number of threads.

    from langchain.agents import create_agent
    from langgraph.checkpoint.memory import InMemorySaver
    from midfold.langchain import MidfoldMiddleware

    compacting = MidfoldMiddleware(window=20_000)
    agent = create_agent(
        model, tools=[shell], middleware=[compacting], checkpointer=InMemorySaver()
    )
    thread = {"configurable": {"thread_id": "led-4100"}, "recursion_limit": 200}
    state = agent.invoke({"messages": [("user", task)]}, thread)
    print(state["messages"][-1].text, compacting.sessions.find(id="led-4100").status())

With `store="sqlite:sessions.db"` conversations are durable and other processes see them. deepagents
summarizes by a middleware of its own, which one of the same name replaces:
`create_deep_agent(middleware=[MidfoldMiddleware(name="SummarizationMiddleware")])`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Sequence
from typing import Any, Callable

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain.tools import ToolRuntime
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    ToolMessage,
    convert_to_openai_messages,
)
from langchain_core.tools import BaseTool, StructuredTool

from . import Context, Sessions, _host

__all__ = ["MidfoldMiddleware", "to_dicts"]


class MidfoldMiddleware(AgentMiddleware[Any, Any, Any]):
    """Projects each model call of an agent; never touches the state.

    Arguments are those of `midfold.Session` but `id` (`window`, `preset`, `policy`, `store`, …), or
    `sessions`, conversations that are shared with something else. `recall=False` leaves out the
    tools that bring back what was folded. A conversation is the thread of the checkpointer's
    config; without one it is found by its messages.
    """

    def __init__(
        self,
        *,
        sessions: Sessions | None = None,
        recall: bool = True,
        name: str = "MidfoldMiddleware",
        **settings: Any,
    ) -> None:
        super().__init__()
        self._name = name
        #: The conversations, by thread: `sessions.find(id=thread_id)`.
        self.sessions = _host.sessions_of(sessions, settings)
        self.tools: Sequence[BaseTool] = (
            [_recall_tool(tool, self.sessions) for tool in _host.tools()] if recall else []
        )

    @property
    def name(self) -> str:
        """The name in the agent's list of middleware, where no two may have the same."""
        return self._name

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        """Sends what the session says; once more, and less, where that is too long."""
        if not request.messages:
            return handler(request)
        given = to_dicts(request.messages)
        context = self.sessions.project(given, id=_thread(request.runtime))
        try:
            response = handler(_with(request, context, given))
        except Exception as error:
            less = _host.again(context, error)
            if less is None:
                raise
            context = less
            response = handler(_with(request, context, given))
        _observe(context, response)
        return response

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """The same for `ainvoke` and `astream`; the engine works beside the event loop."""
        if not request.messages:
            return await handler(request)
        given = to_dicts(request.messages)
        id = _thread(request.runtime)
        context = await asyncio.to_thread(self.sessions.project, given, id=id)
        try:
            response = await handler(_with(request, context, given))
        except Exception as error:
            less = await asyncio.to_thread(_host.again, context, error)
            if less is None:
                raise
            context = less
            response = await handler(_with(request, context, given))
        await asyncio.to_thread(_observe, context, response)
        return response


def to_dicts(messages: Sequence[BaseMessage]) -> list[dict[str, Any]]:
    """LangChain's messages as the dicts that midfold reads: the same message gives the same dict.

    >>> to_dicts([HumanMessage("hi")])
    [{'role': 'user', 'content': 'hi'}]
    """
    return [_to_dict(message) for message in messages]


def _to_dict(message: BaseMessage) -> dict[str, Any]:
    if isinstance(message, AIMessage):
        made: dict[str, Any] = {"role": "assistant", "content": str(message.text)}
        calls = [
            _host.function_call(c["id"] or "", c["name"], c["args"]) for c in message.tool_calls
        ]
        for call in message.invalid_tool_calls:
            id, name = call["id"] or "", call["name"] or ""
            calls.append(_host.function_call(id, name, call["args"] or ""))
        if calls:
            made["tool_calls"] = calls
        return made
    if isinstance(message, ToolMessage) and isinstance(message.content, str):
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.content}
    converted = convert_to_openai_messages(message)
    assert isinstance(converted, dict)
    return converted


def _with(
    request: ModelRequest[Any], context: Context, given: list[dict[str, Any]]
) -> ModelRequest[Any]:
    messages = _host.build(context, given, request.messages, edited=_edited, written=_written)
    return request.override(messages=messages)


def _written(message: dict[str, Any]) -> BaseMessage:
    text = _host.text_of(message)
    return AIMessage(text) if message["role"] == "assistant" else HumanMessage(text)


def _edited(own: BaseMessage, was: dict[str, Any], now: dict[str, Any]) -> BaseMessage:
    """A copy of a message of the host with what midfold changed of it: its text, or its calls."""
    update: dict[str, Any] = {}
    if now.get("content") != was.get("content"):
        update["content"] = _content(own, now)
    if isinstance(own, AIMessage) and now.get("tool_calls") != was.get("tool_calls"):
        arguments = {c["id"]: c["function"]["arguments"] for c in now.get("tool_calls") or []}
        update["tool_calls"] = [
            {**call, "args": _parsed(arguments[call["id"]], call["args"])}
            for call in own.tool_calls
            if call["id"] in arguments
        ]
        content = update.get("content", own.content)
        if isinstance(content, list):
            update["content"] = [_block(block, arguments) for block in content]
    return own.model_copy(update=update)


def _content(own: BaseMessage, now: dict[str, Any]) -> Any:
    """The new content: in the place of the first text where the host has blocks."""
    if not isinstance(now.get("content"), str) or isinstance(own.content, str):
        return now.get("content") or ""
    blocks: list[Any] = []
    text: str | None = now["content"]
    for block in own.content:
        if isinstance(block, str) or block.get("type") in ("text", "output_text"):
            if text is not None:
                blocks.append({"type": "text", "text": text})
            text = None
        else:
            blocks.append(block)
    return blocks if text is None else [*blocks, {"type": "text", "text": text}]


def _block(block: Any, arguments: dict[str | None, str]) -> Any:
    """A block of the content that repeats a tool call, with the arguments that are sent."""
    if not isinstance(block, dict):
        return block
    if block.get("type") == "tool_use" and block.get("id") in arguments:
        return {**block, "input": _parsed(arguments[block["id"]], block.get("input"))}
    if block.get("type") == "function_call" and block.get("call_id") in arguments:
        return {**block, "arguments": arguments[block["call_id"]]}
    return block


def _parsed(arguments: str, before: Any) -> Any:
    try:
        read = json.loads(arguments)
    except ValueError:
        return before
    return read if isinstance(read, dict) else before


def _thread(runtime: Any) -> str | None:
    """The thread of a run, and of an agent inside of it: a subagent has its parent's thread id."""
    info = getattr(runtime, "execution_info", None)
    if info is None or not info.thread_id:
        return None
    parent = (info.checkpoint_ns or "").rpartition("|")[0]
    return f"{info.thread_id}/{parent}" if parent else str(info.thread_id)


def _observe(context: Context, response: Any) -> None:
    response = getattr(response, "model_response", response)
    for message in getattr(response, "result", None) or [response]:
        usage = getattr(message, "usage_metadata", None)
        if usage:
            details = usage.get("input_token_details") or {}
            _host.tell(
                context,
                usage["input_tokens"],
                usage["output_tokens"],
                cache_read=details.get("cache_read"),
                cache_write=details.get("cache_creation"),
            )


def _recall_tool(tool: _host.Tool, sessions: Sessions) -> BaseTool:
    def call(runtime: ToolRuntime, **arguments: Any) -> str:
        session = sessions.find(id=_thread(runtime)) if _thread(runtime) else None
        if session is None:
            session = sessions.find(to_dicts(runtime.state["messages"]))
        return _host.answer(session, tool.name, arguments)

    return StructuredTool.from_function(
        call, name=tool.name, description=tool.description, args_schema=tool.parameters
    )
