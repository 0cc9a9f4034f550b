"""What a session says of itself."""

# Written by tools/door-types: change the sources that it reads.
from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict, Union

from ._entry import RepairReason
from ._fold import Meter

if TYPE_CHECKING:
    from typing_extensions import NotRequired

__all__ = [
    "AskedAgain",
    "Audit",
    "AuditFinding",
    "Due",
    "Explanation",
    "FoldReceipt",
    "FoldRef",
    "FoldStanding",
    "Injection",
    "LineRule",
    "NameReference",
    "Occurrence",
    "RemovedByRule",
    "Role",
    "SessionStatus",
    "Sight",
    "SightAnswer",
    "SightEdited",
    "SightMarker",
    "SightNotYet",
    "SightRecap",
    "SightRepaired",
    "SightVerbatim",
    "TextUse",
    "TierName",
    "TriggerLine",
    "VerbatimPlace",
    "WhenLeft",
]


TierName = Literal["results", "arguments", "dialogue"]
"""A class of content that can have a cap. `results`: Results of tool calls. `arguments`: Arguments
of tool calls. `dialogue`: Text of the user and the assistant.
"""


LineRule = Union[
    Literal["share", "floor", "tokens", "reserve", "cliff", "buffer", "seam", "agent"],
    dict[str, TierName],
]
"""The forms in which a policy can say when to fold. `share`: `threshold`: a share of the budget.
`floor`: `floor_tokens`: the share, raised (Hermes Agent). `tokens`: `tokens`: an absolute
number. `reserve`: `reserve`: so many tokens are to stay free. `cliff`: `cliffs`: the price of
the whole prompt rises there. `buffer`: `buffer`: where folding starts while the provider's cache
is cold. `seam`: `seam`: where folding starts at the end of a piece of work. `agent`: Where
folding starts when the agent asks for it.
"""


Due = TypedDict(
    "Due",
    {
        # Held: the folds before freed too little.
        "breaker": "NotRequired[None]",
        # What fits, in tokens.
        "limit": "NotRequired[int]",
        # Held: the last fold freed little.
        "little-gained": "NotRequired[None]",
        # Held: planning found nothing to fold.
        "nothing-to-gain": "NotRequired[None]",
        # Held: the policy is off.
        "off": "NotRequired[None]",
        # Held: a call has no result yet.
        "open-call": "NotRequired[None]",
        # The rule that set the line.
        "rule": "NotRequired[LineRule]",
        # Below the line, over one of the lines, over the window, or held back.
        "state": 'Literal["below", "threshold", "cold", "seam", "agent", "hard-window", "held"]',
        # The line, in tokens.
        "tokens": "NotRequired[int]",
        # Held: a person took a fold back.
        "undone": "NotRequired[None]",
    },
)
"""Whether a fold is due."""


class TriggerLine(TypedDict):
    """Where folding starts, and which rule says so."""

    rule: LineRule
    """The rule that set it: the lowest of those that a policy names."""
    tokens: int
    """Fires at this many tokens."""


class SessionStatus(TypedDict):
    """What the engine says of a session: `midfold session status --json` and the HTTP API have it
    as `status`.
    """

    active_fold: NotRequired[str | None]
    """The active fold."""
    budget_tokens: int
    """What a context may cost: the window without reserves."""
    compaction_count: int
    """Folds that were made."""
    compression_count: int
    """The same since the last reset, by the seed's name."""
    context_length: int
    """The window, as far as the provider let know."""
    context_percent: int
    """Percent of the window in use, as estimated."""
    context_tokens: int
    """What the provider will count for the context."""
    cooldown_seconds: int
    """Seconds until a model is asked again."""
    due: Due
    """Whether a fold is due, and what holds it back."""
    engine: str
    """The engine."""
    events: int
    """Events of the log."""
    last_completion_tokens: int
    """The provider's count of the last reply."""
    last_prompt_tokens: int
    """The provider's count of the last prompt."""
    last_total_tokens: int
    """Both."""
    log_tokens: int
    """Counted tokens of the whole log."""
    messages: int
    """Messages of the context."""
    meter: Meter
    """The meter."""
    model: str
    """The model, where one was named."""
    narration_asked: bool
    """A narration is being written."""
    narration_ready: bool
    """A narration waits for its fold."""
    pins: list[int]
    """Pinned events."""
    policy: str
    """The policy's name."""
    policy_fingerprint: str
    """Its fingerprint, as the records of folds have it."""
    policy_since: NotRequired[int | None]
    """Events that there were when the policy was changed; none where it never was."""
    protect_first_n: int
    """Messages that the policy keeps at the front, beside what its rule finds."""
    protect_last_n: int
    """Messages at the end that the policy leaves as they are at least: its tail, or what its
    reducers may not touch, where that is more (Hermes Agent: 6).
    """
    session: str
    """The session."""
    strikes: int
    """Folds in a row that freed too little."""
    threshold: TriggerLine
    """Where folding starts, and by which rule."""
    threshold_percent: float
    """The share of the budget in the policy."""
    threshold_tokens: int
    """`threshold.tokens`, by the seed's name."""
    usage_percent: float
    """Percent of the window that the last prompt took, as the provider counted it (Hermes Agent).
    """


