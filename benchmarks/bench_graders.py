"""Defective graders that the validation rejects, and healthy graders that it accepts, compared with other tools.

    pip install rl-envdoctor==0.1.0
    python benchmarks/bench_graders.py [--set zoo own later] [--tool trace_gym envdoctor trivial] [--details]

The set `zoo` contains the labeled graders of the package rl-envdoctor. The sets `own` and `later` are in the files
tests/graders_*.py. A grader is rejected if a tool reports a failure, or a finding of at least medium severity. The
column "for its defect" counts the defective graders for which a finding names the labeled defect. The control `trivial`
rejects a grader if a fixed text gets a reward, or if a reference answer does not get the full reward. The control
`random` rejects each grader with a probability equal to trace_gym's rejection rate. TG102 is left out, because it only
starts more processes.
"""

from __future__ import annotations

import argparse
import asyncio
import inspect
import json
import os
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from trace_gym.validation import validate
from trace_gym.validation.third_party import BlackBox, open_box, run_black_box
from trace_gym.validation.third_party.reward_function import REFERENCES, SINGLE

TESTS = Path(__file__).parents[1] / "tests"
SHIM = """
import graders_defective, graders_healthy, graders_later
for _name, _grader in {**graders_defective.DEFECTIVE, **graders_healthy.HEALTHY}.items():
    globals()[f"own_{_name}"] = _grader.reward
for _name, _grader in {**graders_later.LATER_DEFECTIVE, **graders_later.LATER_HEALTHY}.items():
    globals()[f"later_{_name}"] = _grader.reward
try:
    from envdoctor.zoo import SPECIMENS
except ImportError:
    SPECIMENS = []
for _specimen in SPECIMENS:
    globals()[f"zoo_{_specimen.name}"] = _specimen.reward
"""
"""Module that defines the graders by name, so that an environment URI can name them."""
CODES = {
    "empty_ties_correct": {"TG301"},
    "exploit_pays_out": {"TG301", "TG207", "TG601"},
    "prompt_leaks_answer": {"TG701"},
    "grader_crash": {"TG402"},
    "reward_saturation": {"TG301", "TG303"},
    "grader_accepts_wrong": {"TG301", "TG304"},
    "invalid_reward": {"TG301", "TG303", "TG402"},
    "judge_pays_for_tone": {"TG207"},
    "completion_independent_reward": {"TG303"},
}
"""Mapping from each check of rl-envdoctor to the trace_gym properties that describe the same defect."""
CHECKS = {
    "TG207": {"exploit_pays_out", "judge_pays_for_tone"},
    "TG301": {"exploit_pays_out", "empty_ties_correct", "baseline_sanity", "grader_accepts_wrong"},
    "TG303": {"reward_saturation", "completion_independent_reward", "invalid_reward"},
    "TG304": {"grader_accepts_wrong"},
    "TG601": {"exploit_pays_out"},
    "TG701": {"prompt_leaks_answer"},
}
"""Mapping from each trace_gym property to the checks of rl-envdoctor that describe the same defect."""


class Case(NamedTuple):
    """Labeled grader."""

    name: str
    rows: list[dict[str, Any]]
    options: str
    defective: bool
    codes: set[str]
    """Properties of trace_gym that describe the defect."""
    checks: set[str]
    """Checks of rl-envdoctor that describe the defect."""


class Verdict(NamedTuple):
    """Verdict of a tool about a grader."""

    rejected: bool
    findings: list[str]


def own_cases() -> list[Case]:
    """Return the graders that were written before the properties were adjusted."""
    from graders_defective import DEFECTIVE
    from graders_healthy import HEALTHY

    return _labeled("own", DEFECTIVE, HEALTHY)


def later_cases() -> list[Case]:
    """Return the graders that were written after the properties were adjusted."""
    from graders_later import LATER_DEFECTIVE, LATER_HEALTHY

    return _labeled("later", LATER_DEFECTIVE, LATER_HEALTHY)


def _labeled(prefix: str, defective: dict[str, Any], healthy: dict[str, Any]) -> list[Case]:
    labeled = [(name, grader, name in defective) for name, grader in (*defective.items(), *healthy.items())]
    return [
        Case(f"{prefix}_{name}", g.rows, g.options, bad, set(g.codes), set().union(*(CHECKS[code] for code in g.codes)))
        for name, g, bad in labeled
    ]


def zoo_cases() -> list[Case]:
    """Return the graders of rl-envdoctor; an empty list if it is not installed."""
    if find_spec("envdoctor") is None:
        print("rl-envdoctor is not installed, so its zoo is not measured. Run pip install rl-envdoctor==0.1.0")
        return []
    from envdoctor.zoo import SPECIMENS

    return [
        Case(
            f"zoo_{s.name}",
            [{"prompt": case.prompt, "answer": case.answer} for case in s.cases],
            "",
            not s.healthy,
            CODES.get(s.expects, set()),
            {s.expects} if s.expects else set(),
        )
        for s in SPECIMENS
    ]


def by_trace_gym(case: Case, uri: str, profile: str) -> Verdict:
    """Return the verdict of all properties that apply."""
    report = validate(uri, profile=profile, seeds_per_level=len(case.rows), skip=["TG102"], progress=False)
    return Verdict(not report.passed, [f.code for f in report.findings if f.verdict == "failed"])


