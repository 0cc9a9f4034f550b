"""Qwen Code on Chat Completions."""

from common import BASE, KEY, MODEL, PROGRAM, TASK, command_line, run


def agent():
    return command_line(
        [*PROGRAM, "--auth-type", "openai", "--yolo", "-p", TASK],
        {"OPENAI_BASE_URL": f"{BASE}/v1", "OPENAI_API_KEY": KEY, "OPENAI_MODEL": MODEL},
    )


run("qwen", agent)
