"""What the ledger has of a request, and what a cache serves."""

# Written by tools/door-types: change the sources that it reads.
from __future__ import annotations

from typing import TypedDict

__all__ = [
    "CacheCheck",
    "SharedPrefix",
    "Usage",
]


class SharedPrefix(TypedDict):
    """The longest prefix that a context shares with the one before: what a cache can serve."""

    bytes: int
    """Their bytes."""
    messages: int
    """Messages."""
    tokens: int
    """Their tokens, without the envelope's."""


class Usage(TypedDict):
    """What a provider said that one request cost, in tokens."""

    cache_read: int
    """Part of the prompt that was read from the cache."""
    cache_write: int
    """Part of the prompt that was written to the cache."""
    output: int
    """The reply."""
    prompt: int
    """The whole prompt, cached parts included."""


class CacheCheck(TypedDict):
    """Tokens at the start of one turn's prompt that the next turn's prompt repeats byte for byte,
    each of a prompt of its own.
    """

    frozen: int
    """Repeated of `prompt` by midfold: the fold stays, and the next turn only adds to it."""
    marker: int
    """Repeated of `marker_prompt`, where a static marker stands for what left."""
    marker_prompt: int
    """Tokens of the prompt with the marker."""
    prompt: int
    """Tokens of the turn's prompt, as midfold makes it."""
    regenerated: int
    """Repeated of `regenerated_prompt`, where a recap stands there that is written anew each turn.
    """
    regenerated_prompt: int
    """Tokens of the prompt with that recap."""
