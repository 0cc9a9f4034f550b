"""A provider with a limit, for the loop of docs/PYTHON.md: it reads one file after the other, asks
back for one of the first, and answers. `node/test/provider.js` is the same."""

from __future__ import annotations

import json
from typing import Any

#: What it takes, in tokens of four characters. The loop believes in more.
LIMIT = 12_000
STEPS = 30
ANSWER = "The batch is retried without its key."


class RefusedError(Exception):
    """A request that was not taken."""

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        super().__init__(status)
        self.status = status
        self.body = body


class Provider:
    """What the loop calls, and what came of it."""

    def __init__(self) -> None:
        self.refused: list[int] = []
        self.prompts: list[int] = []
        self.recalled = ""

    def names(self) -> dict[str, Any]:
        """What the loop takes from its own program."""
        tool = {"type": "function", "function": {"name": "read_file", "parameters": {}}}
        return {
            "READ_FILE": tool,
            "Refused": RefusedError,
            "call": self.call,
            "read_file": self.read_file,
        }

    def read_file(self, arguments: str) -> str:
        path = json.loads(arguments)["path"]
        return f"def settle_{path[9:-3]}(refund): return refund.total\n" * 60

    def call(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
        prompt = len(json.dumps([messages, tools])) // 4
        if prompt > LIMIT:
            self.refused.append(prompt)
            said = (
                f"This model's maximum context length is {LIMIT} tokens. "
                f"However, your messages resulted in {prompt} tokens."
            )
            raise RefusedError(400, {"error": {"code": "context_length_exceeded", "message": said}})
        self.prompts.append(prompt)
        message = self.answer(len(self.prompts), messages)
        return {"message": message, "usage": {"prompt_tokens": prompt, "completion_tokens": 20}}

    def answer(self, number: int, messages: list[dict[str, Any]]) -> dict[str, Any]:
        """The answer to the request of this number."""
        if number > STEPS + 1:
            self.recalled = messages[-1]["content"]
            return {"role": "assistant", "content": ANSWER}
        name, arguments = "read_file", {"path": f"src/part_{number}.py"}
        if number > STEPS:
            name, arguments = "recall_find", {"query": "settle_3"}
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"id": f"c{number}", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
