"""LangChain's agent."""

from common import BASE, DIALECT, KEY, MODEL, SYSTEM, TASK, run, shell
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI


def agent():
    if DIALECT == "Messages":
        model = ChatAnthropic(model=MODEL, base_url=BASE, api_key=KEY)
    else:
        responses = DIALECT == "Responses"
        model = ChatOpenAI(
            model=MODEL, base_url=f"{BASE}/v1", api_key=KEY, use_responses_api=responses
        )
    state = create_agent(model, tools=[shell], system_prompt=SYSTEM).invoke(
        {"messages": [{"role": "user", "content": TASK}]}, {"recursion_limit": 100}
    )
    return state["messages"][-1].text


run("langchain_agent", agent)
