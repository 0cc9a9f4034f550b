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
    "ContextReader",
    "ContextReaderClient",
    "ContextReaderMidfold",
    "ContextReaderOverfull",
    "ContextReaderProxied",
    "Due",
    "Explanation",
    "FillSource",
    "FillSourceCounted",
    "FillSourceCountedAndNewer",
    "FillSourceEstimated",
    "FoldReceipt",
    "FoldRef",
    "FoldStanding",
    "Injection",
    "LineRule",
    "NameReference",
    "NearMessage",
    "Occurrence",
    "RemovedByRule",
    "Role",
    "SessionStatus",
    "Sight",
    "SightAnswer",
    "SightCut",
    "SightEdited",
    "SightMarker",
    "SightNotYet",
    "SightRecap",
    "SightRepaired",
    "SightTranscript",
    "SightVerbatim",
    "TextUse",
    "TierName",
    "TriggerLine",
    "VerbatimPlace",
    "WhenLeft",
]


class FillSourceCounted(TypedDict):
    """The provider counted the last prompt, and nothing was added since."""

    kind: Literal["counted"]


class FillSourceCountedAndNewer(TypedDict):
    """The provider counted the last prompt. Newer messages are estimated."""

    counted: int
    """Tokens of the last prompt, as the provider counted them."""
    kind: Literal["counted-and-newer"]


class FillSourceEstimated(TypedDict):
    """All of it is estimated."""

    kind: Literal["estimated"]


FillSource = Union[
    FillSourceCounted,
    FillSourceCountedAndNewer,
    FillSourceEstimated,
]
"""The source of a context's tokens."""


TierName = Literal["results", "arguments", "dialogue"]
"""A class of content that can have a cap. `results`: Results of tool calls. `arguments`: Arguments
of tool calls. `dialogue`: Text of the user and the assistant.
"""


LineRule = Union[
    Literal["share", "floor", "tokens", "reserve", "cliff", "buffer", "seam", "agent"],
    dict[str, TierName],
]
"""The rules by which a policy can say when to fold. `share`: `threshold`: a share of the budget.
`floor`: `floor_tokens`: the share, raised to this number of tokens (Hermes Agent). `tokens`:
`tokens`: a number of tokens. `reserve`: `reserve`: the number of tokens that have to stay free.
`cliff`: `cliffs`: a prompt size above which the whole prompt costs more. `buffer`: `buffer`: the
line while the provider's cache is cold. `seam`: `seam`: the line where some work has just ended.
`agent`: The line where the agent asks for a fold.
"""


