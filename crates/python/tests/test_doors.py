"""One conversation through both doors: what the command line does, Python does."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess

import midfold
import pytest
from conftest import ROOT, compact_json

EXAMPLE = ROOT / "examples" / "coding-session.jsonl"


@pytest.fixture
def refused(cli):
    """Runs the command line, which has to refuse: the message, and its hints."""

    def run(*args, input=None):
        command = [os.environ["MIDFOLD_CLI"], *map(str, args)]
        done = subprocess.run(command, input=input, capture_output=True, check=False)
        assert done.returncode in (1, 2), done.stdout
        text = done.stderr.decode().rstrip("\n").partition("error: ")[2]
        error, *hints = text.split("\nhint: ")
        return error, hints

    return run


# Preparing.


@pytest.mark.parametrize(
    ("flags", "options"),
    [
        (["--preset", "defualt"], {"preset": "defualt"}),
        (["--tokenizer", "o300k"], {"tokenizer": "o300k"}),
        (["--tokenizer", "chars:none"], {"tokenizer": "chars:none"}),
        (["--profile", "stric"], {"profile": "stric"}),
        (["--from", "openai"], {"dialect": "openai"}),
    ],
)
def test_an_unknown_name_is_told_alike(refused, flags, options):
    message, hints = refused("compact", EXAMPLE, *flags)
    with pytest.raises(midfold.Error) as caught:
        midfold.compact(EXAMPLE.read_bytes(), **options)
    assert caught.value.message == message
    assert (caught.value.hint or "") == "; ".join(hints)


def test_a_policy_with_a_slip_is_told_alike(refused, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('base = "default"\n[tail]\nmin_mesages = 3\n', encoding="utf-8")
    message, hints = refused("compact", EXAMPLE, "--policy", file)
    with pytest.raises(midfold.PolicyError) as caught:
        midfold.compact(EXAMPLE.read_bytes(), policy=file)
    assert caught.value.message == message
    assert caught.value.hint.startswith("did you mean `min_messages`?") and hints[0] in str(
        caught.value
    )


# Compacting.


@pytest.mark.parametrize(
    ("flags", "options"),
    [
        (["--target", 4_000], {"target": 4_000}),
        (["--target", 300], {"target": 300}),
        (["--keep-last", 6], {"keep_last": 6}),
        (["--if-needed"], {"if_needed": True}),
        (["--focus", "retry"], {"focus": "retry"}),
    ],
)
def test_a_compaction_is_the_same(cli, flags, options):
    done = cli("compact", EXAMPLE, "--window", 16_000, *flags, "--json", "-o", "-")
    expected = json.loads(done.stdout)
    result = midfold.compact(EXAMPLE.read_bytes(), window=16_000, **options)
    assert result.fold == expected["fold"]
    messages = [json.loads(line) for line in result.messages.splitlines()]
    assert messages == expected["messages"]
    said = dataclasses.asdict(result)
    same = {name: said[name] for name in said if name not in ("messages", "record", "problems")}
    assert same == {name: expected[name] for name in same}
    assert [str(problem) for problem in result.problems] == expected["problems"] == []
    assert (result.missed is not None) == (b"tokens were asked for" in done.stderr)
    if "target" in options:
        assert (result.after.tokens <= options["target"]) == (result.missed is None)


@pytest.mark.parametrize(
    ("flags", "options"),
    [
        (["--window", 8_000, "--target", 9_000], {"window": 8_000, "target": 9_000}),
        (["--window", 8_000, "--keep-last", 60], {"window": 8_000, "keep_last": 60}),
        (["--window", 150], {"window": 150}),
    ],
)
def test_what_does_not_fit_is_explained_alike(refused, flags, options):
    message, hints = refused("compact", EXAMPLE, *flags)
    with pytest.raises(midfold.BudgetError) as caught:
        midfold.compact(EXAMPLE.read_bytes(), **options)

    def spelled(text):  # as Python spells options
        for name in ("window", "target", "keep-last"):
            own = name.replace("-", "_")
            text = text.replace(f"--{name} is", f"{own} is").replace(f"--{name} or", f"{own} or")
            text = text.replace(f"--{name},", f"{own},")
            text = " ".join(text.replace(f"--{name} ", f"{own}=").split())
        return text.replace("--target", "target").replace("--window", "window")

    assert f"{EXAMPLE}: {caught.value.message}" == spelled(message)
    assert caught.value.hint == spelled("; ".join(hints))


# Sessions: starting, appending.


@pytest.fixture
def stores(tmp_path):
    """A store for each door."""
    return [f"sqlite:{tmp_path / name}.db" for name in ("command", "python")]


TOOLS = b'[{"type":"function","function":{"name":"read_file","parameters":{}}}]'


@pytest.mark.parametrize("dialect", ["openai-chat", "anthropic"])
def test_a_session_is_made_of_the_same(cli, stores, tmp_path, dialect):
    (tmp_path / "system.txt").write_text("You are careful.", encoding="utf-8")
    (tmp_path / "tools.json").write_bytes(TOOLS)
    cli("session", "new", "--store", stores[0], "--id", "a", "--dialect", dialect, "--model",
        "gpt-5", "--output-reserve", 4_000, "--system", tmp_path / "system.txt", "--tools",
        tmp_path / "tools.json", "--narrate")  # fmt: skip
    midfold.Session(
        store=stores[1], id="a", dialect=dialect, model="gpt-5", output_reserve=4_000,
        system="You are careful.", tools=json.loads(TOOLS), narrate=True,
    )  # fmt: skip
    one, other = (midfold.Session.open(store, "a") for store in stores)
    ours, theirs = one.status(), other.status()
    assert ours == theirs and ours["model"] == "gpt-5"
    assert one.context().json() == other.context().json()
    assert one.context().tokens == other.context().tokens > 0


@pytest.mark.parametrize(
    "given",
    [
        b"",
        b"{}",
        b'{"role":"alien","content":"hi"}',
        b'[{"role":"user","content":"hi"},7]',
        b'{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"ls","input":{}}]}',
        b'{"messages":[{"role":"user","content":"a"}]}\n{"messages":[{"role":"user","content":"b"}]}',
    ],
)
def test_what_is_no_message_of_the_session_is_refused_alike(refused, cli, stores, given):
    cli("session", "new", "--store", stores[0], "--id", "a")
    message, hints = refused("session", "append", "a", "-", "--store", stores[0], input=given)
    session = midfold.Session(id="a")
    with pytest.raises(midfold.InputError) as caught:
        session.append(given)
    assert caught.value.message == message.replace("standard input", "messages", 1)
    assert len(session) == 0 and bool(caught.value.hint) == bool(hints)


def test_a_mark_at_the_start_is_no_message(cli, stores):
    given = b'\xef\xbb\xbf{"role":"user","content":"hi"}'
    cli("session", "new", "--store", stores[0], "--id", "a")
    done = cli("session", "append", "a", "-", "--store", stores[0], "--json", input=given)
    assert json.loads(done.stdout)["seqs"] == midfold.Session().append(given) == [0]


def test_who_expects_so_many_messages_is_told_of_others(refused, cli, stores):
    hello = b'{"role":"user","content":"hi"}'
    cli("session", "new", "--store", stores[0], "--id", "a")
    cli("session", "append", "a", "-", "--store", stores[0], "--expect", 0, input=hello)
    message, hints = refused(
        "session", "append", "a", "-", "--store", stores[0], "--expect", 0, input=hello
    )
    for session in (midfold.Session(), midfold.Session(store=stores[1])):
        assert session.append(hello, expect=0) == [0]
        with pytest.raises(midfold.StoreError) as caught:
            session.append(hello, expect=0)
        assert caught.value.message == message and len(session) == 1
        assert caught.value.hint == hints[0].replace("--expect", "expect")
    # Without, it is appended behind whatever stands there by then, at both doors.
    one, other = (midfold.Session.open(stores[0], "a") for _ in range(2))
    one.append(hello)
    assert other.append(hello) == [2]
    done = cli("session", "append", "a", "-", "--store", stores[0], "--json", input=hello)
    assert json.loads(done.stdout)["seqs"] == [3] and one.append(hello) == [4]


# Recovering.


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, b"prompt is too long: 9513 tokens > 9000 maximum"),
        (400, b""),  # without a word, and the context is most of the window
        (None, b""),
        (413, b""),
        (429, b"rate limit exceeded"),
        (400, b"input length and `max_tokens` exceed context limit: 8500 + 4000 > 9000"),
        (400, b"input length and `max_tokens` exceed context limit: 6000 + 8000 > 9000"),
    ],
)
def test_a_refusal_is_judged_alike(cli, stores, tmp_path, session_messages, status, body):
    messages = session_messages[:30]
    sessions = [midfold.Session(store=store, id="a", window=9_000) for store in stores]
    sessions.append(midfold.Session(id="a", window=9_000))
    for session in sessions:
        session.append(messages)
        session.context()
    known = sessions[0].status()
    assert known["context_tokens"] / known["context_length"] > 0.6
    (tmp_path / "body").write_bytes(body)
    flags = [] if status is None else ["--status", status]
    command = [os.environ["MIDFOLD_CLI"], "session", "recover", "a", "--json", "--store",
               stores[0], "--body", tmp_path / "body", *flags]  # fmt: skip
    done = subprocess.run(list(map(str, command)), capture_output=True, check=False)
    stored, memory = (session.recover(body, status=status) for session in sessions[1:])
    assert (done.returncode == 0) == (stored is not None) == (memory is not None), done.stderr
    if stored is not None:
        sent = json.loads(done.stdout)
        assert sent["messages"] == stored.messages == memory.messages
        # What is sent instead is a call of its own.
        assert sent["call"] == stored.call == 2


# Replay.


@pytest.mark.parametrize("form", ["stateless", "session", "both"])
def test_replay_measures_by_the_same_names(cli, form):
    done = cli("measure", "replay", EXAMPLE, "--window", 16_000, "--preset", "raw,sliding,lean",
               "--form", form, "--tokenizer", "o200k", "--prices", "reference",
               "--json")  # fmt: skip
    runs = json.loads(done.stdout)["runs"]
    rows = midfold.replay(
        EXAMPLE.read_bytes(), strategies=["raw", "sliding", "lean"], windows=[16_000], form=form,
        tokenizer="o200k", prices="reference",
    )  # fmt: skip
    assert [(r["strategy"], r["form"]) for r in runs] == [(r["strategy"], r["form"]) for r in rows]
    timed = {"context_us", "fold_us"}
    for run, row in zip(runs, rows):
        keys = set(run["totals"])
        assert set(row) == keys | {"strategy", "form", "window"}
        assert {key: row[key] for key in keys - timed} == {
            key: run["totals"][key] for key in keys - timed
        }


@pytest.mark.parametrize(
    ("flags", "options"),
    [
        (["--preset", "defualt"], {"strategies": ["defualt"]}),
        (["--prices", "referense"], {"prices": "referense"}),
    ],
)
def test_what_replay_does_not_know_is_told_alike(refused, flags, options):
    message, hints = refused("measure", "replay", EXAMPLE, "--window", 16_000, *flags)
    with pytest.raises(midfold.Error) as caught:
        midfold.replay(EXAMPLE.read_bytes(), **options)
    assert (caught.value.message, caught.value.hint) == (message, "; ".join(hints))


# Rows of training sets: `test_trajectories.py` compares what becomes of them.


@pytest.mark.parametrize(
    ("flags", "options"),
    [
        (["--placement", "human"], {"placement": "human"}),
        (["--trainer", "llamafactor"], {"trainer": "llamafactor"}),
        (["--tokenizer", "o300k"], {"tokenizer": "o300k"}),
    ],
)
def test_what_rows_do_not_know_is_told_alike(refused, tmp_path, flags, options):
    rows = tmp_path / "rows.jsonl"
    rows.write_bytes(compact_json({"conversations": [{"from": "human", "value": "hi"}]}))
    message, hints = refused("trajectories", rows, "-o", tmp_path / "out.jsonl", *flags)
    with pytest.raises(midfold.Error) as caught:
        midfold.trajectories.Compressor(**options)
    assert (caught.value.message, caught.value.hint) == (message, "; ".join(hints))


# Errors of a store.


def test_a_session_that_is_not_there_is_told_alike(refused, cli, stores):
    cli("session", "new", "--store", stores[0], "--id", "review-12")
    message, hints = refused("session", "status", "review-21", "--store", stores[0])
    with pytest.raises(midfold.StoreError) as caught:
        midfold.Session.open(stores[0], "review-21")
    assert caught.value.message == message
    assert caught.value.hint.startswith(hints[0]) and "`review-12`" in hints[0]


def test_what_a_session_refuses_is_told_alike(refused, cli, stores):
    store = stores[0]
    cli("session", "new", "--store", store, "--id", "a")
    session = midfold.Session.open(store, "a")
    for flags, call in [
        (["session", "pin", "a", 7], lambda: session.pin(7)),
        (["explain", "a", "x", "--call", 7], lambda: session.explain("x", call=7)),
        (["recall", "show", "a", "@7"], lambda: session.recall_expand("@7")),
        (["recall", "find", "a"], session.recall_grep),
    ]:
        message, hints = refused(*flags, "--store", store)
        with pytest.raises(midfold.Error) as caught:
            call()
        assert caught.value.message == message
        assert bool(caught.value.hint) == bool(hints)
