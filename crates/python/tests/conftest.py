"""What the tests share: conversations, rows, and the command line to compare with."""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path
from typing import Any, Callable

import pytest

ROOT = Path(__file__).resolve().parents[3]
Message = dict[str, Any]


def compact_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def coding_session(steps: int, seed: int = 7) -> list[Message]:
    """An agent that reads files and runs tests; results are long, as they are."""
    rng = random.Random(seed)
    words = [
        "ledger",
        "refund",
        "settle",
        "invoice",
        "batch",
        "retry",
        "cursor",
        "offset",
        "total",
        "rounding",
    ]
    messages: list[Message] = [
        {"role": "system", "content": "You are a careful engineer in /srv/build."},
        {"role": "user", "content": "LED-4100: some refunds are booked twice. Find out why."},
    ]
    for step in range(steps):
        path = f"src/{rng.choice(words)}_{step % 17}.py"
        call = {"name": "read_file", "arguments": json.dumps({"path": path})}
        messages.append(
            {
                "role": "assistant",
                "content": f"Let me look at {path}.",
                "tool_calls": [{"id": f"call_{step}", "type": "function", "function": call}],
            }
        )
        lines = (f"{n}: {' '.join(rng.choices(words, k=8))}" for n in range(40))
        messages.append(
            {"role": "tool", "tool_call_id": f"call_{step}", "content": "\n".join(lines)}
        )
        if step % 10 == 9:
            messages.append({"role": "assistant", "content": f"Part {step} is understood."})
            messages.append({"role": "user", "content": f"Go on with part {step + 1}, please."})
    messages.append({"role": "assistant", "content": "The batch is retried without its key."})
    return messages


def sharegpt_row(turns: int, seed: int) -> dict[str, Any]:
    rng = random.Random(seed)
    conversation = [
        {"from": "system", "value": "You can use tools."},
        {"from": "human", "value": f"Fix src/part_{seed}.py, größer als zuvor."},
    ]
    for turn in range(turns):
        call = json.dumps({"name": "read_file", "arguments": {"path": f"src/{turn}.py"}})
        conversation.append({"from": "gpt", "value": f"<tool_call>\n{call}\n</tool_call>"})
        lines = " ".join(rng.choices(["alpha", "beta", "gamma", "delta"], k=120))
        conversation.append(
            {"from": "tool", "value": f"<tool_response>\n{lines}\n</tool_response>"}
        )
    conversation.append({"from": "gpt", "value": "Done."})
    return {"id": seed, "conversations": conversation, "reward": 0.5}


@pytest.fixture(scope="session")
def session_messages() -> list[Message]:
    return coding_session(60)


@pytest.fixture(scope="session")
def rows() -> list[dict[str, Any]]:
    return [sharegpt_row(turns=3 + seed * 5 % 60, seed=seed) for seed in range(60)]


@pytest.fixture(scope="session")
def cli() -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Runs the command line; the tests that compare with it are skipped where there is none."""
    binary = os.environ.get("MIDFOLD_CLI")
    if not binary or not Path(binary).exists():
        pytest.skip("MIDFOLD_CLI names no binary of midfold")

    def run(*args: object, input: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
        command = [binary, *map(str, args)]
        return subprocess.run(command, input=input, capture_output=True, check=True)

    return run
