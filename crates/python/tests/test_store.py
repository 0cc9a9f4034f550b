"""Sessions in a store: durable, shared, and the same contexts as in memory."""

from __future__ import annotations

import copy
import json
import sqlite3
import subprocess
import sys

import midfold
import pytest


@pytest.fixture
def store(tmp_path):
    return f"sqlite:{tmp_path / 'sessions.db'}"


def test_a_stored_session_sends_what_one_in_memory_sends(store, session_messages):
    stored = midfold.Session(store=store, window=16_000, id="a")
    memory = midfold.Session(window=16_000, id="a")
    for message in session_messages:
        stored.append(message)
        memory.append(message)
        there, here = stored.context(), memory.context()
        assert there.json() == here.json() and there.folded == here.folded
    assert there.call == len(session_messages)
    assert all(a is b for a, b in zip(there.messages[-4:], session_messages[-4:]))


def test_it_goes_on_after_it_was_closed(store, session_messages):
    session = midfold.Session(store=store, window=16_000, id="a")
    session.append(session_messages)
    before = session.context()
    session.observe(before.tokens, 5, call=before.call)
    del session
    again = midfold.Session.open(store, "a")
    assert len(again) == len(session_messages)
    assert again.context().json() == before.json()
    assert again.context().messages[0] is again.context().messages[0]
    assert again.store.startswith("sqlite") and again.id == "a"


def test_a_key_makes_an_append_repeatable(store):
    session = midfold.Session(store=store)
    message = {"role": "user", "content": "once"}
    assert session.append(message, key="k") == session.append(message, key="k") == [0]
    assert len(session) == 1
    with pytest.raises(midfold.StoreError, match="used before"):
        session.append({"role": "user", "content": "other"}, key="k")


def test_two_handles_do_not_overwrite_each_other(store):
    one = midfold.Session(store=store, id="a")
    two = midfold.Session.open(store, "a")
    one.append({"role": "user", "content": "first"})
    assert two.append({"role": "user", "content": "second"}) == [1]
    assert one.append({"role": "user", "content": "third"}) == [2]


def test_opening_what_is_not_there_makes_nothing(tmp_path):
    path = tmp_path / "none.db"
    with pytest.raises(midfold.StoreError, match="no store at"):
        midfold.Session.open(f"sqlite:{path}", "a")
    assert not path.exists()


def test_a_role_that_nobody_knows_is_refused(store):
    session = midfold.Session(store=store)
    hello = {"role": "user", "content": "hi"}
    with pytest.raises(midfold.InputError, match=r"message 1: .* has no role `alien`"):
        session.append([hello, {"role": "alien", "content": "hi"}])
    assert len(session) == 0


def test_errors_of_a_store_say_what_to_do(store):
    midfold.Session(store=store, id="a")
    with pytest.raises(midfold.StoreError, match="exists already") as caught:
        midfold.Session(store=store, id="a")
    assert "Session.open" in caught.value.hint
    with pytest.raises(midfold.StoreError, match="no session `b`"):
        midfold.Session.open(store, "b")
    with pytest.raises(midfold.StoreError) as caught:
        midfold.Session.open("postgres://me:secret@127.0.0.1:1/x", "a")
    assert "secret" not in str(caught.value)


def test_a_deep_copy_is_a_fork_with_an_id_of_its_own(store, session_messages):
    session = midfold.Session(store=store, window=16_000, id="a")
    session.append(session_messages)
    session.compact()
    twin = copy.deepcopy(session)
    assert twin.id != session.id
    assert twin.context().json() == session.context().json()
    twin.append({"role": "user", "content": "only here"})
    assert len(midfold.Session.open(store, twin.id)) == len(session) + 1


def test_undo_pins_and_recall_work_in_a_store(store, session_messages):
    session = midfold.Session(store=store, window=16_000)
    session.append(session_messages)
    session.pin(3)
    fold = session.compact().fold
    assert session.recall_describe(fold["id"])["active"]
    assert session.recall_grep("LED-4100")
    assert session.status()["pins"] == [3]
    session.undo()
    assert session.status().get("active_fold") is None and len(session.folds()) == 1


def test_narration_of_a_stored_session_is_a_workers(store):
    session = midfold.Session(store=store, narrate=True)
    with pytest.raises(midfold.StoreError) as caught:
        session.wants()
    assert "midfold worker" in caught.value.hint and "midfold.work(" in caught.value.hint


@pytest.fixture
def wanting(store, session_messages):
    """A stored session that would like a narration."""
    session = midfold.Session(store=store, window=40_000, narrate=True, id="a")
    session.append(session_messages)
    sent = session.context()
    session.observe(sent.tokens, 5, call=sent.call)
    return session


def narrate(request):
    """What a model writes that keeps to what it is asked."""
    assert [message["role"] for message in request.messages] == ["system", "user"]
    assert "Go on with part 10, please." in request.messages[1]["content"]
    sections = (
        "Task & Constraints",
        "State of Work",
        "Decisions & Reasons",
        "Work Done",
        "Tried & Failed",
        "Values & Facts",
        "Open & Next",
    )
    body = "".join(f"## {name}\n- work went on as planned\n" for name in sections)
    return "## Conversation Summary\n" + body


