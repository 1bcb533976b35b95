"""Every fault that an operator puts into a registered environment is found by the property that is there for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from mutants import machine, table

from trace_gym import registry
from trace_gym.validate import PROPERTIES, validate

SHARE = 4
"""An environment whose target was broken in every way already is broken in every fourth."""


def variants() -> Iterator[str]:
    """Every operator on one environment of each target, and on the others by turns."""
    seen: set[str] = set()
    for n, env in enumerate(sorted(registry.names(), key=lambda name: (not registry.load(name).capability, name))):
        every, target = machine.variants(env), registry.load(env).target
        yield from every[n % SHARE :: SHARE] if target in seen else every
        seen.add(target)


@pytest.mark.parametrize("variant", list(variants()))
def test_a_fault_put_into_an_environment_is_found(variant: str) -> None:
    operator = machine.OPERATORS[variant.partition("__")[2]]
    report = validate(f"mutants.machine:{variant}", profile="quick", only=(operator.caught_by,), progress=False)
    failed = [f for f in report.findings if f.verdict == "failed"]
    assert [f.code for f in failed] == [operator.caught_by], report
    assert failed[0].says and (failed[0].counterexample or operator.caught_by in ("TG103", "TG401"))


def test_every_property_has_a_mutant_that_it_is_there_for() -> None:
    listed = list(table.mutants())
    assert {code for _, _, code in listed} == PROPERTIES.keys()
    assert len(listed) >= 60


def test_operators_name_properties_that_exist() -> None:
    assert {o.caught_by for o in machine.OPERATORS.values()} <= PROPERTIES.keys()
    assert len({o.fault for o in machine.OPERATORS.values()}) == len(machine.OPERATORS)