def by_envdoctor(case: Case, uri: str, profile: str) -> Verdict:
    """Return the verdict of rl-envdoctor on the same cases. A finding of low severity does not reject a grader."""
    import bench_grader_functions as shim
    from envdoctor.checks import run_checks
    from envdoctor.runner import scan
    from envdoctor.targets.function import FunctionTarget
    from envdoctor.types import Case as Row
    from envdoctor.types import Severity

    rows = [Row(id=str(n), prompt=row["prompt"], answer=_reference(row), info=row) for n, row in enumerate(case.rows)]
    target = FunctionTarget(_as_single(getattr(shim, case.name)), rows, name=case.name)
    report = run_checks(scan(target, n_cases=len(rows), repeats=2))
    medium = Severity.rank(Severity.MEDIUM)
    rejected = any(Severity.rank(f.severity) <= medium for f in report.findings)
    return Verdict(rejected, sorted({f.check for f in report.findings}))


def _reference(row: dict[str, Any]) -> str:
    return str(next(row[column] for column in REFERENCES if column in row))


def _as_single(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with the signature that rl-envdoctor expects."""
    known = inspect.signature(function).parameters

    def reward(completion: str, answer: str, info: dict[str, Any]) -> Any:
        if "completions" in known:
            text = [{"content": completion}] if isinstance(info["prompt"], list) else completion
            columns = {key: [value] for key, value in info.items() if key != "prompt"}
            made = function(completions=[text], **columns)
            return (asyncio.run(made) if inspect.isawaitable(made) else made)[0]
        return function(**{k: v for k, v in (info | dict.fromkeys(SINGLE, completion)).items() if k in known})

    return reward


def by_trivial_rule(case: Case, uri: str, profile: str) -> Verdict:
    """Reject a grader that rewards a fixed text, or that does not give a reference answer the full reward."""
    box: BlackBox = open_box(uri)
    for seed in range(len(case.rows)):
        if run_black_box(box, seed, box.solution(seed) or ()).total_reward < box.high:
            return Verdict(True, ["reference"])
        if any(run_black_box(box, seed, (text,)).total_reward > 0 for text in ("", "...", "Hello.")):
            return Verdict(True, ["fixed text"])
    return Verdict(False, [])


SETS = {"zoo": zoo_cases, "own": own_cases, "later": later_cases}
TOOLS = {"trace_gym": by_trace_gym, "envdoctor": by_envdoctor, "trivial": by_trivial_rule}


def measure(name: str, cases: list[Case], tools: list[str], options: argparse.Namespace, folder: Path) -> None:
    """Print the rows of a set of graders."""
    bad, healthy = ([case for case in cases if case.defective is defective] for defective in (True, False))
    for tool in tools:
        verdicts = {}
        for case in cases:
            file = folder / f"{case.name}.jsonl"
            file.write_text("".join(json.dumps(row) + "\n" for row in case.rows))
            uri = f"function:bench_grader_functions:{case.name}@{file}{case.options}"
            verdicts[case.name] = TOOLS[tool](case, uri, options.profile)
            if options.details:
                wanted = "defective" if case.defective else "healthy"
                print(f"{tool:10} {case.name:30} {wanted:10} {', '.join(verdicts[case.name].findings)}", flush=True)
        rejected, alarms = (sum(verdicts[c.name].rejected for c in group) for group in (bad, healthy))
        named = sum(bool({*verdicts[c.name].findings} & (c.codes if tool == "trace_gym" else c.checks)) for c in bad)
        reason = "" if tool == "trivial" else f"{named} of {len(bad)}"
        print(f"| {name} | {tool} | {rejected} of {len(bad)} | {reason} | {alarms} of {len(healthy)} |", flush=True)
        if tool == "trace_gym":
            rate = (rejected + alarms) / len(cases)
            expected = [f"{rate * len(group):.1f} of {len(group)}" for group in (bad, healthy)]
            print(f"| {name} | random | {expected[0]} | | {expected[1]} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", nargs="*", default=list(SETS), choices=list(SETS), help="sets of graders")
    parser.add_argument("--tool", nargs="*", default=list(TOOLS), choices=list(TOOLS), help="tools")
    parser.add_argument("--profile", default="quick", help="profile of the validation")
    parser.add_argument("--details", action="store_true", help="print the findings for each grader")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "bench_grader_functions.py").write_text(SHIM)
        sys.path[:0] = [str(folder), str(TESTS)]
        os.environ["PYTHONPATH"] = os.pathsep.join([str(folder), str(TESTS), os.environ.get("PYTHONPATH", "")])
        tools = [tool for tool in options.tool if tool != "envdoctor" or find_spec("envdoctor")]
        if "envdoctor" in tools:
            print(f"rl-envdoctor {version('rl-envdoctor')}")
        print("| Set | Tool | Defective graders rejected | For their defect | Healthy graders rejected |")
        print("|---|---|---:|---:|---:|")
        for name in options.set:
            if cases := SETS[name]():
                measure(name, cases, tools, options, folder)


if __name__ == "__main__":
    main()
