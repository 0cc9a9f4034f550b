"""`midfold.langchain` in LangChain's own agent, against a scripted model with a hard limit."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

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

pytest.importorskip("langchain")

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from midfold.langchain import MidfoldMiddleware, _edited, to_dicts

ASK = {"messages": [("user", task())]}


def chat(upstream, **more):
    return ChatOpenAI(model=MODEL, base_url=upstream.v1, api_key=KEY, max_retries=0, **more)


def thread(id="one"):
    return {"configurable": {"thread_id": id}, "recursion_limit": 200}


def agent(upstream, *middleware, **more):
    more.setdefault("checkpointer", InMemorySaver())
    return create_agent(
        chat(upstream), tools=[shell], system_prompt=SYSTEM, middleware=middleware, **more
    )


def whole(messages, steps=STEPS):
    """Whether these are the messages of the task: as they were, and all of them."""
    kinds = [message.type for message in messages]
    results = [message.content for message in messages if message.type == "tool"]
    return kinds == ["human", *["ai", "tool"] * steps, "ai"] and all(
        text.startswith(f"[step {n}]") and len(text) > 800 for n, text in enumerate(results, 1)
    )


class Spy(AgentMiddleware):
    """Keeps what was sent, as the host's own objects."""

    def __init__(self):
        super().__init__()
        self.sent = []

    def wrap_model_call(self, request, handler):
        self.sent.append((list(request.messages), list(request.state["messages"])))
        return handler(request)


def test_example(example_upstream):
    names = run_example(
        "midfold.langchain", model=chat(example_upstream), shell=shell, task=task(LONG)
    )
    assert whole(names["state"]["messages"], LONG)
    example_upstream.assert_never_refused()
    assert example_upstream.breaks() > 0


def test_functions():
    assert doctests("midfold.langchain") > 0


def test_what_is_sent_is_folded_and_the_checkpoint_is_whole(agent_upstream):
    compacting, spy = MidfoldMiddleware(window=WINDOW), Spy()
    graph = agent(agent_upstream, compacting, spy)
    state = graph.invoke(ASK, thread())
    assert whole(state["messages"])
    assert whole(graph.get_state(thread()).values["messages"])
    stats, status = agent_upstream.stats(), compacting.sessions.find(id="one").status()
    agent_upstream.assert_never_refused()
    assert len(stats["requests"]) == STEPS + 1
    assert 0 < agent_upstream.breaks() <= status["compaction_count"] < STEPS / 3
    # The provider's count is the session's.
    assert status["last_prompt_tokens"] == stats["requests"][-1]["prompt_tokens"]
    for sent, kept in spy.sent:
        own = {id(message) for message in kept}
        ids = {message.id for message in kept}
        assert sent[0] is kept[0] and sent[-1] is kept[-1]
        for message in sent:
            if id(message) not in own:
                recap = isinstance(message, HumanMessage) and "Conversation Summary" in message.text
                copied = isinstance(message, ToolMessage) and message.id in ids
                assert recap or copied


def test_a_second_turn_goes_on_with_the_first(agent_upstream):
    compacting = MidfoldMiddleware(window=WINDOW)
    graph = agent(agent_upstream, compacting)
    graph.invoke(ASK, thread())
    before = compacting.sessions.find(id="one").status()["events"]
    state = graph.invoke({"messages": [("user", "Say again what the codes are.")]}, thread())
    assert whole(state["messages"][: 2 * STEPS + 2])
    assert compacting.sessions.find(id="one").status()["events"] > before
    agent_upstream.assert_never_refused()


def test_a_thread_goes_on_after_a_restart(upstream, tmp_path):
    """The checkpointer has the messages, the store what was folded of them."""
    store, saver = f"sqlite:{tmp_path}/sessions.db", InMemorySaver()
    first = MidfoldMiddleware(window=WINDOW, store=store)
    agent(upstream("--limit", LIMIT, "--steps", STEPS), first, checkpointer=saver).invoke(
        ASK, thread()
    )
    before = first.sessions.find(id="one")
    served = upstream("--limit", LIMIT, "--steps", STEPS)
    again = MidfoldMiddleware(window=WINDOW, store=store)
    asked = {"messages": [("user", "Say again what the codes are.")]}
    agent(served, again, checkpointer=saver).invoke(asked, thread())
    served.assert_never_refused()
    after = again.sessions.find(id="one")
    assert after.id == before.id == "one"
    assert after.status()["events"] == 2 * STEPS + 3
    assert [one["id"] for one in after.folds()][: len(before.folds())] == [
        one["id"] for one in before.folds()
    ]


