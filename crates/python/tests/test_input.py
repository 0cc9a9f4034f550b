"""What cannot be JSON, or is no message, is an error that says where and what to do."""

from __future__ import annotations

import pickle
import re

import midfold
import pytest
from conftest import compact_json


class Model:
    def model_dump(self):
        return {}


def nested(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


ITSELF: list = []
ITSELF.append(ITSELF)


@pytest.mark.parametrize(
    ("content", "where", "what", "hint"),
    [
        (float("nan"), "", "NaN is not JSON", "null"),
        ([{"x": [1.0, float("-inf")]}], "[0]['x'][1]", "-inf is not JSON", "number"),
        ({1: "a"}, "", "a key is 1, not a string", "strings"),
        ({"a": {None: 1}}, "['a']", "a key is None", "strings"),
        ("half \ud83d", "", "surrogate pair", "repair"),
        ({"\udc00": 1}, "['\\udc00']", "surrogate pair", "repair"),
        ([b"bytes"], "[0]", "type `bytes`", "dict, list, str"),
        ([Model()], "[0]", "type `Model`", "model_dump"),
        ({"a", "b"}, "", "type `set`", "dict, list, str"),
        (ITSELF, "[0][0]", "levels", "itself"),
        (nested(600), "[0][0]", "levels", "itself"),
    ],
)
def test_a_value_that_is_no_json_is_named(content, where, what, hint):
    messages = [{"role": "user", "content": "hi"}, {"role": "user", "content": content}]
    with pytest.raises(midfold.InputError) as caught:
        midfold.compact(messages)
    assert caught.value.message.startswith(f"messages[1]['content']{where}")
    assert what in caught.value.message
    assert hint in caught.value.hint


def test_json_is_written_as_python_writes_it():
    value = {
        "ints": [0, -1, 2**63, 10**40, True, None],
        "floats": [1e16, 1.5, -0.0, 1e-7, 0.1],
        "text": 'quote " slash \\ / tab \t line \n é 漢 🦀 \u2028 \x00 \x7f',
        "empty": [{}, [], "", ()],
    }
    session = midfold.Session()
    session.append({"role": "user", "content": "hi", "extra": value})
    assert session.context().json() == compact_json(
        [{"role": "user", "content": "hi", "extra": value}]
    )


@pytest.mark.parametrize(
    ("messages", "text"),
    [
        (7, "type `int`"),
        (["hello"], r"messages\[0\] is of type `str`"),
        ("", "empty"),
        ("{", "JSON"),
        (b'{"a": 1}', "no messages"),
        ([{"messages": [{"role": "user", "content": "a"}]}] * 2, "2 conversations"),
        ({1: []}, "key"),
    ],
)
def test_what_holds_no_messages_is_an_error(messages, text):
    with pytest.raises(midfold.InputError, match=text):
        midfold.compact(messages)


def test_a_window_below_zero_is_named():
    for call in (lambda: midfold.compact([], window=-1), lambda: midfold.Session(window=-1)):
        with pytest.raises(midfold.InputError, match="window is -1") as caught:
            call()
        assert "128_000" in str(caught.value)


def test_no_messages_at_all_stay_none():
    result = midfold.compact([])
    assert result.messages == [] and result.reason


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"preset": "hermse"}, midfold.PolicyError, "there are: default"),
        ({"policy": "x = 1"}, midfold.PolicyError, "base"),
        ({"policy": "trigger = "}, midfold.PolicyError, "cannot be read"),
        ({"policy": {"tail": {"ratoi": 1}}}, midfold.PolicyError, "ratoi"),
        ({"policy": "x", "preset": "default"}, midfold.PolicyError, "both"),
        ({"tokenizer": "gpt2"}, midfold.TokenizerError, "o200k"),
        ({"tokenizer": "/nowhere/tokenizer.json"}, midfold.TokenizerError, "/nowhere"),
        ({"dialect": "openai"}, midfold.InputError, "there are: openai-chat"),
        ({"profile": "anthropic"}, midfold.InputError, "profiles for openai-chat: openai"),
    ],
)
def test_a_name_that_there_is_not_says_what_there_is(options, error, text):
    with pytest.raises(error, match=text):
        midfold.compact([{"role": "user", "content": "hi"}], **options)


def test_a_window_that_is_too_small_names_what_cannot_be_folded(session_messages):
    messages = [{"role": "system", "content": "word " * 3_000}, *session_messages]
    with pytest.raises(midfold.BudgetError) as caught:
        midfold.compact(messages, window=2_000)
    assert "more than the" in caught.value.message
    assert "the head (system messages, first task)" in caught.value.hint
    assert "hint: " in str(caught.value)
    window = int(re.search(r"window=(\d+) is enough", caught.value.hint)[1])
    assert midfold.compact(messages, window=window).after.tokens <= window


def test_exceptions_are_one_tree_and_cross_to_other_processes():
    for name in ["InputError", "PolicyError", "BudgetError", "StoreError", "TokenizerError"]:
        error = getattr(midfold, name)("what", "do this")
        assert isinstance(error, midfold.Error)
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), again.message, again.hint) == (type(error), "what", "do this")
    assert issubclass(midfold.InputError, ValueError)
    assert midfold.Error("what").hint is None and str(midfold.Error("what")) == "what"
