"""Context compaction for LLM agents: keep the ends, fold the middle.

>>> import midfold
>>> messages = [
...     {"role": "system", "content": "You are a careful engineer."},
...     {"role": "user", "content": "Fix the tests of src/app.py."},
... ]
>>> for n in range(40):
...     messages.append({"role": "assistant", "content": f"Looking at part {n}. " * 20})
...     messages.append({"role": "user", "content": "Go on."})
>>> result = midfold.compact(messages, window=4_000)
>>> result.messages[0] is messages[0], result.messages[-1] is messages[-1]
(True, True)
>>> result.after.tokens < result.before.tokens
True

`compact` folds one conversation; a `Session` holds one and folds when it is due, and `Sessions`
hold those of a host; `work` has what sessions in a store want narrated; `prune_sessions` deletes
old ones; `verify` checks what came out; `replay` measures policies on a recording; `trajectories`
makes training rows fit, and `arrow` those of columns; `types` has the dictionaries of all of them.
Everything runs without the interpreter's lock and may be called from any thread.
"""

from __future__ import annotations

from . import arrow, trajectories, types
from ._errors import BudgetError, Error, InputError, PolicyError, StoreError, TokenizerError
from ._midfold import (
    Context,
    Session,
    Sessions,
    SummaryRequest,
    __version__,
    cache_check,
    compact,
    count_tokens,
    delete_sessions,
    feedback,
    presets,
    prune_sessions,
    recall_tools,
    replay,
    tokenizers,
    verify,
    work,
)
from ._types import ContextSize, Extent, Folding, Problem, Result, Verification, Worked

__all__ = [
    "BudgetError",
    "Context",
    "ContextSize",
    "Error",
    "Extent",
    "Folding",
    "InputError",
    "PolicyError",
    "Problem",
    "Result",
    "Session",
    "Sessions",
    "StoreError",
    "SummaryRequest",
    "TokenizerError",
    "Verification",
    "Worked",
    "__version__",
    "arrow",
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
    "trajectories",
    "types",
    "verify",
    "work",
]
