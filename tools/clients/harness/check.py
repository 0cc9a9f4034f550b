"""Runs the clients and says how they did."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from . import options, rooms, servers, table
from .launch import launch
from .options import Options
from .places import MissingError, Places
from .registry import Client

ROOT = Path(__file__).resolve().parents[3]
STEPS = 14
WINDOW = 200_000  # what midfold is told where there is no limit
SECONDS = 120  # one run of one client


@dataclass
class Run:
    """One run of one client."""

    line: dict
    stats: dict
    seconds: float
    folds: int = 0
    steps: int = STEPS
    limit: int = 0

    @property
    def finished(self) -> bool:
        done = f"All {self.steps} steps are done."
        return bool(self.line["finished"]) and done in (self.line["answer"] or "")

    @property
    def totals(self) -> dict:
        return self.stats["totals"]

    def turns(self, outcome: str) -> list[dict]:
        requests = self.stats["requests"]
        return [r for r in requests if r["kind"] == "turn" and r["outcome"] == outcome]

    def kept(self) -> list[bool]:
        """Of each answered prompt but the first, whether it begins with all of the one before."""
        turns = self.turns("answered")
        return [t["append_only"] for t in turns if t["append_only"] is not None]

    def adjacent(self) -> int:
        """How often two prompts in a row were rewritten, where one rewriting should have done."""
        return sum(not a and not b for a, b in pairwise(self.kept()))


@dataclass
class Row:
    """A client's runs, as far as they went, and what is wrong with them."""

    client: Client
    limit: int = 0
    free: Run | None = None
    direct: Run | None = None
    through: Run | None = None
    # Through midfold in each room, the first of which is `through`.
    cells: dict[rooms.Room, Run] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)


class Check:
    """Where everything is."""

    def __init__(self, chosen: Options | None = None) -> None:
        self.by_run = chosen is not None and chosen.by_run
        self.rooms = chosen.rooms if chosen else [rooms.USUAL]
        self.result_tokens = chosen.result_tokens if chosen else servers.RESULT_TOKENS
        target = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
        self.home = target / "clients-check"
        self.places = Places(self.home)
        self.midfold = os.environ.get("MIDFOLD") or str(target / "debug/midfold")
        self.upstream = os.environ.get("SCRIPTED_UPSTREAM") or str(
            target / "debug/scripted-upstream"
        )
        self.more = os.environ.get("MIDFOLD_ARGUMENTS", "").split()
        self.steps = STEPS
        self.scripted: tuple[str, ...] = ()  # added to the scripted upstream

    def binaries(self) -> str | None:
        """What is missing of them."""
        for path in (self.midfold, self.upstream):
            if not os.access(path, os.X_OK):
                return f"{path} is not there: run `cargo build --workspace` first"
        return None

    def row(self, client: Client) -> Row:
        """All runs of a client; `MissingError` where it cannot be installed."""
        self.places.command(client)
        if client.vendor:
            return self.vendor_row(client)
        row = Row(client)
        row.free = self.run(client, "free", 0, through=False)
        answered = row.free.turns("answered")
        if not row.free.finished or not answered:
            row.wrong.append(f"does not finish without a limit: {row.free.line['error']}")
            return row
        if answered[0]["dialect"] != client.dialect.split()[0].lower():
            row.wrong.append(f"speaks {answered[0]['dialect']}")
        own = answered[0]["prompt_tokens"]
        row.limit = own + self.rooms[0].tokens
        row.direct = self.run(client, "direct", row.limit, through=False)
        for run in (row.free, row.direct):
            if run.totals["refused"]:
                row.wrong.append(f"is refused without midfold: {run.stats['refused'][0]}")
        if not row.direct.totals["overflows"]:
            # A large room is no limit for this task; a small one has to be.
            if self.rooms[0].tokens <= rooms.USUAL.tokens:
                row.wrong.append("never meets the limit without midfold")
        elif row.direct.finished and not client.recovers:
            row.wrong.append("finishes without midfold")
        elif row.direct.line.get("killed"):
            row.wrong.append("neither finishes nor fails without midfold")
        for room in self.rooms:
            run = self.run(client, room.folder, own + room.tokens, through=True, told=room.is_told)
            row.cells[room] = run
            where = "" if len(self.rooms) == 1 else f" ({room})"
            if not run.finished:
                why = run.line["error"]
                row.wrong.append(f"does not finish through midfold{where}: {why}")
        row.through = row.cells[self.rooms[0]]
        return row

    def vendor_row(self, client: Client) -> Row:
        """The one run of a client that asks for its vendor's compaction."""
        row = Row(client, WINDOW)
        row.through = self.run(client, "midfold", 0, through=True)
        if not row.through.finished:
            row.wrong.append(f"does not finish through midfold: {row.through.line['error']}")
        if row.through.totals["refused"]:
            row.wrong.append(f"is refused: {row.through.stats['refused'][0]}")
        if not row.through.folds:
            row.wrong.append("nothing was folded")
        return row

    def run(
        self, client: Client, name: str, limit: int, through: bool, told: bool = True
    ) -> Run:
        """One run, in an empty folder that stays for whoever wants to look.

        Unless it is `told`, midfold has to find the limit out.
        """
        window = (limit or WINDOW) if told else None
        folder = self.home / "runs" / client.name / name
        shutil.rmtree(folder, ignore_errors=True)
        work = folder / "work"
        work.mkdir(parents=True)
        log = folder / "upstream.log"
        script = (*client.script, *self.scripted)
        scripted = (limit, self.steps, script, log, self.result_tokens)
        with servers.upstream(self.upstream, *scripted) as up:
            if not through:
                line, seconds = self.start(client, up.url, work, folder)
                run = Run(line, servers.stats(up), seconds)
            elif self.by_run:
                line, seconds = self.start(client, up.url, work, folder, self.runner(client, window))
                run = Run(line, servers.stats(up), seconds, folds_told(work, folder))
            else:
                log = folder / "midfold.log"
                with servers.midfold(self.midfold, up, window, self.more, log) as front:
                    line, seconds = self.start(client, front.url, work, folder)
                    metrics = front.get("/metrics")
                    (folder / "metrics").write_text(metrics)
                    folds = servers.counter(metrics, "midfold_folds_total")
                    run = Run(line, servers.stats(up), seconds, folds)
        run.limit, run.steps = limit, self.steps
        (folder / "stats.json").write_text(json.dumps(run.stats, indent=1))
        (folder / "line.json").write_text(json.dumps(run.line, indent=1))
        return run

    def runner(self, client: Client, window: int | None) -> list[str]:
        """`midfold run` in front of a client. Where it is to send to, it finds out as for a user."""
        command = [self.midfold, "run", "--store", "memory", "--json"]
        command += ["--window", str(window)] if window else []
        name = (client.file or client.name).split("_")[0]
        _, program = self.places.command(client)
        # What is started by an interpreter has another name than the client.
        known = ["--client", name] if len(program) > 1 else []
        return [*command, *known, *self.more, "--"]

    def start(
        self, client: Client, url: str, work: Path, folder: Path, before: list[str] | None = None
    ) -> tuple[dict, float]:
        """Runs the script of a client against a server; its line, and how long it took.

        `before` is a command that starts the client, where it is not to be started as it is.
        """
        python, program = self.places.command(client)
        started_by = before or []
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(work),
            "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            "CHECK_BASE_URL": url,
            "CHECK_WORK": str(work),
            "CHECK_PROGRAM": json.dumps([*started_by, *program] if program else []),
            "CHECK_STEPS": str(self.steps),
            "CHECK_DIALECT": client.dialect,
        }
        command = [python]
        if started_by and not program:
            # A library: its own process is what is run, and it takes the address that it finds.
            command = [*started_by, python]
            base = environment.pop("CHECK_BASE_URL")
            environment |= {"OPENAI_BASE_URL": f"{base}/v1", "ANTHROPIC_BASE_URL": base}
        script = ROOT / "tools/clients" / f"{client.file or client.name}.py"
        return launch(client.name, [*command, str(script)], environment, work, folder, SECONDS)


