"""What a type checker says of a program with midfold: `mypy --strict` reads this, nothing runs it.

An `ignore` that nothing needs is an error, so each of them is something that is found.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, TypedDict

import midfold
from midfold import trajectories
from midfold.types import Fold, FoundMessage, Policy, SessionStatus

if TYPE_CHECKING:
    from typing_extensions import NotRequired


def keys_are_known(session: midfold.Session) -> list[str]:
    status: SessionStatus = session.status()
    window: int = status["context_length"]
    status["context_lenght"]  # type: ignore[typeddict-item]
    fold: Fold | None = session.compact().fold
    recap = fold["recap"]["text"] if fold is not None and fold["recap"] is not None else ""
    found: list[FoundMessage] = session.recall_grep("settle")
    found[0]["event"].upper()  # type: ignore[attr-defined]
    return [str(window), recap, session.explain("settle")["answer"]]


def settings_are_known() -> None:
    careful: Policy = {"base": "default", "trigger": {"threshold": 0.7}}
    midfold.Session(policy=careful, tiers={"results": 0.3}, after_fold={"files": ["PLAN.md"]})
    midfold.Session(policy={"tail": {"min_mesages": 20}})  # type: ignore[arg-type]
    midfold.Session(after_fold={"file": "PLAN.md"})  # type: ignore[arg-type]
    midfold.Session(dialect="openai")  # type: ignore[arg-type]
    midfold.Session(preset="lean")
    midfold.Session(preset="defualt")  # type: ignore[arg-type]
    midfold.compact([], preset="defualt")  # type: ignore[arg-type]
    midfold.Session.open("memory", "a", window=8_000, preset="lean", model="m", policy=careful)
    trajectories.compress([], target_tokens=2_000, align=["rewards"])
    trajectories.compress([], target_token=2_000)  # type: ignore[call-arg]


def tools_have_their_shape() -> list[str]:
    names = [tool["function"]["name"] for tool in midfold.recall_tools()]
    names += [tool["name"] for tool in midfold.recall_tools("anthropic")]
    midfold.recall_tools("anthropic")[0]["function"]  # type: ignore[typeddict-item]
    return names


class _Function(TypedDict):
    """As in the SDK of OpenAI: `shared_params.FunctionDefinition`."""

    name: str
    description: NotRequired[str]
    parameters: NotRequired[dict[str, object]]
    strict: NotRequired[bool | None]


class _Tool(TypedDict):
    """As in the SDK of OpenAI: `ChatCompletionFunctionToolParam`."""

    function: _Function
    type: Literal["function"]


def _offer(tools: Iterable[_Tool]) -> str:
    """Takes tools as the SDKs of providers declare them."""
    return str(list(tools))


def tools_fit_an_sdk(context: midfold.Context) -> str:
    own: _Tool = {"type": "function", "function": {"name": "read_file"}}
    tools: list[_Tool] = [own, *midfold.recall_tools(), *context.tools]
    midfold.Session(tools=tools)
    return _offer(tools=midfold.recall_tools()) + _offer(tools=[own, *midfold.recall_tools()])


class _UserMessage(TypedDict):
    role: Literal["user"]
    content: str


class _AssistantMessage(TypedDict):
    role: Literal["assistant"]
    content: str | None


def _create(messages: Iterable[_UserMessage | _AssistantMessage]) -> str:
    """Takes messages as the SDKs of providers declare them."""
    return str(list(messages))


def messages_of_an_sdk_fit(session: midfold.Session) -> str:
    kept: list[_UserMessage | _AssistantMessage] = [{"role": "user", "content": "hi"}]
    midfold.compact(kept, window=16_000)
    session.append(kept[0])
    session.append(kept)
    return _create(messages=session.project(kept).messages)


def the_loop(session: midfold.Session, kept: list[midfold.types.Message]) -> midfold.Context | None:
    context = session.project(kept, focus="the plan")
    session.observe(context.tokens, 20, call=context.call)
    return session.recover({"error": {"code": "context_length_exceeded"}}, status=400)


class _RefusedError(Exception):
    """As the SDK of OpenAI declares it: `APIStatusError`."""

    body: object | None
    status_code: int


def a_refusal_fits(
    session: midfold.Session, refused: _RefusedError
) -> list[midfold.Context | None]:
    return [session.recover(refused), session.recover(refused.body, status=refused.status_code)]
