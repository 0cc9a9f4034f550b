"""A policy: when and how to fold."""

# Written by tools/door-types: change the sources that it reads.
from __future__ import annotations

from typing import Literal, TypedDict, Union

from ._narration import NarrationPolicy

__all__ = [
    "AgeUnit",
    "AnswerSource",
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
    "ToolDefinition",
    "ToolKind",
    "ToolMode",
    "TriggerPolicy",
    "WindowPolicy",
]


class ArgumentsPolicy(TypedDict, total=False):
    """Settings of `arguments`."""

    leaf_chars: int
    """Longer strings inside are cut to this length (Hermes Agent: 200)."""
    max_chars: int
    """Arguments up to this length stay, in characters (Hermes Agent: 500)."""


class TierCaps(TypedDict, total=False):
    """Caps of classes of content, as `[budget.tiers]` of a policy."""

    tiers: dict[str, float]
    """What a class may take of the budget, over the whole context. Passed, it is evicted from the
    oldest on, before the threshold is reached.
    """


class DedupPolicy(TypedDict, total=False):
    """Settings of `dedup`."""

    min_chars: int
    """Results shorter than this are left alone, in characters (Hermes Agent: 200)."""


EngineName = Union[Literal["midfold", "passthrough"], dict[str, list[str]], str]
"""An engine, by name (Hermes Agent: engines are pluggable and chosen by configuration). `midfold`:
The built-in one. `passthrough`: Sends everything, always.
"""


ManualShare = Literal["context", "budget"]
"""What the shares of a policy are of in a compaction by hand of less than the budget, where no size
is asked for. `context`: Of what there is: who asks for a compaction gets one. `budget`: Of the
budget, as when the line is crossed: what the floors protect stays, and a list that they protect
whole is left alone (Head, Middle, Tail: nothing to compress).
"""


class FoldGoals(TypedDict, total=False):
    """What a fold has to reach."""

    by_hand: ManualShare
    """What the policy's shares are of where a person asks for a fold of less than the budget."""
    min_reclaim: float
    """A fold that frees less than this share of the budget is not made."""
    target: float
    """The context after a fold should cost at most this share of the budget."""


HeadRule = Literal["task", "first-user", "messages", "system"]
"""How the head is found. `task`: Leading system messages and everything up to the first real task.
`first-user`: Leading system messages and the message after them if it is the user's (Head,
Middle, Tail). `messages`: The first n messages. `system`: Leading system messages only
(projection note).
"""


class HeadPolicy(TypedDict, total=False):
    """What stays verbatim at the front. A cut snaps forward to a unit boundary."""

    count_system: bool
    """For `messages`: leading system messages are among them."""
    decay: bool
    """The first task leaves the head after the first fold, once a later request replaced it."""
    messages: int
    """For `messages`: how many."""
    rule: HeadRule
    """How the head is found."""


class KeepRuleMessage(TypedDict):
    """Messages of the user, the assistant or the application whose words match this regular
    expression. What a tool answered is asked for by its file.
    """

    message: str


class KeepRuleFile(TypedDict):
    """The newest content of each file that matches this glob, as it was read or written, with its
    call, and the edits of it since.
    """

    file: str


KeepRule = Union[KeepRuleMessage, KeepRuleFile]
"""One entry of `keep`: `{ message = "…" }` or `{ file = "…" }`."""


CoverExtent = Literal["middle", "overflow"]
"""How much of the middle a recap covers. `middle`: All of it. `overflow`: The oldest part that has
to go to reach the target (projection note).
"""


RecapFallback = Literal["computed", "marker", "static"]
"""What a recap is made of when no model answers. `computed`: The computed sections. `marker`: The
fixed marker (Head, Middle, Tail and Summarizing Evicted Turns). `static`: A fixed sentence with
the number of messages (Hermes Agent).
"""


RecapSource = Literal["log", "reduced"]
"""What a recap is made from, by a model or without one. `log`: The messages as the log has them.
`reduced`: What the reducers before it left of them: they run first, and a model is sent less
(Hermes Agent, What Survives the Compression).
"""


RecapRole = Literal["assistant", "user", "opposite"]
"""The role of a recap. `assistant`: Assistant (Summarizing Evicted Turns and What Survives the
Compression). `user`: User. `opposite`: User after an assistant or tool message, else assistant
(Hermes Agent).
"""


class RecapPolicy(TypedDict, total=False):
    """What is in the place of a covered span."""

    cap: float
    """At most this share of the budget …"""
    cap_tokens: int
    """… and at most this many tokens (0: no further cap)."""
    cover: CoverExtent
    """How much of the middle it covers."""
    fallback: RecapFallback
    """What it is made of when no model answers."""
    file_blocks: bool
    """Adds `<read-files>` and `<modified-files>` blocks (What Survives the Compression)."""
    fills: bool
    """Where head and tail leave more of the target than the share, it may take that, too."""
    header: str
    """Its first line."""
    marker: str
    """The text that stands for a span when there is no recap (Summarizing Evicted Turns)."""
    note: str
    """A line below the header (Hermes Agent writes it behind the system prompt, which stays as it
    is here).
    """
    reads: RecapSource
    """What of the covered messages it is made from."""
    role: RecapRole
    """The role that it takes where the profile allows it."""


