"""Every example of the docstrings and of the pages does what it says."""

from __future__ import annotations

import doctest
import importlib
import os

import pytest
from conftest import ROOT
from provider import LIMIT, STEPS, Provider


@pytest.mark.parametrize(
    "name",
    ["midfold", "midfold._errors", "midfold.arrow", "midfold.trajectories", "midfold.types"],
)
def test_docstrings(name):
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert failed == 0 and tried > 0


@pytest.fixture
def provider():
    return Provider()


#: The pages with examples, and the least number of them.
PAGES = [("PYTHON.md", 29), ("LIBRARY.md", 27), ("ROWS.md", 18), ("EXACTLY.md", 20)]


@pytest.mark.parametrize(("name", "least"), PAGES)
def test_page(name, least, tmp_path, monkeypatch, provider):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    # A fence would be taken for output.
    text = os.linesep.join("" if line.startswith("```") else line for line in text.splitlines())
    names = provider.names() if name == "PYTHON.md" else {}
    examples = doctest.DocTestParser().get_doctest(text, names, name, f"docs/{name}", 0)
    assert len(examples.examples) >= least
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert runner.run(examples).failed == 0
    if name != "PYTHON.md":
        return
    # The loop went the ways that it is there for.
    assert len(provider.refused) == 1 and len(provider.prompts) == STEPS + 2
    assert max(provider.prompts) <= LIMIT
    assert "settle_3" in provider.recalled


def test_every_fence_of_the_pages_is_run():
    # These run where the engine is: `engines/`.
    elsewhere = ["engines", "datasets", "spark", "ray"]
    found = []
    for name, _ in PAGES:
        blocks = (ROOT / "docs" / name).read_text(encoding="utf-8").split("```")[1::2]
        python = [block for block in blocks if block.startswith("py")]
        assert python
        for block in python:
            if ">>> " not in block:
                found.append(block.split("\n")[0].removeprefix("python "))
    assert found == elsewhere
