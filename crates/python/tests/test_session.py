"""A session in memory: the engine's own."""

from __future__ import annotations

import copy
import json
import re
import time

import midfold
import pytest
from conftest import coding_session, compact_json


def filled(messages, **options):
    session = midfold.Session(**{"window": 16_000, **options})
    session.append(messages)
    return session


def test_a_context_holds_the_objects_that_were_appended():
    messages = coding_session(5)
    session = filled(messages[:-1])
    assert session.append(messages[-1]) == [len(messages) - 1]
    context = session.context()
    assert all(a is b for a, b in zip(context.messages, messages))
    assert len(context) == len(session) == len(messages)
    assert context.json() == compact_json(messages) and not context.folded


def test_json_that_was_appended_is_read_once():
    session = midfold.Session()
    session.append('{"role": "user", "content": "hi"}')
    session.append(b'{"role":"assistant","content":"yes"}\n{"role":"user","content":"why"}')
    first, second = session.context(), session.context()
    assert [m["content"] for m in first.messages] == ["hi", "yes", "why"]
    assert all(a is b for a, b in zip(first.messages, second.messages))
    assert first.json().startswith(b'[{"role": "user", "content": "hi"},{"role":"ass')


def test_it_folds_when_it_is_due_and_between_folds_only_grows(session_messages):
    session, folds, before = midfold.Session(window=16_000), 0, []
    for message in session_messages:
        session.append(message)
        context = session.context()
        folds += context.folded
        assert context.tokens <= 16_000
        if not context.folded:
            # The same objects, also those that a fold made.
            assert [id(m) for m in context.messages[: len(before)]] == [id(m) for m in before]
        before = context.messages
    assert 0 < folds == len(session.folds()) == session.status()["compaction_count"]


def test_a_bad_message_appends_nothing():
    session = midfold.Session()
    with pytest.raises(midfold.InputError):
        session.append([{"role": "user", "content": "a"}, {"role": "user", "content": {1: 2}}])
    with pytest.raises(midfold.InputError):
        session.append([{"role": "user", "content": "a"}, "b"])
    assert len(session) == 0


def test_compact_preview_and_undo(session_messages):
    session = filled(session_messages, window=64_000)
    before = session.context().json()
    preview = session.preview()
    assert preview and session.context().json() == before and session.folds() == []
    assert preview.recap == preview.fold["recap"]["text"]
    done = session.compact("cursor")
    assert done and done.fold["tokens_after"] < done.fold["tokens_before"]
    assert done.reason is None
    assert any(m["content"] == done.recap for m in session.context().messages)
    assert session.context().tokens == done.fold["tokens_after"]
    again = session.compact()
    assert not again and again.fold is None and again.reason and again.recap is None
    session.undo(done.fold["id"])
    assert session.context().json() == before and len(session.folds()) == 1
    with pytest.raises(midfold.InputError, match="nothing is folded"):
        session.undo()
    with pytest.raises(midfold.InputError, match="no id of a fold"):
        session.undo("abc")


def test_a_pin_survives_and_can_be_let_go(session_messages):
    session = filled(session_messages, preset="head-tail")
    session.pin(21)
    session.compact()
    kept = session.context().messages
    assert any(m is session_messages[21] for m in kept)
    assert session.status()["pins"] == [21]
    session.unpin(21)
    assert session.status()["pins"] == []
    with pytest.raises(midfold.InputError, match="no event 5000"):
        session.pin(5_000)


def test_observe_anchors_the_meter(session_messages):
    session = filled(session_messages[:40], window=200_000)
    counted = session.context().tokens
    session.observe(counted + 5_000, 120, cache_read=50)
    status = session.status()
    assert status["context_tokens"] == counted + 5_000
    assert (status["last_prompt_tokens"], status["last_completion_tokens"]) == (
        counted + 5_000,
        120,
    )


def test_recover_answers_an_overflow_once_and_nothing_else(session_messages):
    session = filled(session_messages, window=200_000)
    have = session.context().tokens
    assert session.recover({"error": {"message": "Rate limit reached"}}, status=429) is None
    body = {
        "type": "error",
        "error": {
            "type": "invalid_request_error",
            "message": f"prompt is too long: {have} tokens > 20000 maximum",
        },
    }
    context = session.recover(body, status=400)
    assert context.folded and context.tokens <= 20_000
    with pytest.raises(midfold.BudgetError, match="still too long"):
        session.recover(json.dumps(body), status=400)


def test_a_model_is_asked_and_its_answer_judged(session_messages):
    session = filled(session_messages, window=40_000, narrate=True)
    request = session.wants()
    assert request is not None and session.wants() is None
    system, user = request.messages
    assert (system["role"], user["role"]) == ("system", "user")
    assert "Go on with part 10, please." in user["content"]
    assert request.max_tokens > 0 and 0 <= request.temperature <= 1 and request.timeout > 0
    assert session.complete(request, "nonsense") == "no-header"
    failed = filled(session_messages, window=40_000, narrate=True)
    request = failed.wants()
    assert failed.complete(request, error="server: 503") == "server"
    assert failed.status()["cooldown_seconds"] > 0
    with pytest.raises(midfold.InputError, match="no kind of failure"):
        failed.complete(request, error="tired")