ReducerName = Literal[
    "terminal",
    "dedup",
    "supersede",
    "retain",
    "stub",
    "arguments",
    "reasoning",
    "window",
    "recap",
]
"""A reducer. `terminal`: Collapse carriage-return progress, strip ANSI. `dedup`: Point identical
results to the newest. `supersede`: Stub reads that a later read or write made stale. `retain`:
Expire results by age or count. `stub`: One-line stubs. `arguments`: Clip call arguments.
`reasoning`: Drop reasoning in the middle. `window`: Cap plain dialogue. `recap`: Cover the
oldest span by a recap.
"""


class RetainRule(TypedDict, total=False):
    """A rule for some tools."""

    age: int | None
    """As in `RetainPolicy`."""
    count: int | None
    """As in `RetainPolicy`."""
    names: list[str]
    """Tool names, or kinds in angle brackets: `<read>`, `<search>`."""
    never_evict: bool
    """Their results never expire."""


AgeUnit = Literal["steps", "turns"]
"""How the age of a result is counted. `steps`: Assistant messages after the result (What Survives
the Compression). `turns`: Real user messages after the result (projection note).
"""


class RetainPolicy(TypedDict, total=False):
    """Settings of `retain`: how long results stay."""

    across: bool
    """Counts the results of all tools together."""
    age: int | None
    """A result expires when more than this many units came after it."""
    count: int | None
    """Of one tool, only the newest n results stay."""
    never_evict: list[str]
    """Tools whose results never expire, and stay beside a recap, too."""
    stub: str
    """What expired results say."""
    tools: list[RetainRule]
    """Rules for single tools or kinds of tools; the first that names the tool wins."""
    unit: AgeUnit
    """What age counts."""


class StubPolicy(TypedDict, total=False):
    """Settings of `stub`."""

    min_chars: int
    """Results up to this length stay, in characters (Hermes Agent: 200)."""
    salient_chars: int
    """Salient lines (errors, failing tests, outliers) kept below the stub, in characters."""


class SupersedePolicy(TypedDict, total=False):
    """Settings of `supersede`."""

    min_chars: int
    """Results shorter than this are left alone, in characters."""


TailRule = Literal["floors", "ceiling"]
"""How the tail is found. `floors`: Walk back until both floors hold (Head, Middle, Tail).
`ceiling`: Walk back while the tail stays below 1.5 × its budget, counting chars/4 + 10 (Hermes
Agent).
"""


class TailPolicy(TypedDict, total=False):
    """What stays verbatim at the end."""

    last_user: bool
    """The last real user message stays verbatim: in the tail where that costs at most half as much
    again, else as a pin after the recap.
    """
    min_messages: int
    """And at least this many messages."""
    protect_messages: int
    """For `ceiling`: reducers leave at least so many of the newest messages alone, and those within
    `ratio` (Hermes Agent: `protect_last_n`).
    """
    ratio: float
    """At least this share of the budget (for `ceiling`: of the threshold)."""
    rule: TailRule
    """How the tail is found."""


class TerminalPolicy(TypedDict, total=False):
    """Settings of `terminal`."""

    min_chars: int
    """Results shorter than this are left alone, in characters."""


AnswerSource = Literal["nobody", "marked", "person"]
"""Whose words the result of a tool holds. `nobody`: The tool's own. `marked`: A person's where the
client marks them as such: a plan that is approved with a remark. `person`: A person's, all of
them: a question to the user.
"""


ToolKind = Literal[
    "read",
    "write",
    "edit",
    "search",
    "list",
    "shell",
    "web",
    "task",
    "todo",
    "other",
]
"""What a tool does. `read`: Shows a file. `write`: Writes a whole file. `edit`: Changes a part of a
file. `search`: Looks for text or names. `list`: Lists a folder. `shell`: Runs a command or a
program. `web`: Fetches or searches the web, drives a browser. `task`: Hands work to another
agent. `todo`: Keeps the list of what is to be done. `other`: Anything else, and every unknown
tool.
"""


class ToolMode(TypedDict, total=False):
    """An argument whose value decides what a tool does."""

    arg: str
    """The argument."""
    kinds: dict[str, ToolKind]
    """Kind by value."""


