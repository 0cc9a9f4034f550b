"""The engine of `midfold.hermes`, held to the host's contract; needs no host."""

from __future__ import annotations

import copy
import doctest
import importlib
import json
import sys
import types

import midfold
import pytest
from conftest import coding_session
from midfold.hermes import Engine, manual_feedback, register
from midfold.hermes.messages import plain, restored

WINDOW = 16_000
SESSION = "20261125_120000_abcdef"


def conversation(steps=40):
    """Messages as the host keeps them: no system prompt, and keys of its own."""
    out = []
    for message in coding_session(steps)[1:]:
        more = {"_db_persisted": True}
        if message["role"] == "assistant":
            more |= {"finish_reason": "tool_calls", "reasoning": "I think."}
        if message["role"] == "tool":
            more |= {"name": "read_file", "tool_name": "read_file"}
        out.append(message | more)
    return out


def engine_of(window=WINDOW, **settings):
    engine = Engine(**settings)
    engine.update_model("any-model", window)
    engine.on_session_start(SESSION, platform="cli", model="any-model")
    return engine


def bare(message):
    return {key: value for key, value in message.items() if key != "_db_persisted"}


def tokens_of(messages):
    return midfold.count_tokens([plain(message) for message in messages])


@pytest.mark.parametrize(
    "name",
    ["", ".engine", ".messages", ".settings", ".tools", ".yaml_edit"],
)
def test_docstrings(name):
    failed, tried = doctest.testmod(importlib.import_module(f"midfold.hermes{name}"))
    assert failed == 0 and tried > 0


def test_the_host_reads_these_by_name():
    engine = Engine()
    assert engine.name == "midfold"
    for name in ("prompt", "completion", "total"):
        assert getattr(engine, f"last_{name}_tokens") == 0
    assert engine.context_length == engine.threshold_tokens == engine.compression_count == 0
    engine.update_model("any-model", 64_000, "http://x", lambda: "key", "custom", api_mode="chat")
    assert engine.context_length == 64_000
    assert engine.threshold_tokens == int(64_000 * engine.threshold_percent)
    assert isinstance(engine.protect_first_n, int) and engine.protect_last_n > 0
    # The host may lower the line itself.
    engine.threshold_tokens = 1_000
    assert engine.should_compress(1_000)


@pytest.mark.parametrize("window", [4_000, 8_000, 64_000, 1_000_000])
def test_it_is_time_below_the_window(window):
    engine = engine_of(window)
    assert 0 < engine.threshold_tokens < window
    assert not engine.should_compress(engine.threshold_tokens - 1)
    assert engine.should_compress(engine.threshold_tokens)
    engine.last_prompt_tokens = engine.threshold_tokens
    assert engine.should_compress()
    assert engine.should_compress_info() == (True, None)
    assert engine.should_compress_info(1) == (False, None)


def test_usage():
    engine = engine_of()
    engine.update_from_response({"prompt_tokens": 900, "completion_tokens": 30})
    assert engine.last_prompt_tokens == engine.last_real_prompt_tokens == 900
    assert engine.last_completion_tokens == 30 and engine.last_total_tokens == 930
    assert engine.get_status() == {
        "last_prompt_tokens": 900,
        "threshold_tokens": engine.threshold_tokens,
        "context_length": WINDOW,
        "usage_percent": 900 / WINDOW * 100,
        "compression_count": 0,
    }
    engine.last_prompt_tokens = -1
    assert engine.get_status()["last_prompt_tokens"] == 0
    engine.update_from_response({})
    assert engine.last_prompt_tokens == 0


