"""pi, with midfold as an extension."""

import json
import os
from pathlib import Path

from common import BASE, KEY, MODEL, TASK, WORK, command_line, write
from host import LIMIT, MODE, PLACE, WINDOW, fold_times, run

CLI = f"{PLACE}/node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js"
EXTENSION = """\
const {{ midfold }} = require({pi})
const {{ measure }} = require({measure})
const measured = measure({adapter}, {file})
module.exports = (pi) => {{
  const on = (name, hook) => pi.on(name, name === 'context' ? measured(hook) : hook)
  midfold()({{ ...pi, on, registerTool: (tool) => pi.registerTool(tool) }})
}}
"""


def agent():
    """Runs the task, and returns the last answer."""
    # Without compaction it is told a window that the server does not have.
    window = 200_000 if MODE == "bare" or not LIMIT else WINDOW
    model = {"id": MODEL, "name": MODEL, "contextWindow": window, "maxTokens": 4_000}
    provider = {"baseUrl": f"{BASE}/v1", "api": "openai-completions", "apiKey": KEY}
    write("pi/models.json", {"providers": {"scripted": {**provider, "models": [model]}}})
    # Its defaults (16,384 and 20,000) are for larger windows.
    sizes = {"reserveTokens": 4_000, "keepRecentTokens": 5_000}
    write("pi/settings.json", {"compaction": {"enabled": MODE != "bare", **sizes}})
    command = [os.environ["CHECK_NODE"], CLI, "--provider", "scripted", "--model", MODEL]
    if MODE == "midfold":
        adapter = os.environ["CHECK_ADAPTER"]
        shared = Path(__file__).parent / "shared/measure.cjs"
        paths = {
            "pi": f"{adapter}/pi.js",
            "measure": str(shared),
            "adapter": adapter,
            "file": f"{WORK}/folds",
        }
        quoted = {name: json.dumps(path) for name, path in paths.items()}
        write("pi/midfold.cjs", EXTENSION.format(**quoted))
        command += ["-e", f"{WORK}/pi/midfold.cjs"]
    home = {"PI_CODING_AGENT_DIR": f"{WORK}/pi", "PI_OFFLINE": "1"}
    try:
        return command_line([*command, "-p", TASK], home)
    finally:
        fold_times(f"{WORK}/folds")


run("pi", agent)
