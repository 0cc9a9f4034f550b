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
    """The number of events with each fate: `verbatim + edited + recap + marker == events`."""

    edited: int
    """Events that a reducer edited, or that a repair sends in another form."""
    events: int
    """The number of events in the log when the fold was made."""
    marker: int
    """Events that a marker covers."""
    recap: int
    """Events that a recap covers."""
    verbatim: int
    """Events that are sent byte for byte."""


class Budget(TypedDict):
    """The limits of a context, in tokens."""

    injection_reserve: int
    """Tokens that are kept free for texts that hooks add after a fold (projection note: 2,000 in
    its preset).
    """
    output_reserve: int
    """Tokens of the window that are kept free for the reply."""
    tiers: NotRequired[dict[str, float]]
    """The most that classes of content may take, as shares of the budget. For a class that is not
    named here the policy's `[budget.tiers]` applies.
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
    "pictures",
    "prepared",
]
"""The reason for which a fold is made. `check`: Not decided yet: planning compares the context with
the threshold. `threshold`: The context reached the threshold. `tier`: A class of content
exceeded its cap (`budget.tiers`). `cold`: The provider's cache of the prompt is cold and the
context above the buffer line, so a fold wastes no cached tokens. `seam`: Some work has just
ended, and the context is above the seam line. `agent`: The agent asked for a fold by a tool.
`manual`: A person asked for a fold. Threshold and least gain do not apply. `overflow`: The
provider refused a request as too long. Threshold and least gain do not apply. `pictures`: The
context has more pictures than the provider takes. Threshold and least gain do not apply.
`prepared`: A narration was ready. The fold is made ahead of time and is used when the line is
crossed.
"""


class IdList(TypedDict):
    """A list of identifiers (paths, ids, symbols) of the covered span."""

    count: int
    """The number of identifiers."""
    first: list[str]
    """The identifiers that matter most, best first; at most 200."""


class FoldJoin(TypedDict):
    """The step of a session that a fold belongs to, to join it with other records of the request
    (Head, Middle, Tail and Summarizing Evicted Turns: the joining tuple).
    """

    request: int
    """The number of the request: the steps of the session so far."""
    session: str
    """The id of the session."""
    turn: int
    """The turn in the session."""


TailFloor = Literal[
    "tokens",
    "messages",
    "last-user",
    "ceiling",
    "budget",
    "everything",
]
"""The rule that set where the tail begins. `tokens`: The floor in tokens decided. `messages`: The
floor in messages decided. `last-user`: The tail was extended to the user's last real message.
`ceiling`: The soft ceiling stopped the walk towards the start (Hermes Agent). `budget`: The
floors did not fit into the budget, so the tail was shortened. `everything`: No cut meets the
floors: head and tail hold all events.
"""


class RegionRecord(TypedDict):
    """One region of the layout: head, middle or tail."""

    end: int
    """One past the last event of the region."""
    start: int
    """The first event of the region."""
    tokens: int
    """Tokens of these events in the log."""


class LayoutRecord(TypedDict):
    """The head, the middle and the tail of the log when the fold was made."""

    carried_user: int | None
    """The number of the user's last real message, if it was carried as a pin; else null."""
    floor: TailFloor
    """The rule that set where the tail begins."""
    head: RegionRecord
    """The head."""
    middle: RegionRecord
    """The middle."""
    pinned: list[int]
    """The numbers of the pinned events in the middle."""
    tail: RegionRecord
    """The tail."""


class Meter(TypedDict):
    """The state of the meter, which turns counted tokens into the provider's tokens."""

    margin: float
    """The share that is added to an estimate before it is compared with a limit."""
    ratio: float
    """Provider tokens per counted token; most often more than 1."""
    samples: int
    """The number of requests from which the ratio was learned."""
    unseen: NotRequired[int]
    """Tokens of every request that are not in the log: tools and system prompts that only the host
    knows. They are the part of the provider's last count that the log does not explain.
    """


class Span(TypedDict):
    """The events that a fold replaces. The chain hashes at their ends identify them."""

    before: str
    """The chain hash of all events before `start`."""
    end: int
    """One past the last event."""
    start: int
    """The first event."""
    through: str
    """The chain hash of all events before `end`."""


class AcceptedNarration(TypedDict):
    """A model's reply that passed all checks, ready for the next fold that covers its span."""

    invented: NotRequired[list[str]]
    """The names for which lines were left out: no message before them has these."""
    left_out: NotRequired[int]
    """The number of its lines that are in no section, because they failed a check or exceeded the
    cap.
    """
    model: str
    """The model that wrote it."""
    request: str
    """The id of the request that it answers."""
    sections: list[list[str]]
    """The name and the lines of each section. The lines cannot forge the structure of a recap."""
    span: Span
    """The events that it covers."""


class PrunedCount(TypedDict):
    """The blocks of covered events that one reducer edited for one reason."""

    blocks: int
    """The number of edited blocks."""
    reason: str
    """The reason code of the reducer."""
    reducer: str
    """The reducer that edited the blocks."""
    tokens_after: int
    """Tokens of these blocks after the edits."""
    tokens_before: int
    """Tokens of these blocks before the edits."""


class RecapRecord(TypedDict):
    """The recap of a fold, with figures."""

    files: int
    """The number of files that the recap names."""
    hash: str
    """A hash over the text."""
    redacted: int
    """The number of secrets that were replaced in it."""
    role: str
    """The role of the message that holds it."""
    text: str
    """The text of the recap."""
    tokens: int
    """Tokens of the recap."""


