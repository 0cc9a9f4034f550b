"""A policy: when and how to fold."""

# Written by tools/door-types: change the sources that it reads.
from __future__ import annotations

from typing import Literal, TypedDict, Union

from ._narration import NarrationPolicy
from ._tool import ToolDefinition

__all__ = [
    "AgeUnit",
    "ArgumentsPolicy",
    "CoverExtent",
    "DedupPolicy",
    "EngineName",
    "FoldGoals",
    "HeadPolicy",
    "HeadRule",
    "KeepRule",
    "KeepRuleFile",
    "KeepRuleMessage",
    "ManualShare",
    "ModelTrigger",
    "Policy",
    "RecapFallback",
    "RecapPolicy",
    "RecapRole",
    "RecapSource",
    "ReducerName",
    "RetainPolicy",
    "RetainRule",
    "StubPolicy",
    "SupersedePolicy",
    "TailPolicy",
    "TailRule",
    "TerminalPolicy",
    "TierCaps",
    "TriggerPolicy",
    "WindowPolicy",
]


class ArgumentsPolicy(TypedDict, total=False):
    """Settings of the reducer `arguments`, which cuts long arguments of old calls."""

    leaf_chars: int
    """In longer arguments, strings are cut to this many characters (Hermes Agent: 200)."""
    max_chars: int
    """Arguments of up to this many characters stay (Hermes Agent: 500)."""
    numbers: bool
    """Whether a cut string ends with the number of the message, such as `@12`, by which recall
    shows it.
    """


class TierCaps(TypedDict, total=False):
    """The caps of classes of content: `[budget.tiers]` of a policy."""

    tiers: dict[str, float]
    """The share of the budget that a class may take in the whole context. Above it, the oldest
    content of the class is evicted, even below the threshold.
    """


class DedupPolicy(TypedDict, total=False):
    """Settings of the reducer `dedup`, which keeps the newest of identical results."""

    min_chars: int
    """Results shorter than this many characters are left alone (Hermes Agent: 200)."""


EngineName = Union[Literal["midfold", "passthrough"], dict[str, list[str]], str]
"""The name of an engine (Hermes Agent: engines are pluggable and chosen by configuration).
`midfold`: The built-in engine. `passthrough`: An engine that sends every message and never
folds.
"""


ManualShare = Literal["context", "budget"]
"""What the shares of a policy refer to in a manual compaction of a context within the budget,
without a requested size. `context`: The tokens of the present context, so that a person who asks
for a compaction gets one. `budget`: The budget, as in an automatic fold. What the floors protect
stays, and a conversation that they protect as a whole is left alone (Head, Middle, Tail: nothing
to compress). In automatic folds, too, the recap gives way before the tail.
"""


class FoldGoals(TypedDict, total=False):
    """The goals of a fold."""

    by_hand: ManualShare
    """What the policy's shares refer to if a person asks for a compaction while the context is
    within the budget.
    """
    min_reclaim: float
    """The share of the budget that a fold has to free; otherwise it is not made. 0.1 in `default`:
    a smaller gain does not pay for the lost cache.
    """
    target: float
    """The share of the budget that the context should take at most after a fold: 0.44 in `default`.
    A lower share leaves more requests between two folds, each of which loses the cache, and less
    room for the recap.
    """


HeadRule = Literal["task", "first-user", "messages", "system"]
"""The rules that find the head. `task`: Leading system messages, and everything up to the user's
first real task. `first-user`: Leading system messages, and the next message if it is the user's
(Head, Middle, Tail). `messages`: The first `messages` messages. `system`: Leading system
messages only (projection note).
"""


class HeadPolicy(TypedDict, total=False):
    """The messages that stay unchanged at the front. The cut moves forward to the end of a unit."""

    count_system: bool
    """For `messages`: whether `messages` counts the leading system messages."""
    decay: bool
    """Whether the first task leaves the head once there was a fold and the user made another
    request. Off by default: the provider's cache then ends before the task at that fold.
    """
    messages: int
    """For `messages`: the number of messages."""
    rule: HeadRule
    """The rule that finds the head; `task` in midfold's own presets. A longer head costs its tokens
    in each request, and keeps more of the cache through a fold.
    """


