"""Hermes Agent, with midfold as its context engine."""

import os
import re
import subprocess
import sys

from common import BASE, KEY, MODEL, TASK, WORK, write
from host import MODE, WINDOW, run, tell, timed

HOME = f"{WORK}/hermes"
os.environ.update(HERMES_HOME=HOME, HERMES_YOLO_MODE="1", CI="1", TERMINAL_CWD=WORK)


def configure() -> None:
    """Writes the configuration that a user would have."""
    # Without compaction it is told a window that the server does not have.
    window = 200_000 if MODE == "bare" else WINDOW
    write(
        "hermes/config.yaml",
        f"""\
model:
  default: {MODEL}
  provider: custom
  base_url: {BASE}/v1
  api_key: {KEY}
  context_length: {window}
compression:
  enabled: {"false" if MODE == "bare" else "true"}
""",
    )
    if MODE == "midfold":
        command = [sys.executable, "-m", "midfold.hermes", "install", "--home", HOME]
        subprocess.run(command, check=True, stdout=sys.stderr)


def agent():
    """Runs the task, and returns the last answer."""
    configure()
    from run_agent import AIAgent

    hermes = AIAgent(
        provider="custom",
        model=MODEL,
        base_url=f"{BASE}/v1",
        api_key=KEY,
        enabled_toolsets=["terminal", "file", "context_engine"],
        quiet_mode=True,
        skip_memory=True,
        tool_delay=0,
    )
    engine = hermes.context_compressor
    if engine.name != ("midfold" if MODE == "midfold" else "compressor"):
        raise RuntimeError(f"the host runs the engine {engine.name}")
    if MODE == "midfold":
        count = [0]

        def folded(_: object) -> bool:
            before, count[0] = count[0], engine.compression_count
            return count[0] > before

        engine.compress = timed(engine.compress, folded)
    done = hermes.run_conversation(TASK)
    if not done.get("completed"):
        said = str(done.get("error") or "it says nothing")
        tell(reason=re.split(r"\. | \(", said)[0])
    return done.get("final_response")


run("hermes", agent)