@pytest.mark.parametrize(
    "bad",
    [
        '- The user said: "never touch it on Sundays at all"',
        "- unknown_file_xyz.rs: changed @99999",
    ],
)
def test_one_bad_line_costs_a_narration_that_line(session_messages, bad):
    session = filled(session_messages, window=40_000, narrate=True)
    sections = ["Task & Constraints", "State of Work", "Decisions & Reasons", "Work Done",
                "Tried & Failed", "Values & Facts", "Open & Next"]  # fmt: skip
    good = [f"## {name}\n- refunds are booked twice" for name in sections]
    text = "\n".join(["## Conversation Summary", *good, bad])
    assert session.complete(session.wants(), text) == "accepted"
    recap = session.compact().recap
    assert recap.count("refunds are booked twice") >= len(sections)
    assert bad.removeprefix("- ") not in recap


def test_nothing_is_wanted_without_narration(session_messages):
    assert filled(session_messages, window=40_000, preset="head-tail").wants() is None


def test_recall_brings_back_what_was_folded(session_messages):
    session = filled(session_messages)
    session.compact()
    [hit] = session.recall_grep("part 10, please", mode="literal", limit=5)
    assert session_messages[hit["event"]]["content"] == "Go on with part 10, please."
    page = session.recall_expand(hit["event"])
    assert page["originals"][0]["text"] == "Go on with part 10, please."
    described = session.recall_describe()
    assert described["active"] and described["covered"]
    long = session.recall_expand("active", max_chars=500)
    more = session.recall_expand("active", max_chars=500, cursor=long["next"])
    assert more["originals"][0]["event"] >= long["originals"][-1]["event"]
    with pytest.raises(midfold.InputError, match="no message @99999"):
        session.recall_expand("99999")
    assert session.recall_expand([0, 1]) == session.recall_expand("@0-1")
    assert session.recall_grep("", role="user", limit=1)[0]["event"] == 1
    assert session.recall_grep(role="user", limit=1, skip=1)[0]["event"] > 1
    assert session.recall_grep("LED-4100", range="0-0") == []
    assert all(hit["role"] == "tool" for hit in session.recall_grep(errors=True, folded=True))
    assert all(
        hit["action"].startswith("read_file src/") for hit in session.recall_grep(tool="read")
    )
    with pytest.raises(midfold.InputError, match="tools of this session are: read_file"):
        session.recall_grep(tool="bash")
    assert session.recall_grep("LED-4100", context=2)[0]["lines"]
    with pytest.raises(midfold.InputError, match="no role"):
        session.recall_grep("x", role="robot")
    with pytest.raises(midfold.InputError, match="nothing to look for"):
        session.recall_grep()


def test_a_call_that_copies_a_recap_is_found(session_messages):
    session = filled(session_messages)

    def writes(content):
        arguments = json.dumps({"path": "notes.md", "content": content})
        function = {"name": "write_file", "arguments": arguments}
        return {
            "role": "assistant",
            "tool_calls": [{"id": "new", "type": "function", "function": function}],
        }

    session.compact()
    recap = session.folds()[-1]["recap"]["text"]
    line = next(it for it in recap.splitlines() if re.match(r"@\d+ (ran|changed|failed|saw) ", it))
    (found,) = session.placeholders(writes(f"# Notes\n{line}\n"))
    assert (found["id"], found["tool"]) == ("new", "write_file")
    assert found["placeholders"][0]["mark"] == line and "`content`" in found["reason"]
    assert session.placeholders([writes(f"See “{line}”."), writes("x = 1")]) == []
    assert len(session) == len(session_messages)


def test_an_outline_goes_on_page_by_page(session_messages):
    session = filled(session_messages)
    first = session.recall_outline(limit=10)
    assert [row["event"] for row in first["rows"]] == list(range(10))
    assert (first["next"], first["total"]) == (10, len(session_messages))
    assert session.recall_outline(start=first["next"], limit=1)["rows"][0]["event"] == 10
    session.compact()
    folded = session.recall_outline(folded=True, limit=500)
    runs = folded["folded"]
    assert runs and all(any(a <= r["event"] <= b for a, b in runs) for r in folded["rows"])


def test_recall_reports_bad_modes(session_messages):
    session = filled(session_messages)
    with pytest.raises(midfold.InputError, match="there is no mode"):
        session.recall_grep("x", mode="fuzzy")


def test_names_that_left_the_context_are_listed():
    messages = [{"role": "user", "content": "Fix it."}]
    for n in range(80):
        text = "\n".join(f"def settle_{n}_{k}(order_{n}_{k}): ..." for k in range(30))
        messages.append({"role": "assistant", "content": f"Looking at part {n}."})
        messages.append({"role": "user", "content": text})
    messages.append({"role": "assistant", "content": "Done."})
    session = filled(messages)
    with pytest.raises(midfold.InputError):
        session.recall_names()
    session.compact()
    context = session.context().json().decode()
    left = session.recall_names(max_chars=400)
    assert 0 < sum(map(len, left["names"])) <= 400
    assert not any(f"{name}(" in context or f"{name})" in context for name in left["names"])
    more = session.recall_names()
    assert len(more["names"]) > len(left["names"])
    assert len(more["names"]) + more["more"] == len(left["names"]) + left["more"]
    asked = session.recall_names("which settle was it?", 400)["names"]
    assert asked[0].startswith("settle_") and asked != left["names"]