def folds_told(work: Path, folder: Path) -> int:
    """The folds in the line that `midfold run --json` ended with, wherever its output went."""
    files = (work / "output", folder / "client.log")
    for file in files:
        lines = file.read_text(errors="replace").splitlines() if file.exists() else []
        for line in reversed(lines):
            if line.startswith('{"') and '"folds"' in line:
                return json.loads(line)["folds"]
    return 0


def prepare(check: Check, chosen: list[Client]) -> int:
    """Installs these clients, and runs nothing."""
    for client in chosen:
        try:
            check.places.command(client)
        except MissingError as error:
            print(f"skipped: {client.name}: {error}", flush=True)
    return 0


def main(arguments: list[str], usage: str) -> int:
    chosen = options.read(arguments, usage)
    if chosen.lists:
        print("\n".join(client.name for client in chosen.clients))
        return 0
    check = Check(chosen)
    if chosen.prepares:
        return prepare(check, chosen.clients)
    gone = check.binaries()
    if gone:
        print(gone)
        return 1
    rows: list[Row] = []
    skipped = 0
    for client in chosen.clients:
        try:
            row = check.row(client)
        except MissingError as error:
            print(f"skipped: {client.name}: {error}", flush=True)
            skipped += 1
            continue
        except servers.StartError as error:
            print(error)
            return 1
        rows.append(row)
        print(table.progress(row), flush=True)
    bad = sum(bool(row.wrong) for row in rows)
    show([row for row in rows if not row.client.vendor], chosen)
    print(f"{len(rows) - bad} passed, {bad} failed, {skipped} skipped")
    return 1 if bad else 0


def show(rows: list[Row], chosen: Options) -> None:
    """Prints the table, and with `--write` puts it into the page: that of rooms where several were tried."""
    if not rows:
        return
    text = table.markdown(rows) if len(chosen.rooms) == 1 else rooms.markdown(rows)
    print(f"\n{text}")
    if chosen.writes:
        marks = () if len(chosen.rooms) == 1 else (rooms.BEGIN, rooms.END)
        table.update(ROOT / "tools/clients/README.md", text, *marks)
