"""midfold as the context engine of Hermes Agent.

    python -m midfold.hermes install

writes the plug-in and the configuration; `register` is what the host calls then. The engine needs
no host to be tried:

>>> from midfold.hermes import Engine, manual_feedback
>>> messages = [{"role": "user", "content": "Fix the tests of src/app.py."}]
>>> for n in range(60):
...     messages.append({"role": "assistant", "content": f"Part {n} is done. " * 90})
...     messages.append({"role": "user", "content": f"Go on with part {n + 1}."})
>>> engine = Engine()
>>> engine.update_model("any-model", 16_000)
>>> shorter = engine.compress(messages, focus_topic="part 7", force=True)
>>> shorter[0] is messages[0], shorter[-1] is messages[-1], engine.compression_count
(True, True, 1)
>>> manual_feedback(messages, shorter, 15_000, 6_000)["noop"]
False
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import midfold

from .engine import Engine
from .messages import plain
from .settings import settings_of_host

__all__ = ["Engine", "manual_feedback", "register"]


def register(ctx: Any) -> None:
    """Gives the host an engine; called by the plug-in that `install` wrote."""
    ctx.register_context_engine(Engine(**settings_of_host()))


def manual_feedback(
    before_messages: Sequence[dict[str, Any]],
    after_messages: Sequence[dict[str, Any]],
    before_tokens: int,
    after_tokens: int,
) -> dict[str, Any]:
    """What to tell a person after `/compress`: `noop`, `headline`, `token_line`, `note`.

    >>> said = manual_feedback([{"role": "user", "content": "Hi"}], [], 40, 0)
    >>> said["headline"], said["token_line"]
    ('Compressed: 1 → 0 messages', 'Rough transcript estimate: ~40 → ~0 tokens')
    """
    before = [plain(message) for message in before_messages]
    after = [plain(message) for message in after_messages]
    said = midfold.feedback(before, after, before_tokens, after_tokens)
    return {key: said[key] for key in ("noop", "headline", "token_line", "note")}
