"""`midfold.litellm` in LiteLLM's proxy, against a scripted model with a hard limit."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
import urllib.request

import pytest

from hosts.conftest import KEY, LIMIT, MODEL, STEPS, WINDOW, doctests, example, shell, task

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
pytest.importorskip("litellm.proxy.proxy_server")

from midfold.litellm import Midfold

TOOL = {
    "name": "shell",
    "description": "Runs a command in a shell and returns what it prints.",
    "parameters": {
        "type": "object",
        "properties": {"command": {"type": "string"}},
        "required": ["command"],
    },
}


class Proxy:
    """A running proxy, with the example of the docstring as its callback."""

    def __init__(self, url):
        self.url = url

    def post(self, path, body):
        headers = {"content-type": "application/json", "authorization": "Bearer sk-none"}
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read()


@pytest.fixture
def proxy(tmp_path):
    """Starts the proxy of LiteLLM in front of a scripted model."""
    running = []

    def start(upstream):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        params = {"model": f"openai/{MODEL}", "api_base": upstream.v1, "api_key": KEY}
        config = {
            "model_list": [{"model_name": "small-model", "litellm_params": params}],
            "litellm_settings": {"callbacks": ["compacting.handler"], "num_retries": 0},
        }
        (tmp_path / "config.yaml").write_text(json.dumps(config))
        (tmp_path / "compacting.py").write_text(example("midfold.litellm"))
        environment = {
            **os.environ,
            "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
            "HOME": str(tmp_path),
        }
        code = "from litellm import run_server; run_server()"
        command = [sys.executable, "-c", code, "--config", "config.yaml"]
        process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port)],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        running.append(process)
        said = []
        for line in process.stdout:
            said.append(line)
            if "Uvicorn running on" in line:
                threading.Thread(target=process.stdout.read, daemon=True).start()
                return Proxy(f"http://127.0.0.1:{port}")
        raise AssertionError("".join(said)[-3_000:])

    yield start
    for process in running:
        process.terminate()
        process.wait()


def chat_loop(proxy, streamed):
    """An agent as clients write it: it keeps all of its messages."""
    messages = [{"role": "user", "content": task()}]
    body = {"model": "small-model", "tools": [{"type": "function", "function": TOOL}]}
    while len(messages) < 4 * STEPS:
        sent = {**body, "messages": messages, "stream": streamed}
        answer = proxy.post("/v1/chat/completions", sent)
        message = joined(answer) if streamed else json.loads(answer)["choices"][0]["message"]
        messages.append(
            {key: message[key] for key in ("role", "content", "tool_calls") if message.get(key)}
        )
        if not message.get("tool_calls"):
            return messages
        for call in message["tool_calls"]:
            printed = shell(json.loads(call["function"]["arguments"])["command"])
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": printed})
    raise AssertionError("the model never said that it is done")


def joined(stream):
    """The message that a stream of Chat Completions adds up to."""
    message = {"role": "assistant", "content": ""}
    for line in stream.decode().splitlines():
        if not line.startswith("data: {"):
            continue
        for choice in json.loads(line[6:])["choices"]:
            delta = choice["delta"]
            message["content"] += delta.get("content") or ""
            for call in delta.get("tool_calls") or []:
                calls = message.setdefault("tool_calls", [])
                if call.get("id"):
                    calls.append({**call, "function": {**call["function"], "arguments": ""}})
                calls[-1]["function"]["arguments"] += call["function"].get("arguments") or ""
    return message


@pytest.mark.parametrize("streamed", [False, True])
def test_example_behind_a_proxy(upstream, proxy, streamed):
    served = upstream("--limit", LIMIT, "--steps", STEPS)
    messages = chat_loop(proxy(served), streamed)
    assert f"All {STEPS} steps are done" in messages[-1]["content"]
    served.assert_never_refused()
    assert 0 < served.breaks() < STEPS / 3


def test_functions():
    assert doctests("midfold.litellm") > 0


def conversation(kind, steps=30):
    text = "one more line of output " * 60
    if kind == "aresponses":
        items = [{"role": "user", "content": task()}]
        for n in range(steps):
            call = {"type": "function_call", "call_id": f"c{n}", "name": "shell", "arguments": "{}"}
            result = {"type": "function_call_output", "call_id": f"c{n}", "output": text}
            items += [call, result]
        return items
    messages = [{"role": "user", "content": task()}]
    for n in range(steps):
        if kind == "anthropic_messages":
            call = {"type": "tool_use", "id": f"c{n}", "name": "shell", "input": {}}
            result = {"type": "tool_result", "tool_use_id": f"c{n}", "content": text}
            messages += [
                {"role": "assistant", "content": [call]},
                {"role": "user", "content": [result]},
            ]
        else:
            function = {"name": "shell", "arguments": "{}"}
            call = {"id": f"c{n}", "type": "function", "function": function}
            messages += [
                {"role": "assistant", "content": "", "tool_calls": [call]},
                {"role": "tool", "tool_call_id": f"c{n}", "content": text},
            ]
    return messages


@pytest.mark.parametrize("kind", ["acompletion", "aresponses", "anthropic_messages"])
def test_each_kind_of_request_is_compacted_and_observed(kind):
    handler = Midfold(window=100_000, windows={"small": WINDOW})
    key = "input" if kind == "aresponses" else "messages"
    given = conversation(kind)

    def request(model, call):
        data = {"model": model, key: given, "litellm_call_id": call, "user": "me"}
        return data, asyncio.run(handler.async_pre_call_hook(None, None, data, kind))

    before, sent = request("small", "one")
    assert before[key] is given and sent["user"] == "me"
    assert len(sent[key]) < len(given) and sent[key][0] is given[0] and sent[key][-1] is given[-1]
    assert request("large", "two")[1][key] == given
    session = handler._sent["one"].session
    usage = {"prompt_tokens": 777, "completion_tokens": 3}
    answer = type("Answer", (), {"usage": usage})()
    asyncio.run(handler.async_log_success_event({"litellm_call_id": "one"}, answer, None, None))
    assert session.status()["last_prompt_tokens"] == 777
    asyncio.run(handler.async_log_failure_event({"litellm_call_id": "two"}, None, None, None))
    assert handler._sent == {}


def test_other_requests_are_left_alone():
    handler = Midfold(window=WINDOW)
    for kind, data in (
        ("aembedding", {"model": "m", "input": ["a"]}),
        ("aresponses", {"model": "m", "input": "one text"}),
        ("aresponses", {"model": "m", "input": [{}], "previous_response_id": "resp_1"}),
        ("acompletion", {"model": "m"}),
    ):
        assert asyncio.run(handler.async_pre_call_hook(None, None, data, kind)) is data
