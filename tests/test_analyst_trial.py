"""Replay of the recorded trial of the language-model analyst."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TRIAL = ROOT / "tests" / "data" / "analyst_trial"


def test_recorded_trial_names_planted_capabilities(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import bench_analyst

    found = bench_analyst.run(TRIAL, f"replay-purpose:{TRIAL / 'recordings' / 'files'}")
    assert len(found["planted"]) == 10
    assert set(found["planted"]) - set(found["named"]) == {"datetime_reasoning"}
    [agreement] = found["agreement"]
    assert (agreement["own_right"], agreement["other_right"], agreement["other_wrong"]) == (37, 328, 4)
    assert found["not_labeled"] == 0
    [injection] = found["injection"]
    assert injection["equal"]
    assert injection["copy"]["insufficient_information"] == "LACKING"
    sys.modules.pop("bench_analyst")
