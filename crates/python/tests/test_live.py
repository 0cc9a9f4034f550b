"""What is said, changed and asked of a live session: hooks, tiers, model, policy, records."""

from __future__ import annotations

import json

import midfold
import pytest
from conftest import coding_session

PLACES = ["memory", "store"]


@pytest.fixture(params=PLACES)
def make(request, tmp_path):
    """Makes sessions, in memory and in a store."""

    def made(**options):
        if request.param == "store":
            options["store"] = f"sqlite:{tmp_path / 'sessions.db'}"
        return midfold.Session(**{"window": 16_000, "id": "a", **options})

    return made


def reopened(session):
    return midfold.Session.open(session.store, session.id) if session.store else session


# Hooks: summary, history, and what is injected beside the newest request.


def test_hooks_stand_behind_the_history_within_their_reserve(make, session_messages):
    session = make()
    session.append([*session_messages, {"role": "user", "content": "And now?"}])
    reserve = {"memory": 200, "style": 100}
    context = session.context(inject={"memory": "They like tabs."}, reserve=reserve)
    assert context.folded and context.tokens <= 16_000 - 300 + 200
    *history, last = context.messages
    assert last["role"] == "user" and last["content"].endswith("They like tabs.")
    assert history[-1]["content"] == "And now?" or "And now?" in last["content"]
    assert json.loads(context.json()) == context.messages and len(context) == len(context.messages)
    assert [(one["hook"], 0 < one["tokens"] <= 200) for one in context.injections] == [
        ("memory", True)
    ]
    # It was sent, not kept.
    assert len(session) == len(session_messages) + 1
    plain = session.context()
    assert plain.injections == [] and not plain.folded
    assert plain.messages == history and plain.tokens < context.tokens


def test_the_room_of_a_reserve_is_kept_when_it_is_folded(session_messages):
    def folded(**options):
        session = midfold.Session(window=16_000)
        session.append(session_messages)
        return session.context(**options).tokens

    assert folded(reserve={"memory": 9_000}) < folded()


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        ({"inject": {"memory": "x"}}, "`memory` has no reserve", '"memory": 200'),
        ({"inject": {"a": "word " * 99}, "reserve": {"a": 20}}, "`a` added", "raise its reserve"),
        ({"inject": ["x"]}, "inject is no dict", "inject="),
        ({"inject": {"a": 7}, "reserve": {"a": 20}}, r'inject\["a"\] is no str', None),
        ({"reserve": {"a": -1}}, r'reserve\["a"\] is no number', "200"),
    ],
)
def test_hooks_that_are_wrong_are_told(make, options, message, hint):
    session = make()
    session.append({"role": "user", "content": "hi"})
    with pytest.raises(midfold.InputError, match=message) as caught:
        session.context(**options)
    assert hint is None or hint in caught.value.hint
    assert len(session.context()) == 1


def test_nothing_is_injected_between_a_call_and_its_result(make):
    session = make()
    session.append(coding_session(1)[:3])
    with pytest.raises(midfold.InputError, match="waits for its result"):
        session.context(inject={"a": "x"}, reserve={"a": 50})


# Tiers.


def test_a_tier_evicts_results_before_the_threshold(make):
    session = make(window=64_000, tiers={"results": 0.1})
    session.append(coding_session(40))
    assert 6_400 < session.status()["context_tokens"] < 64_000 * 0.6
    assert session.context().folded
    assert session.folds()[-1]["cause"] == "tier"
    assert len(midfold.Session(policy={"budget": {"tiers": {"results": 0.1}}})) == 0


def test_tiers_that_are_wrong_are_told():
    for tiers in [{"everything": 0.3}, {"results": 30}, [0.3]]:
        with pytest.raises(midfold.PolicyError, match="tiers") as caught:
            midfold.Session(tiers=tiers)
        assert '{"results": 0.3}' in caught.value.hint


# Model and policy of a live session.


def test_a_new_model_brings_its_window(make, session_messages):
    session = make(window=1_000_000)
    session.append(session_messages)
    assert not session.context().folded
    session.update_model("mine", 12_000)
    session = reopened(session)
    status = session.status()
    assert (status["model"], status["context_length"]) == ("mine", 12_000)
    context = session.context()
    assert context.folded and context.tokens <= 12_000
    # One that nothing is known about keeps the window; a known one has its own.
    session.update_model("nobody-knows-it")
    assert session.status()["context_length"] == 12_000
    session.update_model("gpt-4o")
    assert session.status()["context_length"] == 128_000
    with pytest.raises(midfold.BudgetError):
        session.update_model("none", 0)
    with pytest.raises(midfold.InputError, match="window is -1"):
        session.update_model("none", -1)
    assert session.status()["model"] == "gpt-4o"


