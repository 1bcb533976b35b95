"""The table of faults and of what finds them: ``PYTHONPATH=tests python -m mutants.table > docs/mutants.md``.

Every hand-written mutant, and every operator's variant of one environment, goes through all properties.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from pathlib import Path

from mutants import machine

from trace_gym.validate import PROPERTIES, Given, validate

SHOWN = "tau2_precondition"
HEAD = """# Faults, and the properties that find them

Generated: `PYTHONPATH=tests python -m mutants.table > docs/mutants.md`. Each row is a broken variant of a healthy
environment, with one fault; **bold** is the property that is there for it. Those from `mutants.machine` are made
by operators that break any environment; here they break `{shown}`, and the tests put them into one environment
of every target, and by turns into all others.

{count} mutants, {killed} of them rejected.

| Fault | Mutant | Rejected by |
|---|---|---|
"""


def mutants() -> Iterator[tuple[str, str, str]]:
    """Reference, fault and code of the property that is there for it."""
    for file in sorted(Path(__file__).parent.glob("*.py")):
        if file.stem in ("__init__", "table", "machine", "hotel"):
            continue
        for made in getattr(import_module(f"mutants.{file.stem}"), "MUTANTS", ()):
            fault = getattr(made, "fault", "") or _words(made.__name__)
            yield f"mutants.{file.stem}:{made.__name__}", fault, made.rejected_by
    for name in machine.variants(SHOWN):
        operator = machine.OPERATORS[name.partition("__")[2]]
        yield f"mutants.machine:{name}", operator.fault, operator.caught_by


def rejected(reference: str) -> list[str]:
    """The codes of all properties that reject a mutant; some need a policy or recordings, which it names."""
    module, _, name = reference.partition(":")
    given = getattr(getattr(import_module(module), name), "given", Given())
    report = validate(reference, profile="quick", given=given, progress=False)
    return [f.code for f in report.findings if f.verdict == "failed"]


def main() -> None:
    listed = list(mutants())
    rows, killed = [], 0
    with ProcessPoolExecutor(2) as pool:
        for (reference, fault, code), found in zip(listed, pool.map(rejected, [r for r, _, _ in listed]), strict=True):
            killed += code in found
            codes = ", ".join(f"**{c}**" if c == code else c for c in found) or "nothing"
            rows.append(f"| {fault} | `{reference.removeprefix('mutants.')}` | {codes} |")
            print(f"{len(rows)}/{len(listed)} {reference}: {codes}", file=sys.stderr)
    missing = sorted(PROPERTIES.keys() - {code for _, _, code in listed})
    print(HEAD.format(shown=SHOWN, count=len(rows), killed=killed) + "\n".join(sorted(rows)))
    if missing:
        print(f"\nNo mutant is there for {', '.join(missing)}.")


def _words(name: str) -> str:
    """``ForgottenGuard`` -> ``forgotten guard``."""
    return "".join(f" {c.lower()}" if c.isupper() else c for c in name).strip()


if __name__ == "__main__":
    main()
