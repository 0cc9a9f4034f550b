"""Runs Claude Code with midfold's hooks and checks what came of it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess

from . import servers
from .check import STEPS, Check
from .keeper import Keeper
from .places import MissingError
from .plugin import Plugin
from .registry import CLIENTS
from .talk import TalkError

# Tokens above the client's own prompt: it compacts once, two thirds of the task into it.
ROOM = 24_000
SETTINGS = '{\n  "model": "scripted-model",\n  "cleanupPeriodDays": 30\n}\n'
ADDED = "SessionStart hook additional context: "


class Hooks:
    """One run with hooks, and what is wrong with it."""

    def __init__(self, check: Check):
        self.check = check
        self.client = next(client for client in CLIENTS if client.name == "claude")
        self.folder = check.home / "runs/claude/hooks"
        self.work = self.folder / "work"
        self.project = self.work / "project"
        self.wrong: list[str] = []
        self.passed = 0

    def midfold(self, *arguments: str) -> str:
        """midfold as Claude Code runs it: with the same home."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.work),
            "XDG_DATA_HOME": str(self.work / ".local/share"),
            "XDG_CONFIG_HOME": str(self.work / ".config"),
        }
        command = [self.check.midfold, *arguments]
        done = subprocess.run(
            command, cwd=self.project, env=environment, capture_output=True, text=True
        )
        if done.returncode:
            self.wrong.append(f"midfold {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def holds(self, what: str, holds: object) -> None:
        """Counts a check, and says how it went."""
        print(f"{'ok  ' if holds else 'FAIL'} {what}", flush=True)
        if holds:
            self.passed += 1
        else:
            self.wrong.append(what)

    def run(self) -> None:
        """All of it; `MissingError` where Claude Code cannot be had."""
        free = self.check.run(self.client, "free", 0, through=False)
        limit = free.turns("answered")[0]["prompt_tokens"] + ROOM
        shutil.rmtree(self.folder, ignore_errors=True)
        settings = self.project / ".claude/settings.json"
        settings.parent.mkdir(parents=True)
        settings.write_text(SETTINGS)
        self.midfold("connect", "claude")
        written = settings.read_text()
        self.midfold("connect", "claude")
        self.holds("installed, and a second time changes nothing", written == settings.read_text())
        log = self.folder / "upstream.log"
        with (
            servers.upstream(
                self.check.upstream, limit, STEPS, self.client.script, log
            ) as upstream,
            Keeper(upstream.url) as keeper,
        ):
            line, _ = self.check.start(self.client, keeper.url, self.work, self.folder)
            stats = servers.stats(upstream)
        (self.folder / "stats.json").write_text(json.dumps(stats, indent=1))
        totals = stats["totals"]
        self.holds(f"Claude Code finishes: {line['error'] or 'yes'}", line["finished"])
        summaries = totals["summaries"]
        self.holds(f"it compacts by itself, {summaries} time(s)", summaries >= 1)
        self.after(keeper.bodies)
        log = self.work / ".local/share/midfold/hooks.log"
        said = log.read_text().strip() if log.exists() else "nothing"
        self.holds(f"the hooks log {said}", not log.exists())
        self.midfold("connect", "claude", "--remove")
        self.holds("taken out, and the settings are as before", settings.read_text() == SETTINGS)

    def after(self, bodies: list[str]) -> None:
        """What the store has, and what the model was told."""
        sessions = json.loads(self.midfold("session", "list", "--json") or "[]")
        transcripts = list(self.work.glob(".claude/projects/*/*.jsonl"))
        ids = [session["id"] for session in sessions]
        own = [path.stem for path in transcripts if path.stem in ids]
        self.holds(f"PreCompact stored the session: {ids}", own)
        texts = [text for body in bodies for text in strings(json.loads(body or "{}"))]
        told = [text.split(ADDED, 1)[1] for text in texts if ADDED in text]
        first = told[0] if told else ""
        self.holds(
            f"SessionStart's text is in the next request, {len(first):,} characters",
            "[End of recap" in first,
        )
        self.holds("it has the code of the task", "K0-3039" in first)
        found = re.search(r"`(.+?) find (\S+) WORDS", first)
        hits = self.midfold("recall", "find", found.group(2), "K3-0ade") if found else ""
        self.holds("the command in it finds a result that left", "part_3" in hits)


def strings(value: object) -> list[str]:
    """The texts in a value of JSON."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [text for one in value for text in strings(one)] if isinstance(value, list) else []


def main() -> int:
    check = Check()
    gone = check.binaries()
    if gone:
        print(gone)
        return 1
    passed, wrong, skipped = 0, [], 0
    for part in (Hooks(check), Plugin(check)):
        try:
            part.run()
        except MissingError as error:
            print(f"skipped: {part.client.place}: {error}")
            skipped += 1
        except (servers.StartError, TalkError) as error:
            part.wrong.append(str(error))
        passed += part.passed
        wrong += part.wrong
    for line in wrong:
        print(f"wrong: {line}")
    print(f"{passed} passed, {len(wrong)} failed, {skipped} skipped")
    return 1 if wrong else 0
