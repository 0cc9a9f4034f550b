"""A host's list goes in whole each time; what is to be sent comes out."""

from __future__ import annotations

import copy
import json

import midfold
import pytest


def step(n: int) -> list[dict]:
    call = {"name": "read_file", "arguments": json.dumps({"path": f"src/part_{n}.py"})}
    return [
        {
            "role": "assistant",
            "content": f"Reading part {n}.",
            "tool_calls": [{"id": f"c{n}", "type": "function", "function": call}],
        },
        {"role": "tool", "tool_call_id": f"c{n}", "content": f"def settle_{n}(): ...\n" * 60},
    ]


def history(steps: int, task: str = "Find out why refunds are booked twice.") -> list[dict]:
    messages = [
        {"role": "system", "content": "You are careful."},
        {"role": "user", "content": task},
    ]
    for n in range(steps):
        messages += step(n)
    return messages


@pytest.fixture(params=["memory", "sqlite"])
def store(request, tmp_path):
    return None if request.param == "memory" else f"sqlite:{tmp_path / 'sessions.db'}"


def grow(project, kept: list[dict], steps: range) -> list[midfold.Context]:
    contexts = []
    for n in steps:
        kept += step(n)
        contexts.append(project(kept))
    return contexts


def test_a_list_that_grows_is_one_session(store):
    session = midfold.Session(window=8_000, store=store)
    kept = history(0)
    before: list[dict] = []
    folds = 0
    for context in grow(session.project, kept, range(60)):
        assert context.tokens <= 8_000
        assert context.session.id == session.id
        folds += context.folded
        if not context.folded:
            same = [now is then for now, then in zip(context.messages, before)]
            assert all(same)
        before = context.messages
    assert folds >= 3
    assert len(session) == len(kept)


def test_places_say_what_each_message_is_made_of(store):
    session = midfold.Session(window=8_000, store=store)
    kept = history(0)
    context = grow(session.project, kept, range(40))[-1]
    assert len(context.places) == len(context.messages)
    for place, message in zip(context.places, context.messages):
        if place is None:
            assert not any(message is other for other in kept)
            continue
        assert message is kept[place] or message["role"] == kept[place]["role"]
    known = [place for place in context.places if place is not None]
    assert known == sorted(set(known))
    assert known[:2] == [0, 1] and known[-1] == len(kept) - 1
    assert None in context.places


def test_a_host_may_keep_what_it_was_given(store):
    session = midfold.Session(window=8_000, store=store)
    kept = history(0)
    for n in range(60):
        kept += step(n)
        context = session.project(kept)
        if context.folded:
            kept = list(context.messages)
    # All that was said is in the session's log, though the host let go of it.
    assert len(session) == 2 + 2 * 60
    assert session.status()["compaction_count"] >= 3
    assert "settle_3" in session.recall("recall_show", json.dumps({"messages": "@9"}))
    assert context.messages[0] is kept[0]


def test_what_a_host_keeps_is_known_after_a_restart(tmp_path):
    store = f"sqlite:{tmp_path / 'sessions.db'}"
    session = midfold.Session(window=8_000, store=store, id="one")
    kept = history(30)
    kept = list(session.project(kept).messages)
    kept += step(30)
    again = midfold.Session.open(store, "one")
    context = again.project(kept)
    assert again.id == "one"
    assert len(again) == len(history(30)) + 2
    assert context.messages[-1] is kept[-1]


def test_a_list_that_goes_back_is_a_fork(store):
    session = midfold.Session(window=100_000, store=store, id="one")
    kept = history(5)
    session.project(kept)
    back = [*kept[:6], {"role": "user", "content": "No, look at part 9."}]
    context = session.project(back)
    assert context.messages == back
    assert session.id != "one" and len(session) == 7
    if store:
        assert len(midfold.Session.open(store, "one")) == len(kept)


def test_after_a_list_went_back_its_messages_are_its_own(store):
    session = midfold.Session(window=100_000, store=store)
    session.project(history(12))
    back = history(4)
    for n in range(20, 30):
        back += step(n)
    folded = session.project(back, force=True)
    assert folded.folded
    session.project(list(folded.messages))
    session.undo()
    context = session.context()
    assert context.messages == json.loads(context.json()) == back


def test_the_same_list_again_changes_nothing(store):
    session = midfold.Session(window=8_000, store=store)
    kept = history(30)
    first = session.project(kept)
    second = session.project(copy.deepcopy(kept))
    assert first.folded and not second.folded
    assert first.messages == second.messages
    assert len(session) == len(kept)


def test_force_and_focus_fold_now(store):
    session = midfold.Session(window=100_000, store=store)
    kept = history(20)
    assert not session.project(kept).folded
    context = session.project(kept, focus="settle_4", force=True)
    assert context.folded and len(context.messages) < len(kept)