def test_a_function_narrates_what_stored_sessions_want(store, wanting):
    [done] = midfold.work(store, narrate, model="m")
    assert (done.session, done.attempt, done.code, done.detail) == ("a", 1, "accepted", "m")
    assert done.folded and done.events[0] < done.events[1]
    again = midfold.Session.open(store, "a")
    assert again.status()["narration_ready"] and not again.context().folded
    # The fold is there when it is due.
    again.append({"role": "user", "content": "more " * 6_000})
    context = again.context()
    assert context.folded and b"work went on as planned" in context.json()
    assert midfold.work(store, narrate) == []


def test_an_answer_is_judged_and_a_limit_kept(store, wanting):
    assert midfold.work(store, narrate, limit=0) == []
    [done] = midfold.work(store, lambda request: "nonsense", limit=1)
    assert (done.code, done.folded, bool(done)) == ("no-header", False, False)


@pytest.mark.parametrize("error", [ValueError("503"), KeyboardInterrupt()])
def test_what_a_narrator_raises_comes_out_and_its_job_is_kept(store, wanting, error):
    def fail(request):
        raise error

    with pytest.raises(type(error)) as caught:
        midfold.work(store, fail)
    assert caught.value is error
    with sqlite3.connect(store.partition(":")[2]) as tables:
        assert tables.execute("SELECT state, attempt FROM jobs").fetchall() == [("ready", 1)]
    # Not at once: it is tried again a little later.
    assert midfold.work(store, narrate) == []


def test_what_is_no_text_is_a_type_error(store, wanting):
    with pytest.raises(TypeError):
        midfold.work(store, lambda request: 5)
    with pytest.raises(midfold.StoreError):
        midfold.work("postgres://me:secret@127.0.0.1:1/x", narrate)


def test_the_command_line_reads_what_python_stored(cli, store, session_messages):
    session = midfold.Session(store=store, window=16_000, id="shared")
    session.append(session_messages)
    context = session.context()
    done = cli("session", "status", "shared", "--store", store, "--json")
    assert json.loads(done.stdout)["status"]["active_fold"] == session.status()["active_fold"]
    done = cli("session", "context", "shared", "--store", store, "--json")
    assert context.messages == json.loads(done.stdout)["messages"]


def test_a_deleted_session_is_gone_from_the_file(store, tmp_path, session_messages):
    session = midfold.Session(store=store, window=16_000, id="a")
    session.append([*session_messages, {"role": "user", "content": "a quagmire"}])
    session.compact()
    fork = session.fork("fork")
    other = midfold.Session(store=store, id="b")
    other.append({"role": "user", "content": "stays"})
    before = fork.context().json()

    [told] = midfold.delete_sessions(store, "a", dry_run=True)
    assert (told.session, told.events, told.folds) == ("a", len(session), 1)
    assert told.bytes > 1_000 and len(midfold.Session.open(store, "a")) == told.events
    with pytest.raises(midfold.StoreError, match="no session `c`"):
        midfold.delete_sessions(store, "a", "c")
    assert midfold.delete_sessions(store, "a", "a") == [told]
    with pytest.raises(midfold.StoreError, match="no session `a`") as caught:
        midfold.Session.open(store, "a")
    assert "midfold session list" in caught.value.hint
    with pytest.raises(midfold.StoreError, match="no session `a`"):
        session.append({"role": "user", "content": "late"})
    # A fork is whole without it.
    assert midfold.Session.open(store, "fork").context().json() == before
    assert fork.audit()["ok"]
    fork_and_b = midfold.delete_sessions(store, "fork", "b")
    assert [extent.session for extent in fork_and_b] == ["fork", "b"]
    left = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"quagmire" not in left and b"stays" not in left


AGE = """
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as tables:
    month = 31 * 24 * 3_600_000
    tables.execute("UPDATE sessions SET created = created - ? WHERE id = 'old'", [month])
    old = "session_no = (SELECT no FROM sessions WHERE id = 'old')"
    tables.execute(f"UPDATE events SET made = made - ? WHERE {old}", [month])
"""


def test_old_sessions_are_pruned(cli, store):
    for id in ["old", "new"]:
        midfold.Session(store=store, id=id).append({"role": "user", "content": "hi"})
    # From another process: two SQLite libraries in one do not see each other's locks.
    subprocess.run([sys.executable, "-c", AGE, store.partition(":")[2]], check=True)
    [told] = midfold.prune_sessions(store, "30d", dry_run=True)
    assert (told.session, told.events) == ("old", 1)
    assert midfold.prune_sessions(store, "5w") == []
    assert midfold.prune_sessions(store, "30d") == [told]
    assert midfold.prune_sessions(store, "30d") == []
    assert len(midfold.Session.open(store, "new")) == 1
    assert json.loads(cli("check", "store", "--store", store, "--json").stdout)["ok"]


@pytest.mark.parametrize("age", ["30m", "0d", "soon", "-1d", "d", ""])
def test_an_age_that_is_none_says_what_to_write(store, age):
    midfold.Session(store=store, id="a")
    with pytest.raises(midfold.InputError, match="older_than=") as caught:
        midfold.prune_sessions(store, age)
    assert "1h" in str(caught.value) or "12h, 30d, 8w" in str(caught.value)
    assert midfold.Session.open(store, "a").id == "a"
