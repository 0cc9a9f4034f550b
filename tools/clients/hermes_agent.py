"""Hermes Agent."""

from common import BASE, DIALECT, KEY, MODEL, PROGRAM, TASK, WORK, command_line, run, write


def agent():
    # JSON is YAML. It is told a window of 200,000 tokens, which the server does not have.
    model = {"default": MODEL, "provider": "custom", "base_url": f"{BASE}/v1", "api_key": KEY}
    if DIALECT == "Messages":
        model |= {"base_url": BASE, "api_mode": "anthropic_messages"}
    write("hermes/config.yaml", {"model": {**model, "context_length": 200_000}})
    return command_line(
        [*PROGRAM, "chat", "-Q", "--yolo", "-t", "terminal,file", "-q", TASK],
        {"HERMES_HOME": f"{WORK}/hermes"},
    )


run("hermes_agent", agent)
