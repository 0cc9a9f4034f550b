"""The engine's tools: the model searches what was folded."""

from __future__ import annotations

import json
from typing import Any

import midfold

_PREFIX = "recall_"


def schemas() -> list[dict[str, Any]]:
    """The schemas of the tools, in the host's form: without the `function` around each.

    >>> [schema["name"] for schema in schemas()][0]
    'recall_find'
    """
    return [dict(tool["function"]) for tool in midfold.recall_tools("openai")]


def answer(session: midfold.Session, name: str, arguments: dict[str, Any]) -> str:
    """What a call of a tool returns: JSON, as the host wants it. `find` is `recall_find` too."""
    full = name if name.startswith(_PREFIX) else _PREFIX + name
    if full not in (schema["name"] for schema in schemas()):
        return json.dumps({"error": f"Unknown context engine tool: {name}"})
    text = session.recall(full, json.dumps(arguments))
    return json.dumps({"result": text}, ensure_ascii=False)
