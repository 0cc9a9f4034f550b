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


@dataclasses.dataclass
class Record:
    """What was there before the first `install`, and what it did to the configuration."""

    home: bool
    plugins: bool
    config: bool
    edits: list[Edit]


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
    found = Record(home.exists(), folder.parent.exists(), text is not None, [])
    folder.mkdir(parents=True, exist_ok=True)
    files = {"plugin.yaml": _MANIFEST.format(version=midfold.__version__), "__init__.py": _PLUGIN}
    for name, content in files.items():
        if _read(folder / name) != content:
            (folder / name).write_text(content, encoding="utf-8")
            done.append(f"wrote {folder / name}")
    before = _recorded(folder)
    if after.edits or before is None:
        # The record first: a file that was edited can always be taken back.
        record = before or found
        record.edits = [*record.edits, *after.edits]
        text_of_record = json.dumps(dataclasses.asdict(record), indent=1)
        (folder / RECORD).write_text(text_of_record, encoding="utf-8")
    if after.edits:
        _write(config, after.text)
        done.append(f"{config}: context.engine is midfold, plugins.enabled has it")
    return done or [f"{folder}: everything is there already"]


def uninstall(home: Path) -> list[str]:
    """Takes out what `install` put in; what was done."""
    done = []
    folder, config = home / "plugins" / NAME, home / "config.yaml"
    text, record = _read(config), _recorded(folder)
    if text is not None and record is not None and record.edits:
        try:
            before = Document(text).undone(record.edits)
        except EditError as error:
            raise midfold.InputError(
                f"{config}: {error}", f"take these lines out, and delete {folder}:\n{_BY_HAND}"
            ) from None
        if before.text or record.config:
            _write(config, before.text)
            done.append(f"{config} is as it was")
        else:
            config.unlink()
            done.append(f"deleted {config}")
    if folder.exists():
        shutil.rmtree(folder)
        done.append(f"deleted {folder}")
    if record is not None:
        for made, there in ((folder.parent, record.plugins), (home, record.home)):
            if not there and made.exists() and not any(made.iterdir()):
                made.rmdir()
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


def _recorded(folder: Path) -> Record | None:
    """What an earlier `install` found and did."""
    text = _read(folder / RECORD)
    if text is None:
        return None
    record = Record(**json.loads(text))
    record.edits = [Edit(**edit) for edit in json.loads(text)["edits"]]
    return record


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
