"""A conversation with Claude Code over its standard input: many turns of one process."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from pathlib import Path
from queue import Empty, Queue

TURN_SECONDS = 180


class TalkError(Exception):
    """Claude Code ended, or did not answer."""


class Talk:
    """Claude Code in `work`, its home, until the end of a `with`."""

    def __init__(
        self, program: list[str], url: str, work: Path, *more: str, settings: dict[str, str] | None = None
    ):
        project = work / "project"
        for folder in (project, work / "tmp"):
            folder.mkdir(parents=True, exist_ok=True)
        environment = {
            **home(work),
            "TMPDIR": str(work / "tmp"),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_AUTH_TOKEN": "not-a-key",
            "ANTHROPIC_MODEL": "scripted-model",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "IS_SANDBOX": "1",
            **(settings or {}),
        }
        command = [*program, "-p", "--input-format", "stream-json", "--output-format", "stream-json"]
        command += ["--verbose", "--permission-mode", "bypassPermissions", *more]
        self._errors = (work / "stderr").open("w")
        self._process = subprocess.Popen(
            command,
            cwd=project,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        self._lines: Queue[str | None] = Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.session = ""

    def _read(self) -> None:
        for line in self._process.stdout or ():
            self._lines.put(line)
        self._lines.put(None)

    def say(self, content: str | list) -> list[dict]:
        """Says something; what Claude Code writes until its turn ends."""
        message = {"type": "user", "message": {"role": "user", "content": content}}
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
        said: list[dict] = []
        while not said or said[-1]["type"] != "result":
            try:
                line = self._lines.get(timeout=TURN_SECONDS)
            except Empty:
                line = None
            if line is None:
                raise TalkError(f"Claude Code does not answer: {said[-1:] or 'it said nothing'}")
            said.append(json.loads(line))
        self.session = said[-1]["session_id"]
        return said

    def __enter__(self) -> Talk:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(10)
        self._errors.close()


def home(work: Path) -> dict[str, str]:
    """The environment of a user whose home is `work`."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(work),
        "XDG_DATA_HOME": str(work / ".local/share"),
        "XDG_CONFIG_HOME": str(work / ".config"),
    }


def compactions(said: list[dict]) -> list[dict]:
    """The figures of the compactions in a turn."""
    return [line["compact_metadata"] for line in said if line.get("subtype") == "compact_boundary"]


def logged(said: list[dict]) -> list[str]:
    """The lines of plug-ins in a turn."""
    return [line["text"] for line in said if line.get("subtype") == "ui_log"]