def test_what_recover_returns_has_places(store):
    session = midfold.Session(window=100_000, store=store)
    kept = history(30)
    session.project(kept)
    message = (
        "This model's maximum context length is 6000 tokens. However, your messages resulted in "
        "9000 tokens. Please reduce the length of the messages."
    )
    error = {"error": {"code": "context_length_exceeded", "message": message}}
    context = session.recover(error, status=400)
    assert context is not None and context.places is not None
    assert context.messages[0] is kept[0] and context.messages[-1] is kept[-1]


def test_an_empty_list_is_an_empty_context():
    context = midfold.Session(window=8_000).project([])
    assert context.messages == [] and context.places == []


def test_only_a_list_is_a_list():
    with pytest.raises(midfold.InputError, match="not a list"):
        midfold.Session(window=8_000).project({"messages": []})  # type: ignore[arg-type]
    with pytest.raises(midfold.InputError):
        midfold.Session(window=8_000).project([1])  # type: ignore[list-item]


class TestSessions:
    def test_conversations_are_found_by_what_is_in_them(self, store):
        sessions = midfold.Sessions(window=8_000, store=store)
        lists = [history(0, f"Task {n}.") for n in range(3)]
        ids: list[set[str]] = [set() for _ in lists]
        for n in range(30):
            for kept, seen in zip(lists, ids):
                kept += step(n)
                seen.add(sessions.project(kept).session.id)
        assert [len(seen) for seen in ids] == [1, 1, 1]
        assert len(set.union(*ids)) == 3

    def test_conversations_are_found_by_the_hosts_id(self, store):
        sessions = midfold.Sessions(window=8_000, store=store)
        kept = history(3)
        assert sessions.project(kept, id="a").session.id == "a"
        assert sessions.project(kept, id="b").session.id == "b"
        found = sessions.find(id="a")
        assert found is not None and found.id == "a" and len(found) == len(kept)
        assert sessions.find(id="c") is None

    def test_a_fork_leaves_the_other_as_it_is(self, store):
        sessions = midfold.Sessions(window=100_000, store=store)
        kept = history(6)
        first = sessions.project(kept).session
        other = [*kept[:4], {"role": "user", "content": "Another way."}]
        second = sessions.project(other).session
        assert first.id != second.id
        assert (len(first), len(second)) == (len(kept), len(other))
        kept += step(6)
        assert sessions.project(kept).session.id == first.id

    def test_a_stored_one_is_found_after_a_restart(self, tmp_path):
        store = f"sqlite:{tmp_path / 'sessions.db'}"
        kept = history(30)
        before = midfold.Sessions(window=8_000, store=store).project(kept, id="a")
        kept += step(30)
        after = midfold.Sessions(window=8_000, store=store).project(kept, id="a")
        assert not after.folded
        assert after.messages[: len(before.messages)] == before.messages

    def test_a_list_that_went_back_is_found_after_a_restart(self, tmp_path):
        store = f"sqlite:{tmp_path / 'sessions.db'}"
        sessions = midfold.Sessions(window=8_000, store=store)
        kept = history(6)
        sessions.project(kept, id="a")
        other = [*kept[:4], {"role": "user", "content": "Another way."}]
        before = sessions.project(other, id="a").session
        other += step(7)
        after = midfold.Sessions(window=8_000, store=store).project(other, id="a").session
        assert after.id == before.id != "a"
        assert len(after) == len(other)

    def test_a_conversation_without_an_id_is_no_fork_of_one_with_an_id(self, tmp_path):
        store = f"sqlite:{tmp_path / 'sessions.db'}"
        sessions = midfold.Sessions(window=8_000, store=store)
        one, two = history(3, "Task one."), history(3, "Task two.")
        sessions.project(one, id="a")
        assert "a" not in sessions.project(two).session.id.split("~")
        after = midfold.Sessions(window=8_000, store=store).project(one, id="a").session
        assert after.id == "a"

    def test_two_processes_may_take_turns(self, tmp_path):
        store = f"sqlite:{tmp_path / 'sessions.db'}"
        one, two = (midfold.Sessions(window=8_000, store=store) for _ in range(2))
        kept = history(0)
        for n in range(20):
            kept += step(n)
            context = (one, two)[n % 2].project(kept, id="a")
            assert context.session.id == "a"
        assert len(context.session) == len(kept)

    def test_what_is_not_there_is_not_found(self):
        sessions = midfold.Sessions(window=8_000)
        assert sessions.find(history(1)) is None
        sessions.project(history(1))
        assert sessions.find([{"role": "user", "content": "Who?"}]) is None

    def test_a_limit_lets_the_oldest_go(self):
        sessions = midfold.Sessions(window=8_000, limit=2)
        for n in range(3):
            sessions.project(history(1, f"Task {n}."), id=str(n))
        assert sessions.find(id="0") is None and sessions.find(id="2") is not None
