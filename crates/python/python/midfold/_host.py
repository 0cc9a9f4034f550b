"""What the adapters of agent frameworks share; it knows none of them.

An adapter turns the objects of its host into dicts, lets midfold say what is to be sent, and makes
the host's list of it: an unchanged message is the host's own object, an edited one is a copy that
the adapter makes, and what midfold wrote itself becomes a new message.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Callable, NamedTuple

from . import Context, Session, Sessions, recall_tools

__all__ = [
    "Tool",
    "again",
    "answer",
    "build",
    "function_call",
    "regroup",
    "tell",
    "text_of",
    "tools",
]

_Message = dict[str, Any]


def sessions_of(sessions: Sessions | None, settings: dict[str, Any]) -> Sessions:
    """The conversations that an adapter works with: those given, or new ones with these settings.

    Raises `TypeError` where both are given: the settings would be ignored.
    """
    if sessions is None:
        return Sessions(**settings)
    if settings:
        names = ", ".join(sorted(settings))
        raise TypeError(
            f"`sessions` has its settings already: give {names} to midfold.Sessions(…) instead"
        )
    return sessions


def build(
    context: Context,
    given: Sequence[_Message],
    objects: Sequence[Any],
    *,
    edited: Callable[[Any, _Message, _Message], Any],
    written: Callable[[_Message], Any],
) -> list[Any]:
    """The host's list for a context: its own object, or what `edited` or `written` makes.

    `objects[i]` is what `given[i]` was made of. `edited` takes the object, the dict that was made
    of it and the dict to send; `written` takes a dict that midfold wrote itself.
    """
    built = []
    for message, place in zip(context.messages, context.places or []):
        if place is None:
            built.append(written(message))
        elif message is given[place] or message == given[place]:
            built.append(objects[place])
        else:
            built.append(edited(objects[place], given[place], message))
    return built


def regroup(pieces: Sequence[tuple[Any, Any]]) -> Iterator[tuple[Any, list[Any]]]:
    """Puts the parts of one host's message that follow each other back together.

    Each piece is a message and one of its parts; a piece of no message (`None`) stands alone.

    >>> list(regroup([("a", 1), ("a", 2), (None, 3), ("a", 4)]))
    [('a', [1, 2]), (None, [3]), ('a', [4])]
    """
    owner: Any = None
    parts: list[Any] = []
    for message, part in pieces:
        if parts and message is not None and message is owner:
            parts.append(part)
            continue
        if parts:
            yield owner, parts
        owner, parts = message, [part]
    if parts:
        yield owner, parts


def function_call(id: str, name: str, arguments: Any) -> _Message:
    """A tool call as Chat Completions has it; arguments that are no text become JSON.

    >>> function_call("c1", "shell", {"command": "ls"})["function"]["arguments"]
    '{"command":"ls"}'
    """
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False, separators=(",", ":"), default=str)
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def text_of(message: _Message) -> str:
    """The text of a dict's content, of a string and of blocks alike.

    >>> text_of({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]})
    'a\\nb'
    """
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text") or "" for block in content or [])


def tell(
    context: Context | None,
    prompt: int | None,
    output: int | None = 0,
    *,
    cache_read: int | None = 0,
    cache_write: int | None = 0,
) -> None:
    """Tells the session of a context what the provider counted; nothing where it said nothing."""
    if context is None or context.session is None or not prompt:
        return
    context.session.observe(
        prompt,
        output or 0,
        cache_read=cache_read or 0,
        cache_write=cache_write or 0,
        call=context.call,
    )


def again(context: Context | None, error: BaseException) -> Context | None:
    """What to send instead after an error, or `None` where compacting does not help.

    The cause of a host's own exception is asked too: hosts wrap what their client raised.
    """
    if context is None or context.session is None:
        return None
    seen: BaseException | None = error
    for _ in range(4):
        if seen is None:
            return None
        sent = context.session.recover(_said(seen), status=_status(seen))
        if sent is not None:
            return sent
        seen = seen.__cause__ or seen.__context__
    return None


def _said(error: BaseException) -> str:
    """The provider's words where the exception has them, else the exception's."""
    text = getattr(getattr(error, "response", None), "text", None)
    return text if isinstance(text, str) and text.strip() else str(error)


def _status(error: BaseException) -> int | None:
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) and 100 <= status < 600 else None


class Tool(NamedTuple):
    """One recall tool: its name, what a model reads about it, and the schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, Any]


def tools() -> list[Tool]:
    """The recall tools that an adapter offers to its host's agent.

    >>> [tool.name for tool in tools()][:2]
    ['recall_find', 'recall_show']
    """
    functions = (tool["function"] for tool in recall_tools("openai"))
    return [Tool(one["name"], one["description"], one["parameters"]) for one in functions]


def answer(session: Session | None, name: str, arguments: dict[str, Any] | str) -> str:
    """What a recall tool answers: plain text, an error included, so that no run ends for it."""
    if session is None:
        return "Nothing of this conversation was compacted away: all of it is in front of you."
    if not isinstance(arguments, str):
        given = {name: value for name, value in arguments.items() if value is not None}
        arguments = json.dumps(given, ensure_ascii=False)
    return session.recall(name, arguments)
