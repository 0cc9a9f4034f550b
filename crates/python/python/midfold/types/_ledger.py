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
    """The longest prefix that a context shares with the one before. A provider's cache can serve
    it.
    """

    bytes: int
    """The bytes of these messages."""
    messages: int
    """The number of messages."""
    tokens: int
    """The counted tokens of these messages, without system prompt and tools."""


class Usage(TypedDict):
    """The tokens that one request cost, as the provider counted them."""

    cache_read: int
    """Tokens of the prompt that were read from the cache."""
    cache_write: int
    """Tokens of the prompt that were written to the cache."""
    output: int
    """Tokens of the reply."""
    prompt: int
    """Tokens of the whole prompt, cached parts included."""


class CacheCheck(TypedDict):
    """The tokens at the start of one turn's prompt that the next turn's prompt repeats byte for
    byte, for three ways of folding. A provider's cache can serve these tokens.
    """

    frozen: int
    """The repeated tokens of `prompt`: the fold stays, and the next turn only adds messages."""
    marker: int
    """The repeated tokens of `marker_prompt`, where a static marker replaces the messages that
    left.
    """
    marker_prompt: int
    """Tokens of the prompt with the marker."""
    prompt: int
    """Tokens of the turn's prompt, as midfold folds it."""
    regenerated: int
    """The repeated tokens of `regenerated_prompt`, where the recap is written anew in each turn."""
    regenerated_prompt: int
    """Tokens of the prompt with that recap."""
