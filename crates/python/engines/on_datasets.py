"""Hugging Face's `datasets.map` over generated rows: the same texts as the command line's, and how
long it takes beside a function that does nothing.

    on_datasets.py ROWS
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import common
import pyarrow.parquet as pq

WORKERS = 2


def nothing(table: Any) -> Any:
    return table


def main(count: int, home: Path) -> None:
    os.environ |= {"HF_HOME": str(home / "hf"), "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
    import datasets

    datasets.disable_progress_bars()
    rows = common.made(count)
    common.write(rows, home / "runs.parquet")
    os.chdir(home)
    names = common.example("engines")
    expected = common.reference(rows, home, names["fit"].options)
    names = common.example("datasets", **names)
    counts = common.compare(rows, expected, pq.read_table(home / "train.parquet"))
    given, fit = names["rows"], names["fit"]

    def mapped(function: Any) -> Any:
        return given.map(
            function, batched=True, batch_size=250, num_proc=WORKERS, load_from_cache_file=False
        )

    print(f"datasets {datasets.__version__}, {WORKERS} processes")
    print(common.said(rows, counts))
    without = common.best(lambda: mapped(nothing), rows)
    took = common.best(lambda: mapped(fit), rows)
    print(common.rate("datasets.map, nothing done", without, rows))
    print(common.rate("datasets.map, midfold", took, rows))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(int(sys.argv[1]), Path(folder))
