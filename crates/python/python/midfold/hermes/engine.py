"""The context engine: what Hermes Agent calls, answered by a `midfold.Session`."""

from __future__ import annotations

import copy
import logging
from collections.abc import Sequence
from typing import Any

import midfold

from . import tools
from .counts import Counts
from .messages import Message, plain, restored, same
from .narrate import Narrator

_log = logging.getLogger(__name__)


class Engine(Counts):
    """midfold as the context engine of one agent.

    The keyword arguments are those of `midfold.Session` but `window`, `model` and `id`, which the
    host tells. The session is in memory without a `store`.

    >>> engine = Engine(preset="default")
    >>> engine.update_model("any-model", 64_000)
    >>> engine.name, engine.context_length, engine.should_compress(60_000)
    ('midfold', 64000, True)
    """

    _last_compress_aborted: bool = False
    _last_summary_error: str | None = None
    # Whether messages left without a summary of theirs, and how many.
    _last_summary_fallback_used: bool = False
    _last_summary_dropped_count: int = 0
    # The host's own: a failed auxiliary model is on record in the fold's verdicts here.
    _last_aux_model_failure_error: str | None = None
    _last_aux_model_failure_model: str | None = None
    _last_compression_made_progress: bool = False

    def __init__(self, **settings: Any) -> None:
        # The host joins two messages of the user into one: a list that alternates stays as it is.
        self._settings = {"profile": "strict", **settings}
        self._model = ""
        self._session_id = ""
        self._session: midfold.Session | None = None
        self._counted = 0  # what the last prompt cost
        self._sent = False  # a context of the session waits for the provider's count
        self._narrator = Narrator(settings.get("store")) if settings.get("narrate") else None
        self._start_over()

    @property
    def name(self) -> str:
        """What `context.engine` in the host's configuration says."""
        return "midfold"

    # What the model is, and what it counted.

    def update_model(
        self,
        model: str,
        context_length: int,
        base_url: str = "",
        api_key: Any = "",
        provider: str = "",
        api_mode: str = "",
        **_: Any,
    ) -> None:
        """The agent talks to this model from now on, or its window is another one."""
        self._model, self.context_length = model, int(context_length)
        if self._session is not None:
            self._session.update_model(model, self.context_length)
        if self._narrator is not None:
            self._narrator.use(
                {
                    "model": model,
                    "base_url": base_url,
                    "api_key": api_key,
                    "provider": provider,
                    "api_mode": api_mode,
                }
            )
        self._declined = 0
        # A session of the same settings says where the line is; the real one may not exist yet.
        status = (self._session or self._make(stored=False)).status()
        self.threshold_tokens = int(status["threshold_tokens"] or 0)
        self.threshold_percent = float(status["threshold_percent"])
        self.protect_first_n = int(status["protect_first_n"])
        self.protect_last_n = int(status["protect_last_n"])

    def update_from_response(self, usage: dict[str, Any]) -> None:
        """Takes what the provider counted; an empty dict is a reply without a count."""
        prompt = self._take(usage)
        if not prompt:
            return
        self._counted = prompt
        if self._sent and self._session is not None:
            # The first reply after a compression counts just the context that the session made.
            # Later prompts have messages that the session has not seen.
            self._sent = False
            self._session.observe(
                prompt,
                self.last_completion_tokens,
                cache_read=int(usage.get("cache_read_tokens") or 0),
                cache_write=int(usage.get("cache_write_tokens") or 0),
            )
            self._offer()

    # Before the fold.

    def should_compress_preflight(self, messages: Sequence[Message]) -> bool:
        """Whether these messages are over the line before anybody counted them."""
        if not messages:
            return False
        given = [plain(message) for message in messages]
        return self.should_compress(midfold.count_tokens(given, dialect="openai-chat"))

    def has_content_to_compress(self, messages: Sequence[Message]) -> bool:
        """Whether `/compress` would do anything; tried in a session that is let go."""
        given = [plain(message) for message in messages]
        trial = self._make(stored=False)
        try:
            return not same(trial.project(given, force=True), given)
        except midfold.Error:
            return True  # and then `compress` tells the reason

    # The fold.

    def compress(
        self,
        messages: list[Message],
        current_tokens: int | None = None,
        focus_topic: str | None = None,
        force: bool = False,
        memory_context: str = "",
    ) -> list[Message]:
        """The list that takes the place of the host's; the list itself where nothing changes.

        The host asks after `should_compress` said yes, or by itself: because a person wants it
        (`force`), or because the provider refused a prompt. Then the session has to fold.
        """
        advised, self._advised = self._advised, False
        self._last_compress_aborted = self._last_compression_made_progress = False
        self._last_summary_error = None
        self._last_summary_fallback_used, self._last_summary_dropped_count = False, 0
        given = [plain(message) for message in messages]
        # Words of what to keep make a session fold, so those of a memory provider go along where it
        # folds anyway.
        force = force or not advised
        focus = focus_topic or (memory_context.strip() if force else "") or None
        try:
            context = self._project(given, focus, force)
        except midfold.Error as error:
            _log.warning("midfold: not compressed: %s", error)
            self._last_compress_aborted = True
            self._last_summary_error = str(error)
            return messages
        self._sent = True
        if same(context, given):
            self._decline(current_tokens)
            self._shows = False
            self._offer()
            return messages
        self._declined = 0
        self._shows = self._narrator is not None
        self._last_compression_made_progress = True
        self._note_dropped()
        self.compression_count += 1
        self.awaiting_real_usage_after_compression = True
        self._offer()
        return restored(context, given, messages)

    def prune_tool_results_only(
        self, messages: list[Message], current_tokens: int | None = None, **_: Any
    ) -> tuple[list[Message], int]:
        """Nothing: tool results are cut by folds alone, so that a cached prompt stays as it is."""
        return messages, 0

    # The conversation.

    def on_session_start(self, session_id: str, **told: Any) -> None:
        """A conversation begins, or goes on: after a compression under a new id, perhaps."""
        goes_on = told.get("boundary_reason") == "compression" or session_id == self._session_id
        if not goes_on:
            self._start_over()
        self._session_id = session_id

    def on_session_end(self, session_id: str, messages: Sequence[Message]) -> None:
        """A conversation ends. The host calls it at each compression too, so nothing is let go."""

    def on_session_reset(self) -> None:
        """A new conversation in the same place: the counts are zero, the session is a new one."""
        self._zero()
        self._start_over()

    # The tools.

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        """The tools by which the model searches what was folded."""
        return tools.schemas()

    def handle_tool_call(self, name: str, args: dict[str, Any], **told: Any) -> str:
        """Answers a call of one of them, as JSON. `find` and `show` are names of them too."""
        if self._session is None and self._settings.get("store"):
            self._session = self._make()
        session = self._session
        if session is None or not len(session):
            # Nothing was folded yet: what there is is the host's list.
            session = self._make(stored=False)
            session.append([plain(message) for message in told.get("messages") or ()])
        return tools.answer(session, name, args)

    # Copies: the host registers one engine and gives each agent its own.

    def clone_for_agent(self) -> Engine:
        """An engine of the same settings and its own conversation, for another agent."""
        return copy.deepcopy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Engine:
        new = type(self)(**self._settings)
        for key, value in vars(self).items():
            if key not in ("_settings", "_narrator", "_session"):
                setattr(new, key, value)
        if self._session is not None:
            new._session = copy.deepcopy(self._session, memo)
        return new

    # Inside.

    def _start_over(self) -> None:
        """Forgets the conversation."""
        self._session = None
        self._counted = self._declined = 0
        self._advised = self._sent = False
        self._shows = self._narrator is not None
        self.awaiting_real_usage_after_compression = False

    def _make(self, stored: bool = True) -> midfold.Session:
        """A new session of the engine's settings."""
        settings = dict(self._settings)
        if not stored:
            settings.pop("store", None)
        elif settings.get("store") and self._session_id:
            settings["id"] = self._session_id
            try:
                session = midfold.Session.open(settings["store"], self._session_id)
            except midfold.StoreError:
                pass  # a new one
            else:
                session.update_model(self._model, self.context_length or None)
                return session
        window = self.context_length or None
        return midfold.Session(window=window, model=self._model or None, **settings)

    def _project(self, given: list[Message], focus: str | None, force: bool) -> midfold.Context:
        """What the session makes of the host's messages."""
        if self._session is None:
            self._session = self._make()
        if not len(self._session):
            self._anchor(given)
        context = self._session.project(given, focus=focus, force=force)
        if context.session is not None:
            self._session = context.session
        return context

    def _anchor(self, given: list[Message]) -> None:
        """Tells a new session what the prompt before the last reply cost, by the provider's count.

        The host's prompt and tools are not among the messages: that count is how the session knows
        of them. In later sessions the count after each compression says it.
        """
        assert self._session is not None
        replies = [n for n, message in enumerate(given) if message.get("role") == "assistant"]
        if self._counted and replies and replies[-1]:
            self._session.append(given[: replies[-1]])
            self._session.observe(self._counted)

    def _note_dropped(self) -> None:
        """Notes for how many messages nothing is there but a marker or a fixed sentence."""
        folds = self._session.folds() if self._session is not None else []
        self._last_summary_dropped_count = folds[-1]["accounts"]["marker"] if folds else 0
        self._last_summary_fallback_used = self._last_summary_dropped_count > 0

    def _offer(self) -> None:
        """Lets the narrator see whether the session would like something written."""
        if self._narrator is not None and self._session is not None:
            self._narrator.offer(self._session)
