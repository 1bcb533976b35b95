"""What was found in a candidate, as its author reads it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from trace_gym.types import Report
from trace_gym.validate import PROPERTIES

Stage = Literal["screen", "checks"]
"""Where it was found: without running the module, or by running it."""
AROUND = 3
"""Lines shown before and after one that is at fault."""


@dataclass(frozen=True)
class Complaint:
    """One thing that is wrong."""

    code: str
    """Of the property, or of the rule."""
    says: str
    mend: str = ""
    counterexample: str = ""
    """A runnable snippet that shows it."""
    lines: str = ""
    """The offending lines of the module, with their numbers."""


def of_report(report: Report, text: str) -> list[Complaint]:
    """The properties of a report that failed; what was not finished is not the author's fault."""
    return [
        Complaint(f.code, f.says, PROPERTIES[f.code].mend, f.counterexample, excerpt(text, lines_named(f.says)))
        for f in report.findings
        if f.verdict == "failed"
    ]


def lines_named(says: str) -> list[int]:
    """The line numbers that a sentence names."""
    return [int(n) for n in re.findall(r"\bline (\d+)\b", says)]


def excerpt(text: str, numbers: Iterable[int]) -> str:
    """The lines of a module around these, numbered; the lines themselves are marked."""
    rows, marked = re.split(r"\r\n|\r|\n", text), {n for n in numbers if n > 0}
    near = {n for m in marked for n in range(m - AROUND, m + AROUND + 1) if 0 < n <= len(rows)}
    return "\n".join(f"{'>' if n in marked else ' '} {n:4d}  {rows[n - 1]}" for n in sorted(near))
