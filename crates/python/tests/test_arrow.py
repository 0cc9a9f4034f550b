"""Batches of columns: the texts of the command line's output, whatever the column is."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import midfold
import pytest
from conftest import compact_json, sharegpt_row
from midfold import arrow

pa = pytest.importorskip("pyarrow")

SETTINGS = {"target_tokens": 1_500, "summary_tokens": 150}
FLAGS = ["--target-tokens", 1_500, "--summary-tokens", 150]
BAD = ["{broken", '{"conversations": [{"value": "who"}]}', "null", ""]
TEXTS = [pa.string(), pa.large_string(), pa.string_view()]


@pytest.fixture(scope="module")
def lines(rows):
    return [compact_json(row).decode() for row in rows]


@pytest.fixture(scope="module")
def written(cli, tmp_path_factory, lines):
    """What the command line makes of the lines."""
    home = tmp_path_factory.mktemp("arrow")
    (home / "in.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    cli("trajectories", home / "in.jsonl", "-o", home / "out.jsonl", *FLAGS)
    return (home / "out.jsonl").read_text(encoding="utf-8").splitlines()


def compressed(batch, **options):
    return pa.record_batch(arrow.compress_batch(batch, **SETTINGS, **options))


@pytest.mark.parametrize("kind", TEXTS, ids=str)
def test_whole_rows_are_the_lines_of_the_command_line(lines, written, kind):
    given = pa.record_batch({"line": pa.array(lines, kind), "n": list(range(len(lines)))})
    done = compressed(given)
    assert done.schema.names == ["line", "n", *arrow.COLUMNS]
    assert done.schema.field("line").type == kind
    assert done.column("line").to_pylist() == written and written != lines
    assert done.column("n").equals(given.column("n"))
    assert set(done.column("status").to_pylist()) == {"skipped", "compressed"}
    after = done.column("tokens_after").to_pylist()
    assert max(after) <= 1_500 < max(done.column("tokens_before").to_pylist())


@pytest.mark.parametrize("kind", TEXTS, ids=str)
def test_lists_of_turns_as_text_are_those_of_the_command_line(rows, written, kind):
    texts = [compact_json(row["conversations"]).decode() for row in rows]
    done = compressed(pa.record_batch({"conversations": pa.array(texts, kind)}))
    for made, line in zip(done.column("conversations").to_pylist(), written):
        assert f'"conversations":{made}' in line


def test_nested_rows_become_what_their_lines_become(rows, written):
    given = pa.record_batch({"conversations": [row["conversations"] for row in rows]})
    assert pa.types.is_list(given.schema.field("conversations").type)
    done = compressed(given)
    expected = [json.loads(line)["conversations"] for line in written]
    assert done.column("conversations").to_pylist() == expected
    assert done.schema.field("conversations").type == given.schema.field("conversations").type


@pytest.mark.parametrize("kind", TEXTS, ids=str)
def test_a_bad_row_never_fails_its_batch(lines, written, kind):
    mixed = [*lines[:2], *BAD, None, *lines[2:]]
    done = compressed(pa.record_batch({"json": pa.array(mixed, kind)}), trainer="trl")
    status = done.column("status").to_pylist()
    assert status[2:6] == ["error"] * 4 and len(status) == len(mixed)
    assert done.column("json").to_pylist()[2:7] == [*BAD, None]
    reasons = [json.loads(fold) for fold in done.column("fold").to_pylist()[2:6]]
    assert reasons[0]["error"] == "not-json" and all(reason["reason"] for reason in reasons)
    assert done.column("tokens_before").to_pylist()[2:6] == [None] * 4


def test_a_fold_says_where_turns_went():
    row = sharegpt_row(40, 3)
    done = compressed(pa.record_batch({"conversations": [row["conversations"]]}))
    [fold] = map(json.loads, done.column("fold").to_pylist())
    [turns] = done.column("conversations").to_pylist()
    assert fold["turns"] == [len(row["conversations"]), len(turns)]
    for old, new in enumerate(fold["map"]):
        if new is not None:
            assert turns[new] == row["conversations"][old]
    assert turns[fold["summary"]]["value"].startswith("[CONTEXT SUMMARY]:")


def test_slices_and_empty_batches_are_batches(lines, written):
    given = pa.record_batch({"line": lines})
    assert compressed(given.slice(7, 20)).column("line").to_pylist() == written[7:27]
    assert compressed(given.slice(0, 0)).num_rows == 0


def test_a_table_is_a_stream_of_batches(lines, written):
    table = pa.table({"line": lines}, metadata={"who": "me"})
    chunked = pa.concat_tables([table.slice(0, 11), table.slice(11)])
    stream = arrow.compress_stream(chunked, **SETTINGS)
    assert stream.schema.names == ["line", *arrow.COLUMNS]
    assert [len(batch) for batch in stream] == [11, len(lines) - 11]
    stream = arrow.compress_stream(chunked, **SETTINGS)
    done = pa.table(stream)
    assert done["line"].to_pylist() == written and done.schema.metadata == {b"who": b"me"}
    with pytest.raises(midfold.InputError, match="before"):
        pa.table(stream)


def test_a_stream_reads_as_it_is_read(lines):
    taken = []

    def batches():
        for at in range(0, len(lines), 10):
            taken.append(at)
            yield pa.record_batch({"line": lines[at : at + 10]})

    schema = pa.schema({"line": pa.string()})
    reader = pa.RecordBatchReader.from_batches(schema, batches())
    stream = arrow.compress_stream(reader, **SETTINGS)
    assert len(next(stream)) == 10 and taken == [0]


def test_a_mapper_gives_what_it_was_given(lines, written):
    fit = arrow.mapper(**SETTINGS, align=["x"], prefix="fit_")
    batch = pa.record_batch({"line": lines})
    by_batch = fit(batch)
    assert isinstance(by_batch, pa.RecordBatch)
    assert by_batch.column("line").to_pylist() == written
    table = fit(pa.Table.from_batches([batch]))
    assert isinstance(table, pa.Table) and table.to_batches()[0].equals(by_batch)
    each = fit(iter([batch, batch.slice(3, 2)]))
    assert [made.num_rows for made in each] == [len(lines), 2]
    assert pa.schema(arrow.output_schema(batch.schema, **fit.options)).equals(by_batch.schema)


def test_a_mapper_can_be_pickled(lines):
    fit = arrow.mapper(trainer="trl", keep_last=2, **SETTINGS)
    again = pickle.loads(pickle.dumps(fit))
    assert repr(again) == repr(fit) and again.options == fit.options
    assert repr(arrow.mapper(**SETTINGS, keep_last=2, trainer="trl")) == repr(fit)
    batch = pa.record_batch({"line": lines[:9]})
    assert again(batch).equals(fit(batch))
    native = arrow.BatchCompressor(midfold.trajectories.Compressor(**SETTINGS), prefix="p_")
    once_more = pickle.loads(pickle.dumps(native))
    assert repr(once_more) == repr(native)
    assert pa.record_batch(once_more.batch(batch)).schema.names[1] == "p_status"


def test_what_cannot_be_used_is_said_at_once():
    batch = pa.record_batch({"line": ["{}"], "status": ["here"]})
    cases = [
        (batch, {}, "`status` already"),
        (batch, {"column": "rows"}, "no column `rows`"),
        (pa.record_batch({"a": [1]}), {}, "column="),
        (pa.record_batch({"messages": [1]}), {}, "neither text nor a list"),
        (pa.table({"line": ["{}"]}), {}, "compress_stream"),
        ([{"line": "{}"}], {}, "list is no Arrow batch"),
    ]
    for given, options, text in cases:
        with pytest.raises(midfold.InputError) as raised:
            arrow.compress_batch(given, **options)
        assert text in str(raised.value), text
    with pytest.raises(midfold.InputError, match="there are:"):
        arrow.mapper(trainer="axolotl")
    with pytest.raises(TypeError):
        arrow.mapper(target=5)


def test_it_works_where_pyarrow_cannot_be_imported():
    code = """
import sys
sys.modules["pyarrow"] = None
from midfold import arrow
assert "pyarrow" in arrow.__doc__ and arrow.mapper(target_tokens=9)
print("imported")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.strip() == b"imported"


def test_what_comes_out_goes_in_again(lines, written):
    once = arrow.compress_batch(pa.record_batch({"line": lines}), **SETTINGS)
    twice = arrow.compress_batch(once, prefix="again_", **SETTINGS)
    assert (len(twice), twice.num_rows) == (len(lines), len(lines))
    assert twice.schema.names == ["line", *arrow.COLUMNS, *(f"again_{n}" for n in arrow.COLUMNS)]
    done = pa.record_batch(twice)
    assert done.column("line").to_pylist() == written
    assert set(done.column("again_status").to_pylist()) == {"skipped"}
    assert pa.schema(once).names == once.schema.names
    assert repr(once).startswith(f"RecordBatch({len(lines)} rows, line, status")
