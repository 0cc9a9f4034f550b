"""Stores a session whose fact was folded, and has published clients find it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import urllib.error
import urllib.request

from . import servers
from .check import ROOT, WINDOW, Check
from .keeper import Keeper
from .places import MissingError
from .registry import CLIENTS

FACT = "K7-0c1e"
WORDS = "locker red barn"
SAID = f"the locker of the red barn opens with {FACT}"
TASK = "Which code opens the locker of the red barn?"
TOOL = "mcp__midfold__recall_find"
TOOLS = 7
SECONDS = 120


class Recall:
    """One run, and what came of it."""

    def __init__(self, check: Check):
        self.check = check
        self.folder = check.home / "runs/mcp"
        self.store = f"sqlite:{self.folder / 'midfold.db'}"
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder)}
        self.passed, self.failed, self.skipped = 0, 0, 0

    def holds(self, what: str, holds: object) -> None:
        """Counts a check, and says how it went."""
        print(f"{'ok  ' if holds else 'FAIL'} {what}", flush=True)
        self.passed += bool(holds)
        self.failed += not holds

    def skips(self, what: str) -> None:
        print(f"skipped: {what}", flush=True)
        self.skipped += 1

    def midfold(self, *arguments: str) -> str:
        command = [self.check.midfold, *arguments, "--store", self.store]
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=SECONDS
        )
        if done.returncode:
            self.holds(f"midfold {' '.join(arguments)}: {done.stderr.strip()}", False)
        return done.stdout

    def prepare(self) -> None:
        """A session with the fact in a tool's result, and folded."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        transcript = self.folder / "barns.jsonl"
        transcript.write_text("\n".join(json.dumps(message) for message in messages()))
        self.midfold("import", str(transcript), "--id", "barns", "--window", "16k")
        self.midfold("session", "compact", "barns")
        context = self.midfold("session", "context", "barns")
        self.holds(f"the fact is folded: {len(context):,} bytes without it", FACT not in context)

    def sdk(self, name: str, server: str, mode: str) -> None:
        """The Python SDK against one server, in one way to begin."""
        python = str(self.check.places.get("mcp") / "bin/python")
        given = {"SERVER": server, "MODE": mode, "FACT": FACT, "WORDS": WORDS}
        environment = self.environment | {f"CHECK_{key}": value for key, value in given.items()}
        done = subprocess.run(
            [python, str(ROOT / "tools/clients/mcp_sdk.py")],
            env=environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        (self.folder / f"sdk-{name}-{mode}.log").write_text(done.stdout + done.stderr)
        saw = json.loads(done.stdout) if done.returncode == 0 else {}
        way = f"Python SDK, {name}, {mode}"
        if not saw:
            why = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            self.holds(f"{way}: {why}", False)
            return
        tools = saw["tools"]
        self.holds(f"{way}: {len(tools)} tools", len(tools) == TOOLS)
        self.holds(f"{way}: found by grep, read by expand", saw["found"] and saw["read"])
        self.holds(f"{way}: explain says {saw['explained']}", saw["explained"] == "gone")
        self.holds(f"{way}: an unknown session is an error of the tool", saw["refused"])
        quoted = saw["recap"].startswith("Quoted history") and not saw["recap_has_it"]
        self.holds(f"{way}: the recap is a resource, without the fact", quoted)

    def over_http(self) -> None:
        """The SDK against `midfold serve`, where that answers at /mcp."""
        log = self.folder / "upstream.log"
        with servers.upstream(self.check.upstream, 0, 1, (), log) as upstream:
            log = self.folder / "serve.log"
            with servers.midfold(
                self.check.midfold, upstream, WINDOW, [], log, self.store
            ) as front:
                url = f"{front.url}/mcp"
                if not answers(url):
                    self.skips("Python SDK over HTTP: this `midfold serve` does not answer at /mcp")
                    return
                for mode in ("auto", "legacy"):
                    self.sdk("HTTP", url, mode)

    def claude(self) -> None:
        """Claude Code, which gets the server by --mcp-config; its model asks once."""
        client = next(client for client in CLIENTS if client.name == "claude")
        _, program = self.check.places.command(client)
        project = self.folder / "project"
        project.mkdir()
        server = {
            "command": self.check.midfold,
            "args": ["mcp", "--store", self.store, "--session", "barns"],
            # Its first request waits for the server, however slow the machine is.
            "alwaysLoad": True,
        }
        config = self.folder / "mcp.json"
        config.write_text(json.dumps({"mcpServers": {"midfold": server}}))
        script = ("--script", "once", "--tool", TOOL)
        script += ("--arguments", json.dumps({"query": WORDS}))
        log = self.folder / "claude-upstream.log"
        with (
            servers.upstream(self.check.upstream, 0, 1, script, log) as upstream,
            Keeper(upstream.url) as keeper,
        ):
            environment = self.environment | {
                "ANTHROPIC_BASE_URL": keeper.url,
                "ANTHROPIC_AUTH_TOKEN": "not-a-key",
                "ANTHROPIC_MODEL": "scripted-model",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "IS_SANDBOX": "1",
                "MCP_CONNECT_TIMEOUT_MS": "60000",
                "TERM": "dumb",
            }
            command = [*program, "-p", TASK, "--mcp-config", str(config), "--strict-mcp-config"]
            command += ["--allowedTools", TOOL]
            done = subprocess.run(
                command,
                cwd=project,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=SECONDS,
            )
        (self.folder / "claude.log").write_text(done.stdout + done.stderr)
        (self.folder / "claude-requests.json").write_text(json.dumps(keeper.bodies, indent=1))
        answer = done.stdout.strip().splitlines()[-1:] or [done.stderr.strip()[-300:]]
        self.holds(f"Claude Code finishes: {answer[0]}", "has answered" in answer[0])
        turns = [body for body in keeper.bodies if '"tools"' in body and TASK in body]
        offers = [body for body in turns if f'"{TOOL}"' in body]
        self.holds(f"its first request offers {TOOL}", turns and turns[0] in offers)
        self.holds("the fact is not in its first request", turns and FACT not in turns[0])
        later = [body for body in turns[1:] if FACT in body]
        quoted = bool(later) and "Quoted history of this session" in later[0]
        self.holds(f"the fact is in a later one, quoted ({len(turns)} requests)", quoted)


def messages() -> list[dict]:
    """A conversation over many lists, one of which has the fact."""
    said: list[dict] = [{"role": "user", "content": "Read the 60 lists of the barns, one by one."}]
    for at in range(60):
        rows = [f"row {row} of list {at}: {row * 31 + at} units checked" for row in range(30)]
        if at == 4:
            rows.insert(15, SAID)
        arguments = json.dumps({"command": f"./list {at}"})
        function = {"name": "Bash", "arguments": arguments}
        call = {"id": f"c{at}", "type": "function", "function": function}
        said.append({"role": "assistant", "content": None, "tool_calls": [call]})
        said.append({"role": "tool", "tool_call_id": f"c{at}", "content": "\n".join(rows)})
    return [*said, {"role": "assistant", "content": "All lists are read."}]


def answers(url: str) -> bool:
    """Whether a server of ours answers there."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}}
    hello["clientInfo"] = {"name": "check", "version": "1"}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
    kinds = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    request = urllib.request.Request(url, data=body.encode(), headers=kinds)
    try:
        with urllib.request.urlopen(request, timeout=30) as reply:
            return '"name":"midfold"' in reply.read().decode()
    except urllib.error.HTTPError:
        return False


def main(arguments: list[str], usage: str) -> int:
    if set(arguments) - {"--all"}:
        print(f"unknown: {' '.join(arguments)}\n\n{usage}")
        return 2
    check = Check()
    gone = check.binaries()
    if gone:
        print(gone)
        return 1
    recall = Recall(check)
    recall.prepare()
    command = [check.midfold, "mcp", "--store", recall.store]
    try:
        for mode in ("auto", "legacy"):
            recall.sdk("stdio", json.dumps(command), mode)
        recall.over_http()
    except MissingError as error:
        recall.skips(f"Python SDK: {error}")
    except servers.StartError as error:
        print(error)
        return 1
    if "--all" in arguments:
        try:
            recall.claude()
        except MissingError as error:
            recall.skips(f"Claude Code: {error}")
    print(f"{recall.passed} passed, {recall.failed} failed, {recall.skipped} skipped")
    return 1 if recall.failed else 0
