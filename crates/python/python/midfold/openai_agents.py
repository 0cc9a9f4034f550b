"""The OpenAI Agents SDK: a filter of the model's input, and a session that is kept in midfold.

`Filter` projects each call of a run; the items of the run and of its session stay as they are:

    from agents import Agent, RunConfig, Runner, function_tool
    from midfold.openai_agents import Filter, Session

    compacting = Filter(window=20_000)
    agent = Agent(
        name="worker", model=model, tools=[function_tool(shell), *compacting.tools()]
    )
    config = RunConfig(call_model_input_filter=compacting)
    session = Session("led-4100", window=20_000, store=store)
    result = Runner.run_sync(
        agent, task, max_turns=100, run_config=config, hooks=compacting.hooks(), session=session
    )
    print(result.final_output)

`Session` keeps the items between runs, whole, in memory or in a store, and begins a run with what
is to be sent of them. Each of the two works without the other. A filter cannot see the error of a
call: what a provider refuses as too long ends the run, so give `Filter` the model's real window.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import Any

from agents import FunctionTool, RunHooks
from agents.run_config import CallModelData, ModelInputData

import midfold

from . import Context, Sessions, _host, delete_sessions

__all__ = ["Filter", "Session"]


class Filter:
    """A `call_model_input_filter` that sends the model a compacted view of the run's items.

    Arguments are those of `midfold.Session` but `id` (`window`, `preset`, `policy`, …), or
    `sessions`, conversations that are shared with something else. A run is found by its items, so
    that one filter serves any number of runs at once.
    """

    def __init__(self, *, sessions: Sessions | None = None, **settings: Any) -> None:
        if sessions is None:
            settings.setdefault("dialect", "openai-responses")
        #: The conversations, by their items: `sessions.find(result.to_input_list())`.
        self.sessions = _host.sessions_of(sessions, settings)
        self._sent: ContextVar[Context | None] = ContextVar("midfold_sent", default=None)

    async def __call__(self, data: CallModelData[Any]) -> ModelInputData:
        """What is to be sent of these items; the instructions are the host's."""
        given: Any = list(data.model_data.input)
        context = await asyncio.to_thread(self.sessions.project, given)
        self._sent.set(context)
        items: Any = context.messages
        return ModelInputData(input=items, instructions=data.model_data.instructions)

    def hooks(self) -> RunHooks[Any]:
        """Hooks for `Runner.run(hooks=…)` that tell what the provider counted.

        Without them midfold counts itself, and knows nothing of the instructions and the tools.
        """
        return _Usage(self._sent)

    def tools(self) -> list[FunctionTool]:
        """The recall tools: they bring back what was folded of the conversation that asks."""
        return [self._tool(tool) for tool in _host.tools()]

    def _tool(self, tool: _host.Tool) -> FunctionTool:
        async def call(_: Any, arguments: str) -> str:
            context = self._sent.get()
            session = None if context is None else context.session
            return await asyncio.to_thread(_host.answer, session, tool.name, arguments or "{}")

        return FunctionTool(
            name=tool.name,
            description=tool.description,
            params_json_schema=dict(tool.parameters),
            on_invoke_tool=call,
            strict_json_schema=False,
        )


class _Usage(RunHooks[Any]):
    def __init__(self, sent: ContextVar[Context | None]) -> None:
        self._sent = sent

    async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
        usage = response.usage
        details = getattr(usage, "input_tokens_details", None)
        await asyncio.to_thread(
            _host.tell,
            self._sent.get(),
            usage.input_tokens,
            usage.output_tokens,
            cache_read=getattr(details, "cached_tokens", 0),
        )


class Session:
    """A session of the SDK (`Runner.run(session=…)`) that is kept whole in midfold.

    Arguments are those of `midfold.Session`; `id` is `session_id`. With `store` it outlives the
    process. `get_items` is the compacted view, so that the next run begins within the window;
    `conversation()` is the session of midfold, with everything that was added.
    """

    session_settings: Any = None

    def __init__(self, session_id: str, **settings: Any) -> None:
        self.session_id = session_id
        self._store: str | None = settings.get("store")
        self._copy = f"{session_id}~popped"
        self._settings = {"dialect": "openai-responses", **settings}
        self._sessions = Sessions(**self._settings)
        #: What the SDK has been given, and added since: midfold tells what of it is new.
        self._items: list[Any] | None = None
        self._lock = asyncio.Lock()

    def conversation(self) -> midfold.Session | None:
        """The `midfold.Session` of this session, `None` while it has no items."""
        return self._sessions.find(id=self.session_id)

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """What is to be sent of the items; of these the newest `limit`."""
        async with self._lock:
            items = await asyncio.to_thread(self._load)
            return items[:] if limit is None else items[max(0, len(items) - limit) :]

    async def add_items(self, items: list[Any]) -> None:
        """Appends items; with a store they are durable when this returns."""
        if not items:
            return
        async with self._lock:
            known = await asyncio.to_thread(self._load)
            await asyncio.to_thread(self._project, [*known, *items])

    async def pop_item(self) -> Any:
        """Takes the newest item back, and returns it; `None` where there is none."""
        async with self._lock:
            known = await asyncio.to_thread(self._load)
            if not known:
                return None
            await asyncio.to_thread(self._rewind, known[:-1])
            return known[-1]

    async def clear_session(self) -> None:
        """Forgets all items, for good: those in the store are deleted."""
        async with self._lock:
            await asyncio.to_thread(self._rewind, [])

    def _load(self) -> list[Any]:
        if self._items is None:
            found = self._found()
            self._items = [] if found is None else list(found.context().messages)
        return self._items

    def _found(self) -> midfold.Session | None:
        """The session, where need be of the copy that an interrupted `_rewind` left behind."""
        found = self.conversation()
        if found is None and self._store is not None:
            copy = self._sessions.find(id=self._copy)
            if copy is not None:
                copy.fork(self.session_id)
                self._delete(self._copy)
                found = self.conversation()
        return found

    def _project(self, items: list[Any]) -> None:
        self._items = list(self._sessions.project(items, id=self.session_id).messages)

    def _rewind(self, items: list[Any]) -> None:
        """Goes back to fewer items; what a store has under the id is replaced by way of a copy."""
        found = self._found()
        if found is not None and self._store is not None:
            self._delete(self._copy)
            if items:
                found.fork(self._copy, at=len(found) - 1)
            self._delete(self.session_id)
        self._sessions = Sessions(**self._settings)
        self._items = None if items and self._store is not None else []
        if items and self._store is None:
            self._project(items)

    def _delete(self, id: str) -> None:
        if self._store is not None and Sessions(**self._settings).find(id=id) is not None:
            delete_sessions(self._store, id)
