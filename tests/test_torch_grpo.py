"""The GRPO trainer: its runs against themselves, and that it learns. For the arithmetic, see test_update."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, Self

import pytest
import torch
from safetensors.torch import load_file
from tiny_model import save_tiny

from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, EnvBug, NoSignal, ReadError
from trace_gym.lab import BASE
from trace_gym.models import ModelSettings, load_policy
from trace_gym.score import SPARSE_WEIGHTS
from trace_gym.trainers import checkpoint
from trace_gym.trainers.config import GRPOConfig
from trace_gym.trainers.draws import draw
from trace_gym.trainers.loop import Trained
from trace_gym.trainers.sampling import assert_same_start
from trace_gym.trainers.torch_grpo import train
from trace_gym.world import Check, World

LETTERS = "ae"


@dataclass
class Vowels(World):
    """Say a or e. One turn, one goal; a random model finds one in some of its attempts."""

    id = "vowels"
    capability = "vowels"
    levels = range(3)
    max_turns = 1

    wanted: str = LETTERS

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        return cls()

    def opening(self) -> str:
        return "Say one."

    def reply(self, text: str) -> str | None:
        return None

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield Check.goal("one was said", any(set(self.wanted) & set(text) for text in said))


class Impossible(Vowels):
    """Nothing that is said is enough."""

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield Check.goal("never", False)


class Given(Vowels):
    """Whatever is done is enough."""

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield Check.goal("the episode took place", self is not start)


@dataclass
class Drifting(Vowels):
    """An environment with a bug: its state depends on how often it was built."""

    built = 0
    number: int = 0

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        Drifting.built += 1
        return cls(number=Drifting.built)


SMALL = GRPOConfig(
    groups=2,
    samples=4,
    iterations=4,
    max_turn_tokens=2,
    max_tokens=400,
    lr=1e-2,
    lora_rank=2,
    checkpoint_every=2,
    reward=SPARSE_WEIGHTS,
)


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("tiny"))


def run(config: GRPOConfig, model_dir: Path, out: Path, world: type[World] = Vowels, **options: Any) -> Trained:
    return train(
        config,
        env="vowels",
        model=model_dir,
        out_dir=out,
        open_episode=lambda scenario: Episode(world, scenario),
        progress=False,
        **options,
    )


def without_time(metrics: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{k: v for k, v in line.items() if k not in ("seconds", "rollout_seconds")} for line in metrics]


def lines(out: Path) -> list[dict[str, Any]]:
    return without_time([json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()])


def adapter(out: Path) -> dict[str, torch.Tensor]:
    return load_file(out / "adapter" / "adapter_model.safetensors")


def same_tensors(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[k], other[k]) for k in one)


# --- scenarios and groups ----------------------------------------------------------------------------------------


def test_scenarios_depend_on_seed_and_iteration_alone() -> None:
    config = GRPOConfig(groups=40)
    mixture, levels = [("one", 3.0), ("two", 1.0)], {"one": {0: 1.0, 2: 3.0}, "two": {1: 1.0}}
    drawn = draw(config, mixture, levels, 7)
    assert drawn == draw(config, mixture, levels, 7)
    assert drawn != draw(config, mixture, levels, 8)
    assert drawn != draw(config.model_copy(update={"seed": 1}), mixture, levels, 7)
    assert len(drawn) == 40
    assert {(s.env, s.level) for s in drawn} == {("one", 0), ("one", 2), ("two", 1)}
    assert sum(s.env == "one" for s in drawn) > sum(s.env == "two" for s in drawn)
    assert sum(s.level == 2 for s in drawn) > sum(s.level == 0 for s in drawn)


def test_a_group_that_does_not_start_from_one_state_is_refused(model_dir: Path, tmp_path: Path) -> None:
    with pytest.raises(EnvBug, match="start from different states"):
        run(SMALL, model_dir, tmp_path, Drifting)


def test_groups_are_compared_within_themselves() -> None:
    def rollout(seed: int, start: str) -> Any:
        return SimpleNamespace(scenario=f"x/0/{seed}", start_hash=start)

    assert_same_start([rollout(1, "a"), rollout(1, "a"), rollout(2, "b"), rollout(2, "b")], 2)
    with pytest.raises(EnvBug):
        assert_same_start([rollout(1, "a"), rollout(2, "a")], 2)
    with pytest.raises(EnvBug):
        assert_same_start([rollout(1, "a"), rollout(1, "b")], 2)


@pytest.mark.parametrize("env", [[], [("vowels", 0.0)], [("vowels", float("nan"))]])
def test_a_mixture_needs_weights(env: Any, model_dir: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="weights above 0"):
        train(SMALL, env=env, model=model_dir, out_dir=tmp_path)


# --- runs ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole(model_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An uninterrupted run of four iterations."""
    out = tmp_path_factory.mktemp("whole")
    run(SMALL, model_dir, out)
    return out