def test_streams_and_async(upstream):
    for way in ("stream", "ainvoke", "astream"):
        served = upstream("--limit", LIMIT, "--steps", STEPS)
        compacting = MidfoldMiddleware(window=WINDOW)
        graph = agent(served, compacting)
        if way == "stream":
            for _ in graph.stream(ASK, thread(), stream_mode="messages"):
                pass
        elif way == "ainvoke":
            asyncio.run(graph.ainvoke(ASK, thread()))
        else:

            async def all_of_it(graph=graph):
                async for _ in graph.astream(ASK, thread(), stream_mode="values"):
                    pass

            asyncio.run(all_of_it())
        assert whole(graph.get_state(thread()).values["messages"]), way
        served.assert_never_refused()
        assert compacting.sessions.find(id="one").status()["compaction_count"] > 0, way


def test_threads_at_once_and_no_thread_at_all(upstream):
    compacting = MidfoldMiddleware(window=WINDOW)

    def run(name):
        served = upstream("--limit", LIMIT, "--steps", STEPS)
        if name is None:
            config, saver = {"recursion_limit": 200}, None
        else:
            config, saver = thread(name), InMemorySaver()
        asked = {"messages": [("user", f"{task()} You are worker {name}.")]}
        state = agent(served, compacting, checkpointer=saver).invoke(asked, config)
        served.assert_never_refused()
        return whole(state["messages"])

    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(run, ["a", "b", "c", None]))
    assert done == [True] * 4
    found = [compacting.sessions.find(id=name) for name in "abc"]
    assert len({session.id for session in found}) == 3
    # A run of 24 steps has 49 messages in front of its last call.
    assert {session.status()["events"] for session in found} == {2 * STEPS + 1}


def test_a_refused_prompt_is_sent_again_and_shorter(agent_upstream):
    compacting = MidfoldMiddleware(window=200_000)
    graph = agent(agent_upstream, compacting)
    assert whole(graph.invoke(ASK, thread())["messages"])
    assert 1 <= len(agent_upstream.requests("overflow")) < 3
    assert len(agent_upstream.requests()) == STEPS + 1


def test_another_error_is_the_hosts(upstream):
    served = upstream("--fault", "1=500")
    with pytest.raises(Exception, match="500"):
        agent(served, MidfoldMiddleware(window=WINDOW)).invoke(ASK, thread())


def test_an_agent_inside_of_a_tool_is_a_conversation_of_its_own(upstream):
    """It has its parent's thread: without more, each would undo the other's folds."""
    compacting = MidfoldMiddleware(window=WINDOW)
    served = upstream("--limit", LIMIT, "--steps", STEPS)
    inner = agent(served, compacting, checkpointer=None)
    asked = []

    def delegate(command: str) -> str:
        """Has somebody else do it.

        Args:
            command: What to do.
        """
        state = inner.invoke(
            {"messages": [("user", f"{task()} Part {len(asked)}.")]}, {"recursion_limit": 200}
        )
        asked.append(state["messages"])
        return "done"

    outside = upstream("--steps", 2, "--tool", "delegate")
    middleware = [compacting]
    graph = create_agent(
        chat(outside), tools=[delegate], middleware=middleware, checkpointer=InMemorySaver()
    )
    graph.invoke({"messages": [("user", "Do both steps.")]}, thread())
    assert len(asked) == 2 and whole(asked[0])
    served.assert_never_refused()
    assert compacting.sessions.find(id="one").status()["events"] == 5
    found = compacting.sessions.find(to_dicts(asked[0]))
    assert found.status()["compaction_count"] > 0 and found.id.startswith("one/tools")


@pytest.mark.parametrize("checkpointer", [True, False])
def test_recall_tools_answer_from_the_conversation(upstream, checkpointer):
    served = upstream("--limit", LIMIT, "--steps", STEPS)
    compacting = MidfoldMiddleware(window=WINDOW)
    first = agent(served, compacting).invoke(ASK, thread())
    asking = upstream("--steps", STEPS + 2, "--tool", "recall_find", "--argument", "query")
    graph = agent(asking, compacting, checkpointer=InMemorySaver() if checkpointer else None)
    messages = [*first["messages"], HumanMessage("Where was part_3.txt?")]
    state = graph.invoke({"messages": messages}, thread("one" if checkpointer else "none"))
    answers = [one.content for one in state["messages"][len(messages) :] if one.type == "tool"]
    assert len(answers) == 2 and all("@" in text and "step" in text for text in answers)


