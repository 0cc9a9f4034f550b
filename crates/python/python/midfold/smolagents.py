"""smolagents: a model that sends the model it wraps a compacted view.

The agent's memory stays whole: steps, observations and `agent.memory` are the host's alone.

    from smolagents import CodeAgent
    from midfold.smolagents import MidfoldModel

    compacting = MidfoldModel(model, window=20_000)
    agent = CodeAgent(tools=[shell, *compacting.tools()], model=compacting, max_steps=100,
                      verbosity_level=0)
    answer = agent.run(task)
    session = compacting.sessions.find(compacting.to_dicts(agent.write_memory_to_messages()))
    print(answer, session.status()["compaction_count"])

smolagents writes calls and results as text of an assistant and a user. midfold reads them as what
they are, so that old results are cut first, as everywhere else.
"""

from __future__ import annotations

import ast
import json
import threading
from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any

from smolagents import Tool
from smolagents.models import ChatMessage, MessageRole, Model

from . import Context, Sessions, _host

__all__ = ["MidfoldModel", "to_dicts"]

_CALLING = "Calling tools:\n"


class MidfoldModel(Model):  # type: ignore[misc, unused-ignore]
    """A model of smolagents in front of another one.

    Arguments are the model to wrap and those of `midfold.Session` but `id` (`window`, `preset`,
    `policy`, …), or `sessions`. A conversation is found by its messages, so that agents can share
    one model.
    """

    def __init__(self, model: Model, *, sessions: Sessions | None = None, **settings: Any) -> None:
        super().__init__(model_id=model.model_id)
        #: The model that is asked.
        self.model = model
        #: The conversations, by what is in them.
        self.sessions = _host.sessions_of(sessions, settings)
        self._sent = threading.local()

    def generate(self, messages: list[Any], *args: Any, **more: Any) -> ChatMessage:
        """Sends what the session says; once more, and less, where that is too long."""
        given, context = self._project(messages)
        try:
            answer = self.model.generate(self._own(messages, given, context), *args, **more)
        except Exception as error:
            less = _host.again(context, error)
            if less is None:
                raise
            self._sent.context = context = less
            answer = self.model.generate(self._own(messages, given, context), *args, **more)
        _observe(context, answer.token_usage)
        return answer

    def generate_stream(
        self, messages: list[Any], *args: Any, **more: Any
    ) -> Generator[Any, None, None]:
        """The same for agents with `stream_outputs=True`."""
        given, context = self._project(messages)
        try:
            yield from self._stream(messages, given, context, args, more)
        except Exception as error:
            less = _host.again(context, error)
            if less is None:
                raise
            self._sent.context = less
            yield from self._stream(messages, given, less, args, more)

    def tools(self) -> list[Tool]:
        """The recall tools: they bring back what was folded of the conversation that asks."""
        return [_recall(tool, self._answer) for tool in _host.tools()]

    def parse_tool_calls(self, message: ChatMessage) -> ChatMessage:
        """How the wrapped model finds calls in a text."""
        return self.model.parse_tool_calls(message)

    def to_dict(self) -> dict[str, Any]:
        """The wrapped model's: an agent that is saved is loaded without midfold."""
        written: dict[str, Any] = self.model.to_dict()
        return written

    @staticmethod
    def to_dicts(messages: Sequence[Any]) -> list[dict[str, Any]]:
        """Messages as the dicts that midfold reads; see the function of this module."""
        return to_dicts(messages)

    def __getattr__(self, name: str) -> Any:
        if name == "model":
            raise AttributeError(name)
        return getattr(self.model, name)

    def _project(self, messages: list[Any]) -> tuple[list[dict[str, Any]], Context]:
        given = to_dicts(messages)
        context = self._sent.context = self.sessions.project(given)
        return given, context

    def _own(self, messages: list[Any], given: list[dict[str, Any]], context: Context) -> list[Any]:
        return _host.build(context, given, messages, edited=_edited, written=_written)

    def _stream(
        self,
        messages: list[Any],
        given: list[dict[str, Any]],
        context: Context,
        args: tuple[Any, ...],
        more: dict[str, Any],
    ) -> Generator[Any, None, None]:
        own = self._own(messages, given, context)
        for delta in self.model.generate_stream(own, *args, **more):
            _observe(context, delta.token_usage)
            yield delta

    def _answer(self, name: str, arguments: dict[str, Any]) -> str:
        context: Context | None = getattr(self._sent, "context", None)
        return _host.answer(None if context is None else context.session, name, arguments)


