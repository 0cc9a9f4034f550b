"""`midfold.openhands` in the agent of OpenHands, against a scripted model with a hard limit."""

from __future__ import annotations

import os

import pytest

from hosts.conftest import KEY, LONG, MODEL, STEPS, doctests, run_example, task

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
pytest.importorskip("openhands.sdk")
pytest.importorskip("openhands.tools")

import midfold.openhands
from midfold.openhands import EditedEvent, MidfoldCondenser, _edited, to_dicts
from openhands.sdk import LLM, Agent, Conversation, Tool
from openhands.sdk.context.condenser.base import NoCondensationAvailableException
from openhands.sdk.context.view import View
from openhands.sdk.conversation.response_utils import get_agent_final_response
from openhands.sdk.event import (
    ActionEvent,
    Condensation,
    CondensationSummaryEvent,
    LLMConvertibleEvent,
    MessageEvent,
    ObservationEvent,
)
from openhands.sdk.llm import Message, MessageToolCall, TextContent
from openhands.tools.terminal import TerminalTool

#: Its prompt and its tools take some 6,000 tokens of each request.
OWN = 7_000
WINDOW, LIMIT = 8_000 + OWN, 9_000 + OWN


def chat(upstream, **more):
    return LLM(
        model=f"openai/{MODEL}",
        base_url=upstream.v1,
        api_key=KEY,
        usage_id="agent",
        num_retries=0,
        **more,
    )


def run(upstream, condenser, workspace, asked=None, **more):
    agent = Agent(llm=chat(upstream), tools=[Tool(name=TerminalTool.name)], condenser=condenser)
    conversation = Conversation(agent=agent, workspace=str(workspace), visualizer=None, **more)
    conversation.send_message(asked or task())
    conversation.run()
    return conversation


def whole(conversation, steps=STEPS):
    """Whether the log and the host's view of it have all that happened, and nothing else."""
    events = list(conversation.state.events)
    results = [event for event in events if isinstance(event, ObservationEvent)]
    texts = [event.to_llm_message().content[0].text for event in results]
    kept = {event.id for event in conversation.state.view.events}
    return (
        len(texts) >= steps
        and all(f"[step {n}]" in text for n, text in enumerate(texts[:steps], 1))
        and kept == {event.id for event in events if isinstance(event, LLMConvertibleEvent)}
        and not any(isinstance(event, (EditedEvent, CondensationSummaryEvent)) for event in events)
    )


def test_example(upstream, tmp_path):
    served = upstream("--limit", 20_000, "--steps", LONG)
    names = run_example(
        "midfold.openhands",
        llm=chat(served),
        tool=TerminalTool.name,
        workspace=str(tmp_path),
        task=task(LONG),
    )
    assert whole(names["conversation"], LONG)
    served.assert_never_refused()
    assert served.breaks() > 0


def test_functions():
    assert doctests("midfold.openhands") == 0


def test_what_is_sent_is_folded_and_the_log_is_whole(upstream, tmp_path):
    served = upstream("--limit", LIMIT, "--steps", STEPS)
    condenser = MidfoldCondenser(window=WINDOW)
    conversation = run(served, condenser, tmp_path)
    assert f"All {STEPS} steps" in get_agent_final_response(conversation.state.events)
    assert whole(conversation)
    served.assert_never_refused()
    status = condenser.session(conversation.state.view).status()
    assert 0 < served.breaks() <= status["compaction_count"] < STEPS / 3
    assert not any(isinstance(event, Condensation) for event in conversation.state.events)
    # The last answer is told with the next step.
    told = {one["prompt_tokens"] for one in served.requests()}
    assert status["last_prompt_tokens"] in told


def test_own_events_go_out_where_they_are_not_edited(upstream, tmp_path):
    served = upstream("--limit", LIMIT, "--steps", STEPS)
    condenser = MidfoldCondenser(window=WINDOW)
    view = run(served, condenser, tmp_path).state.view
    before = [(id(event), event.model_dump_json()) for event in view.events]
    sent = condenser.condense(view)
    assert isinstance(sent, View)
    assert [(id(event), event.model_dump_json()) for event in view.events] == before
    own = {id(event) for event in view.events}
    assert sent.events[0] is view.events[0] and sent.events[-1] is view.events[-1]
    other = [event for event in sent.events if id(event) not in own]
    assert all(isinstance(event, (CondensationSummaryEvent, EditedEvent)) for event in other)
    [recap] = [event for event in other if isinstance(event, CondensationSummaryEvent)]
    assert "Conversation Summary" in recap.summary


