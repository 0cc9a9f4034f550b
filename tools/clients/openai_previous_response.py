"""The OpenAI SDK, Responses with `previous_response_id`: the server holds the history."""

import json

from common import BASE, DESCRIPTION, KEY, MODEL, PARAMETERS, SYSTEM, TASK, run, shell
from openai import OpenAI, omit

TOOL = {"type": "function", "name": "shell", "description": DESCRIPTION, "parameters": PARAMETERS}


def agent():
    client = OpenAI(base_url=f"{BASE}/v1", api_key=KEY)
    new, previous = [{"role": "user", "content": TASK}], omit
    while True:
        reply = client.responses.create(
            model=MODEL,
            instructions=SYSTEM,
            input=new,
            tools=[TOOL],
            previous_response_id=previous,
        )
        calls = [item for item in reply.output if item.type == "function_call"]
        if not calls:
            return reply.output_text
        previous = reply.id
        new = [
            {
                "type": "function_call_output",
                "call_id": call.call_id,
                "output": shell(**json.loads(call.arguments)),
            }
            for call in calls
        ]


run("openai_previous_response", agent)