def test_a_run_leaves_metrics_and_an_adapter_that_peft_loads(whole: Path, model_dir: Path) -> None:
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    history = lines(whole)
    assert [m["iteration"] for m in history] == [0, 1, 2, 3]
    assert [m["rollouts"] for m in history] == [8, 16, 24, 32]
    assert sum(m["steps"] for m in history) > 0
    for m in history:
        groups = m["informative"] * 2 + m["all_zero"] + m["all_best"]
        assert groups == 2
        assert 0 < m["tokens"] <= 8 * 2
        assert m["trained_tokens"] <= m["tokens"]
        assert m["kl_base"] is None
    loaded = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(model_dir), str(whole / "adapter"))
    assert loaded.peft_config["default"].to_dict()["r"] == 2
    assert any(bool(t.any()) for name, t in adapter(whole).items() if "lora_B" in name)
    assert sorted(p.name for p in whole.iterdir()) == ["adapter", "checkpoint", "metrics.jsonl"]


def test_adapter_files_name_no_place_of_the_machine(whole: Path, model_dir: Path) -> None:
    for file in whole.rglob("*"):
        assert not file.is_file() or str(model_dir.parent).encode() not in file.read_bytes(), file
    named = json.loads((whole / "adapter" / "adapter_config.json").read_text())["base_model_name_or_path"]
    assert named == model_dir.name


def test_adapter_of_another_base_is_named(whole: Path) -> None:
    with pytest.raises(ReadError, match="does not fit the model"):
        load_policy(ModelSettings(), whole / "adapter")


def test_the_base_of_an_adapter_has_a_portable_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    hub = tmp_path / "cache" / "models--Qwen--Qwen3-4B--it" / "snapshots" / "0a1b"
    below = tmp_path / "models" / "mine"
    for folder in (hub, below):
        folder.mkdir(parents=True)
    names = {
        BASE: "lab",
        "Qwen/Qwen3-4B": "Qwen/Qwen3-4B",
        hub: "Qwen/Qwen3-4B--it",
        "models/mine": "models/mine",
        below: "models/mine",
        tmp_path.parent: tmp_path.parent.name,
    }
    for model, name in names.items():
        assert checkpoint.portable_name(model) == name
        assert checkpoint.portable_name(str(model)) == name


def test_the_same_seed_gives_the_same_run_and_another_does_not(whole: Path, model_dir: Path, tmp_path: Path) -> None:
    run(SMALL, model_dir, tmp_path / "again")
    assert lines(tmp_path / "again") == lines(whole)
    assert same_tensors(adapter(tmp_path / "again"), adapter(whole))
    run(SMALL.model_copy(update={"seed": 1}), model_dir, tmp_path / "other")
    assert not same_tensors(adapter(tmp_path / "other"), adapter(whole))


@pytest.mark.parametrize("after", [1, 2, 3])
def test_a_stopped_run_goes_on_bit_for_bit(after: int, whole: Path, model_dir: Path, tmp_path: Path) -> None:
    first = run(SMALL, model_dir, tmp_path, on_iteration=lambda m: m["iteration"] == after - 1)
    assert (first.ended, len(first.metrics)) == ("stopped", after)
    second = run(SMALL, model_dir, tmp_path)
    assert (second.ended, second.rollouts) == ("iterations", 32)
    assert lines(tmp_path) == lines(whole)
    assert same_tensors(adapter(tmp_path), adapter(whole))


@pytest.fixture
def noisy(model_dir: Path, tmp_path: Path) -> Path:
    """The model with dropout."""
    folder = shutil.copytree(model_dir, tmp_path / "noisy")
    settings = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(settings | {"attention_dropout": 0.3}))
    return folder


