"""Settings and measures of training rows, and of replays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired

__all__ = [
    "LifetimeCost",
    "ReplayMeasures",
    "ReplayUsage",
    "Row",
    "RowMetrics",
    "RowOptions",
    "RowRegion",
    "RowStatus",
    "TokensByRole",
]

Row = Union[dict[str, Any], str, bytes]
"""A row of a training set: a dict with a list of turns, or a line of JSON. Other keys are yours."""

RowStatus = Literal["unchanged", "compressed", "over_limit", "error"]
"""What came of a row."""


class RowOptions(TypedDict, total=False):
    """The settings of `midfold.trajectories.Compressor`."""

    target_tokens: int | None
    """The most tokens that a row may have; 15,250 without it."""
    summary_tokens: int | None
    """Those of them that are set aside for the summary; 750 without it."""
    keep_last: int | None
    """How many turns stay at the end; 4 without it."""
    tokenizer: str | None
    """A name (`midfold.tokenizers()`), `chars:3.2`, or the path of a `tokenizer.json`."""
    placement: Literal["human_turn", "merge_into_previous_observation", "user_message"] | None
    """The place of the summary."""
    trainer: Literal["llamafactory", "trl"] | None
    """The trainer whose rules the turns have to keep."""
    notice: str | None
    """A text for the system turn of a row with a summary."""
    row_metrics: bool
    """Whether the measures go into rows with a summary."""
    count_all: bool
    """Whether every row is counted, also one that cannot be too long."""
    align: Sequence[str]
    """Lists beside the turns with one element for each: they are cut as the turns are."""
    protect: Sequence[Literal["system", "human", "gpt", "tool"]] | None
    """The roles whose first turn stays; all four without it."""
    skip_under_target: bool
    """Whether a row that fits stays as it is; it does without this."""


class RowRegion(TypedDict):
    """The turns that a summary replaced; -1 if there are none."""

    start_idx: int
    """The first of them, from 0."""
    end_idx: int
    """The first turn after them."""
    turns_count: int
    """How many there are."""


class RowMetrics(TypedDict):
    """What was done to a row, by the names of Hermes' metrics."""

    original_tokens: int
    """Tokens before."""
    compressed_tokens: int
    """Tokens after."""
    tokens_saved: int
    """The difference; below zero if a summary costs more than it replaced."""
    compression_ratio: float
    """Tokens after as a share of those before, with four decimal places."""
    original_turns: int
    """Turns before."""
    compressed_turns: int
    """Turns after."""
    turns_removed: int
    """The difference."""
    compression_region: RowRegion
    """The turns that were replaced."""
    was_compressed: bool
    """Whether a summary replaces turns."""
    still_over_limit: bool
    """Whether it is longer than the target all the same."""
    skipped_under_target: bool
    """Whether it fitted already."""
    summarization_api_calls: int
    """Calls of a model for its summary."""
    summarization_errors: int
    """Those of them that failed."""
    summary_refused: NotRequired[str]
    """Why the summary is a computed one though a model was asked."""


class TokensByRole(TypedDict):
    """Tokens by what they are."""

    system: int
    """System prompts, and what travels beside the messages."""
    user: int
    """What the user wrote, or a client in the user's role."""
    assistant: int
    """What the model wrote."""
    call: int
    """Calls of tools."""
    result: int
    """Results of tools."""
    recap: int
    """Recaps and markers."""


class LifetimeCost(TypedDict):
    """What the prompts cost, had the provider's cache one lifetime."""

    cold: int
    """Requests that found a cold cache."""
    price: float
    """Their price with the strategy, in the unit of the price table."""
    raw_price: float
    """Their price with the whole history."""


class ReplayUsage(TypedDict):
    """What the provider counted when the conversation was held, in tokens."""

    calls: int
    """Requests that say so."""
    input: int
    """Tokens of the prompts."""
    output: int
    """Tokens of the replies."""
    cache_read: int
    """Tokens of the prompts that came from the cache."""
    cache_write: int
    """Tokens of the prompts that went into the cache."""


class ReplayMeasures(TypedDict):
    """The measures of one strategy in one window (docs/MEASURES.md). Shares are of 1."""

    strategy: str
    """The strategy: a preset, or `raw` for the history as it is."""
    form: str
    """Whether each request folded anew (`stateless`), or one `session` went along."""
    window: int
    """The window, in tokens."""
    requests: int
    """Requests of the recording."""
    counted: int
    """Requests at which the whole history exceeded 0.8 windows."""
    folds: int
    """Folds that were made."""
    causes: dict[str, int]
    """Folds by their cause; in the form `stateless` all are checks."""
    breaks: int
    """Requests that share less with the one before than all of it: a cache lost the rest."""
    over: int
    """Requests above the window."""
    invalid: int
    """Contexts that the provider would refuse."""
    recall: float
    """The share of the identifiers needed next that the context has."""
    recall_need: int
    """How many were needed."""
    at_risk: float
    """The same of those that are not in the newest part of the history."""
    at_risk_need: int
    """How many were needed."""
    reachable: float
    """The share of those that the context lacks which one search brings back."""
    reachable_need: int
    """How many were needed."""
    within_reach: float
    """The share of those at risk that are in the context or one search away."""
    rare: float
    """The share of rare words at risk that the context has."""
    rare_need: int
    """How many were needed."""
    classes: dict[str, list[int]]
    """Of identifiers at risk, by class: how many were needed, how many were there."""
    rules: float
    """The share of the user's rules that the context has word for word."""
    rules_need: int
    """How many there were."""
    rereads: int
    """Reads of a file that had been read and was not in the context any more."""
    modified: float
    """The share of changed files that the context names as changed."""
    modified_need: int
    """How many there were."""
    read: float
    """The share of files that were read and that the context names as used."""
    read_need: int
    """How many there were."""
    mean: float
    """The mean context, in tokens."""
    mean_share: float
    """The mean context as a share of the window."""
    peak: int
    """The largest context, in tokens."""
    tokens_by: TokensByRole
    """Tokens over all requests."""
    cost: float
    """The cost by the reference prices, as a share of that of the whole history."""
    price: float
    """The price of all prompts, in the unit of the price table."""
    raw_price: float
    """The price with the whole history."""
    hit_share: float
    """The share of the tokens that a cache would have served."""
    context_us: list[float | None]
    """Microseconds for a context without a fold: the median, and the 99th percentile."""
    fold_us: list[float | None]
    """Microseconds for a context with a fold: the median, and the 99th percentile."""
    timed: NotRequired[int]
    """Consecutive requests whose times are known."""
    cold: NotRequired[int]
    """Requests that found a cold cache."""
    lifetimes: NotRequired[dict[str, LifetimeCost]]
    """The price with a cache that lives for five minutes (`5m`), and for an hour (`1h`)."""
    summaries: NotRequired[int]
    """Narrations that a model was asked for."""
    accepted: NotRequired[int]
    """Those that were accepted."""
    usage: NotRequired[ReplayUsage]
    """What the provider counted when the conversation was held."""
