"""What the tests of the adapters share: a scripted model, its figures, and the task for an agent.

The scripted model (`cargo build -p midfold-testkit --bin scripted-upstream`) calls a shell tool
for some steps, refuses prompts that are too long, and counts what it was sent. `SCRIPTED_UPSTREAM`
names the binary; without one these tests are skipped, and each of them without its framework.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import json
import os
import subprocess
import textwrap
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import pytest

ROOT = Path(__file__).resolve().parents[4]
BINARY = Path(os.environ.get("SCRIPTED_UPSTREAM", ROOT / "target/debug/scripted-upstream"))
KEY = "not-a-key"
MODEL = "scripted-model"
SYSTEM = "You are an agent with a shell. Work step by step."
#: A window that the task does not fit, and what the model takes: the window and some.
WINDOW, LIMIT = 8_000, 9_000
STEPS = 24


def task(steps: int = STEPS) -> str:
    return (
        f"Do the {steps} steps of the plan one after another, each with the shell tool."
        " Say so when all of them are done, with the codes. Also keep in mind: the code of part 0"
        " is K0-3039."
    )


def shell(command: str) -> str:
    """Runs a command in a shell and returns what it prints.

    Args:
        command: The command line.
    """
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False
    )
    return done.stdout + done.stderr


class Upstream:
    """A running scripted model."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.v1 = f"{url}/v1"

    def stats(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self.url}/__stats") as answer:
            return dict(json.load(answer))

    def requests(self, outcome: str = "answered") -> list[dict[str, Any]]:
        """The requests with this outcome: `answered`, `overflow`, `refused` (not valid)."""
        return [one for one in self.stats()["requests"] if one["outcome"] == outcome]

    def breaks(self) -> int:
        """How many prompts that were answered do not go on with the one before."""
        return sum(one["append_only"] is False for one in self.requests())

    def assert_never_refused(self) -> None:
        """Every request was valid, fitted, and was answered."""
        stats = self.stats()
        assert stats["refused"] == []
        assert {one["outcome"] for one in stats["requests"]} == {"answered"}


@contextlib.contextmanager
def running(*arguments: object) -> Iterator[Upstream]:
    command = [str(BINARY), *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield Upstream(process.stdout.readline().split()[-1])
        finally:
            process.terminate()


@pytest.fixture
def upstream() -> Iterator[Callable[..., Upstream]]:
    """Starts a scripted model: `upstream("--limit", 9_000)`. It ends with the test."""
    if not BINARY.exists():
        pytest.skip(f"no scripted model at {BINARY}: see SCRIPTED_UPSTREAM")
    with contextlib.ExitStack() as stack:
        yield lambda *arguments: stack.enter_context(running(*arguments))


@pytest.fixture
def agent_upstream(upstream: Callable[..., Upstream]) -> Upstream:
    """The scripted model of the usual task, with its limit."""
    return upstream("--limit", LIMIT, "--steps", STEPS)


#: The examples have a window of 20,000 tokens; this many steps do not fit it.
LONG = 45


@pytest.fixture
def example_upstream(upstream: Callable[..., Upstream]) -> Upstream:
    """The scripted model for the example of a module's docstring."""
    return upstream("--limit", 20_000, "--steps", LONG)


def example(name: str) -> str:
    """The example of a module's docstring: the lines that are indented."""
    text = importlib.import_module(name).__doc__ or ""
    lines = [line for line in text.splitlines() if line.startswith("    ") or not line.strip()]
    return textwrap.dedent("\n".join(lines)).strip()


def run_example(name: str, **given: Any) -> dict[str, Any]:
    """Runs the example of a module's docstring with these names, and returns all of its names."""
    code = example(name)
    assert 5 <= len(code.splitlines()) <= 14, "an example has about ten lines"
    exec(compile(code, f"{name} (example)", "exec"), given)
    return given


def doctests(name: str) -> int:
    """How many examples of the functions of a module were run; they are all right."""
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert failed == 0
    return tried
