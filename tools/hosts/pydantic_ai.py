"""Pydantic AI, with midfold as a capability."""

from adapters import Timed
from common import BASE, KEY, MODEL, SYSTEM, TASK, shell
from host import MODE, WINDOW, run
from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


def agent():
    """Runs the task, and returns the last answer."""
    client = AsyncOpenAI(base_url=f"{BASE}/v1", api_key=KEY, max_retries=0)
    model = OpenAIChatModel(MODEL, provider=OpenAIProvider(openai_client=client))
    capabilities = []
    if MODE == "midfold":
        from midfold.pydantic_ai import Midfold

        capabilities = [Midfold(sessions=Timed(window=WINDOW))]
    worker = Agent(model, instructions=SYSTEM, tools=[shell], capabilities=capabilities)
    return worker.run_sync(TASK).output


run("pydantic_ai", agent)