class KeepRuleMessage(TypedDict):
    """Keeps messages of the user, the assistant or the application whose words match this regular
    expression. Results of tools are not searched; they are kept by their file.
    """

    message: str


class KeepRuleFile(TypedDict):
    """Keeps the newest content of each file that matches this glob: the read or write with its
    call, and the edits since.
    """

    file: str


KeepRule = Union[KeepRuleMessage, KeepRuleFile]
"""An entry of `keep`: `{ message = "…" }` or `{ file = "…" }`."""


CoverExtent = Literal["middle", "overflow"]
"""How much of the middle a recap covers. `middle`: The whole middle. `overflow`: The oldest part,
as much as has to go to reach the target (projection note).
"""


RecapFallback = Literal["computed", "marker", "static"]
"""The kinds of recap when no model narrates. `computed`: The sections that midfold computes.
`marker`: The fixed marker (Head, Middle, Tail and Summarizing Evicted Turns). `static`: A fixed
sentence with the number of messages (Hermes Agent).
"""


RecapSource = Literal["log", "reduced"]
"""The form of the covered messages from which a recap is made, by a model or without one. `log`:
The messages as the log has them. `reduced`: The messages as the other reducers left them. These
run first, and a model is sent less (Hermes Agent, What Survives the Compression).
"""


RecapRole = Literal["assistant", "user", "opposite"]
"""The role of a recap. `assistant`: Assistant (Summarizing Evicted Turns and What Survives the
Compression). `user`: User. `opposite`: User after an assistant or tool message, else assistant
(Hermes Agent).
"""


class RecapPolicy(TypedDict, total=False):
    """The text that replaces covered events."""

    cap: float
    """The recap takes at most this share of the budget … 0.25 in `default`, 0.2 in `lean`, 0.45 in
    `generous`. A recap is sent with each request until the next fold; while it has room, it
    leaves nothing out.
    """
    cap_tokens: int
    """… and at most this many tokens (0: no cap in tokens)."""
    cover: CoverExtent
    """How much of the middle the recap covers."""
    fallback: RecapFallback
    """The kind of recap when no model narrates."""
    file_blocks: bool
    """Whether the recap ends with `<read-files>` and `<modified-files>` blocks (What Survives the
    Compression).
    """
    fills: bool
    """Whether the recap may exceed its share: by hand up to the target, else as far as it covers
    words of the user. On in `default` and `generous`; it costs nothing in conversations where
    tools do most.
    """
    header: str
    """The first line of the recap."""
    marker: str
    """The text that replaces a span when there is no recap (Summarizing Evicted Turns)."""
    note: str
    """A line below the header. (Hermes Agent writes it after the system prompt, which stays
    unchanged here.)
    """
    reads: RecapSource
    """The form of the covered messages from which the recap is made."""
    role: RecapRole
    """The role of the recap, if the profile allows it."""


ReducerName = Literal[
    "terminal",
    "dedup",
    "supersede",
    "retain",
    "stub",
    "arguments",
    "reasoning",
    "window",
    "cut",
    "recap",
]
"""The name of a reducer: a rule that makes the middle smaller. `terminal`: Collapses progress
output with carriage returns, and strips ANSI codes. `dedup`: Points identical results to the
newest. `supersede`: Replaces reads that a later read or write made stale by a line. `retain`:
Lets results expire by age or count. `stub`: Replaces results by one line that says what
happened. `arguments`: Clips long arguments of calls. `reasoning`: Drops reasoning in the middle.
`window`: Caps plain dialogue. `cut`: Shows the longest results cut: their first and last lines,
and a line that says what is left out. `recap`: Covers the oldest span by a recap.
"""


class RetainRule(TypedDict, total=False):
    """The limits of `retain` for some tools."""

    age: int | None
    """The limit of age, as in `RetainPolicy`."""
    count: int | None
    """The limit of number, as in `RetainPolicy`."""
    names: list[str]
    """Names of tools, or kinds in angle brackets: `<read>`, `<search>`."""
    never_evict: bool
    """Whether the results of these tools never expire."""


AgeUnit = Literal["steps", "turns"]
"""The unit in which the age of a result is counted. `steps`: Assistant messages after the result
(What Survives the Compression). `turns`: Real user messages after the result (projection note).
"""


