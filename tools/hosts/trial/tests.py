"""The tests of the adapters, each with the Python that has its host."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from harness.places import MissingError, quietly, telling

PYTEST = "pytest==9.2.0"


def files(root: Path, name: str) -> list[Path]:
    """The test files of a host: test_NAME.py and those that begin so."""
    return sorted((root / "crates/python/tests/hosts").glob(f"test_{name}*.py"))


def pytest(home: Path, python: str) -> Path:
    """A folder with pytest, for PYTHONPATH: the places of the hosts stay as they are."""
    folder = home / "pytest"
    mark = folder / "pins"
    if not (mark.exists() and mark.read_text() == PYTEST):
        log = home / "pytest.log"
        command = [python, "-m", "pip", "install", "--quiet", "--target", str(folder), PYTEST]
        if not quietly(command, log):
            raise MissingError(f"pytest could not be installed: {telling(log)}")
        mark.write_text(PYTEST)
    return folder


def run(
    python: str, chosen: list[Path], package: Path, upstream: str, home: Path, log: Path
) -> tuple[int, int, int]:
    """Runs test files; how many passed, failed and were skipped. Their output is in `log`."""
    path = os.pathsep.join([str(package), str(pytest(home, python))])
    environment = {
        **os.environ,
        "PYTHONPATH": path,
        "PYTHONDONTWRITEBYTECODE": "1",
        "SCRIPTED_UPSTREAM": str(Path(upstream).resolve()),
    }
    command = [python, "-m", "pytest", "--color=no", "-q", *map(str, chosen)]
    with log.open("w") as out:
        done = subprocess.run(
            command,
            cwd=chosen[0].parents[2],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    lines = log.read_text(errors="replace").splitlines()
    last = next((line for line in reversed(lines) if re.search(r" in [\d.]+s", line)), "")
    passed, failed, skipped, errors = (
        int(found[1]) if (found := re.search(rf"(\d+) {word}", last)) else 0
        for word in ("passed", "failed", "skipped", "error")
    )
    failed += errors
    if done.returncode and not failed:
        failed = 1  # it did not come to an end
    return passed, failed, skipped
