"""The dictionaries that come out are what `midfold.types` says, key by key."""

from __future__ import annotations

import sys

import midfold
import pytest
from midfold import trajectories
from midfold import types as shapes

if sys.version_info < (3, 11):
    pytest.skip("`NotRequired` is read back from 3.11 on", allow_module_level=True)

from fits import misfits

SUMMARY = "\n".join(
    ["## Conversation Summary"]
    + [
        f"## {name}\n- work went on"
        for name in (
            "Task & Constraints",
            "State of Work",
            "Decisions & Reasons",
            "Work Done",
            "Tried & Failed",
            "Values & Facts",
            "Open & Next",
        )
    ]
)


@pytest.fixture(scope="module")
def stored(session_messages, tmp_path_factory):
    """A stored session with folds, requests with usage, a narration, a pin and an injected text."""
    store = f"sqlite:{tmp_path_factory.mktemp('types') / 'sessions.db'}"
    session = midfold.Session(store=store, window=16_000, narrate=True, tiers={"results": 0.9})
    for at in range(0, len(session_messages), 4):
        session.append(session_messages[at : at + 4])
        sent = session.context(inject={"memory": "They like tabs."}, reserve={"memory": 100})
        session.observe(sent.tokens + 50, 20, cache_read=10, call=sent.call)
        midfold.work(store, lambda request: SUMMARY, model="small")
    session.pin(3)
    session.compact()
    assert len(session.folds()) >= 2
    return session


def test_the_checker_finds_what_does_not_fit():
    status = midfold.Session().status()
    assert misfits(status, shapes.SessionStatus) == []
    assert misfits({**status, "more": 1}, shapes.SessionStatus)
    assert misfits({**status, "events": "1"}, shapes.SessionStatus)
    assert misfits({**status, "due": {"state": "late"}}, shapes.SessionStatus)
    del status["events"]
    assert misfits(status, shapes.SessionStatus)


@pytest.mark.parametrize("preset", midfold.presets())
def test_records_of_folds(preset, session_messages):
    result = midfold.compact(session_messages, window=12_000, preset=preset, pin=[5])
    assert misfits(result.fold, shapes.Fold) == []
    cut = midfold.verify(session_messages, result.messages[1:], fold=result.fold)
    assert cut.violations and misfits(cut.violations, list[shapes.Violation]) == []


def test_a_session_says_what_the_types_say(stored):
    assert misfits(stored.folds(), list[shapes.Fold]) == []
    narrated = [fold for fold in stored.folds() if fold.get("narrated")]
    assert narrated and narrated[0]["verdicts"]
    assert misfits(stored.status(), shapes.SessionStatus) == []
    assert misfits(stored.audit(), shapes.AuditReport) == []
    calls = stored.ledger()
    assert calls[-1]["usage"] and misfits(calls, list[shapes.LedgerCall]) == []
    assert misfits(stored.cache_check(), shapes.CacheCheck) == []
    sent = stored.context(inject={"memory": "They like tabs."}, reserve={"memory": 100})
    assert sent.injections and misfits(sent.injections, list[shapes.Injection]) == []


@pytest.mark.parametrize("asked", ["LED-4100", "settle", "nowhere-to-be-found", 0, 3, 20])
def test_explanations(stored, asked):
    assert misfits(stored.explain(asked), shapes.Explanation) == []
    assert misfits(stored.explain(asked, call=2), shapes.Explanation) == []


def test_recall(stored):
    for found in (
        stored.recall_grep("settle", context=1),
        stored.recall_grep("LED-4100"),
        stored.recall_grep(role="tool", limit=50),
    ):
        assert found and misfits(found, list[shapes.FoundMessage]) == []
    outline = stored.recall_outline(limit=20)
    assert outline["next"] == 20 and misfits(outline, shapes.OutlinePage) == []
    assert misfits(stored.recall_outline(start=100), shapes.OutlinePage) == []
    for what in ("active", 3, [2, 5], "2-30"):
        assert misfits(stored.recall_expand(what, max_chars=900), shapes.OriginalPage) == []
    assert misfits(stored.recall_describe(), shapes.FoldDescription) == []
    assert misfits(stored.recall_names("settle"), shapes.GoneNames) == []


def test_questions_to_a_model(session_messages):
    session = midfold.Session(window=16_000, narrate=True)
    request = None
    for message in session_messages:
        session.append(message)
        session.context()
        request = request or session.wants()
    assert misfits(request.messages, list[shapes.PromptMessage]) == []


def test_tools():
    assert misfits(midfold.recall_tools(), list[shapes.OpenAiTool]) == []
    assert misfits(midfold.recall_tools("anthropic"), list[shapes.AnthropicTool]) == []


def test_measures(session_messages):
    dated = [
        {**message, "timestamp": f"2026-01-01T00:{at // 60:02}:{at % 60:02}Z"}
        for at, message in enumerate(session_messages)
    ]
    for messages in (session_messages, dated):
        rows = midfold.replay(
            messages, strategies=["raw", "default"], windows=[12_000], form="both"
        )
        assert len(rows) >= 3 and misfits(rows, list[shapes.ReplayMeasures]) == []
    said = midfold.feedback(session_messages, session_messages[:2], 3_000, 40)
    assert misfits(said, shapes.Feedback) == []


def test_rows(rows):
    compressor = trajectories.Compressor(target_tokens=2_000, summary_tokens=200)
    done = [compressor(row) for row in rows]
    done.append(compressor.narrated(rows[-1], lambda request: "no summary", model="m"))
    assert {one.status for one in done} >= {"unchanged", "compressed"}
    assert misfits([one.metrics for one in done], list[shapes.RowMetrics]) == []
    assert misfits(compressor.__getnewargs_ex__()[1], shapes.RowOptions) == []


def test_policies(cli):
    import tomllib

    for name in midfold.presets():
        policy = tomllib.loads(cli("print", "presets", name).stdout.decode())
        assert misfits(policy, shapes.Policy) == []
        assert midfold.compact([{"role": "user", "content": "hi"}], policy=policy).reason
