"""DeepSeek Harness, with midfold as its compaction engine."""

import json
import os
import shutil
from pathlib import Path

from common import BASE, KEY, MODEL, TASK, WORK, command_line, write
from host import LIMIT, MODE, PLACE, WINDOW, fold_times, run

CLI = f"{PLACE}/node_modules/@deepseek-ai/dsh/lib/bin.js"
PROFILE = "dsh/profiles/headless"
BUNDLES = ["@deepseek-ai/dsh-base", "@deepseek-ai/dsh-headless"]
PLUGIN = """\
import {{ createRequire }} from 'node:module'
import Engine from 'midfold/dsh'
const {{ measure }} = createRequire(import.meta.url)({measure})
const measured = measure({adapter}, {file})
export default class extends Engine {{
  constructor(ctx, options) {{
    super(ctx, options)
    this.compactor.press = measured(this.compactor.press.bind(this.compactor))
  }}
}}
"""


def plugin():
    """Puts midfold into the profile, where its imports find the packages of the harness."""
    adapter = f"{WORK}/{PROFILE}/node_modules/midfold"
    skip = shutil.ignore_patterns("node_modules", "test")
    shutil.copytree(os.environ["CHECK_ADAPTER"], adapter, ignore=skip)
    measure = str(Path(__file__).parent / "shared/measure.cjs")
    paths = {"measure": measure, "adapter": adapter, "file": f"{WORK}/folds"}
    quoted = {name: json.dumps(path) for name, path in paths.items()}
    write(f"{PROFILE}/midfold.mjs", PLUGIN.format(**quoted))
    return {"id": "midfold", "name": f"file://{WORK}/{PROFILE}/midfold.mjs"}


def agent():
    """Runs the task, and returns the last answer."""
    # Without compaction it is told a window that the server does not have.
    window = 200_000 if MODE == "bare" or not LIMIT else WINDOW
    provider = {
        "api": "openai-completions",
        "baseURL": f"{BASE}/v1",
        "apiKeyEnv": "SCRIPTED_KEY",
        "models": [{"id": MODEL, "contextWindow": window, "maxTokens": 4_000}],
    }
    write("dsh/settings.yaml", {"llm-pi-ai": {"providers": {"scripted": provider}}})
    manifest = {"name": "headless", "private": True, "dsh": {"profile": {"bundles": BUNDLES}}}
    write(f"{PROFILE}/package.json", manifest)
    route = {"provider": "scripted", "model": MODEL}
    patch = [{"id": "agent-default-model", "config": route}]
    if MODE != "own":
        patch.append({"id": "compaction-basic", "disabled": True})
    if MODE == "bare":
        # It needs an engine.
        patch.append({"id": "command-compact", "disabled": True})
    if MODE == "midfold":
        patch.append({"insert": [plugin()]})
    # JSON is YAML.
    write(f"{PROFILE}/cordis.patch.yml", patch)
    command = [os.environ["CHECK_NODE"], CLI, "--profile", "headless", TASK]
    home = {"DSH_HOME": f"{WORK}/dsh", "SCRIPTED_KEY": KEY}
    try:
        return command_line(command, home)
    finally:
        fold_times(f"{WORK}/folds")


run("dsh", agent)
