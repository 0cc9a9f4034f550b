"""The settings in the host's configuration: `plugins.entries.midfold`."""

from __future__ import annotations

import logging
from typing import Any

import midfold

_log = logging.getLogger(__name__)

#: What may be set, and what it has to be.
KNOWN: dict[str, type] = {
    "preset": str,
    "policy": str,
    "store": str,
    "tokenizer": str,
    "narrate": bool,
}


def settings_of(config: Any) -> dict[str, Any]:
    """The arguments of `Engine` in a configuration of the host.

    >>> settings_of({"plugins": {"entries": {"midfold": {"preset": "lean"}}}})
    {'preset': 'lean'}
    """
    entry = config
    for key in ("plugins", "entries", "midfold"):
        entry = entry.get(key) if isinstance(entry, dict) else None
    if entry is None:
        return {}
    if not isinstance(entry, dict):
        raise midfold.InputError(_place(""), f"write a mapping of {', '.join(KNOWN)}")
    for key, value in entry.items():
        if key not in KNOWN:
            raise midfold.InputError(_place(f".{key}: there is no such setting"), _names())
        if not isinstance(value, KNOWN[key]):
            expected = KNOWN[key].__name__
            raise midfold.InputError(_place(f".{key}: {value!r}"), f"write a {expected}")
    return dict(entry)


def settings_of_host() -> dict[str, Any]:
    """The same of the configuration that the host runs with."""
    from hermes_cli.config import load_config  # type: ignore[import-not-found,unused-ignore]

    return settings_of(load_config())


def _place(what: str) -> str:
    return f"config.yaml: plugins.entries.midfold{what}"


def _names() -> str:
    return f"there are {', '.join(KNOWN)}"
