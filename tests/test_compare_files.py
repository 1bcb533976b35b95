"""`trace-gym evaluate` on rollout files: one row per policy, every sample, one split, and the temperature."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest

from trace_gym.errors import ConfigError, ReadError, SplitError, TraceGymError
from trace_gym.evaluation import Evaluation, markdown
from trace_gym.evaluation.from_files import compare_files
from trace_gym.evaluation.show import title
from trace_gym.types import Trajectory, to_jsonl

DATA = Path(__file__).parent / "data"


def record(
    task: str, success: bool | None, sample: int = 0, temperature: float | None = 0.0, model: str = "m"
) -> Trajectory:
    reward = None if success is None else float(success)
    return Trajectory(
        id=f"{task}#{sample}",
        task=task,
        messages=(),
        success=success,
        reward=reward,
        temperature=temperature,
        model=model,
    )


def tasks(outcomes: str, split: int = 0, **more: float | str | None) -> list[Trajectory]:
    """One rollout per character: 1 success, 0 failure, ? not scored."""
    made = {"1": True, "0": False, "?": None}
    return [record(f"tau2_precondition/0/{split + n}", made[o], **more) for n, o in enumerate(outcomes)]  # type: ignore[arg-type]


def save(path: Path, records: list[Trajectory]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = to_jsonl(records).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def test_files_with_one_stem_are_two_rows(tmp_path: Path) -> None:
    made = compare_files(
        [save(tmp_path / "before" / "base.jsonl", tasks("00")), save(tmp_path / "after" / "base.jsonl", tasks("11"))]
    )
    assert [(row.name, row.rate) for row in made.rows] == [("before/base", 0.0), ("after/base", 1.0)]


def test_one_file_compressed_and_not_is_told_apart(tmp_path: Path) -> None:
    plain, packed = save(tmp_path / "a.jsonl", tasks("01")), save(tmp_path / "a.jsonl.gz", tasks("01"))
    assert [row.name for row in compare_files([plain, packed]).rows] == ["a.jsonl", "a.jsonl.gz"]
    with pytest.raises(ConfigError, match="given twice"):
        compare_files([plain, tmp_path / "." / "a.jsonl"])


@pytest.mark.parametrize("name", ["a.json.gz", "a.json", "a", "a.txt.gz"])
def test_records_are_read_whatever_the_file_is_called(tmp_path: Path, name: str) -> None:
    assert compare_files([save(tmp_path / name, tasks("01"))]).base.rate == 0.5


def test_empty_file_is_reported_as_an_unfinished_rollout(tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").touch()
    with pytest.raises(ReadError, match=r"b\.jsonl is empty: the rollout did not finish") as raised:
        compare_files([save(tmp_path / "a.jsonl", tasks("01")), tmp_path / "b.jsonl"])
    assert "Expected" not in str(raised.value)


def test_every_sample_counts_and_tasks_stay_the_unit(tmp_path: Path) -> None:
    four = [r for n, o in enumerate(("00", "10", "10", "11")) for r in tasks(o, sample=n)]
    made = compare_files([save(tmp_path / "one.jsonl", tasks("00")), save(tmp_path / "four.jsonl", four)])
    row = made.row("four")
    assert (row.samples, row.by_scenario, row.rate) == (4, [0.75, 0.25], 0.5)
    change = made.compare("four")
    assert change is not None and (change.pairs, change.gained) == (2, 2)
    assert "Samples: four 4" in markdown(made)
    assert Evaluation.model_validate_json(made.model_dump_json()) == made


def test_sample_that_is_missing_or_not_scored_is_left_out_of_its_task(tmp_path: Path) -> None:
    records = [*tasks("10"), *tasks("?", sample=1), *tasks("0", sample=2)]
    row = compare_files([save(tmp_path / "a.jsonl", records)]).base
    assert row.by_scenario == [0.5, 0.0] and row.unscored == 3


def test_models_of_one_file_are_two_rows(tmp_path: Path) -> None:
    made = compare_files([save(tmp_path / "a.jsonl", [*tasks("00"), *tasks("11", model="other")])])
    assert {row.name: row.rate for row in made.rows} == {"a (m)": 0.0, "a (other)": 1.0}


@pytest.mark.parametrize(
    ("used", "shown"),
    [((0.0, 0.0), "greedy"), ((1.0, 1.0), "temperature 1"), ((1.0, 0.0), "temperature mixed"),
     ((None, None), "temperature unknown"), ((1.0, None), "temperature mixed")],
)  # fmt: skip
def test_temperature_is_that_of_the_records(tmp_path: Path, used: tuple[float | None, ...], shown: str) -> None:
    paths = [save(tmp_path / f"{n}.jsonl", tasks("01", temperature=t)) for n, t in enumerate(used)]
    assert title(compare_files(paths)).endswith(f", {shown}")


def test_any_one_split_is_compared_and_named(tmp_path: Path) -> None:
    from trace_gym.registry import SPLITS

    for split, seeds in SPLITS.items():
        made = compare_files([save(tmp_path / f"{split}.jsonl", tasks("01", split=seeds[0]))])
        assert made.split == split and f"2 {split} tasks" in title(made)
        assert (f"The tasks come from split {split}" in made.note) == (split != "test")
    both = [*tasks("01", split=SPLITS["train"][0]), *tasks("01", split=SPLITS["test"][0])]
    with pytest.raises(SplitError, match="2 from train, 2 from test"):
        compare_files([save(tmp_path / "both.jsonl", both)])


def test_tasks_that_are_not_shared_are_counted(tmp_path: Path) -> None:
    made = compare_files([save(tmp_path / "a.jsonl", tasks("0101")), save(tmp_path / "b.jsonl", tasks("01"))])
    assert "2 tasks are excluded because they are not in every file" in made.note
    with pytest.raises(TraceGymError, match="no task in common"):
        compare_files([tmp_path / "a.jsonl", save(tmp_path / "c.jsonl", tasks("01", split=50))])


def test_results_of_a_benchmark_are_compared_task_by_task(tmp_path: Path) -> None:
    shutil.copy(DATA / "tau_bench_airline.json", tmp_path / "again.json")
    made = compare_files([DATA / "tau_bench_airline.json", tmp_path / "again.json"])
    assert [row.name for row in made.rows] == ["tau_bench_airline", "again"]
    assert made.rows[0].successes == made.rows[1].successes
    assert "benchmark tasks, temperature unknown" in title(made)


def test_duplicates_of_an_older_version_are_an_error_that_names_the_repair(tmp_path: Path) -> None:
    path = save(tmp_path / "a.jsonl", [*tasks("01"), *tasks("01")])
    with pytest.raises(ReadError, match=r"line 3: tau2_precondition/0/0#0 of m occurs twice, first in line 1"):
        compare_files([path])


def test_half_written_last_line_is_an_error_that_names_the_line(tmp_path: Path) -> None:
    path = save(tmp_path / "a.jsonl", tasks("01"))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ReadError, match=r"a.jsonl, line 2 is truncated"):
        compare_files([path])
