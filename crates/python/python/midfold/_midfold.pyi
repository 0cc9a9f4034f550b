"""The native half of the package: see `midfold`. The docstrings are those of the module itself."""

from collections.abc import Sequence
from typing import Any, Callable, Literal, overload

from ._arrow import BatchCompressor, RecordBatch, RecordBatchStream, Schema
from ._rows import Compressed, Compressor
from ._session import Context, Session, Sessions, SummaryRequest
from ._types import Extent, Result, Verification, Worked
from .types import (
    AnthropicTool,
    CacheCheck,
    Feedback,
    Fold,
    Message,
    Messages,
    OpenAiTool,
    PolicySource,
    PresetName,
    ReplayMeasures,
)

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

def compact(
    messages: Messages,
    *,
    window: int | None = None,
    preset: PresetName | None = None,
    policy: PolicySource | None = None,
    focus: str | None = None,
    tokenizer: str | None = None,
    dialect: str | None = None,
    profile: str | None = None,
    model: str | None = None,
    pin: Sequence[int] = ...,
    if_needed: bool = False,
    target: int | None = None,
    keep_last: int | None = None,
    compress_middle: Callable[[list[Message]], str | None] | None = None,
) -> Result:
    """Makes a conversation fit a model's window: head and tail stay, the middle is folded.

    A kept message is the same Python object as before. It folds even if there is room left,
    because you ask.

    - `messages`: a list, a request's body, or JSON; the result has the same shape.
    - `window`: the model's window, in tokens; else that of the body's model, else 128,000.
    - `preset`, `policy`: how to fold: a name of `presets()`, or your own policy.
    - `focus`: what the recap should keep, in words.
    - `target`: the most tokens that should be left; `Result.missed` says where more are.
    - `keep_last`: how many messages stay at the end at least.
    - `pin`: the places of messages that stay; the first message has place 0.
    - `if_needed`: fold only if the policy's trigger fires.
    - `tokenizer`, `dialect`, `profile`, `model`: as in `Session`, where the messages do not say.
    - `compress_middle`: a function. It gets the messages that leave, and returns the text that
      replaces them. Secrets are removed from the text, and it is cut at the policy's limit. If the
      function returns `None`, the policy's own text is used.

    Raises `InputError` if the messages are no conversation, `PolicyError` and `TokenizerError` if
    these cannot be used, and `BudgetError` if the messages cannot be made to fit. What
    `compress_middle` raises is raised again.

    >>> import midfold
    >>> messages = [{"role": "user", "content": f"Question {n}. " * 50} for n in range(60)]
    >>> result = midfold.compact(messages, window=4_000)
    >>> result.messages[-1] is messages[-1], result.fold["policy"]
    (True, 'default')
    >>> result.recap.splitlines()[0]  # what the model reads where messages were folded
    '## Conversation Summary'
    >>> def count(middle):
    ...     return f"[{len(middle)} messages]"
    >>> midfold.compact(messages, window=4_000, preset="head-tail", compress_middle=count).recap
    '[54 messages]'
    """

def verify(
    before: Messages,
    after: Messages | Result,
    *,
    fold: Fold | None = None,
    window: int | None = None,
    tokenizer: str | None = None,
    profile: str | None = None,
    dialect: str | None = None,
    model: str | None = None,
) -> Verification:
    """Checks a compaction from the outside: what went in, what came out, and the record of the
    fold.

    `after` may be a `Result`: its record is then taken, too. `fold` is such a record. `window` is
    in tokens; it, `tokenizer` and `profile` are those of the record if nothing is said.

    Raises `InputError` for what is no conversation or no record, `TokenizerError`.

    >>> import midfold
    >>> messages = [{"role": "user", "content": f"Question {n}. " * 50} for n in range(60)]
    >>> bool(midfold.verify(messages, midfold.compact(messages, window=4_000)))
    True
    """

def count_tokens(
    messages: Messages,
    *,
    tokenizer: str | None = None,
    model: str | None = None,
    dialect: str | None = None,
) -> int:
    """Counts the tokens of a text, or of messages and what travels beside them.

    A `str` is counted as text, not read as JSON: pass messages as a list, a dict or bytes. Without
    a `tokenizer` the one of the `model` counts.

    Raises `InputError` for what is no conversation, `TokenizerError` for an unknown tokenizer.

    >>> import midfold
    >>> midfold.count_tokens("Keep the ends, fold the middle.", tokenizer="o200k")
    8
    >>> midfold.count_tokens([{"role": "user", "content": "x" * 40}], tokenizer="chars:4") > 10
    True
    """

def replay(
    messages: Messages,
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
) -> list[ReplayMeasures]:
    """Replays a recorded conversation, request by request, against what the agent really did next:
    one dict of measures for each strategy in each window and form.

    - `strategies`: presets, or `raw` for the history as it is.
    - `windows`: in tokens.
    - `form`: fold anew for each request (`stateless`), let one `session` go along, or `both`.
    - `prices`: the name of a price table, or the path of a TOML file with one.
    - `progress`: called with how many are done, and how many there are, after each.
    - `tokenizer`, `dialect`, `profile`, `model`: as in `compact`.

    Ctrl-C ends it between two of them. Raises `InputError` for what is no conversation,
    `PolicyError` for an unknown strategy, `TokenizerError`, and `BudgetError` if a strategy
    cannot be replayed in a window.

    >>> import midfold
    >>> messages = [{"role": "user", "content": "Fix it."}]
    >>> for n in range(60):
    ...     messages.append({"role": "assistant", "content": f"Step {n}. " * 50})
    ...     messages.append({"role": "user", "content": "Go on."})
    >>> [row] = midfold.replay(messages, strategies=["default"], windows=[4_000])
    >>> row["over"], row["peak"] <= 4_000
    (0, True)
    """

