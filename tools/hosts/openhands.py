"""OpenHands, with midfold as its condenser; its own is `LLMSummarizingCondenser`."""

import os

from common import BASE, KEY, MODEL, TASK, WORK
from host import MODE, WINDOW, run

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")


def agent():
    """Runs the task, and returns the last answer."""
    from openhands.sdk import LLM, Agent, Conversation, Tool
    from openhands.sdk.context.condenser import LLMSummarizingCondenser
    from openhands.sdk.conversation.response_utils import get_agent_final_response
    from openhands.tools.terminal import TerminalTool

    llm = LLM(
        model=f"openai/{MODEL}",
        base_url=f"{BASE}/v1",
        api_key=KEY,
        usage_id="agent",
        num_retries=0,
        max_input_tokens=WINDOW,
    )
    condenser = None
    if MODE == "own":
        condenser = LLMSummarizingCondenser(llm=llm, max_tokens=WINDOW * 4 // 5)
    elif MODE == "midfold":
        from adapters import Timed
        from midfold.openhands import MidfoldCondenser

        condenser = MidfoldCondenser(window=WINDOW)
        condenser._sessions = Timed(window=WINDOW)
    worker = Agent(llm=llm, tools=[Tool(name=TerminalTool.name)], condenser=condenser)
    conversation = Conversation(agent=worker, workspace=WORK, visualizer=None)
    conversation.send_message(TASK)
    conversation.run()
    return get_agent_final_response(conversation.state.events)


run("openhands", agent)
