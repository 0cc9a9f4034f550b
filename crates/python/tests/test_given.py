"""What callers give by mistake is an error that names it and says what is right."""

from __future__ import annotations

import typing

import midfold
import pytest
from conftest import coding_session
from midfold.types import PresetName

HI = {"role": "user", "content": "hi"}


@pytest.fixture
def session():
    made = midfold.Session()
    made.append([HI, {"role": "assistant", "content": "Hello."}])
    return made


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda _: midfold.Session(window="128k"), "window is '128k', not a whole number"),
        (lambda _: midfold.Session(window=64e3), "window is 64000.0"),
        (lambda _: midfold.Session(window=True), "window is True"),
        (lambda _: midfold.Sessions(window=-5), "window is -5"),
        (lambda _: midfold.compact([HI], window="x"), "window is 'x'"),
        (lambda _: midfold.compact([HI], target=1.5), "target is 1.5"),
        (lambda it: it.observe(None), "prompt is None"),
        (lambda it: it.observe(-3), "prompt is -3"),
        (lambda it: it.observe(1, -3), "output is -3"),
        (lambda it: it.explain(-1), "text_or_event is -1"),
        (lambda it: it.explain(9_999), "no message 9999: it has 2"),
        (lambda it: it.pin(-1), "seq is -1"),
        (lambda it: it.update_model("m", "64k"), "window is '64k'"),
        (lambda _: midfold.Session(tools=["read"]), r"tools\[0\] is a string, not a tool"),
        (lambda _: midfold.Session(tools="read"), "tools is a string"),
    ],
)
def test_a_value_of_the_wrong_kind_is_named(session, call, text):
    with pytest.raises(midfold.InputError, match=text) as caught:
        call(session)
    assert caught.value.hint


def test_a_number_that_is_none_is_that_of_a_library():
    class Tokens:
        def __index__(self):
            return 8_000

    assert midfold.Session(window=Tokens()).status()["context_length"] == 8_000


def test_the_name_of_a_file_is_no_policy():
    with pytest.raises(midfold.PolicyError, match=r"nope\.toml") as caught:
        midfold.Session(policy="nope.toml")
    assert "pathlib.Path" in caught.value.hint


@pytest.mark.parametrize(
    "call",
    [
        lambda: midfold.Session(windw=1),
        lambda: midfold.Sessions(windw=1),
        lambda: midfold.compact([HI], windw=1),
    ],
)
def test_an_unknown_keyword_names_the_one_that_was_meant(call):
    with pytest.raises(TypeError, match=r"'windw'. Did you mean 'window'\?"):
        call()


AI_SDK = [
    {"role": "user", "content": [{"type": "text", "text": "Why?"}]},
    {
        "role": "assistant",
        "content": [{"type": "tool-call", "toolCallId": "c1", "toolName": "read", "input": {}}],
    },
    {
        "role": "tool",
        "content": [
            {
                "type": "tool-result",
                "toolCallId": "c1",
                "toolName": "read",
                "output": {"type": "text", "value": "def settle(): ..."},
            }
        ],
    },
]


@pytest.mark.parametrize(
    "call",
    [
        lambda: midfold.Session().project(AI_SDK),
        lambda: midfold.Session().append(AI_SDK),
        lambda: midfold.Sessions().project(AI_SDK, id="a"),
        lambda: midfold.compact(AI_SDK),
    ],
)
def test_messages_of_the_ai_sdk_are_named(call):
    with pytest.raises(midfold.InputError, match=r"message 1: .* of the AI SDK") as caught:
        call()
    assert "tool_call_id" in caught.value.hint


SAID = "maximum context length is 6000 tokens, your messages resulted in 9000 tokens"
INNER = {"message": SAID, "code": "context_length_exceeded"}


class Response:
    status_code = 400
    text = '{"error": {"code": "context_length_exceeded", "message": "' + SAID + '"}}'


def raised(**members):
    error = RuntimeError(SAID)
    for name, value in members.items():
        setattr(error, name, value)
    return error


@pytest.mark.parametrize(
    "error",
    [
        raised(body=INNER, status_code=400),  # openai
        raised(body={"type": "error", "error": INNER}, status_code=400),  # anthropic
        raised(body=None, response=Response()),  # httpx
        raised(status=400),
        raised(body=object()),
    ],
)
def test_recover_takes_what_an_sdk_raises(error):
    session = midfold.Session(window=100_000)
    session.project(coding_session(30))
    assert session.recover(error).folded
    assert session.status()["context_length"] == 6_000


def test_recover_reads_the_status_of_an_exception():
    session = midfold.Session(window=100_000)
    session.project(coding_session(30))
    assert session.recover(raised(body={"error": "busy"}, status_code=429)) is None


def test_what_is_named_at_a_reopening_holds_and_a_learned_window_stays(tmp_path):
    store = f"sqlite:{tmp_path / 'sessions.db'}"
    history = coding_session(30)
    midfold.Sessions(store=store, window=64_000, preset="lean").project(history, id="t")
    named = midfold.Sessions(store=store, window=8_000, preset="default", model="gpt-5.6")
    again = named.project(history, id="t").session
    status = again.status()
    found = (status["context_length"], status["policy"], status["model"])
    assert found == (8_000, "default", "gpt-5.6")
    again.recover({"error": INNER})

    def window(**options):
        return midfold.Session.open(store, "t", **options).status()["context_length"]

    assert window() == 6_000
    assert window(window=8_000) == 6_000
    assert midfold.Sessions(store=store, window=8_000).project(history, id="t").tokens < 6_000
    assert window() == 6_000
    assert window(window=7_000, preset="lean") == 7_000
    assert midfold.Session.open(store, "t").status()["policy"] == "lean"
    # Without a name nothing changes.
    midfold.Sessions(store=store).project(history, id="t")
    assert midfold.Session.open(store, "t").status()["policy"] == "lean"
    assert window() == 7_000


def test_the_presets_are_those_of_the_type():
    assert list(typing.get_args(PresetName)) == midfold.presets()
