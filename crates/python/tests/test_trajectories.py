"""Rows of training sets: the bytes of the command line's output."""

from __future__ import annotations

import itertools
import json
import pickle

import midfold
import pytest
from conftest import compact_json, sharegpt_row
from midfold import trajectories

SETTINGS = {"target_tokens": 1_500, "summary_tokens": 150}
FLAGS = ["--target-tokens", 1_500, "--summary-tokens", 150]


def openai_row(steps):
    messages = [{"role": "user", "content": "Fix it."}]
    for step in range(steps):
        call = {"name": "run", "arguments": json.dumps({"command": f"make part{step}"})}
        calls = [{"id": f"c{step}", "type": "function", "function": call}]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages.append({"role": "tool", "tool_call_id": f"c{step}", "content": "line " * 80})
    messages.append({"role": "assistant", "content": "Done."})
    return {"messages": messages, "mask": [1] * len(messages)}


@pytest.fixture(scope="module")
def lines(rows):
    mixed = [*rows, *(openai_row(n) for n in range(2, 40, 4)), {"text": "no turns"}]
    return [compact_json(row) for row in mixed]


@pytest.fixture(scope="module")
def bad(lines):
    return [*lines[:5], b"{broken", b'{"conversations": [{"value": "who"}]}', *lines[5:]]


@pytest.mark.parametrize(
    ("options", "flags"),
    [
        ({}, []),
        ({"trainer": "llamafactory"}, ["--trainer", "llamafactory"]),
        ({"placement": "user_message", "keep_last": 6, "row_metrics": True},
         ["--placement", "user_message", "--keep-last", 6, "--row-metrics"]),
        ({"tokenizer": "chars:4", "notice": " Summarised.", "count_all": True},
         ["--tokenizer", "chars:4", "--notice", " Summarised.", "--count-all"]),
    ],
)  # fmt: skip
def test_rows_are_those_of_the_command_line(cli, tmp_path, bad, options, flags):
    (tmp_path / "in.jsonl").write_bytes(b"\n".join(bad) + b"\n")
    cli("trajectories", tmp_path / "in.jsonl", "-o", tmp_path / "out.jsonl", *FLAGS, *flags)
    done = list(trajectories.compress(bad, **SETTINGS, **options))
    written = b"".join(one.row + b"\n" for one in done if one.status != "error")
    assert written == (tmp_path / "out.jsonl").read_bytes()
    assert {"compressed", "unchanged", "error"} <= {one.status for one in done}


def test_a_file_becomes_the_files_of_the_command_line(cli, tmp_path, bad):
    (tmp_path / "in.jsonl").write_bytes(b"\xef\xbb\xbf" + b"\n".join([*bad[:9], b"  ", *bad[9:]]))
    source = tmp_path / "in.jsonl"
    cli("trajectories", source, "-o", tmp_path / "cli.jsonl", *FLAGS)
    seen = []
    counts = trajectories.compress_file(
        source, tmp_path / "py.jsonl", progress=seen.append, **SETTINGS
    )
    assert (tmp_path / "py.jsonl").read_bytes() == (tmp_path / "cli.jsonl").read_bytes()
    rejects = [tmp_path / f"{name}.rejects.jsonl" for name in ("py", "cli")]
    assert rejects[0].read_bytes() == rejects[1].read_bytes()
    assert counts["error"] == 2 and sum(counts.values()) == len(bad) == seen[-1]
    assert not (tmp_path / "py.jsonl.part").exists()


def test_dicts_become_what_their_lines_become(rows):
    by_dict = list(trajectories.compress(rows, **SETTINGS))
    by_line = trajectories.compress([compact_json(row).decode() for row in rows], **SETTINGS)
    for row, one, other in zip(rows, by_dict, by_line):
        assert one.row == json.loads(other.row) and one.status == other.status
        assert (one.row is row) == (one.status == "unchanged")


def test_a_compressor_says_what_it_did():
    row = sharegpt_row(40, 3)
    done = trajectories.Compressor(**SETTINGS)(row)
    assert done.status == "compressed" and done.error is None and done.code is None
    assert done.tokens_after <= 1_500 < done.tokens_before
    assert done.metrics["original_turns"] == len(row["conversations"]) == len(done.turns)
    for old, new in enumerate(done.turns):
        if new is not None:
            assert done.row["conversations"][new] == row["conversations"][old]
    assert None in done.turns and done.row["reward"] == 0.5


