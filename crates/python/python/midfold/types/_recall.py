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
    """A line of a message that was found."""

    hit: bool
    """Whether the line matches. If not, it is shown as context."""
    number: int
    """The number of the line in the message, from 1."""
    text: str
    """The text of the line; a long line is cut around the match."""


class FileVersion(TypedDict):
    """For a message that reads or writes one file, which other messages read or write, too: whether
    it shows the newest state of that file.
    """

    newest: bool
    """Whether no later message writes the file or reads the same lines of it. Where this message
    itself writes the file, any later read counts, too.
    """
    path: str
    """The path of the file."""
    see: int
    """The number of the newest message that writes the file or reads the same lines: this message
    where `newest` is true, else a later one.
    """


class FoundMessage(TypedDict):
    """A message that was found."""

    action: NotRequired[str | None]
    """The tool and the target of its calls, or of the calls that its results answer; left out if
    there are none.
    """
    also: NotRequired[list[int]]
    """Older messages about the same file or command whose best line is the same."""
    chars: int
    """The length of its text in characters."""
    event: int
    """The number of the message in the log, from 0, as `recall_expand` takes it."""
    injected: NotRequired[bool]
    """Whether a client wrote it in the user's role: context, a reminder, a recap. Left out if
    not.
    """
    line: NotRequired[int | None]
    """The number of the line in `snippet`, from 1; left out if the message has one line."""
    lines: list[TextLine]
    """The lines to show, in order: lines that match, and lines around them."""
    more_lines: int
    """The number of matching lines that are not in `lines`."""
    outcome: NotRequired[str | None]
    """The outcome of its results: `ok`, `failed (exit 1)`; left out for other messages."""
    role: str
    """Who wrote the message; `tool` for every message with results."""
    snippet: str
    """The line that matches best."""
    turn: int
    """The turn that the message belongs to."""
    version: NotRequired[FileVersion | None]
    """Whether the message shows the newest state of its file; left out unless the log has the file
    at other times, too.
    """


class OutlineRow(TypedDict):
    """A message in an outline."""

    action: NotRequired[str | None]
    """The tool and the target of its calls, or of the calls that its results answer; left out if
    there are none.
    """
    chars: int
    """The length of its text in characters."""
    event: int
    """The number of the message in the log, from 0."""
    injected: NotRequired[bool]
    """Whether a client wrote it in the user's role: context, a reminder, a recap. Left out if
    not.
    """
    outcome: NotRequired[str | None]
    """The outcome of its results: `ok`, `failed (exit 1)`; left out for other messages."""
    role: str
    """Who wrote the message; `tool` for every message with results."""
    text: str
    """The first line of the text; for a result the most telling line, if there is one."""
    turn: int
    """The turn that the message belongs to."""


class OutlinePage(TypedDict):
    """A page of an outline."""

    folded: list[list[int]]
    """The runs of messages that the active fold took out or shortened: the first and the last
    message of each.
    """
    next: int | None
    """The number of the first message of the next page; null on the last page."""
    rows: list[OutlineRow]
    """The messages of the page, in the order of the log."""
    total: int
    """The number of messages in the session."""


class Original(TypedDict):
    """The original of a message, or a part of it."""

    action: NotRequired[str | None]
    """The tool and the target of its calls, or of the calls that its results answer; left out if
    there are none.
    """
    chars: int
    """The length of the whole text in characters."""
    cut: bool
    """Whether the whole text goes on after `text`."""
    event: int
    """The number of the message in the log, from 0."""
    offset: int
    """The place in the whole text where `text` begins, in characters."""
    outcome: NotRequired[str | None]
    """The outcome of its results: `ok`, `failed (exit 1)`; left out for other messages."""
    role: str
    """Who wrote the message; `tool` for every message with results."""
    same_as: NotRequired[int | None]
    """The number of a message on this page with the same text; `text` is empty then. Left out if
    there is none.
    """
    text: str
    """The text: prose and results as they are, arguments of calls without escapes, edits as
    diffs.
    """
    turn: int
    """The turn that the message belongs to."""


class OriginalPage(TypedDict):
    """A page of originals."""

    next: str | None
    """The cursor of the next page; null on the last page."""
    originals: list[Original]
    """The originals of the page, in the order of the log."""


class FoldDescription(TypedDict):
    """The messages that a fold covers, and the names that it lost."""

    active: bool
    """Whether this is the active fold."""
    asked_again: list[NameReference]
    """The lost identifiers that the user or the model used again, each with the first message that
    did.
    """
    covered: list[list[int]]
    """The runs of messages that are not sent in their original form: the first and the last message
    of each. `recall_expand` brings them back.
    """
    edited: list[int]
    """The messages among them that are sent in an edited form."""
    folded_at: int
    """The number of messages in the session when the fold was made."""
    id: str
    """The id of the fold."""
    kept: int
    """The number of messages of the span that stay unchanged."""
    lost_ids: list[str]
    """The identifiers of the covered messages that the context no longer has: worth a
    `recall_grep`.
    """
    number: int
    """The number of the fold in the session, from 1."""
    policy: str
    """The name of the fold's policy."""
    recap: str | None
    """The text of the recap or marker; null if there is none."""
    stand_in: str | None
    """The kind of text that replaces the covered messages: `narrated`, `computed`, `marker`,
    `static`, `host`. Null if no message is covered.
    """
    tokens_after: int
    """Counted tokens of the context after the fold."""
    tokens_before: int
    """Counted tokens of the context before the fold."""


class GoneNames(TypedDict):
    """The names of covered events that the context no longer has."""

    more: int
    """The number of names beyond these."""
    names: list[str]
    """The names, the most likely needed first."""
