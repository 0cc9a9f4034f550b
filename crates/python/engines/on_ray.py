"""Ray's `map_batches` over generated rows: the same texts as the command line's.

on_ray.py ROWS
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

import common
import pyarrow.parquet as pq
import ray


def main(count: int, home: Path) -> None:
    rows = common.made(count)
    common.write(rows, home / "runs.parquet")
    os.chdir(home)
    names = common.example("engines")
    expected = common.reference(rows, home, names["fit"].options)
    ray.init(num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1")
    try:
        common.example("ray", **names)
        counts = common.compare(rows, expected, pq.read_table(home / "train.parquet"))
        print(f"Ray {ray.__version__}")
        print(common.said(rows, counts))
    finally:
        ray.shutdown()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(int(sys.argv[1]), Path(folder))