def test_compress_folds_the_middle_and_gives_back_the_hosts_objects():
    messages = [bare(message) for message in conversation()]
    before = copy.deepcopy(messages)
    engine = engine_of()
    assert engine.should_compress(14_000)
    out = engine.compress(messages, current_tokens=14_000, focus_topic=None)
    assert messages == before
    assert len(out) < len(messages) and engine.compression_count == 1
    assert out[0] is messages[0]
    assert out[-1] is messages[-1] and out[-4] is messages[-4]
    recap = [message for message in out if message.get("_compressed_summary")]
    assert recap and all(not any(one is given for given in messages) for one in recap)
    assert tokens_of(out) < engine.threshold_tokens


def test_what_comes_out_is_a_list_that_the_host_leaves_as_it_is():
    messages = conversation()
    out = engine_of().compress(messages, force=True)
    # It joins neighbours of one role, and drops results without their call.
    for one, after in zip(out, out[1:]):
        assert (one["role"], after["role"]) not in {("user", "user"), ("assistant", "assistant")}
    called = set()
    for message in out:
        called |= {call["id"] for call in message.get("tool_calls") or ()}
        assert message["role"] != "tool" or message["tool_call_id"] in called
    # A message with the mark of its database would not be written into the new list.
    assert not any("_db_persisted" in message for message in out)
    assert out[0] == bare(messages[0])
    assert all("reasoning" in message for message in out if message.get("tool_calls"))


def test_a_result_that_is_cut_keeps_the_hosts_keys():
    messages = [bare(message) for message in conversation(12)]
    before = copy.deepcopy(messages)
    out = engine_of(12_000, preset="projection").compress(messages, force=True)
    cut = [(one, own) for one, own in zip(out, messages) if one is not own]
    assert cut and len(out) == len(messages) and messages == before
    for one, own in cut:
        assert one == {**own, "content": one["content"]} and "tool_name" in one
        assert len(one["content"]) < len(own["content"])


def test_arguments_that_are_cut_and_results_that_became_text():
    function = {"name": "write_file", "arguments": '{"content": "long"}'}
    call = {"id": "w", "call_id": "w", "type": "function", "function": function}
    messages = [
        {"role": "assistant", "content": "", "tool_calls": [call], "reasoning": "hm"},
        {"role": "tool", "tool_call_id": "gone", "content": "text", "name": "write_file"},
    ]
    given = [plain(message) for message in messages]
    short = {"name": "write_file", "arguments": "{}"}
    changed = [
        {**given[0], "tool_calls": [{"id": "w", "type": "function", "function": short}]},
        {"role": "user", "content": "[result] text"},
    ]
    context = types.SimpleNamespace(messages=changed, places=[0, 1])
    assert restored(context, given, messages) == [
        {**messages[0], "tool_calls": [{**call, "function": short}]},
        changed[1],
    ]
    assert call["function"] is function


def test_a_list_that_compress_returned_goes_on():
    engine = engine_of()
    messages = conversation(30)
    seen = 0
    for n in range(8):
        call = {"name": "read_file", "arguments": json.dumps({"path": f"src/more_{n}.py"})}
        calls = [{"id": f"more_{n}", "type": "function", "function": call}]
        messages.append({"role": "user", "content": f"And read more_{n}."})
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        text = f"value_{n} = {n}\n" * 900
        messages.append({"role": "tool", "tool_call_id": f"more_{n}", "content": text})
        messages.append({"role": "assistant", "content": f"more_{n} is read."})
        # As the host counts: what a fold left free is used before the next is due.
        current = tokens_of(messages) + 700
        if not engine.should_compress(current):
            continue
        out = engine.compress(messages, current_tokens=current)
        seen += out is not messages
        # The host puts it in place of its list, and counts.
        messages[:] = out
        engine.last_prompt_tokens = -1
        engine.on_session_end(SESSION, messages)
        engine.on_session_start(SESSION, boundary_reason="compression", old_session_id=SESSION)
        tokens = tokens_of(messages)
        engine.update_from_response({"prompt_tokens": tokens + 700, "completion_tokens": 9})
    assert engine.compression_count == seen >= 3
    # All of it is one session: the first file is found again, and so is what is folded twice.
    found = json.loads(engine.handle_tool_call("recall_find", {"query": "part_0 LED-4100"}))
    # The first message stays in front of the agent, so only its number comes.
    assert "in front of you: led, 4100 (@" in found["result"]
    assert "value_0" in json.loads(engine.handle_tool_call("find", {"query": "value_0"}))["result"]


