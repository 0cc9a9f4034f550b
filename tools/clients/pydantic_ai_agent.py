"""pydantic-ai on Chat Completions."""

from common import BASE, KEY, MODEL, SYSTEM, TASK, run, shell
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


def agent():
    model = OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=f"{BASE}/v1", api_key=KEY))
    return Agent(model, instructions=SYSTEM, tools=[shell]).run_sync(TASK).output


run("pydantic_ai_agent", agent)
