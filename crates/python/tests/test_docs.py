"""Every example of the docstrings and of the pages does what it says."""

from __future__ import annotations

import doctest
import importlib
import os

import pytest
from conftest import ROOT


@pytest.mark.parametrize(
    "name", ["midfold", "midfold._errors", "midfold.arrow", "midfold.trajectories"]
)
def test_docstrings(name):
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert failed == 0 and tried > 0


def test_docstrings_of_the_native_half():
    native = importlib.import_module("midfold._midfold")
    parser, tried = doctest.DocTestParser(), 0
    for name in native.__all__:
        text = getattr(native, name).__doc__ or ""
        examples = parser.get_doctest(text, {}, name, None, 0)
        outcome = doctest.DocTestRunner().run(examples)
        assert outcome.failed == 0, name
        tried += bool(outcome.attempted)
    assert tried >= 8


@pytest.mark.parametrize(("name", "least"), [("PYTHON.md", 21), ("EXACTLY.md", 10)])
def test_page(name, least, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    # A fence would be taken for output.
    text = os.linesep.join("" if line.startswith("```") else line for line in text.splitlines())
    examples = doctest.DocTestParser().get_doctest(text, {}, name, f"docs/{name}", 0)
    assert len(examples.examples) >= least
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert runner.run(examples).failed == 0


def test_every_fence_of_the_page_is_run():
    text = (ROOT / "docs" / "PYTHON.md").read_text(encoding="utf-8")
    blocks = text.split("```")[1::2]
    python = [block for block in blocks if block.startswith("py")]
    # These run where the engine is: `engines/`.
    elsewhere = tuple(f"python {name}\n" for name in ("engines", "datasets", "spark", "ray"))
    here = [block for block in python if not block.startswith(elsewhere)]
    assert len(python) == len(here) + len(elsewhere)
    assert here and all(">>> " in block for block in here)
