"""Claude Code on Messages."""

from common import BASE, KEY, MODEL, PROGRAM, TASK, command_line, run


def agent():
    return command_line(
        [*PROGRAM, "-p", TASK, "--permission-mode", "bypassPermissions"],
        {
            "ANTHROPIC_BASE_URL": BASE,
            "ANTHROPIC_AUTH_TOKEN": KEY,
            "ANTHROPIC_MODEL": MODEL,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "IS_SANDBOX": "1",
        },
    )


run("claude", agent)
