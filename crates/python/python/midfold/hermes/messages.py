"""Messages of Hermes Agent as midfold reads them, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import midfold

Message = dict[str, Any]

#: What of a message goes to a model. The host keeps more in it: why the reply ended, what the model
#: thought, marks of its database. Those come and go, so a message is not known by them.
_SENT = ("role", "content", "tool_calls", "tool_call_id")
_CALL = ("id", "type", "function")
#: The host's mark that a message is in its database. A list that replaces another one is written
#: anew, and a message with this mark would be left out.
_PERSISTED = "_db_persisted"
#: The host's mark of a summary: it is no wish of the user, though it may be in the user's role.
_SUMMARY = "_compressed_summary"


def plain(message: Message) -> Message:
    """A message of the host as a message of Chat Completions: always the same for the same one.

    >>> plain({"role": "user", "content": "Go on.", "_db_persisted": True, "name": "ann"})
    {'role': 'user', 'content': 'Go on.'}
    """
    out = {key: message[key] for key in _SENT if message.get(key) is not None}
    if out.get("role") == "assistant":
        out.setdefault("content", None)
    calls = out.get("tool_calls")
    if isinstance(calls, list):
        out["tool_calls"] = [
            {key: call[key] for key in _CALL if key in call} if isinstance(call, dict) else call
            for call in calls
        ]
    return out


def restored(
    context: midfold.Context, given: Sequence[Message], messages: Sequence[Message]
) -> list[Message]:
    """The messages of a context, each the host's own where midfold did not change it.

    `given` are the plain forms of the host's `messages`.
    """
    places = context.places
    if places is None:
        raise ValueError("the context has no places: it does not come from Session.project")
    out: list[Message] = []
    for message, place in zip(context.messages, places):
        if place is None:
            out.append({**message, _SUMMARY: True})
        elif message is given[place]:
            out.append(_unmarked(messages[place]))
        else:
            out.append(_changed(_unmarked(messages[place]), given[place], message))
    return out


def _changed(own: Message, given: Message, message: Message) -> Message:
    """The host's message with what midfold changed in it, and what else the host keeps there."""
    if message["role"] != own["role"]:
        return dict(message)  # a result that became text is no longer what those keys speak of
    out = {key: value for key, value in own.items() if key in message or key not in given}
    out |= {key: value for key, value in message.items() if value != given.get(key)}
    calls, before = message.get("tool_calls") or [], own.get("tool_calls") or []
    if calls and [call["id"] for call in calls] == [call.get("id") for call in before]:
        out["tool_calls"] = [{**old, **call} for old, call in zip(before, calls)]
    return out


def same(context: midfold.Context, given: Sequence[Message]) -> bool:
    """Whether a context is all of the messages, unchanged."""
    return len(context.messages) == len(given) and all(
        message is one for message, one in zip(context.messages, given)
    )


def _unmarked(message: Message) -> Message:
    """The message itself, or without the mark of the database where it has it."""
    if _PERSISTED not in message:
        return message
    return {key: value for key, value in message.items() if key != _PERSISTED}
