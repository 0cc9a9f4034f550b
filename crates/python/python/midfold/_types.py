"""What comes back: plain values."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from .types import Fold, FoldFeedback, Violation


def _parsed(record: bytes | None) -> Fold | None:
    return None if record is None else cast("Fold", json.loads(record))


@dataclass(frozen=True)
class Report:
    """What a compaction came to, in figures. `str()` of it is a line for people."""

    tokens_before: int
    """Counted tokens before, with what travels beside the messages."""
    tokens_after: int
    """Counted tokens after."""
    messages_before: int
    """Number of messages before."""
    messages_after: int
    """Number of messages after."""
    window: int
    """The model's window, in tokens."""
    dialect: str
    """The form of the messages."""
    profile: str
    """The rules of a provider that the result keeps."""
    tokenizer: str
    """What counted the tokens."""
    noop: str | None = None
    """Why nothing was folded; `None` if something was."""
    missed: int | None = None
    """The target, in tokens, if more than that are left."""
    problems: list[str] = field(default_factory=list)
    """What a reader could not carry over, in words."""

    def __str__(self) -> str:
        if self.noop is not None:
            return f"nothing was folded: {self.noop}"
        return (
            f"{self.messages_before} messages -> {self.messages_after}, "
            f"{self.tokens_before} tokens -> {self.tokens_after}"
        )


@dataclass(frozen=True)
class Result:
    """A conversation, compacted or left as it was."""

    messages: Any = field(repr=False)
    """The messages in the shape of what was given: a list, a request's body, or JSON."""
    report: Report
    """The figures."""
    feedback: FoldFeedback = field(repr=False)
    """Words for a person."""
    record: bytes | None = field(default=None, repr=False)
    """The record of the fold as JSON, as `midfold compact --record` writes it; else `None`."""
    recap: str | None = field(default=None, repr=False)
    """The text that the model reads where folded messages were; the marker if the policy leaves
    one instead. `None` if no message left the context.
    """

    @cached_property
    def fold(self) -> Fold | None:
        """The record of the fold; `None` if nothing was folded."""
        return _parsed(self.record)


@dataclass(frozen=True)
class Folding:
    """What a session folded, or would fold. True if something was."""

    feedback: FoldFeedback = field(repr=False)
    """Words for a person."""
    record: bytes | None = field(default=None, repr=False)
    """The record of the fold as JSON; `None` if nothing was folded."""
    noop: str | None = None
    """Why nothing was folded; `None` if something was."""
    recap: str | None = field(default=None, repr=False)
    """The text that the model reads where folded messages were; the marker if the policy leaves
    one instead. `None` if no message left the context.
    """

    @cached_property
    def fold(self) -> Fold | None:
        """The record of the fold; `None` if nothing was folded."""
        return _parsed(self.record)

    def __bool__(self) -> bool:
        return self.record is not None


@dataclass(frozen=True)
class Verification:
    """What a check from the outside found. True if everything holds."""

    violations: list[Violation]
    """The rules that are broken, and where."""
    checked: dict[str, int] = field(repr=False)
    """How many things each rule was held against, by the rule's name."""

    @property
    def ok(self) -> bool:
        """Whether everything holds."""
        return not self.violations

    def __bool__(self) -> bool:
        return self.ok


@dataclass(frozen=True)
class Worked:
    """What came of a narration that a stored session wanted. True if a fold is ready."""

    job: int
    """The number of the job in the store's queue."""
    session: str
    """The id of the session."""
    events: tuple[int, int]
    """The messages that it covers, by their places: the first, and one past the last."""
    attempt: int
    """Which try it was, from 1."""
    code: str
    """`accepted`, why it will not be used, or why there is none (`server`, `stale`, `lost`, …)."""
    detail: str
    """The same in words."""
    folded: bool
    """Whether a fold is ready."""

    def __bool__(self) -> bool:
        return self.folded


@dataclass(frozen=True)
class Extent:
    """What a stored session holds: what deleting it takes away."""

    session: str
    """The id of the session."""
    events: int
    """Number of messages."""
    folds: int
    """Number of folds."""
    calls: int
    """Number of requests in the ledger."""
    jobs: int
    """Number of jobs, ended ones included."""
    bytes: int
    """Bytes of what was said and recorded."""
    changed: int
    """When it last changed, in milliseconds since 1970."""