def test_dropout_of_the_base_is_off(noisy: Path, tmp_path: Path) -> None:
    config = SMALL.model_copy(update={"iterations": 2, "minibatches": 1})
    ratios = [m["ratio_max"] for m in run(config, noisy, tmp_path / "out").metrics if m["steps"]]
    assert ratios == pytest.approx([1.0] * len(ratios), abs=1e-4)
    assert ratios


def test_dropout_that_checkpointing_turns_on_goes_on_bit_for_bit(noisy: Path, tmp_path: Path) -> None:
    # Gradient checkpointing needs train mode, where a base with dropout draws from torch's global generator.
    config = SMALL.model_copy(update={"gradient_checkpointing": True, "iterations": 2, "minibatches": 1})
    run(config, noisy, tmp_path / "one")
    run(config, noisy, tmp_path / "two", on_iteration=lambda m: m["iteration"] == 0)
    run(config, noisy, tmp_path / "two")
    assert lines(tmp_path / "two") == lines(tmp_path / "one")
    assert same_tensors(adapter(tmp_path / "two"), adapter(tmp_path / "one"))
    # One step an iteration: without dropout the ratio is 1.
    assert max(m["ratio_max"] or 0 for m in lines(tmp_path / "one")) > 1.01


def test_a_killed_run_goes_on_from_its_checkpoint(whole: Path, model_dir: Path, tmp_path: Path) -> None:
    def kill(metrics: Any) -> None:
        if metrics["iteration"] == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(SMALL, model_dir, tmp_path, on_iteration=kill)
    assert len(lines(tmp_path)) == 3  # one more than the checkpoint knows
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write('{"iteration": 3, "rew')
    seen: list[Any] = []
    run(SMALL, model_dir, tmp_path, on_iteration=lambda m: seen.append(m["iteration"]))
    assert seen == [2, 3]
    assert lines(tmp_path) == lines(whole)
    assert same_tensors(adapter(tmp_path), adapter(whole))


def test_a_slow_run_writes_a_checkpoint_after_every_iteration(
    model_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, seen = SMALL.model_copy(update={"checkpoint_every": 100}), list[Any]()

    def interrupt(metrics: Any) -> None:
        seen.append(metrics["iteration"])
        if metrics["iteration"] == 1:
            raise KeyboardInterrupt

    for age, repeated in ((60.0, [0, 1]), (0.0, [1])):
        monkeypatch.setattr(checkpoint, "MAX_AGE", age)
        for _ in range(2):
            seen.clear()
            with pytest.raises(KeyboardInterrupt):
                run(config, model_dir, tmp_path, on_iteration=interrupt)
        assert seen == repeated


def test_a_finished_run_is_not_run_again_but_may_be_made_longer(whole: Path, model_dir: Path, tmp_path: Path) -> None:
    seen: list[Any] = []
    short = SMALL.model_copy(update={"iterations": 2})
    run(short, model_dir, tmp_path)
    run(short, model_dir, tmp_path, on_iteration=seen.append)
    assert seen == []
    run(SMALL, model_dir, tmp_path)
    assert lines(tmp_path) == lines(whole)
    assert same_tensors(adapter(tmp_path), adapter(whole))


def test_a_run_is_not_continued_with_other_settings(model_dir: Path, tmp_path: Path) -> None:
    short = SMALL.model_copy(update={"iterations": 1})
    run(short, model_dir, tmp_path / "out")
    with pytest.raises(ConfigError, match=r"lr \(was 0.01, now 0.5\).*resume=False"):
        run(short.model_copy(update={"lr": 0.5}), model_dir, tmp_path / "out")
    with pytest.raises(ConfigError, match="base model"):
        run(short, save_tiny(tmp_path / "other", seed=5), tmp_path / "out")
    with pytest.raises(ConfigError, match="contains a run of the trainer torch_grpo, expected a run of other"):
        run(short.model_copy(update={"trainer": "other"}), model_dir, tmp_path / "out")
    again = run(short.model_copy(update={"lr": 0.5}), model_dir, tmp_path / "out", resume=False)
    assert len(again.metrics) == len(lines(tmp_path / "out")) == 1


def test_a_broken_checkpoint_is_named(model_dir: Path, tmp_path: Path) -> None:
    short = SMALL.model_copy(update={"iterations": 1})
    run(short, model_dir, tmp_path)
    for name in ("optimizer.safetensors", "state.json"):
        (tmp_path / "checkpoint" / name).write_text("{")
        with pytest.raises(ReadError, match="Delete it, or train with resume=False"):
            run(short, model_dir, tmp_path)


def test_a_crash_between_the_two_renames_is_survived(whole: Path, model_dir: Path, tmp_path: Path) -> None:
    run(SMALL, model_dir, tmp_path, on_iteration=lambda m: m["iteration"] == 1)
    (tmp_path / "checkpoint").rename(tmp_path / ".checkpoint.old")  # as on a system without an exchange of folders
    seen: list[Any] = []
    run(SMALL, model_dir, tmp_path, on_iteration=lambda m: seen.append(m["iteration"]))
    assert seen == [2, 3]
    assert lines(tmp_path) == lines(whole)


def test_nothing_global_is_left_changed(model_dir: Path, tmp_path: Path) -> None:
    torch.manual_seed(123)
    state, threads, grads = torch.get_rng_state(), torch.get_num_threads(), torch.is_grad_enabled()
    run(SMALL.model_copy(update={"iterations": 1}), model_dir, tmp_path)
    assert torch.equal(torch.get_rng_state(), state)
    assert (torch.get_num_threads(), torch.is_grad_enabled()) == (threads, grads)


def test_a_model_without_the_layers_is_refused(model_dir: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="lora_targets does not fit"):
        run(SMALL.model_copy(update={"lora_targets": ("c_attn",)}), model_dir, tmp_path)
    with pytest.raises(ReadError, match="cannot load a model"):
        run(SMALL, tmp_path / "nowhere", tmp_path)


# --- when to stop ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("world", "message"),
    [(Impossible, "100% all zero.*easier level"), (Given, "100% all perfect.*harder level")],
)
def test_no_signal_message_contains_the_cause(
    world: type[World], message: str, model_dir: Path, tmp_path: Path
) -> None:
    config = SMALL.model_copy(update={"max_idle_iterations": 3, "iterations": 9})
    with pytest.raises(NoSignal, match=message):
        run(config, model_dir, tmp_path, world)
    assert len(lines(tmp_path)) == 3


