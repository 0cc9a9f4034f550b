"""What tools/clients-check is asked to do."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from .registry import CLIENTS, Client
from .rooms import USUAL, Room
from .servers import RESULT_TOKENS

TOLD = {"told": (True,), "untold": (False,), "both": (True, False)}


@dataclass(frozen=True)
class Options:
    """Which clients, in which rooms, and what is done with them."""

    clients: list[Client]
    rooms: list[Room]
    result_tokens: int
    by_run: bool
    writes: bool
    lists: bool
    prepares: bool


def read(arguments: list[str], usage: str) -> Options:
    """Reads the command line; ends the process where it cannot be understood."""
    parser = argparse.ArgumentParser("tools/clients-check", usage=usage, add_help=False)
    for name in ("all", "write", "list", "run", "prepare", "help"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--room", type=sizes, default=[USUAL.tokens])
    parser.add_argument("--window", choices=TOLD, default="told")
    parser.add_argument("--result-tokens", type=int, default=RESULT_TOKENS)
    parser.add_argument("names", nargs="*")
    found = parser.parse_args(arguments)
    if found.help:
        parser.exit(0, usage)
    known = {client.name: client for client in CLIENTS}
    names = [name.replace("-", "_") for name in found.names]
    unknown = [name for name in names if name not in known]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; --list --all names all")
    clients = [client for client in CLIENTS if client.normal or found.all]
    told = TOLD[found.window]
    return Options(
        clients=[known[name] for name in names] or clients,
        rooms=[Room(size, is_told) for size in found.room for is_told in told],
        result_tokens=found.result_tokens,
        by_run=found.run,
        writes=found.write,
        lists=found.list,
        prepares=found.prepare,
    )


def sizes(text: str) -> list[int]:
    """Numbers of tokens with commas between them."""
    found = [int(part) for part in text.split(",")]
    if min(found) < 1:
        raise ValueError(text)
    return found
