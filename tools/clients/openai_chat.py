"""The OpenAI SDK, Chat Completions: the plain loop of an agent."""

import json

from common import BASE, DESCRIPTION, KEY, MODEL, PARAMETERS, SYSTEM, TASK, run, shell
from openai import OpenAI

TOOL = {
    "type": "function",
    "function": {"name": "shell", "description": DESCRIPTION, "parameters": PARAMETERS},
}


def agent():
    client = OpenAI(base_url=f"{BASE}/v1", api_key=KEY)
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": TASK}]
    while True:
        reply = client.chat.completions.create(model=MODEL, messages=messages, tools=[TOOL])
        message = reply.choices[0].message
        if not message.tool_calls:
            return message.content
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            output = shell(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": output})


run("openai_chat", agent)
