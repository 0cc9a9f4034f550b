"""`midfold.pydantic_ai` in Pydantic AI's agent, against a scripted model with a hard limit."""

from __future__ import annotations

import asyncio

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
    run_example,
    shell,
    task,
)

pytest.importorskip("pydantic_ai")

from midfold import _host
from midfold.pydantic_ai import Midfold, _edited, _message, to_dicts
from pydantic_ai import Agent, ModelMessagesTypeAdapter
from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.providers.openai import OpenAIProvider


def chat(upstream, kind=OpenAIChatModel):
    return kind(MODEL, provider=OpenAIProvider(base_url=upstream.v1, api_key=KEY))


def worker(model, *capabilities):
    return Agent(model, instructions=SYSTEM, tools=[shell], capabilities=capabilities)


def whole(messages, steps=STEPS):
    """Whether these are the messages of the task: as they were, and all of them."""
    results = [
        part.content
        for message in messages
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    ]
    return len(results) == steps and all(
        text.startswith(f"[step {n}]") and len(text) > 800 for n, text in enumerate(results, 1)
    )


class Spy(WrapperModel):
    """Keeps what was sent, as the host's own objects."""

    def __init__(self, wrapped):
        super().__init__(wrapped)
        self.sent = []

    async def request(self, messages, *arguments):
        self.sent.append(messages)
        return await super().request(messages, *arguments)


def test_example(example_upstream):
    names = run_example(
        "midfold.pydantic_ai", model=chat(example_upstream), shell=shell, task=task(LONG)
    )
    assert f"All {LONG} steps are done" in names["result"].output
    assert whole(names["result"].all_messages(), LONG)
    assert names["session"].status()["compaction_count"] > 0
    example_upstream.assert_never_refused()
    assert example_upstream.breaks() > 0


def test_functions():
    assert doctests("midfold.pydantic_ai") > 0


@pytest.mark.parametrize("kind", [OpenAIChatModel, OpenAIResponsesModel])
def test_what_is_sent_is_folded_and_the_run_is_whole(agent_upstream, kind):
    compacting, spy = Midfold(window=WINDOW), Spy(chat(agent_upstream, kind))
    result = worker(spy, compacting).run_sync(task())
    assert whole(result.all_messages()) and whole(result.new_messages())
    agent_upstream.assert_never_refused()
    status = compacting.sessions.find(id=result.conversation_id).status()
    assert 0 < agent_upstream.breaks() <= status["compaction_count"] < STEPS / 3
    last = agent_upstream.requests()[-1]
    assert status["last_prompt_tokens"] == last["prompt_tokens"]
    kept = {id(part) for message in result.all_messages() for part in message.parts}
    for messages in spy.sent:
        parts = [part for message in messages for part in message.parts]
        assert id(parts[-1]) in kept
        for part in parts:
            recap = isinstance(part, UserPromptPart) and "Conversation Summary" in part.content
            assert id(part) in kept or recap or isinstance(part, ToolReturnPart)


def test_runs_at_once_and_streams(upstream):
    compacting, streamed = Midfold(window=WINDOW), []

    async def drained(ctx, events):
        async for event in events:
            streamed.append(event)

    async def one(name):
        served = upstream("--limit", LIMIT, "--steps", STEPS)
        agent = worker(chat(served), compacting)
        asked = f"{task()} You are worker {name}."
        result = await agent.run(asked, event_stream_handler=drained if name == "s" else None)
        served.assert_never_refused()
        return whole(result.all_messages())

    async def all_of_them():
        return await asyncio.gather(*(one(name) for name in "abs"))

    assert asyncio.run(all_of_them()) == [True] * 3
    assert len(streamed) > STEPS
    assert compacting._sent == {}


def test_a_refused_prompt_is_sent_again_and_shorter(agent_upstream):
    compacting = Midfold(window=200_000)
    assert whole(worker(chat(agent_upstream), compacting).run_sync(task()).all_messages())
    assert 1 <= len(agent_upstream.requests("overflow")) < 3
    assert len(agent_upstream.requests()) == STEPS + 1


def test_another_error_is_the_hosts(upstream):
    served = upstream("--fault", "1/1=500")
    client_retries_nothing = chat(served)
    client_retries_nothing.client.max_retries = 0
    with pytest.raises(Exception, match="500"):
        worker(client_retries_nothing, Midfold(window=WINDOW)).run_sync(task())


def test_recall_tools_answer_from_the_conversation(upstream):
    compacting = Midfold(window=WINDOW)
    served = upstream("--limit", LIMIT, "--steps", STEPS)
    first = worker(chat(served), compacting).run_sync(task())
    asking = upstream("--steps", STEPS + 2, "--tool", "recall_find", "--argument", "query")
    result = worker(chat(asking), compacting).run_sync(
        "Where was part_3.txt?", message_history=first.all_messages()
    )
    answers = [
        part.content
        for message in result.new_messages()
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    ]
    assert len(answers) == 2 and all("@" in text and "step" in text for text in answers)
    assert Midfold(window=WINDOW, recall=False).get_toolset() is None


def test_a_history_that_was_stored_gives_the_same_dicts():
    """Times and ids of messages come back changed from a database; what is recognised does not."""
    messages = [
        ModelRequest([UserPromptPart("go")]),
        ModelResponse([TextPart("I look."), ToolCallPart("shell", {"command": "ls"}, "c1")]),
        ModelRequest([ToolReturnPart("shell", {"files": ["a"]}, "c1"), UserPromptPart("and b")]),
    ]
    stored = ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(messages))
    dicts, pieces = to_dicts(messages)
    assert to_dicts(stored)[0] == dicts
    assert [one["role"] for one in dicts] == ["user", "assistant", "tool", "user"]
    assert [_message(*group) for group in _host.regroup(pieces)] == messages


def test_edited_messages_keep_what_is_not_edited():
    request = ModelRequest([ToolReturnPart("shell", "long " * 50, "c1"), UserPromptPart("and b")])
    [was, _], [piece, other] = to_dicts([request])
    copy = _message(*next(_host.regroup([_edited(piece, was, {**was, "content": "short"}), other])))
    assert [part.content for part in copy.parts] == ["short", "and b"]
    assert copy.parts[1] is request.parts[1] and request.parts[0].content == "long " * 50
    said = ModelResponse(
        [
            ThinkingPart("hm"),
            TextPart("I write."),
            ToolCallPart("write", {"text": "x" * 50}, "c2", id="fc_1", provider_name="openai"),
        ]
    )
    [was], [piece] = to_dicts([said])
    call = was["tool_calls"][0]
    now = {**call, "function": {**call["function"], "arguments": '{"text":"…"}'}}
    _, copy = _edited(piece, was, {**was, "tool_calls": [now]})
    assert copy.parts[:2] == said.parts[:2]
    assert (copy.parts[2].args, copy.parts[2].id) == ('{"text":"…"}', None)
    _, copy = _edited(piece, was, {**was, "content": "short"})
    assert copy.parts[1].content == "short" and copy.parts[2] is said.parts[2]
