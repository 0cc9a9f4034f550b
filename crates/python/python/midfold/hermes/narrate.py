"""Narrations by the host's auxiliary model, in the background."""

from __future__ import annotations

import logging
import threading
from typing import Any

import midfold

_log = logging.getLogger(__name__)


class Narrator:
    """Asks the model that Hermes Agent is configured to compress with (`auxiliary.compression`).

    One request at a time, on a thread of its own. Nothing waits for it: what comes late serves the
    next fold.
    """

    def __init__(self, store: str | None = None) -> None:
        self._store = store
        self._runtime: dict[str, Any] = {}
        self._thread: threading.Thread | None = None

    def use(self, runtime: dict[str, Any]) -> None:
        """Says which model the agent talks to: the auxiliary model may be that one."""
        self._runtime = dict(runtime)

    def offer(self, session: midfold.Session) -> None:
        """Has written what the session would like to have; returns at once."""
        if self._thread is not None and self._thread.is_alive():
            return
        if self._store is None:
            request = session.wants()
            if request is None:
                return
            self._start(self._complete, session, request)
        else:
            self._start(self._work)

    def wait(self, seconds: float) -> bool:
        """Waits for the request under way, at most this long; whether none is left."""
        if self._thread is None:
            return True
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _start(self, target: Any, *args: Any) -> None:
        self._thread = threading.Thread(
            target=target, args=args, name="midfold-narration", daemon=True
        )
        self._thread.start()

    def _complete(self, session: midfold.Session, request: midfold.SummaryRequest) -> None:
        """Answers one request of a session in memory."""
        try:
            reply = self._ask(request)
        except Exception as error:
            # Whatever it is, the session falls back to what it can compute, and notes why.
            _log.info("midfold: no narration: %s: %s", type(error).__name__, error)
            session.complete(request, error=_kind(error))
            return
        code = session.complete(
            request,
            reply["text"],
            finish=reply["finish"],
            model=reply["model"],
            prompt=reply["prompt"],
            output=reply["output"],
        )
        _log.info("midfold: narration %s", code)

    def _work(self) -> None:
        """Takes one job of the store, if there is one."""
        try:
            midfold.work(
                self._store or "", lambda request: str(self._ask(request)["text"]), limit=1
            )
        except Exception as error:
            _log.info("midfold: no narration: %s: %s", type(error).__name__, error)

    def _ask(self, request: midfold.SummaryRequest) -> dict[str, Any]:
        """The auxiliary model's answer."""
        from agent.auxiliary_client import call_llm  # type: ignore[import-not-found,unused-ignore]

        # Without a limit of tokens: a model that thinks would spend it before it writes. The
        # session judges what comes.
        response = call_llm(
            task="compression",
            main_runtime=self._runtime,
            messages=request.messages,
            temperature=request.temperature,
        )
        choice = response.choices[0]
        message = choice.message
        text = message.get("content") if isinstance(message, dict) else message.content
        usage = getattr(response, "usage", None)
        return {
            "text": text or "",
            "finish": getattr(choice, "finish_reason", None) or "stop",
            "model": str(getattr(response, "model", None) or "auxiliary"),
            "prompt": int(getattr(usage, "prompt_tokens", 0) or 0),
            "output": int(getattr(usage, "completion_tokens", 0) or 0),
        }


def _kind(error: Exception) -> str:
    """The kind of a failure, as midfold names it."""
    status = getattr(error, "status_code", None)
    if "timeout" in type(error).__name__.lower():
        return "timeout"
    if status in (401, 403):
        return "auth"
    if status == 429:
        return "rate-limited"
    if isinstance(status, int):
        return "server" if status >= 500 else "rejected"
    return "network"