Due = TypedDict(
    "Due",
    {
        # Held: the folds before freed too little.
        "breaker": "NotRequired[None]",
        # Held: the window fits few steps, and is not full.
        "few-steps": "NotRequired[None]",
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
    """The line at which folding starts, and the rule that sets it."""

    rule: LineRule
    """The rule that sets the line. Of several rules, the one with the lowest line wins."""
    tokens: int
    """The number of tokens at which folding starts."""


class SessionStatus(TypedDict):
    """The figures of a session: `status` in `midfold session status --json` and in the HTTP API."""

    active_fold: NotRequired[str | None]
    """The id of the active fold; left out if nothing is folded."""
    budget_tokens: int
    """The tokens that a context may take: the window without its reserves."""
    compaction_count: int
    """The number of folds that were in force."""
    compression_count: int
    """The number of folds in force since the last reset, under Hermes Agent's name."""
    context_length: int
    """The model's window in tokens, as far as the provider revealed it."""
    context_percent: int
    """The percentage of the window that `context_tokens` take."""
    context_source: FillSource
    """The source of `context_tokens`."""
    context_tokens: int
    """Tokens of the context with what travels beside it, in the provider's tokens."""
    cooldown_seconds: int
    """Seconds until a model may be asked for a narration again."""
    due: Due
    """Whether a fold is due, and what holds it back if not."""
    engine: str
    """The engine: `midfold` or `passthrough`."""
    events: int
    """The number of events in the log."""
    last_completion_tokens: int
    """Tokens of the last reply, as the provider counted them."""
    last_prompt_tokens: int
    """Tokens of the last prompt, as the provider counted them."""
    last_total_tokens: int
    """The sum of both."""
    log_tokens: int
    """Counted tokens of the whole log."""
    messages: int
    """The number of messages in the context."""
    meter: Meter
    """The meter, which turns counted tokens into the provider's tokens."""
    model: str
    """The model that the contexts go to; empty if none was named."""
    narration_asked: bool
    """Whether a narration is being written."""
    narration_ready: bool
    """Whether a narration is ready for the next fold."""
    pins: list[int]
    """The numbers of the pinned events."""
    policy: str
    """The name of the policy."""
    policy_fingerprint: str
    """The fingerprint of the policy, as in the records of folds."""
    policy_since: NotRequired[int | None]
    """The number of events in the log when the policy was changed; left out if it never was."""
    protect_first_n: int
    """The number of messages that the policy keeps at the front, beside those that its head rule
    finds.
    """
    protect_last_n: int
    """The fewest messages at the end that the policy leaves unchanged: the larger of its tail and
    of what its reducers may not touch (Hermes Agent: 6).
    """
    session: str
    """The id of the session."""
    strikes: int
    """The number of the last folds in a row that freed too little."""
    threshold: TriggerLine
    """The line in tokens at which folding starts, with the rule that sets it."""
    threshold_percent: float
    """The policy's threshold, as a share of the budget."""
    threshold_tokens: int
    """`threshold.tokens`, under Hermes Agent's name."""
    usage_percent: float
    """The percentage of the window that the last prompt took, as the provider counted it (Hermes
    Agent).
    """


class AuditFinding(TypedDict):
    """A rule that does not hold."""

    at: str
    """The record that breaks the rule: `fold 2`, `call 17`."""
    detail: str
    """The fault, in words."""
    rule: str
    """The name of the rule, one of `rule`."""


class NameReference(TypedDict):
    """A name that a fold lost and that was used again later."""

    name: str
    """The name."""
    seq: int
    """The first event after the fold in which the user or the assistant used it."""


class FoldRef(TypedDict):
    """A reference to a fold in an answer."""

    events: int
    """The number of events in the log when the fold was made."""
    id: str
    """The id of the fold."""
    number: int
    """The number of the fold in the session, from 1."""


class RemovedByRule(TypedDict):
    """The content that one rule took out of the context."""

    items: int
    """The number of events; for a reducer, the number of blocks. Events that had left with an
    earlier fold do not count.
    """
    reason: str
    """The reason code of the reducer. For `recap`: what the recap was made of (`narrated`,
    `computed`, `static`, `host`).
    """
    rule: str
    """The rule: `recap`, `marker`, or the name of a reducer."""
    tokens_after: int
    """Tokens of the text that replaces them."""
    tokens_before: int
    """The tokens in the context before the fold: of these items, and of an earlier stand-in that
    this one replaces.
    """


FoldStanding = Literal["in-force", "prepared", "undone", "superseded"]
"""Whether a fold was ever in force, and if not, why. `in-force`: A request was read through the
fold, or it is the active fold. If no request was recorded before it was made, it is enough that
the active fold builds on it. `prepared`: A worker prepared the fold ahead of time, and it was
never used. `undone`: The fold was taken back before a request was read through it. `superseded`:
Another fold was made on top of it before a request was read through it.
"""


class FoldReceipt(TypedDict):
    """The account of one fold: what it took out of the context, and what is still there."""

    asked_again: list[NameReference]
    """The lost names that the user or the assistant used again, each with the first event that
    did.
    """
    end: int
    """One past the last event of the span."""
    fold: FoldRef
    """The fold."""
    head_verbatim: bool
    """Whether every message of the head is sent with the bytes of the log."""
    intact: bool
    """Whether the log still holds these events, byte for byte."""
    kept_ids: list[int | list[str]]
    """The names of the span that the context still has: their number, and those that matter
    most.
    """
    lost_ids: list[int | list[str]]
    """The names of the span that the context no longer has, in the same form."""
    messages_after: int
    """Messages of the context after the fold."""
    messages_before: int
    """Messages of the context before the fold."""
    pins: list[int]
    """The events of the span that are sent unchanged: pinned ones, and the user's last message
    where it is not in the tail.
    """
    policy: str
    """The name of the fold's policy."""
    recallable: list[int]
    """The events of the span that are not sent in their original form. Recall returns each of
    them.
    """
    removed: list[RemovedByRule]
    """The content that left, by rule; the rule that freed most tokens first."""
    standing: FoldStanding
    """Whether the fold was ever in force. A fold that never was lost nothing."""
    start: int
    """The first event of the fold's span."""
    tail_verbatim: bool
    """Whether every message of the tail is sent with the bytes of the log."""
    tokens_after: int
    """Counted tokens of the context after the fold."""
    tokens_before: int
    """Counted tokens of the context before the fold."""


class Audit(TypedDict):
    """The result of an audit."""

    calls: int
    """The number of calls that were checked."""
    findings: list[AuditFinding]
    """The faults; empty if every rule holds."""
    folds: int
    """The number of folds that were in force. Folds that never were are checked, too, and have
    receipts.
    """
    receipts: list[FoldReceipt]
    """For each fold, what it took out of the context."""


SightAnswer = Literal[
    "never-said",
    "not-yet",
    "gone",
    "in-recap",
    "edited",
    "verbatim",
]
"""The answer in one word: the best form in which the model saw the text. `never-said`: No event of
the log has the text. `not-yet`: Only later events have the text. `gone`: The text had left the
context: neither an event nor the recap had it. `in-recap`: Only the recap had the text.
`edited`: Only an edited, repaired or cut event had the text. `verbatim`: An unchanged event had
the text.
"""


class AskedAgain(TypedDict):
    """A name in the text that a fold lost and that was used again later."""

    fold: FoldRef
    """The fold that lost the name."""
    name: str
    """The name."""
    seq: int
    """The first event after the fold in which the user or the assistant used it."""


Role = Literal["system", "developer", "user", "assistant", "tool", "other"]
"""Who speaks in an event. `system`: System prompt. `developer`: Developer message (`OpenAI`): a
system message by another name. `user`: The user, or what a client sends in the user's role.
`assistant`: The model. `tool`: A tool's result. `other`: A role that no dialect knows (`exit`,
`critic`, …). Carried, never interpreted.
"""


class NearMessage(TypedDict):
    """A message that has words of the text, where no message has the text."""

    role: Role
    """Who wrote the event; `tool` for results."""
    seq: int
    """The number of the event."""
    snippet: str
    """The line with most of the words."""


class WhenLeft(TypedDict):
    """The fold since which an event has not shown the text."""

    fold: FoldRef
    """The fold."""
    reason: str
    """The reason: the reducer's code, or what the recap was made of."""
    rule: str
    """The rule: `recap`, `marker`, or the name of a reducer."""


VerbatimPlace = Literal["head", "pinned", "kept", "tail"]
"""The region of the context that holds a verbatim event. `head`: The head: before the fold's span.
`pinned`: In the span, pinned or carried as the user's last request. `kept`: In the span, but not
covered by the fold. `tail`: The tail; also for every event where there is no fold.
"""


SightNotYet = TypedDict(
    "SightNotYet",
    {
        "is": 'Literal["not-yet"]',
    },
)
"""The event came later."""


SightTranscript = TypedDict(
    "SightTranscript",
    {
        "is": 'Literal["transcript"]',
    },
)
"""The event is in a transcript whose client decides what is sent."""


SightVerbatim = TypedDict(
    "SightVerbatim",
    {
        "is": 'Literal["verbatim"]',
        # The region of the context that held it.
        "place": "VerbatimPlace",
    },
)
"""The event was in the context, unchanged."""


SightEdited = TypedDict(
    "SightEdited",
    {
        "is": 'Literal["edited"]',
        # Whether the edited form still has the text.
        "named": "bool",
        # The reason code of the edit.
        "reason": "str",
        # The reducer that edited it.
        "reducer": "str",
    },
)
"""A reducer had edited the event."""


SightRepaired = TypedDict(
    "SightRepaired",
    {
        "is": 'Literal["repaired"]',
        # Whether that form still has the text.
        "named": "bool",
        # The reason of the repair.
        "why": "RepairReason",
    },
)
"""The event was sent in another form, because the provider would have refused the original."""


SightCut = TypedDict(
    "SightCut",
    {
        "is": 'Literal["cut"]',
        # Whether the part that was sent has the text.
        "named": "bool",
    },
)
"""The event was one of the newest, and a proxy had cut it because whole it did not fit."""


SightRecap = TypedDict(
    "SightRecap",
    {
        "is": 'Literal["recap"]',
        # Whether the recap has the text.
        "named": "bool",
    },
)
"""A recap replaced the event."""


SightMarker = TypedDict(
    "SightMarker",
    {
        "is": 'Literal["marker"]',
    },
)
"""A marker replaced the event."""


Sight = Union[
    SightNotYet,
    SightTranscript,
    SightVerbatim,
    SightEdited,
    SightRepaired,
    SightCut,
    SightRecap,
    SightMarker,
]
"""The form in which the model saw one event."""


class TextUse(TypedDict):
    """A later event that used the text."""

    after_left: bool
    """Whether the original event no longer showed the text by then."""
    by: Role
    """Who used the text."""
    seq: int
    """The number of the event."""


class Occurrence(TypedDict):
    """One event that has the text."""

    left: WhenLeft | None
    """The fold since which the event has not shown the text; null while it shows it."""
    recall: bool
    """Whether recall can bring the event back. True for every event that the log had at that
    moment.
    """
    role: Role
    """Who wrote the event; `tool` for results, whatever role the dialect gives them."""
    seq: int
    """The number of the event, as recall takes it."""
    sight: Sight
    """The form in which the model saw the event."""
    snippet: str
    """The text with some words around it."""
    used: TextUse | None
    """The first later message of the user or the model that has the text; null if there is none."""


ContextReaderMidfold = TypedDict(
    "ContextReaderMidfold",
    {
        "is": 'Literal["midfold"]',
    },
)
"""The model reads the contexts that midfold hands out."""


ContextReaderProxied = TypedDict(
    "ContextReaderProxied",
    {
        "is": 'Literal["proxied"]',
    },
)
"""As before, and the newest messages are not in the log: a client sends its own history through a
proxy, and what is behind its newest answer is stored with the next request.
"""


ContextReaderOverfull = TypedDict(
    "ContextReaderOverfull",
    {
        "is": 'Literal["overfull"]',
        # Tokens of the context.
        "tokens": "int",
        # The model's window in tokens.
        "window": "int",
    },
)
"""As before, but the present context does not fit, so it is folded before it is sent."""


ContextReaderClient = TypedDict(
    "ContextReaderClient",
    {
        "is": 'Literal["client"]',
    },
)
"""A client sends its own messages, of which midfold has a copy."""


ContextReader = Union[
    ContextReaderMidfold,
    ContextReaderProxied,
    ContextReaderOverfull,
    ContextReaderClient,
]
"""Who decides what the model reads of a session."""


class Explanation(TypedDict):
    """The answer to the question whether the model saw a text."""

    answer: SightAnswer
    """The answer."""
    asked_again: NotRequired[list[AskedAgain]]
    """The names in the text that a fold lost and that the user or the model used again."""
    call: int | None
    """The number of the call that was asked about; null for the present state of the session."""
    events: int
    """The number of events in the log at that moment."""
    fold: FoldRef | None
    """The fold that was active at that moment; null if there was none."""
    in_recap: bool
    """Whether the recap has the text."""
    lost_with: FoldRef | None
    """The fold since which neither an event nor the recap has the text; null unless the answer is
    `gone`.
    """
    near: NotRequired[list[NearMessage]]
    """Where no event has the text: the newest events with most of its words."""
    occurrences: list[Occurrence]
    """Every event that has the text, in the order of the log."""
    reader: ContextReader
    """Who decides what the model reads."""
    text: str
    """The text that was looked for."""
    verdict: str
    """The answer in a sentence, for people."""


class Injection(TypedDict):
    """The text that one hook added to one request."""

    hash: str
    """A hash over the text. The text itself is not kept."""
    hook: str
    """The name of the hook."""
    tokens: int
    """The tokens that it took of its reserve, as the provider is expected to count them."""
