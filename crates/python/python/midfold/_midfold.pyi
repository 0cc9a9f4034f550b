"""The native half of the package: see `midfold`."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Callable, Literal, final

from typing_extensions import TypeAlias

from ._types import Extent, Folding, Result, Verification, Worked

__all__ = [
    "BatchCompressor",
    "Compressed",
    "Compressor",
    "Context",
    "RecordBatch",
    "RecordBatchStream",
    "Schema",
    "Session",
    "Sessions",
    "SummaryRequest",
    "__version__",
    "cache_check",
    "compact",
    "count_tokens",
    "delete_sessions",
    "feedback",
    "presets",
    "prune_sessions",
    "recall_tools",
    "replay",
    "tokenizers",
    "verify",
    "work",
]

__version__: str

_Message: TypeAlias = dict[str, Any]
#: Messages: a list of them, a request's body, or JSON.
_Messages: TypeAlias = Sequence[_Message] | _Message | str | bytes | bytearray
#: TOML, a file of it, or what differs from a preset.
_Policy: TypeAlias = str | os.PathLike[str] | dict[str, Any]
#: Shares of the budget.
_Tiers: TypeAlias = Mapping[Literal["results", "arguments", "dialogue"], float]
_Placement: TypeAlias = Literal["human_turn", "merge_into_previous_observation", "user_message"]

def compact(
    messages: _Messages,
    *,
    window: int | None = None,
    preset: str | None = None,
    policy: _Policy | None = None,
    focus: str | None = None,
    tokenizer: str | None = None,
    dialect: str | None = None,
    profile: str | None = None,
    model: str | None = None,
    pin: Sequence[int] = ...,
    if_needed: bool = False,
    target: int | None = None,
    keep_last: int | None = None,
    compress_middle: Callable[[list[Any]], str | None] | None = None,
) -> Result: ...
def verify(
    before: _Messages,
    after: _Messages | Result,
    *,
    fold: dict[str, Any] | None = None,
    window: int | None = None,
    tokenizer: str | None = None,
    profile: str | None = None,
    dialect: str | None = None,
    model: str | None = None,
) -> Verification: ...
def count_tokens(
    messages: _Messages,
    *,
    tokenizer: str | None = None,
    model: str | None = None,
    dialect: str | None = None,
) -> int: ...
def replay(
    messages: _Messages,
    *,
    strategies: Sequence[str] = ...,
    windows: Sequence[int] = ...,
    form: Literal["stateless", "session", "both"] = "stateless",
    tokenizer: str | None = None,
    dialect: str | None = None,
    profile: str | None = None,
    model: str | None = None,
    progress: Callable[[int, int], object] | None = None,
    prices: str | None = None,
    arguments: Literal["meant", "sent"] = "meant",
) -> list[dict[str, Any]]: ...
def work(
    store: str,
    narrate: Callable[[SummaryRequest], str],
    *,
    limit: int | None = None,
    model: str = ...,
) -> list[Worked]: ...
def delete_sessions(store: str, *ids: str, dry_run: bool = False) -> list[Extent]: ...
def prune_sessions(store: str, older_than: str, *, dry_run: bool = False) -> list[Extent]: ...
def feedback(
    before_messages: Sequence[_Message],
    after_messages: Sequence[_Message],
    before_tokens: int,
    after_tokens: int,
) -> dict[str, Any]: ...
def cache_check(
    messages: _Messages,
    *,
    window: int | None = None,
    preset: str | None = None,
    policy: _Policy | None = None,
    tokenizer: str | None = None,
    dialect: str | None = None,
    profile: str | None = None,
    model: str | None = None,
) -> dict[str, int] | None: ...
def presets() -> list[str]: ...
def tokenizers() -> list[str]: ...
def recall_tools(shape: Literal["openai", "anthropic"] = "openai") -> list[dict[str, Any]]: ...

@final
class Context:
    """What is to be sent: messages, and what they count."""

    @property
    def messages(self) -> list[_Message]: ...
    @property
    def tokens(self) -> int: ...
    @property
    def folded(self) -> bool: ...
    @property
    def call(self) -> int | None: ...
    @property
    def injections(self) -> list[dict[str, Any]]: ...
    @property
    def places(self) -> list[int | None] | None: ...
    @property
    def session(self) -> Session: ...
    def json(self) -> bytes: ...
    def __len__(self) -> int: ...

@final
class SummaryRequest:
    """What a session would like a model to write."""

    @property
    def id(self) -> str: ...
    @property
    def messages(self) -> list[_Message]: ...
    @property
    def max_tokens(self) -> int: ...
    @property
    def temperature(self) -> float: ...
    @property
    def timeout(self) -> int: ...

@final
class Session:
    """One conversation: its log, its folds, its meter; in memory, or in a store."""

    def __new__(
        cls,
        *,
        window: int | None = None,
        preset: str | None = None,
        policy: _Policy | None = None,
        dialect: Literal[
            "openai-chat",
            "openai-responses",
            "anthropic",
            "gemini",
            "bedrock",
            "ollama",
            "sharegpt",
        ] = ...,
        profile: str | None = None,
        tokenizer: str | None = None,
        model: str | None = None,
        system: str | Sequence[_Message] | None = None,
        tools: Sequence[dict[str, Any]] | None = None,
        output_reserve: int = 0,
        narrate: bool = False,
        tiers: _Tiers | None = None,
        cache_lifetime: float | None = None,
        store: str | None = None,
        id: str | None = None,
    ) -> Session: ...
    @staticmethod
    def open(store: str, id: str) -> Session: ...
    @property
    def id(self) -> str: ...
    @property
    def store(self) -> str | None: ...
    def append(
        self, messages: _Messages, *, key: str | None = None, expect: int | None = None
    ) -> list[int]: ...
    def context(
        self,
        *,
        inject: Mapping[str, str] | None = None,
        reserve: Mapping[str, int] | None = None,
    ) -> Context: ...
    def project(
        self, messages: list[_Message], *, focus: str | None = None, force: bool = False
    ) -> Context: ...
    def recover(
        self,
        error: str | bytes | dict[str, Any],
        *,
        status: int | None = None,
        reply: int = 0,
    ) -> Context | None: ...
    def observe(
        self,
        prompt: int,
        output: int = 0,
        *,
        cache_read: int = 0,
        cache_write: int = 0,
        call: int | None = None,
    ) -> None: ...
    def compact(self, focus: str | None = None) -> Folding: ...
    def preview(self, focus: str | None = None) -> Folding: ...
    def undo(self, fold: str | None = None) -> None: ...
    def pin(self, seq: int) -> None: ...
    def unpin(self, seq: int) -> None: ...
    def update_model(self, model: str, window: int | None = None) -> None: ...
    def set_policy(
        self,
        policy: _Policy | None = None,
        *,
        preset: str | None = None,
        tiers: _Tiers | None = None,
        narrate: bool = False,
    ) -> None: ...
    def explain(self, text_or_event: str | int, *, call: int | None = None) -> dict[str, Any]: ...
    def audit(self) -> dict[str, Any]: ...
    def ledger(self) -> list[dict[str, Any]]: ...
    def cache_check(self) -> dict[str, int] | None: ...
    def status(self) -> dict[str, Any]: ...
    def folds(self) -> list[dict[str, Any]]: ...
    def wants(self) -> SummaryRequest | None: ...
    def complete(
        self,
        request: SummaryRequest,
        text: str | None = None,
        *,
        error: str | None = None,
        finish: str = "stop",
        model: str = ...,
        prompt: int = 0,
        output: int = 0,
    ) -> str: ...
    def recall_grep(
        self,
        query: str = "",
        *,
        mode: Literal["text", "literal", "regex"] = "text",
        role: Literal["system", "developer", "user", "assistant", "tool", "other"] | None = None,
        tool: str | None = None,
        errors: bool = False,
        folded: bool = False,
        range: str | None = None,
        context: int = 0,
        limit: int = 10,
        skip: int = 0,
    ) -> list[dict[str, Any]]: ...
    def recall_outline(
        self, *, start: int = 0, limit: int = 50, folded: bool = False
    ) -> dict[str, Any]: ...
    def recall_expand(
        self,
        what: str | int | list[int],
        *,
        cursor: str | None = None,
        max_chars: int = 8_000,
    ) -> dict[str, Any]: ...
    def recall_describe(self, fold: str = "active") -> dict[str, Any]: ...
    def recall_names(self, question: str = "", max_chars: int = 2_000) -> dict[str, Any]: ...
    def recall(self, name: str, arguments: str) -> str: ...
    def fork(self, id: str | None = None, *, at: int | None = None) -> Session: ...
    def __deepcopy__(self, memo: dict[int, Any]) -> Session: ...
    def __len__(self) -> int: ...

@final
class Sessions:
    """The conversations of one host, found by the host's own ids, else by what is in them."""

    def __new__(
        cls,
        *,
        window: int | None = None,
        preset: str | None = None,
        policy: _Policy | None = None,
        dialect: Literal[
            "openai-chat",
            "openai-responses",
            "anthropic",
            "gemini",
            "bedrock",
            "ollama",
            "sharegpt",
        ] = ...,
        profile: str | None = None,
        tokenizer: str | None = None,
        model: str | None = None,
        system: str | Sequence[_Message] | None = None,
        tools: Sequence[dict[str, Any]] | None = None,
        output_reserve: int = 0,
        narrate: bool = False,
        tiers: _Tiers | None = None,
        cache_lifetime: float | None = None,
        store: str | None = None,
        limit: int = 64,
    ) -> Sessions: ...
    def project(
        self,
        messages: list[_Message],
        *,
        id: str | None = None,
        focus: str | None = None,
        force: bool = False,
    ) -> Context: ...
    def find(
        self, messages: list[_Message] | None = None, *, id: str | None = None
    ) -> Session | None: ...

