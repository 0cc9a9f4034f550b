"""The Anthropic SDK with all of Messages' compaction: edits that clear and a threshold while it
works, then a summary on demand, then `tool_runner` with `compact_before_next_turn()`."""

from anthropic import Anthropic, BadRequestError, beta_tool
from anthropic.types import CompactionBlockMisplacedError, CompactionContentMismatchError
from common import BASE, DESCRIPTION, KEY, MODEL, PARAMETERS, SYSTEM, TASK, run, shell

TOOL = {"name": "shell", "description": DESCRIPTION, "input_schema": PARAMETERS}
CLEAR = {
    "type": "clear_tool_uses_20250919",
    "trigger": {"type": "tool_uses", "value": 6},
    "keep": {"type": "tool_uses", "value": 3},
}
COMPACT = {"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 50_000}}
EDITING, THRESHOLD = "context-management-2025-06-27", "compact-2026-01-12"
ON_DEMAND = "compact-2026-09-04"
FIRST = {"role": "user", "content": TASK}
BEGIN = {"role": "user", "content": "Now begin."}
GO_ON = {"role": "user", "content": "Say again that all steps are done."}


def ask(client, messages, streamed=False, **more):
    request = {"model": MODEL, "max_tokens": 1000, "system": SYSTEM, "messages": messages, **more}
    if not streamed:
        return client.beta.messages.create(**request)
    with client.beta.messages.stream(**request) as stream:
        return stream.get_final_message()


def text(reply) -> str:
    return "".join(block.text for block in reply.content if block.type == "text")


def work(client, messages, edits, betas):
    """Does the task; the history at its end, how many tool uses were cleared, how many blocks came."""
    messages, cleared, blocks = [*messages], 0, 0
    for step in range(100):
        more = {"tools": [TOOL], "context_management": {"edits": edits}, "betas": betas}
        reply = ask(client, messages, step % 2, **more)
        for edit in reply.context_management.applied_edits:
            cleared = max(cleared, edit.cleared_tool_uses)
        if any(block.type == "compaction" for block in reply.content):
            blocks += 1
            kinds = [one.type for one in reply.usage.iterations]
            assert kinds == ["compaction", "message"], kinds
        messages.append({"role": "assistant", "content": reply.content})
        calls = [block for block in reply.content if block.type == "tool_use"]
        if not calls:
            return messages, cleared, blocks
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": shell(**call.input)}
            for call in calls
        ]
        messages.append({"role": "user", "content": results})
    raise AssertionError("it does not end")


def refused(client, error, messages):
    try:
        ask(client, messages, betas=[ON_DEMAND])
    except BadRequestError as found:
        assert isinstance(found, error), repr(found)
    else:
        raise AssertionError(f"no {error.__name__}")


def on_demand(client, messages):
    """A summary in the place of all messages, whole and streamed; refused where it was changed."""
    compaction = {"type": "summarize"}
    for streamed in (False, True):
        reply = ask(client, messages, streamed, compaction=compaction, betas=[ON_DEMAND])
        assert reply.stop_reason == "compaction", reply.stop_reason
        block = reply.content[0].model_dump(exclude_none=True)
        swapped = [{"role": "assistant", "content": [block]}, GO_ON]
        messages = [*swapped, {"role": "assistant", "content": "They are."}]
        assert text(ask(client, swapped, betas=[ON_DEMAND]))
    refused(client, CompactionBlockMisplacedError, [GO_ON, *swapped])
    changed = {"role": "assistant", "content": [{**block, "content": "Something else."}]}
    refused(client, CompactionContentMismatchError, [changed, GO_ON])


def agent():
    client = Anthropic(base_url=BASE, api_key=KEY)
    messages, cleared, _ = work(client, [FIRST], [CLEAR], [EDITING])
    assert cleared >= 3, f"{cleared} tool uses were cleared"
    counted = client.beta.messages.count_tokens(
        model=MODEL,
        messages=messages[:-1],
        tools=[TOOL],
        context_management={"edits": [CLEAR]},
        betas=[EDITING],
    )
    assert counted.context_management.original_input_tokens > counted.input_tokens, counted
    # A history that is long enough for the least threshold that there may be.
    log = "\n".join(f"line {at} of the log" for at in range(9_000))
    history = [FIRST, {"role": "assistant", "content": f"I read the log:\n{log}"}, BEGIN]
    _, _, blocks = work(client, history, [CLEAR, COMPACT], [EDITING, THRESHOLD])
    assert blocks >= 1, "no block at the threshold"
    on_demand(client, messages)
    runner = client.beta.messages.tool_runner(
        model=MODEL,
        max_tokens=1000,
        system=SYSTEM,
        messages=[FIRST],
        tools=[beta_tool(shell)],
        betas=[ON_DEMAND],
    )
    summaries = 0
    for at, reply in enumerate(runner):
        summaries += reply.stop_reason == "compaction"
        if at == 5:
            runner.compact_before_next_turn()
    assert summaries == 1, f"{summaries} summaries"
    return text(reply)


run("vendor_anthropic", agent)
