"""smolagents' CodeAgent, with midfold in front of its model."""

from common import BASE, KEY, MODEL, SYSTEM, TASK, shell
from host import MODE, WINDOW, run
from smolagents import CodeAgent, OpenAIModel, tool


def agent():
    """Runs the task, and returns the last answer."""
    model = OpenAIModel(MODEL, api_base=f"{BASE}/v1", api_key=KEY, client_kwargs={"max_retries": 0})
    tools = [tool(shell)]
    if MODE == "midfold":
        from adapters import Timed
        from midfold.smolagents import MidfoldModel

        model = MidfoldModel(model, sessions=Timed(window=WINDOW))
        tools += model.tools()
    worker = CodeAgent(tools, model, instructions=SYSTEM, max_steps=50, verbosity_level=0)
    return worker.run(TASK)


run("smolagents", agent)
