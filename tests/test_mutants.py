"""Every fault that an operator puts into a registered environment is found by the property that is there for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import pytest
from mutants import machine, table

from trace_gym import registry
from trace_gym.validate import PROPERTIES, validate


def variants() -> Iterator[str]:
    """Every operator on one environment of each target; the environments of a target take turns."""
    of_target = defaultdict[str, list[str]](list)
    for name in registry.names():
        of_target[registry.load(name).target] += machine.variants(name)
    for made in of_target.values():
        for n, operator in enumerate(machine.OPERATORS):
            if able := [variant for variant in made if variant.endswith(f"__{operator}")]:
                yield able[n % len(able)]


@pytest.mark.parametrize("variant", list(variants()))
def test_a_fault_put_into_an_environment_is_found(variant: str) -> None:
    operator = machine.OPERATORS[variant.partition("__")[2]]
    for profile in ("quick", "gate"):  # of a world with many tools `quick` draws too few calls to meet every fault
        report = validate(f"mutants.machine:{variant}", profile=profile, only=(operator.caught_by,), progress=False)
        if not report.passed:
            break
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
