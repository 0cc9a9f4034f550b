"""Batches of training rows in Arrow's columns: for engines that have their own scheduler.

Any object with the Arrow PyCapsule interface goes in (pyarrow, polars, duckdb, nanoarrow, …), and
what comes out has that interface too. pyarrow is needed by `Mapper` alone.

>>> import pyarrow as pa
>>> from midfold import arrow
>>> turns = '[{"from": "human", "value": "Fix src/app.py"}, {"from": "gpt", "value": "Done."}]'
>>> batch = pa.record_batch({"id": [1, 2], "conversations": [turns, "[no JSON"]})
>>> done = pa.record_batch(arrow.compress_batch(batch, target_tokens=2_000))
>>> done.column("status").to_pylist(), done.column("conversations").equals(batch[1])
(['skipped', 'error'], True)

The rows are in the column that `column` names, else `conversations`, `messages`, or a text column
`line`, `row`, `json` or `text` with whole rows: lists of turns as JSON or as structs, or rows as
JSON. All other columns are the same buffers, and four are added (`COLUMNS`; with `prefix` before
their names). A row that cannot be used never fails its batch: its `status` is `error`, it passes
as it was, and `fold` says why.

Settings are those of `midfold.trajectories.Compressor`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Callable

from ._errors import InputError
from ._midfold import BatchCompressor, Compressor, RecordBatch, RecordBatchStream, Schema

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .types import ArrowArray, ArrowSchema, ArrowStream, RowOptions

__all__ = [
    "COLUMNS",
    "BatchCompressor",
    "Mapper",
    "RecordBatch",
    "RecordBatchStream",
    "Schema",
    "compress_batch",
    "compress_stream",
    "mapper",
    "output_schema",
    "spark_schema",
]

#: The columns that are added, in order: text, two 64-bit integers, and JSON as text.
COLUMNS = ("status", "tokens_before", "tokens_after", "fold")


def compress_batch(
    batch: ArrowArray,
    *,
    column: str | None = None,
    prefix: str = "",
    **settings: Unpack[RowOptions],
) -> RecordBatch:
    """Makes the rows of a batch fit: the same rows in the same order, with `COLUMNS` behind.

    `batch` has `__arrow_c_array__`, and so has what is returned: `pyarrow.record_batch(done)`.
    One thread, without the interpreter's lock. The same settings are read once.

    Raises `InputError` if there is no column of rows, or a column of `COLUMNS` already, and
    `TokenizerError`; so do all of these.
    """
    return _made(column, prefix, settings).batch(batch)


def compress_stream(
    stream: ArrowStream,
    *,
    column: str | None = None,
    prefix: str = "",
    **settings: Unpack[RowOptions],
) -> RecordBatchStream:
    """Makes the rows of a table, a reader or a data frame fit, a batch at a time.

    `stream` has `__arrow_c_stream__`, and so has what is returned, to be taken once:
    `pyarrow.table(done)`; or go over its batches. Each is made when it is asked for.

    >>> import pyarrow as pa
    >>> from midfold import arrow
    >>> table = pa.table({"messages": ['[{"role": "user", "content": "hi"}]'] * 3})
    >>> pa.table(arrow.compress_stream(table))["status"].to_pylist()
    ['skipped', 'skipped', 'skipped']
    """
    return _made(column, prefix, settings).stream(stream)


def output_schema(
    schema: ArrowSchema,
    *,
    column: str | None = None,
    prefix: str = "",
    **settings: Unpack[RowOptions],
) -> Schema:
    """The schema of what comes of batches with `schema`, without a batch.

    Both have `__arrow_c_schema__`: `pyarrow.schema(made)`. Takes what `mapper` takes.

    >>> import pyarrow as pa
    >>> from midfold import arrow
    >>> arrow.output_schema(pa.schema({"id": pa.int64(), "messages": pa.string()})).names
    ['id', 'messages', 'status', 'tokens_before', 'tokens_after', 'fold']
    """
    return _made(column, prefix, settings).schema(schema)


def spark_schema(
    schema: Any, *, column: str | None = None, prefix: str = "", **settings: Unpack[RowOptions]
) -> Any:
    """The same for a `StructType` of Spark's: the second argument of `mapInArrow`."""
    _made(column, prefix, settings)
    types = import_module("pyspark.sql.types")
    if column is not None and column not in schema.names:
        raise InputError(f"there is no column `{column}`")
    kinds = [types.StringType(), types.LongType(), types.LongType(), types.StringType()]
    added = [types.StructField(f"{prefix}{name}", kind) for name, kind in zip(COLUMNS, kinds)]
    for field in added:
        if field.name in schema.names:
            raise InputError(f"there is a column `{field.name}` already", "set a prefix")
    return types.StructType([*schema.fields, *added])


class Mapper:
    """Makes pyarrow's batches fit: of a batch comes a batch, of a table a table.

    Of anything else, which has to be an iterator of batches, comes an iterator of batches: what
    Spark's `mapInArrow` calls. `datasets.map` and Ray's `map_batches` give it tables. Can be
    pickled.

    >>> import pyarrow as pa
    >>> from midfold import arrow
    >>> batch = pa.record_batch({"messages": ['[{"role": "user", "content": "hi"}]']})
    >>> fit = arrow.mapper(target_tokens=2_000, prefix="fit_")
    >>> [done] = fit(iter([batch]))
    >>> done.column("fit_status").to_pylist(), fit(batch).equals(done)
    (['skipped'], True)
    """

    def __init__(
        self, *, column: str | None = None, prefix: str = "", **settings: Unpack[RowOptions]
    ) -> None:
        options = {"column": column, "prefix": prefix, **settings}
        self.options: dict[str, Any] = dict(sorted(options.items()))
        self._batches = _made(column, prefix, settings)

    def __call__(self, given: Any) -> Any:
        arrow = import_module("pyarrow")
        if isinstance(given, arrow.RecordBatch):
            return arrow.record_batch(self._batches.batch(given))
        if isinstance(given, arrow.Table):
            return arrow.table(self._batches.stream(given))
        return self._each(given, arrow.record_batch)

    def _each(self, batches: Iterable[Any], made: Any) -> Iterator[Any]:
        for batch in batches:
            yield made(self._batches.batch(batch))

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (tuple(self.options.items()),)

    def __repr__(self) -> str:
        said = (f"{name}={value!r}" for name, value in self.options.items() if value)
        return f"Mapper({', '.join(said)})"


def mapper(
    *, column: str | None = None, prefix: str = "", **settings: Unpack[RowOptions]
) -> Mapper:
    """The function that engines are given: see `Mapper`."""
    return Mapper(column=column, prefix=prefix, **settings)


def _again(options: tuple[tuple[str, Any], ...]) -> Mapper:
    return Mapper(**dict(options))


def _made(column: str | None, prefix: str, settings: RowOptions) -> BatchCompressor:
    # A tokenizer takes longer to load than a batch to go through.
    fixed = ((name, _fixed(value)) for name, value in sorted(settings.items()))
    return _remembered(column, prefix, tuple(fixed))


def _fixed(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _new(column: str | None, prefix: str, settings: tuple[tuple[str, Any], ...]) -> BatchCompressor:
    return BatchCompressor(Compressor(**dict(settings)), column=column, prefix=prefix)


_remembered: Callable[..., BatchCompressor] = lru_cache(maxsize=16)(_new)
