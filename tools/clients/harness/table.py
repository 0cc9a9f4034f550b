"""The table of tools/clients/README.md."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from .registry import CLIENTS, version

if TYPE_CHECKING:
    from .check import Row, Run

BEGIN, END = "<!-- clients: begin -->", "<!-- clients: end -->"
DIALECTS = {client.dialect for client in CLIENTS}
HEAD = (
    "Client",
    "Version",
    "Dialect",
    "Limit",
    "Without midfold",
    "Through midfold",
    "Requests",
    "Folds",
    "Refused",
    "Overflows",
    "Append-only",
    "Cached (no limit)",
    "Facts",
)


def share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}".replace("%", " %") if whole else "-"


def cached(run: Run) -> str:
    """The share of prompt tokens of answered turns that the cache serves."""
    turns = run.turns("answered")
    return share(sum(t["cached_tokens"] for t in turns), sum(t["prompt_tokens"] for t in turns))


def cause(error: str) -> str:
    """The name of an error: its type, or how a program ended."""
    code = re.match(r"RuntimeError: (exit code \d+)", error)
    return code.group(1) if code else error.split(":")[0][:60]


def alone(row: Row) -> str:
    """How a client does without midfold."""
    run = row.direct
    if run is None:
        return "-"
    overflows = run.totals["overflows"]
    if not run.finished and run.totals["step"] >= run.steps:
        return f"does all steps after {overflows} overflows; {cause(run.line['error'])}"
    if run.finished:
        return f"finishes after {overflows} overflows and {run.totals['summaries']} own summaries"
    return f"fails at step {run.totals['step'] + 1}: {cause(run.line['error'])}"


def cells(row: Row) -> list[str]:
    client, run = row.client, row.through
    first = [client.title, version(client), client.dialect, f"{row.limit:,}", alone(row)]
    if run is None:
        return [*first, *["-"] * 8]
    totals = run.totals
    how = (
        "finishes"
        if run.finished
        else f"fails at step {totals['step'] + 1}: {cause(run.line['error'])}"
    )
    kept = run.kept()
    needed = totals["facts_used"] + totals["facts_missing"]
    return [
        *first,
        how,
        str(totals["requests"]),
        str(run.folds),
        str(totals["refused"]),
        str(totals["overflows"]),
        f"{sum(kept)} of {len(kept)}",
        f"{cached(run)} ({cached(row.free)})",
        f"{totals['facts_used']} of {needed}",
    ]


def markdown(rows: list[Row]) -> str:
    lines = ["| " + " | ".join(HEAD) + " |", "|---" * 3 + "|---:" + "|---" * 2 + "|---:" * 7 + "|"]
    lines += ["| " + " | ".join(cells(row)) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def progress(row: Row) -> str:
    """A line while the clients run."""
    through = row.cells.values() or [row.through]
    runs = [run for run in (row.free, row.direct, *through) if run]
    took = " + ".join(f"{run.seconds:.0f}" for run in runs)
    how = "; ".join(row.wrong) or "as it should"
    return f"{row.client.name}: {how} ({took} s)"


def update(path: Path, text: str, begin: str = BEGIN, end: str = END) -> None:
    """Puts the rows into the table between its marks. Those of clients that were not run stay."""
    before = path.read_text().partition(begin)[2].partition(end)[0].strip().splitlines()
    lines = text.splitlines()
    if before[:2] == lines[:2]:
        new = {key(line): line for line in lines[2:]}
        kept = [new.pop(key(line), line) for line in before[2:]]
        text = "\n".join([*lines[:2], *kept, *new.values()]) + "\n"
    write(path, text, begin, end)


def key(line: str) -> tuple[str, ...]:
    """Whose row it is: the client, and its dialect."""
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    return cells[0], *[cell for cell in cells if cell in DIALECTS]


def write(path: Path, text: str, begin: str = BEGIN, end: str = END) -> None:
    """Puts the table between its marks."""
    before, _, rest = path.read_text().partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise SystemExit(
            f"{path}: there are no lines `{begin}` and `{end}` to put the table between"
        )
    path.write_text(f"{before}{begin}\n{text}{end}{after}")
