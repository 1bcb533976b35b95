"""Training in two processes, which torchrun or accelerate starts: equal gradients, complete runs and resumption."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

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


LAUNCHERS = {
    "torchrun": ["torch.distributed.run", "--standalone", "--nproc_per_node", "2"],
    "accelerate": ["accelerate.commands.launch", "--multi_gpu", "--num_processes", "2", "--main_process_port", "0"],
}


def start(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command on the CPU."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "PATH": path}
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=240, check=False)


def launch(*arguments: str | Path, launcher: str = "torchrun") -> None:
    """Run the worker script in two processes."""
    done = start([sys.executable, "-m", *LAUNCHERS[launcher], str(HERE / "ranks_worker.py"), *map(str, arguments)])
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.fixture(scope="module")
def one(model_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The gradient that this process computes alone."""
    gradient(model_dir, out := tmp_path_factory.mktemp("gradients") / "one")
    return dict(torch.load(out / "0.pt"))


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_two_processes_compute_the_gradient_of_one(
    launcher: str, one: dict[str, Any], model_dir: Path, tmp_path: Path
) -> None:
    launch("gradient", model_dir, tmp_path / "two", launcher=launcher)
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


def test_the_commands_of_the_guide_train_in_several_processes(tmp_path: Path) -> None:
    """Both commands train the same adapter."""
    config = tmp_path / "grpo.yaml"
    config.write_text("{iterations: 1, groups: 2, samples: 2, max_turn_tokens: 8, levels: {0: 1}}")
    page = (HERE.parent / "docs" / "guides" / "train.md").read_text()
    section = page.partition("\n## Several devices\n")[2].partition("\n## ")[0].replace("\\\n", "")
    commands = [shlex.split(block) for block in re.findall(r"```sh\n(.*?)```", section, re.DOTALL)]
    assert [command[0] for command in commands] == ["accelerate", "torchrun"]
    for launcher, *rest in commands:
        words = {"4": "2", "grpo.yaml": str(config), "runs/qwen": str(tmp_path / launcher)}
        done = start([launcher, *(words.get(word, word) for word in rest)])
        assert done.returncode == 0, done.stderr[-3000:]
        assert done.stdout.count("iterations, ") == 1, "only the first process reports"
    one, other = tmp_path / "accelerate", tmp_path / "torchrun"
    assert lines(one) == lines(other) and lines(one)[0]["rollouts"] == 4
    assert same_tensors(adapter(one), adapter(other))


def test_a_launcher_that_starts_only_one_process_is_an_error(tmp_path: Path) -> None:
    """On the CPU, accelerate 1.15 starts one process, whatever the number of processes is."""
    launcher = ["accelerate", "launch", "--cpu", "--num_processes", "2", "--no_python"]
    done = start([*launcher, "trace-gym", "train", "tau2_precondition", "--out", str(tmp_path / "run")])
    assert done.returncode != 0 and "ignores --num_processes on the CPU: found 1 process" in done.stderr
    assert not (tmp_path / "run").exists()


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
