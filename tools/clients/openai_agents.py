"""The OpenAI Agents SDK."""

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from common import BASE, DIALECT, KEY, MODEL, SYSTEM, TASK, run, shell
from openai import AsyncOpenAI


def agent():
    set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=f"{BASE}/v1", api_key=KEY)
    kind = OpenAIResponsesModel if DIALECT == "Responses" else OpenAIChatCompletionsModel
    worker = Agent(
        name="worker",
        instructions=SYSTEM,
        model=kind(model=MODEL, openai_client=client),
        tools=[function_tool(shell)],
    )
    return Runner.run_sync(worker, TASK, max_turns=50).final_output


run("openai_agents", agent)
