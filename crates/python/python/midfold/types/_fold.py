"""The record of a fold: docs/RECORD.md."""

# Written by tools/door-types: change the sources that it reads.
from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

from ._entry import BlockEdit, FoldEntry, PutBackRecord, RepairRecord

if TYPE_CHECKING:
    from typing_extensions import NotRequired

__all__ = [
    "AcceptedNarration",
    "Budget",
    "DroppedLine",
    "FateCounts",
    "Fold",
    "FoldCause",
    "FoldJoin",
    "IdList",
    "LayoutRecord",
    "Meter",
    "PrunedCount",
    "RecapRecord",
    "RegionRecord",
    "Span",
    "TailFloor",
    "VerdictRecord",
    "VoidReasoning",
]


class FateCounts(TypedDict):
    """Each event's fate, counted. `verbatim + edited + recap + marker == events`."""

    edited: int
    """Edited by a reducer, or rendered otherwise by a repair."""
    events: int
    """Events of the log when the fold was made."""
    marker: int
    """Covered by a marker."""
    recap: int
    """Covered by a recap."""
    verbatim: int
    """Carried byte for byte."""


class Budget(TypedDict):
    """What a context may cost."""

    injection_reserve: int
    """Kept free for what hooks add after compaction (projection note: 2,000 in its preset)."""
    output_reserve: int
    """Kept free for the reply."""
    tiers: NotRequired[dict[str, float]]
    """What classes of content may take, as shares of the budget. A class of the policy's own
    `[budget.tiers]` counts where it is not named here.
    """
    window: int
    """The model's window, in tokens."""


FoldCause = Literal[
    "check",
    "threshold",
    "tier",
    "cold",
    "seam",
    "agent",
    "manual",
    "overflow",
    "prepared",
]
"""Why there should be a fold. `check`: Nobody has looked at the threshold yet: planning does.
`threshold`: The line was crossed. `tier`: A class of content passed its cap (`budget.tiers`).
`cold`: The provider's cache of the prompt is cold, and the context above the buffer line: a fold
spoils nothing. `seam`: A piece of work has just ended, and the seam line is crossed. `agent`:
The agent asked by a tool. `manual`: A person asked: threshold and minimum reclaim do not apply.
`overflow`: The provider said that the request was too long: the same. `prepared`: A narration
came back: a fold to take when the line is crossed.
"""


class IdList(TypedDict):
    """Identifiers of the covered span: how many, and the best of them."""

    count: int
    """How many."""
    first: list[str]
    """The first of them, best first, at most 200."""


class FoldJoin(TypedDict):
    """Joins a fold to what else is known of the request (Head, Middle, Tail and Summarizing Evicted
    Turns: the joining tuple).
    """

    request: int
    """The request in the turn: the step."""
    session: str
    """The session."""
    turn: int
    """The turn in it."""


TailFloor = Literal[
    "tokens",
    "messages",
    "last-user",
    "ceiling",
    "budget",
    "everything",
]
"""What set the tail's boundary. `tokens`: The token floor was met last. `messages`: The message
floor was met last. `last-user`: The tail was extended to the last real user message. `ceiling`:
The soft ceiling stopped the walk (Hermes Agent). `budget`: The floors did not fit into the
budget: the tail was shortened. `everything`: No cut satisfies the floors: head and tail are
everything.
"""


class RegionRecord(TypedDict):
    """One region of the layout."""

    end: int
    """One past the last event."""
    start: int
    """First event."""
    tokens: int
    """Tokens in the log."""


class LayoutRecord(TypedDict):
    """Where the cuts lay, and what set them."""

    carried_user: int | None
    """The last real user message, where it was carried as a pin."""
    floor: TailFloor
    """What set the tail's boundary."""
    head: RegionRecord
    """The head."""
    middle: RegionRecord
    """The middle."""
    pinned: list[int]
    """Pinned events of the middle."""
    tail: RegionRecord
    """The tail."""


class Meter(TypedDict):
    """The state of the meter, as a fold records it."""

    margin: float
    """Added on top where a limit must not be passed."""
    ratio: float
    """Real tokens per counted token: most often more than one."""
    samples: int
    """Requests that the ratio was learned from."""
    unseen: NotRequired[int]
    """Tokens of every request that the log does not hold: tools and system prompts that a host
    keeps to itself. Anchors the figure on the provider's last count.
    """


class Span(TypedDict):
    """The events that a fold replaces, named by the chain hashes at their ends."""

    before: str
    """Chain hash of everything before `start`."""
    end: int
    """One past the last event."""
    start: int
    """First event."""
    through: str
    """Chain hash of everything before `end`: names the whole prefix."""


class AcceptedNarration(TypedDict):
    """A reply that passed all checks, ready for the next fold that covers its span."""

    left_out: NotRequired[int]
    """Lines of it that are in no section: they could not stand, or were beyond its cap."""
    model: str
    """The model that wrote it."""
    request: str
    """The request that it answers."""
    sections: list[list[str]]
    """Each section's name and its lines, harmless in any place of a recap."""
    span: Span
    """What it covers."""


