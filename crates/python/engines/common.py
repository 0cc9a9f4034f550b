"""What the checks on other people's engines share: rows, what the command line makes of them, and
how what an engine made is held against that.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Callable

import pyarrow as pa
import pyarrow.parquet as pq

#: One row in so many cannot be used.
BAD = 101
PAGE = Path(__file__).resolve().parents[3] / "docs" / "ROWS.md"


def example(name: str, **names: Any) -> dict[str, Any]:
    """Runs an example of docs/ROWS.md in this folder. What it defined."""
    fences = PAGE.read_text(encoding="utf-8").split("```python ")[1:]
    [code] = [fence for fence in fences if fence.startswith(f"{name}\n")]
    exec(code.split("\n", 1)[1].split("```")[0], names)
    return names


def made(count: int, seed: int = 5) -> list[str]:
    """Trajectories of an agent that reads files: whole rows as JSON."""
    rng = random.Random(seed)
    words = ["ledger", "refund", "settle", "invoice", "batch", "retry", "cursor", "größer"]
    pool = [
        f"    {rng.choice(words)}_{n} = {rng.choice(words)}.{rng.choice(words)}({n * 37 % 9999})\n"
        for n in range(4_000)
    ]
    rows = []
    for number in range(count):
        if number % BAD == BAD - 1:
            rows.append(f'{{"id": {number}, "conversations": [')
            continue
        turns = [
            {"from": "system", "value": "You can use tools."},
            {"from": "human", "value": f"LED-{number}: fix src/part_{number % 91}.py."},
        ]
        size, wanted = 0, rng.randrange(9_000, 38_000)
        while size < wanted:
            path = f"src/{rng.choice(words)}_{rng.randrange(400)}.py"
            call = json.dumps({"name": "read_file", "arguments": {"path": path}})
            text = f"Let me look at {path}.\n<tool_call>\n{call}\n</tool_call>"
            lines = "".join(rng.choices(pool, k=rng.randrange(5, 60)))
            turns.append({"from": "gpt", "value": text})
            turns.append({"from": "tool", "value": f"<tool_response>\n{lines}</tool_response>"})
            size += len(text) + len(lines)
        turns.append({"from": "gpt", "value": "The batch was retried without its key; fixed."})
        row = {"id": number, "conversations": turns, "reward": 0.5}
        rows.append(json.dumps(row, ensure_ascii=False))
    return rows


def write(rows: Sequence[str], path: Path) -> None:
    """A Parquet file of them, in several row groups."""
    table = pa.table({"id": pa.array(range(len(rows)), pa.int64()), "line": pa.array(rows)})
    pq.write_table(table, path, row_group_size=500, compression="zstd")


def reference(rows: Sequence[str], home: Path, settings: dict[str, Any]) -> list[str]:
    """What `midfold trajectories` writes for the rows that can be used."""
    (home / "in.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    command = [os.environ["MIDFOLD_CLI"], "trajectories", home / "in.jsonl"]
    command += ["-o", home / "out.jsonl"]
    for name, value in settings.items():
        if value:
            command += [f"--{name.replace('_', '-')}", str(value)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return (home / "out.jsonl").read_text(encoding="utf-8").splitlines()


def compare(rows: Sequence[str], expected: Sequence[str], table: Any) -> dict[str, int]:
    """Every row is there once; texts are those of the command line. How many came to what."""
    table = table.sort_by("id")
    assert table["id"].to_pylist() == list(range(len(rows))), "rows were lost or doubled"
    counts = {"skipped": 0, "compressed": 0, "over_limit": 0, "error": 0}
    texts, states = table["line"].to_pylist(), table["status"].to_pylist()
    rest = iter(expected)
    for number, (text, status) in enumerate(zip(texts, states)):
        counts[status] += 1
        wanted = rows[number] if status == "error" else next(rest)
        assert text == wanted, f"row {number} ({status}) is not what the command line wrote"
    assert next(rest, None) is None, "the command line wrote more rows"
    assert counts["error"] == len(rows) // BAD, counts
    assert counts["compressed"] > counts["skipped"] > 0, counts
    return counts


def best(run: Callable[[], object], rows: Sequence[str]) -> float:
    """Seconds of the fastest of three runs; of one, where it takes long."""
    took = []
    for _ in range(3 if len(rows) <= 5_000 else 1):
        start = time.perf_counter()
        run()
        took.append(time.perf_counter() - start)
    return min(took)


def said(rows: Sequence[str], counts: dict[str, int]) -> str:
    became = ", ".join(f"{number} {status}" for status, number in counts.items())
    return f"{len(rows)} rows as the command line wrote them: {became}"


def rate(name: str, seconds: float, rows: Sequence[str]) -> str:
    megabytes = sum(map(len, rows)) / 1e6
    return (
        f"{name:<28} {seconds:6.2f} s {len(rows) / seconds:8,.0f} rows/s "
        f"{megabytes / seconds:6.1f} MB/s"
    )
