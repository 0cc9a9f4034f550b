"""What is in the place of the events of a fold."""

# Written by tools/door-types: change the sources that it reads.
from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired

__all__ = [
    "BlockEdit",
    "FoldEntry",
    "FoldEntryEdited",
    "FoldEntryMarker",
    "FoldEntryRecap",
    "FoldEntryVerbatim",
    "PutBackPart",
    "PutBackRecord",
    "PutBackSource",
    "RepairReason",
    "RepairRecord",
]


class FoldEntryRecap(TypedDict):
    """A recap, as the message that is sent."""

    bytes: str
    """The message as JSON."""
    kind: Literal["recap"]


class FoldEntryMarker(TypedDict):
    """A marker, as the message that is sent."""

    bytes: str
    """The message as JSON."""
    kind: Literal["marker"]


FoldEntryVerbatim = TypedDict(
    "FoldEntryVerbatim",
    {
        # The first event.
        "from": "int",
        "kind": 'Literal["verbatim"]',
        # One past the last event.
        "to": "int",
    },
)
"""Events that are sent unchanged."""


class FoldEntryEdited(TypedDict):
    """An event that is sent with edits."""

    bytes: str
    """The edited message as JSON."""
    kind: Literal["edited"]
    seq: int
    """The number of the event."""


FoldEntry = Union[
    FoldEntryRecap,
    FoldEntryMarker,
    FoldEntryVerbatim,
    FoldEntryEdited,
]
"""One part of the context in the place of a fold's span."""


class BlockEdit(TypedDict):
    """The edit of one block of an event by a reducer."""

    block: int
    """The index of the block in the event, from 0."""
    kind: str
    """`replaced` or `removed`."""
    reason: str
    """The reason code of the reducer."""
    reducer: str
    """The reducer that made the edit."""
    seq: int
    """The number of the event."""
    tokens_after: int
    """Tokens of the block after the edit."""
    tokens_before: int
    """Tokens of the block before the edit."""


RepairReason = Literal[
    "unanswered-call",
    "orphan-result",
    "duplicate-id",
    "half-character",
    "arguments",
    "empty-message",
    "other-shape",
    "unknown-role",
    "system-inside",
    "bound-reasoning",
    "told-call",
    "bridge",
    "blank-reasoning",
    "lone-server-result",
    "results-behind",
    "lone-reasoning",
]
"""Why a message was added to a context or an event was changed, so that the provider accepts it:
the fault, and its repair. `unanswered-call`: The log has no result for a call: one was added.
`orphan-result`: A result has no call: it is sent as text. `duplicate-id`: Calls of one step
share an id, or their id is empty: all but the first, and all that are empty, got one of their
own, and so did their results. `half-character`: A client that cuts texts left half a character
(a lone surrogate): U+FFFD is in its place. `arguments`: The arguments of a call were cut, or are
no object: they are sent as an object that holds them. `empty-message`: A message has no content:
a fixed text was put in, or its blank blocks left out. `other-shape`: A message has a shape that
the provider does not know: its source is sent as text. `unknown-role`: The provider does not
know a message's role: it is sent as the user's. `system-inside`: The provider takes no system
message in the middle: it is sent as the user's. `bound-reasoning`: Signed reasoning is void
after a fold: it was removed. `told-call`: Calls need reasoning in front of them that is void:
they are sent as text. `bridge`: Two messages in a row have one role: a message was put between
them. `blank-reasoning`: A message of the model has no reasoning, and the model wants some in
each: it got a blank one. `lone-server-result`: A result of a tool that the provider runs itself
has no call: it was left out. `results-behind`: Results are behind the user's words in one
message, where the provider wants them first: they were moved. `lone-reasoning`: Nothing follows
reasoning that the provider wants something behind: it was added.
"""


class RepairRecord(TypedDict):
    """A repair of a message in the context that the fold led to."""

    index: int
    """The index of the message in the context, from 0."""
    seq: int | None
    """The number of the event that was sent in another form; null for a message that was added."""
    why: RepairReason
    """The reason of the repair."""


PutBackSource = Literal["note", "text", "file"]
"""Who asked for a text to be put back. `note`: The agent, by a note. `text`: The settings, by a
text in them. `file`: The settings, by the name of a file.
"""


class PutBackPart(TypedDict):
    """One note, text or file that was put back, or that is missing."""

    missing: NotRequired[str | None]
    """The reason for which the part is missing, in words; left out if it is there."""
    name: NotRequired[str]
    """The file's name; empty for a note or a text."""
    source: PutBackSource
    """Who asked for it."""
    tokens: int
    """The tokens of the part; 0 if it is missing."""


class PutBackRecord(TypedDict):
    """The lines of a recap that the agent or the settings asked for. They are not in the log."""

    hash: str
    """A hash over these lines."""
    parts: list[PutBackPart]
    """The parts of these lines, in order."""
    tokens: int
    """The tokens that these lines take of the recap."""
