"""Tests of the assembly of modules from slots, and of the shortened trajectories in prompts."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from module_author import spec_of

from trace_gym.prompts.evidence import shorten, signatures
from trace_gym.synthesis import slots
from trace_gym.synthesis.diagnostics import diagnostics_of_report, excerpt, line_numbers
from trace_gym.synthesis.slots import InvalidModuleError
from trace_gym.targets.catalogue import TARGETS, target
from trace_gym.targets.results import read_results
from trace_gym.types import Finding, Report

ROOT = Path(__file__).resolve().parents[1]
AIRLINE = target("tau2_airline")
SPEC = spec_of("tau2_precondition")
MODULE = (ROOT / "generated_envs" / "tau2_precondition.py").read_text()

SMALL = '''
import re
from trace_gym.world import Call

"""Notes that nobody needs."""
WORDS = ("red", "blue")  # what is drawn from


class Tau2Precondition(AirlineDesk):
    """Another docstring."""

    id = "another"
    levels = range(9)
    colour: str = "red"
    max_turns = 12

    def shade(self) -> str:
        return self.colour

    def ablated(self) -> Iterator[Call | Say]:
        # A shortcut that is tempting.
        yield Say("No.")

    # The expert asks first.
    def oracle(self) -> Iterator[Call | Say]:
        """Ask."""
        yield Say("Which?")

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        return cls(colour=rng.choice(WORDS), wording="Hello {user}")


def late(n: int) -> int:
    return n + 1
'''


def rendered(code: str) -> str:
    return slots.render(slots.sort_into_slots(code, SPEC, AIRLINE), SPEC, AIRLINE, "llm:parrot")


def test_rendering_preserves_committed_environment() -> None:
    """Only the parts of the skeleton may change: the first lines, the imports, and the position of a helper."""
    [was] = (n for n in ast.parse(MODULE).body if isinstance(n, ast.ClassDef))
    [now] = (n for n in ast.parse(rendered(MODULE)).body if isinstance(n, ast.ClassDef))
    methods = [{m.name: ast.dump(m) for m in c.body if isinstance(m, ast.FunctionDef)} for c in (was, now)]
    assert methods[0] == methods[1]


def test_skeleton_determines_order_imports_and_provided_attributes() -> None:
    text = rendered(SMALL)
    order = [text.index(f"def {name}(") for name in ("late", "generate", "shade", "oracle", "ablated")]
    assert order == sorted(order)
    assert "Notes that nobody needs" not in text and "Another docstring" not in text and '"another"' not in text
    assert 'id = "tau2_precondition"' in text and "levels = range(4)" in text and "max_turns = 12" in text
    assert "import re" not in text and "from trace_gym.world import Call, Random, Say" in text
    assert "# what is drawn from" in text and "# The expert asks first.\n    def oracle" in text
    assert text.startswith("# Written by llm:parrot for trace-gym from spec tau2_precondition (sha256")
    assert max(map(len, text.splitlines())) <= 120
    assert slots.format_module(text) == text


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("import re", "import os", "line 2 imports os"),
        ("import re", "from trace_gym.registry import admit", "imports admit"),
        ("class Tau2Precondition", "class Another", "expected one class Tau2Precondition, found Another"),
        (
            "def generate(cls, rng: Random, level: int)",
            "def generate(cls, rng: Random)",
            "generate has the parameters cls, rng",
        ),
        ("    def oracle(self)", "    def expert(self)", "lacks the method oracle"),
        ("    max_turns = 12", "    print(1)", "neither a field nor a method"),
        ('WORDS = ("red", "blue")', "for word in (): pass", "is a statement of type For"),
        ("def late(n", "def late(n:", "not valid Python"),
    ],
)
def test_statement_outside_slots_raises_invalid_module_error(old: str, new: str, fault: str) -> None:
    assert old in SMALL
    with pytest.raises(InvalidModuleError, match=fault) as caught:
        slots.sort_into_slots(SMALL.replace(old, new), SPEC, AIRLINE)
    assert caught.value.text == SMALL.replace(old, new)


@pytest.mark.parametrize("name", TARGETS)
def test_imports_of_targets_exist(name: str) -> None:
    place = target(name)
    space: dict[str, object] = {}
    exec("\n".join(slots.imports(place)), space)
    assert space[place.base] is place.world
    assert all("class " in source or "def " in source for source in place.sources.values())


def test_complaints_show_the_lines_that_a_finding_names() -> None:
    text = "\n".join(f"line of {n}" for n in range(1, 30))
    failed = Finding(
        code="TG403", property="p", verdict="failed", message="KeyError at line 12", counterexample="x = 1"
    )
    fine = Finding(code="TG404", property="p", verdict="passed", message="")
    [diagnostic] = diagnostics_of_report(Report(passed=False, findings=(fine, failed), scenarios=1), text)
    assert diagnostic.lines.splitlines()[3] == ">   12  line of 12" and len(diagnostic.lines.splitlines()) == 7
    assert diagnostic.counterexample == "x = 1" and "ToolError" in diagnostic.fix
    assert excerpt(text, [1, 29]).count("\n") == 7 and excerpt(text, [99]) == ""
    assert line_numbers("see line 3 and line 44, not inline 5") == [3, 44]


def test_signatures_name_what_a_tool_takes() -> None:
    lines = signatures(AIRLINE.world.interface())
    assert len(lines) == 14
    assert (
        "read `get_flight_status(flight_number: string, date: string)`: Look up how a flight stands on one day."
        in lines
    )
    assert any('flight_type: "round_trip" | "one_way"' in line for line in lines)


def test_shorten_keeps_calls_and_results() -> None:
    place = ROOT.parent / "shared" / "data" / "tau_bench_airline_gpt4o.json.gz"
    if not place.is_file():
        pytest.skip("the recorded episodes are not there")
    found = list(read_results(str(place)))
    told = [shorten(t) for t in found]
    assert all(len(t) < 14_000 for t in told) and any("more ..." in t for t in told)
    assert "assistant calls get_user_details" in told[0] and "what should have been done: " in told[0]
    assert not any("system:" in t for t in told)
