"""hermes-agent's context compressor as its host would set it up, without a summariser.

Shared by the adapter for `midfold measure replay --engine` and by the bench. Nothing here reads the user's
own Hermes folder or the network: the compressor is given a window, and the one function through
which it reaches a model says at once that no provider is configured. That is a state it knows: it
then builds its own deterministic fallback summary.
"""

import atexit
import logging
import os
import shutil
import sys
import tempfile
from pathlib import Path

VERSION = "0.19.0"
HERE = Path(__file__).resolve().parent


def enter_environment(script):
    """Goes on in the private environment, where this Python cannot import the peer."""
    python = HERE / ".venv" / "bin" / "python"
    if Path(sys.prefix).resolve() == (HERE / ".venv").resolve():
        return
    if not python.exists():
        sys.exit(f"{Path(script).name}: no peers installed, run {HERE / 'setup'} first")
    os.execv(python, [str(python), str(Path(script).resolve()), *sys.argv[1:]])


def home():
    """An empty Hermes folder for this process, and a look at the version."""
    folder = tempfile.mkdtemp(prefix="hermes-peer-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["HERMES_HOME"] = folder
    from importlib.metadata import version

    if version("hermes-agent") != VERSION:
        sys.exit(f"hermes-agent {version('hermes-agent')} is installed, {VERSION} is measured")


def load():
    """Imports the compressor's module, with its summariser switched off."""
    home()
    logging.disable(logging.CRITICAL)
    import agent.context_compressor as module

    def no_summariser(*_, **__):
        raise RuntimeError("No LLM provider configured")

    module.call_llm = no_summariser
    return module


def compressor(module, window):
    """The compressor with its defaults, and `window` as its context length."""
    return module.ContextCompressor("peer", quiet_mode=True, config_context_length=window)


def on_the_wire(messages):
    """The messages as the host sends them: keys of its own start with an underscore."""
    return [{key: value for key, value in m.items() if not key.startswith("_")} for m in messages]
