"""The scan of a module ends within its limits, whatever the text is."""

from __future__ import annotations

import re
from datetime import date, timedelta

import pytest
from hostile import Case

from trace_gym.errors import SandboxError
from trace_gym.sandbox import Limits, limited_linter, lint_source
from trace_gym.sandbox.lint_rules import MAX_CHARACTERS
from trace_gym.sandbox.linter import lint
from trace_gym.world import Check

CLEAN = Case("clean", "does nothing else", "", "", ()).text()
WRONG = CLEAN.replace("self.open = True", "self.open = eval('True')")
HARD = r"\w\d?" * 48
SLOW = Case(
    "slow",
    "has many patterns, each of which is hard to judge",
    "",
    "",
    (
        ("imports", "import re"),
        ("top", "\n".join(f"P{n} = re.compile(r'(?i){HARD}{n}')" for n in range(200))),
    ),
).text()


@pytest.mark.parametrize("text", [CLEAN, WRONG, "\ud800", "def f(:"])
def test_limited_scan_finds_the_same_faults(text: str) -> None:
    assert lint_source(text) == lint(text)


def test_text_that_is_too_long_starts_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limited_linter.subprocess, "run", lambda *_, **__: pytest.fail("a process was started"))
    [violation] = lint_source("x" * (MAX_CHARACTERS + 1))
    assert violation.rule == "size"


@pytest.mark.parametrize(
    "limits", [Limits(cpu_seconds=1, wall_seconds=60), Limits(cpu_seconds=60, wall_seconds=0.5)], ids=["cpu", "clock"]
)
def test_module_that_keeps_a_rule_busy_is_refused_in_time(limits: Limits) -> None:
    [violation] = lint_source(SLOW, limits=limits)
    assert violation.rule == "size" and f"{limits.cpu_seconds:g} s" in violation.message


def test_scan_that_needs_more_memory_than_allowed_is_a_fault() -> None:
    nested = "x = " + "[[[[1, 2, 3], [4, 5]]]], " * 2000
    [violation] = lint_source(nested, limits=Limits(memory_mib=1))
    assert violation.rule in ("size", "syntax") and re.search("MemoryError|MiB", violation.message)


def test_scan_that_fails_for_another_reason_is_no_verdict() -> None:
    with pytest.raises(SandboxError, match="no_such_module"):
        lint_source(CLEAN, target_imports=("no_such_module",))


@pytest.mark.parametrize("value", ["text", 1, 1.5, True, date(2024, 5, 15), timedelta(1), Check.goal("done", True)])
def test_format_of_a_value_in_an_f_string_looks_nothing_up(value: object) -> None:
    """The gate permits formats that are computed, because only `str.format` looks into its values."""
    for spec in ("{0.__class__}", ".__class__", "[0]"):
        try:
            made = f"{value:{spec}}"
        except (TypeError, ValueError):
            continue
        assert made == spec
