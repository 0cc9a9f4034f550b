"""Says what keeps Hermes Agent from using midfold, and what to do about it."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import midfold

from .install import NAME
from .settings import settings_of

_ASK = """\
import json, sys
try:
    import yaml
    with open(sys.argv[1], encoding="utf-8") as file:
        config = yaml.safe_load(file) or {}
except FileNotFoundError:
    config = {}
except Exception as error:
    config = str(error)
found = {"config": config, "python": sys.executable}
for name in ("agent.context_engine", "midfold.hermes"):
    try:
        __import__(name)
        found[name] = None
    except Exception as error:
        found[name] = f"{type(error).__name__}: {error}"
print(json.dumps(found, default=str))
"""


def interpreter(given: str | None = None) -> str | None:
    """The Python that runs Hermes Agent: this one, or that of the command `hermes`."""
    if given:
        return given
    if importlib.util.find_spec("hermes_cli") is not None:
        return sys.executable
    command = shutil.which("hermes")
    if command is None:
        return None
    with Path(command).open("rb") as file:
        first = file.readline().decode("utf-8", "replace").strip()
    return first[2:].split()[0] if first.startswith("#!") else None


def problems(home: Path, python: str | None = None) -> Iterator[tuple[str, str]]:
    """What is wrong, and what to do; nothing where all is well."""
    folder = home / "plugins" / NAME
    if not (folder / "plugin.yaml").exists() or not (folder / "__init__.py").exists():
        yield f"{folder}: the plug-in is not there", f"run: {_command('install', home)}"
    runs = interpreter(python)
    if runs is None:
        yield (
            "no Hermes Agent was found, neither here nor as the command `hermes`",
            "run this with its Python, or name that: --python PATH",
        )
        return
    found = _ask(runs, home / "config.yaml")
    if isinstance(found, str):
        yield f"{runs} does not run: {found}", "name the Python of Hermes Agent: --python PATH"
        return
    if found["agent.context_engine"]:
        yield (
            f"{runs} has no Hermes Agent with context engines: {found['agent.context_engine']}",
            f"install or update it there: {runs} -m pip install -U hermes-agent",
        )
    elif found["midfold.hermes"]:
        yield (
            f"{runs} cannot import midfold: {found['midfold.hermes']}",
            f"install it there: {runs} -m pip install midfold",
        )
    yield from _configuration(home, found["config"])


def _configuration(home: Path, config: Any) -> Iterator[tuple[str, str]]:
    """What is wrong with the configuration."""
    path, again = home / "config.yaml", f"run: {_command('install', home)}"
    if not isinstance(config, dict):
        yield f"{path} cannot be read: {config}", "correct it first"
        return
    context, plugins = _mapping(config, "context"), _mapping(config, "plugins")
    if context.get("engine") != NAME:
        yield f"{path}: context.engine is {context.get('engine', 'compressor')}", again
    if NAME not in (plugins.get("enabled") or []):
        yield f"{path}: plugins.enabled has no {NAME}", again
    if NAME in (plugins.get("disabled") or []):
        yield f"{path}: plugins.disabled has {NAME}", f"run: hermes plugins enable {NAME}"
    if _mapping(config, "compression").get("enabled") is False:
        yield (
            f"{path}: compression.enabled is false, so no engine is asked",
            "set it to true",
        )
    for platform, toolsets in _mapping(config, "platform_toolsets").items():
        # A list that names tools gets those of the engine too; an empty one gets none.
        if toolsets == []:
            yield (
                f"{path}: platform_toolsets.{platform} is empty: there the model cannot search"
                " what was folded",
                "add context_engine to it",
            )
    try:
        settings_of(config)
    except midfold.Error as error:
        yield error.message, error.hint or ""


def _mapping(config: dict[str, Any], key: str) -> dict[str, Any]:
    """A section, empty where it is not there."""
    value = config.get(key)
    return value if isinstance(value, dict) else {}


def _ask(python: str, config: Path) -> dict[str, Any] | str:
    """What that Python can import, and what it reads in the configuration."""
    try:
        done = subprocess.run(
            [python, "-c", _ASK, str(config)], capture_output=True, text=True, timeout=120
        )
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except (OSError, ValueError, IndexError, subprocess.TimeoutExpired) as error:
        return f"{type(error).__name__}: {error}"
    return found


def _command(name: str, home: Path) -> str:
    return f"python -m midfold.hermes {name} --home {home}"


__all__ = ["interpreter", "problems"]
