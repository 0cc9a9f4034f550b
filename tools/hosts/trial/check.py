"""Runs the hosts and says how they did."""

from __future__ import annotations

import json
import os
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

from harness import servers
from harness import table as client_table
from harness.launch import launch
from harness.places import MissingError, Places

from . import table, tests
from .package import PackageError, python_package
from .registry import BARE, HOSTS, MIDFOLD, OWN, PLACES, Host

ROOT = Path(__file__).resolve().parents[3]
# A script may have the name of the package that it imports: its folder is not on the path.
START = "import runpy, sys; runpy.run_path(sys.argv[1], run_name='__main__')"


@dataclass
class Run:
    """One run of one host."""

    line: dict
    stats: dict
    seconds: float
    steps: int

    @property
    def finished(self) -> bool:
        """Whether the host ended with the model's last answer."""
        done = f"All {self.steps} steps are done."
        return bool(self.line["finished"]) and done in (self.line["answer"] or "")

    @property
    def totals(self) -> dict:
        return self.stats["totals"]

    @property
    def folds(self) -> list[float]:
        """The milliseconds that each fold took, as the script told them."""
        return list(self.line.get("fold_ms") or [])

    def turns(self) -> list[dict]:
        """The requests of the task that were answered."""
        requests = self.stats["requests"]
        return [r for r in requests if r["kind"] == "turn" and r["outcome"] == "answered"]


@dataclass
class Row:
    """A host's runs, as far as they went, and what is wrong with them."""

    host: Host
    limit: int = 0
    runs: dict[str, Run] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)


class Check:
    """Where everything is."""

    def __init__(self) -> None:
        target = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
        self.home = target / "hosts-check"
        # Packages are shared with tools/clients-check: they are large.
        self.places = Places(target / "clients-check", PLACES)
        self.upstream = os.environ.get("SCRIPTED_UPSTREAM") or str(
            target / "debug/scripted-upstream"
        )
        if not os.access(self.upstream, os.X_OK):
            raise PackageError(
                f"{self.upstream} is not there: run `cargo build -p midfold-testkit`,"
                " or name the program in SCRIPTED_UPSTREAM"
            )
        self.package = python_package(ROOT, target, self.home)

    def row(self, host: Host) -> Row:
        """All runs of a host; `MissingError` where it cannot be installed."""
        row = Row(host, host.limit)
        if not row.limit:
            free = self.run(host, "free", BARE, 0)
            if not free.finished or not free.turns():
                row.wrong.append(f"does not finish without a limit: {free.line['error']}")
                return row
            row.limit = free.turns()[0]["prompt_tokens"] + host.room
        for mode in host.modes:
            row.runs[mode] = self.run(host, mode, mode, row.limit)
        row.wrong = wrong(row)
        return row

    def run(self, host: Host, name: str, mode: str, limit: int) -> Run:
        """One run, in an empty folder that stays for whoever wants to look."""
        folder = self.home / "runs" / host.name / name
        shutil.rmtree(folder, ignore_errors=True)
        work = folder / "work"
        work.mkdir(parents=True)
        log = folder / "upstream.log"
        command = self.command(host)
        with servers.upstream(
            self.upstream, limit, host.steps, host.upstream, log, host.result_tokens
        ) as up:
            environment = self.environment(host, mode, limit, up.url, work)
            line, seconds = launch(host.name, command, environment, work, folder, host.seconds)
            run = Run(line, servers.stats(up), seconds, host.steps)
        (folder / "stats.json").write_text(json.dumps(run.stats, indent=1))
        (folder / "line.json").write_text(json.dumps(run.line, indent=1))
        return run

    def tests(self, host: Host) -> tuple[int, int, int]:
        """How many tests of the adapter passed, failed and were skipped with this host."""
        chosen = tests.files(ROOT, host.name)
        if host.file.endswith(".mjs") or not chosen:
            return 0, 0, 0
        python = str(self.places.get(host.place) / "bin/python")
        log = self.home / "runs" / host.name / "tests.log"
        counts = tests.run(python, chosen, self.package, self.upstream, self.home, log)
        print(f"     tests of {host.name}: {counts[0]} passed, {counts[1]} failed", flush=True)
        if counts[1]:
            print(log.read_text(errors="replace"), flush=True)
        return counts

    def command(self, host: Host) -> list[str]:
        """What runs the script of a host."""
        script = str(ROOT / "tools/hosts" / host.file)
        place, folder = PLACES[host.place], self.places.get(host.place)
        if script.endswith(".mjs"):
            return [self.places.node(place), script]
        if place.kind == "npm":
            # A program of Node, which the script starts.
            return [sys.executable, "-c", START, script]
        return [str(folder / "bin/python"), "-c", START, script]

    def environment(
        self, host: Host, mode: str, limit: int, url: str, work: Path
    ) -> dict[str, str]:
        """What a script is told: see tools/hosts/shared/host.py."""
        path = [str(ROOT / "tools/clients"), str(ROOT / "tools/hosts/shared")]
        if mode == MIDFOLD:
            path.append(str(self.package))
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(work),
            "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join(path),
            "CHECK_BASE_URL": url,
            "CHECK_WORK": str(work),
            "CHECK_STEPS": str(host.steps),
            "CHECK_MODE": mode,
            "CHECK_LIMIT": str(limit),
            "CHECK_PLACE": str(self.places.get(host.place)),
        }
        if PLACES[host.place].kind == "npm":
            environment["CHECK_NODE"] = self.places.node(PLACES[host.place])
        node = os.environ.get("MIDFOLD_NODE_PACKAGE", str(ROOT / "node"))
        return environment | ({"CHECK_ADAPTER": node} if mode == MIDFOLD else {})


