"""Batches of columns of the native half: see `midfold.arrow`. No module has this name."""

from typing import final

from ._rows import Compressor
from .types import ArrowArray, ArrowSchema, ArrowStream, ColumnOptions

@final
class BatchCompressor:
    """Makes the rows of batches fit: a `Compressor`, and which columns it reads and adds. Can be
    pickled.

    `column` is the one with the rows; without it the first of those that `midfold.arrow` names.
    `prefix` is put before the names of the columns that are added.
    """

    def __new__(
        cls, compressor: Compressor, *, column: str | None = None, prefix: str = ""
    ) -> BatchCompressor: ...
    def batch(self, batch: ArrowArray) -> RecordBatch:
        """The same rows, with the columns `status`, `tokens_before`, `tokens_after` and `fold`.

        Raises `InputError` if there is no column of rows, or one of those columns already.
        """
    def stream(self, stream: ArrowStream) -> RecordBatchStream:
        """The batches of a stream, each made when it is asked for. Raises what `batch` raises."""
    def schema(self, schema: ArrowSchema) -> Schema:
        """The schema of what comes of batches with this one. Raises what `batch` raises."""
    def __getnewargs_ex__(self) -> tuple[tuple[Compressor], ColumnOptions]:
        """The arguments that make it again, for `pickle`."""

@final
class RecordBatch:
    """A batch, for whoever takes one over the PyCapsule interface:
    `pyarrow.record_batch(batch)`, `polars.DataFrame(batch)`, …
    """

    @property
    def num_rows(self) -> int:
        """The number of rows."""
    @property
    def schema(self) -> Schema:
        """The columns."""
    def __len__(self) -> int:
        """The number of rows."""
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        """The schema and the rows, as capsules."""
    def __arrow_c_schema__(self) -> object:
        """The columns, as a capsule."""

@final
class Schema:
    """A schema, for whoever takes one over the PyCapsule interface: `pyarrow.schema(schema)`."""

    @property
    def names(self) -> list[str]:
        """The names of the columns, in their order."""
    def __arrow_c_schema__(self) -> object:
        """The columns, as a capsule."""

@final
class RecordBatchStream:
    """Batches, each made when it is asked for: to go over, or, once, for whoever takes a stream
    over the PyCapsule interface: `pyarrow.table(stream)`, `polars.DataFrame(stream)`, …
    """

    @property
    def schema(self) -> Schema:
        """The columns of each batch."""
    def __iter__(self) -> RecordBatchStream:
        """Itself."""
    def __next__(self) -> RecordBatch:
        """Makes the next batch. Raises `InputError` if that fails."""
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The batches that are left, as a capsule. Raises `InputError` the second time."""
    def __arrow_c_schema__(self) -> object:
        """The columns of each batch, as a capsule."""
