"""smolagents on Chat Completions: it writes its calls and their results as plain text."""

from common import BASE, KEY, MODEL, SYSTEM, TASK, run, shell
from smolagents import OpenAIModel, ToolCallingAgent, tool


def agent():
    model = OpenAIModel(MODEL, api_base=f"{BASE}/v1", api_key=KEY)
    worker = ToolCallingAgent(
        tools=[tool(shell)], model=model, instructions=SYSTEM, max_steps=50, verbosity_level=0
    )
    return worker.run(TASK)


run("smolagents_agent", agent)
