"""Strands, with midfold as a plugin; its own is `SummarizingConversationManager`."""

from common import BASE, KEY, MODEL, SYSTEM, TASK, shell
from host import MODE, WINDOW, run
from strands import Agent, tool
from strands.agent.conversation_manager import (
    NullConversationManager,
    SummarizingConversationManager,
)
from strands.models.openai import OpenAIModel


def agent():
    """Runs the task, and returns the last answer."""
    model = OpenAIModel(
        client_args={"base_url": f"{BASE}/v1", "api_key": KEY, "max_retries": 0},
        model_id=MODEL,
        context_window_limit=WINDOW,
    )
    plugins, manager = [], NullConversationManager()
    if MODE == "own":
        manager = SummarizingConversationManager(proactive_compression=True)
    elif MODE == "midfold":
        from adapters import Timed
        from midfold.strands import Midfold

        plugins = [Midfold(sessions=Timed(window=WINDOW, dialect="bedrock"))]
    worker = Agent(
        model=model,
        tools=[tool(shell)],
        plugins=plugins,
        system_prompt=SYSTEM,
        conversation_manager=manager,
        callback_handler=None,
    )
    return str(worker(TASK)).strip()


run("strands", agent)