def test_a_new_policy_is_on_record(make, session_messages):
    session = make(window=64_000)
    session.append(session_messages)
    first = session.compact()
    before = session.status()
    assert before["policy"] == "default" and "policy_since" not in before
    session.set_policy(preset="lean")
    session = reopened(session)
    session.append(coding_session(20, seed=9)[2:])
    status = session.status()
    assert (status["policy"], status["policy_since"]) == ("lean", len(session_messages))
    second = session.compact()
    assert second.fold["policy"] == "lean"
    assert first.fold["policy_fingerprint"] == before["policy_fingerprint"]
    assert second.fold["policy_fingerprint"] == status["policy_fingerprint"]
    assert status["policy_fingerprint"] != before["policy_fingerprint"]
    session.set_policy({"trigger": {"threshold": 0.5}}, tiers={"results": 0.2})
    assert session.status()["threshold_percent"] == 0.5
    with pytest.raises(midfold.PolicyError, match="neither"):
        session.set_policy()
    with pytest.raises(midfold.PolicyError, match="no preset"):
        session.set_policy(preset="nonesuch")
    assert session.status()["threshold_percent"] == 0.5
    fork = session.fork("b")
    assert fork.status()["threshold_percent"] == 0.5


# What the records say.


def test_explain_audit_and_describe_agree_on_a_name_that_was_asked_for_again(
    make, session_messages
):
    session = make(window=64_000, preset="head-tail")
    session.append(session_messages)
    lost = session.compact().fold["lost_ids"]["first"]
    name = next(name for name in lost if len(name) > 6)
    gone = session.explain(name)
    assert gone["answer"] == "gone" and "asked_again" not in gone
    [asked] = session.append({"role": "user", "content": f"What was {name}?"})
    found = session.explain(name)
    [again] = found["asked_again"]
    assert (again["name"], again["seq"]) == (name, asked)
    assert again["fold"]["events"] == len(session_messages)
    audit = session.audit()
    assert audit["ok"] and audit["findings"] == []
    told = {"name": name, "seq": asked}
    assert told in audit["receipts"][0]["asked_again"]
    described = session.recall_describe()
    assert told in described["asked_again"] and described["folded_at"] == len(session_messages)
    assert name in session.folds()[0]["referenced_later"]["first"]


def test_explain_answers_for_a_message(make, session_messages):
    session = make(window=64_000)
    session.append(session_messages)
    fold = session.compact().fold
    [left] = session.explain(fold["span"]["start"])["occurrences"]
    assert left["seq"] == fold["span"]["start"] and left["left"]["fold"]["id"] == fold["id"]
    assert session.explain(0)["answer"] == "verbatim"
    with pytest.raises(midfold.InputError, match="give the text"):
        session.explain(" ")
    with pytest.raises(midfold.InputError, match="no call 7"):
        session.explain("LED-4100", call=7)


def test_the_ledger_lists_what_was_sent(make, session_messages):
    session = make()
    session.append(session_messages[:10])
    first = session.context()
    session.observe(first.tokens, 12, call=first.call)
    session.append(session_messages[10:])
    session.context(inject={"memory": "tabs"}, reserve={"memory": 100})
    ledger = session.ledger()
    if session.store is None:
        assert ledger == []
        return
    assert [(call["number"], call["events"]) for call in ledger] == [
        (1, 10),
        (2, len(session_messages)),
    ]
    assert ledger[0]["usage"]["prompt"] == first.tokens and ledger[1]["usage"] is None
    assert [one["hook"] for one in ledger[1]["injections"]] == ["memory"]
    assert session.audit()["calls"] == 2 and session.audit()["ok"]


def test_a_cache_check_tells_a_marker_from_a_recap_made_anew(make, session_messages):
    session = make()
    messages = session_messages[:-1]  # up to a user message: the tail of this turn begins elsewhere
    session.append(messages)
    found = session.cache_check()
    assert found["frozen"] == found["prompt"] and found["marker"] == found["marker_prompt"]
    assert found["regenerated"] < found["regenerated_prompt"] / 2
    assert found == midfold.cache_check(messages, window=16_000)
    assert midfold.cache_check(session_messages[:2]) is None
