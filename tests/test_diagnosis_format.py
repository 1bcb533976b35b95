"""Tests that the JSON of a diagnosis matches its documentation, and that its readers accept earlier versions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from diagnosis_cases import episode, update
from format_pages import documented, fields_of
from pydantic import ValidationError

from trace_gym.diagnosis import Control, Diagnosis, diagnose
from trace_gym.types import FORMAT_VERSION, Capability, Record

PAGE = (Path(__file__).parents[1] / "docs" / "reference" / "diagnosis.md").read_text()


@pytest.mark.parametrize("model", [Diagnosis, Capability, Control], ids=lambda model: model.__name__)
def test_page_lists_fields_of_model(model: type[Record]) -> None:
    assert documented(PAGE, model) == fields_of(model, Diagnosis)


def some() -> Diagnosis:
    made = [
        episode([update("A", "HAT1")], update("A", f"HAT{n % 2}"), success=bool(n % 2)).model_copy(
            update={"id": str(n), "task": str(n)}
        )
        for n in range(12)
    ]
    return diagnose(made, confidence=0.9)


def test_diagnosis_is_read_again_and_states_its_version_and_confidence() -> None:
    found = some()
    assert found.version == FORMAT_VERSION and f"**version {FORMAT_VERSION}**" in PAGE
    assert found.confidence == 0.9
    assert found.capabilities and Diagnosis.model_validate_json(found.model_dump_json()) == found


def test_a_newer_version_is_rejected_and_files_without_one_are_accepted() -> None:
    data = json.loads(some().model_dump_json())
    with pytest.raises(ValidationError, match=f"format version 3 is not supported: expected 1 to {FORMAT_VERSION}"):
        Diagnosis.model_validate({**data, "version": 3})
    for capability in data["capabilities"]:
        del capability["coverage_interval"]
    del data["version"], data["confidence"]
    assert Diagnosis.model_validate(data).version == FORMAT_VERSION


def test_a_higher_confidence_gives_a_wider_interval_of_the_coverage() -> None:
    made = [
        episode([update("A", "HAT1")], update("A", f"HAT{n % 3 % 2}"), success=n % 3 == 1).model_copy(
            update={"id": str(n), "task": str(n)}
        )
        for n in range(60)
    ]
    widths = []
    for confidence in (0.5, 0.8, 0.95):
        [capability] = [c for c in diagnose(made, confidence=confidence).capabilities if c.coverage]
        assert capability.coverage_interval is not None
        low, high = capability.coverage_interval
        assert low <= capability.coverage <= high
        widths.append(high - low)
    assert widths == sorted(widths) and widths[0] < widths[-1]
