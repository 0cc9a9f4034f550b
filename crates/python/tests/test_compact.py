"""compact: what stays is the same object, what changes is what the command line writes."""

from __future__ import annotations

import copy
import json

import midfold
import pytest
from conftest import ROOT, coding_session, compact_json

EXAMPLE = ROOT / "examples" / "coding-session.jsonl"


def same_objects(before, after):
    """Messages of `after` that are objects of `before`, and whether they stand in order."""
    places = {id(message): at for at, message in enumerate(before)}
    found = [places[id(message)] for message in after if id(message) in places]
    return found, found == sorted(set(found))


def test_head_and_tail_are_the_same_objects(session_messages):
    result = midfold.compact(session_messages, window=16_000)
    layout = result.fold["span"]
    start, rest = layout["start"], len(session_messages) - layout["end"]
    assert start > 0 and 0 < rest < len(session_messages)
    assert all(a is b for a, b in zip(result.messages[:start], session_messages))
    assert all(a is b for a, b in zip(result.messages[-rest:], session_messages[-rest:]))


def test_every_verbatim_message_is_the_same_object_in_order(session_messages):
    result = midfold.compact(session_messages, window=16_000)
    found, in_order = same_objects(session_messages, result.messages)
    assert in_order
    accounts = result.fold["accounts"]
    kept = len(session_messages) - (result.fold["span"]["end"] - result.fold["span"]["start"])
    assert len(found) >= kept
    assert accounts["events"] == len(session_messages)


def test_what_was_given_is_not_touched(session_messages):
    before = copy.deepcopy(session_messages)
    midfold.compact(session_messages, window=8_000)
    assert session_messages == before


def test_what_needs_no_fold_comes_back_as_it_is():
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    result = midfold.compact(messages, window=8_000)
    assert [id(m) for m in result.messages] == [id(m) for m in messages]
    assert result.fold is None and result.record is None and result.reason
    assert "nothing was folded" in str(result)


@pytest.mark.parametrize("preset", ["default", "lean", "head-tail"])
def test_the_recap_is_what_the_model_reads(session_messages, preset):
    result = midfold.compact(session_messages, window=16_000, preset=preset)
    texts = [message["content"] for message in result.messages]
    assert texts.count(result.recap) == 1 and result.recap not in [
        message["content"] for message in session_messages
    ]
    assert result.recap not in repr(result)


@pytest.mark.parametrize("preset", ["default", "generous", "lean"])
def test_a_recap_is_statements_in_the_role_of_the_user(session_messages, preset):
    result = midfold.compact(session_messages, window=16_000, preset=preset)
    [recap] = [message for message in result.messages if message["content"] == result.recap]
    assert recap["role"] == "user"
    lines = result.recap.splitlines()
    sections = [line[4:] for line in lines if line.startswith("### ")]
    known = ["Task", "State", "Done so far", "Tried and failed", "Files", "Index"]
    assert [name for name in known if name in sections] == sections
    assert "@23 user: Go on with part 10, please." in lines
    assert any(line.startswith("read: src/") for line in lines)


def test_where_nothing_is_folded_there_is_no_recap():
    assert midfold.compact([{"role": "user", "content": "hi"}], window=8_000).recap is None


def test_if_needed_folds_only_above_the_threshold(session_messages):
    below = midfold.compact(session_messages, window=1_000_000, if_needed=True)
    above = midfold.compact(session_messages, window=16_000, if_needed=True)
    assert below.fold is None and "below the threshold" in below.reason
    assert above.fold is not None


def test_lines_come_back_as_the_command_line_writes_them(cli, tmp_path):
    out = tmp_path / "after.jsonl"
    cli("compact", EXAMPLE, "--window", 16_000, "-o", out, "--record", tmp_path / "fold.json")
    result = midfold.compact(EXAMPLE.read_bytes(), window=16_000)
    assert result.messages == out.read_bytes()
    assert result.fold == json.loads((tmp_path / "fold.json").read_bytes())


@pytest.mark.parametrize("name", ["openai-chat.json", "anthropic.json", "openai-responses.json"])
def test_a_body_comes_back_as_the_command_line_writes_it(cli, tmp_path, name):
    file = ROOT / "fixtures" / name
    cli("compact", file, "--window", 8_000, "-o", tmp_path / "after.json")
    text = midfold.compact(file.read_text(encoding="utf-8"), window=8_000)
    assert isinstance(text.messages, str)
    assert text.messages.encode() == (tmp_path / "after.json").read_bytes()


@pytest.mark.parametrize(
    "preset",
    ["default", "generous", "lean", "verbatim", "head-tail", "hermes", "nucleic", "projection"],
)
def test_dicts_become_what_the_command_line_makes_of_their_json(
    cli, tmp_path, preset, session_messages
):
    file = tmp_path / "in.json"
    file.write_bytes(compact_json(session_messages))
    done = cli("compact", file, "--window", 20_000, "--preset", preset, "--json", "-o", "-")
    expected = json.loads(done.stdout)
    result = midfold.compact(session_messages, window=20_000, preset=preset)
    assert result.messages == expected["messages"]
    assert result.fold == expected["fold"]