@final
class Compressor:
    """Makes rows fit: settings, checked once, and a counter. Can be pickled."""

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
    def __call__(self, row: dict[str, Any] | str | bytes) -> Compressed: ...
    def rows(
        self, rows: Sequence[dict[str, Any] | str | bytes], *, workers: int = 1
    ) -> list[Compressed]: ...
    def narrated(
        self,
        row: dict[str, Any] | str | bytes,
        narrate: Callable[[SummaryRequest], str | None],
        *,
        model: str = ...,
    ) -> Compressed: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...

@final
class Compressed:
    """What came of a row."""

    @property
    def row(self) -> Any: ...
    @property
    def status(self) -> Literal["unchanged", "compressed", "over_limit", "error"]: ...
    @property
    def error(self) -> str | None: ...
    @property
    def code(self) -> str | None: ...
    @property
    def tokens_before(self) -> int: ...
    @property
    def tokens_after(self) -> int: ...
    @property
    def metrics(self) -> dict[str, Any] | None: ...
    @property
    def turns(self) -> list[int | None]: ...

@final
class BatchCompressor:
    """Makes the rows of Arrow batches fit. Can be pickled."""

    def __new__(
        cls, compressor: Compressor, *, column: str | None = None, prefix: str = ""
    ) -> BatchCompressor: ...
    def batch(self, batch: Any) -> RecordBatch: ...
    def stream(self, stream: Any) -> RecordBatchStream: ...
    def schema(self, schema: Any) -> Schema: ...
    def __getnewargs_ex__(self) -> tuple[tuple[Compressor], dict[str, Any]]: ...

@final
class RecordBatch:
    """A batch, for whoever takes one over the PyCapsule interface."""

    @property
    def num_rows(self) -> int: ...
    @property
    def schema(self) -> Schema: ...
    def __len__(self) -> int: ...
    def __arrow_c_array__(
        self, requested_schema: object | None = None
    ) -> tuple[object, object]: ...
    def __arrow_c_schema__(self) -> object: ...

@final
class Schema:
    """A schema, for whoever takes one over the PyCapsule interface."""

    @property
    def names(self) -> list[str]: ...
    def __arrow_c_schema__(self) -> object: ...

@final
class RecordBatchStream:
    """Batches, each made when it is asked for."""

    @property
    def schema(self) -> Schema: ...
    def __iter__(self) -> RecordBatchStream: ...
    def __next__(self) -> RecordBatch: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
