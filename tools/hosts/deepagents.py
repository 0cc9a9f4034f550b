"""deepagents, with midfold in the place of the summarization that it always has."""

from adapters import Timed
from common import BASE, KEY, MODEL, SYSTEM, TASK, shell
from deepagents import create_deep_agent
from host import MODE, WINDOW, run
from langchain_openai import ChatOpenAI


def agent():
    """Runs the task, and returns the last answer."""
    profile = {"max_input_tokens": WINDOW, "tool_calling": True}
    model = ChatOpenAI(
        model=MODEL, base_url=f"{BASE}/v1", api_key=KEY, max_retries=0, profile=profile
    )
    middleware = []
    if MODE == "midfold":
        from midfold.langchain import MidfoldMiddleware

        sessions = Timed(window=WINDOW)
        middleware = [MidfoldMiddleware(sessions=sessions, name="SummarizationMiddleware")]
    worker = create_deep_agent(model, tools=[shell], system_prompt=SYSTEM, middleware=middleware)
    asked = {"messages": [{"role": "user", "content": TASK}]}
    return worker.invoke(asked, {"recursion_limit": 200})["messages"][-1].text


run("deepagents", agent)
