"""Rewards of third-party environments that are not finite numbers fail validation."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from test_repeats import SEEDED, SUMS

from trace_gym.validation import validate


@pytest.mark.parametrize("reward", ["nan", "inf", "-inf"])
@pytest.mark.parametrize("code", ["TG301", "TG303"])
def test_reward_that_is_not_finite_fails(
    reward: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "sums", raising=False)
    source = SUMS.format(draw=SEEDED, observation="''")
    right = "float(action == str(self.a + self.b))"
    assert right in source
    (tmp_path / "sums.py").write_text(source.replace(right, f"float('{reward}') if action != '1' else 1.0"))
    (found,) = [f for f in validate("gym:sums:my/sums-v0", profile="quick", only=[code]).findings if f.code == code]
    assert found.verdict == "failed"
    assert reward in found.message
