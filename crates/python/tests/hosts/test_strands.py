"""`midfold.strands` in Strands' agent, against a scripted model with a hard limit."""

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
    run_example,
    shell,
    task,
)

pytest.importorskip("strands")

from midfold.strands import Midfold, _bare
from strands import Agent, tool
from strands.agent.conversation_manager import NullConversationManager
from strands.middleware import InvokeModelStage
from strands.models.openai import OpenAIModel

SHELL = tool(shell)


def chat(upstream):
    return OpenAIModel(
        client_args={"base_url": upstream.v1, "api_key": KEY, "max_retries": 0}, model_id=MODEL
    )


def worker(upstream, *plugins, **more):
    return Agent(
        model=chat(upstream),
        tools=[SHELL],
        plugins=list(plugins),
        system_prompt=SYSTEM,
        conversation_manager=NullConversationManager(),
        callback_handler=None,
        **more,
    )


def results(messages):
    blocks = [
        block["toolResult"] for one in messages for block in one["content"] if "toolResult" in block
    ]
    return ["".join(part["text"] for part in block["content"]) for block in blocks]


def whole(messages, steps=STEPS):
    """Whether these are the messages of the task: as they were, and all of them."""
    texts = results(messages)
    return len(texts) == steps and all(
        text.startswith(f"[step {n}]") and len(text) > 800 for n, text in enumerate(texts, 1)
    )


def test_example(example_upstream):
    names = run_example(
        "midfold.strands", model=chat(example_upstream), shell=SHELL, task=task(LONG)
    )
    assert f"All {LONG} steps are done" in str(names["result"])
    assert whole(names["agent"].messages, LONG)
    example_upstream.assert_never_refused()
    assert example_upstream.breaks() > 0


def test_what_is_sent_is_folded_and_the_agents_messages_are_whole(agent_upstream):
    compacting, sent = Midfold(window=WINDOW), []
    agent = worker(agent_upstream, compacting)

    async def spy(context, next_fn):
        sent.append((context.messages, _bare(agent.messages)))
        async for event in next_fn(context):
            yield event

    agent.add_middleware(InvokeModelStage, spy)
    assert f"All {STEPS} steps are done" in str(agent(task()))
    assert whole(agent.messages)
    agent_upstream.assert_never_refused()
    status = compacting.session(agent).status()
    assert 0 < agent_upstream.breaks() <= status["compaction_count"] < STEPS / 3
    last = agent_upstream.requests()[-1]
    assert status["last_prompt_tokens"] == last["prompt_tokens"]
    for messages, kept in sent:
        bare = _bare(messages)
        assert bare[0] == kept[0] and bare[-1] == kept[-1]
        other = [one for one in bare if one not in kept]
        for message in other:
            # Bedrock wants roles to alternate: between two of a user there is a short answer.
            recap = message["content"][0].get("text", "").startswith("## Conversation Summary")
            assert recap or results([message]) or message["content"] == [{"text": "[noted]"}]


def test_agents_at_once(upstream):
    compacting = Midfold(window=WINDOW)

    async def one(name):
        served = upstream("--limit", LIMIT, "--steps", STEPS)
        agent = worker(served, compacting)
        await agent.invoke_async(f"{task()} You are worker {name}.")
        served.assert_never_refused()
        return agent

    async def all_of_them():
        return await asyncio.gather(*(one(name) for name in "abc"))

    agents = asyncio.run(all_of_them())
    assert all(whole(agent.messages) for agent in agents)
    assert len({compacting.session(agent).id for agent in agents}) == 3


def test_a_refused_prompt_is_sent_again_and_shorter(agent_upstream):
    agent = worker(agent_upstream, Midfold(window=200_000))
    agent(task())
    assert whole(agent.messages)
    assert 1 <= len(agent_upstream.requests("overflow")) < 3
    assert len(agent_upstream.requests()) == STEPS + 1


def test_another_error_is_the_hosts(upstream):
    served = upstream("--fault", "1=500")
    with pytest.raises(Exception, match="500"):
        worker(served, Midfold(window=WINDOW), retry_strategy=None)("go")


def test_recall_tools_answer_from_the_conversation(upstream):
    compacting = Midfold(window=WINDOW)
    first = worker(upstream("--limit", LIMIT, "--steps", STEPS), compacting)
    first(task())
    asking = upstream("--steps", STEPS + 2, "--tool", "recall_find", "--argument", "query")
    agent = worker(asking, compacting, messages=first.messages)
    agent("Where was part_3.txt?")
    answers = results(agent.messages)[STEPS:]
    assert len(answers) == 2 and all("@" in text and "step" in text for text in answers)
    plain = worker(asking, Midfold(window=WINDOW, recall=False))
    assert plain.tool_names == ["shell"]
