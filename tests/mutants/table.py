"""Table of defects and their properties: ``PYTHONPATH=tests python -m mutants.table > docs/notes/mutants.md``.

Every hand-written mutant, and every operator's variant of one environment, is checked with all properties. Results are
written to ``--kept FILE`` continuously, so that an interrupted run can be resumed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib import import_module
from pathlib import Path

from mutants import machine
from mutants.published import PUBLISHED

from trace_gym.validation import PROPERTIES, ValidationInputs, validate

SHOWN = "tau2_precondition"
HEAD = """# Faults, and the properties that find them

Generated: `PYTHONPATH=tests python -m mutants.table > docs/notes/mutants.md`. Each row is a broken variant of a healthy
environment, with one fault; **bold** is the property that is there for it. Those from `machine` are made by operators
that break any environment; here they break `{shown}`, and the tests put them into one environment of every
target, and by turns into all others. Each goes through all properties under the profile `quick`; one that this sample
is too small for goes through its own under `gate`, and is marked. Three that write megabytes of text are asked
TG0, TG1, TG2, TG4 and TG9 only.

{count} mutants, {killed} of them rejected by the property that is there for them.

| Fault | Mutant | Rejected by |
|---|---|---|
"""
PUBLISHED_HEAD = """
## Faults of published environments

What an audit of the environments of TRACE's reference implementation found, and the mutants that have the same fault.
Faults that no property of an environment can find are not listed: those of trainers and of hints within a group, and
that a user needs a language model.

| Fault | Found in | Mutants |
|---|---|---|
"""


def mutants() -> Iterator[tuple[str, str, str]]:
    """Return the reference, the defect and the expected property of each mutant."""
    for file in sorted(Path(__file__).parent.glob("*.py")):
        if file.stem in ("__init__", "table", "machine", "hotel", "published"):
            continue
        for made in getattr(import_module(f"mutants.{file.stem}"), "MUTANTS", ()):
            fault = getattr(made, "fault", "") or _words(made.__name__)
            yield f"mutants.{file.stem}:{made.__name__}", fault, made.rejected_by
    for name in machine.variants(SHOWN):
        operator = machine.OPERATORS[name.partition("__")[2]]
        yield f"mutants.machine:{name}", operator.fault, operator.caught_by


def rejected(reference: str, code: str) -> list[str]:
    """Return the codes of all properties that reject a mutant.

    Some require a policy or recordings, which the mutant declares. If the expected property is not among them, it is
    checked with the larger profile and marked.
    """
    module, _, name = reference.partition(":")
    mutant = getattr(import_module(module), name)
    given, asked = getattr(mutant, "given", ValidationInputs()), getattr(mutant, "limited_to", None)
    report = validate(reference, profile="quick", only=asked, given=given, progress=False)
    found = [f.code for f in report.findings if f.verdict == "failed"]
    if code not in found:
        longer = validate(reference, profile="gate", only=(code,), given=given, progress=False)
        found += [f"{f.code} (`gate`)" for f in longer.findings if f.verdict == "failed"]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kept", type=Path, help="file of what was found, to go on from")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    listed = list(mutants())
    known = _kept(options.kept)
    with ProcessPoolExecutor(options.workers) as pool:
        asked = {
            pool.submit(rejected, reference, code): reference for reference, _, code in listed if reference not in known
        }
        for answer in as_completed(asked):
            known[asked[answer]] = answer.result()
            _keep(options.kept, asked[answer], answer.result())
            print(f"{len(known)}/{len(listed)} {asked[answer]}: {answer.result() or 'nothing'}", file=sys.stderr)
    print(markdown(known))


def markdown(found: dict[str, list[str]]) -> str:
    """Return the page: the properties that reject each mutant, and the published defects of the mutants."""
    listed = list(mutants())
    killed = sum(_is_for(code, found[reference]) for reference, _, code in listed)
    page = HEAD.format(shown=SHOWN, count=len(listed), killed=killed)
    page += "\n".join(
        sorted(f"| {fault} | `{_short(name)}` | {_codes(code, found[name])} |" for name, fault, code in listed)
    )
    if missing := sorted(PROPERTIES.keys() - {code for _, _, code in listed}):
        page += f"\n\nNo mutant is there for {', '.join(missing)}."
    page += "\n" + PUBLISHED_HEAD
    return page + "\n".join(f"| {p.fault} | {p.where} | {', '.join(f'`{m}`' for m in p.mutants)} |" for p in PUBLISHED)


def _codes(code: str, found: list[str]) -> str:
    return ", ".join(f"**{c}**" if c.startswith(code) else c for c in found) or "nothing"


def _is_for(code: str, found: list[str]) -> bool:
    return any(c.startswith(code) for c in found)


def _short(reference: str) -> str:
    return reference.removeprefix("mutants.")


def _kept(file: Path | None) -> dict[str, list[str]]:
    """Return the results of earlier runs by mutant."""
    return dict(json.loads(line) for line in file.read_text().splitlines()) if file and file.is_file() else {}


def _keep(file: Path | None, reference: str, found: list[str]) -> None:
    if file:
        with file.open("a") as end:
            print(json.dumps([reference, found]), file=end)


def _words(name: str) -> str:
    """Return the name in words: ``ForgottenGuard`` becomes ``forgotten guard``."""
    return "".join(f" {c.lower()}" if c.isupper() else c for c in name).strip()


if __name__ == "__main__":
    main()
