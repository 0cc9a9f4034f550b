"""Inspect AI: a compaction strategy that folds the conversation of each sample.

The history of the agent stays whole: the log of a sample has every message, and Inspect's handler
keeps what is sent beside it.

    from inspect_ai import Task, eval
    from inspect_ai.agent import react
    from inspect_ai.dataset import Sample
    from midfold.inspect_ai import CompactionMidfold

    compacting = CompactionMidfold(threshold=16_000)
    agent = react(tools=[shell, *compacting.tools()], compaction=compacting, submit=False)
    [log] = eval(Task(dataset=[Sample(input=task)], solver=agent), model=model, display="none")
    [sample] = log.samples
    print(sample.output.completion, compacting.folds)

Inspect says when to compact: at the `threshold`, in tokens or as a share of the model's window.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    CompactionStrategy,
    ContentReasoning,
    ContentText,
    Model,
    get_model_info,
)
from inspect_ai.tool import ToolDef, ToolInfo, ToolParams

from . import Session, _host

__all__ = ["CompactionMidfold", "to_dict"]

#: Conversations that are remembered at once. One that is forgotten is folded anew, with its recap.
_KEPT = 256


class _Conversation:
    """What a strategy knows of one conversation: its session, and the whole history."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.history: list[ChatMessage] = []
        #: The ids of the history, and of all messages that were made for it.
        self.known: set[str | None] = set()

    def is_known(self, message: ChatMessage) -> bool:
        """Whether it was there before; of what Inspect combined, each part."""
        parts = (message.metadata or {}).get("combined_from", [message.id])
        return message.id in self.known or all(part in self.known for part in parts)


class CompactionMidfold(CompactionStrategy):  # type: ignore[misc, unused-ignore]
    """A compaction strategy of Inspect that folds.

    Arguments: `threshold` (tokens, or a share of the model's window) and `memory` as of any
    strategy of Inspect; the rest are those of `midfold.Session` but `id` (`window` in tokens,
    `preset`, `policy`, …). Without a `window` it is the model's, as Inspect knows it, else 128,000
    tokens. One strategy can serve many samples at once.
    """

    def __init__(self, *, threshold: float = 0.9, memory: bool = True, **settings: Any) -> None:
        super().__init__(type="summary", threshold=threshold, memory=memory)
        #: Folds so far, of all conversations.
        self.folds = 0
        self._settings = settings
        self._conversations: OrderedDict[str, _Conversation] = OrderedDict()
        self._lock = threading.Lock()
        self._asking: ContextVar[_Conversation | None] = ContextVar("midfold", default=None)

    async def compact(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> tuple[list[ChatMessage], ChatMessageUser | None]:
        """What is to be sent instead of these messages. Nothing is added to the history."""
        with self._lock:
            conversation = self._conversation(model, messages)
            self._asking.set(conversation)
            new = [message for message in messages if not conversation.is_known(message)]
            conversation.history.extend(new)
            whole = conversation.history
            given = [to_dict(message) for message in whole]
            context = conversation.session.project(given, force=True)
            built = _host.build(context, given, whole, edited=_edited, written=_written)
            conversation.known.update(message.id for message in [*whole, *built])
            self._remember(conversation, built)
            self.folds += context.folded
        return built, None

    def tools(self) -> list[ToolDef]:
        """The recall tools: they bring back what was folded of the sample that asks."""
        return [_recall(tool, self._asking) for tool in _host.tools()]

    def _conversation(self, model: Model, messages: list[ChatMessage]) -> _Conversation:
        """The one that made a recap among these messages, else a new one."""
        for message in messages:
            for part in (message.metadata or {}).get("combined_from", [message.id]):
                if part in self._conversations:
                    self._conversations.move_to_end(part)
                    return self._conversations[part]
        settings = dict(self._settings)
        window = settings.pop("window", None) or _window(model)
        # What is left has to be below Inspect's threshold, or Inspect ends the sample.
        if self.threshold > 1:
            window = min(window, int(self.threshold))
        return _Conversation(Session(window=window, **settings))

    def _remember(self, conversation: _Conversation, built: Sequence[ChatMessage]) -> None:
        """By what midfold wrote itself: no other sample has a message with such an id."""
        for message in built:
            if message.id is not None and (message.metadata or {}).get("midfold"):
                self._conversations[message.id] = conversation
        while len(self._conversations) > _KEPT:
            self._conversations.popitem(last=False)


def to_dict(message: ChatMessage) -> dict[str, Any]:
    """A message as the dict that midfold reads.

    >>> to_dict(ChatMessageUser(content="hi"))
    {'role': 'user', 'content': 'hi'}
    """
    blocks = message.content
    made: dict[str, Any] = {"role": message.role}
    if isinstance(blocks, str):
        made["content"] = blocks
    else:
        said = [_block(block) for block in blocks if not isinstance(block, ContentReasoning)]
        made["content"] = said or ""
        thoughts = [block.reasoning for block in blocks if isinstance(block, ContentReasoning)]
        if any(thoughts):
            made["reasoning_content"] = "\n".join(thoughts)
    if message.role == "assistant" and message.tool_calls:
        made["tool_calls"] = [
            _host.function_call(call.id, call.function, call.arguments)
            for call in message.tool_calls
        ]
    if message.role == "tool":
        made["tool_call_id"] = message.tool_call_id or ""
        if message.error is not None:
            made["content"] = f"Error: {message.error.message}"
    return made


def _block(block: Any) -> dict[str, Any]:
    if isinstance(block, ContentText):
        return {"type": "text", "text": block.text}
    if block.type == "image":
        return {"type": "image_url", "image_url": {"url": block.image}}
    return {"type": "text", "text": f"[{block.type}]"}


def _window(model: Model) -> int:
    info = get_model_info(model)
    limit = None if info is None else info.context_length
    return limit or 128_000


def _edited(own: ChatMessage, was: dict[str, Any], now: dict[str, Any]) -> ChatMessage:
    """A copy with what is sent instead, under the same id."""
    changes: dict[str, Any] = {"content": _host.text_of(now)}
    if now.get("tool_calls") != was.get("tool_calls"):
        sent = {call["id"]: json.loads(call["function"]["arguments"]) for call in now["tool_calls"]}
        changes["tool_calls"] = [
            replace(call, arguments=sent[call.id]) for call in own.tool_calls or []
        ]
    if own.role == "tool":
        changes["error"] = None
    return own.model_copy(update=changes)


def _written(message: dict[str, Any]) -> ChatMessage:
    kind = ChatMessageAssistant if message["role"] == "assistant" else ChatMessageUser
    return kind(content=_host.text_of(message), metadata={"midfold": True})


def _recall(tool: _host.Tool, asking: ContextVar[_Conversation | None]) -> ToolDef:
    async def execute(**arguments: Any) -> str:
        conversation = asking.get()
        session = None if conversation is None else conversation.session
        return _host.answer(session, tool.name, arguments)

    # Inspect takes no parameter without a description.
    properties = {
        name: {"description": name, **schema}
        for name, schema in tool.parameters["properties"].items()
    }
    parameters = ToolParams.model_validate({**tool.parameters, "properties": properties})
    return ToolDef(execute, name=tool.name, description=tool.description, parameters=parameters)
