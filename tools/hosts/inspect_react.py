"""Inspect AI's `react` agent, with midfold as its compaction; its own is `CompactionSummary`."""

import tempfile

from common import BASE, KEY, MODEL, SYSTEM, TASK, shell
from host import MODE, WINDOW, run, timed
from inspect_ai import Task, eval
from inspect_ai.agent import react
from inspect_ai.dataset import Sample
from inspect_ai.model import CompactionSummary, get_model
from inspect_ai.tool import ToolDef


async def execute(command: str) -> str:
    """Runs the command of a step."""
    return shell(command)


def agent():
    """Runs the task as a sample, and returns the last answer."""
    model = get_model(f"openai-api/local/{MODEL}", base_url=f"{BASE}/v1", api_key=KEY)

    async def count(text):
        return len(text) // 3

    # Inspect would fetch a vocabulary.
    model.api.count_text_tokens = count
    about = "Runs a command in a shell and returns what it prints."
    tools = [
        ToolDef(
            execute,
            name="shell",
            description=about,
            parameters={"command": "The line."},
        )
    ]
    compaction, threshold = None, WINDOW * 8 // 10
    if MODE == "own":
        compaction = CompactionSummary(threshold=threshold)
    elif MODE == "midfold":
        from midfold.inspect_ai import CompactionMidfold, Session

        Session.project = timed(Session.project, lambda context: context.folded)
        compaction = CompactionMidfold(window=WINDOW, threshold=threshold)
        tools += compaction.tools()
    solver = react(prompt=SYSTEM, tools=tools, compaction=compaction, submit=False)
    with tempfile.TemporaryDirectory() as logs:
        task = Task(dataset=[Sample(input=TASK)], solver=solver)
        [log] = eval(task, model=model, display="none", log_dir=logs)
        if log.error is not None:
            raise RuntimeError(log.error.message)
        # The messages are read from the file.
        return log.samples[0].output.completion.strip()


run("inspect_ai", agent)
