"""Training in two processes: equal gradients, complete runs and resumption.

The processes are started by ``torchrun``, which ``accelerate launch`` also uses, except on the CPU.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("peft", reason="training needs the lab extra")

import torch
from ranks_worker import gradient
from test_torch_grpo import adapter, lines, same_tensors
from tiny_model import save_tiny

from trace_gym.errors import ConfigError
from trace_gym.trainers import sft
from trace_gym.trainers.config import SFTConfig
from trace_gym.trainers.ranks import Ranks

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("models") / "model")


def launch(*arguments: str | Path) -> None:
    """Run the worker script in two processes on the CPU."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    done = subprocess.run(
        [*launcher, str(HERE / "ranks_worker.py"), *map(str, arguments)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]


def test_two_processes_compute_the_gradient_of_one(model_dir: Path, tmp_path: Path) -> None:
    gradient(model_dir, tmp_path / "one")
    launch("gradient", model_dir, tmp_path / "two")
    one = torch.load(tmp_path / "one" / "0.pt")
    two = [torch.load(tmp_path / "two" / f"{rank}.pt") for rank in range(2)]
    assert one["count"] == 1 and one["moved"].norm() > 0.1
    for process in two:
        assert process["count"] == 2
        assert float((process["moved"] - one["moved"]).norm() / one["moved"].norm()) < 1e-5
        for key in ("kl_rollout", "kl_base", "clip_fraction", "ratio_max", "entropy"):
            assert process["fit"][key] == pytest.approx(one["fit"][key], rel=1e-4), key
    assert torch.equal(two[0]["moved"], two[1]["moved"])


def test_a_run_in_two_processes_is_complete_and_resumes_bit_for_bit(model_dir: Path, tmp_path: Path) -> None:
    launch("4", model_dir, tmp_path / "whole")
    history = lines(tmp_path / "whole")
    assert [m["iteration"] for m in history] == [0, 1, 2, 3]
    assert [m["rollouts"] for m in history] == [12, 24, 36, 48]
    assert all(m["groups"] == 3 for m in history) and sum(m["steps"] for m in history) > 0
    launch("2", model_dir, tmp_path / "parts")
    launch("4", model_dir, tmp_path / "parts")
    assert lines(tmp_path / "parts") == history
    assert same_tensors(adapter(tmp_path / "parts"), adapter(tmp_path / "whole"))


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("length", [0, 1, 5, 6])
def test_shares_are_gathered_in_order(count: int, length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    items = list(range(length))
    shares = [Ranks(rank, count).share(items) for rank in range(count)]

    def exchange(parts: list[list[int]], own: list[int]) -> None:
        parts[:] = shares

    monkeypatch.setattr(torch.distributed, "all_gather_object", exchange, raising=False)
    assert all(Ranks(rank, count).gather(shares[rank]) == items for rank in range(count))


def test_other_trainers_refuse_several_processes(
    model_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Ranks, "join", classmethod(lambda cls: cls(0, 2)))
    with pytest.raises(ConfigError, match="found 2 processes"):
        sft.train(SFTConfig(), env="tau2_precondition", model=model_dir, out_dir=tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()
