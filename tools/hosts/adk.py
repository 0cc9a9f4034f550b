"""Google's ADK, with midfold as a plugin; its own is `EventsCompactionConfig`."""

import asyncio
import os

from common import BASE, KEY, MODEL, SYSTEM, TASK, shell
from host import MODE, WINDOW, run

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")


def agent():
    """Runs the task, and returns the last answer."""
    from google.adk.agents import LlmAgent
    from google.adk.apps import App
    from google.adk.apps.app import EventsCompactionConfig
    from google.adk.models.lite_llm import LiteLlm
    from google.adk.runners import InMemoryRunner

    model = LiteLlm(model=f"openai/{MODEL}", api_base=f"{BASE}/v1", api_key=KEY, max_retries=0)
    tools, more = [shell], {}
    if MODE == "own":
        more["events_compaction_config"] = EventsCompactionConfig(
            token_threshold=WINDOW * 3 // 4, event_retention_size=4
        )
    elif MODE == "midfold":
        from adapters import Timed
        from midfold.adk import MidfoldPlugin

        compacting = MidfoldPlugin(sessions=Timed(window=WINDOW, dialect="gemini"))
        tools += compacting.tools()
        more["plugins"] = [compacting]
    worker = LlmAgent(name="worker", model=model, instruction=SYSTEM, tools=tools)
    runner = InMemoryRunner(app=App(name="work", root_agent=worker, **more))
    events = asyncio.run(runner.run_debug(TASK, quiet=True))
    texts = [part.text for event in events for part in event.content.parts if part.text]
    return texts[-1]


run("adk", agent)