def to_dicts(messages: Sequence[Any]) -> list[dict[str, Any]]:
    """Messages as the dicts that midfold reads: calls and results are calls and results again.

    >>> to_dicts([ChatMessage(MessageRole.USER, [{"type": "text", "text": "hi"}])])
    [{'role': 'user', 'content': 'hi'}]
    """
    dicts: list[dict[str, Any]] = []
    waiting: str | None = None
    for message in messages:
        text = _text(message)
        call = _call(text) if message.role == MessageRole.TOOL_CALL else None
        if call is not None:
            dicts.append({"role": "assistant", "content": "", "tool_calls": [call]})
            waiting = call["id"]
        elif message.role == MessageRole.TOOL_RESPONSE and waiting is not None:
            dicts.append({"role": "tool", "tool_call_id": waiting, "content": text})
            waiting = None
        else:
            role = str(getattr(message.role, "value", message.role))
            names = {"tool-call": "assistant", "tool-response": "user"}
            dicts.append({"role": names.get(role, role), "content": text})
    return dicts


def _text(message: Any) -> str:
    if isinstance(message.content, str):
        return message.content
    blocks = message.content or []
    return "\n".join(block.get("text") or f"[{block['type']}]" for block in blocks)


def _call(text: str) -> dict[str, Any] | None:
    """The call that smolagents wrote down; several of a step have one result, and are one."""
    try:
        calls = ast.literal_eval(text.removeprefix(_CALLING))
        function = calls[0]["function"]
        arguments = function["arguments"]
        if len(calls) > 1:
            arguments = {"calls": calls}
        elif not isinstance(arguments, dict):
            arguments = {"code": arguments}
        return _host.function_call(str(calls[0]["id"]), str(function["name"]), arguments)
    except (ValueError, SyntaxError, LookupError, TypeError):
        return None


def _edited(own: Any, was: dict[str, Any], now: dict[str, Any]) -> Any:
    """A copy with another text; in that of a call, the arguments that are sent."""
    text = _host.text_of(now)
    if now.get("tool_calls"):
        [call] = now["tool_calls"]
        function = call["function"]
        sent = {**function, "arguments": json.loads(function["arguments"])}
        text = _CALLING + str([{"id": call["id"], "type": "function", "function": sent}])
    return replace(own, content=[{"type": "text", "text": text}])


def _written(message: dict[str, Any]) -> ChatMessage:
    role = MessageRole.ASSISTANT if message["role"] == "assistant" else MessageRole.USER
    return ChatMessage(role, [{"type": "text", "text": _host.text_of(message)}])


def _observe(context: Context, usage: Any) -> None:
    if usage is not None:
        _host.tell(context, usage.input_tokens, usage.output_tokens)


def _recall(tool: _host.Tool, answer: Any) -> Tool:
    properties = tool.parameters["properties"]
    required = tool.parameters.get("required", [])

    class Recall(Tool):  # type: ignore[misc, unused-ignore]
        name = tool.name
        description = tool.description
        inputs = {  # noqa: RUF012
            key: {
                "type": schema["type"],
                "description": schema.get("description", key),
                "nullable": key not in required,
            }
            for key, schema in properties.items()
        }
        output_type = "string"
        skip_forward_signature_validation = True

        def forward(self, **arguments: Any) -> str:
            said: str = answer(tool.name, arguments)
            return said

    made: Tool = Recall()
    return made