def test_a_refused_prompt_is_sent_again_and_shorter(upstream, tmp_path):
    served = upstream("--limit", LIMIT, "--steps", STEPS)
    conversation = run(served, MidfoldCondenser(window=200_000), tmp_path)
    assert whole(conversation)
    assert 1 <= len(served.requests("overflow")) < 4
    assert len(served.requests()) == STEPS + 1


def test_a_prompt_that_cannot_be_made_shorter_ends_the_run(upstream, tmp_path):
    served = upstream("--limit", 3_000)
    with pytest.raises(Exception) as caught:
        run(served, MidfoldCondenser(window=200_000), tmp_path)
    assert isinstance(caught.value.__cause__, midfold.BudgetError)


def test_what_is_refused_twice_is_an_error():
    condenser = MidfoldCondenser(window=200_000)
    events = [said("user", "go"), *(said("agent", f"part {n} " * 200) for n in range(30))]
    view = View(events=events)
    asked = View(events=events, unhandled_condensation_request=True)
    first = condenser.condense(view)
    answer = condenser.condense(asked)
    assert isinstance(answer, Condensation) and not answer.forgotten_event_ids
    assert len(condenser.condense(view).events) < len(first.events)
    with pytest.raises(NoCondensationAvailableException, match="window below"):
        condenser.condense(asked)


def test_condense_folds_now(upstream, tmp_path):
    served = upstream("--steps", STEPS)
    condenser = MidfoldCondenser(window=100_000)
    conversation = run(served, condenser, tmp_path)
    asked = len(served.stats()["requests"])
    assert condenser.session(conversation.state.view).status()["compaction_count"] == 0
    conversation.condense()
    assert condenser.session(conversation.state.view).status()["compaction_count"] == 1
    assert len(served.stats()["requests"]) == asked and whole(conversation)


def test_a_conversation_goes_on_after_a_restart(upstream, tmp_path):
    """Both the conversation and what was folded of it are read from disk."""
    served = upstream("--limit", LIMIT, "--steps", STEPS + 4)
    store = f"sqlite:{tmp_path}/sessions.db"
    given = {"persistence_dir": str(tmp_path / "state")}
    first = run(
        upstream("--limit", LIMIT, "--steps", STEPS),
        MidfoldCondenser(window=WINDOW, store=store),
        tmp_path,
        **given,
    )
    status = midfold.Session.open(store, first.state.view.events[0].id).status()
    again = run(
        served,
        MidfoldCondenser(window=WINDOW, store=store),
        tmp_path,
        asked="Now four steps more.",
        conversation_id=first.id,
        **given,
    )
    assert whole(again, STEPS + 4)
    served.assert_never_refused()
    now = midfold.Session.open(store, again.state.view.events[0].id).status()
    assert now["events"] > status["events"]
    assert now["compaction_count"] >= status["compaction_count"] > 0


def test_a_condenser_can_be_written_down_and_read():
    condenser = MidfoldCondenser(window=9_000, preset="lean", settings={"output_reserve": 100})
    condenser.condense(View(events=[said("user", "hi")]))
    read = MidfoldCondenser.model_validate_json(condenser.model_dump_json())
    assert read.model_dump() == condenser.model_dump()


def said(source, text):
    role = "user" if source == "user" else "assistant"
    return MessageEvent(
        source=source, llm_message=Message(role=role, content=[TextContent(text=text)])
    )


def action(name, arguments, response="r1", thought=""):
    return ActionEvent(
        source="agent",
        thought=[TextContent(text=thought)] if thought else [],
        action=None,
        tool_name="terminal",
        tool_call_id=name,
        tool_call=MessageToolCall(
            id=name, name="terminal", arguments=arguments, origin="completion"
        ),
        llm_response_id=response,
    )


def test_calls_of_one_answer_are_one_dict_and_edits_are_copies():
    events = [
        said("user", "go"),
        action("c1", '{"command": "ls"}', thought="I look."),
        action("c2", '{"command": "pwd"}'),
        action("c3", '{"command": "id"}', response="r2"),
    ]
    dicts, groups = to_dicts(events)
    assert [len(group) for group in groups] == [1, 2, 1]
    assert [call["id"] for call in dicts[1]["tool_calls"]] == ["c1", "c2"]
    call = dicts[1]["tool_calls"][0]
    short = {**call, "function": {**call["function"], "arguments": '{"command":"…"}'}}
    now = {**dicts[1], "tool_calls": [short, dicts[1]["tool_calls"][1]]}
    [edited] = _edited(groups[1], dicts[1], now)
    message = edited.to_llm_message()
    assert [one.arguments for one in message.tool_calls] == [
        '{"command":"…"}',
        '{"command": "pwd"}',
    ]
    assert message.content[0].text == "I look." and events[1].tool_call.arguments.endswith('"ls"}')
