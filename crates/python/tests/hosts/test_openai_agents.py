"""`midfold.openai_agents` in the Agents SDK, against a scripted model with a hard limit."""

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

pytest.importorskip("agents")

import midfold
from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    SQLiteSession,
    function_tool,
    set_tracing_disabled,
)
from midfold.openai_agents import Filter, Session
from openai import AsyncOpenAI

set_tracing_disabled(True)


def responses(upstream):
    client = AsyncOpenAI(base_url=upstream.v1, api_key=KEY, max_retries=0)
    return OpenAIResponsesModel(model=MODEL, openai_client=client)


def worker(model, *tools):
    return Agent(
        name="worker", instructions=SYSTEM, model=model, tools=[function_tool(shell), *tools]
    )


def run(agent, asked, compacting, **more):
    config = RunConfig(call_model_input_filter=compacting)
    more.setdefault("hooks", compacting.hooks() if compacting else None)
    return Runner.run(agent, asked, max_turns=200, run_config=config, **more)


def whole(items, steps=STEPS):
    """Whether these are the items of the task: as they were, and all of them."""
    kinds = [item.get("type", item.get("role")) for item in items]
    results = [item["output"] for item in items if item.get("type") == "function_call_output"]
    return kinds.count("function_call") == steps and all(
        text.startswith(f"[step {n}]") and len(text) > 800 for n, text in enumerate(results, 1)
    )


def test_example(example_upstream):
    names = run_example(
        "midfold.openai_agents",
        model=responses(example_upstream),
        shell=shell,
        task=task(LONG),
        store=None,
    )
    assert f"All {LONG} steps are done" in names["result"].final_output
    assert whole(names["result"].to_input_list(), LONG)
    example_upstream.assert_never_refused()
    assert example_upstream.breaks() > 0


def test_functions():
    assert doctests("midfold.openai_agents") >= 0


@pytest.mark.parametrize("kind", ["responses", "chat"])
def test_what_is_sent_is_folded_and_the_run_is_whole(agent_upstream, kind):
    model = responses(agent_upstream)
    if kind == "chat":
        model = OpenAIChatCompletionsModel(model=MODEL, openai_client=model._client)
    compacting = Filter(window=WINDOW)
    result = asyncio.run(run(worker(model), task(), compacting))
    assert whole(result.to_input_list())
    agent_upstream.assert_never_refused()
    status = compacting.sessions.find(result.to_input_list()).status()
    assert 0 < agent_upstream.breaks() <= status["compaction_count"] < STEPS / 3
    last = agent_upstream.requests()[-1]
    assert status["last_prompt_tokens"] == last["prompt_tokens"]


def test_streams_and_runs_at_once(upstream):
    compacting = Filter(window=WINDOW)

    async def one(name):
        served = upstream("--limit", LIMIT, "--steps", STEPS)
        config = RunConfig(call_model_input_filter=compacting)
        result = Runner.run_streamed(
            worker(responses(served)),
            f"{task()} You are worker {name}.",
            max_turns=200,
            run_config=config,
            hooks=compacting.hooks(),
        )
        async for _ in result.stream_events():
            pass
        served.assert_never_refused()
        return result.to_input_list()

    async def all_of_them():
        return await asyncio.gather(*(one(name) for name in "abc"))

    runs = asyncio.run(all_of_them())
    assert all(whole(items) for items in runs)
    assert len({compacting.sessions.find(items).id for items in runs}) == 3


def test_recall_tools_answer_from_the_run(upstream):
    compacting = Filter(window=WINDOW)
    served = upstream("--limit", LIMIT, "--steps", STEPS)
    first = asyncio.run(run(worker(responses(served)), task(), compacting))
    asking = upstream("--steps", STEPS + 2, "--tool", "recall_find", "--argument", "query")
    asked = [*first.to_input_list(), {"role": "user", "content": "Where was part_3.txt?"}]
    result = asyncio.run(run(worker(responses(asking), *compacting.tools()), asked, compacting))
    items = result.to_input_list()[len(asked) :]
    answers = [item["output"] for item in items if item.get("type") == "function_call_output"]
    assert len(answers) == 2 and all("@" in text and "step" in text for text in answers)


@pytest.mark.parametrize("filtered", [True, False])
def test_turns_of_a_session_fit_and_nothing_is_lost(upstream, filtered):
    """Runs of a few steps each: the session alone keeps them within the limit, with room to spare
    for the steps of one run, which it does not see before they are done."""
    session = Session("one", window=WINDOW if filtered else WINDOW - 3_000)
    compacting = Filter(window=WINDOW) if filtered else None
    for turn in range(1, 7):
        # The model counts the steps of the conversation.
        served = upstream("--limit", LIMIT, "--steps", 5 * turn)
        asked = f"{task(5 * turn)} This is round {turn}."
        result = asyncio.run(run(worker(responses(served)), asked, compacting, session=session))
        served.assert_never_refused()
        assert f"All {5 * turn} steps are done" in result.final_output
    status = session.conversation().status()
    # Each round is a question, five times a text, a call and its result, and an answer.
    assert status["events"] == 6 * 17 and status["compaction_count"] > 0
    found = session.conversation().recall_grep("round 1", mode="literal")
    assert found and "round 1" in str(found)


def test_a_session_keeps_the_protocol_of_the_sdk(tmp_path):
    """The same calls as for the SDK's own session, with the same answers."""

    async def both():
        mine = Session("one", window=100_000, store=f"sqlite:{tmp_path}/sessions.db")
        theirs = SQLiteSession("one")
        said = [{"role": "user", "content": f"message {n}"} for n in range(6)]
        for session in (mine, theirs):
            assert await session.get_items() == [] and await session.pop_item() is None
            await session.add_items(said[:4])
            await session.add_items([])
            assert await session.get_items() == said[:4]
            assert await session.get_items(2) == said[2:4]
            assert await session.get_items(9) == said[:4]
            assert await session.pop_item() == said[3]
            assert await session.get_items() == said[:3]
            await session.add_items(said[4:])
            assert await session.get_items() == [*said[:3], *said[4:]]
            await session.clear_session()
            assert await session.get_items() == []
            await session.add_items(said[5:])
            assert await session.get_items() == said[5:]

    asyncio.run(both())


def test_a_session_in_a_store_outlives_the_process(tmp_path):
    store = f"sqlite:{tmp_path}/sessions.db"
    said = [{"role": "user", "content": f"message {n}"} for n in range(4)]

    async def write():
        session = Session("led-4100", window=100_000, store=store)
        await session.add_items(said)
        assert await session.pop_item() == said[3]

    async def read():
        return await Session("led-4100", window=100_000, store=store).get_items()

    asyncio.run(write())
    assert asyncio.run(read()) == said[:3]
    # As if the process had ended between deleting the session and bringing its copy back.
    session = midfold.Session.open(store, "led-4100")
    session.fork("led-4100~popped", at=2)
    midfold.delete_sessions(store, "led-4100")
    assert asyncio.run(read()) == said[:2]
    assert midfold.Sessions(store=store).find(id="led-4100~popped") is None
