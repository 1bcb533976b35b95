"""Trainers by name: supervised fine-tuning, and a trainer of another package, on the command line and in a run."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("peft", reason="training needs the lab extra")

from safetensors.torch import load_file
from tiny_model import save_tiny
from toy_world import ToyBoxes, open_toy, toys
from typer.testing import CliRunner

from trace_gym import pipeline, validation
from trace_gym.cli.entry import app
from trace_gym.errors import ConfigError
from trace_gym.evaluation import Evaluation
from trace_gym.models import ModelSettings, load_policy
from trace_gym.pipeline.jobs import TrainJob
from trace_gym.policies import Idle, Oracle
from trace_gym.policies.hf import HFPolicy
from trace_gym.rollouts import rollout
from trace_gym.settings import RunConfig
from trace_gym.trainers import registered
from trace_gym.trainers.config import GRPOConfig, SFTConfig
from trace_gym.trainers.demonstrations import RecordedPolicy, demonstrate
from trace_gym.trainers.sft import train

pytestmark = pytest.mark.slow

PACKAGE = Path(__file__).parent / "trainer_package"
PIP = ("-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index")
SMALL = SFTConfig(groups=4, iterations=3, minibatches=1, lr=1e-2, max_turn_tokens=80)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("models") / "model")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip installed the package, without the network. The build writes to a copy of the source."""
    source = shutil.copytree(PACKAGE, tmp_path_factory.mktemp("source") / PACKAGE.name)
    site = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, *PIP, "--target", str(site), str(source)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return site


