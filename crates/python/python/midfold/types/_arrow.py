"""Objects with the Arrow PyCapsule interface, of any library."""

from __future__ import annotations

from typing import Protocol, TypedDict

__all__ = ["ArrowArray", "ArrowSchema", "ArrowStream", "ColumnOptions"]


class ArrowArray(Protocol):
    """A batch: `pyarrow.RecordBatch`, and others."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> object:
        """The schema and the array, as capsules."""
        ...


class ArrowStream(Protocol):
    """Batches: `pyarrow.Table`, `polars.DataFrame`, and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The stream, as a capsule."""
        ...


class ArrowSchema(Protocol):
    """A schema: `pyarrow.Schema`, and others."""

    def __arrow_c_schema__(self) -> object:
        """The schema, as a capsule."""
        ...


class ColumnOptions(TypedDict):
    """The columns that are read and added."""

    column: str | None
    """The one with the rows; `None` for the first that midfold knows."""
    prefix: str
    """Put before the names of those that are added."""
