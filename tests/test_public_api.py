"""The public names of `trace_gym`: complete, lazily imported, and each with an example that runs as printed."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest
from snippets import ROOT, blocks, python

import trace_gym

PAGE = "docs/reference/python/index.md"


def test_every_public_name_resolves_and_is_sorted() -> None:
    assert trace_gym.__all__ == sorted(trace_gym.__all__) and len(set(trace_gym.__all__)) == len(trace_gym.__all__)
    assert all(getattr(trace_gym, name).__doc__ for name in trace_gym.__all__)


def test_dir_shows_the_public_names_only() -> None:
    assert dir(trace_gym) == trace_gym.__all__


def test_no_public_name_is_a_module() -> None:
    """Importing a module sets an attribute of its package, which would replace a function of the same name."""
    modules = {module.name for module in pkgutil.iter_modules(trace_gym.__path__)}
    assert not modules & set(trace_gym.__all__)
    importlib.import_module("trace_gym.validation.runner")
    assert callable(trace_gym.validate)


def test_import_of_the_package_imports_nothing_heavy() -> None:
    code = "import sys, trace_gym; print(sorted({'torch', 'transformers', 'pydantic', 'openai'} & sys.modules.keys()))"
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert found.strip() == "[]"


@pytest.mark.slow
def test_every_public_name_has_an_example_that_runs(tmp_path: Path) -> None:
    code = "\n".join(blocks(PAGE, "python"))
    text = (ROOT / PAGE).read_text()
    assert [name for name in trace_gym.__all__ if not re.search(rf"`{name}`|`{name}\(", text)] == []
    printed = python(code, tmp_path)
    assert "True" in printed and "precondition_verification" in printed
