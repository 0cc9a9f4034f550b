"""The proxy of LiteLLM: a callback that compacts requests before they go to a provider.

The clients keep their whole conversations and know of nothing. In a file `compacting.py` beside
the proxy's `config.yaml`, which has `litellm_settings: {callbacks: [compacting.handler]}`:

    from midfold.litellm import Midfold

    handler = Midfold(
        window=20_000,
        windows={"small-model": 8_000},
        preset="default",
    )

Chat Completions, Responses and Anthropic Messages are compacted. A request is found by its
messages. A callback cannot send a request again: for what a provider refuses as too long, the
router has `context_window_fallbacks`.
"""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from litellm.integrations.custom_logger import CustomLogger

from . import Context, Sessions, _host

__all__ = ["Midfold"]

#: Kinds of calls that have a conversation: the key with the messages, and the dialect of these.
_KINDS = {
    "completion": ("messages", "openai-chat"),
    "acompletion": ("messages", "openai-chat"),
    "anthropic_messages": ("messages", "anthropic"),
    "responses": ("input", "openai-responses"),
    "aresponses": ("input", "openai-responses"),
}
#: Most answers that are waited for: of a call that another callback stops there is never a word.
_WAITING = 4_096


class Midfold(CustomLogger):
    """Compacts the conversation of each request that the proxy forwards.

    Arguments are those of `midfold.Session` but `id`, `dialect` and `model`, which a request has.
    `windows` are those of single models, by the name that clients use; the others have `window`, or
    what midfold knows of the model.
    """

    def __init__(self, *, windows: dict[str, int] | None = None, **settings: Any) -> None:
        super().__init__()
        self._windows = dict(windows or {})
        self._settings = settings
        self._lock = threading.Lock()
        #: Conversations of a model in a dialect.
        self._sessions: dict[tuple[str, str], Sessions] = {}
        #: By call: what was sent, until the provider has said what it counted.
        self._sent: dict[str, Context] = {}

    def sessions(self, model: str, dialect: str = "openai-chat") -> Sessions:
        """The conversations with a model."""
        with self._lock:
            if (model, dialect) not in self._sessions:
                settings = {**self._settings, "model": model, "dialect": dialect}
                if model in self._windows:
                    settings["window"] = self._windows[model]
                self._sessions[model, dialect] = Sessions(**settings)
            return self._sessions[model, dialect]

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: Any
    ) -> dict[str, Any]:
        """Puts what is to be sent in the place of the messages."""
        kind = _KINDS.get(getattr(call_type, "value", call_type))
        if kind is None:
            return data
        key, dialect = kind
        given = data.get(key)
        if not isinstance(given, list) or not given or data.get("previous_response_id"):
            return data
        sessions = self.sessions(str(data.get("model")), dialect)
        context = await asyncio.to_thread(sessions.project, given)
        call = data.get("litellm_call_id")
        if isinstance(call, str):
            self._sent[call] = context
            while len(self._sent) > _WAITING:
                self._sent.pop(next(iter(self._sent)), None)
        return {**data, key: context.messages}

    async def async_log_success_event(
        self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        """Tells the session what the provider counted, of streams too."""
        sent = self._sent.pop(str(kwargs.get("litellm_call_id")), None)
        prompt, output, read = _usage(getattr(response_obj, "usage", None))
        await asyncio.to_thread(_host.tell, sent, prompt, output, cache_read=read)

    async def async_log_failure_event(
        self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        """Forgets what was sent: the answer never came."""
        self._sent.pop(str(kwargs.get("litellm_call_id")), None)


def _usage(usage: Any) -> tuple[int, int, int]:
    """Prompt, output and cached tokens, in the words of Chat Completions or of Responses.

    >>> _usage({"prompt_tokens": 5, "completion_tokens": 1})
    (5, 1, 0)
    """
    details = _read(usage, "prompt_tokens_details") or _read(usage, "input_tokens_details")
    return (
        _read(usage, "prompt_tokens") or _read(usage, "input_tokens") or 0,
        _read(usage, "completion_tokens") or _read(usage, "output_tokens") or 0,
        _read(details, "cached_tokens") or 0,
    )


def _read(usage: Any, name: str) -> Any:
    return usage.get(name) if isinstance(usage, dict) else getattr(usage, name, None)
