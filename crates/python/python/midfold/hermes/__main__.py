"""python -m midfold.hermes install | uninstall | doctor"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import midfold

from . import doctor
from .install import home_of_host, install, uninstall


def main(arguments: Sequence[str] | None = None) -> int:
    """Does what the command line says; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m midfold.hermes",
        description="midfold as the context engine of Hermes Agent.",
    )
    parser.add_argument(
        "command",
        choices=("install", "uninstall", "doctor"),
        help="write plug-in and configuration, take them out again, or say what is wrong",
    )
    parser.add_argument("--home", help="the home of Hermes Agent [$HERMES_HOME, or ~/.hermes]")
    parser.add_argument("--python", help="the Python that runs it, for doctor")
    asked = parser.parse_args(arguments)
    home = home_of_host(asked.home)
    if asked.command == "doctor":
        found = list(doctor.problems(home, asked.python))
        for problem, remedy in found:
            print(f"{problem}\n  {remedy}")
        if not found:
            print(f"{home}: Hermes Agent uses midfold")
        return 1 if found else 0
    try:
        lines = install(home) if asked.command == "install" else uninstall(home)
    except (midfold.Error, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
