"""The docstrings of the stubs, which editors show: those of the native half, which `help` shows.

Their sources are in `src`. `python tests/stub_docs.py` copies them into the stubs, from the package
that is installed.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from pathlib import Path
from typing import Union

STUBS = Path(__file__).resolve().parent.parent / "python" / "midfold"
FILES = ["_midfold.pyi", "_session.pyi", "_rows.pyi", "_arrow.pyi"]

#: The longest line.
WIDTH = 100

Definition = Union[ast.ClassDef, ast.FunctionDef]


def definitions(text: str) -> list[tuple[str, Definition]]:
    """Every class, method and function of a stub, by its name."""
    found: list[tuple[str, Definition]] = []
    for node in ast.parse(text).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            found.append((node.name, node))
        if isinstance(node, ast.ClassDef):
            inner = (part for part in node.body if isinstance(part, ast.FunctionDef))
            found.extend((f"{node.name}.{part.name}", part) for part in inner)
    return found


def is_own(name: str) -> bool:
    """Whether the stub has words of its own: Python gives slots such as `__len__` fixed ones."""
    return name.rsplit(".", 1)[-1].startswith("__")


def said(name: str) -> str:
    """What the native half says of a name."""
    import midfold._midfold as found

    for part in name.split("."):
        found = getattr(found, part)
    return inspect.cleandoc(found.__doc__ or "")


def written(text: str, indent: str) -> list[str]:
    """A docstring as lines of a stub."""
    mark = 'r"""' if "\\" in text else '"""'
    first, gap, rest = (mark + text).partition("\n\n")
    short = indent + first + '"""'
    if not gap and "\n" not in first and len(short) <= WIDTH:
        return [short]
    # With the quotes before it, the first line may be too long; behind a lone one they have room.
    width = WIDTH - len(indent) - (0 if gap else len(mark))
    head = textwrap.wrap(first, width, break_long_words=False, break_on_hyphens=False)
    lines = [*head, *(gap + rest).splitlines()[1:], '"""']
    return [f"{indent}{line}" if line else "" for line in lines]


def with_docs(text: str) -> str:
    """A stub with the docstrings of the native half."""
    lines = text.splitlines()
    for name, node in reversed(definitions(text)):
        if is_own(name):
            continue
        first = node.body[0]
        indent = " " * (node.col_offset + 4)
        docs = written(said(name), indent)
        if ast.get_docstring(node) is not None:
            lines[first.lineno - 1 : first.end_lineno] = docs
        elif isinstance(node, ast.ClassDef):
            start = min([first.lineno, *(d.lineno for d in getattr(first, "decorator_list", []))])
            lines[start - 1 : start - 1] = [*docs, ""]
        else:
            lines[first.lineno - 1] = lines[first.lineno - 1].removesuffix(" ...")
            lines[first.lineno : first.lineno] = docs
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for file in map(STUBS.joinpath, sys.argv[1:] or FILES):
        file.write_text(with_docs(file.read_text(encoding="utf-8")), encoding="utf-8")