@pytest.fixture
def installed(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another package that is installed beside trace_gym."""
    monkeypatch.syspath_prepend(str(site))


def policy_of(folder: Path) -> HFPolicy:
    policy = load_policy(ModelSettings(name=str(folder)))
    assert isinstance(policy, HFPolicy)
    return policy


def test_demonstrations_contain_the_tokens_of_a_rollout(folder: Path) -> None:
    """A model that writes the oracle's turns has the same tokens in its rollout."""
    chat = policy_of(folder).chat
    episode = open_toy(toys(1)[0])
    sample = demonstrate(chat, episode, Oracle(), 4000)
    assert sample is not None and episode.finish().success
    text = chat.tokenizer.decode(sample.ids)
    trained = chat.tokenizer.decode([i for i, m in zip(sample.ids, sample.mask, strict=True) if m])
    assert text.count("<|im_start|>assistant") == trained.count("<|im_end|>") == episode.turns
    spoken = [str(m["content"]) for m in episode.messages if m["role"] in ("user", "tool")]
    assert all(words in text and words not in trained for words in spoken)
    assert demonstrate(chat, open_toy(toys(1)[0]), Oracle(), len(sample.ids) - 1) is None


def test_recorded_episodes_give_the_same_tokens(folder: Path) -> None:
    chat = policy_of(folder).chat
    (record,) = rollout(Oracle(), toys(1), open_episode=open_toy)
    fresh, again = (demonstrate(chat, open_toy(toys(1)[0]), p, 4000) for p in (Oracle(), RecordedPolicy(record)))
    assert fresh == again


def test_fine_tuning_makes_demonstrations_more_likely(folder: Path, tmp_path: Path) -> None:
    config = SMALL.model_copy(update={"iterations": 12})
    where: dict[str, Any] = {"env": ToyBoxes.id, "model": folder, "open_episode": open_toy, "progress": False}
    trained = train(config, out_dir=tmp_path / "run", **where)
    losses = [float(m["loss"] or 0) for m in trained.metrics]
    assert losses[-1] < 0.7 * losses[0] and trained.rollouts == 48 and trained.ended == "iterations"
    again = train(config, out_dir=tmp_path / "again", **where)
    assert [m["loss"] for m in again.metrics] == losses


def test_interrupted_fine_tuning_continues_bit_for_bit(folder: Path, tmp_path: Path) -> None:
    where: dict[str, Any] = {"env": ToyBoxes.id, "model": folder, "open_episode": open_toy, "progress": False}
    train(SMALL, out_dir=tmp_path / "whole", **where)
    first = train(SMALL, out_dir=tmp_path / "parts", on_iteration=lambda m: m["iteration"] == 0, **where)
    assert first.ended == "stopped" and len(first.metrics) == 1
    train(SMALL, out_dir=tmp_path / "parts", **where)
    files = [load_file(tmp_path / run / "adapter" / "adapter_model.safetensors") for run in ("whole", "parts")]
    assert all(bool((files[0][key] == files[1][key]).all()) for key in files[0])


def test_only_successful_episodes_are_learned(folder: Path, tmp_path: Path) -> None:
    failed, good = tmp_path / "failed.jsonl", tmp_path / "good.jsonl"
    rollout(Idle(), toys(3), path=failed, open_episode=open_toy)
    rollout(Oracle(), toys(3), path=good, open_episode=open_toy)
    where: dict[str, Any] = {"env": ToyBoxes.id, "model": folder, "open_episode": open_toy, "progress": False}
    with pytest.raises(ConfigError, match="contain no successful episode of .*: found 3 other episodes"):
        train(SMALL.model_copy(update={"rollouts": (failed,)}), out_dir=tmp_path / "run", **where)
    made = train(SMALL.model_copy(update={"rollouts": (failed, good)}), out_dir=tmp_path / "run", **where)
    assert made.rollouts == 12
    short = SMALL.model_copy(update={"max_tokens": 200, "max_turn_tokens": 8})
    with pytest.raises(ConfigError, match="demonstrations are longer than the limit"):
        train(short, out_dir=tmp_path / "short", **where)


def test_settings_select_the_trainer(installed: None) -> None:
    assert type(registered.parse({})) is GRPOConfig and type(registered.parse({"trainer": "sft"})) is SFTConfig
    assert {"calm", "sft", "torch_grpo"} <= set(registered.names())
    config = RunConfig.parse({"train": {"trainer": "calm", "patience": 2}}, "run.yaml")
    assert config.train.trainer == "calm"
    assert RunConfig.parse(json.loads(config.model_dump_json()), "config.json") == config
    for settings, fault in (
        ({"trainer": "none"}, "unknown trainer: found 'none', expected one of broken, calm, distill, empty, sft"),
        (
            {"trainer": "sft", "samples": 3, "seed": 1, "kl_coef": 0.1},
            "kl_coef is not a setting of the trainer sft, only of torch_grpo, skyrl_grpo, trl_grpo; remove it; samples "
            "is not a setting of the trainer sft, only of torch_grpo, distill, skyrl_grpo, trl_grpo; remove it",
        ),
        ({"trainer": "sft", "sample": 3}, "sample: Extra inputs are not permitted"),
        ({"trainer": "calm", "patience": 0}, "patience: Input should be greater"),
        ({"trainer": "broken"}, "cannot be imported: No module named 'calm_trainer_that_is_missing'"),
        ({"trainer": "empty"}, "is not valid: expected an object with a function train"),
    ):
        with pytest.raises(ConfigError, match=fault):
            registered.parse(settings)
        with pytest.raises(ConfigError, match=fault):
            RunConfig.parse({"train": settings}, "run.yaml")


def test_trainer_of_another_package_is_used(installed: None, folder: Path, tmp_path: Path) -> None:
    given = ["train", "tau2_precondition", "--trainer", "calm", "--model", str(folder), "--out", str(tmp_path / "cli")]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 0 and "finished: 3 iterations" in result.output, result.output
    settings = registered.parse({"trainer": "calm", "patience": 2}).model_dump(mode="json")
    job = TrainJob("calm", (("tau2_precondition", 1.0),), ModelSettings(name=str(folder)), settings, tmp_path / "job")
    assert job()["path"] == str(tmp_path / "job" / "adapter")
    assert len((tmp_path / "job" / "metrics.jsonl").read_text().splitlines()) == 2
    assert (tmp_path / "job" / "adapter" / "adapter_config.json").exists()


def test_run_trains_with_the_trainer_of_another_package(
    installed: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker processes of the run also find the package."""
    monkeypatch.setattr(validation, "validate", partial(validation.validate, only=("TG401",)))
    settings = {
        "target": {"env": "tau2_airline_desk", "levels": [0]},
        "environments": ["tau2_precondition"],
        "levels": {"tau2_precondition": [0]},
        "skill": {"groups": 1, "informative": 0.0},
        "train": {"trainer": "calm", "patience": 2},
        "evaluate": {"tasks": 2, "validation_tasks": 1, "own_tasks": 1},
        "workers": 1,
    }
    made = pipeline.run(RunConfig.parse(settings, "run.yaml"), tmp_path / "run")
    (trained,) = json.loads(made.path("adapters.json").read_text())
    assert (trained["name"], trained["rollouts"], trained["ended"]) == ("tau2_precondition-s0", 0, "iterations")
    assert len(made.path("adapters", trained["name"], "metrics.jsonl").read_text().splitlines()) == 2
    rows = {row.name: row.rate for row in Evaluation.read(made.path("evaluation", "level-0.json")).rows}
    assert rows["base"] == rows["precondition_verification"], "the adapter does not change the model"
