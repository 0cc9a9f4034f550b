"""What the adapters share, without any host."""

from __future__ import annotations

import midfold
import pytest
from midfold import _host

from hosts.conftest import doctests, shell, task


def conversation(steps, lines=40):
    messages = [{"role": "user", "content": task(steps)}]
    for n in range(steps):
        call = _host.function_call(f"c{n}", "shell", {"command": f"cat part_{n}.txt"})
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        result = shell(f"seq -f 'src/part_{n}/mod_%g.rs: value {n} checked' {lines}")
        messages.append({"role": "tool", "tool_call_id": f"c{n}", "content": result})
    return messages


class Own:
    """An object of a host."""

    def __init__(self, message):
        self.message = message


def test_functions():
    assert doctests("midfold._host") >= 4


def test_unchanged_messages_are_the_hosts_own_objects():
    given = conversation(40)
    objects = [Own(message) for message in given]
    context = midfold.Sessions(window=8_000).project(given)
    assert context.folded and len(context.places) == len(context.messages)
    calls = {"edited": 0, "written": 0}

    def edited(own, was, now):
        assert own.message is was and was["role"] == now["role"] and was != now
        calls["edited"] += 1
        return Own(now)

    def written(message):
        assert "Conversation Summary" in message["content"]
        calls["written"] += 1
        return Own(message)

    built = _host.build(context, given, objects, edited=edited, written=written)
    assert [own.message for own in built] == context.messages
    assert calls["written"] == 1
    same = sum(any(own is one for one in objects) for own in built)
    assert same == len(built) - calls["written"] - calls["edited"] >= 3
    assert built[0] is objects[0] and built[-1] is objects[-1]


def test_parts_are_put_together():
    a, b = Own({}), Own({})
    pieces = [(a, 1), (a, 2), (b, 3), (None, 4), (None, 5), (b, 6)]
    groups = [(a, [1, 2]), (b, [3]), (None, [4]), (None, [5]), (b, [6])]
    assert list(_host.regroup(pieces)) == groups
    assert list(_host.regroup([])) == []


class RefusedError(Exception):
    status_code = 400

    def __str__(self):
        return "This model's maximum context length is 6000 tokens, your request has 9000 tokens."


def test_too_long_is_found_in_what_a_host_wrapped():
    context = midfold.Sessions(window=100_000).project(conversation(40))
    try:
        try:
            raise RefusedError
        except RefusedError as error:
            raise RuntimeError("the agent failed") from error
    except RuntimeError as error:
        less = _host.again(context, error)
    assert less is not None and less.tokens <= 6_000 < context.tokens
    assert less.messages[-1] is context.messages[-1]


def test_other_errors_are_not_recovered_from():
    context = midfold.Sessions(window=100_000).project(conversation(4))
    assert _host.again(context, ValueError("no such file")) is None
    assert _host.again(None, RefusedError()) is None


def test_usage_anchors_the_session():
    context = midfold.Sessions(window=100_000).project(conversation(4))
    _host.tell(context, None)
    assert context.session.status()["last_prompt_tokens"] == 0
    _host.tell(context, 4_321, 7, cache_read=None)
    assert context.session.status()["last_prompt_tokens"] == 4_321
    _host.tell(None, 5)


def test_recall_answers_with_text_whatever_is_asked():
    sessions = midfold.Sessions(window=8_000)
    context = sessions.project(conversation(40))
    assert "part_3" in _host.answer(
        context.session, "recall_find", {"query": "part_3", "role": None}
    )
    assert _host.answer(context.session, "recall_show", '{"messages": "@nowhere"}')
    assert "all of it" in _host.answer(None, "recall_find", {})
    assert [tool.name for tool in _host.tools()] == [
        tool["function"]["name"] for tool in midfold.recall_tools("openai")
    ]


def test_settings_beside_conversations_are_an_error():
    sessions = midfold.Sessions(window=8_000)
    assert _host.sessions_of(sessions, {}) is sessions
    with pytest.raises(TypeError, match="preset, window"):
        _host.sessions_of(sessions, {"window": 1, "preset": "lean"})
