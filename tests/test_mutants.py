"""Tests that the expected property detects every defect that an operator injects into a registered environment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from mutants import fresh, machine, table
from mutants.published import PUBLISHED

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.types import Scenario
from trace_gym.validation import PROPERTIES, validate
from trace_gym.validation.model_review import MODEL_CODES

pytestmark = pytest.mark.slow


def variants() -> Iterator[str]:
    """Return every operator on one environment of each target, with interleaved environments."""
    of_target = defaultdict[str, list[str]](list)
    for name in registry.list_environments():
        of_target[registry.load_world(name).target] += machine.variants(name)
    for made in of_target.values():
        for n, operator in enumerate(machine.OPERATORS):
            if able := [variant for variant in made if variant.endswith(f"__{operator}")]:
                yield able[n % len(able)]


@pytest.mark.parametrize("variant", list(variants()))
def test_mutant_is_detected(variant: str) -> None:
    operator = machine.OPERATORS[variant.partition("__")[2]]
    for profile in ("quick", "gate"):  # of a world with many tools `quick` draws too few calls to meet every fault
        report = validate(f"mutants.machine:{variant}", profile=profile, only=(operator.caught_by,), progress=False)
        if not report.passed:
            break
    failed = [f for f in report.findings if f.verdict == "failed"]
    # Where problems are drawn by how the experts fare, what breaks an attempt breaks the drawing, which comes first.
    assert [f.code for f in failed] in ([operator.caught_by], ["TG001"]), report
    assert failed[0].message and (failed[0].counterexample or operator.caught_by in ("TG103", "TG401"))


def test_every_property_has_a_mutant() -> None:
    listed = list(table.mutants())
    # These need a language model: test_review.py and test_solver.py test them, the latter with mutants/solving.py.
    assert {code for _, _, code in listed} == PROPERTIES.keys() - {*MODEL_CODES}
    assert len(listed) >= 60


def test_published_defects_have_mutants() -> None:
    known = {reference.removeprefix("mutants.") for reference, _, _ in table.mutants()}
    assert all(p.mutants and set(p.mutants) <= known for p in PUBLISHED)


def test_page_lists_every_mutant_and_its_property() -> None:
    found = {reference: ["TG999", code] for reference, _, code in table.mutants()}
    survivor = next(iter(found))
    page = table.markdown({**found, survivor: []})
    assert f"{len(found)} mutants, {len(found) - 1} of them rejected" in page
    assert page.count("| TG999, **TG") == len(found) - 1 and page.count("| nothing |") == 1


def test_page_is_up_to_date() -> None:
    page = (Path(__file__).parents[1] / "docs" / "notes" / "mutants.md").read_text()
    listed = list(table.mutants())
    assert f"{len(listed)} mutants, {len(listed)} of them rejected" in page
    assert all(f"| {fault} | `{reference.removeprefix('mutants.')}` |" in page for reference, fault, _ in listed)


def test_fresh_runs_use_other_problems() -> None:
    names = [f"tau2_precondition__{run}" for run in (1, 2)]
    assert all(
        validate(f"mutants.fresh:{name}", profile="quick", only=("TG2",), progress=False).passed for name in names
    )
    worlds = [registry.load_world("tau2_precondition"), *(getattr(fresh, name) for name in names)]
    begun = [[Episode(w, Scenario(env=w.id, level=0, seed=0)).state_hash for w in worlds] for _ in range(2)]
    assert begun[0] == begun[1] and len(set(begun[0])) == 3
    with pytest.raises(AttributeError):
        fresh.tau2_precondition  # noqa: B018


def test_operators_refer_to_existing_properties() -> None:
    assert {o.caught_by for o in machine.OPERATORS.values()} <= PROPERTIES.keys()
    assert len({o.fault for o in machine.OPERATORS.values()}) == len(machine.OPERATORS)
