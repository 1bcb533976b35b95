"""Diagnostics of a candidate module, for repair prompts to its author."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from trace_gym.types import Report
from trace_gym.validation import PROPERTIES

CheckStage = Literal["lint", "checks"]
"""Stage that produced the diagnostics: ``lint`` reads the module without running it, ``checks`` runs it."""
LINT_CODE = "screen"
"""Code of lint diagnostics that belong to no lint rule. It must not change, because existing manifests contain it."""
CONTEXT_LINES = 3
"""Number of lines that an excerpt shows before and after each line with an error."""


@dataclass(frozen=True)
class Diagnostic:
    """One error in a candidate module."""

    code: str
    """Code of the failed property or of the violated lint rule."""
    message: str
    fix: str = ""
    counterexample: str = ""
    """Runnable code that reproduces the error."""
    lines: str = ""
    """Lines of the module around the error, with line numbers."""


def diagnostics_of_report(report: Report, text: str) -> list[Diagnostic]:
    """Return a diagnostic for each failed property of a report. Unfinished properties do not count as errors."""
    return [
        Diagnostic(f.code, f.message, PROPERTIES[f.code].fix, f.counterexample, excerpt(text, line_numbers(f.message)))
        for f in report.findings
        if f.verdict == "failed"
    ]


def line_numbers(message: str) -> list[int]:
    """Return the line numbers in a message, such as 3 in ``"line 3 is too long"``."""
    return [int(n) for n in re.findall(r"\bline (\d+)\b", message)]


def excerpt(text: str, numbers: Iterable[int]) -> str:
    """Return the given lines of a module and nearby lines, with line numbers. ``>`` marks the given lines."""
    rows, marked = re.split(r"\r\n|\r|\n", text), {n for n in numbers if n > 0}
    near = {n for m in marked for n in range(m - CONTEXT_LINES, m + CONTEXT_LINES + 1) if 0 < n <= len(rows)}
    return "\n".join(f"{'>' if n in marked else ' '} {n:4d}  {rows[n - 1]}" for n in sorted(near))