def test_new_id_after_a_compression_is_the_same_conversation():
    engine = engine_of()
    messages = conversation()
    out = engine.compress(messages, force=True)
    engine.on_session_start("child", boundary_reason="compression", old_session_id=SESSION)
    assert "rounding" in engine.handle_tool_call("find", {"query": "rounding", "folded": True})
    assert engine.compress([*out, {"role": "user", "content": "More."}], force=False)
    engine.on_session_start("another")
    assert "no message matches" in engine.handle_tool_call("find", {"query": "rounding"})


def test_nothing_to_do_returns_the_list_itself():
    engine = engine_of()
    messages = conversation(2)
    assert engine.should_compress(13_000)
    assert engine.compress(messages, current_tokens=13_000) is messages
    assert engine.compression_count == 0
    # It is not asked for again until there is more.
    assert not engine.should_compress(13_100)
    assert engine.should_compress_info(13_100) == (False, "ineffective")
    assert engine.should_compress(14_000)
    engine.update_model("other", WINDOW)
    assert engine.should_compress(13_100)
    assert not engine.has_content_to_compress(messages[:3])
    assert engine.has_content_to_compress(conversation())
    same, count = engine.prune_tool_results_only(messages, current_tokens=1)
    assert same is messages and count == 0


def test_a_provider_that_refuses_makes_it_fold_below_the_line():
    engine = engine_of(200_000)
    messages = conversation()
    assert not engine.should_compress(15_000)
    # The host learnt the limit from the error, and did not ask whether it is time.
    engine.update_model("any-model", WINDOW)
    assert len(engine.compress(messages, current_tokens=15_000)) < len(messages)
    # Without a limit in the error, too.
    engine = engine_of(200_000)
    assert len(engine.compress(messages, current_tokens=15_000)) < len(messages)


def test_words_of_what_to_keep_weigh():
    messages = conversation(300)
    without = engine_of(4_000).compress(messages, force=True)
    for more in ({"focus_topic": "cursor"}, {"memory_context": "cursor"}):
        out = engine_of(4_000).compress(messages, force=True, **more)
        changed = [one for one, other in zip(out, without) if one != other]
        assert len(out) == len(without) and len(changed) == 1
        assert changed[0]["_compressed_summary"]
    # Words of a memory provider alone are no reason to fold.
    engine = engine_of()
    few = conversation(2)
    assert engine.should_compress(13_000)
    assert engine.compress(few, current_tokens=13_000, memory_context="Tabs.") is few


def test_the_hosts_prompt_counts():
    messages = conversation(14)
    counted = tokens_of(messages[:-2])
    assert counted < 9_000
    for prompt, folds in ((counted, False), (counted + 7_000, True)):
        engine = engine_of()
        engine.update_from_response({"prompt_tokens": prompt, "completion_tokens": 5})
        assert engine.should_compress(12_600)
        assert (engine.compress(messages, current_tokens=12_600) is not messages) is folds


def test_a_message_that_cannot_be_read_aborts():
    engine = engine_of()
    messages = [*conversation(), {"role": "user", "content": "\ud800"}]
    assert engine.compress(messages, force=True) is messages
    assert engine._last_compress_aborted is True
    assert f"messages[{len(messages) - 1}]" in engine._last_summary_error
    assert engine.compress(messages[:-1], force=True) is not messages
    assert engine._last_compress_aborted is False and engine._last_summary_error is None


