"""LangChain, with midfold as a middleware; its own is `SummarizationMiddleware`."""

from adapters import Timed
from common import BASE, KEY, MODEL, SYSTEM, TASK, shell
from host import MODE, WINDOW, run
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_openai import ChatOpenAI


def agent():
    """Runs the task, and returns the last answer."""
    profile = {"max_input_tokens": WINDOW, "tool_calling": True}
    model = ChatOpenAI(
        model=MODEL, base_url=f"{BASE}/v1", api_key=KEY, max_retries=0, profile=profile
    )
    middleware = []
    if MODE == "own":
        # The shares of its documentation.
        trigger, keep = ("fraction", 0.8), ("fraction", 0.3)
        middleware = [SummarizationMiddleware(model, trigger=trigger, keep=keep)]
    elif MODE == "midfold":
        from midfold.langchain import MidfoldMiddleware

        middleware = [MidfoldMiddleware(sessions=Timed(window=WINDOW))]
    worker = create_agent(model, tools=[shell], system_prompt=SYSTEM, middleware=middleware)
    asked = {"messages": [{"role": "user", "content": TASK}]}
    return worker.invoke(asked, {"recursion_limit": 200})["messages"][-1].text


run("langchain", agent)