def work(
    store: str,
    narrate: Callable[[SummaryRequest], str],
    *,
    limit: int | None = None,
    model: str = ...,
) -> list[Worked]:
    """Takes jobs from the queue of a store, and has `narrate` write what they want: it is called
    with a `SummaryRequest`, on this thread, and returns the text. Each answer is judged, and the
    fold that comes of it is stored. Ends when no job is due, or after `limit` of them; returns what
    came of each. `model` is the name that records show.

    A job is this worker's for as long as `narrate` takes. What it raises ends the work and comes
    out here, Ctrl-C too; its job goes back into the queue, to be tried again a little later.

    Raises `StoreError` if there is no such store, or it fails.

    >>> import midfold
    >>> midfold.work("memory", lambda request: "...")
    []
    """

def delete_sessions(store: str, *ids: str, dry_run: bool = False) -> list[Extent]:
    """Deletes these sessions of a store for good: their messages, folds, calls and jobs. Returns
    what they held.

    Forks of them stay whole. With `dry_run` nothing is deleted: the answer is what would be. In
    SQLite the file is rewritten, so that nothing of them is left in it.

    Raises `StoreError` if one of the ids is unknown: then nothing is deleted.
    """

def prune_sessions(store: str, older_than: str, *, dry_run: bool = False) -> list[Extent]:
    """Deletes the sessions of a store that last changed longer ago than `older_than` (`"12h"`,
    `"30d"`, `"8w"`), as `delete_sessions` does.

    Raises `InputError` for what is no age, `StoreError` if the store fails.

    >>> import midfold
    >>> midfold.prune_sessions("memory", "30d")
    []
    """

def feedback(
    before_messages: Sequence[Message],
    after_messages: Sequence[Message],
    before_tokens: int,
    after_tokens: int,
) -> Feedback:
    """Returns words for a person after a compaction that they asked for: a dict of `noop`,
    `headline`, `token_line` and `note`, as Hermes Agent's `summarize_manual_compression` returns
    it.

    The messages are lists or tuples. Raises `InputError` for anything else.

    >>> import midfold
    >>> before = [{"role": "user", "content": "hi"}] * 3
    >>> midfold.feedback(before, before[:1], 1_200, 400)["headline"]
    'Compressed: 3 → 1 messages'
    """

def cache_check(
    messages: Messages,
    *,
    window: int | None = None,
    preset: PresetName | None = None,
    policy: PolicySource | None = None,
    tokenizer: str | None = None,
    dialect: str | None = None,
    profile: str | None = None,
    model: str | None = None,
) -> CacheCheck | None:
    """Compares three ways to fold: how many tokens at the start of a prompt does the next turn
    repeat, so that the provider can read them from its cache?

    - `marker`, of `marker_prompt` tokens: a fixed line replaces the messages that leave.
    - `regenerated`, of `regenerated_prompt`: a recap replaces them, and each turn writes a new one.
    - `frozen`, of `prompt`: a recap replaces them, and stays as it is.

    Returns `None` if there is no turn before the last, or nothing to fold. The arguments are those
    of `compact`, and so are the errors.

    >>> import midfold
    >>> messages = [{"role": "user", "content": f"Question {n}. " * 50} for n in range(60)]
    >>> found = midfold.cache_check(messages, window=4_000)
    >>> found["frozen"] == found["prompt"] > found["regenerated"]
    True
    """

def presets() -> list[str]:
    """The names of the presets, `default` first.

    >>> import midfold
    >>> midfold.presets()[:2]
    ['default', 'generous']
    """

def tokenizers() -> list[str]:
    """The names of the tokenizers of this build.

    >>> import midfold
    >>> "o200k" in midfold.tokenizers()
    True
    """

@overload
def recall_tools(shape: Literal["openai"] = "openai") -> list[OpenAiTool]:
    """Returns the tools that an agent is given to bring back what was folded, for the `tools` of a
    request of this shape. `Session.recall` answers their calls.

    Raises `InputError` for an unknown shape.

    >>> import midfold
    >>> [tool["name"] for tool in midfold.recall_tools("anthropic")]
    ['recall_find', 'recall_show']
    """

@overload
def recall_tools(shape: Literal["anthropic"]) -> list[AnthropicTool]:
    """Returns the tools that an agent is given to bring back what was folded, for the `tools` of a
    request of this shape. `Session.recall` answers their calls.

    Raises `InputError` for an unknown shape.

    >>> import midfold
    >>> [tool["name"] for tool in midfold.recall_tools("anthropic")]
    ['recall_find', 'recall_show']
    """

@overload
def recall_tools(shape: Literal["responses", "gemini", "bedrock"]) -> list[dict[str, Any]]:
    """Returns the tools that an agent is given to bring back what was folded, for the `tools` of a
    request of this shape. `Session.recall` answers their calls.

    Raises `InputError` for an unknown shape.

    >>> import midfold
    >>> [tool["name"] for tool in midfold.recall_tools("anthropic")]
    ['recall_find', 'recall_show']
    """
