"""What is put back with each fold: a text, and files as they are then."""

from __future__ import annotations

import copy

import midfold
import pytest


@pytest.fixture
def plan(tmp_path):
    file = tmp_path / "PLAN.md"
    file.write_text("Mend the quay gate.", encoding="utf-8")
    return file


@pytest.mark.parametrize("place", ["memory", "store"])
def test_a_fold_puts_back_what_can_be_read(place, plan, tmp_path, session_messages):
    store = f"sqlite:{tmp_path / 's.db'}" if place == "store" else None
    said = {"text": "Answer briefly.", "files": [str(plan), "gone.md"], "tokens": 500}
    session = midfold.Session(window=16_000, store=store, after_fold=said)
    session.append(session_messages)
    text = session.preview().recap
    for words in ("Mend the quay gate.", "Answer briefly.", "gone.md: not here: there is no such"):
        assert words in text
    plan.write_text("The quay gate is mended.", encoding="utf-8")
    record = session.compact().fold
    assert "is mended" in record["recap"]["text"]
    assert [part["source"] for part in record["put_back"]["parts"]] == ["text", "file", "file"]
    assert session.audit()["ok"]
    # Whatever goes on from it keeps that.
    for other in (session.fork(), copy.deepcopy(session)):
        other.append({"role": "user", "content": "And now? " * 2_000})
        assert "Answer briefly." in other.compact().recap


def test_a_session_that_is_opened_is_told_again(plan, tmp_path, session_messages):
    store = f"sqlite:{tmp_path / 's.db'}"
    midfold.Session(window=16_000, store=store, id="a").append(session_messages)
    assert "quay" not in midfold.Session.open(store, "a").preview().recap
    opened = midfold.Session.open(store, "a", after_fold={"files": [str(plan)]})
    assert "quay" in opened.preview().recap
    sessions = midfold.Sessions(window=16_000, store=store, after_fold={"text": "In verse."})
    sent = sessions.project(session_messages, id="a", force=True)
    assert any("In verse." in str(message["content"]) for message in sent.messages)


def test_a_list_that_went_back_keeps_it(session_messages):
    session = midfold.Session(window=16_000, after_fold={"text": "In verse."})
    session.project(session_messages)
    sent = session.project(session_messages[:80], force=True)
    assert any("In verse." in str(message["content"]) for message in sent.messages)


def test_what_it_cannot_have_is_an_error():
    with pytest.raises(midfold.InputError, match="after_fold: unknown field `texts`"):
        midfold.Session(after_fold={"texts": []})
