"""The sessions of the native half: see `midfold`. When it runs no module has this name."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, final

from ._types import Folding
from .types import (
    AfterFold,
    AuditReport,
    CacheCheck,
    Dialect,
    Explanation,
    Fold,
    FoldDescription,
    FoundMessage,
    GoneNames,
    Injection,
    LedgerCall,
    Message,
    Messages,
    OriginalPage,
    OutlinePage,
    PlaceholderCall,
    PolicySource,
    PresetName,
    PromptMessage,
    Role,
    SessionStatus,
    TierName,
    Tool,
)

@final
class Context:
    """A context: the messages to send, and what they count.

    >>> import midfold
    >>> context = midfold.Session().project([{"role": "user", "content": "hi"}])
    >>> len(context), context.places, context.tokens < 20
    (1, [0], True)
    """

    @property
    def messages(self) -> list[Any]:
        """The messages. Those that were kept as they were are the objects that were appended."""
    @property
    def tokens(self) -> int:
        """The counted tokens, with what travels beside the messages."""
    @property
    def folded(self) -> bool:
        """Whether it was folded for this."""
    @property
    def call(self) -> int | None:
        """The number of the request in the ledger of a stored session, from 1; `None` in memory."""
    @property
    def tools(self) -> list[Any]:
        """The tools by which the model looks up what was folded, for the `tools` of the request:
        empty before the first fold. `Session.recall` answers their calls.
        """
    @property
    def injections(self) -> list[Injection]:
        """The texts that hooks added: each hook's name, and the tokens that it took of its
        reserve.
        """
    @property
    def places(self) -> list[int | None] | None:
        """Of what `project` made: for each message the index, in the list that was given, of the
        one that it is or was made of; `None` for what midfold wrote. `None` for other contexts.
        """
    @property
    def session(self) -> Session:
        """The session that it is a context of."""
    def json(self) -> bytes:
        """The messages as one JSON list, ready to be sent: the very bytes of the log."""
    def __len__(self) -> int:
        """The number of messages."""

@final
class SummaryRequest:
    """A summary that a session, a job or a row would like a model to write.

    Send `messages` to a model with these settings, and give its text to whatever made the request.
    """

    @property
    def id(self) -> str:
        """The name of the work, the same for the same work."""
    @property
    def messages(self) -> list[PromptMessage]:
        """The two messages to send to the model: the rules, and the originals to summarise."""
    @property
    def max_tokens(self) -> int:
        """The most tokens of the reply."""
    @property
    def temperature(self) -> float:
        """The sampling temperature."""
    @property
    def timeout(self) -> int:
        """The longest wait for the whole answer, in seconds."""

@final
class Session:
    """One conversation: its log, its folds, its meter; in memory, or in a store.

    Every method may be called from any thread, and none waits for a model. Places are numbers of
    messages, from 0. If a store fails, a method of a stored session raises `StoreError`.

    - `window`: the model's window, in tokens; else that of `model`, else 128,000.
    - `preset`, `policy`: when and how to fold: a name of `presets()`, or a policy of one's own.
    - `dialect`: the form of the messages.
    - `profile`: the rules of the provider; else those of the dialect and the model.
    - `tokenizer`: what counts: a name of `tokenizers()`, `chars:3.2`, or a `tokenizer.json`.
    - `model`: the model's name.
    - `system`, `tools`: what travels beside the messages, and counts.
    - `output_reserve`: tokens of the window that stay free for the reply.
    - `narrate`: whether models narrate: see `wants`.
    - `tiers`: the most that a class of content may take, as shares of the budget from 0 to 1.
    - `after_fold`: a `text`, and `files` that are read at each fold, named from the working folder:
      they are in each recap, in `tokens` tokens at most (4,000).
    - `cache_lifetime`: seconds that the provider's cache keeps a prompt, such as 300. After a
      longer pause the session may fold early. Without it a pause means nothing.
    - `store`: `sqlite:PATH` or `postgres://…`; without it the session is in memory.
    - `id`: its name; a new one without it.

    Raises `InputError` for an unknown name, `PolicyError`, `TokenizerError`, `BudgetError` if
    the reserves leave nothing of the window, and `StoreError` if the id is taken.

    >>> import midfold
    >>> session = midfold.Session(window=4_000)
    >>> question = {"role": "user", "content": "Why is the total off by one?"}
    >>> session.append(question)
    [0]
    >>> context = session.context()
    >>> context.messages[0] is question, context.folded
    (True, False)
    >>> context.json()
    b'[{"role":"user","content":"Why is the total off by one?"}]'
    """

    def __new__(
        cls,
        *,
        window: int | None = None,
        preset: PresetName | None = None,
        policy: PolicySource | None = None,
        dialect: Dialect = ...,
        profile: str | None = None,
        tokenizer: str | None = None,
        model: str | None = None,
        system: str | Sequence[Message] | None = None,
        tools: Sequence[Tool] | None = None,
        output_reserve: int = 0,
        narrate: bool = False,
        tiers: Mapping[TierName, float] | None = None,
        after_fold: AfterFold | None = None,
        cache_lifetime: float | None = None,
        store: str | None = None,
        id: str | None = None,
    ) -> Session: ...
    @staticmethod
    def open(
        store: str,
        id: str,
        *,
        window: int | None = None,
        preset: PresetName | None = None,
        policy: PolicySource | None = None,
        model: str | None = None,
        after_fold: AfterFold | None = None,
    ) -> Session:
        """Goes on with a session of a store: `sqlite:PATH` or `postgres://…`. A window, a model, a
        preset or a policy that you name holds from now on. A smaller window that was learned from a
        refusal stays, until you name another one. `after_fold` is not stored with it.

        Raises `StoreError` if there is no such store or session, and `PolicyError` for a policy
        that cannot be used.
        """
    @property
    def id(self) -> str:
        """Its id. It changes if a list of `project` went back: the session is a fork then."""
    @property
    def store(self) -> str | None:
        """The place where it is stored, without a password; `None` in memory."""
    def append(
        self, messages: Messages, *, key: str | None = None, expect: int | None = None
    ) -> list[int]:
        """Appends a message (a dict), messages (a list of them), or JSON. Returns their places.

        All are appended or none. In a store they are durable when this returns, and a retry with
        the same `key` returns the first answer. With `expect` they are appended only if the
        session has so many messages: otherwise somebody else appended.

        Raises `InputError` for what is no message, `StoreError` if there are not `expect`.
        """
    def context(
        self,
        *,
        inject: Mapping[str, str] | None = None,
        reserve: Mapping[str, int] | None = None,
    ) -> Context:
        """Returns the context to send, folded first if that is due.

        `inject` names texts that are added behind the history, beside the newest request: they are
        sent and not kept. Each needs an entry in `reserve`: tokens that a fold keeps free for it.

        Raises `BudgetError` if nothing fits the window, and `InputError` for a text that is
        longer than its reserve.
        """
    def project(
        self, messages: list[Any], *, focus: str | None = None, force: bool = False
    ) -> Context:
        """Takes all messages that a host keeps, as its list is now, and returns what to send,
        folded first if that is due, or with `force` or a `focus` (what to keep, in words).

        New messages are appended. The list may go on with the context that was handed out before.
        If it went back, the session is a fork from then on, with another `id`.

        Raises `InputError` for what is no list of messages of the session's dialect, and
        `BudgetError` if nothing fits the window.

        >>> import midfold
        >>> session = midfold.Session(window=4_000)
        >>> kept = [{"role": "user", "content": "Why is the total off by one?"}]
        >>> session.project(kept).messages[0] is kept[0]
        True
        >>> kept.append({"role": "assistant", "content": "The loop ends too early."})
        >>> session.project(kept).places
        [0, 1]
        """
    def recover(
        self, error: object, *, status: int | None = None, reply: int = 0
    ) -> Context | None:
        """Returns the smaller context to send after the provider refused a request with this error;
        `None` if compacting does not help.

        Call it once a refusal. `error` is what your SDK raised, or the body of the provider's
        answer; `status` is its HTTP status, without it that of the exception. An error without a
        message counts as too long if the context filled most of the window. `reply` is the least
        tokens to keep free for the reply, if that is more than the session reserves.

        Raises `BudgetError` if nothing smaller can be made, or if what this returned was too
        long, too: then show the provider's error.

        >>> import midfold
        >>> session = midfold.Session(window=100_000)
        >>> _ = session.project([{"role": "user", "content": "Go on. " * 90} for _ in range(90)])
        >>> said = "maximum context length is 8192 tokens, your messages resulted in 20000 tokens"
        >>> session.recover({"error": {"code": "context_length_exceeded", "message": said}}).folded
        True
        >>> session.recover("rate limited", status=429) is None
        True
        """
    def observe(
        self,
        prompt: int,
        output: int | None = None,
        *,
        cache_read: int = 0,
        cache_write: int = 0,
        call: int | None = None,
    ) -> None:
        """Takes what the provider counted for the last context, in tokens: the meter learns from
        it.

        `prompt` is the whole prompt, with the parts that were read from the cache (`cache_read`) or
        written to it (`cache_write`); `output` is the reply. `call` is `Context.call`, for a
        request of a stored session that is not the last.

        Raises `InputError` for what is no number of tokens, and `StoreError` if the call is
        unknown, or was observed with other figures.
        """
    def compact(self, focus: str | None = None) -> Folding:
        """Folds now, because you ask. `focus` says in words what to keep. Raises `BudgetError`
        if nothing fits the window.
        """
    def preview(self, focus: str | None = None) -> Folding:
        """Says what `compact` would do, without doing it. Raises what that raises."""
    def undo(self, fold: str | None = None) -> None:
        """Takes back a fold and those after it; without an id the active one. Its record stays.
        Raises `InputError` if there is no such fold.
        """
    def pin(self, seq: int) -> None:
        """Keeps the message at this place, with its calls and results, out of every later fold.

        Raises `InputError` if there is no such message.
        """
    def unpin(self, seq: int) -> None:
        """Lets a pinned message go. Raises what `pin` raises."""
    def update_model(self, model: str, window: int | None = None) -> None:
        """Says that the contexts go to another model from now on. Its window is `window`, in
        tokens, else the model's own if it is known, else the one before.

        Raises `BudgetError` if the reserves leave nothing of the window.
        """
    def set_policy(
        self,
        policy: PolicySource | None = None,
        *,
        preset: PresetName | None = None,
        tiers: Mapping[TierName, float] | None = None,
        narrate: bool = False,
    ) -> None:
        """Changes the policy, from the next fold on. It is on record: `status()` has its name, its
        fingerprint and since when it holds, each fold the fingerprint of its own.

        Raises `PolicyError` if it cannot be used, `BudgetError` if nothing is left.
        """
    def explain(self, text_or_event: str | int, *, call: int | None = None) -> Explanation:
        """Answers whether the model sees a text, or a message by its place: where it is, when it
        left and by which rule, and whether it was asked for again. `call` asks about an earlier
        request of a stored session, by its number.

        Raises `InputError` if there is no such message or request, or the text is empty.
        """
    def audit(self) -> AuditReport:
        """Holds every record against the log: whether all is `ok`, what does not hold
        (`findings`), and what each fold lost (`receipts`).
        """
    def placeholders(self, messages: Messages) -> list[PlaceholderCall]:
        """Returns the calls of a new message that hold placeholders: what a fold printed in the
        place of content. Before they run, answer each with its `reason`. Raises what `append`
        raises.
        """
    def ledger(self) -> list[LedgerCall]:
        """Returns the requests of the ledger, oldest first, each with the `usage` that the
        provider reported. A session in memory has none.
        """
    def cache_check(self) -> CacheCheck | None:
        """Compares three ways of folding by the tokens at the start of a prompt that the next turn
        repeats: the provider can read them from its cache. They are a fixed `marker`, a recap that
        is `regenerated` each turn, and a fold that stays (`frozen`). `None` if there is no turn
        before the last, or nothing to fold.

        Raises `BudgetError` if nothing fits the window.
        """
    def status(self) -> SessionStatus:
        """Returns the session in figures, in tokens and numbers of messages: its window, its
        budget, where folding starts, and whether a fold is due.
        """
    def folds(self) -> list[Fold]:
        """Returns the records of all folds that were made, oldest first."""
    def wants(self) -> SummaryRequest | None:
        """Returns what a model should be asked now, if anything. Give its answer to `complete`.

        Raises `StoreError` for a stored session: its store has a queue, which `work` answers.
        """
    def complete(
        self,
        request: SummaryRequest,
        text: str | None = None,
        *,
        error: str | None = None,
        finish: str = "stop",
        model: str = ...,
        prompt: int = 0,
        output: int = 0,
    ) -> str:
        """Takes the model's answer to a request: a text, or why there is none (`error="timeout"`).
        Returns the verdict: `accepted`, or why it will not be used.

        `finish` is the provider's reason for the end of the reply, `model` the name that records
        show, `prompt` and `output` what the provider counted, in tokens.

        Raises `InputError` for a request of another session, or an unknown kind of failure.
        """
    def recall_grep(
        self,
        query: str = "",
        *,
        mode: Literal["text", "literal", "regex"] = "text",
        role: Role | None = None,
        tool: str | None = None,
        errors: bool = False,
        folded: bool = False,
        range: str | None = None,
        context: int = 0,
        limit: int = 10,
        skip: int = 0,
    ) -> list[FoundMessage]:
        """Finds messages of the log by what they say, those that were folded included.

        `mode` is how the query is read. `role`, `tool` (a name or a kind), `errors`, `folded` and
        `range` (`"12-80"`) narrow it; with one of them the query may be empty: then all that pass
        are listed, the oldest first. `context` is the lines around each line that is found, `limit`
        the most messages, `skip` how many are left out before them.

        Raises `InputError` for a range, a role, a mode or a regular expression that is none.
        """
    def recall_outline(
        self, *, start: int = 0, limit: int = 50, folded: bool = False
    ) -> OutlinePage:
        """Lists at most `limit` messages from place `start` on: role, tool and target, outcome,
        size.
        """
    def recall_expand(
        self,
        what: str | int | list[int],
        *,
        cursor: str | None = None,
        max_chars: int = 8_000,
    ) -> OriginalPage:
        """Brings back originals, calls with their results: a message (`12`, `"@12"`), a range
        (`"12-20"`), a list (`[12, 15]`, `"12,15-20"`), `"active"` or a fold's id.

        A page has at most `max_chars` characters of text; its `next` is the `cursor` of the next.

        Raises `InputError` if there is no such message or fold.
        """
    def recall_describe(self, fold: str = "active") -> FoldDescription:
        """Says what a fold covers: `"active"`, or its id. Raises `InputError` if there is none."""
    def recall_names(self, question: str = "", max_chars: int = 2_000) -> GoneNames:
        """Lists the names (paths, symbols, ids, numbers) that left the context, those that are
        most likely needed for `question` first, in at most `max_chars` characters.
        """
    def recall(self, name: str, arguments: str | dict[str, Any]) -> str:
        """Answers a call of one of the tools of `midfold.recall_tools`: plain text, always, even
        if `arguments` (JSON as text, or the dict) cannot be used.
        """
    def fork(self, id: str | None = None, *, at: int | None = None) -> Session:
        """Makes a session of its own over the first `at` messages (all without), with the folds
        that apply.

        Raises `InputError` if there are not so many, `StoreError` if the id is taken.
        """
    def __deepcopy__(self, memo: dict[int, Any]) -> Session:
        """An independent session: in memory an exact copy, in a store a fork with its own id."""
    def __len__(self) -> int:
        """The number of messages in the log."""

@final
class Sessions:
    """The conversations of one host, found by the host's own ids, else by what is in them.

    A host gives its whole list of messages each time, and gets what to send. The arguments are
    those of `Session`, which hold for each of them, and `limit`: how many conversations are held.
    Of more the one that was quiet for longest is let go; in a store it is found again by its id. A
    window, a model, a preset or a policy that you name holds for those, too: see `Session.open`.

    Raises `InputError` for an unknown name, `PolicyError`, `TokenizerError`, and `StoreError`.

    >>> import midfold
    >>> sessions = midfold.Sessions(window=4_000)
    >>> kept = [{"role": "user", "content": "Why is the total off by one?"}]
    >>> context = sessions.project(kept, id="thread-7")
    >>> context.messages[0] is kept[0], context.session.id
    (True, 'thread-7')
    >>> sessions.find(kept).id
    'thread-7'
    """

    def __new__(
        cls,
        *,
        window: int | None = None,
        preset: PresetName | None = None,
        policy: PolicySource | None = None,
        dialect: Dialect = ...,
        profile: str | None = None,
        tokenizer: str | None = None,
        model: str | None = None,
        system: str | Sequence[Message] | None = None,
        tools: Sequence[Tool] | None = None,
        output_reserve: int = 0,
        narrate: bool = False,
        tiers: Mapping[TierName, float] | None = None,
        after_fold: AfterFold | None = None,
        cache_lifetime: float | None = None,
        store: str | None = None,
        limit: int = 64,
    ) -> Sessions: ...
    def project(
        self,
        messages: list[Any],
        *,
        id: str | None = None,
        focus: str | None = None,
        force: bool = False,
    ) -> Context:
        """Takes all messages of a conversation, as the host's list is now, and returns what to
        send, as `Session.project` does.

        `id` is the host's own name of the conversation; in a store it is the session's id. Without
        it the conversation is the one that has most in common with the list.

        Raises what `Session` and `Session.project` raise.
        """
    def find(self, messages: list[Any] | None = None, *, id: str | None = None) -> Session | None:
        """Returns the session of this id, else of the conversation that has most in common with the
        messages; `None` if there is none. Nothing is appended: tools that recall need this.

        Raises `InputError` for what is no list of messages, `StoreError` if the store fails.
        """
