"""Codex CLI on Responses."""

from common import BASE, KEY, MODEL, PROGRAM, TASK, WORK, command_line, run, write

CONFIG = f"""\
model = "{MODEL}"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.scripted]
name = "scripted"
base_url = "{BASE}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
"""


def agent():
    write("codex/config.toml", CONFIG)
    return command_line(
        [*PROGRAM, "exec", "--skip-git-repo-check", TASK],
        {"CODEX_HOME": f"{WORK}/codex", "SCRIPTED_KEY": KEY},
    )


run("codex", agent)
