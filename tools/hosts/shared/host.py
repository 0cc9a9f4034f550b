"""What the hosts of tools/hosts-check share, beside what tools/clients/common.py has.

A script reads `MODE` (`bare`: no compaction, and no limit is known; `own`: the host's own
compaction, which is told `LIMIT` as the model's window; `midfold`: our adapter, told the same),
runs its host once on `TASK` against `BASE`, and prints one line of JSON:

    from common import BASE, KEY, MODEL, TASK, shell
    from host import LIMIT, MODE, run, timed

    def agent():
        ...                                     # returns the last answer
    run("name", agent)

The call of the adapter that may fold is wrapped by `timed`, so that the line has `fold_ms`, the
milliseconds of each fold. `tell` puts more into the line: `reason` is why the host gives up, in
a few words, for the table.

A host that is a program of Node is started with `CHECK_NODE`; shared/measure.cjs measures in its
process, and `fold_times` reads that.

A script for Node does the same with the variables `CHECK_MODE`, `CHECK_LIMIT`, `CHECK_BASE_URL`,
`CHECK_STEPS`, `CHECK_WORK`, `CHECK_PLACE` (the folder above `node_modules`) and `CHECK_ADAPTER`
(the folder of our package), and prints `{"client", "finished", "answer", "error", "fold_ms"}`.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import common

MODE = os.environ["CHECK_MODE"]
LIMIT = int(os.environ["CHECK_LIMIT"])
WINDOW = LIMIT or 200_000  # what a host is told that has to be told something
PLACE = os.environ["CHECK_PLACE"]
_told: dict[str, Any] = {}


def tell(**facts: Any) -> None:
    """Puts facts into the line of the result."""
    _told.update(facts)


def timed(call: Callable[..., Any], folded: Callable[[Any], bool]) -> Callable[..., Any]:
    """The same function, measured: each call whose result `folded` says yes to is a fold."""
    spent = _told.setdefault("fold_ms", [])

    @functools.wraps(call)
    def measured(*args: Any, **more: Any) -> Any:
        started = time.perf_counter()
        result = call(*args, **more)
        took = (time.perf_counter() - started) * 1_000
        if folded(result):
            spent.append(round(took, 1))
        return result

    return measured


def fold_times(file: str) -> None:
    """Takes the milliseconds of folds from the file that measure.cjs wrote, if it did."""
    path = Path(file)
    spent = path.read_text().split() if path.exists() else []
    tell(fold_ms=[float(number) for number in spent])


def run(name: str, agent: Callable[[], object]) -> None:
    """Runs `agent` and prints how it went."""
    common.run(name, agent, _told)
