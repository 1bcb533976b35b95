"""Every hostile module and every mutant, as an answer of a language model: how each was refused.

``PYTHONPATH=tests python -m authored [hostile|healthy|mutants|MUTANT...]``; exit code 1 where one was admitted.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

from authored.presenting import (
    CASES,
    ROOMY,
    TIGHT,
    admitted,
    healthy,
    mutants,
    one_sandbox,
    present_hostile,
    present_mutant,
)
from authored.writing import written_out


def main(wanted: list[str]) -> int:
    counts: dict[str, Counter[str]] = {"hostile": Counter(), "mutants": Counter()}
    listed = [(key, code, made) for key, code, made in mutants() if written_out(made)]
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        (home / "outside").mkdir()
        with one_sandbox(TIGHT):
            for case in CASES.values() if _is(wanted, "hostile") else ():
                why = present_hostile(case, home / "hostile", home / "outside", 9)
                counts["hostile"][_told(case.name, why)] += 1
        with one_sandbox(ROOMY):
            for world in healthy() if _is(wanted, "healthy") else ():
                _told(f"{world.id}, which is healthy", present_mutant(world, "", home / "healthy"))
            for key, code, made in listed:
                if _is(wanted, "mutants", key):
                    why = present_mutant(made, code, home / "mutants" / key.replace(":", "-"))
                    counts["mutants"][_told(key, why)] += 1
        escaped = list((home / "outside").iterdir())
        there = admitted(home / "hostile") + admitted(home / "mutants")
    for kind, found in counts.items():
        print(f"{kind}: {found.total()}; {', '.join(f'{n} {how}' for how, n in sorted(found.items()))}")
    print(f"admitted: {', '.join(there) or 'none'}; written outside: {len(escaped)}")
    return bool(there or escaped)


def _is(wanted: list[str], *names: str) -> bool:
    return not wanted or not {*names}.isdisjoint(wanted)


def _told(name: str, why: str) -> str:
    """Return the kind of refusal: without a run, or by a property."""
    said = why.partition(" was rejected: ")[2]
    code = re.match(r"TG\d+", said)
    print(f"{name}: {said[:110] or 'ADMITTED'}", flush=True)
    if code:
        return "refused by a property"
    return "refused without being run" if why else "admitted"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