def entry(**values: Any) -> dict[str, Any]:
    return {"success": 1.0, "informative": 0.0, "all_zero": 0, "all_best": 2, "overflow": 0.0, "steps": 0, **values}


def test_perfect_after_training_is_solved_and_no_failure() -> None:
    from trace_gym.trainers import stopping

    config = SMALL.model_copy(update={"max_idle_iterations": 2, "iterations": 50})
    learned = [entry(informative=1.0, all_best=0, steps=2), entry(), entry()]
    assert stopping.ended(config, learned) == "solved"
    assert stopping.ended(config, learned[:2]) is None
    never = [entry(), entry()]
    assert stopping.ended(config, never) is None
    assert "solved already" in stopping.idle(config, never)
    assert "increase samples or temperature" in stopping.idle(config, [entry(all_best=0)] * 2)
    assert "exceeded max_tokens=400" in stopping.idle(config, [entry(all_best=0, all_zero=2, overflow=0.9)] * 2)


def test_a_run_stops_once_the_moving_success_reaches_the_target() -> None:
    from trace_gym.trainers import stopping

    config = SMALL.model_copy(update={"target_success": 0.8, "target_window": 2, "iterations": 50})
    history = [entry(success=s, informative=1.0, all_best=0) for s in (0.9, 0.5, 0.7, 0.9)]
    assert [stopping.ended(config, history[:n]) for n in (1, 2, 3, 4)] == [None, None, None, "target"]


# --- that it learns --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1])
def test_learning_raises_the_success_of_a_random_model(seed: int, model_dir: Path, tmp_path: Path) -> None:
    """LEARNING TEST: a random model learns what to say. Seeds are fixed; the rise is five standard errors wide."""
    changed = {"seed": seed, "groups": 4, "samples": 8, "iterations": 20, "lr": 3e-2, "lora_rank": 4}
    success = [float(m["success"] or 0) for m in run(SMALL.model_copy(update=changed), model_dir, tmp_path).metrics]
    before, after = sum(success[:4]) / 4, sum(success[-4:]) / 4
    assert before < 0.5
    assert after > before + 0.25, success
