"""Starts the script of a client, and reads the line that it prints."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from pathlib import Path


def launch(
    name: str,
    command: list[str],
    environment: dict[str, str],
    work: Path,
    folder: Path,
    seconds: int,
) -> tuple[dict, float]:
    """Runs a command in `work`; the line that its script printed, and how long it took.

    What it says besides goes to `client.log` in `folder`. It is killed after `seconds`.
    """
    started = time.monotonic()
    with (folder / "client.log").open("w") as log:
        process = subprocess.Popen(
            command,
            cwd=work,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,
        )
        try:
            said, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            return failed(name, f"killed after {seconds} s", killed=True), float(seconds)
        finally:
            # It and what it left behind: they are a group of their own.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    took = time.monotonic() - started
    for line in reversed(said.splitlines()):
        if line.startswith('{"client"'):
            return json.loads(line), took
    return failed(name, f"its script ended with code {process.returncode}"), took


def failed(name: str, error: str, **more) -> dict:
    """The line of a client that wrote none."""
    return {"client": name, "finished": False, "answer": None, "error": error, **more}
