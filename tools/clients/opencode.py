"""opencode."""

from common import BASE, DIALECT, KEY, MODEL, PROGRAM, TASK, command_line, run, write

PACKAGES = {
    "Chat Completions": "@ai-sdk/openai-compatible",
    "Responses": "@ai-sdk/openai",
    "Messages": "@ai-sdk/anthropic",
}


def agent():
    model = {"name": MODEL, "limit": {"context": 200_000, "output": 8_000}}
    provider = {
        "npm": PACKAGES[DIALECT],
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
    }
    write("project/opencode.json", settings)
    return command_line([*PROGRAM, "run", TASK], {"OPENCODE_DISABLE_MODELS_FETCH": "1"})


run("opencode", agent)