class AuditFinding(TypedDict):
    """Something that does not hold."""

    at: str
    """What it is about: `fold 2`, `call 17`."""
    detail: str
    """What is wrong."""
    rule: str
    """One of `rule`."""


class NameReference(TypedDict):
    """A lost name that came up again."""

    name: str
    """The name."""
    seq: int
    """The first event after the fold in which the user or the assistant used it."""


class FoldRef(TypedDict):
    """A fold, as answers name it."""

    events: int
    """Events of the log when it was made."""
    id: str
    """Its id."""
    number: int
    """Its number in the session, from 1."""


class RemovedByRule(TypedDict):
    """What one rule took out."""

    items: int
    """Events, or blocks of events."""
    reason: str
    """The reducer's reason code; what the stand-in was made of."""
    rule: str
    """The rule: `recap`, `marker`, or a reducer."""
    tokens_after: int
    """Tokens of what is there now."""
    tokens_before: int
    """Their tokens before."""


FoldStanding = Literal["in-force", "prepared", "undone", "superseded"]
"""How a fold stands. `in-force`: A request was read through it, or the context is read through it
now, or what is read now was built on it while no request was recorded yet. `prepared`: Prepared
ahead by a worker, and not taken. `undone`: Taken back before a request was read through it.
`superseded`: Another fold was made on top of it before a request was read through it.
"""


class FoldReceipt(TypedDict):
    """What one fold lost, and kept."""

    asked_again: list[NameReference]
    """Those of them that the user or the assistant used again, and where first."""
    end: int
    """One past its last."""
    fold: FoldRef
    """The fold."""
    head_verbatim: bool
    """Whether the head is the log's own."""
    intact: bool
    """Whether the log still holds those, byte for byte."""
    kept_ids: list[int | list[str]]
    """Identifiers that the context still names: how many, and the best of them."""
    lost_ids: list[int | list[str]]
    """Identifiers that it does not."""
    messages_after: int
    """Messages of the context after."""
    messages_before: int
    """Messages of the context before."""
    pins: list[int]
    """Pinned events of the span, sent as they were."""
    policy: str
    """Its policy."""
    recallable: list[int]
    """Events of the span that are not sent as they were: recall returns each of them."""
    removed: list[RemovedByRule]
    """What left, by rule; the costliest first."""
    standing: FoldStanding
    """How it stands: what was never in force lost nothing."""
    start: int
    """First event of the span."""
    tail_verbatim: bool
    """Whether the tail is the log's own."""
    tokens_after: int
    """Tokens of the context after."""
    tokens_before: int
    """Tokens of the context before."""


class Audit(TypedDict):
    """What came of an audit."""

    calls: int
    """Calls that were checked."""
    findings: list[AuditFinding]
    """What does not hold; empty when all does."""
    folds: int
    """Folds that were in force. Those that were not are checked, too, and have their receipts."""
    receipts: list[FoldReceipt]
    """What each fold took out of the context."""


SightAnswer = Literal[
    "never-said",
    "not-yet",
    "gone",
    "in-recap",
    "edited",
    "verbatim",
]
"""The answer in one word. `never-said`: No event of the log holds it. `not-yet`: It was said later.
`gone`: It had left: neither an event nor the recap named it. `in-recap`: Only the recap named
it. `edited`: Only an edited or repaired event named it. `verbatim`: An event carried it as it
was.
"""