def test_what_is_gone_without_a_summary_is_told():
    for preset, gone in (("head-tail", True), ("hermes", True), ("default", False)):
        engine = engine_of(preset=preset)
        out = engine.compress(conversation(), force=True)
        assert out is not None and engine.compression_count == 1
        assert engine._last_summary_fallback_used is gone, preset
        assert (engine._last_summary_dropped_count > 0) is gone, preset
        # Each call starts anew: nothing to compress is nothing gone.
        engine.on_session_reset()
        few = conversation(2)
        assert engine.compress(few[:3], force=True) == few[:3]
        assert engine._last_summary_fallback_used is False
        assert engine._last_summary_dropped_count == 0
    assert Engine._last_aux_model_failure_error is Engine._last_aux_model_failure_model is None


def test_preflight():
    engine = engine_of()
    assert engine.should_compress_preflight(conversation())
    assert not engine.should_compress_preflight(conversation(2))
    assert not engine.should_compress_preflight([])
    assert not engine.should_defer_preflight_to_real_usage(15_000)
    engine.compress(conversation(), force=True)
    assert engine.should_defer_preflight_to_real_usage(15_000)
    engine.update_from_response({"prompt_tokens": 5_000})
    assert not engine.should_defer_preflight_to_real_usage(15_000)


def test_reset():
    engine = engine_of()
    engine.update_from_response({"prompt_tokens": 9_000, "completion_tokens": 1})
    engine.compress(conversation(), force=True)
    engine.on_session_reset()
    assert engine.last_prompt_tokens == engine.compression_count == 0
    assert "the session has no messages yet" in engine.handle_tool_call("show", {"messages": "@0"})
    assert engine.context_length == WINDOW


def test_copies_are_independent():
    engine = engine_of(200_000)
    child = copy.deepcopy(engine)
    child.update_model("small", WINDOW)
    assert (engine.context_length, child.context_length) == (200_000, WINDOW)
    assert engine.threshold_tokens > child.threshold_tokens
    assert child.compress(conversation(), force=True)
    assert (engine.compression_count, child.compression_count) == (0, 1)
    clone = child.clone_for_agent()
    question = ("find", {"query": "rounding"})
    assert clone.handle_tool_call(*question) == child.handle_tool_call(*question)
    clone.on_session_reset()
    assert json.loads(child.handle_tool_call(*question))["result"]
    assert type(clone) is Engine and clone is not child


def test_tools():
    engine = engine_of()
    names = [schema["name"] for schema in engine.get_tool_schemas()]
    assert names == ["recall_find", "recall_show"]
    assert all(schema["parameters"]["type"] == "object" for schema in engine.get_tool_schemas())
    # Nothing was folded yet: the host's list is what is searched.
    messages = conversation(3)
    found = json.loads(engine.handle_tool_call("find", {"query": "LED-4100"}, messages=messages))
    assert "refunds are booked twice" in found["result"]
    engine.compress(conversation(), force=True)
    assert json.loads(engine.handle_tool_call("recall_find", {}))["result"]
    assert "@3" in json.loads(engine.handle_tool_call("show", {"messages": "@3"}))["result"]
    unknown = json.loads(engine.handle_tool_call("lcm_x", {}))
    assert unknown == {"error": "Unknown context engine tool: lcm_x"}


def test_a_store_keeps_the_conversation(tmp_path):
    store = f"sqlite:{tmp_path}/sessions.db"
    engine = engine_of(store=store)
    out = engine.compress(conversation(), force=True)
    again = engine_of(store=store)
    question = ("find", {"query": "rounding"})
    assert "Quoted history" in again.handle_tool_call(*question)
    again.update_from_response({"prompt_tokens": 9_000, "completion_tokens": 5})
    text = again.compress([*out, {"role": "user", "content": "Go on."}], force=True)
    assert text[0] == out[0]
    # It is the session of before, with one message more.
    assert again._session.id == SESSION and len(again._session) == len(conversation()) + 1
    assert "Quoted history" in again.handle_tool_call(*question)


