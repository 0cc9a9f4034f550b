"""Rows of training sets that are too long, made to fit: `midfold trajectories` for Python.

>>> from midfold import trajectories
>>> turns = [{"from": "human", "value": "Fix src/app.py"}]
>>> for n in range(40):
...     turns.append({"from": "gpt", "value": f"Reading part {n} of src/app.py."})
...     turns.append({"from": "tool", "value": "one more line of output " * 20})
>>> row = {"id": 7, "conversations": [*turns, {"from": "gpt", "value": "Done."}]}
>>> [done] = trajectories.compress([row], target_tokens=2_000, summary_tokens=200)
>>> done.status, done.tokens_after <= 2_000, done.row["id"]
('compressed', True, 7)

A `Compressor` does the same for one row at a time, and can be pickled: it is what `datasets.map`,
Spark and Ray are given.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Callable

from ._errors import InputError
from ._midfold import Compressed, Compressor
from .types import Row

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .types import RowOptions

__all__ = ["Compressed", "Compressor", "compress", "compress_file"]

#: Rows that are taken at once, for each thread.
_BATCH = 64

Progress = Callable[[int], object]


def compress(
    rows: Iterable[Row],
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    **settings: Unpack[RowOptions],
) -> Iterator[Compressed]:
    """Makes rows fit, in their order, a batch at a time. Rows are dicts or lines of JSON.

    `settings` are those of `Compressor` (`midfold.types.RowOptions`), `workers` is how many threads
    there are: without it as many as processors. `progress(rows so far)` is called after each batch.
    Nothing is read ahead, so an endless iterator is fine.

    No row raises: see `Compressed.status`. Raises `InputError` or `TokenizerError` for settings
    that cannot be used.
    """
    compressor = Compressor(**settings)
    threads = workers or os.cpu_count() or 1

    def batches() -> Iterator[Compressed]:
        source, done = iter(rows), 0
        while batch := list(islice(source, _BATCH * threads)):
            yield from compressor.rows(batch, workers=threads)
            done += len(batch)
            if progress is not None:
                progress(done)

    return batches()


def compress_file(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    **settings: Unpack[RowOptions],
) -> dict[str, int]:
    """Makes the rows of a JSONL file fit and writes those that can be used to another.

    Rows that cannot be used go to `NAME.rejects.jsonl` beside it. Returns how many rows came to
    what. For runs that resume, metrics and other formats there is the command line.

    Raises what `compress` raises, `InputError` where both are one file, and `OSError` if a file
    cannot be read or written.
    """
    target = Path(target)
    if target.exists() and target.samefile(source):
        text = f"{target} would be read and written at once"
        raise InputError(text, "name another file for the rows")
    rejects = target.with_name(f"{target.stem}.rejects.jsonl")
    counts = {"unchanged": 0, "compressed": 0, "over_limit": 0, "error": 0}
    part = target.with_name(f"{target.name}.part")
    with Path(source).open("rb") as lines, part.open("wb") as out, rejects.open("wb") as bad:
        numbers: list[int] = []

        def rows() -> Iterator[bytes]:
            for number, line in enumerate(lines, 1):
                text = line.rstrip(b"\n")
                text = text.removeprefix(b"\xef\xbb\xbf") if number == 1 else text
                if text.strip():
                    numbers.append(number)
                    yield text

        done = compress(rows(), workers=workers, progress=progress, **settings)
        for at, row in enumerate(done):
            counts[row.status] += 1
            if row.status != "error":
                out.write(row.row + b"\n")
                continue
            record = {
                "code": row.code,
                "file": str(source),
                "line": numbers[at],
                "reason": row.error,
            }
            bad.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode())
            bad.write(b"\n")
    part.replace(target)
    return counts
