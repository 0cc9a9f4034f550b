"""The OpenAI SDK, Responses, streamed; the client holds the history."""

import json

from common import BASE, DESCRIPTION, KEY, MODEL, PARAMETERS, SYSTEM, TASK, run, shell
from openai import OpenAI

TOOL = {"type": "function", "name": "shell", "description": DESCRIPTION, "parameters": PARAMETERS}


def agent():
    client = OpenAI(base_url=f"{BASE}/v1", api_key=KEY)
    items = [{"role": "user", "content": TASK}]
    while True:
        with client.responses.stream(
            model=MODEL, instructions=SYSTEM, input=items, tools=[TOOL], store=False
        ) as stream:
            reply = stream.get_final_response()
        calls = [item for item in reply.output if item.type == "function_call"]
        if not calls:
            return reply.output_text
        items += [item.model_dump(exclude_none=True) for item in reply.output]
        for call in calls:
            output = shell(command=json.loads(call.arguments)["command"])
            items.append(
                {"type": "function_call_output", "call_id": call.call_id, "output": output}
            )


run("openai_responses", agent)