def test_a_bad_row_is_a_result_and_no_exception():
    compressor = trajectories.Compressor(trainer="llamafactory", **SETTINGS)
    codes = [compressor(row).code for row in ("{", "[]", '{"messages": 5}', sharegpt_row(2, 1))]
    assert codes[:3] == ["not-json", "not-an-object", "not-a-list"]
    assert compressor("{").row == "{" and "not JSON" in compressor("{").error
    over = trajectories.Compressor(target_tokens=100, summary_tokens=20)(sharegpt_row(9, 1))
    assert over.status == "over_limit"


GOOD = """## Completed Actions
- Ran `make part2`.
## Facts
- None.
## Key Decisions
- None.
## Critical Context
- None."""


def test_a_function_writes_the_summary_of_a_row():
    compressor = trajectories.Compressor(target_tokens=2_000, summary_tokens=400)
    asked = []

    def narrate(request):
        asked.append(request)
        return GOOD

    row = openai_row(60)
    done = compressor.narrated(row, narrate, model="small")
    assert done.status == "compressed" and done.tokens_after <= 2_000
    assert "Ran `make part2`." in json.dumps(done.row)
    assert "summary_refused" not in done.metrics
    assert done.metrics["summarization_api_calls"] == 1
    prompt = asked[0].messages[1]["content"]
    assert "make part2" in prompt and len(asked) == 1
    assert json.loads(compressor.narrated(json.dumps(row), narrate).row) == done.row


def test_a_summary_that_may_not_stand_is_computed_and_the_reason_is_told():
    compressor = trajectories.Compressor(target_tokens=2_000, summary_tokens=400)
    row = openai_row(60)
    computed = compressor(row).row
    refused = compressor.narrated(row, lambda request: "Sure, here you are!")
    assert refused.row == computed
    assert refused.metrics["summary_refused"] is not None
    assert compressor.narrated(row, lambda request: None).row == computed


def test_what_a_function_raises_comes_out_and_rows_that_fit_ask_nobody():
    compressor = trajectories.Compressor(target_tokens=2_000, summary_tokens=400)

    def fail(request):
        raise TimeoutError("no answer")

    with pytest.raises(TimeoutError):
        compressor.narrated(openai_row(60), fail)
    assert compressor.narrated(openai_row(1), fail).status == "unchanged"
    assert compressor.narrated("no row", fail).code == "not-json"


def test_a_compressor_can_be_pickled(rows):
    compressor = trajectories.Compressor(tokenizer="chars:4", align=["x"], **SETTINGS)
    again = pickle.loads(pickle.dumps(compressor))
    assert repr(again) == repr(compressor)
    assert [again(row).row for row in rows[:9]] == [compressor(row).row for row in rows[:9]]


def test_rows_are_taken_a_batch_at_a_time():
    taken = itertools.count()
    endless = (sharegpt_row(2, next(taken)) for _ in itertools.count())
    first = next(trajectories.compress(endless, workers=2, **SETTINGS))
    assert first.status == "unchanged" and next(taken) <= 200


def test_settings_are_checked_before_the_first_row():
    for options in ({"trainer": "axolotl"}, {"placement": "top"}, {"protect": ["first"]}):
        with pytest.raises(midfold.InputError, match="there are:"):
            trajectories.compress([], **options)
    with pytest.raises(TypeError):
        trajectories.compress([], target=5)


def test_a_tokenizer_json_counts(tmp_path):
    vocabulary = {"[UNK]": 0, "alpha": 1, "beta": 2, "gamma": 3, "delta": 4}
    model = {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"}
    whole = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [],
        "normalizer": None, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": None,
        "decoder": None, "model": model,
    }  # fmt: skip
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(whole))
    try:
        count = midfold.count_tokens("alpha beta delta", tokenizer=str(path))
    except midfold.TokenizerError as error:
        # The module that cargo builds beside the tests has no `hf`; the wheel has.
        if "cannot count with tokenizer files" not in str(error):
            raise
        pytest.skip("built without the feature `hf`")
    assert count == 3
    done = trajectories.Compressor(tokenizer=str(path), **SETTINGS)(sharegpt_row(40, 1))
    assert done.status == "compressed"


def test_a_file_is_not_read_and_written_at_once(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("{}\n", encoding="utf-8")
    with pytest.raises(midfold.InputError, match="read and written at once") as caught:
        trajectories.compress_file(path, path, target_tokens=2_000)
    assert "another file" in caught.value.hint
