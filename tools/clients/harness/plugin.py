"""Runs Claude Code with midfold's plug-in and checks what comes of it."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from . import servers
from .check import ROOT, Check
from .keeper import Keeper
from .registry import CLIENTS
from .talk import Talk, compactions, home, logged

SETTINGS = '{ "cleanupPeriodDays" :30,\n\n\t"model": "scripted-model"}'
TASK = (
    "Do the {} steps of the plan one after another, each with the shell tool. Say so when all of"
    " them are done, with the codes. Also keep in mind: the code of part 0 is K0-3039."
)
STEPS = 140
# Claude Code compacts at about 67,000 tokens of it.
WINDOW = {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000"}
ROUNDS, SAID = 5, 14
NOISE = "\n".join(
    f"12:{i // 60:02}:{i % 60:02} worker {i * 7919 % 97} handled request {i * 104729 % 100003}"
    for i in range(120)
)
RECALL = "mcp__plugin_midfold_midfold__recall_find"
IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Plugin:
    """The checks with the plug-in, and what is wrong."""

    def __init__(self, check: Check):
        self.check = check
        client = next(client for client in CLIENTS if client.name == "claude")
        self.client = replace(client, place="claude-plugins")
        self.folder = check.home / "runs/claude/plugin"
        self.work = self.folder / "work"
        self.wrong: list[str] = []
        self.passed = 0
        self.program: list[str] = []

    def holds(self, what: str, holds: object) -> None:
        """Counts a check, and says how it went."""
        print(f"{'ok  ' if holds else 'FAIL'} {what}", flush=True)
        if holds:
            self.passed += 1
        else:
            self.wrong.append(what)

    def midfold(self, *arguments: str) -> str:
        command = [self.check.midfold, *arguments]
        done = subprocess.run(command, env=home(self.work), capture_output=True, text=True)
        if done.returncode:
            self.wrong.append(f"midfold {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    @contextmanager
    def model(self, name: str, *script: str, steps: int = STEPS) -> Iterator[tuple]:
        """A scripted model behind one that keeps what was sent."""
        log = self.folder / f"{name}.log"
        upstream = servers.upstream(self.check.upstream, 0, steps, script, log)
        with upstream, Keeper(upstream.url) as keeper:
            yield upstream, keeper

    def talk(self, keeper: Keeper, *more: str, **settings: str) -> Talk:
        return Talk(self.program, keeper.url, self.work, *more, settings=settings)

    def run(self) -> None:
        """All of it; `MissingError` where Claude Code cannot be had."""
        _, self.program = self.check.places.command(self.client)
        shutil.rmtree(self.folder, ignore_errors=True)
        settings = self.work / ".claude/settings.json"
        settings.parent.mkdir(parents=True)
        settings.write_text(SETTINGS)
        self.midfold("connect", "claude", "--user")
        plugin = self.work / ".claude/skills/midfold"
        command = [*self.program, "plugin", "validate", str(plugin)]
        valid = subprocess.run(command, env=home(self.work), capture_output=True, text=True)
        self.holds("Claude Code finds the plug-in valid", valid.returncode == 0)
        self.is_in_the_marketplace()
        session = self.works_and_goes_on()
        self.says_facts()
        self.recalls(session)
        self.fails(plugin)
        self.midfold("connect", "claude", "--remove", "--user")
        same = settings.read_text() == SETTINGS
        self.holds("taken out byte for byte, and the plug-in with it", same and not plugin.exists())

    def is_in_the_marketplace(self) -> None:
        """`claude plugin install` finds it in the repository."""
        around = home(self.folder / "market")
        Path(around["HOME"]).mkdir()
        for command in (["marketplace", "add", str(ROOT)], ["install", "midfold@midfold"], ["list"]):
            command = [*self.program, "plugin", *command]
            done = subprocess.run(command, env=around, capture_output=True, text=True)
        listed = "midfold@midfold" in done.stdout and "enabled" in done.stdout
        self.holds("the marketplace of this repository has it", listed)

    def works_and_goes_on(self) -> str:
        """Automatic compaction in a task, one by hand, a picture, and a resumed session."""
        with self.model("task") as (upstream, keeper):
            with self.talk(keeper, **WINDOW) as talk:
                said = talk.say(TASK.format(STEPS))
                auto = compactions(said)
                took = [one["duration_ms"] for one in auto]
                self.holds(f"it compacts by itself by midfold, in {took} ms", len(auto) >= 5)
                self.holds(f"a receipt for each: {logged(said)[0]}", len(logged(said)) == len(auto))
                picture = {"type": "base64", "media_type": "image/png", "data": IMAGE}
                talk.say([{"type": "text", "text": "Look."}, {"type": "image", "source": picture}])
                before = len(keeper.bodies)
                by_hand = talk.say("/compact the codes of the parts")
                asked = len(keeper.bodies) - before
                self.holds("`/compact WORDS` sends nothing", compactions(by_hand) and not asked)
                talk.say("Go on.")
                here = keeper.bodies[-1]
                self.holds("the picture is in the next request", IMAGE in here)
            with self.talk(keeper, "--resume", talk.session, **WINDOW) as talk:
                talk.say("Are you there?")
                size = (len(here), len(keeper.bodies[-1]))
                self.holds(f"a resumed session is as long: {size} bytes", size[1] < size[0] * 1.2)
                talk.say("/compact")
            totals = servers.stats(upstream)["totals"]
        self.counts(totals)
        self.holds("the task is done with all codes", totals["done"] and not totals["facts_missing"])
        ids = [one["id"] for one in json.loads(self.midfold("session", "list", "--json"))]
        self.holds(f"all of it is one stored session: {ids}", ids == [talk.session])
        return talk.session

    def counts(self, totals: dict) -> None:
        summaries, refused = totals["summaries"], totals["refused"]
        self.holds(f"{summaries} requests for a summary, {refused} refused", not summaries + refused)

    def says_facts(self) -> None:
        """Compactions in a row: what the user said is in each next request."""
        facts: list[str] = []
        with self.model("facts", "--script", "fixed", "--text", "Noted.") as (upstream, keeper):
            with self.talk(keeper) as talk:
                for turn in range(ROUNDS):
                    for part in range(SAID):
                        number = turn * SAID + part
                        facts.append(f"Service s{number} must listen on port {8000 + number * 13}.")
                        talk.say(f"{facts[-1]}\nIts log:\n{NOISE}")
                    compacted = compactions(talk.say("/compact"))
                    took = compacted[0]["duration_ms"] if compacted else None
                    talk.say("Go on.")
                    kept = sum(fact in keeper.bodies[-1] for fact in facts)
                    what = f"compaction {turn + 1}: {kept} of {len(facts)} said facts, {took} ms"
                    self.holds(what, kept == len(facts))
            self.counts(servers.stats(upstream)["totals"])
        told = self.midfold("explain", talk.session, facts[1])
        self.holds("`explain` knows that it is in the recap", "in the recap" in told)

    def recalls(self, session: str) -> None:
        """The tool of the plug-in finds what left, in this conversation."""
        asked = json.dumps({"query": "K3-0ade"})
        script = ("--script", "once", "--tool", RECALL, "--arguments", asked)
        with self.model("recall", *script) as (_, keeper):
            with self.talk(keeper, "--resume", session, ENABLE_TOOL_SEARCH="false") as talk:
                talk.say("Where is K3-0ade?")
            results = [text for text in keeper.bodies if '"tool_result"' in text]
            last = json.loads(results[-1])["messages"] if results else []
            found = [text for text in last if "tool_result" in json.dumps(text)]
            self.holds("recall finds what left", found and "part_3" in json.dumps(found[-1]))

    def fails(self, plugin: Path) -> None:
        """A store that cannot be opened: Claude Code compacts by itself, and says why."""
        module = plugin / "hooks/midfold.js"
        text = module.read_text()
        module.write_text(text.replace("STORE = []", 'STORE = ["--store", "sqlite:/dev/null/no.db"]'))
        with self.model("failing", steps=SAID) as (upstream, keeper):
            with self.talk(keeper) as talk:
                talk.say(TASK.format(SAID))
                said = talk.say("/compact")
            summaries = servers.stats(upstream)["totals"]["summaries"]
        lines = logged(said)
        self.holds(f"a failure is said: {lines}", any("could not fold" in line for line in lines))
        self.holds("and Claude Code's own summary follows", summaries and compactions(said))
        module.write_text(text)
