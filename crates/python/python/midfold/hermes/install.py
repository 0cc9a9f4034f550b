"""Puts plug-in and configuration into the home of Hermes Agent, and takes them out again."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from pathlib import Path

import midfold

from .yaml_edit import Document, Edit, EditError

NAME = "midfold"
#: What was put into the configuration, so that just that is taken out.
RECORD = "installed.json"
_MANIFEST = """\
name: midfold
version: {version}
description: "Context engine: keeps the ends of a conversation, folds its middle."
kind: standalone
"""
_PLUGIN = '''\
"""midfold as the context engine. Written by `python -m midfold.hermes install`."""

from midfold.hermes import register

__all__ = ["register"]
'''
_BY_HAND = """\
context:
  engine: midfold
plugins:
  enabled:
    - midfold
"""


def home_of_host(given: str | None = None) -> Path:
    """The home of Hermes Agent: what is given, `HERMES_HOME`, or `~/.hermes`."""
    named = given or os.environ.get("HERMES_HOME")
    return Path(named).expanduser() if named else Path.home() / ".hermes"


def install(home: Path) -> list[str]:
    """Writes the plug-in and the configuration; what was done. A second time does nothing more."""
    done = []
    folder, config = home / "plugins" / NAME, home / "config.yaml"
    text = _read(config)
    after = _configured(config, text)
    folder.mkdir(parents=True, exist_ok=True)
    files = {"plugin.yaml": _MANIFEST.format(version=midfold.__version__), "__init__.py": _PLUGIN}
    for name, content in files.items():
        if _read(folder / name) != content:
            (folder / name).write_text(content, encoding="utf-8")
            done.append(f"wrote {folder / name}")
    if after.edits:
        # The record first: a file that was edited can always be taken back.
        edits = [*_recorded(folder), *after.edits]
        record = {"created": text is None, "edits": [dataclasses.asdict(e) for e in edits]}
        (folder / RECORD).write_text(json.dumps(record, indent=1), encoding="utf-8")
        _write(config, after.text)
        done.append(f"{config}: context.engine is midfold, plugins.enabled has it")
    return done or [f"{folder}: everything is there already"]


def uninstall(home: Path) -> list[str]:
    """Takes out what `install` put in; what was done."""
    done = []
    folder, config = home / "plugins" / NAME, home / "config.yaml"
    text = _read(config)
    edits = _recorded(folder)
    if text is not None and edits:
        try:
            before = Document(text).undone(edits)
        except EditError as error:
            raise midfold.InputError(
                f"{config}: {error}", f"take these lines out, and delete {folder}:\n{_BY_HAND}"
            ) from None
        if not before.text and json.loads((folder / RECORD).read_text())["created"]:
            config.unlink()
            done.append(f"deleted {config}")
        else:
            _write(config, before.text)
            done.append(f"{config} is as it was")
    if folder.exists():
        shutil.rmtree(folder)
        done.append(f"deleted {folder}")
    return done or [f"{folder}: nothing was installed"]


def _configured(config: Path, text: str | None) -> Document:
    """The configuration with the engine in it."""
    try:
        document = Document(text or "")
        document.set("context", "engine", NAME)
        document.add("plugins", "enabled", NAME)
    except EditError as error:
        raise midfold.InputError(
            f"{config}: {error}", f"put these lines into it yourself:\n{_BY_HAND}"
        ) from None
    return document


def _recorded(folder: Path) -> list[Edit]:
    """The edits that an earlier `install` made."""
    record = _read(folder / RECORD)
    return [Edit(**edit) for edit in json.loads(record)["edits"]] if record else []


def _read(path: Path) -> str | None:
    """The text of a file with its own line ends; None where there is none."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None


def _write(path: Path, text: str) -> None:
    """Replaces a file as a whole, with the rights that it has: it may hold keys."""
    path.parent.mkdir(parents=True, exist_ok=True)
    target = path.resolve()
    new = target.with_name(target.name + ".midfold")
    new.touch(mode=0o600)
    new.write_bytes(text.encode("utf-8"))
    if target.exists():
        shutil.copymode(target, new)
    new.replace(target)
