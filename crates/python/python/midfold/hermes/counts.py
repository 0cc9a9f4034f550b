"""What the host counts by: figures that it reads by name, and whether it is time to compress."""

from __future__ import annotations

from typing import Any

from .base import Base

#: Where a compression that was asked for found nothing to do, the host is told so until its count
#: grew by this share of the window: it would ask again before every request.
_PATIENCE = 20
#: The share of the line from which on the session is shown the messages once, where it narrates: in
#: what it would fold, a model can write while the agent goes on.
_SHOW = 0.8


class Counts(Base):
    """The figures of one conversation: half of an `Engine`."""

    # Read by the host, by these names.
    last_prompt_tokens: int = 0
    last_completion_tokens: int = 0
    last_total_tokens: int = 0
    last_real_prompt_tokens: int = 0
    last_compression_rough_tokens: int = 0
    threshold_tokens: int = 0
    context_length: int = 0
    compression_count: int = 0
    threshold_percent: float = 0.75
    protect_first_n: int = 3
    protect_last_n: int = 6
    awaiting_real_usage_after_compression: bool = False
    emit_automatic_compaction_status: bool = True
    _advised: bool = False
    _declined: int = 0
    _shows: bool = False  # the session narrates, and has not seen these messages

    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        """Whether so many tokens are over the session's line: counted, or the host's estimate.

        No where a compression at so many, or a few less, found nothing to fold. Where a model
        narrates, yes a little below the line too, once: the host has no other call that shows the
        messages.
        """
        tokens = self.last_prompt_tokens if prompt_tokens is None else prompt_tokens
        line = self.threshold_tokens * (_SHOW if self._shows else 1)
        over = 0 < line <= tokens
        self._advised = over and tokens >= self._declined
        return self._advised

    def should_compress_info(self, prompt_tokens: int | None = None) -> tuple[bool, str | None]:
        """The same, and why not where the line is crossed: there was nothing to fold."""
        tokens = self.last_prompt_tokens if prompt_tokens is None else prompt_tokens
        due = self.should_compress(tokens)
        held = not due and 0 < self.threshold_tokens <= tokens
        return due, "ineffective" if held else None

    def should_defer_preflight_to_real_usage(self, rough_tokens: int) -> bool:
        """Whether the provider's next count should be waited for: a context of ours fits."""
        return self.awaiting_real_usage_after_compression

    def get_status(self) -> dict[str, Any]:
        """What the host shows."""
        prompt = max(self.last_prompt_tokens, 0)
        window = self.context_length
        return {
            "last_prompt_tokens": prompt,
            "threshold_tokens": self.threshold_tokens,
            "context_length": window,
            "usage_percent": min(100, prompt / window * 100) if window else 0,
            "compression_count": self.compression_count,
        }

    def _take(self, usage: dict[str, Any]) -> int:
        """Takes the figures of a reply; the tokens of its prompt, 0 where nobody counted."""
        self.awaiting_real_usage_after_compression = False
        prompt = int(usage.get("prompt_tokens") or 0)
        if not prompt:
            # The host's -1 says that a count is awaited.
            self.last_prompt_tokens = max(self.last_prompt_tokens, 0)
            return 0
        self.last_prompt_tokens = self.last_real_prompt_tokens = prompt
        self.last_completion_tokens = output = int(usage.get("completion_tokens") or 0)
        self.last_total_tokens = int(usage.get("total_tokens") or prompt + output)
        return prompt

    def _decline(self, tokens: int | None) -> None:
        """Notes that there was nothing to fold at so many tokens."""
        counted = self.last_prompt_tokens if tokens is None else tokens
        patience = self.context_length // _PATIENCE
        self._declined = min(max(counted, 0) + patience, self.context_length)

    def _zero(self) -> None:
        """Sets the counts to those of a new conversation."""
        self.last_prompt_tokens = self.last_completion_tokens = self.last_total_tokens = 0
        self.last_real_prompt_tokens = self.last_compression_rough_tokens = 0
        self.compression_count = 0