def test_recall_can_be_left_out_and_settings_are_not_ignored():
    assert MidfoldMiddleware(window=WINDOW, recall=False).tools == []
    compacting = MidfoldMiddleware(window=WINDOW)
    with pytest.raises(TypeError, match="window"):
        MidfoldMiddleware(sessions=compacting.sessions, window=WINDOW)


def test_edited_messages_keep_what_is_not_edited():
    result = ToolMessage("long " * 50, tool_call_id="c1", name="shell", id="m1", artifact={"a": 1})
    [was] = to_dicts([result])
    copy = _edited(result, was, {**was, "content": "short"})
    assert (copy.content, copy.id, copy.name, copy.artifact) == ("short", "m1", "shell", {"a": 1})
    assert result.content == "long " * 50
    call = {"name": "write", "args": {"path": "a", "text": "x" * 50}, "id": "c2"}
    said = AIMessage(
        [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "text", "text": "I write."},
            {"type": "tool_use", "id": "c2", "name": "write", "input": call["args"]},
        ],
        tool_calls=[call],
        id="m2",
    )
    [was] = to_dicts([said])
    assert was["content"] == "I write."
    function = {**was["tool_calls"][0]["function"], "arguments": '{"path":"a","text":"…"}'}
    now = {**was, "tool_calls": [{**was["tool_calls"][0], "function": function}]}
    copy = _edited(said, was, now)
    assert copy.tool_calls[0]["args"] == copy.content[2]["input"] == {"path": "a", "text": "…"}
    assert copy.content[:2] == said.content[:2] and said.tool_calls[0]["args"]["text"] == "x" * 50


def test_deepagents(upstream):
    deepagents = pytest.importorskip("deepagents")
    # Its own prompt and tools take some 6,500 tokens of each request.
    served = upstream("--limit", LIMIT + 9_000, "--steps", STEPS, "--tool", "shell")
    # It takes the place of the host's own.
    compacting = MidfoldMiddleware(window=LIMIT + 8_000, name="SummarizationMiddleware")
    graph = deepagents.create_deep_agent(
        chat(served), tools=[shell], middleware=[compacting], checkpointer=InMemorySaver()
    )
    state = graph.invoke(ASK, thread())
    served.assert_never_refused()
    assert whole(state["messages"]) and len(served.requests()) == STEPS + 1
    assert {one["kind"] for one in served.requests()} == {"turn"}
    assert compacting.sessions.find(id="one").status()["compaction_count"] > 0


def test_side_by_side_with_langchains_own(upstream, capsys):
    """One task, three middlewares: what each costs, and whether it ends."""
    from langchain.agents.middleware import (
        ClearToolUsesEdit,
        ContextEditingMiddleware,
        SummarizationMiddleware,
    )

    def editing(served):
        edit = ClearToolUsesEdit(trigger=WINDOW * 3 // 4, keep=3)
        return [ContextEditingMiddleware(edits=[edit])]

    def summarizing(served):
        trigger = ("tokens", WINDOW * 3 // 4)
        return [SummarizationMiddleware(chat(served), trigger=trigger, keep=("messages", 6))]

    ways = {
        "none": lambda served: [],
        "SummarizationMiddleware": summarizing,
        "ContextEditingMiddleware": editing,
        "MidfoldMiddleware": lambda served: [MidfoldMiddleware(window=WINDOW, recall=False)],
    }
    steps, lines, ours = 40, [], {}
    for name, middleware in ways.items():
        served = upstream("--limit", LIMIT, "--steps", steps, "--task-fact")
        graph = agent(served, *middleware(served))
        answer, kept = "", None
        try:
            state = graph.invoke({"messages": [("user", task(steps))]}, thread())
            answer, kept = state["messages"][-1].text, state["messages"]
        except Exception as error:  # it is a row of the table
            answer = f"{type(error).__name__}"
        prompts = served.requests()
        row = {
            "finished": f"All {steps} steps are done" in answer,
            "calls": len(served.stats()["requests"]),
            "refused": len(served.stats()["requests"]) - len(prompts),
            "prompt tokens": sum(one["prompt_tokens"] for one in prompts),
            "cached": sum(one["cached_tokens"] for one in prompts),
            "not append-only": served.breaks(),
            "history whole": kept is not None and whole(kept, steps),
        }
        lines.append(f"{name}: {row}; {answer[:160]}")
        if name == "MidfoldMiddleware":
            ours = row
    with capsys.disabled():
        print("", *lines, sep="\n")
    assert ours["finished"] and ours["history whole"] and ours["refused"] == 0
    assert ours["calls"] == steps + 1
    assert 0 < ours["not append-only"] < steps / 4
