"""verify, replay and count_tokens."""

from __future__ import annotations

import json

import midfold
import pytest
from conftest import ROOT

EXAMPLE = ROOT / "examples" / "coding-session.jsonl"


@pytest.mark.parametrize("preset", midfold.presets())
def test_what_compact_makes_is_verified(preset, session_messages):
    result = midfold.compact(session_messages, window=20_000, preset=preset)
    found = midfold.verify(session_messages, result)
    assert found and found.ok and found.violations == [] and found.checked["tail-verbatim"] > 0
    assert midfold.verify(session_messages, result.messages, fold=result.fold, window=20_000).ok
    assert midfold.verify(session_messages, result.messages).ok


def test_what_was_changed_afterwards_is_found(session_messages):
    result = midfold.compact(session_messages, window=20_000)
    changed = [*result.messages[:-1], {**result.messages[-1], "content": "All is well."}]
    found = midfold.verify(session_messages, changed, fold=result.fold)
    assert not found
    assert {"rule", "message", "detail"} == set(found.violations[0])
    missing = midfold.verify(session_messages, result.messages[:2] + result.messages[3:])
    assert not missing.ok


def test_a_record_that_is_none_is_an_error(session_messages):
    with pytest.raises(midfold.InputError, match="no record"):
        midfold.verify(session_messages, session_messages, fold={"id": 1})


def test_replay_measures_what_the_command_line_measures(cli):
    done = cli("measure", "replay", EXAMPLE, "--window", 16_000, "--preset", "raw",
               "--preset", "default", "--form", "session", "--tokenizer", "o200k",
               "--json")  # fmt: skip
    expected = {}
    for run in json.loads(done.stdout)["runs"]:
        expected[run.get("name") or run.get("strategy")] = run
    rows = midfold.replay(
        EXAMPLE.read_bytes(), strategies=["raw", "default"], windows=[16_000], form="session",
        tokenizer="o200k",
    )  # fmt: skip
    assert [(row["strategy"], row["window"]) for row in rows] == [
        ("raw", 16_000),
        ("default", 16_000),
    ]
    timed = {"context_us", "fold_us"}
    for row in rows:
        theirs = expected[row["strategy"]]
        theirs = theirs.get("totals", theirs)
        same = set(row) & set(theirs) - timed - {"window", "strategy"}
        assert len(same) > 15
        assert {key: row[key] for key in same} == {key: theirs[key] for key in same}
    assert rows[0]["folds"] == 0 < rows[1]["folds"]


def test_replay_reports_progress_and_names_strategies(session_messages):
    seen = []
    midfold.replay(session_messages, windows=[9_000, 20_000], progress=lambda *at: seen.append(at))
    assert seen == [(1, 2), (2, 2)]
    with pytest.raises(midfold.PolicyError, match="there are: raw, sliding, mask, clear, default"):
        midfold.replay(session_messages, strategies=["best"])
    with pytest.raises(midfold.InputError, match="stateless, session"):
        midfold.replay(session_messages, form="all")


def test_counting_knows_texts_messages_and_models(session_messages):
    assert midfold.count_tokens("x" * 400, tokenizer="chars:4") == 100
    whole = midfold.count_tokens(session_messages)
    assert whole == midfold.count_tokens(session_messages, model="gpt-5.6")
    assert whole == midfold.count_tokens(json.dumps(session_messages).encode())
    body = {"messages": session_messages, "tools": [{"name": "a " * 500}]}
    assert midfold.count_tokens(body) > whole + 200
    assert "o200k" in midfold.tokenizers()
    with pytest.raises(midfold.TokenizerError):
        midfold.count_tokens("x", tokenizer="none")
