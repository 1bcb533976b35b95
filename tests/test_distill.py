"""On-policy distillation: the divergence from the teacher, its gradient, several teachers, and runs."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
import torch
from test_torch_grpo import Vowels, adapter, lines, same_tensors
from test_update import lively, ragged_groups
from tiny_model import save_tiny

from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, ReadError
from trace_gym.lab import BASE
from trace_gym.models import ModelSettings, load_policy
from trace_gym.trainers import base, checkpoint, distill, logps, registered
from trace_gym.trainers.batch import batches
from trace_gym.trainers.config import DistillConfig, GRPOConfig
from trace_gym.trainers.loop import Trained

SMALL = DistillConfig(
    groups=4, samples=2, iterations=4, minibatches=1, max_turn_tokens=8, max_tokens=400, lr=2e-2, lora_rank=2
)


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("models") / "model")


@pytest.fixture(scope="module")
def teachers(model_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Folders of two random adapters, which change the output of the model."""
    folder, made = tmp_path_factory.mktemp("teachers"), []
    for seed in (1, 2):
        model, _ = base.load_with_lora(GRPOConfig(lora_rank=3), ModelSettings(name=str(model_dir)))
        generator = torch.Generator().manual_seed(seed)
        for name, weight in model.named_parameters():
            if "lora_B" in name:
                weight.data = 0.3 * torch.randn(weight.shape, generator=generator)
        checkpoint.save_adapter(model, folder / str(seed))
        made.append(folder / str(seed))
    return made


class Numbers(Vowels):
    """Another environment, with another first message."""

    id = "numbers"

    def opening(self) -> str:
        return "Count to three."


def open_world(scenario: Any) -> Episode:
    return Episode(Vowels if scenario.env == "vowels" else Numbers, scenario)


def run(config: DistillConfig, model_dir: Path, out: Path, env: Any = "vowels", **options: Any) -> Trained:
    return distill.train(
        config, env=env, model=model_dir, out_dir=out, open_episode=open_world, progress=False, **options
    )


@pytest.mark.parametrize("sharing", [True, False])
@pytest.mark.parametrize("elements", [2**26, 2000])
def test_the_divergence_and_its_gradient_are_those_of_whole_distributions(
    sharing: bool, elements: int, model_dir: Path, teachers: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logps, "CHUNK_ELEMENTS", elements)
    model, _ = lively(SMALL, model_dir)  # type: ignore[arg-type]
    names = distill.load_teachers(model, {"vowels": teachers[0]})
    weights = [p for p in model.parameters() if p.requires_grad]
    samples = ragged_groups()

    def teacher() -> AbstractContextManager[None]:
        return distill.acting(model, names["vowels"])

    want = torch.zeros(())
    for sample in samples:
        ids, at = torch.tensor([sample.ids]), torch.tensor(sample.mask[1:])
        with teacher():
            aim = (model(input_ids=ids).logits[0, :-1] / 0.7).log_softmax(-1)
        own = (model(input_ids=ids).logits[0, :-1] / 0.7).log_softmax(-1)
        want = want + (own.exp() * (own - aim)).sum(-1)[at].sum()
    slope = torch.cat([g.flatten() for g in torch.autograd.grad(want, weights)])
    got, slopes = 0.0, torch.zeros_like(slope)
    for batch in batches(samples, SMALL.model_copy(update={"prefix_sharing": sharing}), model):
        kl = logps.reverse_kl(model, batch, 0.7, teacher)[batch.mask_BT].sum()
        slopes += torch.cat([g.flatten() for g in torch.autograd.grad(kl, weights)])
        got += float(kl.detach())
    assert got == pytest.approx(want.item(), rel=1e-4)
    assert float((slopes - slope).norm() / slope.norm()) < 1e-4


