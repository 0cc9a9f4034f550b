"""Gemini CLI on generateContent."""

from common import BASE, KEY, PROGRAM, TASK, command_line, run, write


def agent():
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"disableAutoUpdate": True, "disableUpdateNag": True},
    }
    write(".gemini/settings.json", settings)
    return command_line(
        [*PROGRAM, "--yolo", "--skip-trust", "-m", "gemini-2.5-pro", "-p", TASK],
        {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": BASE},
    )


run("gemini", agent)
