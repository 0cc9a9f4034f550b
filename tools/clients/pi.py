"""pi on Chat Completions."""

from common import BASE, KEY, MODEL, PROGRAM, TASK, WORK, command_line, run, write


def agent():
    model = {"id": MODEL, "name": MODEL, "contextWindow": 200_000, "maxTokens": 8_000}
    provider = {
        "baseUrl": f"{BASE}/v1",
        "api": "openai-completions",
        "apiKey": KEY,
        "models": [model],
    }
    write("pi/models.json", {"providers": {"scripted": provider}})
    return command_line(
        [*PROGRAM, "--provider", "scripted", "--model", MODEL, "-p", TASK],
        {"PI_CODING_AGENT_DIR": f"{WORK}/pi", "PI_OFFLINE": "1"},
    )


run("pi", agent)
