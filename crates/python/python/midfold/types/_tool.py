"""A tool, as a policy describes it."""

# Written by tools/door-types: change the sources that it reads.
from __future__ import annotations

from typing import Literal, TypedDict

__all__ = [
    "AnswerSource",
    "ToolDefinition",
    "ToolKind",
    "ToolMode",
]


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
    """The name of the argument."""
    kinds: dict[str, ToolKind]
    """The kind of the tool for each value of the argument."""


class ToolDefinition(TypedDict, total=False):
    """An entry of the table of tools: tools that work alike. A policy adds tools in the same
    form.
    """

    answers: AnswerSource
    """Whose words the results of the tools hold."""
    code: list[str]
    """Arguments that hold a program in another language."""
    commands: list[str]
    """Arguments that hold a shell command."""
    end: list[str]
    """Arguments that hold the last line of a partial read."""
    kind: ToolKind
    """The kind of work that the tools do."""
    limit: list[str]
    """Arguments that hold the number of lines of a partial read."""
    mode: ToolMode | None
    """The argument whose value decides the kind; left out if no argument does."""
    names: list[str]
    """The names of the tools; `*` at the end of a name means any rest."""
    offset: list[str]
    """Arguments that hold the first line of a partial read."""
    patches: list[str]
    """Arguments that hold a patch."""
    paths: list[str]
    """Arguments that hold the path of a file, or for a listing the path of the folder."""
    queries: list[str]
    """Arguments that hold the text to search for."""
    range: list[str]
    """Arguments that hold the first and the last line of a partial read, as a pair."""