class PrunedCount(TypedDict):
    """What one reducer took from covered events, by one rule."""

    blocks: int
    """Blocks that it edited."""
    reason: str
    """Its reason code."""
    reducer: str
    """The reducer."""
    tokens_after: int
    """And after."""
    tokens_before: int
    """Their tokens before."""


class RecapRecord(TypedDict):
    """What the recap says, and what it does not."""

    files: int
    """Files that it names."""
    hash: str
    """A hash over its text."""
    redacted: int
    """Secrets that were replaced in it."""
    role: str
    """Its role."""
    text: str
    """Its text."""
    tokens: int
    """Its tokens."""


class DroppedLine(TypedDict):
    """A line of a reply that was left out of the narration."""

    line: str
    """Its start, without secrets and without what forges structure."""
    why: str
    """A code (`false-quote`, `ungrounded`, `injected`), and what it is about."""


class VerdictRecord(TypedDict):
    """What became of one request to a model."""

    code: str
    """`accepted`, why the text was refused, why there is none, or `pending` where the fold did not
    wait for it.
    """
    detail: str
    """For people; holds no key and no text of the log."""
    dropped: NotRequired[list[DroppedLine]]
    """The lines of the reply that were left out."""
    request: str
    """The request."""


class VoidReasoning(TypedDict):
    """Signed reasoning that its model refuses: what it is bound to is not there any more."""

    before: int
    """It is void in events before this one."""
    told_round: NotRequired[int | None]
    """The first message of the round that was the newest then, where its calls are told as text."""


class Fold(TypedDict):
    """The record of one compaction pass."""

    accounts: FateCounts
    """Each event's fate, counted."""
    budget: Budget
    """The budget that the plan used."""
    cause: FoldCause
    """Why the fold was made."""
    counter: str
    """What counted the tokens."""
    edits: list[BlockEdit]
    """What reducers did."""
    entries: list[FoldEntry]
    """What is there instead."""
    evicted: int
    """Messages that left the context."""
    fallback: str | None
    """What is there where no model narrated, or behind what one narrated: `computed`, `marker`,
    `static`, or `host` for a recap of the host's own; none when a model narrated, or nothing was
    covered.
    """
    fallback_used: bool
    """Whether a fallback of midfold's own is there: the flag of Summarizing Evicted Turns."""
    head_tokens: int
    """Tokens of the head, envelope included."""
    head_verbatim: bool
    """Every message of the head is the same slice of the log."""
    id: str
    """Hash of this record, chained over the fold before it."""
    invented_ids: IdList
    """Identifiers of the recap that no source has: none in a computed one."""
    joining: FoldJoin
    """Joins it to a request."""
    keeps_turns: NotRequired[bool]
    """User and assistant took turns so far: what the fold adds keeps to that."""
    kept_ids: IdList
    """Identifiers of the covered span that the context still names."""
    layout: LayoutRecord
    """Head, middle and tail."""
    lost_ids: IdList
    """Identifiers of the covered span that it does not."""
    messages_after: int
    """Messages of the context after."""
    messages_before: int
    """Messages of the context before."""
    meter: Meter
    """The meter that the plan used."""
    middle_tokens: int
    """Tokens of the middle before."""
    narrated: NotRequired[AcceptedNarration | None]
    """The narration that is in the recap, where a model wrote one."""
    policy: str
    """Name of the policy."""
    policy_fingerprint: str
    """Hash over the policy."""
    prev: str | None
    """The fold before it."""
    profile: str
    """Name of the profile."""
    put_back: NotRequired[PutBackRecord | None]
    """The lines of the recap that somebody asked for."""
    read: NotRequired[list[PrunedCount]]
    """What reducers took from events that the recap covers, before it was made."""
    recap: RecapRecord | None
    """The recap, where there is one."""
    referenced_later: IdList | None
    """Lost identifiers that the user or the assistant used again after the fold: null in a record
    that was just made, filled where it is read again.
    """
    repairs: list[RepairRecord]
    """What validity asked for."""
    span: Span
    """What it replaces."""
    strategy: str
    """Strategy (Head, Middle, Tail and Summarizing Evicted Turns)."""
    tail_tokens: int
    """Tokens of the tail."""
    tail_verbatim: bool
    """Every message of the tail is the same slice of the log."""
    tokens_after: int
    """Counted tokens of the context after."""
    tokens_before: int
    """Counted tokens of the context before."""
    told_round: NotRequired[int | None]
    """The first message of the model's newest round, where its calls are told as text: it would
    have to start with reasoning that is void.
    """
    verdicts: NotRequired[list[VerdictRecord]]
    """What became of the model's replies since the fold before."""
    version: int
    """Shape of the record."""
    void_before: NotRequired[VoidReasoning | None]
    """What was void before the fold, where the folds before it do not say so."""
    void_reasoning: NotRequired[int]
    """Signed reasoning of events before this one leaves the context: the model binds it to all that
    stood before it, and that is not there any more. What came later is bound to the fold's own
    context, and stays. 0 where the model does not bind.
    """
