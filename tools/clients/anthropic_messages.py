"""The Anthropic SDK, Messages, streamed, with a cache breakpoint that moves."""

from anthropic import Anthropic
from common import BASE, DESCRIPTION, KEY, MODEL, PARAMETERS, SYSTEM, TASK, run, shell

TOOL = {"name": "shell", "description": DESCRIPTION, "input_schema": PARAMETERS}


def agent():
    client = Anthropic(base_url=BASE, api_key=KEY)
    messages = [{"role": "user", "content": TASK}]
    while True:
        with client.messages.stream(
            model=MODEL,
            max_tokens=1000,
            system=SYSTEM,
            messages=messages,
            tools=[TOOL],
            cache_control={"type": "ephemeral"},
        ) as stream:
            reply = stream.get_final_message()
        calls = [block for block in reply.content if block.type == "tool_use"]
        if not calls:
            return "".join(block.text for block in reply.content if block.type == "text")
        messages.append({"role": "assistant", "content": reply.content})
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": shell(**call.input)}
            for call in calls
        ]
        messages.append({"role": "user", "content": results})


run("anthropic_messages", agent)