class RetainPolicy(TypedDict, total=False):
    """Settings of the reducer `retain`: how long results stay."""

    across: bool
    """Whether `count` counts the results of all tools together."""
    age: int | None
    """A result expires when more than this many steps or turns came after it. Without it, age does
    not matter.
    """
    count: int | None
    """Of each tool, only this many of the newest results stay. Without it, their number does not
    matter.
    """
    never_evict: list[str]
    """Tools whose results never expire. These results also stay beside a recap."""
    stub: str
    """The text that replaces an expired result."""
    tools: list[RetainRule]
    """Limits for single tools or kinds of tools; the first rule that names the tool wins."""
    unit: AgeUnit
    """The unit of `age`."""


class StubPolicy(TypedDict, total=False):
    """Settings of the reducer `stub`, which replaces old results by a line that names the call."""

    min_chars: int
    """Results of up to this many characters stay (Hermes Agent: 200)."""
    numbers: bool
    """Whether the line ends with the number of the message, such as `@12`, by which recall shows
    it.
    """
    salient_chars: int
    """The most characters of salient lines (errors, failing tests, outliers) that are kept below
    the stub. 600 by default, about 200 tokens for each old result; 0 keeps the line alone.
    """
    verdicts: bool
    """Whether the line quotes from the result how the call ended: the totals of a check, or why it
    failed.
    """


class SupersedePolicy(TypedDict, total=False):
    """Settings of the reducer `supersede`, which replaces what was read of a file that was read or
    written again later.
    """

    min_chars: int
    """Results shorter than this many characters are left alone."""


TailRule = Literal["floors", "ceiling"]
"""The rules that find the tail. `floors`: Extends the tail towards the start until both floors are
met (Head, Middle, Tail). `ceiling`: Extends the tail towards the start while it is below 1.5 ×
its size, counting chars/4 + 10 for a message. Where a recap reads reduced messages, they are
counted as reducers leave them (Hermes Agent).
"""


class TailPolicy(TypedDict, total=False):
    """The messages that stay unchanged at the end."""

    cut_results: bool | None
    """Whether the results and arguments of the newest step are shown cut where nothing smaller fits
    the window: their first and last lines, and a line that says what is left out. Left out: a
    server does so in front of local models, and nobody else does.
    """
    last_user: bool
    """Whether the user's last real message stays verbatim. It joins the tail if that makes the tail
    at most half as large again; else it stays as a pin after the recap.
    """
    min_messages: int
    """The fewest messages of the tail: 4 in `default`, 2 in `lean`. Long steps may make it much
    larger than the share.
    """
    protect_messages: int
    """For `ceiling`: the number of newest messages that reducers leave alone (Hermes Agent:
    `protect_last_n`).
    """
    ratio: float
    """The least size of the tail, as a share of the budget (for `ceiling`: of the threshold).
    `default` has 0.1, `lean` 0.02. What the tail takes is not left for the recap, and the next
    fold comes earlier.
    """
    rule: TailRule
    """The rule that finds the tail."""


class TerminalPolicy(TypedDict, total=False):
    """Settings of the reducer `terminal`, which keeps what a terminal would finally show."""

    min_chars: int
    """Results shorter than this many characters are left alone."""


class ModelTrigger(TypedDict, total=False):
    """Trigger rules for models whose name contains `name`. If several entries match, the longest
    `name` wins. A rule that is left out stays as in the policy.
    """

    cliffs: list[int] | None
    """Prompt sizes in tokens above which the model charges more."""
    name: str
    """A part of the model's name, in any case."""
    reserve: int | None
    """The tokens of the budget that have to stay free."""
    threshold: float | None
    """The share of the budget at which folding starts."""
    tokens: int | None
    """The number of tokens at which folding starts."""


