"""The OpenAI Agents SDK, with midfold as the filter of the model's input."""

from adapters import Timed
from agents import (
    Agent,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from common import BASE, KEY, MODEL, SYSTEM, TASK, shell
from host import MODE, WINDOW, run
from openai import AsyncOpenAI


def agent():
    """Runs the task, and returns the last answer."""
    set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=f"{BASE}/v1", api_key=KEY, max_retries=0)
    model = OpenAIResponsesModel(model=MODEL, openai_client=client)
    tools, more = [function_tool(shell)], {}
    if MODE == "midfold":
        from midfold.openai_agents import Filter

        compacting = Filter(sessions=Timed(window=WINDOW, dialect="openai-responses"))
        tools += compacting.tools()
        more["run_config"] = RunConfig(call_model_input_filter=compacting)
        more["hooks"] = compacting.hooks()
    worker = Agent(name="worker", instructions=SYSTEM, model=model, tools=tools)
    return Runner.run_sync(worker, TASK, max_turns=100, **more).final_output


run("openai_agents", agent)