class AskedAgain(TypedDict):
    """A name of the text that a fold lost, and that came up again."""

    fold: FoldRef
    """The fold that lost it."""
    name: str
    """The name."""
    seq: int
    """The first event after the fold in which the user or the assistant used it."""


class WhenLeft(TypedDict):
    """When an event stopped carrying the text."""

    fold: FoldRef
    """The fold that did it."""
    reason: str
    """Its reason: the reducer's code, or what the recap was made of."""
    rule: str
    """By which rule: `recap`, `marker`, or the reducer."""


Role = Literal["system", "developer", "user", "assistant", "tool", "other"]
"""Who speaks in an event. `system`: System prompt. `developer`: Developer message (`OpenAI`): a
system message by another name. `user`: The user, or what a client sends in the user's role.
`assistant`: The model. `tool`: A tool's result. `other`: A role that no dialect knows (`exit`,
`critic`, …). Carried, never interpreted.
"""


VerbatimPlace = Literal["head", "pinned", "kept", "tail"]
"""Where a verbatim event stands. `head`: Before the fold's span. `pinned`: In the span, pinned (or
carried as the last request). `kept`: In the span, which did not cover it. `tail`: In the tail,
or there is no fold.
"""


SightNotYet = TypedDict(
    "SightNotYet",
    {
        "is": 'Literal["not-yet"]',
    },
)
"""The event was not there yet."""


SightVerbatim = TypedDict(
    "SightVerbatim",
    {
        "is": 'Literal["verbatim"]',
        # Where.
        "place": "VerbatimPlace",
    },
)
"""All of it."""


SightEdited = TypedDict(
    "SightEdited",
    {
        "is": 'Literal["edited"]',
        # Whether that still names the text.
        "named": "bool",
        # Its reason code.
        "reason": "str",
        # The reducer that edited it.
        "reducer": "str",
    },
)
"""An edited form of it."""


SightRepaired = TypedDict(
    "SightRepaired",
    {
        "is": 'Literal["repaired"]',
        # Whether that still names the text.
        "named": "bool",
        # Why.
        "why": "RepairReason",
    },
)
"""Another form of it, because the provider would have refused it."""


SightRecap = TypedDict(
    "SightRecap",
    {
        "is": 'Literal["recap"]',
        # Whether the recap names the text.
        "named": "bool",
    },
)
"""The recap instead of it."""


SightMarker = TypedDict(
    "SightMarker",
    {
        "is": 'Literal["marker"]',
    },
)
"""A marker instead of it."""


Sight = Union[
    SightNotYet,
    SightVerbatim,
    SightEdited,
    SightRepaired,
    SightRecap,
    SightMarker,
]
"""What the model saw of one event."""


class TextUse(TypedDict):
    """A later event that used the text."""

    after_left: bool
    """Whether the event before had stopped carrying it by then."""
    by: Role
    """Who used it."""
    seq: int
    """The event."""


class Occurrence(TypedDict):
    """One event that holds the text."""

    left: WhenLeft | None
    """When the event stopped carrying it."""
    recall: bool
    """Whether recall can bring it back: the event is in the log, which loses nothing."""
    role: Role
    """Who wrote it."""
    seq: int
    """The event: what recall is asked for."""
    sight: Sight
    """What the model saw of it."""
    snippet: str
    """The text with what is around it."""
    used: TextUse | None
    """The first later message of the user or the model that names it."""


class Explanation(TypedDict):
    """What came of the question."""

    answer: SightAnswer
    """The answer."""
    asked_again: NotRequired[list[AskedAgain]]
    """Names of it that a fold lost and that the user or the model used again."""
    call: int | None
    """The call that was asked about; none for the session as it stands."""
    events: int
    """Events that it was made from."""
    fold: FoldRef | None
    """The fold that it was read through."""
    in_recap: bool
    """Whether the recap names it."""
    lost_with: FoldRef | None
    """The fold with which it left the model's sight: neither an event nor the recap named it any
    more.
    """
    occurrences: list[Occurrence]
    """Every event that holds it, in order."""
    text: str
    """What was asked for."""


class Injection(TypedDict):
    """What one hook added to one request."""

    hash: str
    """A hash of its text: the ledger holds no content."""
    hook: str
    """The hook."""
    tokens: int
    """What it took of its reserve."""
