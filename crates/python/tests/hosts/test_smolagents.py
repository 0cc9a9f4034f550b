"""`midfold.smolagents` in smolagents' agents, against a scripted model with a hard limit."""

from __future__ import annotations

import pytest

from hosts.conftest import (
    KEY,
    LONG,
    MODEL,
    STEPS,
    WINDOW,
    doctests,
    run_example,
    shell,
    task,
)

pytest.importorskip("smolagents")

from midfold.smolagents import MidfoldModel, _edited, to_dicts
from smolagents import CodeAgent, OpenAIModel, ToolCallingAgent, tool
from smolagents.models import ChatMessage, MessageRole, Model

SHELL = tool(shell)
#: How a model writes code for a `CodeAgent`.
CODE = (
    *("--script", "text-loop"),
    *("--fence", r'<code>\nprint(shell(r"""', r'"""))\n</code>'),
    *("--last-fence", r'<code>\nfinal_answer("', r'")\n</code>'),
)


def chat(upstream):
    return OpenAIModel(MODEL, api_base=upstream.v1, api_key=KEY, client_kwargs={"max_retries": 0})


def whole(agent, steps=STEPS):
    """Whether the memory has the steps of the task: as they were, and all of them."""
    texts = [
        step.observations or "" for step in agent.memory.steps if hasattr(step, "observations")
    ]
    shown = [text for text in texts if "[step " in text]
    return len(shown) == steps and all(
        f"[step {n}]" in text and len(text) > 800 for n, text in enumerate(shown, 1)
    )


class Spy(Model):
    """Keeps what was sent, as the host's own objects."""

    def __init__(self, model):
        super().__init__(model_id=model.model_id)
        self.model, self.sent = model, []

    def generate(self, messages, *args, **more):
        self.sent.append(list(messages))
        return self.model.generate(messages, *args, **more)


def test_example(upstream):
    served = upstream("--limit", 20_000, "--steps", LONG, *CODE)
    names = run_example("midfold.smolagents", model=chat(served), shell=SHELL, task=task(LONG))
    assert f"All {LONG} steps are done" in names["answer"]
    assert whole(names["agent"], LONG)
    assert names["session"].status()["compaction_count"] > 0
    served.assert_never_refused()
    assert served.breaks() > 0


def test_functions():
    assert doctests("midfold.smolagents") > 0


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("kind", [CodeAgent, ToolCallingAgent])
def test_what_is_sent_is_folded_and_the_memory_is_whole(upstream, kind, streamed):
    # The prompts of these agents take some 3,000 tokens.
    window = WINDOW + 3_000
    script = CODE if kind is CodeAgent else ("--tool", "shell")
    served = upstream("--limit", window + 1_000, "--steps", STEPS, *script)
    compacting = MidfoldModel(chat(served), window=window)
    # The last words of the script are no call, which a ToolCallingAgent waits for.
    agent = kind(
        [SHELL], compacting, max_steps=STEPS + 1, verbosity_level=0, stream_outputs=streamed
    )
    agent.run(task())
    assert whole(agent)
    served.assert_never_refused()
    status = compacting.sessions.find(to_dicts(agent.write_memory_to_messages())).status()
    assert 0 < served.breaks() <= status["compaction_count"] < STEPS / 3
    told = [one["prompt_tokens"] for one in served.requests() if one["kind"] == "turn"]
    assert status["last_prompt_tokens"] == told[-1]


def test_own_messages_go_out_where_they_are_not_edited(upstream):
    served = upstream("--limit", WINDOW + 4_000, "--steps", STEPS, *CODE)
    spy = Spy(chat(served))
    agent = CodeAgent(
        [SHELL], MidfoldModel(spy, window=WINDOW + 3_000), max_steps=60, verbosity_level=0
    )
    agent.run(task())
    steps = [step for step in agent.memory.steps if getattr(step, "model_input_messages", None)]
    assert len(steps) == len(spy.sent) > STEPS
    for step, sent in zip(steps, spy.sent):
        own = {id(message) for message in step.model_input_messages}
        assert id(sent[0]) in own and id(sent[1]) in own and id(sent[-1]) in own
        for message in sent:
            recap = "Conversation Summary" in str(message.content)
            assert id(message) in own or recap or message.role == MessageRole.TOOL_RESPONSE


def test_a_refused_prompt_is_sent_again_and_shorter(upstream):
    served = upstream("--limit", WINDOW + 4_000, "--steps", STEPS, *CODE)
    model = MidfoldModel(chat(served), window=200_000)
    agent = CodeAgent([SHELL], model, max_steps=60, verbosity_level=0)
    agent.run(task())
    assert whole(agent)
    assert 1 <= len(served.requests("overflow")) < 3


def test_recall_tools_answer_from_the_memory(upstream):
    served = upstream("--limit", WINDOW + 4_000, "--steps", STEPS, "--tool", "shell")
    compacting = MidfoldModel(chat(served), window=WINDOW + 3_000)
    agent = ToolCallingAgent(
        [SHELL, *compacting.tools()], compacting, max_steps=60, verbosity_level=0
    )
    agent.run(task())
    answer = agent.tools["recall_find"](query="part_3.txt")
    assert "@" in answer and "step" in answer
    assert "@" in agent.tools["recall_show"](messages="@3")


def message(role, text):
    return ChatMessage(role, [{"type": "text", "text": text}])


def test_calls_are_calls_again_and_edits_are_copies():
    calls = [
        {
            "id": "call_2",
            "type": "function",
            "function": {"name": "python_interpreter", "arguments": "print(1)\nprint('a')"},
        }
    ]
    messages = [
        message(MessageRole.SYSTEM, "be careful"),
        message(MessageRole.USER, "New task:\ngo"),
        message(MessageRole.ASSISTANT, "I print."),
        message(MessageRole.TOOL_CALL, f"Calling tools:\n{calls}"),
        message(MessageRole.TOOL_RESPONSE, "Observation:\n" + "1 " * 50),
        message(MessageRole.TOOL_RESPONSE, "Error:\nno"),
        message(MessageRole.TOOL_CALL, "Calling tools:\nno list"),
    ]
    dicts = to_dicts(messages)
    roles = ["system", "user", "assistant", "assistant", "tool", "user", "assistant"]
    assert [one["role"] for one in dicts] == roles
    [call] = dicts[3]["tool_calls"]
    assert call["id"] == dicts[4]["tool_call_id"] == "call_2"
    short = _edited(messages[4], dicts[4], {**dicts[4], "content": "Observation: cut"})
    assert short.content == [{"type": "text", "text": "Observation: cut"}]
    assert short.role == MessageRole.TOOL_RESPONSE and len(messages[4].content[0]["text"]) > 50
    cut = {**call, "function": {**call["function"], "arguments": '{"code":"…"}'}}
    copy = _edited(messages[3], dicts[3], {**dicts[3], "tool_calls": [cut]})
    assert to_dicts([copy])[0]["tool_calls"][0]["function"]["name"] == "python_interpreter"
    assert "…" in copy.content[0]["text"] and "print(1)" not in copy.content[0]["text"]
