"""The OpenAI Agents SDK on Responses."""

from agents import Agent, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from common import BASE, KEY, MODEL, SYSTEM, TASK, run, shell
from openai import AsyncOpenAI


def agent():
    set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=f"{BASE}/v1", api_key=KEY)
    worker = Agent(
        name="worker",
        instructions=SYSTEM,
        model=OpenAIResponsesModel(model=MODEL, openai_client=client),
        tools=[function_tool(shell)],
    )
    return Runner.run_sync(worker, TASK, max_turns=50).final_output


run("openai_agents", agent)
