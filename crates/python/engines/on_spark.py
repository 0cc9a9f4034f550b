"""PySpark's `mapInArrow` over generated rows: the same texts as the command line's, and how long it
takes beside a function that does nothing.

    on_spark.py ROWS
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"

import common
import pyarrow.parquet as pq
from pyspark.sql import SparkSession


def nothing(batches: Iterator[Any]) -> Iterator[Any]:
    yield from batches


def session(home: Path) -> SparkSession:
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(home),
        "spark.sql.warehouse.dir": str(home / "warehouse"),
        # Parts for both cores even of a small file.
        "spark.sql.files.maxPartitionBytes": "4m",
        "spark.sql.files.openCostInBytes": "1m",
    }
    builder = SparkSession.builder.master("local[2]").appName("midfold")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def main(count: int, home: Path) -> None:
    rows = common.made(count)
    common.write(rows, home / "runs.parquet")
    os.chdir(home)
    names = common.example("engines")
    expected = common.reference(rows, home, names["fit"].options)
    start = time.perf_counter()
    spark = session(home)
    spark.sparkContext.setLogLevel("ERROR")
    print(f"Spark {spark.version}, started in {time.perf_counter() - start:.1f} s")
    try:
        names = common.example("spark", spark=spark, **names)
        counts = common.compare(rows, expected, pq.read_table(home / "train.parquet"))
        print(common.said(rows, counts))
        given, fit, arrow = names["rows"], names["fit"], names["arrow"]
        done = given.mapInArrow(fit, arrow.spark_schema(given.schema))
        idle = given.mapInArrow(nothing, given.schema)
        without = common.best(lambda: idle.write.format("noop").mode("overwrite").save(), rows)
        took = common.best(lambda: done.write.format("noop").mode("overwrite").save(), rows)
        print(common.rate("mapInArrow, nothing done", without, rows))
        print(common.rate("mapInArrow, midfold", took, rows))
    finally:
        spark.stop()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(int(sys.argv[1]), Path(folder))
