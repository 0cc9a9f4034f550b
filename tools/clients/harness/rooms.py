"""How much room a client's task has above its own prompt, and the table of several rooms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .table import cause

if TYPE_CHECKING:
    from .check import Row, Run

BEGIN, END = "<!-- rooms: begin -->", "<!-- rooms: end -->"


@dataclass(frozen=True)
class Room:
    """Tokens above a client's own prompt, and whether midfold is told the limit (`--window`)."""

    tokens: int
    is_told: bool

    @property
    def folder(self) -> str:
        """Where the logs of a run are."""
        if self == USUAL:
            return "midfold"
        return f"midfold-{self.tokens}{'' if self.is_told else '-untold'}"

    def __str__(self) -> str:
        return f"+{self.tokens:,}{'' if self.is_told else ', not told'}"


USUAL = Room(12_000, True)  # about five steps of 2,000 and a client's answers


def cell(run: Run) -> str:
    """How many prompts only append, and what else there was."""
    kept, totals = run.kept(), run.totals
    if not run.finished:
        return f"fails at step {totals['step'] + 1}: {cause(run.line['error'])}"
    said = [f"{sum(kept)} of {len(kept)}"]
    for number, word in (
        (run.adjacent(), "adjacent"),
        (totals["refused"], "refused"),
        (totals["overflows"], "overflows" if totals["overflows"] > 1 else "overflow"),
    ):
        said += [f"{number} {word}"] if number else []
    return ", ".join(said)


def markdown(rows: list[Row]) -> str:
    """A line for each client, a column for each room."""
    all_rooms = list(dict.fromkeys(room for row in rows for room in row.cells))
    head = ["Client", "Dialect", *map(str, all_rooms)]
    lines = ["| " + " | ".join(head) + " |", "|---|---|" + "---|" * len(all_rooms)]
    for row in rows:
        runs = [row.cells.get(room) for room in all_rooms]
        shown = [row.client.title, row.client.dialect, *[cell(run) if run else "-" for run in runs]]
        lines.append("| " + " | ".join(shown) + " |")
    return "\n".join(lines) + "\n"
