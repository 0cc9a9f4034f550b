"""What the clients of tools/clients-check share: the task, the shell tool, the line of the result.

A client reads `CHECK_BASE_URL` (a server, without `/v1`; a library under `midfold run` reads
`MIDFOLD_URL`), runs its agent once, and prints one line of JSON. `CHECK_DIALECT` is for those that speak several. `CHECK_PROGRAM` is the command of a client
that is a program, as a JSON list; `CHECK_WORK` is an empty folder for the run, its HOME.
"""

import json
import os
import re
import subprocess
import sys
import traceback
from pathlib import Path

BASE = os.environ.get("CHECK_BASE_URL") or os.environ.get("MIDFOLD_URL", "")
WORK = os.environ.get("CHECK_WORK", "")
PROGRAM = json.loads(os.environ.get("CHECK_PROGRAM", "[]"))
DIALECT = os.environ.get("CHECK_DIALECT", "")
STEPS = int(os.environ.get("CHECK_STEPS", "14"))
KEY = "not-a-key"
MODEL = os.environ.get("CHECK_MODEL", "scripted-model")
TASK = (
    f"Do the {STEPS} steps of the plan one after another, each with the shell tool."
    " Say so when all of them are done, with the codes. Also keep in mind: the code of part 0 is"
    " K0-3039."
)
SYSTEM = "You are an agent with a shell. Work step by step."


def shell(command: str) -> str:
    """Runs a command in a shell and returns what it prints.

    Args:
        command: The command line.
    """
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, cwd=WORK or None, timeout=60
    )
    return done.stdout + done.stderr


PARAMETERS = {
    "type": "object",
    "properties": {"command": {"type": "string", "description": "The command line."}},
    "required": ["command"],
    "additionalProperties": False,
}
DESCRIPTION = "Runs a command in a shell and returns what it prints."


def command_line(arguments: list[str], environment: dict[str, str] | None = None) -> str:
    """Runs an agent that is a command, in a clean environment, and returns what it printed.

    Raises `RuntimeError` with the line that says why where its exit code is not zero.
    """
    clean = {
        "PATH": os.environ["PATH"],
        "HOME": WORK,
        "XDG_CONFIG_HOME": f"{WORK}/.config",
        "XDG_DATA_HOME": f"{WORK}/.local/share",
        "XDG_STATE_HOME": f"{WORK}/.local/state",
        "XDG_CACHE_HOME": f"{WORK}/.cache",
        "TMPDIR": f"{WORK}/tmp",
        "CI": "1",
        "TERM": "dumb",
        "LANG": "C.UTF-8",
        **(environment or {}),
    }
    folder = f"{WORK}/project"
    for path in (folder, clean["TMPDIR"]):
        Path(path).mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        arguments, cwd=folder, env=clean, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    Path(WORK, "output").write_text(done.stdout + done.stderr, encoding="utf-8")
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        wrong = [line for line in lines if re.search("error|too long|context", line, re.IGNORECASE)]
        said = (wrong or lines or ["it said nothing"])[-1]
        raise RuntimeError(f"exit code {done.returncode}: {said.strip()[:400]}")
    return done.stdout.strip()


def node(script: str) -> str:
    """Runs a script of this folder with Node, which finds the packages in `CHECK_PACKAGES`."""
    program, package = PROGRAM
    arguments = [program, str(Path(__file__).with_name(script))]
    given = {"BASE": BASE, "KEY": KEY, "MODEL": MODEL, "TASK": TASK, "SYSTEM": SYSTEM}
    given["PACKAGES"] = str(Path(package).parents[2])
    given["TOOL"] = json.dumps({"description": DESCRIPTION, "parameters": PARAMETERS})
    return command_line(arguments, {f"CHECK_{name}": value for name, value in given.items()})


def write(path: str, content: object) -> None:
    """Writes a file of configuration below the run's folder: text as it is, else JSON."""
    file = Path(WORK, path)
    file.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content, indent=2)
    file.write_text(text, encoding="utf-8")


def run(client: str, agent, told: dict | None = None) -> None:
    """Runs `agent` and prints how it went, and what it put into `told` meanwhile."""
    out, sys.stdout = sys.stdout, sys.stderr
    line = {"client": client, "finished": False, "answer": None, "error": None}
    try:
        answer = agent()
        line["answer"] = None if answer is None else str(answer)
        line["finished"] = bool(line["answer"])
        if not line["finished"]:
            line["error"] = "no answer"
    except Exception as error:  # whatever it is, it is the result
        traceback.print_exc()
        line["error"] = f"{type(error).__name__}: {error}"
    print(json.dumps(line | (told or {})), file=out, flush=True)
