"""`midfold.autogen` in AutoGen's agent, against a scripted model with a hard limit."""

from __future__ import annotations

import ast
import asyncio
import inspect

import pytest

from hosts.conftest import (
    KEY,
    LIMIT,
    LONG,
    MODEL,
    STEPS,
    SYSTEM,
    WINDOW,
    doctests,
    example,
    shell,
    task,
)

pytest.importorskip("autogen_agentchat")

from autogen_agentchat.agents import AssistantAgent
from autogen_core import FunctionCall
from autogen_core.models import (
    AssistantMessage,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    UserMessage,
)
from autogen_ext.models.openai import OpenAIChatCompletionClient
from midfold import _host
from midfold.autogen import MidfoldContext, _edited, _message, to_dicts

#: The system message and the tools are sent beside the context.
RESERVE = 1_500


def client(upstream):
    info = {
        "vision": False,
        "function_calling": True,
        "json_output": False,
        "family": "unknown",
        "structured_output": False,
    }
    return OpenAIChatCompletionClient(
        model=MODEL, base_url=upstream.v1, api_key=KEY, model_info=info, max_retries=0
    )


def run(upstream, context, asked=None, *tools):
    agent = AssistantAgent(
        "worker",
        client(upstream),
        tools=[shell, *tools],
        system_message=SYSTEM,
        model_context=context,
        max_tool_iterations=200,
    )
    return asyncio.run(agent.run(task=asked or task()))


def results(messages):
    return [
        result.content
        for message in messages
        if isinstance(message, FunctionExecutionResultMessage)
        for result in message.content
    ]


def whole(messages, steps=STEPS):
    """Whether these are the messages of the task: as they were, and all of them."""
    texts = results(messages)
    return len(texts) == steps and all(
        text.startswith(f"[step {n}]") and len(text) > 800 for n, text in enumerate(texts, 1)
    )


def test_example(example_upstream):
    code = compile(
        example("midfold.autogen"), "example", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    )
    names = {"client": client(example_upstream), "shell": shell, "task": task(LONG)}
    running = eval(code, names)
    assert inspect.iscoroutine(running)
    asyncio.run(running)
    assert f"All {LONG} steps are done" in names["result"].messages[-1].content
    assert whole(names["context"]._messages, LONG)
    example_upstream.assert_never_refused()
    assert example_upstream.breaks() > 0


def test_functions():
    assert doctests("midfold.autogen") > 0


def test_what_is_sent_is_folded_and_the_context_is_whole(agent_upstream):
    context = MidfoldContext(window=WINDOW, output_reserve=RESERVE)
    result = run(agent_upstream, context)
    assert f"All {STEPS} steps are done" in result.messages[-1].content
    assert whole(context._messages)
    agent_upstream.assert_never_refused()
    status = context.session.status()
    assert 0 < agent_upstream.breaks() <= status["compaction_count"] < STEPS / 3
    sent = asyncio.run(context.get_messages())
    own = {id(message) for message in context._messages}
    assert sent[0] is context._messages[0] and sent[-1] is context._messages[-1]
    for message in sent:
        recap = isinstance(message, UserMessage) and message.source == "midfold"
        assert id(message) in own or recap or isinstance(message, FunctionExecutionResultMessage)
        # What is as it was added is the very object.
        same = [one for one in context._messages if one == message]
        assert not same or id(message) in own


def test_state_can_be_saved_and_loaded(agent_upstream):
    context = MidfoldContext(window=WINDOW, output_reserve=RESERVE)
    run(agent_upstream, context)
    other = MidfoldContext(window=WINDOW, output_reserve=RESERVE)
    asyncio.run(other.load_state(asyncio.run(context.save_state())))
    assert whole(other._messages)
    assert asyncio.run(other.get_messages())[0] == context._messages[0]
    asyncio.run(other.clear())
    assert asyncio.run(other.get_messages()) == []
    asyncio.run(other.add_message(UserMessage(content="again", source="user")))
    assert [one.content for one in asyncio.run(other.get_messages())] == ["again"]


def test_recall_tools_answer_from_the_context(upstream):
    context = MidfoldContext(window=WINDOW, output_reserve=RESERVE)
    run(upstream("--limit", LIMIT, "--steps", STEPS), context)
    asking = upstream("--steps", STEPS + 2, "--tool", "recall_find", "--argument", "query")
    run(asking, context, "Where was part_3.txt?", *context.tools())
    answers = results(context._messages)[STEPS:]
    assert len(answers) == 2 and all("@" in text and "step" in text for text in answers)
    schemas = [tool.schema["parameters"] for tool in context.tools()]
    assert schemas == [tool.parameters for tool in _host.tools()]


def test_edited_messages_keep_what_is_not_edited():
    calls = [FunctionCall(id=f"c{n}", name="shell", arguments='{"a": 1}') for n in (1, 2)]
    said = AssistantMessage(content=calls, thought="I look.", source="worker")
    answers = [
        FunctionExecutionResult(content="long " * 50, name="shell", call_id=f"c{n}", is_error=False)
        for n in (1, 2)
    ]
    both = FunctionExecutionResultMessage(content=answers)
    dicts, pieces = to_dicts([said, both])
    assert [one["role"] for one in dicts] == ["assistant", "tool", "tool"]
    short = _edited(pieces[1], dicts[1], {**dicts[1], "content": "short"})
    [copy] = [_message(*group) for group in _host.regroup([short, pieces[2]])]
    assert [one.content for one in copy.content] == ["short", "long " * 50]
    assert copy.content[1] is answers[1] and both.content[0].content == "long " * 50
    call = dicts[0]["tool_calls"][0]
    cut = {**call, "function": {**call["function"], "arguments": '{"a":"…"}'}}
    now = {**dicts[0], "tool_calls": [cut, dicts[0]["tool_calls"][1]]}
    _, copy = _edited(pieces[0], dicts[0], now)
    assert [one.arguments for one in copy.content] == ['{"a":"…"}', '{"a": 1}']
    assert copy.thought == "I look."
