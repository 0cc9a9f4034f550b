"""Messages, tools, and the small dictionaries that the Python door makes itself."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Union

from ._fold import FoldJoin, VoidReasoning
from ._ledger import SharedPrefix, Usage
from ._policy import Policy
from ._session import Audit, Injection

if TYPE_CHECKING:
    from typing_extensions import NotRequired

__all__ = [
    "AfterFold",
    "AnthropicTool",
    "ArgumentPlaceholder",
    "AuditReport",
    "Dialect",
    "Feedback",
    "FunctionDefinition",
    "LedgerCall",
    "Message",
    "Messages",
    "OpenAiTool",
    "PlaceholderCall",
    "PolicySource",
    "PresetName",
    "PromptMessage",
    "Tool",
    "Violation",
]

Message = dict[str, Any]
"""A message as its provider defines it. midfold reads it, and defines no key of it."""

Tool = Mapping[str, Any]
"""The definition of a tool as its provider defines it, for the `tools` of a request."""

Messages = Union[Sequence[Mapping[str, Any]], Mapping[str, Any], str, bytes, bytearray]
"""Messages: a list of them, a request's body with such a list, or JSON of either as text.

They are mappings, so that the types of a provider's SDK fit.
"""

PolicySource = Union[str, "os.PathLike[str]", Policy]
"""A policy: TOML as text, the path of such a file, or a dict of what differs from a preset."""

PresetName = Literal[
    "default",
    "generous",
    "lean",
    "verbatim",
    "head-tail",
    "hermes",
    "nucleic",
    "projection",
]
"""The name of a preset: those of `presets()`. A policy of your own goes by `policy`."""

Dialect = Literal[
    "openai-chat",
    "openai-responses",
    "anthropic",
    "gemini",
    "bedrock",
    "ollama",
    "sharegpt",
]
"""The form of a provider's messages."""


class AfterFold(TypedDict, total=False):
    """What is put back with each fold: it is at the end of the recap until the next one.

    A file that is missing, binary, empty or too large is named there instead, and in the record.
    """

    text: str | None
    """A text of yours."""
    files: Sequence[str]
    """Files of text, which are read again at each fold; named from the working folder."""
    tokens: int | None
    """The most tokens that it takes; 4,000 without it, and an eighth of the budget at most."""


class Feedback(TypedDict):
    """A compaction in words for a person, by the keys of Hermes Agent."""

    noop: bool
    """Whether the messages are the same as before."""
    headline: str
    """How many messages there were and are."""
    token_line: str
    """How many tokens there were and are."""
    note: str | None
    """Why fewer messages take more tokens, if they do."""


class Violation(TypedDict):
    """A rule that a compaction breaks."""

    rule: str
    """The rule's name, such as `head-verbatim`."""
    message: int | None
    """The message it is about, as its index in what came out; `None` if it is about none."""
    detail: str
    """What is wrong, in words."""


class AuditReport(Audit):
    """What an audit found, and whether that is nothing."""

    ok: bool
    """Whether there are no findings."""


class ArgumentPlaceholder(TypedDict):
    """An argument of a call that holds a mark as content."""

    mark: str
    """The text that midfold printed."""
    kind: Literal["cut-argument", "cut-result", "line", "recap"]
    """The kind of text that it takes the place of."""
    argument: str
    """The argument: `content`, `edits[0].new_text`; empty where the arguments are one text."""
    messages: list[int]
    """The numbers of the messages that the mark may stand for, as recall takes them."""


class PlaceholderCall(TypedDict):
    """A call of the model with placeholders among its arguments."""

    id: str | None
    """The id of the call; `None` where it has none."""
    tool: str
    """The name of the tool."""
    placeholders: list[ArgumentPlaceholder]
    """The placeholders; at least one."""
    reason: str
    """A result for the call that says to the model why it was not run."""


class LedgerCall(TypedDict):
    """A request of a stored session. It holds hashes and figures, and no content."""

    version: int
    """The version of this shape."""
    number: int
    """Its number in the session, from 1."""
    prev: str
    """The hash of the request before."""
    hash: str
    """The hash of this record, chained over `prev` and all that follows."""
    joining: FoldJoin
    """The turn and the step that it belongs to."""
    events: int
    """How many messages of the log the context was made from."""
    head_hash: str
    """The chain hash of these messages."""
    fold: str | None
    """The id of the fold that they were read through."""
    void: NotRequired[VoidReasoning]
    """Reasoning that was void beside what the fold says."""
    edits: int
    """Blocks that were sent otherwise than they are in the log."""
    pins: list[int]
    """The messages that were pinned, by their places."""
    injections: list[Injection]
    """What hooks added."""
    messages: int
    """How many messages were sent."""
    bytes: int
    """Their bytes, as one JSON list."""
    tokens_counted: int
    """Their tokens as the tokenizer counts them, with what travels beside the messages."""
    tokens_estimated: int
    """Their tokens as the provider was expected to count them."""
    prefix: SharedPrefix
    """What it shares with the request before: a cache can serve that."""
    context_hash: str
    """A hash over the messages, without what hooks added."""
    usage: Usage | None
    """What the provider counted, in tokens; `None` if nobody said."""


class PromptMessage(TypedDict):
    """A message for the model that writes a summary."""

    role: Literal["system", "user"]
    """The rules are the system message, the originals the user's."""
    content: str
    """Its text."""


class FunctionDefinition(TypedDict):
    """A function that a model may call, with the keys that the type of OpenAI's SDK has."""

    name: str
    """Its name: what `Session.recall` is given."""
    description: NotRequired[str]
    """What the model reads of it: always there."""
    parameters: NotRequired[dict[str, Any]]
    """The JSON schema of its arguments: always there."""
    strict: NotRequired[bool | None]
    """Never there: the schemas have arguments that may be left out."""


class OpenAiTool(TypedDict):
    """A tool in the `tools` of Chat Completions."""

    type: Literal["function"]
    """Always a function."""
    function: FunctionDefinition
    """The function."""


class AnthropicTool(TypedDict):
    """A tool in the `tools` of the Messages API."""

    name: str
    """Its name: what `Session.recall` is given."""
    description: str
    """What the model reads of it."""
    input_schema: dict[str, Any]
    """The JSON schema of its arguments."""
