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
    """Its bytes."""
    kind: Literal["recap"]


class FoldEntryMarker(TypedDict):
    """A marker, as the message that is sent."""

    bytes: str
    """Its bytes."""
    kind: Literal["marker"]


FoldEntryVerbatim = TypedDict(
    "FoldEntryVerbatim",
    {
        # First event.
        "from": "int",
        "kind": 'Literal["verbatim"]',
        # One past the last.
        "to": "int",
    },
)
"""Events that stay as they are."""


class FoldEntryEdited(TypedDict):
    """An event with edits."""

    bytes: str
    """The message as it is sent."""
    kind: Literal["edited"]
    seq: int
    """The event."""


FoldEntry = Union[
    FoldEntryRecap,
    FoldEntryMarker,
    FoldEntryVerbatim,
    FoldEntryEdited,
]
"""What is in the place of the span, in order."""


class BlockEdit(TypedDict):
    """What a reducer did to one part of one event."""

    block: int
    """The block in it."""
    kind: str
    """`replaced` or `removed`."""
    reason: str
    """Its reason code."""
    reducer: str
    """The reducer."""
    seq: int
    """The event."""
    tokens_after: int
    """Tokens of the block after."""
    tokens_before: int
    """Tokens of the block before."""


RepairReason = Literal[
    "unanswered-call",
    "orphan-result",
    "duplicate-id",
    "half-character",
    "empty-message",
    "other-shape",
    "unknown-role",
    "system-inside",
    "bound-reasoning",
    "told-call",
    "bridge",
    "lone-reasoning",
]
"""Why a message was added to a context or an event was changed, so that the provider takes it: the
trouble, and the remedy. `unanswered-call`: The log has no result for a call: one was added.
`orphan-result`: A result has no call: it is sent as text. `duplicate-id`: Calls of one step
share an id, or their id is empty: all but the first, and all that are empty, got one of their
own, and so did their results. `half-character`: A client that cuts texts left half a character
(a lone surrogate): U+FFFD is in its place. `empty-message`: A message has no content: a fixed
text was put in, or its blank blocks left out. `other-shape`: A message has a shape that the
provider does not know: its source is sent as text. `unknown-role`: The provider does not know a
message's role: it is sent as the user's. `system-inside`: The provider takes no system message
in the middle: it is sent as the user's. `bound-reasoning`: Signed reasoning is void after a
fold: it was removed. `told-call`: Calls need reasoning in front of them that is void: they are
sent as text. `bridge`: Two messages in a row have one role: a message was put between them.
`lone-reasoning`: Nothing follows reasoning that the provider wants something behind: it was
added.
"""


class RepairRecord(TypedDict):
    """A repair in the context that the fold led to."""

    index: int
    """Position in the context."""
    seq: int | None
    """The event that was rendered otherwise; none for an added piece."""
    why: RepairReason
    """Why."""


PutBackSource = Literal["note", "text", "file"]
"""Who asked for something to be put back. `note`: The agent, by a note. `text`: The settings, with
a text of their own. `file`: The settings, with the name of a file.
"""


class PutBackPart(TypedDict):
    """One note, text or file that was to be put back."""

    missing: NotRequired[str | None]
    """Why it is not there, in words."""
    name: NotRequired[str]
    """The file's name; empty for what has none."""
    source: PutBackSource
    """Who asked for it."""
    tokens: int
    """Its tokens; 0 where it is missing."""


class PutBackRecord(TypedDict):
    """The lines of a recap that somebody asked for, and that the log does not say."""

    hash: str
    """A hash over its lines in the recap."""
    parts: list[PutBackPart]
    """Each of its parts, in order."""
    tokens: int
    """Tokens that it takes of the recap."""
