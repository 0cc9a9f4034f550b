"""pydantic-ai."""

from common import BASE, DIALECT, KEY, MODEL, SYSTEM, TASK, run, shell
from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider


def agent():
    if DIALECT == "Messages":
        model = AnthropicModel(MODEL, provider=AnthropicProvider(base_url=BASE, api_key=KEY))
    else:
        kind = OpenAIResponsesModel if DIALECT == "Responses" else OpenAIChatModel
        model = kind(MODEL, provider=OpenAIProvider(base_url=f"{BASE}/v1", api_key=KEY))
    return Agent(model, instructions=SYSTEM, tools=[shell]).run_sync(TASK).output


run("pydantic_ai_agent", agent)
