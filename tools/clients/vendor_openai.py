"""The OpenAI SDK with all of Responses' compaction: a threshold while it works, then a trigger,
then `responses.compact`. The client keeps nothing that stands before the newest item."""

import json

from common import BASE, DESCRIPTION, KEY, MODEL, PARAMETERS, SYSTEM, TASK, run, shell
from openai import BadRequestError, OpenAI

TOOL = {"type": "function", "name": "shell", "description": DESCRIPTION, "parameters": PARAMETERS}
MANAGEMENT = [{"type": "compaction", "compact_threshold": 12_000}]
GO_ON = {"role": "user", "content": "Say again that all steps are done."}


def ask(client, items, streamed, **more):
    request = {"model": MODEL, "instructions": SYSTEM, "input": items, "store": False, **more}
    if not streamed:
        return client.responses.create(**request)
    with client.responses.stream(**request) as stream:
        return stream.get_final_response()


def work(client):
    """Does the task; the history at its end, and how many compactions there were."""
    items, found = [{"role": "user", "content": TASK}], 0
    for step in range(100):
        reply = ask(client, items, step % 2, tools=[TOOL], context_management=MANAGEMENT)
        for item in reply.output:
            if item.type == "compaction":
                items, found = [], found + 1
            items.append(item.model_dump(exclude_none=True))
        calls = [item for item in reply.output if item.type == "function_call"]
        if not calls:
            return items, found
        for call in calls:
            output = shell(command=json.loads(call.arguments)["command"])
            items.append(
                {"type": "function_call_output", "call_id": call.call_id, "output": output}
            )
    raise AssertionError("it does not end")


def agent():
    client = OpenAI(base_url=f"{BASE}/v1", api_key=KEY)
    items, found = work(client)
    assert found >= 1, "no compaction at the threshold"
    for streamed in (False, True):
        reply = ask(client, [*items, {"type": "compaction_trigger"}], streamed)
        kinds = [item.type for item in reply.output]
        assert kinds == ["compaction"], f"a trigger is answered with {kinds}"
        items = [reply.output[0].model_dump(exclude_none=True)]
        reply = ask(client, [*items, GO_ON], streamed)
        items += [GO_ON, *(item.model_dump(exclude_none=True) for item in reply.output)]
    compacted = client.responses.compact(model=MODEL, input=items)
    assert compacted.object == "response.compaction", compacted
    output = [item.model_dump(exclude_none=True) for item in compacted.output]
    assert output[-1]["type"] == "compaction", output
    broken = {**output[-1], "encrypted_content": output[-1]["encrypted_content"][:-8] + "AAAAAAAA"}
    try:
        ask(client, [broken, GO_ON], False)
    except BadRequestError as error:
        assert error.code == "invalid_encrypted_content", error
    else:
        raise AssertionError("a blob that was changed is taken")
    return ask(client, [*output, GO_ON], False, tools=[TOOL]).output_text


run("vendor_openai", agent)