def test_the_tools_come_with_the_first_fold(session_messages):
    before = midfold.Session(window=1_000_000).project(session_messages)
    assert before.tools == []
    after = midfold.Session(window=24_000).project(session_messages)
    assert after.folded
    assert after.tools == midfold.recall_tools("openai")
    for shape, name in [("responses", "name"), ("gemini", "functionDeclarations")]:
        assert name in midfold.recall_tools(shape)[0]


def test_an_agent_can_call_recall(session_messages):
    session = filled(session_messages)
    names = [tool["function"]["name"] for tool in midfold.recall_tools()]
    assert names == ["recall_find", "recall_show"]
    assert [tool["name"] for tool in midfold.recall_tools("anthropic")] == names
    answer = session.recall("recall_find", '{"query": "LED-4100"}')
    assert session.recall("recall_find", {"query": "LED-4100"}) == answer
    assert "\n@1 user" in answer
    assert session.recall("recall_find", '{"limit": 1}').endswith(
        "next: recall_find(limit=1, skip=1)\n"
    )
    assert session.recall("recall_show", "{}").startswith("error: ")


def test_a_fork_goes_its_own_way(session_messages):
    session = filled(session_messages)
    fork = session.fork("other", at=10)
    fork.append({"role": "user", "content": "another way"})
    assert (len(fork), len(session), fork.id) == (11, len(session_messages), "other")
    assert fork.context().messages[0] is session_messages[0]
    with pytest.raises(midfold.InputError):
        session.fork(at=100_000)


def test_a_deep_copy_is_independent_and_knows_the_same():
    messages = coding_session(40)
    session = filled(messages)
    session.context()
    session.pin(5)
    session.observe(9_000, 10)
    twin = copy.deepcopy(session)
    now = {"cooldown_seconds": 0}
    assert {**twin.status(), **now} == {**session.status(), **now}
    assert twin.context().json() == session.context().json()
    twin.context().messages[0]["content"] = "changed"
    assert messages[0]["content"] != "changed"
    twin.append({"role": "user", "content": "only here"})
    twin.undo()
    twin.unpin(5)
    assert len(session) == len(messages) and session.status()["pins"] == [5]
    assert session.status()["active_fold"]
    pair = copy.deepcopy([session, session])
    assert pair[0] is pair[1] is not session


def test_a_message_that_refers_to_its_session_refers_to_the_copy_of_it():
    message = {"role": "user", "content": "hi"}
    session = filled([message])
    message["session"] = session
    twin = copy.deepcopy(session)
    assert twin is not session
    copied = twin.context().messages[0]
    assert copied is not message and copied["session"] is twin


def test_a_system_prompt_stands_where_its_dialect_has_it():
    chat = midfold.Session(system="Be brief.")
    chat.append({"role": "user", "content": "hi"})
    assert chat.context().messages[0] == {"role": "system", "content": "Be brief."}
    claude = midfold.Session(dialect="anthropic", system="Be brief. " * 50)
    claude.append({"role": "user", "content": "hi"})
    assert len(claude.context()) == 1 and claude.context().tokens > 100


def test_a_session_names_what_it_cannot_be():
    with pytest.raises(midfold.BudgetError, match="leave nothing"):
        midfold.Session(window=1_000, output_reserve=1_000)
    with pytest.raises(midfold.InputError, match="there is no dialect"):
        midfold.Session(dialect="openai")
    with pytest.raises(midfold.StoreError, match="names no store"):
        midfold.Session(store="mysql://me:secret@host/db")


def test_it_folds_early_after_a_pause_in_which_its_cache_was_lost(tmp_path):
    messages = coding_session(12)
    window = filled(messages, window=1_000_000).context().tokens * 100 // 70

    def folds(**options):
        session = filled(messages, window=window, **options)
        assert not session.context().folded
        sent = time.time()
        while time.time() < sent + 0.003:
            pass
        return session.context().folded

    for store in (None, f"sqlite:{tmp_path / 'sessions.db'}"):
        assert folds(cache_lifetime=0.001, store=store)
        assert not folds(cache_lifetime=300, store=store)
        assert not folds(store=store)
    with pytest.raises(midfold.InputError, match="does not keep prompts"):
        midfold.Session(cache_lifetime=-1)


def test_a_key_makes_an_append_in_memory_repeatable():
    session = midfold.Session()
    message = {"role": "user", "content": "once"}
    assert session.append(message, key="k", expect=0) == [0]
    assert session.append(message, key="k", expect=0) == [0]
    assert len(session) == 1
    with pytest.raises(midfold.StoreError, match="used before"):
        session.append({"role": "user", "content": "other"}, key="k")