class DroppedLine(TypedDict):
    """A line of a reply that was left out of the narration."""

    line: str
    """The start of the line, without secrets and without text that could forge structure."""
    why: str
    """The reason code (`false-quote`, `ungrounded`, `injected`), and the words that it is about."""


class VerdictRecord(TypedDict):
    """The outcome of one request for a narration."""

    code: str
    """`accepted`, `unused` (it is not in the recap), why the reply was refused or is missing, or
    `pending` (no wait).
    """
    detail: str
    """The outcome in words for people, without keys and without text of the log."""
    dropped: NotRequired[list[DroppedLine]]
    """The lines of the reply that were left out of the narration."""
    request: str
    """The id of the request."""


class VoidReasoning(TypedDict):
    """Signed reasoning that its model would refuse, because what it is bound to has changed."""

    before: int
    """All signed reasoning in events before this one is void."""
    told_round: NotRequired[int | None]
    """The first message of the round that was the newest then, if the calls of that round are sent
    as text.
    """


class Fold(TypedDict):
    """The immutable record of one compaction."""

    accounts: FateCounts
    """The number of events with each fate."""
    budget: Budget
    """The budget for which the fold was planned."""
    cause: FoldCause
    """The reason for which the fold was made."""
    counter: str
    """The name of the counter that counted the tokens."""
    edits: list[BlockEdit]
    """The edits of reducers."""
    entries: list[FoldEntry]
    """The parts of the context that replace them, in order."""
    evicted: int
    """The number of events that a recap or a marker covers."""
    fallback: str | None
    """The kind of text that replaces the covered events where no narration does: `computed`,
    `marker`, `static`, or `host` for a recap of the host's own. Null if a model narrated alone,
    or if nothing was covered.
    """
    fallback_used: bool
    """Whether `fallback` is one of midfold's own texts: the flag of Summarizing Evicted Turns."""
    follows_reasoning: NotRequired[bool]
    """Whether a message up to the end of the span has reasoning, for a model that then wants some
    in each later message.
    """
    head_tokens: int
    """Tokens of the head, with system prompt and tools."""
    head_verbatim: bool
    """Whether every message of the head is sent with the bytes of the log."""
    id: str
    """The hash of this record, chained over the fold before it."""
    invented_ids: IdList
    """The identifiers that a written recap invented: a narration lost the lines that had them, a
    host's recap has them still. Empty for a computed recap.
    """
    joining: FoldJoin
    """The step of the session at which the fold was made."""
    keeps_turns: NotRequired[bool]
    """Whether user and assistant took turns so far. If so, the messages that the fold adds keep to
    that.
    """
    kept_ids: IdList
    """The identifiers of the covered span that the context still has."""
    layout: LayoutRecord
    """The head, the middle and the tail when the fold was made."""
    lost_ids: IdList
    """The identifiers of the covered span that the context no longer has."""
    messages_after: int
    """Messages of the context after the fold."""
    messages_before: int
    """Messages of the context before the fold."""
    meter: Meter
    """The state of the meter when the fold was planned."""
    middle_tokens: int
    """Tokens of the middle before the fold."""
    narrated: NotRequired[AcceptedNarration | None]
    """The narration in the recap; left out if no model wrote one."""
    policy: str
    """The name of the policy."""
    policy_fingerprint: str
    """A hash over the whole policy."""
    prev: str | None
    """The id of the fold that this one builds on; null for the first."""
    profile: str
    """The name of the profile: the provider's rules."""
    put_back: NotRequired[PutBackRecord | None]
    """The lines of the recap that the agent or the settings asked for; left out if there are
    none.
    """
    read: NotRequired[list[PrunedCount]]
    """The edits of reducers in events that the recap covers. They were made before the recap, which
    reads their result.
    """
    recap: RecapRecord | None
    """The recap; null if the fold has none."""
    referenced_later: IdList | None
    """The lost identifiers that the user or the assistant used again after the fold. Null in a new
    record; filled where the record is read again.
    """
    repairs: list[RepairRecord]
    """The changes without which the provider would refuse the context."""
    span: Span
    """The events that the fold replaces."""
    strategy: str
    """The name of the strategy (Head, Middle, Tail and Summarizing Evicted Turns)."""
    tail_tokens: int
    """Tokens of the tail."""
    tail_verbatim: bool
    """Whether every message of the tail is sent with the bytes of the log."""
    tokens_after: int
    """Counted tokens of the context after the fold."""
    tokens_before: int
    """Counted tokens of the context before the fold."""
    told_round: NotRequired[int | None]
    """The first message of the model's newest round, if the calls of that round are sent as text.
    As calls they would have to start with reasoning that is void.
    """
    verdicts: NotRequired[list[VerdictRecord]]
    """The outcomes of the requests for a narration since the fold before."""
    version: int
    """The version of the record's format."""
    void_before: NotRequired[VoidReasoning | None]
    """The reasoning that was void before this fold, if the earlier folds do not say so."""
    void_reasoning: NotRequired[int]
    """Signed reasoning of events before this one leaves the context: it is bound to everything
    before it, and the fold changes that. Later reasoning is bound to the folded context, and
    stays. 0 if the model does not bind reasoning.
    """
