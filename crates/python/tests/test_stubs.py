"""The stubs say what the native half says, and everything in them has words."""

from __future__ import annotations

import ast
import doctest

import pytest
from conftest import ROOT
from stub_docs import FILES, STUBS, definitions, with_docs


@pytest.mark.parametrize("file", FILES)
def test_docstrings_are_those_of_the_native_half(file):
    text = (STUBS / file).read_text(encoding="utf-8")
    assert with_docs(text) == text, "python tests/stub_docs.py writes them"


@pytest.mark.parametrize("file", FILES)
def test_everything_in_a_stub_has_words(file):
    text = (STUBS / file).read_text(encoding="utf-8")
    silent = [name for name, node in definitions(text) if not ast.get_docstring(node)]
    # The words of a class are those of its making.
    assert [name for name in silent if not name.endswith(".__new__")] == []


def test_every_field_of_a_plain_value_has_words():
    silent = []
    for path in [STUBS / "_types.py", *sorted((STUBS / "types").glob("_*.py"))]:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(node, ast.ClassDef):
                continue
            # The one field of a union's part is what the part is about.
            if sum(isinstance(part, ast.AnnAssign) for part in node.body) < 2:
                continue
            body = [*node.body[1:], None]
            for part, after in zip(body, body[1:]):
                is_field = isinstance(part, ast.AnnAssign)
                is_tag = is_field and ast.unparse(part.annotation).startswith("Literal[")
                if is_field and not is_tag and not isinstance(after, ast.Expr):
                    silent.append(f"{node.name}.{part.target.id}")
    assert silent == []


#: Entries that show how they are used.
SHOWN = [
    "compact",
    "verify",
    "count_tokens",
    "replay",
    "work",
    "prune_sessions",
    "feedback",
    "cache_check",
    "presets",
    "tokenizers",
    "recall_tools",
    "Context",
    "Session",
    "Session.project",
    "Session.recover",
    "Sessions",
    "Compressor",
]


@pytest.mark.parametrize("file", FILES)
def test_examples_run(file):
    for name, node in definitions((STUBS / file).read_text(encoding="utf-8")):
        text = ast.get_docstring(node) or ""
        examples = doctest.DocTestParser().get_doctest(text, {}, name, file, 0)
        assert doctest.DocTestRunner().run(examples).failed == 0, name


def test_main_entries_have_examples():
    found = {}
    for file in FILES:
        found.update(definitions((STUBS / file).read_text(encoding="utf-8")))
    docs = {name: ast.get_docstring(found[name]) or "" for name in SHOWN}
    assert [name for name, text in docs.items() if ">>> " not in text] == []


def test_the_schemas_have_not_moved_on():
    import runpy
    import sys

    sys.argv = ["door-types", "--check"]
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "tools" / "door-types"), run_name="__main__")
    assert not ended.value.code
