"""pi."""

from common import BASE, DIALECT, KEY, MODEL, PROGRAM, TASK, WORK, command_line, run, write

# The interface, and what follows the address.
INTERFACES = {
    "Chat Completions": ("openai-completions", "/v1"),
    "Responses": ("openai-responses", "/v1"),
    "Messages": ("anthropic-messages", ""),
}


def agent():
    interface, path = INTERFACES[DIALECT]
    model = {"id": MODEL, "name": MODEL, "contextWindow": 200_000, "maxTokens": 8_000}
    provider = {
        "baseUrl": f"{BASE}{path}",
        "api": interface,
        "apiKey": KEY,
        "models": [model],
    }
    write("pi/models.json", {"providers": {"scripted": provider}})
    return command_line(
        [*PROGRAM, "--provider", "scripted", "--model", MODEL, "-p", TASK],
        {"PI_CODING_AGENT_DIR": f"{WORK}/pi", "PI_OFFLINE": "1"},
    )


run("pi", agent)
