"""Small edits of a YAML file that leave everything else as it is, comments too, and can be undone.

Only what a configuration is written like is read: block mappings at the top, one key a line. What
is written another way is an `EditError` that says what to write by hand.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_KEY = re.compile(
    r"^(?P<indent> *)(?P<key>[\w.\-]+|'[^']*'|\"[^\"]*\")[ \t]*:(?=\s|$)(?P<rest>.*)$"
)
_EMPTY = re.compile(r"^[ \t]*(?P<value>\{[ \t]*\}|\[[ \t]*\]|~|null)?[ \t]*(?P<comment>#.*)?$")
_SCALAR = re.compile(
    r"^(?P<gap>[ \t]*)(?P<value>'[^']*'|\"[^\"]*\"|[^#'\"\[{|>&*!][^#]*?)(?P<end>[ \t]*(#.*)?)$"
)
_LIST = re.compile(r"^(?P<before>[ \t]*\[)(?P<items>[^\[\]#]*)(?P<after>\][ \t]*(#.*)?)$")
_ITEM = re.compile(r"^(?P<indent> *)-[ \t]+(?P<value>[^#]*?)[ \t]*(#.*)?$")


class EditError(ValueError):
    """A file that is written in a way that is not edited here."""


@dataclass(frozen=True)
class Edit:
    """Lines `old` at a place became lines `new`."""

    at: int
    old: list[str]
    new: list[str]


class Document:
    """The lines of a file, and the edits that were made.

    >>> document = Document("model: x  # mine\\n")
    >>> document.set("context", "engine", "midfold")
    >>> print(document.text, end="")
    model: x  # mine
    context:
      engine: midfold
    >>> Document(document.text).undone(document.edits).text
    'model: x  # mine\\n'
    """

    def __init__(self, text: str) -> None:
        self.lines = text.splitlines(keepends=True)
        self.edits: list[Edit] = []
        self._end = "\r\n" if "\r\n" in text else "\n"
        for line in self.lines:
            if line.strip() and not line.startswith(("#", "---", "%")):
                if line.startswith(("{", "[", "- ")):
                    raise EditError("its mappings are written in braces")
                break

    @property
    def text(self) -> str:
        """The file."""
        return "".join(self.lines)

    def set(self, section: str, key: str, value: str) -> None:
        """Sets `section.key` to a plain text."""
        at, child = self._child(section, key)
        if child is None:
            self._insert(at, section, [f"{key}: {value}"])
            return
        line = self.lines[child]
        rest = self._rest(child)
        if _unquoted(rest.split("#")[0].strip()) == value:
            return
        found = _EMPTY.match(rest) or _SCALAR.match(rest)
        if found is None or self._block(child):
            raise EditError(f"{section}.{key} is no plain value")
        head = line[: len(line.rstrip("\r\n")) - len(rest)]
        end = found.groupdict().get("end") or ""
        if "comment" in found.groupdict():
            end = f"  {found['comment']}" if found["comment"] else ""
        self._replace(child, [line], [f"{head} {value}{end}{self._ending(line)}"])

    def add(self, section: str, key: str, value: str) -> None:
        """Adds a plain text to the list `section.key`."""
        at, child = self._child(section, key)
        if child is None:
            self._insert(at, section, [f"{key}:", f"  - {value}"])
            return
        line, rest = self.lines[child], self._rest(child)
        head = line[: len(line.rstrip("\r\n")) - len(rest)]
        flow = _LIST.match(rest)
        if flow is not None:
            items = [_unquoted(item.strip()) for item in flow["items"].split(",") if item.strip()]
            if value in items:
                return
            inside = f"{flow['items'].rstrip()}, {value}" if items else value
            made = f"{head}{flow['before']}{inside}{flow['after']}{self._ending(line)}"
            self._replace(child, [line], [made])
            return
        if not _EMPTY.match(rest):
            raise EditError(f"{section}.{key} is no list")
        items_at = self._block(child, dashes=True)
        found = [(n, _ITEM.match(self.lines[n].rstrip("\r\n"))) for n in items_at]
        matches = [(n, item) for n, item in found if item is not None]
        if any(_unquoted(item["value"]) == value for _, item in matches):
            return
        if items_at and not matches:
            raise EditError(f"{section}.{key} is no list of plain names")
        if matches:
            indent = matches[0][1]["indent"]
            last = matches[-1][0]
            self._after(last, [f"{indent}- {value}"])
            return
        own = len(line) - len(line.lstrip(" "))
        if _EMPTY.match(rest)["value"]:  # type: ignore[index]
            comment = _EMPTY.match(rest)["comment"]  # type: ignore[index]
            said = f"  {comment}" if comment else ""
            self._replace(child, [line], [f"{head}{said}{self._ending(line)}"])
        self._after(child, [f"{' ' * (own + 2)}- {value}"])

    def undone(self, edits: list[Edit]) -> Document:
        """This file without these edits, which were made to it or to an earlier state of it."""
        new = Document(self.text)
        for edit in reversed(edits):
            size = len(edit.new)
            places = [
                n for n in range(len(new.lines) - size + 1) if new.lines[n : n + size] == edit.new
            ]
            if not places:
                lines = "".join(edit.new).strip()
                raise EditError(f"it no longer has the lines that were put in: {lines!r}")
            at = min(places, key=lambda n: abs(n - edit.at))
            new.lines[at : at + size] = edit.old
        return new

    def _child(self, section: str, key: str) -> tuple[int | None, int | None]:
        """The line of a section, and that of a key in it."""
        at = next((n for n, found in self._keys("") if found == section), None)
        if at is None:
            return None, None
        block = self._block(at)
        if not block:
            if not _EMPTY.match(self._rest(at)):
                raise EditError(f"{section} is not written as a block")
            return at, None
        first = _KEY.match(self.lines[block[0]].rstrip("\r\n"))
        if first is None:
            raise EditError(f"{section} is no mapping")
        inside = [n for n, found in self._keys(first["indent"]) if n in block and found == key]
        return at, inside[0] if inside else None

    def _keys(self, indent: str) -> list[tuple[int, str]]:
        """The lines that have a key at this indent."""
        found = [(n, _KEY.match(line.rstrip("\r\n"))) for n, line in enumerate(self.lines)]
        return [
            (n, _unquoted(m["key"])) for n, m in found if m is not None and m["indent"] == indent
        ]

    def _rest(self, at: int) -> str:
        """What follows the colon of a key."""
        found = _KEY.match(self.lines[at].rstrip("\r\n"))
        return found["rest"] if found else ""

    def _block(self, at: int, dashes: bool = False) -> list[int]:
        """The lines of content below a key; items of its list may stand at its own indent."""
        own = len(self.lines[at]) - len(self.lines[at].lstrip(" "))
        out = []
        for n in range(at + 1, len(self.lines)):
            line = self.lines[n]
            bare = line.strip()
            if not bare or bare.startswith("#"):
                continue
            indent = len(line) - len(line.lstrip(" "))
            if indent > own or (dashes and indent == own and bare.startswith("- ")):
                out.append(n)
            else:
                break
        return out

    def _insert(self, at: int | None, section: str, lines: list[str]) -> None:
        """Puts lines into a section, which may have to be made."""
        if at is None:
            self._after(len(self.lines) - 1, [f"{section}:", *(f"  {line}" for line in lines)])
            return
        block = self._block(at)
        indent = " " * 2
        if block:
            first = self.lines[block[0]]
            indent = first[: len(first) - len(first.lstrip(" "))]
        header, rest = self.lines[at], self._rest(at)
        empty = _EMPTY.match(rest)
        if not block and empty is not None and empty["value"]:
            comment = f"  {empty['comment']}" if empty["comment"] else ""
            head = header[: len(header.rstrip("\r\n")) - len(rest)]
            self._replace(at, [header], [f"{head}{comment}{self._ending(header)}"])
        self._after(at, [indent + line for line in lines])

    def _ending(self, line: str) -> str:
        return line[len(line.rstrip("\r\n")) :]

    def _after(self, at: int, lines: list[str]) -> None:
        """Puts lines behind one; the last line of a file may have no end."""
        made = [line + self._end for line in lines]
        if at >= 0 and not self._ending(self.lines[at]):
            last = self.lines[at]
            made[-1] = lines[-1]
            self._replace(at, [last], [last + self._end, *made])
            return
        self._replace(at + 1, [], made)

    def _replace(self, at: int, old: list[str], new: list[str]) -> None:
        self.lines[at : at + len(old)] = new
        self.edits.append(Edit(at, old, new))


def _unquoted(text: str) -> str:
    """A name without its quotation marks."""
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text
