"""Hermes Agent itself, with the engine that `install` gave it, against a scripted model.

`SCRIPTED_UPSTREAM` names the model's binary. It is skipped without one, and without the host.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from conftest import ROOT
from midfold.hermes.__main__ import main

BINARY = Path(os.environ.get("SCRIPTED_UPSTREAM", ROOT / "target/debug/scripted-upstream"))
#: The least window that the host takes; a step fills an eighth of it.
LIMIT, STEPS, RESULT = 64_000, 16, 8_000
TASK = (
    f"Do the {STEPS} steps of the plan one after another, each with the shell tool."
    " Say so when all of them are done, with the codes. Also keep in mind: the code of part 0 is"
    " K0-3039."
)
CONFIG = """\
# A configuration with more in it.
model:
  default: scripted-model
  provider: custom
  base_url: {url}/v1
  api_key: not-a-key
  context_length: {limit}
"""
AGENT = """\
import json, sys
from run_agent import AIAgent

task, url, toolsets = sys.argv[1:]
agent = AIAgent(
    provider="custom", model="scripted-model", base_url=url + "/v1", api_key="not-a-key",
    enabled_toolsets=toolsets.split(","), quiet_mode=True, skip_memory=True, tool_delay=0,
)
done = agent.run_conversation(task)
engine = agent.context_compressor
told = {
    "engine": engine.name,
    "completed": done.get("completed"),
    "answer": done.get("final_response"),
    "messages": done["messages"],
    "status": engine.get_status(),
    "kept": json.loads(engine.handle_tool_call("recall_find", {"limit": 500})),
}
print("told:" + json.dumps(told, default=str))
"""

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("run_agent") is None, reason="no hermes-agent"),
    pytest.mark.skipif(not BINARY.exists(), reason="no scripted model: see SCRIPTED_UPSTREAM"),
]


class Host:
    """A home of the host with midfold in it, and its model."""

    def __init__(self, home, url):
        self.home, self.url = home, url

    def run(self, *command):
        """Runs a command in that home; what it printed."""
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": str(self.home),
            "HERMES_HOME": str(self.home / "hermes"),
            "HERMES_YOLO_MODE": "1",
            "TERMINAL_CWD": str(self.home),
            "CI": "1",
            "TERM": "dumb",
        }
        done = subprocess.run(
            command, env=environment, cwd=self.home, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def agent(self, task, toolsets):
        said = self.run(sys.executable, "-c", AGENT, task, self.url, toolsets)
        lines = [line for line in said.splitlines() if line.startswith("told:")]
        return json.loads(lines[-1][5:])

    def stats(self):
        with urllib.request.urlopen(f"{self.url}/__stats") as answer:
            return json.load(answer)


@pytest.fixture
def host(tmp_path):
    """Starts a host's home and a scripted model with these arguments, which ends with the test."""
    with contextlib.ExitStack() as stack:

        def start(*arguments, settings=""):
            command = [str(BINARY), "--listen", "127.0.0.1:0", *map(str, arguments)]
            process = stack.enter_context(
                subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            )
            stack.callback(process.terminate)
            url = process.stdout.readline().split()[-1]
            config = tmp_path / "hermes/config.yaml"
            config.parent.mkdir()
            config.write_text(CONFIG.format(url=url, limit=LIMIT) + settings)
            assert main(["install", "--home", str(config.parent)]) == 0
            return Host(tmp_path, url)

        yield start


def long_task(host):
    return host("--limit", LIMIT, "--steps", STEPS, "--result-tokens", RESULT, "--task-fact")


def assert_all_was_answered(stats):
    assert stats["refused"] == []
    assert stats["totals"]["overflows"] == stats["totals"]["facts_missing"] == 0
    assert stats["totals"]["step"] == STEPS


def test_an_agent_finishes_through_three_folds(host):
    running = long_task(host)
    told = running.agent(TASK, "terminal,file,context_engine")
    assert told["engine"] == "midfold" and told["completed"]
    assert f"All {STEPS} steps are done." in told["answer"]
    assert told["status"]["compression_count"] >= 3
    stats = running.stats()
    assert_all_was_answered(stats)
    # No request breaks the cache but those after a fold, and no model was asked for a summary.
    turns = [one for one in stats["requests"] if one["kind"] == "turn"]
    broken = sum(one["append_only"] is False for one in turns)
    assert broken == told["status"]["compression_count"] and len(turns) == len(stats["requests"])
    # The whole conversation is one session: the task, and what came of all steps but the last.
    lines = [line for line in told["kept"]["result"].splitlines() if line.startswith("@")]
    assert len(lines) > 2 * (STEPS - 6)
    assert len(told["messages"]) < len(lines)


def test_the_command_of_the_host_finishes(host):
    running = long_task(host)
    hermes = str(Path(sys.executable).with_name("hermes"))
    said = running.run(
        hermes, "chat", "-Q", "--yolo", "-t", "terminal,file,context_engine", "-q", TASK
    )
    assert f"All {STEPS} steps are done." in said
    stats = running.stats()
    assert_all_was_answered(stats)
    turns = [one for one in stats["requests"] if one["kind"] == "turn"]
    assert sum(one["append_only"] is False for one in turns) >= 3


def test_a_call_of_an_engine_tool_comes_to_the_engine(host):
    running = host("--steps", 2, "--tool", "recall_find", "--argument", "query")
    told = running.agent("Look for printf, LED-4100.", "context_engine")
    assert told["completed"] and "All 2 steps are done." in told["answer"]
    answers = [one["content"] for one in told["messages"] if one["role"] == "tool"]
    assert len(answers) == 2
    assert "Quoted history of this session" in json.loads(answers[0])["result"]
    assert running.stats()["refused"] == []


def test_a_narration_is_asked_of_the_hosts_auxiliary_model(host):
    settings = "plugins:\n  entries:\n    midfold:\n      narrate: true\n"
    script = ("--limit", LIMIT, "--steps", 32, "--result-tokens", 1_700)
    running = host(*script, settings=settings)
    task = TASK.replace(f"the {STEPS} steps", "the 32 steps")
    told = running.agent(task, "terminal,file,context_engine")
    assert told["engine"] == "midfold" and "All 32 steps are done." in told["answer"]
    assert told["status"]["compression_count"] >= 1
    stats = running.stats()
    assert stats["refused"] == [] and stats["totals"]["overflows"] == 0
    # It is no turn of the conversation, and nothing waited for it.
    assert [one["outcome"] for one in stats["requests"] if one["kind"] == "side"] == ["answered"]


def test_without_the_engine_the_host_gives_up(host):
    running = long_task(host)
    assert main(["uninstall", "--home", str(running.home / "hermes")]) == 0
    text = (running.home / "hermes/config.yaml").read_text()
    assert text == CONFIG.format(url=running.url, limit=LIMIT)
    said = running.run(
        *(sys.executable, "-c", AGENT.replace("engine.handle_tool_call", "(lambda *_: '{}')")),
        *(TASK, running.url, "terminal,file,context_engine"),
    )
    told = json.loads(next(line for line in said.splitlines() if line.startswith("told:"))[5:])
    assert told["engine"] == "compressor"
    assert not told["completed"]
    assert running.stats()["totals"]["overflows"] > 0