class TriggerPolicy(TypedDict, total=False):
    """When to fold."""

    buffer: float
    """The share of the budget from which a model is asked to narrate, so that the narration is
    ready when the trigger fires. It is below `threshold`; 0.60 if left out. A lower share asks
    earlier, so more newer messages are left to midfold alone. Without a narrator it only decides
    where a cold cache or an agent's request may fold. If another rule sets the line, the buffer
    keeps its proportion to it.
    """
    cliffs: list[int]
    """Prompt sizes in tokens above which a model charges more for the whole prompt. Folding starts
    5 % below the lowest. Without one, by default, price plays no part.
    """
    floor_tokens: int
    """The threshold is at least this many tokens (Hermes Agent: 64,000; 0 by default) …"""
    floored_share: float | None
    """… and if that reaches the window, it is this share of the window instead (Hermes Agent:
    `min(0.85 × window, window − 1)`).
    """
    injection_reserve: int
    """Tokens that are kept free for texts that hooks inject (projection note: 2,000; 0 by default).
    Set it where hooks add texts, or a request may exceed the window by them.
    """
    margin: float
    """The share that is added to every estimate before it is compared with a limit (projection
    note: 10 %; 0 by default, as the meter learns from the provider's counts).
    """
    min_messages: int
    """Conversations of at most this many messages are never folded (Hermes Agent: 7; 0 by
    default).
    """
    models: list[ModelTrigger]
    """Other rules for single models."""
    on: bool
    """Whether the session folds by itself. If off, it does not even at the window; a person still
    can compact it.
    """
    reserve: int
    """… or where fewer than this many tokens of the budget are left (0, the default: no such rule).
    Set it to the longest step that is expected.
    """
    seam: float
    """The share of the budget from which the session folds at a seam, where some work has just
    ended: a user's turn, an item of the to-do list, a commit, a check that passed. 0, the
    default, or not below `threshold`: seams do not matter. If another rule sets the line, the
    share keeps its proportion to it.
    """
    threshold: float
    """Folding starts at this share of the budget … `default` has 0.78, `lean` 0.48. A lower share
    makes each request cheaper and folds earlier; a higher one leaves less room for a long step.
    """
    tokens: int
    """… or at this many tokens, if that is less (0, the default: no such rule) … It holds cost down
    in a very large window.
    """


class WindowPolicy(TypedDict, total=False):
    """Settings of the reducer `window`: a cap on plain dialogue (projection note). Off unless one
    of them is set.
    """

    tokens: int | None
    """The tokens of newest dialogue that stay."""
    turns: int | None
    """The number of newest turns whose dialogue stays."""


class Policy(TypedDict, total=False):
    """When and how to fold. Every ratio is a share of the budget's tokens; a threshold is crossed
    when it is reached.
    """

    base: str
    """The preset that holds where nothing else is said; `default` without it."""
    arguments: ArgumentsPolicy
    """Settings of `arguments`, which clips long arguments of calls."""
    budget: TierCaps
    """The caps of classes of content."""
    dedup: DedupPolicy
    """Settings of `dedup`, which points identical results to the newest."""
    engine: EngineName
    """The engine: `midfold`, or `passthrough`, which changes nothing."""
    fold: FoldGoals
    """The goals of a fold."""
    head: HeadPolicy
    """The messages that stay unchanged at the front."""
    keep: list[KeepRule]
    """The content that stays word for word through every fold: messages by their words, files by
    their paths.
    """
    name: str
    """The name of the policy, for records and reports."""
    narration: NarrationPolicy
    """How a model narrates, if one is configured."""
    recap: RecapPolicy
    """The text that replaces covered events."""
    reducers: list[ReducerName]
    """The reducers to run, in this order: the cheap ones first."""
    retain: RetainPolicy
    """Settings of `retain`, which lets results expire by age or count."""
    source: str
    """The document or the measurement that the constants come from."""
    strategy: str
    """The value of `strategy` in fold records (Head, Middle, Tail: `head-tail`, Summarizing Evicted
    Turns: `summarize`).
    """
    stub: StubPolicy
    """Settings of `stub`, which replaces a result by one line that says what happened."""
    summary: str
    """What the policy does, in one line for people."""
    supersede: SupersedePolicy
    """Settings of `supersede`, which drops reads that a later read or write made stale."""
    tail: TailPolicy
    """The messages that stay unchanged at the end."""
    terminal: TerminalPolicy
    """Settings of `terminal`, which collapses progress output."""
    tools: list[ToolDefinition]
    """Tools that the built-in table does not know, or describes otherwise."""
    trigger: TriggerPolicy
    """When to fold."""
    window: WindowPolicy
    """Settings of `window`, which caps plain dialogue."""
