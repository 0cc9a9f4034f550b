"""The table of tools/hosts/README.md."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from harness.table import cause

from .registry import BARE, MIDFOLD, OWN, version

if TYPE_CHECKING:
    from .check import Row, Run

BEGIN, END = "<!-- hosts: begin -->", "<!-- hosts: end -->"
HEAD = (
    "Host",
    "Version",
    "Limit",
    "Steps",
    "Folds",
    "Refused",
    "Overflows",
    "Append-only",
    "Facts",
    "ms a fold (most)",
    "Its own compaction",
    "Steps",
    "Summary calls",
    "Overflows",
    "Append-only",
    "Facts",
    "Without any",
)


def steps(run: Run) -> str:
    """How many steps of the task were done."""
    return f"{run.totals['step']} of {run.steps}"


def append_only(run: Run) -> str:
    """How many prompts began with the one before, of how many."""
    kept = [t["append_only"] for t in run.turns() if t["append_only"] is not None]
    return f"{sum(kept)} of {len(kept)}"


def facts(run: Run) -> str:
    """How many facts the model found again, of those that it needed."""
    used = run.totals["facts_used"]
    return f"{used} of {used + run.totals['facts_missing']}"


def outcome(run: Run | None) -> str:
    """How a run ended."""
    if run is None:
        return "-"
    if run.finished:
        return "finishes"
    return f"gives up: {run.line.get('reason') or cause(run.line['error'] or 'no answer')}"


def took(run: Run) -> str:
    """What a fold took: the middle one, and the slowest."""
    return f"{median(run.folds):.0f} ({max(run.folds):.0f})" if run.folds else "-"


def cells(row: Row) -> list[str]:
    """A line of the table."""
    bare, own, ours = (row.runs.get(mode) for mode in (BARE, OWN, MIDFOLD))
    out = [row.host.title, version(row.host), f"{row.limit:,}"]
    if ours is None:
        out += ["-"] * 7
    else:
        totals = ours.totals
        out += [steps(ours), str(len(ours.folds)), str(totals["refused"])]
        out += [str(totals["overflows"]), append_only(ours), facts(ours), took(ours)]
    if own is None:
        out += ["none", *["-"] * 5]
    else:
        totals = own.totals
        out += [outcome(own), steps(own), str(totals["summaries"]), str(totals["overflows"])]
        out += [append_only(own), facts(own)]
    return [*out, "-" if bare is None else f"{outcome(bare)}, {steps(bare)}"]


def markdown(rows: list[Row]) -> str:
    """The table of these hosts."""
    rule = ["---"] * 2 + ["---:"] * 8 + ["---"] + ["---:"] * 5 + ["---"]
    lines = ["| " + " | ".join(HEAD) + " |", "|" + "|".join(rule) + "|"]
    lines += ["| " + " | ".join(cells(row)) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def progress(row: Row) -> str:
    """A line while the hosts run."""
    times = " + ".join(f"{run.seconds:.0f}" for run in row.runs.values())
    return f"{row.host.name}: {'; '.join(row.wrong) or 'as it should'} ({times} s)"
