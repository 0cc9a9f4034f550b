"""OpenHands: a condenser that sends the model a compacted view of the event log.

The log of the conversation stays whole, and so does the host's own view of it: no event is
forgotten. Each step gets another view, with the events that go out as they are, copies of those
that are cut, and a `CondensationSummaryEvent` where events were folded.

    from openhands.sdk import Agent, Conversation, Tool
    from openhands.sdk.conversation.response_utils import get_agent_final_response
    from midfold.openhands import MidfoldCondenser

    condenser = MidfoldCondenser(window=20_000)
    agent = Agent(llm=llm, tools=[Tool(name=tool)], condenser=condenser)
    conversation = Conversation(agent=agent, workspace=workspace, visualizer=None)
    conversation.send_message(task)
    conversation.run()
    print(get_agent_final_response(conversation.state.events))
    print(condenser.session(conversation.state.view).status()["compaction_count"])

`conversation.condense()` folds now. Where the model finds a prompt too long, OpenHands asks for a
condensation, and the next step sends less.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from openhands.sdk.context.condenser.base import (
    CondenserBase,
    NoCondensationAvailableException,
)
from openhands.sdk.context.view import View
from openhands.sdk.event import (
    ActionEvent,
    Condensation,
    CondensationSummaryEvent,
    LLMConvertibleEvent,
)
from openhands.sdk.llm import LLM, ImageContent, Message, TextContent
from pydantic import Field, PrivateAttr

from . import Context, Session, Sessions, _host

__all__ = ["EditedEvent", "MidfoldCondenser", "to_dicts"]

#: What was made of one dict: an event, or the events of one answer with several calls.
_Group = tuple[LLMConvertibleEvent, ...]


class EditedEvent(LLMConvertibleEvent):
    """An event as it is sent where midfold cut it; it is never in the log of the conversation."""

    message: Message

    def to_llm_message(self) -> Message:
        """The message to send."""
        return self.message.model_copy()


class _Sent(NamedTuple):
    """What was sent last of a conversation, and which event was the newest then."""

    context: Context
    newest: str
    refused: bool = False


class MidfoldCondenser(CondenserBase):
    """Projects the view of each step; returns a `Condensation` only to answer a request for one.

    A conversation is known by the id of its first event. `settings` are further arguments of
    `midfold.Session` (`policy`, `tiers`, `tokenizer`, …).
    """

    window: int | None = None
    """The model's window; without it the `max_input_tokens` of the agent's LLM, else 128,000."""

    preset: str | None = None
    """The name of a preset (`midfold.presets()`)."""

    store: str | None = None
    """Where conversations are durable: `sqlite:PATH`, `postgres://…`; without it in memory."""

    settings: dict[str, Any] = Field(default_factory=dict)
    """Further arguments of `midfold.Session`."""

    _sessions: Sessions | None = PrivateAttr(default=None)
    _sent: dict[str, _Sent] = PrivateAttr(default_factory=dict)

    #: Words that mean for every provider that a prompt was too long: OpenHands keeps its own.
    _TOO_LONG: ClassVar[str] = "context_length_exceeded: the prompt is too long"

    #: As many as `Sessions` holds.
    _CONVERSATIONS: ClassVar[int] = 64

    def session(self, view: View) -> Session | None:
        """The session of a conversation, `None` while nothing was sent of it."""
        if self._sessions is None or not view.events:
            return None
        return self._sessions.find(id=view.events[0].id)

    def handles_condensation_requests(self) -> bool:
        """Yes: OpenHands asks after a prompt that was too long, and for `condense()`."""
        return True

    def condense(self, view: View, agent_llm: LLM | None = None) -> View | Condensation:
        """What this step sends of a view; the view is not changed."""
        if not view.events:
            return view
        given, groups = to_dicts(view.events)
        key, newest = view.events[0].id, view.events[-1].id
        sent = self._sent.get(key)
        if view.unhandled_condensation_request:
            return self._asked(sent, given, key, newest, agent_llm)
        _observe(sent, view, agent_llm)
        context = self._conversations(agent_llm).project(given, id=key)
        refused = sent is not None and sent.newest == newest and sent.refused
        self._keep(key, _Sent(context, newest, refused))
        built = _host.build(context, given, groups, edited=_edited, written=_written)
        return View(events=[event for group in built for event in group])

    def _asked(
        self,
        sent: _Sent | None,
        given: list[dict[str, Any]],
        key: str,
        newest: str,
        agent_llm: LLM | None,
    ) -> Condensation:
        """Folds now, and says so with a condensation that forgets nothing."""
        if sent is not None and sent.newest == newest:
            # Nothing came after what was sent: the model refused it.
            less = None
            if not sent.refused and sent.context.session is not None:
                less = sent.context.session.recover(self._TOO_LONG, status=400)
            if less is None:
                raise NoCondensationAvailableException(
                    "The model finds the prompt too long, and midfold cannot make it shorter: give"
                    f" MidfoldCondenser a window below {sent.context.tokens} tokens."
                )
            self._keep(key, _Sent(less, newest, True))
        else:
            self._conversations(agent_llm).project(given, id=key, force=True)
        return Condensation(llm_response_id="midfold")

    def _keep(self, key: str, sent: _Sent) -> None:
        self._sent.pop(key, None)
        self._sent[key] = sent
        while len(self._sent) > self._CONVERSATIONS:
            self._sent.pop(next(iter(self._sent)))

    def _conversations(self, agent_llm: LLM | None) -> Sessions:
        if self._sessions is None:
            window = self.window or getattr(agent_llm, "max_input_tokens", None)
            given = {"window": window, "preset": self.preset, "store": self.store}
            settings = {name: value for name, value in given.items() if value is not None}
            self._sessions = Sessions(**{**settings, **self.settings})
        return self._sessions


def to_dicts(events: Sequence[LLMConvertibleEvent]) -> tuple[list[dict[str, Any]], list[_Group]]:
    """Events as the dicts that midfold reads, and which events each dict was made of.

    Actions of one answer are one dict, as they are one message.
    """
    groups: list[_Group] = []
    for event in events:
        last = groups[-1][-1] if groups else None
        if (
            isinstance(event, ActionEvent)
            and isinstance(last, ActionEvent)
            and event.llm_response_id == last.llm_response_id
        ):
            groups[-1] = (*groups[-1], event)
        else:
            groups.append((event,))
    return [_to_dict(_message(group)) for group in groups], groups


def _message(group: _Group) -> Message:
    [message] = LLMConvertibleEvent.events_to_messages(list(group))
    return message


def _to_dict(message: Message) -> dict[str, Any]:
    made: dict[str, Any] = {"role": message.role, "content": _content(message)}
    if message.tool_call_id is not None:
        made["tool_call_id"] = message.tool_call_id
    if message.tool_calls:
        made["tool_calls"] = [
            _host.function_call(call.id, call.name, call.arguments) for call in message.tool_calls
        ]
    return made


def _content(message: Message) -> Any:
    if not any(isinstance(one, ImageContent) for one in message.content):
        return "\n".join(one.text for one in message.content if isinstance(one, TextContent))
    blocks: list[dict[str, Any]] = []
    for one in message.content:
        if isinstance(one, TextContent):
            blocks.append({"type": "text", "text": one.text})
        elif isinstance(one, ImageContent):
            images = ({"type": "image_url", "image_url": {"url": url}} for url in one.image_urls)
            blocks.extend(images)
    return blocks


def _written(message: dict[str, Any]) -> _Group:
    return (CondensationSummaryEvent(summary=_host.text_of(message)),)


def _edited(group: _Group, was: dict[str, Any], now: dict[str, Any]) -> _Group:
    """A message of its own in the place of the events, with what midfold changed of it."""
    message = _message(group)
    update: dict[str, Any] = {}
    if now.get("content") != was.get("content"):
        update["content"] = [TextContent(text=_host.text_of(now))]
    if message.tool_calls and now.get("tool_calls") != was.get("tool_calls"):
        arguments = {c["id"]: c["function"]["arguments"] for c in now.get("tool_calls") or []}
        update["tool_calls"] = [
            call.model_copy(update={"arguments": arguments[call.id]})
            for call in message.tool_calls
            if call.id in arguments
        ]
    edited = EditedEvent(message=message.model_copy(update=update), source=group[0].source)
    return (edited,)


def _observe(sent: _Sent | None, view: View, agent_llm: LLM | None) -> None:
    """Tells what the provider counted for the answer that came of what was sent last."""
    if sent is None or agent_llm is None:
        return
    newest = {event.id: n for n, event in enumerate(view.events)}.get(sent.newest)
    if newest is None:
        return
    answers = (getattr(event, "llm_response_id", None) for event in view.events[newest + 1 :])
    answer = next((one for one in answers if one), None)
    for usage in reversed(agent_llm.metrics.token_usages):
        if answer is not None and usage.response_id == answer:
            _host.tell(
                sent.context,
                usage.prompt_tokens,
                usage.completion_tokens,
                cache_read=usage.cache_read_tokens,
                cache_write=usage.cache_write_tokens,
            )
            return
