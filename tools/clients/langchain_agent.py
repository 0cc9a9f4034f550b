"""LangChain's agent on Chat Completions."""

from common import BASE, KEY, MODEL, SYSTEM, TASK, run, shell
from langchain.agents import create_agent
from langchain_openai import ChatOpenAI


def agent():
    model = ChatOpenAI(model=MODEL, base_url=f"{BASE}/v1", api_key=KEY)
    state = create_agent(model, tools=[shell], system_prompt=SYSTEM).invoke(
        {"messages": [{"role": "user", "content": TASK}]}, {"recursion_limit": 100}
    )
    return state["messages"][-1].text


run("langchain_agent", agent)
