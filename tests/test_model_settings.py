"""Settings of the model: one set of settings that every stage uses, with an error for settings without an effect."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("peft", reason="models need the lab extra")

import torch
from tiny_model import save_tiny, tiny_model
from toy_world import open_toy, toys
from typer.testing import CliRunner

from trace_gym.cli.entry import app
from trace_gym.errors import ConfigError
from trace_gym.models import ModelSettings, load_policy, load_weights
from trace_gym.models.loading import MAX_ROWS, device_name, dtype_name, rows_in_memory
from trace_gym.policies.hf import HFPolicy
from trace_gym.rollouts import rollout
from trace_gym.settings import RunConfig


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("models") / "model")


def hf(settings: ModelSettings) -> HFPolicy:
    policy = load_policy(settings)
    assert isinstance(policy, HFPolicy)
    return policy


def test_name_file_and_mapping_are_the_same_settings(folder: Path, tmp_path: Path) -> None:
    written = tmp_path / "model.yaml"
    written.write_text(f"{{name: {folder}}}")
    assert len({str(ModelSettings.parse(form)) for form in (str(folder), {"name": str(folder)}, str(written))}) == 1
    assert RunConfig.parse({"model": str(written)}, "run.yaml").model.name == str(folder)
    assert RunConfig.parse({"model": {"name": str(folder)}}, "run.yaml").model == ModelSettings.parse(str(folder))


def test_limits_depend_on_the_model(folder: Path) -> None:
    assert ModelSettings().limits == (1024, 64)
    assert ModelSettings(name=str(folder)).limits == (16_384, 1024)
    assert ModelSettings(name=str(folder), max_tokens=400).limits == (400, 100)
    policy = hf(ModelSettings(name=str(folder)))
    assert (policy.max_tokens, policy.max_turn_tokens) == (4096, 1024), "the tiny model has 4,096 positions"


def test_a_real_system_prompt_fits_by_default(folder: Path) -> None:
    """The limits of the toy model do not apply to other models, whose tokenizers need many more tokens."""
    policy = hf(ModelSettings(name=str(folder), max_turn_tokens=4))
    assert all(record.messages for record in rollout(policy, toys(2), open_episode=open_toy))
    short = hf(ModelSettings(name=str(folder), max_tokens=100, max_turn_tokens=4))
    with pytest.raises(
        ConfigError, match="the initial observation of .* is too long: found .* expected fewer than 100"
    ):
        rollout(short, toys(2), open_episode=open_toy)


def test_template_arguments_reach_the_prompt(folder: Path) -> None:
    model, tokenizer = load_weights(ModelSettings(name=str(folder)))
    tokenizer.chat_template = "{{ mode }}" + tokenizer.chat_template
    policy = HFPolicy(model, tokenizer, template={"mode": "silent"})
    opening = policy.chat.opening([{"role": "user", "content": "Hi"}], [])
    assert tokenizer.decode(opening).startswith("silent")


def test_data_type_and_device(folder: Path) -> None:
    weights = {
        dtype: next(load_weights(ModelSettings(name=str(folder), dtype=dtype))[0].parameters()).dtype  # type: ignore[arg-type]
        for dtype in ("auto", "bfloat16")
    }
    on_cpu = device_name(ModelSettings(name=str(folder), device="auto")) == "cpu"
    assert weights == {"auto": torch.float32 if on_cpu else torch.bfloat16, "bfloat16": torch.bfloat16}
    assert dtype_name(ModelSettings(), torch.device("cuda")) == "bfloat16"
    assert device_name(ModelSettings()) == "cpu", "the toy model is faster on the CPU"
    assert device_name(ModelSettings(device="cuda:3")) == "cuda:3"


def test_memory_limits_the_conversations_that_run_at_once(folder: Path) -> None:
    # 2 layers x 2 heads x 8 numbers x 4 bytes for keys, and the same for values: 256 bytes per token.
    config = tiny_model(400).config
    assert rows_in_memory(config, 1024, 1 / 1024, 4) == 4
    assert rows_in_memory(config, 10**6, 1 / 1024, 4) == 1, "4,096 positions need one MiB"
    assert rows_in_memory(config, 10**6, 1e-9, 4) == 1 and rows_in_memory(config, 8, 1.0, 4) == MAX_ROWS
    assert hf(ModelSettings(name=str(folder), max_tokens=1024, cache_gib=1 / 1024)).max_rows == 4


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"name": "openai:m", "device": "cuda"}, "device has no effect, because name is the endpoint openai:m"),
        (
            {"name": "openai:m", "endpoint": "openai:m"},
            "endpoint has no effect, because the setting name is already the endpoint openai:m: found",
        ),
        ({"name": "openai:m@localhost:8000"}, "contains a host without a scheme"),
        ({"endpoint": "http://localhost:8000"}, "is not a valid model URI"),
        ({"max_tokens": 64, "max_turn_tokens": 64}, "max_turn_tokens is too large"),
        ({"cache_gib": 0}, "cache_gib: Input should be greater than 0"),
        ({"top_p": 0}, "top_p: Input should be greater than 0"),
        ({"top_p": 1.01}, "top_p: Input should be less than or equal to 1"),
        ({"top_p": float("nan")}, "top_p: Input should be"),
        ({"top_k": -1}, "top_k: Input should be greater than or equal to 0"),
        ({"dtype": "int8"}, "dtype: Input should be 'auto', 'float32' or 'bfloat16'"),
        ({"budget": 3}, "budget: Extra inputs are not permitted"),
        ("nowhere.yaml", "nowhere.yaml"),
        ("", "name: String should have at least 1 character"),
    ],
)
def test_invalid_settings(settings: Any, fault: str) -> None:
    with pytest.raises(ConfigError, match=fault):
        ModelSettings.parse(settings)


def test_a_file_with_something_else_is_an_error(tmp_path: Path) -> None:
    for text in ("", "[1]", "lab", "{name: [}"):
        (tmp_path / "m.yaml").write_text(text)
        with pytest.raises(ConfigError, match="m.yaml"):
            ModelSettings.parse(str(tmp_path / "m.yaml"))


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        (
            {"train": {"device": "cuda"}},
            "device must be set for the model, not for the trainer. Use model: .name: ..., device: cuda.",
        ),
        ({"train": {"max_tokens": 2048}}, "train.max_tokens is too large: found 2048, expected at most 1024"),
        (
            {"model": {"top_p": 0.9}},
            "model, which all stages share: the trainer torch_grpo does not support top_p, because",
        ),
        (
            {"model": {"top_k": 20}, "train": {"trainer": "distill"}},
            "the trainer distill does not support top_k, because .*: found top_k: 20",
        ),
        ({"model": "openai:m@http://127.0.0.1:1/v1"}, "training requires the model weights"),
    ],
)
def test_invalid_settings_of_a_run(settings: dict[str, Any], fault: str) -> None:
    with pytest.raises(ConfigError, match=fault):
        RunConfig.parse(settings, "run.yaml")


def test_commands_accept_a_file(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "model.yaml").write_text(f"{{name: {folder}, max_tokens: 4000, max_turn_tokens: 4}}")
    given = ["rollout", "tau2_precondition", "--model", str(tmp_path / "model.yaml"), "-n", "1", "--level", "0"]
    result = CliRunner().invoke(app, [*given, "--out", str(tmp_path / "out.jsonl")])
    assert "found 6604 tokens, expected fewer than 4000" in str(result.exception), result.output
    asked = ["--env", "tau2_precondition", "--env", "tau2_multi_step", "--model", str(tmp_path / "model.yaml")]
    result = CliRunner().invoke(app, ["route", "Please cancel it.", *asked])
    assert result.exit_code == 0 and "%" in result.output, result.output
