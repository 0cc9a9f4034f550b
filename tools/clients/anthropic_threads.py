"""The Anthropic SDK's `tool_runner`: it asks the server to hold the history (a message thread)."""

from anthropic import Anthropic, beta_tool
from common import BASE, KEY, MODEL, SYSTEM, TASK, run, shell


def agent():
    client = Anthropic(base_url=BASE, api_key=KEY)
    runner = client.beta.messages.tool_runner(
        model=MODEL,
        max_tokens=1000,
        system=SYSTEM,
        messages=[{"role": "user", "content": TASK}],
        tools=[beta_tool(shell)],
    )
    reply = runner.until_done()
    return "".join(block.text for block in reply.content if block.type == "text")


run("anthropic_threads", agent)
