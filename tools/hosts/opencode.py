"""opencode, with midfold as a plug-in."""

import json
import os
from pathlib import Path

from common import BASE, KEY, MODEL, TASK, WORK, command_line, write
from host import LIMIT, MODE, PLACE, WINDOW, fold_times, run

PLUGIN = """\
import {{ createRequire }} from 'node:module'
const require = createRequire(import.meta.url)
const midfold = require({plugin})
const {{ measure }} = require({measure})
const measured = measure({adapter}, {file})
export const Midfold = async (input) => {{
  const hooks = await midfold(input)
  const name = 'experimental.chat.messages.transform'
  return {{ ...hooks, [name]: measured(hooks[name]) }}
}}
"""


def agent():
    """Runs the task, and returns the last answer."""
    found = sorted(Path(PLACE).glob("node_modules/opencode-*/bin/opencode"))
    # Of a program for two kinds of processors the plainer one starts everywhere.
    program = ([path for path in found if "baseline" in str(path)] or found)[0]
    # Without compaction it is told a window that the server does not have.
    window = 200_000 if MODE == "bare" or not LIMIT else WINDOW
    model = {"name": MODEL, "limit": {"context": window, "output": 4_000}}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{BASE}/v1", "apiKey": KEY},
        "models": {MODEL: model},
    }
    settings = {
        "$schema": "https://opencode.ai/config.json",
        "model": f"scripted/{MODEL}",
        "provider": {"scripted": provider},
        "permission": "allow",
        "autoupdate": False,
        "share": "disabled",
        "compaction": {"auto": MODE != "bare"},
    }
    if MODE == "midfold":
        adapter = os.environ["CHECK_ADAPTER"]
        paths = {
            "plugin": f"{adapter}/opencode.js",
            "measure": str(Path(__file__).parent / "shared/measure.cjs"),
            "adapter": adapter,
            "file": f"{WORK}/folds",
        }
        quoted = {name: json.dumps(path) for name, path in paths.items()}
        write("project/.opencode/plugin/midfold.js", PLUGIN.format(**quoted))
    write("project/opencode.json", settings)
    try:
        return command_line([str(program), "run", TASK], {"OPENCODE_DISABLE_MODELS_FETCH": "1"})
    finally:
        fold_times(f"{WORK}/folds")


run("opencode", agent)
