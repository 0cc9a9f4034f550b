"""How a model narrates, as a policy says it."""

# Written by tools/door-types: change the sources that it reads.
from __future__ import annotations

from typing import Literal, TypedDict

__all__ = [
    "NarrationPolicy",
    "NarrationStyle",
]


NarrationStyle = Literal["bullets", "headings"]
"""How a narrated section is written. `bullets`: `- **Decisions:** …` (Summarizing Evicted Turns).
`headings`: `## Active Task` (Hermes Agent).
"""


class NarrationPolicy(TypedDict, total=False):
    """How a model would narrate. Data only: the engine asks, a driver calls."""

    max_tokens: int | None
    """Hard cap of the reply, in tokens (Summarizing Evicted Turns: 512). Without one, it follows
    from the words.
    """
    max_words: int | None
    """The most words that a share may come to."""
    most_tokens: int | None
    """The most that `token_share` may come to."""
    on: bool
    """Whether a model is asked at all."""
    sections: list[str]
    """The sections asked for, in order."""
    share: float | None
    """Words asked for as a share of the covered tokens: a long span deserves a long narration."""
    strategy: str | None
    """`strategy` in the record of a narrated fold, where it is not the policy's (Summarizing
    Evicted Turns).
    """
    style: NarrationStyle
    """How a section is written."""
    temperature: float | None
    """Sampling temperature (Summarizing Evicted Turns: 0.2)."""
    timeout_seconds: int | None
    """Longest time of an answer, from the request to the last byte, in seconds (Summarizing Evicted
    Turns: 25).
    """
    token_share: float | None
    """The cap as a share of the covered tokens, at least `max_tokens` and at most `most_tokens`
    (Hermes Agent: the summary's budget scales with what is summarised).
    """
    whole_middle: bool
    """A narrated fold covers the whole middle, also what came after the model was asked, which is
    then told by the computed sections (What Survives the Compression). Otherwise that stays as
    it is, where the fold reaches its target so.
    """
    words: int | None
    """Words asked for (Summarizing Evicted Turns: 200); with a `share`, the fewest."""