def test_a_request_keeps_its_other_members(session_messages):
    tools = [{"type": "function", "function": {"name": "read_file", "parameters": {}}}]
    body = {"model": "gpt-5.6", "tools": tools, "messages": session_messages, "n": 1}
    result = midfold.compact(body, window=16_000)
    assert list(result.messages) == list(body)
    assert result.messages["tools"] is tools
    assert result.messages["messages"][0] is session_messages[0]
    assert len(result.messages["messages"]) < len(body["messages"]) == len(session_messages)


def test_a_body_takes_a_tuple_as_a_list_does(session_messages):
    body = {"model": "gpt-5.6", "messages": tuple(session_messages), "temperature": 1}
    messages = midfold.compact(body, window=16_000).messages
    assert list(messages) == list(body)
    assert messages["messages"][0] is session_messages[0]


def test_a_member_by_the_name_of_messages_may_be_anything(session_messages):
    other = {"conversations": ["c1"], "input": ["a"], "messages": session_messages}
    messages = midfold.compact(other, window=16_000).messages
    assert messages["conversations"] is other["conversations"]
    assert messages["messages"][0] is session_messages[0]


def test_a_text_as_input_stays_in_its_body():
    body = {"model": "gpt-5.6", "input": "hello", "temperature": 1}
    messages = midfold.compact(body).messages
    assert messages == {**body, "input": [{"role": "user", "content": "hello"}]}


def test_an_anthropic_body_with_its_system_prompt_is_counted():
    turns = [{"role": "user", "content": "Fix it."}]
    for n in range(80):
        turns.append({"role": "assistant", "content": f"Step {n}. " + "more words " * 60})
        turns.append({"role": "user", "content": "Go on."})
    body = {"model": "claude-opus-5", "system": "Be brief. " * 200, "messages": turns}
    result = midfold.compact(body, window=12_000)
    assert result.dialect == "anthropic"
    assert result.messages["messages"][0] is turns[0]
    bare = midfold.compact({**body, "system": "x"}, window=12_000)
    assert result.before.tokens > bare.before.tokens + 300


def test_pinned_messages_stay_the_same_objects(session_messages):
    pinned = [21, 40]
    plain = midfold.compact(session_messages, window=12_000, preset="head-tail")
    result = midfold.compact(session_messages, window=12_000, preset="head-tail", pin=pinned)
    for at in pinned:
        assert not any(m is session_messages[at] for m in plain.messages)
        assert any(m is session_messages[at] for m in result.messages)
    with pytest.raises(midfold.InputError, match="no message 9999"):
        midfold.compact(session_messages, pin=[9999])


def test_a_policy_is_text_a_file_or_a_dict(tmp_path, session_messages):
    text = 'base = "default"\n[tail]\nmin_messages = 9\n'
    (tmp_path / "policy.toml").write_text(text)
    forms = [text, tmp_path / "policy.toml", {"base": "default", "tail": {"min_messages": 9}}]
    folds = [midfold.compact(session_messages, window=9_000, policy=p).fold for p in forms]
    assert folds[0] == folds[1] == folds[2]
    assert folds[0] != midfold.compact(session_messages, window=9_000).fold


def test_focus_changes_the_recap_and_nothing_else(cli, tmp_path):
    messages = coding_session(300)
    plain = midfold.compact(messages, window=4_000).messages
    focused = midfold.compact(messages, window=4_000, focus="cursor").messages
    changed = [a for a, b in zip(plain, focused) if a is not b and a != b]
    assert len(plain) == len(focused) and len(changed) == 1
    (tmp_path / "in.json").write_bytes(compact_json(messages))
    done = cli("compact", tmp_path / "in.json", "--window", 4_000, "--focus", "cursor", "--json",
               "-o", "-")  # fmt: skip
    assert focused == json.loads(done.stdout)["messages"]


def test_report_counts_what_count_tokens_counts(session_messages):
    result = midfold.compact(session_messages, window=16_000, tokenizer="o200k")
    count = midfold.count_tokens
    assert result.before.tokens == count(session_messages, tokenizer="o200k")
    assert result.after.tokens == count(result.messages, tokenizer="o200k")


def test_tuples_and_subclasses_are_messages():
    class Message(dict):
        pass

    messages = tuple(Message(m) for m in coding_session(30))
    result = midfold.compact(messages, window=8_000)
    assert result.messages[0] is messages[0] and result.messages[-1] is messages[-1]


def test_a_text_for_the_middle_is_a_str_of_whole_characters(session_messages):
    def compact(text):
        midfold.compact(session_messages, window=16_000, compress_middle=lambda _: text)

    with pytest.raises(midfold.InputError, match="returned `int`, not a str"):
        compact(7)
    with pytest.raises(midfold.InputError, match="half of a surrogate pair") as caught:
        compact("\ud800")
    assert "surrogatepass" in caught.value.hint
