"""`midfold.adk` in the Agent Development Kit, against a scripted model with a hard limit."""

from __future__ import annotations

import ast
import asyncio
import os

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

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
pytest.importorskip("google.adk")
pytest.importorskip("litellm")

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models.lite_llm import LiteLlm
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import InMemoryRunner
from google.genai import types
from midfold.adk import MidfoldPlugin, _edited, to_dict


def chat(upstream):
    return LiteLlm(model=f"openai/{MODEL}", api_base=upstream.v1, api_key=KEY, max_retries=0)


class Spy(BasePlugin):
    """Keeps what was sent, as the host's own objects."""

    def __init__(self):
        super().__init__(name="spy")
        self.before, self.after = [], []

    async def before_model_callback(self, *, callback_context, llm_request):
        kept = self.before if len(self.before) == len(self.after) else self.after
        kept.append(list(llm_request.contents))


class Second(Spy):
    """The same list of a `Spy`, behind the plugin that is watched."""

    def __init__(self, spy):
        BasePlugin.__init__(self, name="second")
        self.before, self.after = spy.before, spy.after


async def run(upstream, *plugins, tools=(), asked=None, runner=None, session="one"):
    if runner is None:
        agent = LlmAgent(
            name="worker", model=chat(upstream), instruction=SYSTEM, tools=[shell, *tools]
        )
        runner = InMemoryRunner(app=App(name="work", root_agent=agent, plugins=list(plugins)))
    await runner.run_debug(asked or task(), session_id=session, quiet=True)
    kept = await runner.session_service.get_session(
        app_name="work", user_id="debug_user_id", session_id=session
    )
    return runner, kept.events


def results(events):
    return [
        part.function_response.response["result"]
        for event in events
        for part in (event.content.parts if event.content else [])
        if part.function_response
    ]


def whole(events, steps=STEPS):
    """Whether the session has the events of the task: as they were, and all of them."""
    texts = results(events)
    return len(texts) == steps and all(
        text.startswith(f"[step {n}]") and len(text) > 800 for n, text in enumerate(texts, 1)
    )


def test_example(example_upstream):
    code = compile(example("midfold.adk"), "example", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    names = {"model": chat(example_upstream), "shell": shell, "task": task(LONG)}
    asyncio.run(eval(code, names))
    assert f"All {LONG} steps are done" in names["events"][-1].content.parts[0].text
    assert whole(names["events"], LONG)
    assert names["session"].status()["compaction_count"] > 0
    example_upstream.assert_never_refused()
    assert example_upstream.breaks() > 0


def test_functions():
    assert doctests("midfold.adk") > 0


def test_what_is_sent_is_folded_and_the_session_is_whole(agent_upstream):
    compacting, spy = MidfoldPlugin(window=WINDOW), Spy()
    _, events = asyncio.run(run(agent_upstream, spy, compacting, Second(spy)))
    assert whole(events)
    agent_upstream.assert_never_refused()
    status = compacting.sessions.find(id="one/worker").status()
    assert 0 < agent_upstream.breaks() <= status["compaction_count"] < STEPS / 3
    last = agent_upstream.requests()[-1]
    assert status["last_prompt_tokens"] == last["prompt_tokens"]
    assert compacting._sent == {}
    for before, after in zip(spy.before, spy.after):
        own = {id(content) for content in before}
        assert after[0] is before[0] and after[-1] is before[-1]
        for content in after:
            recap = "Conversation Summary" in str(content.parts[0].text)
            cut = content.parts[0].function_response is not None
            note = content.parts[0].text == "[noted]"
            assert id(content) in own or recap or cut or note


def test_sessions_at_once(upstream):
    compacting = MidfoldPlugin(window=WINDOW)

    async def one(name):
        served = upstream("--limit", LIMIT, "--steps", STEPS)
        _, events = await run(served, compacting, session=name)
        served.assert_never_refused()
        return whole(events)

    async def all_of_them():
        return await asyncio.gather(*(one(name) for name in "abc"))

    assert asyncio.run(all_of_them()) == [True] * 3
    ids = {compacting.sessions.find(id=f"{name}/worker").id for name in "abc"}
    assert len(ids) == 3


def test_recall_tools_answer_from_the_session(upstream):
    compacting = MidfoldPlugin(window=WINDOW)
    served = upstream("--limit", LIMIT + 2_000, "--steps", STEPS, "--tool", "shell")

    async def both():
        tools = compacting.tools()
        runner, events = await run(served, compacting, tools=tools)
        asking = upstream("--steps", STEPS + 2, "--tool", "recall_find", "--argument", "query")
        runner.agent.model = chat(asking)
        return len(events), (await run(asking, asked="Where was part_3?", runner=runner))[1]

    before, events = asyncio.run(both())
    answers = results(events[before:])
    assert len(answers) == 2 and all("@" in text and "step" in text for text in answers)


def test_edited_contents_keep_what_is_not_edited():
    parts = [
        types.Part(
            function_response=types.FunctionResponse(name="a", response={"result": "x" * 90})
        ),
        types.Part(function_response=types.FunctionResponse(name="b", response={"result": "y"})),
    ]
    content = types.Content(role="user", parts=parts)
    was = to_dict(content)
    response = {"name": "a", "response": {"result": "cut"}}
    now = {**was, "parts": [{"functionResponse": response}, was["parts"][1]]}
    copy = _edited(content, was, now)
    assert copy.parts[0].function_response.response == {"result": "cut"}
    assert copy.parts[1] is parts[1] and content.parts == parts
