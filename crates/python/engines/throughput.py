"""What `compress_batch` does in a second of one core's time, with pyarrow and no engine around it.

throughput.py ROWS
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import common
import pyarrow as pa
from midfold import arrow

BATCH = 250


def measured(name: str, column: pa.Array, size: int, **options: Any) -> None:
    """CPU seconds of the fastest of three rounds over batches of `column`."""
    table = pa.table({"conversations": column})
    batches = table.to_batches(max_chunksize=BATCH)
    took = []
    for _ in range(3):
        counts: dict[str, int] = {}
        start = time.process_time()
        done = [pa.record_batch(arrow.compress_batch(batch, **options)) for batch in batches]
        took.append(time.process_time() - start)
        for batch in done:
            for status in batch.column("status").to_pylist():
                counts[status] = counts.get(status, 0) + 1
    seconds = min(took)
    said = ", ".join(f"{number} {status}" for status, number in sorted(counts.items()))
    print(
        f"{name:<36}{len(column) / seconds:8,.0f} rows/CPU-s {size / seconds / 1e6:6,.0f} MB/CPU-s"
        f"  {said}"
    )


def main(count: int) -> None:
    rows = [json.loads(line) for line in common.made(count) if line.endswith("}")]
    turns = [row["conversations"] for row in rows]
    texts = [json.dumps(row, ensure_ascii=False) for row in turns]
    size = sum(len(text.encode()) for text in texts)
    print(f"{len(rows)} rows, {size / len(rows) / 1e3:.1f} KB each, batches of {BATCH}")
    text, nested = pa.array(texts), pa.array(turns)
    for name, column in [("text", text), ("text, view", text.cast(pa.string_view())),
                         ("structs", nested)]:  # fmt: skip
        measured(f"{name}, nothing cut", column, size, target_tokens=10_000_000)
        measured(f"{name}, most cut, 4 chars a token", column, size, tokenizer="chars:4",
                 target_tokens=4_000, summary_tokens=400)  # fmt: skip
        measured(f"{name}, most cut, o200k", column, size, target_tokens=4_000,
                 summary_tokens=400)  # fmt: skip


if __name__ == "__main__":
    main(int(sys.argv[1]))
