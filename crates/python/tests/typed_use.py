"""What a type checker says of a program with midfold: `mypy --strict` reads this, nothing runs it.

An `ignore` that nothing needs is an error, so each of them is something that is found.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypedDict

import midfold
from midfold import trajectories
from midfold.types import Fold, FoundMessage, Policy, SessionStatus


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
    trajectories.compress([], target_tokens=2_000, align=["rewards"])
    trajectories.compress([], target_token=2_000)  # type: ignore[call-arg]


def tools_have_their_shape() -> list[str]:
    names = [tool["function"]["name"] for tool in midfold.recall_tools()]
    names += [tool["name"] for tool in midfold.recall_tools("anthropic")]
    midfold.recall_tools("anthropic")[0]["function"]  # type: ignore[typeddict-item]
    return names


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
