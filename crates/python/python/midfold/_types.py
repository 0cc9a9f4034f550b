"""What comes back: plain values."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from typing import Literal

    from .types import Fold, Violation


def _parsed(record: bytes | None) -> Fold | None:
    return None if record is None else cast("Fold", json.loads(record))


@dataclass(frozen=True)
class ContextSize:
    """The size of a context."""

    messages: int
    """The number of messages."""
    tokens: int
    """The number of tokens, with what travels beside the messages."""


@dataclass(frozen=True)
class Folding:
    """What a session folded, or would fold. True if something was. `str()` of it is a line."""

    outcome: Literal["folded", "nothing"]
    """`folded`, or `nothing` if no fold was made."""
    reason: str | None
    """Why nothing was folded, in words; `None` if something was."""
    headline: str = field(repr=False)
    """How many messages there were and are, in words for a person."""
    token_line: str = field(repr=False)
    """How many tokens there were and are, in words for a person."""
    note: str | None = field(repr=False)
    """Why fewer messages take more tokens; `None` if they do not."""
    instead: str | None = field(repr=False)
    """What is in the place of the messages that left, in words; `None` if nothing was folded."""
    before: ContextSize
    """The size of the context before the fold."""
    after: ContextSize
    """The size of the context after the fold."""
    recap: str | None = field(repr=False)
    """The text that the model reads where folded messages were; the marker if the policy leaves
    one instead. `None` if no message left the context.
    """
    record: bytes | None = field(repr=False)
    """The record of the fold as JSON, as `midfold compact --record` writes it; else `None`."""

    @cached_property
    def fold(self) -> Fold | None:
        """The record of the fold; `None` if nothing was folded."""
        return _parsed(self.record)

    def __bool__(self) -> bool:
        return self.record is not None

    def __str__(self) -> str:
        if self.reason is not None:
            return f"nothing was folded: {self.reason}"
        before, after = self.before, self.after
        return (
            f"{before.messages} messages -> {after.messages}, "
            f"{before.tokens} tokens -> {after.tokens}"
        )


@dataclass(frozen=True)
class Problem:
    """Content that a reader or a conversion could not carry over. `str()` of it is a line."""

    code: str
    """A word that names the kind of problem."""
    detail: str
    """What could not be carried over, in words."""
    line: int | None = None
    """The line of the input, or the number of the message that was read, from 1."""
    message: int | None = None
    """The number of the message that was converted, from 0."""

    def __str__(self) -> str:
        place = ""
        if self.line is not None:
            place = f"line {self.line}: "
        elif self.message is not None:
            place = f"message {self.message}: "
        return f"{place}{self.detail} ({self.code})"


@dataclass(frozen=True)
class Result(Folding):
    """A conversation, compacted or left as it was. True if something was folded."""

    messages: Any = field(repr=False)
    """The messages in the shape of what was given: a list, a request's body, or JSON."""
    missed: int | None
    """The target, in tokens, if more than that are left."""
    window: int
    """The model's window, in tokens."""
    dialect: str
    """The form of the messages."""
    profile: str
    """The rules of a provider that the result keeps."""
    counter: str
    """The counter of the tokens."""
    estimate: bool
    """Whether the counter estimates, instead of using the model's vocabulary."""
    problems: list[Problem]
    """What a reader or a conversion could not carry over."""


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
