"""smolagents' CodeAgent on Chat Completions: calls are Python in its text, results are text too."""

from common import BASE, KEY, MODEL, SYSTEM, TASK, run, shell
from smolagents import CodeAgent, OpenAIModel, tool


def agent():
    model = OpenAIModel(MODEL, api_base=f"{BASE}/v1", api_key=KEY)
    worker = CodeAgent(
        tools=[tool(shell)], model=model, instructions=SYSTEM, max_steps=50, verbosity_level=0
    )
    return worker.run(TASK)


run("smolagents_agent", agent)