class ToolDefinition(TypedDict, total=False):
    """One entry of the table: tools that work alike. Also the form in which a policy adds tools."""

    answers: AnswerSource
    """Whose words its results hold."""
    code: list[str]
    """Arguments that hold a program in another language."""
    commands: list[str]
    """Arguments that hold a shell command."""
    end: list[str]
    """Arguments with the last line of a partial read."""
    kind: ToolKind
    """What they do."""
    limit: list[str]
    """Arguments with the number of lines of a partial read."""
    mode: ToolMode | None
    """An argument whose value decides the kind."""
    names: list[str]
    """Their names; `*` at the end stands for any rest."""
    offset: list[str]
    """Arguments with the first line of a partial read."""
    patches: list[str]
    """Arguments that hold a patch."""
    paths: list[str]
    """Arguments that name files; for a listing the folder."""
    queries: list[str]
    """Arguments that say what is looked for."""
    range: list[str]
    """Arguments with a pair of first and last line."""


class ModelTrigger(TypedDict, total=False):
    """Trigger rules for models whose name contains `name`; the longest such name counts. What is
    not said stays.
    """

    cliffs: list[int] | None
    """Price cliffs."""
    name: str
    """Part of the model's name; case does not matter."""
    reserve: int | None
    """Tokens to leave free."""
    threshold: float | None
    """Share of the budget."""
    tokens: int | None
    """Absolute number of tokens."""


class TriggerPolicy(TypedDict, total=False):
    """When to fold."""

    buffer: float
    """A model is asked to narrate from this share of the budget on, so that the narration is there
    when the trigger fires. Below `threshold`; where another rule sets the line, the buffer keeps
    its proportion to it.
    """
    cliffs: list[int]
    """Prompt sizes above which a model charges more for the whole prompt: folding starts 5 % below
    the lowest.
    """
    floor_tokens: int
    """The threshold is at least this many tokens (Hermes Agent: 64,000) …"""
    floored_share: float | None
    """… and where that reaches the window, this share of it instead, below the window (Hermes
    Agent: `min(0.85 × window, window − 1)`).
    """
    injection_reserve: int
    """Kept free for what hooks inject (projection note: 2,000 tokens)."""
    margin: float
    """Added to every estimate that a limit is held against (projection note: 10 %)."""
    min_messages: int
    """Conversations of at most this many messages are left alone (Hermes Agent: 7)."""
    models: list[ModelTrigger]
    """Other rules for single models."""
    on: bool
    """Off: nothing folds by itself, not even at the window; a person still can."""
    reserve: int
    """And where fewer than this many tokens of the budget are left (0: no such rule)."""
    seam: float
    """From this share of the budget on a fold comes where a piece of work has just ended: a user's
    turn, an item of the to-do list, a commit, a check that passed. It waits for that up to the
    threshold. 0, or not below `threshold`: the threshold alone counts. Where another rule sets
    the line, it keeps its proportion to it.
    """
    threshold: float
    """Fires at this share of the budget."""
    tokens: int
    """And at this many tokens, where that is less (0: no such rule)."""


class WindowPolicy(TypedDict, total=False):
    """Settings of `window`: a cap on plain dialogue (projection note), off unless one is set."""

    tokens: int | None
    """Keep the newest dialogue up to this many tokens."""
    turns: int | None
    """Keep the dialogue of the newest n turns."""


class Policy(TypedDict, total=False):
    """When and how to fold. Every ratio multiplies the budget's tokens; every threshold is `≥`."""

    base: str
    """The preset that holds where nothing else is said; `default` without it."""
    arguments: ArgumentsPolicy
    """Clips long call arguments."""
    budget: TierCaps
    """Caps of classes of content."""
    dedup: DedupPolicy
    """Points identical results to the newest."""
    engine: EngineName
    """Which engine: `midfold`, or `passthrough`, which changes nothing."""
    fold: FoldGoals
    """What a fold has to reach."""
    head: HeadPolicy
    """What stays verbatim at the front."""
    keep: list[KeepRule]
    """What stays word for word through every fold: messages by their words, files by their paths.
    """
    name: str
    """Name for records and reports."""
    narration: NarrationPolicy
    """How a model would narrate, where one is at hand."""
    recap: RecapPolicy
    """What is in the place of a covered span."""
    reducers: list[ReducerName]
    """The reducers to run, in order, cheap to expensive."""
    retain: RetainPolicy
    """Lets results expire by age or count."""
    source: str
    """Which document or measurement the constants come from."""
    strategy: str
    """`strategy` in fold records (Head, Middle, Tail: `head-tail`, Summarizing Evicted Turns:
    `summarize`).
    """
    stub: StubPolicy
    """Replaces results by one line that says what happened."""
    summary: str
    """One line for people."""
    supersede: SupersedePolicy
    """Drops reads that a later read or write made stale."""
    tail: TailPolicy
    """What stays verbatim at the end."""
    terminal: TerminalPolicy
    """Collapses progress output."""
    tools: list[ToolDefinition]
    """Tools that the built-in table does not know, or knows otherwise."""
    trigger: TriggerPolicy
    """When to fold."""
    window: WindowPolicy
    """Caps plain dialogue."""