def test_narration_comes_from_the_hosts_auxiliary_model(monkeypatch):
    asked = []

    def call_llm(**request):
        asked.append(request)
        sections = ["Task & Constraints", "State of Work", "Decisions & Reasons", "Work Done"]
        sections += ["Tried & Failed", "Values & Facts", "Open & Next"]
        text = "\n".join(f"## {name}\n- work went on as planned" for name in sections)
        message = types.SimpleNamespace(content=f"## Conversation Summary\n{text}")
        choice = types.SimpleNamespace(message=message, finish_reason="stop")
        return types.SimpleNamespace(choices=[choice], model="small", usage=None)

    module = types.ModuleType("agent.auxiliary_client")
    module.call_llm = call_llm
    monkeypatch.setitem(sys.modules, "agent", types.ModuleType("agent"))
    monkeypatch.setitem(sys.modules, "agent.auxiliary_client", module)
    engine = engine_of(40_000, narrate=True)
    engine.update_model("any-model", 40_000, "http://x/v1", "key", "custom", "chat")
    messages = conversation(160)
    near = next(n for n in range(len(messages)) if tokens_of(messages[:n]) > 26_000)
    # Below the line the session is shown the messages once.
    assert tokens_of(messages[:near]) < engine.threshold_tokens
    assert engine.should_compress(26_000)
    given = messages[:near]
    assert engine.compress(given, current_tokens=26_000) is given
    assert not engine.should_compress(26_500)
    assert engine._narrator.wait(30)
    assert [request["task"] for request in asked] == ["compression"]
    assert asked[0]["main_runtime"]["base_url"] == "http://x/v1"
    assert [message["role"] for message in asked[0]["messages"]] == ["system", "user"]
    # What the model wrote is in the recap.
    out = engine.compress(messages, force=True)
    assert any("work went on as planned" in str(message["content"]) for message in out)


def test_a_narration_that_fails_is_noted(monkeypatch):
    class WrongError(Exception):
        status_code = 503

    def call_llm(**request):
        raise WrongError("busy")

    module = types.ModuleType("agent.auxiliary_client")
    module.call_llm = call_llm
    monkeypatch.setitem(sys.modules, "agent", types.ModuleType("agent"))
    monkeypatch.setitem(sys.modules, "agent.auxiliary_client", module)
    session = midfold.Session(window=40_000, narrate=True)
    session.append([plain(message) for message in conversation(100)])
    engine = engine_of(40_000, narrate=True)
    engine._narrator.offer(session)
    assert engine._narrator.wait(30)
    assert session.status()["narration_ready"] is False


def test_feedback_in_the_hosts_words():
    before, after = conversation(3), conversation(3)[:4]
    assert manual_feedback(before, after, 1_000, 1_200) == {
        "noop": False,
        "headline": f"Compressed: {len(before)} → 4 messages",
        "token_line": "Rough transcript estimate: ~1,000 → ~1,200 tokens",
        "note": "Note: fewer messages can still raise this rough transcript estimate"
        " when compression rewrites the transcript into denser summaries.",
    }
    assert manual_feedback(before, before, 1_000, 1_000) == {
        "noop": True,
        "headline": f"No changes from compression: {len(before)} messages",
        "token_line": "Rough transcript estimate: ~1,000 tokens (unchanged)",
        "note": None,
    }


def test_register(monkeypatch):
    module = types.ModuleType("hermes_cli.config")
    entry = {"preset": "lean"}
    module.load_config = lambda: {"plugins": {"entries": {"midfold": entry}}}
    monkeypatch.setitem(sys.modules, "hermes_cli", types.ModuleType("hermes_cli"))
    monkeypatch.setitem(sys.modules, "hermes_cli.config", module)
    given = []
    register(types.SimpleNamespace(register_context_engine=given.append))
    assert [engine.name for engine in given] == ["midfold"]
    assert given[0]._settings["preset"] == "lean"
