"""Options of the GRPO trainer: learning-rate schedule, dynamic sampling, overlong rollouts and constant normalizer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from test_torch_grpo import SMALL, Given, Vowels, adapter, lines, run, same_tensors
from tiny_model import save_tiny

from trace_gym.errors import ConfigError, MissingExtra, ReadError
from trace_gym.trainers import base, registered
from trace_gym.trainers.advantage import advantages
from trace_gym.trainers.config import GRPOConfig
from trace_gym.trainers.update import samples_of


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("tiny"))


# --- learning rate ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schedule", "rates"),
    [
        ("constant", [1 / 3, 2 / 3, 1, 1, 1, 1]),
        ("linear", [1 / 3, 2 / 3, 1, 0.75, 0.5, 0.25]),
        ("cosine", [1 / 3, 2 / 3, 1, (1 + 0.5**0.5) / 2, 0.5, (1 - 0.5**0.5) / 2]),
    ],
)
def test_learning_rates_of_a_schedule(schedule: Any, rates: list[float]) -> None:
    config = GRPOConfig(lr=0.1, lr_schedule=schedule, warmup_iterations=2, iterations=6)
    assert [config.lr_in(n) for n in range(6)] == pytest.approx([0.1 * rate for rate in rates])


def test_the_optimizer_uses_the_schedule_also_after_a_stop(model_dir: Path, tmp_path: Path) -> None:
    config = SMALL.model_copy(update={"lr_schedule": "linear", "warmup_iterations": 1})
    run(config, model_dir, tmp_path / "whole")
    assert [line["lr"] for line in lines(tmp_path / "whole")] == pytest.approx([0.005, 0.01, 0.02 / 3, 0.01 / 3])
    run(config, model_dir, tmp_path / "parts", on_iteration=lambda m: m["iteration"] == 1)
    run(config, model_dir, tmp_path / "parts")
    assert same_tensors(adapter(tmp_path / "parts"), adapter(tmp_path / "whole"))
    run(SMALL, model_dir, tmp_path / "constant")
    assert not same_tensors(adapter(tmp_path / "constant"), adapter(tmp_path / "whole"))


def test_a_decay_cannot_be_made_longer(model_dir: Path, tmp_path: Path) -> None:
    config = SMALL.model_copy(update={"lr_schedule": "cosine", "iterations": 1})
    run(config, model_dir, tmp_path)
    with pytest.raises(ConfigError, match="iterations \\(was 1, now 2\\)"):
        run(config.model_copy(update={"iterations": 2}), model_dir, tmp_path)


# --- dynamic sampling ---------------------------------------------------------------------------------------------


class Sometimes(Vowels):
    """In most scenarios, everything that is said is enough, so that their groups have no signal."""

    def verify(self, start: Any, said: list[str]) -> Any:
        from trace_gym.world import Check

        easy = start.wanted == ""
        yield Check.goal("one was said", easy or any(set(self.wanted) & set(text) for text in said))

    @classmethod
    def generate(cls, rng: Any, level: int) -> Any:
        return cls(wanted="" if rng.random() < 0.7 else "ae")


def test_dynamic_sampling_replaces_groups_and_counts_their_cost(model_dir: Path, tmp_path: Path) -> None:
    config = SMALL.model_copy(update={"iterations": 3, "groups": 4})
    plain = run(config, model_dir, tmp_path / "plain", Sometimes).metrics
    more = run(config.model_copy(update={"max_resamples": 6}), model_dir, tmp_path / "more", Sometimes).metrics
    assert all(m["groups"] == 4 for m in plain)
    assert plain[-1]["rollouts"] == 3 * 4 * 4
    informative = [round(m["informative"] * m["groups"]) for m in more]
    assert sum(informative) > sum(round(m["informative"] * m["groups"]) for m in plain)
    assert max(informative) <= 4
    assert any(m["groups"] > 4 for m in more)
    assert more[-1]["rollouts"] == sum(m["groups"] for m in more) * 4
    for m in more:
        assert m["informative"] * m["groups"] + m["all_zero"] + m["all_best"] == pytest.approx(m["groups"])


def test_dynamic_sampling_stops_at_its_limit(model_dir: Path, tmp_path: Path) -> None:
    config = SMALL.model_copy(update={"iterations": 1, "max_resamples": 2})
    (only,) = run(config, model_dir, tmp_path, Given).metrics
    assert (only["groups"], only["all_best"], only["steps"]) == (3 * 2, 6, 0)


# --- other options ------------------------------------------------------------------------------------------------


def test_overlong_rollouts_can_be_left_out() -> None:
    class Rollout:
        ids, mask, logprobs = [1, 2], [False, True], [0.0, -1.0]

        def __init__(self, overflow: bool) -> None:
            self.overflow = overflow

    rollouts: Any = [Rollout(False), Rollout(True)]
    gains = advantages(np.array([[1.0, 0.0]]))
    assert [s.advantage for s in samples_of(rollouts, gains)] == pytest.approx([1.0, -1.0], abs=1e-4)
    assert [s.advantage for s in samples_of(rollouts, gains, "mask")] == pytest.approx([1.0], abs=1e-4)


def test_dr_grpo_has_a_constant_normalizer_by_default() -> None:
    assert GRPOConfig(advantage="dr_grpo").average == "constant"
    assert GRPOConfig(advantage="dr_grpo", average="token").average == "token"
    assert GRPOConfig().average == "trajectory"


@pytest.mark.parametrize("name", ["dr_grpo", "gspo", "cispo"])
def test_each_variant_trains(name: str, model_dir: Path, tmp_path: Path) -> None:
    chosen = {"advantage": name} if name == "dr_grpo" else {"objective": name}
    config = GRPOConfig.parse({**SMALL.model_dump(exclude={"average"}), **chosen})
    metrics = run(config, model_dir, tmp_path).metrics
    assert sum(m["steps"] for m in metrics) > 0
    run(SMALL, model_dir, tmp_path / "grpo")
    assert not same_tensors(adapter(tmp_path), adapter(tmp_path / "grpo"))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"objective": "cispo", "clip_low": 0.1}, "clip_low has no effect"),
        ({"warmup_iterations": 25}, "warmup_iterations is too large"),
        ({"objective": "ppo"}, "objective"),
    ],
)
def test_options_without_effect_are_errors(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        GRPOConfig.parse(settings)


def test_training_starts_from_an_adapter(model_dir: Path, tmp_path: Path) -> None:
    from trace_gym.models import ModelSettings

    settings, first = ModelSettings(name=str(model_dir)), run(SMALL, model_dir, tmp_path / "first").path
    config = SMALL.model_copy(update={"init_adapter": first, "lr": 1e-12})
    learner, _ = base.load_with_lora(config, settings)
    trained = {name for name, weights in learner.named_parameters() if weights.requires_grad}
    assert trained and all("lora_" in name for name in trained)
    again = run(config, model_dir, tmp_path / "again")
    one, other = adapter(first.parent), adapter(again.path.parent)
    assert one.keys() == other.keys() and all(torch.allclose(one[k], other[k], atol=1e-6) for k in one)
    assert any(weights.abs().max() > 1e-4 for name, weights in one.items() if "lora_B" in name), "it was trained"
    with pytest.raises(ConfigError, match=r"init_adapter.* does not match the settings: it has lora_rank: "):
        base.load_with_lora(config.model_copy(update={"lora_rank": 3}), settings)
    with pytest.raises(ReadError, match="with adapter"):
        base.load_with_lora(config.model_copy(update={"init_adapter": tmp_path}), settings)
    with pytest.raises(ConfigError, match="the trainer trl_grpo does not support init_adapter"):
        registered.parse({"trainer": "trl_grpo", "init_adapter": "runs/sft/adapter"})


def test_large_models_save_memory_by_default(model_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from trace_gym.models import ModelSettings

    settings = ModelSettings(name=str(model_dir))
    assert not base.load_with_lora(SMALL, settings)[0].is_gradient_checkpointing
    monkeypatch.setattr(base, "LARGE", 1000)
    assert base.load_with_lora(SMALL, settings)[0].is_gradient_checkpointing
    off = SMALL.model_copy(update={"gradient_checkpointing": False})
    assert not base.load_with_lora(off, settings)[0].is_gradient_checkpointing


def test_without_prefix_sharing_the_run_is_the_same_up_to_rounding(model_dir: Path, tmp_path: Path) -> None:
    one = run(SMALL, model_dir, tmp_path / "one").metrics
    two = run(SMALL.model_copy(update={"prefix_sharing": False}), model_dir, tmp_path / "two").metrics
    assert [m["reward"] for m in one] == [m["reward"] for m in two]
    for key, value in adapter(tmp_path / "one").items():
        torch.testing.assert_close(adapter(tmp_path / "two")[key], value, rtol=1e-2, atol=1e-4)


# --- trackers -----------------------------------------------------------------------------------------------------


def test_a_tracker_gets_the_metrics_of_every_iteration(
    model_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from accelerate.tracking import LOGGER_TYPE_TO_CLASS, GeneralTracker

    events: list[Any] = []

    class Listed(GeneralTracker):
        name = "listed"
        requires_logging_directory = False
        tracker = None

        def __init__(self, run_name: str, **_: Any) -> None:
            super().__init__()
            events.append(("project", run_name))

        def store_init_configuration(self, values: dict[str, Any]) -> None:
            events.append(("settings", values["groups"]))

        def log(self, values: dict[str, Any], step: int | None = None, **_: Any) -> None:
            events.append((step, values["reward"]))

        def finish(self) -> None:
            events.append("finished")

    monkeypatch.setitem(LOGGER_TYPE_TO_CLASS, "listed", Listed)
    config = SMALL.model_copy(update={"trackers": ("listed",)})
    metrics = run(config, model_dir, tmp_path, on_iteration=lambda m: m["iteration"] == 1).metrics
    logged = [("project", "trace_gym"), ("settings", 2), *((m["iteration"], m["reward"]) for m in metrics), "finished"]
    assert events == logged
    events.clear()
    assert [step for step, _ in run(config, model_dir, tmp_path).metrics and events[2:-1]] == [2, 3]


def test_a_tracker_that_cannot_be_used_is_an_error_before_the_run(model_dir: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="unknown tracker: found 'paper'"):
        run(SMALL.model_copy(update={"trackers": ("paper",)}), model_dir, tmp_path / "out")
    with pytest.raises(MissingExtra, match="pip install comet-ml"):
        run(SMALL.model_copy(update={"trackers": ("comet_ml",)}), model_dir, tmp_path / "out")
    assert not (tmp_path / "out").exists()
