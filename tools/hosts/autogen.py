"""AutoGen, with midfold as the agent's context; its own is `BufferedChatCompletionContext`."""

import asyncio

from autogen_agentchat.agents import AssistantAgent
from autogen_core.model_context import BufferedChatCompletionContext
from autogen_ext.models.openai import OpenAIChatCompletionClient
from common import BASE, KEY, MODEL, SYSTEM, TASK, shell
from host import MODE, WINDOW, run

INFO = {
    "vision": False,
    "function_calling": True,
    "json_output": False,
    "family": "unknown",
    "structured_output": False,
}
# The system message and the tools, which the context is not told of.
RESERVE = 1_500


def agent():
    """Runs the task, and returns the last answer."""
    client = OpenAIChatCompletionClient(
        model=MODEL, base_url=f"{BASE}/v1", api_key=KEY, model_info=INFO, max_retries=0
    )
    context, tools = None, [shell]
    if MODE == "own":
        # It counts messages: five calls with their results are about as many tokens as fit.
        context = BufferedChatCompletionContext(buffer_size=10)
    elif MODE == "midfold":
        from adapters import Timed
        from midfold.autogen import MidfoldContext

        context = MidfoldContext()
        context._sessions = Timed(window=WINDOW, output_reserve=RESERVE)
        tools += context.tools()
    worker = AssistantAgent(
        "worker",
        client,
        tools=tools,
        system_message=SYSTEM,
        model_context=context,
        max_tool_iterations=50,
    )
    return asyncio.run(worker.run(task=TASK)).messages[-1].content


run("autogen", agent)
