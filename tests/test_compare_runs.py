"""`benchmarks/compare_runs.py` compares the success rates of two runs over tasks and training seeds."""

import json
import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))

import compare_runs


def write_run(folder: Path, rate: float, *, seeds: int = 3, tasks: int = 200) -> Path:
    rng = random.Random(folder.name)
    rows = [
        {
            "name": name,
            "scenarios": [f"desk/0/{n}" for n in range(tasks)],
            "successes": [rng.random() < share for _ in range(seeds * tasks)],
            "seeds": list(range(seeds)),
        }
        for name, share in (("base", 0.3), ("routed", rate))
    ]
    (folder / "evaluation").mkdir(parents=True)
    (folder / "evaluation" / "level-0.json").write_text(json.dumps({"rows": rows}))
    return folder


def compared(capsys: pytest.CaptureFixture[str], *folders: Path) -> dict[str, list[str]]:
    compare_runs.main([*map(str, folders), "--resamples", "500"])
    lines = [line.strip("| \n").split(" | ") for line in capsys.readouterr().out.splitlines()]
    return {line[0]: line[1:] for line in lines[2:]}


def test_a_difference_between_runs_is_found_and_chance_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = compared(capsys, write_run(tmp_path / "a", 0.3), write_run(tmp_path / "b", 0.6))
    for column in (3, 4):
        low, high = map(float, rows["base"][column].split(" to "))
        assert low < 0 < high
        assert float(rows["routed"][column].split(" to ")[0]) > 10
    assert 20 < float(rows["routed"][2]) < 40


def test_runs_that_cannot_be_compared_are_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    three, one = write_run(tmp_path / "a", 0.3), write_run(tmp_path / "b", 0.3, seeds=1)
    with pytest.raises(SystemExit, match="one training seed"):
        compared(capsys, three, one)
    with pytest.raises(SystemExit, match="different tasks"):
        compared(capsys, three, write_run(tmp_path / "c", 0.3, tasks=100))
    with pytest.raises(SystemExit, match="contains no evaluation"):
        compared(capsys, three, tmp_path / "nothing")
