"""What comes back: plain values."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any


def _parsed(record: bytes | None) -> dict[str, Any] | None:
    return None if record is None else dict(json.loads(record))


@dataclass(frozen=True)
class Report:
    """What a compaction came to, in figures."""

    tokens_before: int
    tokens_after: int
    messages_before: int
    messages_after: int
    window: int
    dialect: str
    profile: str
    tokenizer: str
    #: Why nothing was folded; None where something was.
    noop: str | None = None
    #: The target, where more tokens than that are left.
    missed: int | None = None
    #: What a reader could not carry over.
    problems: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        if self.noop is not None:
            return f"nothing was folded: {self.noop}"
        return (
            f"{self.messages_before} messages -> {self.messages_after}, "
            f"{self.tokens_before} tokens -> {self.tokens_after}"
        )


@dataclass(frozen=True)
class Result:
    """A conversation, compacted or left as it was.

    `messages` has the shape of what was given: a list, a request's body, or JSON as str or bytes.
    """

    messages: Any = field(repr=False)
    report: Report
    #: The record of the fold as JSON, as `midfold compact --record` writes it.
    record: bytes | None = field(default=None, repr=False)
    #: The text that the model reads where folded messages were; the marker where the policy leaves
    #: one instead. None where no message left the context.
    recap: str | None = field(default=None, repr=False)
    #: What to tell a person: `midfold.feedback`, and `instead`, what stands where messages were.
    feedback: dict[str, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def fold(self) -> dict[str, Any] | None:
        """The record of the fold; None where nothing was folded."""
        return _parsed(self.record)


@dataclass(frozen=True)
class Folding:
    """What a session folded, or would fold. True where something was."""

    record: bytes | None = field(default=None, repr=False)
    #: Why nothing was folded; None where something was.
    noop: str | None = None
    #: The text that the model reads where folded messages were; the marker where the policy leaves
    #: one instead. None where no message left the context.
    recap: str | None = field(default=None, repr=False)
    #: What to tell a person: `midfold.feedback`, and `instead`, what stands where messages were.
    feedback: dict[str, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def fold(self) -> dict[str, Any] | None:
        """The record of the fold; None where nothing was folded."""
        return _parsed(self.record)

    def __bool__(self) -> bool:
        return self.record is not None


@dataclass(frozen=True)
class Verification:
    """What a check from the outside found. True where everything holds."""

    violations: list[dict[str, Any]]
    #: How many things each rule was held against.
    checked: dict[str, int] = field(repr=False)

    @property
    def ok(self) -> bool:
        """Whether everything holds."""
        return not self.violations

    def __bool__(self) -> bool:
        return self.ok


@dataclass(frozen=True)
class Worked:
    """What came of a narration that a stored session wanted. True where a fold is ready."""

    job: int
    session: str
    #: The events that it stands for: from, up to.
    events: tuple[int, int]
    #: Which try it was, from 1.
    attempt: int
    #: `accepted`, why it will not be used, or why there is none (`server`, `stale`, `lost`, ...).
    code: str
    detail: str
    folded: bool

    def __bool__(self) -> bool:
        return self.folded


@dataclass(frozen=True)
class Extent:
    """What a stored session holds: what deleting it takes away."""

    session: str
    events: int
    folds: int
    calls: int
    jobs: int
    #: Bytes of what was said and recorded.
    bytes: int
    #: When it last changed, in milliseconds since 1970.
    changed: int
