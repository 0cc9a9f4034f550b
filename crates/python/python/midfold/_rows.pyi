"""Training rows of the native half: see `midfold.trajectories`. No module has this name."""

from collections.abc import Sequence
from typing import Any, Callable, Literal, final

from ._session import SummaryRequest
from .types import Row, RowMetrics, RowOptions, RowStatus

@final
class Compressor:
    """Makes rows fit: settings, checked once, and a counter. Can be pickled, so that a data set's
    workers can have it.

    `midfold.types.RowOptions` says what each setting means. Raises `InputError` for an unknown
    name, and `TokenizerError`.

    >>> from midfold.trajectories import Compressor
    >>> compressor = Compressor(target_tokens=2_000, tokenizer="chars:4")
    >>> compressor('{"conversations": [{"from": "human", "value": "hi"}]}').status
    'unchanged'
    >>> compressor("[]").error
    'no JSON object'
    """

    def __new__(
        cls,
        *,
        target_tokens: int | None = None,
        summary_tokens: int | None = None,
        keep_last: int | None = None,
        tokenizer: str | None = None,
        placement: Literal["human_turn", "merge_into_previous_observation", "user_message"]
        | None = None,
        trainer: Literal["llamafactory", "trl"] | None = None,
        notice: str | None = None,
        row_metrics: bool = False,
        count_all: bool = False,
        align: Sequence[str] = ...,
        protect: Sequence[Literal["system", "human", "gpt", "tool"]] | None = None,
        skip_under_target: bool = True,
    ) -> Compressor: ...
    def __call__(self, row: Row) -> Compressed:
        """Makes one row fit: a dict, or a line of JSON. Never raises for a row that cannot be used:
        its status is `error`.
        """
    def rows(self, rows: Sequence[Row], *, workers: int = 1) -> list[Compressed]:
        """Many rows, in their order, on `workers` threads. Ctrl-C ends it between two batches."""
    def narrated(
        self,
        row: Row,
        narrate: Callable[[SummaryRequest], str | None],
        *,
        model: str = ...,
    ) -> Compressed:
        """One row, with a summary that `narrate` writes if the row has to be cut: it is called with
        a `SummaryRequest` and returns the text.

        Each line of it is judged, and what may not be there is left out. If nothing is left,
        `metrics["summary_refused"]` says why. If `narrate` returns `None` the summary is
        computed. `model` is the name of what narrates. What `narrate` raises comes out here.
        """
    def __getnewargs_ex__(self) -> tuple[tuple[()], RowOptions]:
        """The arguments that make it again, for `pickle`."""

@final
class Compressed:
    """A row that was made to fit, or could not be, and its figures."""

    @property
    def row(self) -> Any:
        """The row as it is now, of the type that was given; the same object if nothing changed."""
    @property
    def status(self) -> RowStatus:
        """`unchanged`, `compressed`, `over_limit` (longer than the target all the same) or
        `error`.
        """
    @property
    def error(self) -> str | None:
        """Why a row cannot be used; `None` if it can."""
    @property
    def code(self) -> str | None:
        """A short name of `error`: `not-json`, `bad-turn`, `alternation`, …"""
    @property
    def tokens_before(self) -> int:
        """Tokens before; a quarter of the bytes if nothing was counted; 0 for an error."""
    @property
    def tokens_after(self) -> int:
        """Tokens after; 0 for an error."""
    @property
    def metrics(self) -> RowMetrics | None:
        """The measures, by the names of Hermes' metrics; `None` for an error."""
    @property
    def turns(self) -> list[int | None]:
        """The new place of each old turn, from 0; `None` if a summary is there instead."""
