"""The package under test, as a folder for PYTHONPATH."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


class PackageError(Exception):
    """There is no package to test."""


def python_package(root: Path, target: Path, home: Path) -> Path:
    """A folder with the package `midfold`: `MIDFOLD_PACKAGE`, else one that is put together."""
    given = os.environ.get("MIDFOLD_PACKAGE")
    if given:
        folder = Path(given).resolve()
        if not list((folder / "midfold").glob("_midfold*.so")):
            raise PackageError(
                f"MIDFOLD_PACKAGE: {folder}/midfold has no module _midfold*.so:"
                " name a folder that has the package `midfold` with its native module"
            )
        return folder
    module = target / "debug/lib_midfold.so"
    if not module.exists():
        raise PackageError(
            f"{module} is not there: run `cargo build -p midfold-python`,"
            " or name a folder with the package in MIDFOLD_PACKAGE"
        )
    folder = home / "package"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(
        root / "crates/python/python/midfold",
        folder / "midfold",
        ignore=shutil.ignore_patterns("__pycache__", "*.so"),
    )
    shutil.copy(module, folder / "midfold/_midfold.abi3.so")
    return folder
