"""What recall finds."""

# Written by tools/door-types: change the sources that it reads.
from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from ._session import NameReference

if TYPE_CHECKING:
    from typing_extensions import NotRequired

__all__ = [
    "FileVersion",
    "FoldDescription",
    "FoundMessage",
    "GoneNames",
    "Original",
    "OriginalPage",
    "OutlinePage",
    "OutlineRow",
    "TextLine",
]


class TextLine(TypedDict):
    """A line of a message."""

    hit: bool
    """Whether it matches; else it is context."""
    number: int
    """Its number, from 1."""
    text: str
    """What it says, cut around the match where it is long."""


class FileVersion(TypedDict):
    """Whether a message shows the newest state of a file that the log has at several times."""

    newest: bool
    """Nothing later reads or writes it."""
    path: str
    """The file."""
    see: int
    """The message that shows its newest state, or changes it last."""


class FoundMessage(TypedDict):
    """A found message."""

    action: NotRequired[str | None]
    """Tool and target of its calls, or of the calls that its results answer."""
    also: NotRequired[list[int]]
    """Older messages of the same file or command whose best line is the same."""
    chars: int
    """Characters of its text."""
    event: int
    """Its number in the log, from 0: what `recall_expand` is asked for."""
    injected: NotRequired[bool]
    """A client wrote it in the user's role: context, a reminder, a recap."""
    line: NotRequired[int | None]
    """The line of `snippet`, from 1; none where the message has one line."""
    lines: list[TextLine]
    """The lines to show, in order: those that match, and their context."""
    more_lines: int
    """Lines that match beside those."""
    outcome: NotRequired[str | None]
    """For results: `ok`, `failed (exit 1)`."""
    role: str
    """Who wrote it; `tool` for whatever brings results."""
    snippet: str
    """The line that matches best."""
    turn: int
    """The turn it belongs to."""
    version: NotRequired[FileVersion | None]
    """Where the file that it reads or writes was read or written at other times: whether this is
    the newest.
    """


class OutlineRow(TypedDict):
    """One message of an outline."""

    action: NotRequired[str | None]
    """Tool and target of its calls, or of the calls that its results answer."""
    chars: int
    """Characters of its text."""
    event: int
    """Its number in the log, from 0."""
    injected: NotRequired[bool]
    """A client wrote it in the user's role: context, a reminder, a recap."""
    outcome: NotRequired[str | None]
    """For results: `ok`, `failed (exit 1)`."""
    role: str
    """Who wrote it; `tool` for whatever brings results."""
    text: str
    """How it starts; for a result the line that says most, where one does."""
    turn: int
    """The turn it belongs to."""


class OutlinePage(TypedDict):
    """A page of an outline."""

    folded: list[list[int]]
    """Runs of messages that the active fold took out or shortened, first and last of each."""
    next: int | None
    """The first message of the next page; none when this is the last."""
    rows: list[OutlineRow]
    """In the order of the log."""
    total: int
    """Messages of the session."""


class Original(TypedDict):
    """One original, or a part of it."""

    action: NotRequired[str | None]
    """Tool and target of its calls, or of the calls that its results answer."""
    chars: int
    """Characters of its whole text."""
    cut: bool
    """The whole text goes on after it."""
    event: int
    """Its number in the log, from 0."""
    offset: int
    """Where `text` starts in it, in characters."""
    outcome: NotRequired[str | None]
    """For results: `ok`, `failed (exit 1)`."""
    role: str
    """Who wrote it; `tool` for whatever brings results."""
    same_as: NotRequired[int | None]
    """The message of this page that says the same; `text` is empty then."""
    text: str
    """The text: prose and results as they are, arguments of calls unescaped, edits as diffs."""
    turn: int
    """The turn it belongs to."""


class OriginalPage(TypedDict):
    """A page of originals."""

    next: str | None
    """The cursor of the next page; none when this is the last."""
    originals: list[Original]
    """In the order of the log."""


class FoldDescription(TypedDict):
    """What a fold covers."""

    active: bool
    """Whether contexts are read through it."""
    asked_again: list[NameReference]
    """Those of the lost identifiers that the user or the model used again, and where."""
    covered: list[list[int]]
    """Runs of messages that it does not send as they were, first and last of each: what
    `recall_expand` brings back.
    """
    edited: list[int]
    """Messages of them that are sent in an edited form."""
    folded_at: int
    """Messages of the session when it was made."""
    id: str
    """Its id."""
    kept: int
    """Messages of the span that stay as they are."""
    lost_ids: list[str]
    """Identifiers of the covered messages that the context no longer names: worth a `recall_grep`.
    """
    number: int
    """Its number in the session, from 1."""
    policy: str
    """Its policy."""
    recap: str | None
    """The text of the recap or marker."""
    stand_in: str | None
    """What stands for the covered messages: `computed`, `marker`, `static`; none when nothing does.
    """
    tokens_after: int
    """Tokens of the context after."""
    tokens_before: int
    """Tokens of the context before."""


class GoneNames(TypedDict):
    """Names that the covered events have and the context has not."""

    more: int
    """How many more there are."""
    names: list[str]
    """The most likely needed first."""
