"""The OpenHands SDK on Chat Completions, without its condenser."""

import os

from common import BASE, KEY, MODEL, TASK, WORK, run

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")


def agent():
    from openhands.sdk import LLM, Agent, Conversation, Tool
    from openhands.sdk.conversation.response_utils import get_agent_final_response
    from openhands.tools.terminal import TerminalTool

    llm = LLM(model=f"openai/{MODEL}", base_url=f"{BASE}/v1", api_key=KEY, usage_id="agent")
    worker = Agent(llm=llm, tools=[Tool(name=TerminalTool.name)])
    conversation = Conversation(agent=worker, workspace=WORK, visualizer=None)
    conversation.send_message(TASK)
    conversation.run()
    return get_agent_final_response(conversation.state.events)


run("openhands_agent", agent)
