"""`midfold.inspect_ai` in Inspect's `react` agent, against a scripted model with a hard limit."""

from __future__ import annotations

import asyncio

import pytest

from hosts.conftest import KEY, LONG, MODEL, doctests, run_example, shell, task

pytest.importorskip("inspect_ai")

from inspect_ai import Task, eval
from inspect_ai.agent import react
from inspect_ai.dataset import Sample
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ContentImage,
    ContentReasoning,
    ContentText,
    get_model,
)
from inspect_ai.tool import ToolCall, ToolCallError, ToolDef
from midfold.inspect_ai import CompactionMidfold, to_dict

LIMIT = 20_000


def shell_tool():
    async def execute(command: str) -> str:
        return shell(command)

    about = "Runs a command in a shell and returns what it prints."
    return ToolDef(execute, name="shell", description=about, parameters={"command": "The line."})


def chat(upstream):
    model = get_model(f"openai-api/local/{MODEL}", base_url=upstream.v1, api_key=KEY)

    async def count(text):
        return len(text) // 3

    # Inspect would fetch a vocabulary.
    model.api.count_text_tokens = count
    return model


def sample_of(agent, model, folder, samples=1, steps=LONG):
    """The samples of a run of the agent, each with its messages as Inspect logs them."""
    dataset = [Sample(input=task(steps)) for _ in range(samples)]
    [log] = eval(
        Task(dataset=dataset, solver=agent), model=model, display="none", log_dir=str(folder)
    )
    assert log.status == "success", log.error and log.error.message
    return log.samples


def whole(messages, steps=LONG):
    """Whether these are the messages of the task: as they were, and all of them."""
    texts = [one.text for one in messages if one.role == "tool"]
    return len(texts) == steps and all(
        text.startswith(f"[step {n}]") and len(text) > 800 for n, text in enumerate(texts, 1)
    )


def test_example(upstream, tmp_path, monkeypatch):
    served = upstream("--limit", LIMIT, "--steps", LONG)
    monkeypatch.chdir(tmp_path)
    model = chat(served)
    names = run_example("midfold.inspect_ai", shell=shell_tool(), model=model, task=task(LONG))
    assert f"All {LONG} steps are done" in names["sample"].output.completion
    assert whole(names["sample"].messages)
    served.assert_never_refused()
    assert served.breaks() == names["compacting"].folds > 0


def test_functions():
    assert doctests("midfold.inspect_ai") > 0


def test_each_fold_goes_on_with_the_whole_history(upstream, tmp_path):
    served = upstream("--limit", 9_000, "--steps", LONG)
    compacting = CompactionMidfold(window=8_000, threshold=6_500)
    agent = react(tools=[shell_tool()], compaction=compacting, submit=False)
    [sample] = sample_of(agent, chat(served), tmp_path)
    assert whole(sample.messages)
    served.assert_never_refused()
    assert compacting.folds > 2
    assert served.stats()["totals"]["facts_missing"] == 0
    folds = [event for event in sample.events if event.event == "compaction"]
    assert len(folds) == compacting.folds
    assert all(event.tokens_after < 6_500 < event.tokens_before for event in folds)


def test_samples_that_run_at_once_are_conversations_of_their_own(upstream, tmp_path):
    served = upstream("--limit", 9_000, "--steps", 24)
    compacting = CompactionMidfold(window=8_000, threshold=6_500)
    agent = react(tools=[shell_tool()], compaction=compacting, submit=False)
    samples = sample_of(agent, chat(served), tmp_path, samples=2, steps=24)
    assert len(samples) == 2 and compacting.folds >= 4
    assert all(whole(sample.messages, 24) for sample in samples)
    served.assert_never_refused()


def conversation():
    call = ToolCall(id="call_1", function="shell", arguments={"command": "make " + "x" * 3_000})
    messages = [
        ChatMessageSystem(content="You are careful."),
        ChatMessageUser(content="Build it. The key phrase is blue heron."),
        ChatMessageAssistant(content="I build.", tool_calls=[call]),
        ChatMessageTool(content="done\n" * 2_000, tool_call_id="call_1", function="shell"),
    ]
    for number in range(12):
        messages.append(ChatMessageAssistant(content=f"Part {number}: I read on. " * 20))
        messages.append(ChatMessageUser(content=f"Go on with part {number}."))
    return messages


def compact(strategy, messages):
    async def both():
        sent, added = await strategy.compact(model, messages, [])
        assert added is None
        # In the task of the sample, as its tools are called.
        tools = {tool.name: tool for tool in strategy.tools()}
        return sent, await tools["recall_find"].tool(query="heron")

    model = get_model("mockllm/model")
    return asyncio.run(both())


def test_what_is_not_folded_stays_the_own_object_and_recall_finds_the_rest():
    messages = conversation()
    before = [one.model_copy(deep=True) for one in messages]
    sent, found = compact(CompactionMidfold(window=6_000, threshold=5_000), messages)
    assert messages == before
    own = {id(message) for message in messages}
    assert id(sent[0]) in own and id(sent[1]) in own and id(sent[-1]) in own
    made = [message for message in sent if (message.metadata or {}).get("midfold")]
    assert len(made) == 1 and "Conversation Summary" in made[0].text
    assert "blue heron" in found


def test_messages_that_inspect_combines_are_not_taken_for_new_ones():
    messages = conversation()
    strategy = CompactionMidfold(window=6_000, threshold=5_000)
    sent, _ = compact(strategy, messages)
    at = next(n for n, one in enumerate(sent) if (one.metadata or {}).get("midfold"))
    user = next(n for n, one in enumerate(sent) if one.role == "user" and n != at)
    both = ChatMessageUser(
        content=f"{sent[user].text}\n{sent[at].text}",
        metadata={"combined_from": [sent[user].id, sent[at].id]},
    )
    rest = [one for n, one in enumerate(sent) if n not in (at, user)]
    news = [ChatMessageAssistant(content="Once more. " * 400), ChatMessageUser(content="Yes.")]
    again, _ = compact(strategy, [*rest[:1], both, *rest[1:], *news])
    # One conversation: its log has each message once.
    assert len({id(one) for one in strategy._conversations.values()}) == 1
    [conversation_of] = {id(one): one for one in strategy._conversations.values()}.values()
    assert conversation_of.history == [*messages, *news]
    assert sum("Conversation Summary" in one.text for one in again) == 1


def test_contents_of_every_kind_are_read():
    call = ToolCall(id="c", function="f", arguments={"a": 1})
    thought = ContentReasoning(reasoning="hm")
    said = ChatMessageAssistant(content=[thought, ContentText(text="yes")], tool_calls=[call])
    assert to_dict(said) == {
        "role": "assistant",
        "content": [{"type": "text", "text": "yes"}],
        "reasoning_content": "hm",
        "tool_calls": [
            {
                "id": "c",
                "type": "function",
                "function": {"name": "f", "arguments": '{"a":1}'},
            }
        ],
    }
    failed = ChatMessageTool(
        content="", tool_call_id="c", error=ToolCallError("timeout", "too slow")
    )
    assert to_dict(failed)["content"] == "Error: too slow"
    picture = ChatMessageUser(content=[ContentImage(image="data:image/png;base64,AAAA")])
    assert to_dict(picture)["content"][0]["image_url"] == {"url": "data:image/png;base64,AAAA"}