def test_distillation_brings_the_student_to_its_teacher(model_dir: Path, teachers: list[Path], tmp_path: Path) -> None:
    config = SMALL.model_copy(update={"teachers": teachers[0], "iterations": 25, "lora_rank": 8})
    trained = run(config, model_dir, tmp_path)
    losses = [float(m["loss"] or 0) for m in trained.metrics]
    assert sum(losses[-3:]) / 3 < 0.5 * losses[0]
    assert trained.rollouts == 25 * 8 and trained.ended == "iterations"
    assert sorted(f.name for f in (tmp_path / "adapter").iterdir()) == [
        "adapter_config.json",
        "adapter_model.safetensors",
    ]
    load_policy(ModelSettings(name=str(model_dir)), tmp_path / "adapter")


def test_each_environment_has_its_teacher(
    model_dir: Path, teachers: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: set[tuple[str, str]] = set()
    acting, compute = distill.acting, distill.reverse_kl
    current: list[str] = []

    def noted_acting(model: Any, name: str) -> Any:
        current[:] = [name]
        return acting(model, name)

    def noted(model: Any, batch: Any, *rest: Any) -> Any:
        out = compute(model, batch, *rest)
        texts = [tokenizer.decode(row) for row in batch.ids_RL]
        seen.update((current[0], "numbers" if "Count to" in text else "vowels") for text in texts)
        return out

    tokenizer = load_policy(ModelSettings(name=str(model_dir))).chat.tokenizer  # type: ignore[union-attr]
    monkeypatch.setattr(distill, "acting", noted_acting)
    monkeypatch.setattr(distill, "reverse_kl", noted)
    folders = {"numbers": teachers[1], "vowels": teachers[0]}
    config = SMALL.model_copy(update={"teachers": folders, "iterations": 2, "groups": 8})
    run(config, model_dir, tmp_path, env=[("vowels", 1.0), ("numbers", 1.0)])
    assert seen == {("teacher_0", "numbers"), ("teacher_1", "vowels")}


def test_an_interrupted_run_continues_bit_for_bit(model_dir: Path, teachers: list[Path], tmp_path: Path) -> None:
    config = SMALL.model_copy(update={"teachers": teachers[0]})
    run(config, model_dir, tmp_path / "whole")
    first = run(config, model_dir, tmp_path / "parts", on_iteration=lambda m: m["iteration"] == 1)
    assert first.ended == "stopped"
    run(config, model_dir, tmp_path / "parts")
    assert lines(tmp_path / "parts") == lines(tmp_path / "whole")
    assert same_tensors(adapter(tmp_path / "parts"), adapter(tmp_path / "whole"))


def test_missing_and_unfit_teachers_are_named(model_dir: Path, teachers: list[Path], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="found teachers for none, expected one teacher for each of vowels"):
        run(SMALL, model_dir, tmp_path / "run")
    both = SMALL.model_copy(update={"teachers": {"vowels": teachers[0], "numbers": teachers[1]}})
    with pytest.raises(ConfigError, match="found teachers for numbers, vowels"):
        run(both, model_dir, tmp_path / "run")
    with pytest.raises(ReadError, match="not an adapter folder"):
        run(SMALL.model_copy(update={"teachers": tmp_path / "nowhere"}), model_dir, tmp_path / "run")
    assert not (tmp_path / "run").exists()
    with pytest.raises(ReadError, match="does not fit the model"):
        run(SMALL.model_copy(update={"teachers": teachers[0]}), BASE, tmp_path / "run")


def test_settings_from_a_file_select_the_trainer() -> None:
    config = registered.parse({"trainer": "distill", "teachers": {"vowels": "runs/a/adapter"}})
    assert isinstance(config, DistillConfig)
    assert config.teachers == {"vowels": Path("runs/a/adapter")}
    assert DistillConfig.parse({"teachers": "runs/a/adapter"}).teachers == Path("runs/a/adapter")
    with pytest.raises(ConfigError, match="kl_coef"):
        DistillConfig.parse({"kl_coef": 0.1})