def wrong(row: Row) -> list[str]:
    """What should not be, of all runs of a host."""
    said = []
    bare, own, ours = (row.runs.get(mode) for mode in (BARE, OWN, MIDFOLD))
    if bare and not bare.totals["overflows"]:
        said.append("never meets the limit without compaction")
    if bare and bare.finished:
        said.append("finishes without compaction")
    if own and not own.turns():
        said.append(f"does nothing with its own compaction: {own.line['error']}")
    if ours is None:
        return said
    if not ours.finished:
        said.append(f"does not finish with midfold: {ours.line['error']}")
    if ours.totals["refused"]:
        said.append(f"is refused with midfold: {ours.stats['refused'][0]}")
    if not ours.folds:
        said.append("nothing was folded")
    if ours.totals["facts_missing"]:
        said.append(f"{ours.totals['facts_missing']} facts are not found again with midfold")
    return said


def main(arguments: list[str], usage: str) -> int:
    """Runs what the arguments name; the exit code."""
    flags = {a for a in arguments if a.startswith("-")}
    names = [a.replace("-", "_") for a in arguments if not a.startswith("-")]
    known = {host.name: host for host in HOSTS}
    unknown = [a for a in names if a not in known]
    if flags - {"--all", "--write", "--list"} or unknown:
        print(f"unknown: {', '.join([*sorted(flags), *unknown])}\n\n{usage}")
        return 2
    chosen = [known[name] for name in names] or [
        host for host in HOSTS if host.normal or "--all" in flags
    ]
    if "--list" in flags:
        print("\n".join(host.name for host in chosen))
        return 0
    try:
        check = Check()
    except PackageError as error:
        print(error)
        return 1
    rows: list[Row] = []
    passed = failed = skipped = 0
    for host in chosen:
        try:
            row = check.row(host) if host.modes else None
            counts = check.tests(host)
        except MissingError as error:
            print(f"skipped: {host.name}: {error}", flush=True)
            skipped += 1
            continue
        except servers.StartError as error:
            print(error)
            return 1
        passed, failed, skipped = passed + counts[0], failed + counts[1], skipped + counts[2]
        if row is not None:
            rows.append(row)
            print(table.progress(row), flush=True)
    if rows:
        text = table.markdown(rows)
        print(f"\n{text}")
        if "--write" in flags:
            client_table.update(
                ROOT / "tools/hosts/README.md", text, table.BEGIN, table.END
            )
    bad = sum(bool(row.wrong) for row in rows)
    passed, failed = passed + len(rows) - bad, failed + bad
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0
