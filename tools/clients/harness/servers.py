"""The scripted upstream and midfold, as processes on loopback."""

from __future__ import annotations

import json
import re
import subprocess
import threading
import urllib.request
from pathlib import Path
from queue import Empty, Queue

START_SECONDS = 30
RESULT_TOKENS = 2_000  # what a step prints, about


class StartError(Exception):
    """A server that does not start."""


class Server:
    """A server that says its address in a line of its output, stopped at the end of a `with`."""

    def __init__(self, command: list[str], log: Path, foreign: str = ""):
        self.log = log
        self._found: Queue[str | None] = Queue()
        self._foreign = foreign
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        # What it says later is taken from the pipe too: a full pipe would stop it.
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        try:
            url = self._found.get(timeout=START_SECONDS)
        except Empty:
            url = None
        if url is None:
            self.stop()
            said = log.read_text().strip()[-1000:]
            raise StartError(f"{' '.join(command)}: no address in its output: {said}")
        self.url = url

    def _read(self) -> None:
        with self.log.open("w") as log:
            for line in self.process.stdout or ():
                log.write(line)
                log.flush()
                for url in re.findall(r"http://127\.0\.0\.1:\d+", line):
                    # Its upstream's address may be in the line too.
                    if url != self._foreign:
                        self._found.put(url)
        self._found.put(None)

    def get(self, path: str) -> str:
        with urllib.request.urlopen(self.url + path, timeout=30) as reply:
            return reply.read().decode()

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._reader.join(10)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def upstream(
    binary: str,
    limit: int,
    steps: int,
    script: tuple[str, ...],
    log: Path,
    result_tokens: int = RESULT_TOKENS,
) -> Server:
    """A scripted model with this limit in tokens; 0 is none."""
    command = [binary, "--listen", "127.0.0.1:0", "--steps", str(steps), *script]
    command += ["--result-tokens", str(result_tokens), "--stateful", "--threads"]
    # Facts of the task and of the model beside those of results: all three can be folded away.
    command += ["--task-fact", "--decide-every", "4"]
    return Server([*command, *(["--limit", str(limit)] if limit else [])], log)


def midfold(
    binary: str,
    upstream: Server,
    window: int | None,
    more: list[str],
    log: Path,
    store: str = "memory",
) -> Server:
    """midfold in front of it, which is told the window as one who runs it would, or is told none."""
    command = [binary, "serve", "--listen", "127.0.0.1:0", "--store", store]
    for provider in ("openai", "anthropic", "gemini"):
        command += ["--upstream", f"{provider}={upstream.url}"]
    command += ["--window", str(window)] if window else []
    return Server([*command, *more], log, upstream.url)


def stats(server: Server) -> dict:
    """What the upstream saw."""
    return json.loads(server.get("/__stats"))


def counter(text: str, name: str) -> int:
    """The sum of a Prometheus counter over its labels."""
    values = re.findall(rf"^{name}(?:\{{[^}}]*\}})? +([0-9.e+]+)", text, re.MULTILINE)
    return round(sum(float(value) for value in values))
