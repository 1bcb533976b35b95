"""Each setting of the model either has an effect on a command or a trainer, or is an error before it starts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("peft", reason="models need the lab extra")

from tiny_model import save_tiny
from typer.testing import CliRunner

from trace_gym.cli.entry import app
from trace_gym.errors import ConfigError
from trace_gym.models import ModelSettings, load_policy, load_weights
from trace_gym.models.server_command import server_command, server_environment
from trace_gym.models.unused import ROLLOUTS, ROUTER, Use, check, used_by
from trace_gym.policies.hf import HFPolicy
from trace_gym.policies.openai import OpenAIPolicy
from trace_gym.settings import RunConfig
from trace_gym.trainers import registered
from trace_gym.trainers.config import TrainerConfig
from trace_gym.trainers.loop import Learner
from trace_gym.trainers.model_support import use_of
from trace_gym.trainers.skyrl_config import SkyRLConfig
from trace_gym.trainers.skyrl_project import options
from trace_gym.trainers.trl_config import TRLConfig
from trace_gym.trainers.trl_settings import grpo_arguments

SERVED = "openai:m@http://127.0.0.1:9/v1"
CHANGES: dict[str, Any] = {
    "name": "",  # another folder
    "endpoint": SERVED,
    "engine": "vllm",
    "server": {"arguments": ["--seed", "1"]},
    "device": "meta",
    "dtype": "bfloat16",
    "max_tokens": 3000,
    "max_turn_tokens": 5,
    "cache_gib": 1 / 1024,
    "template": {"mode": "silent"},
    "tool_calls": "json",
    "top_p": 0.9,
    "top_k": 20,
    "concurrency": 3,
    "price": "1/2",
}
"""A value of each setting that is not the default."""
NEEDS: dict[str, dict[str, Any]] = {
    "server": {"engine": "vllm"},
    "dtype": {"dtype": "float32"},
    "concurrency": {"engine": "vllm"},
    "price": {"endpoint": SERVED},
}
"""Settings of both compared models, because a setting requires them, or the default depends on the machine."""
WITHOUT_TURNS = {("router", "max_tokens"), ("router", "max_turn_tokens"), ("sft", "max_turn_tokens")}
"""Limits of the agent's turns, which a use without turns of the agent cannot exceed."""
TRAINERS = ("torch_grpo", "distill", "sft", "trl_grpo", "skyrl_grpo")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    made = tmp_path_factory.mktemp("models")
    return str(save_tiny(made / "one")), str(save_tiny(made / "two"))


def config_of(trainer: str) -> TrainerConfig:
    return registered.parse({"trainer": trainer, "lora_rank": 2})


def weights(model: Any) -> tuple[object, ...]:
    parameter = next(p for p in model.parameters() if not p.requires_grad or p.dim())
    return parameter.device, parameter.dtype, model.config.name_or_path


def server(settings: ModelSettings) -> tuple[object, ...]:
    command = tuple(server_command(settings, 1, lora_rank=8, adapters=1))
    return command, str(server_environment(settings.server)), settings.used_concurrency


def turns(policy: HFPolicy) -> tuple[object, ...]:
    return policy.max_turn_tokens, policy.max_rows, policy.truncation


def conversation(policy: HFPolicy) -> tuple[object, ...]:
    return weights(policy.model), policy.chat.template, policy.chat.style, policy.max_tokens


def rollouts(settings: ModelSettings, out: Path) -> object:
    if settings.starts_server:
        return server(settings)
    policy = load_policy(settings)
    if isinstance(policy, OpenAIPolicy):
        policy.client.close()
        return (
            policy.model,
            str(policy.client.base_url),
            policy.options,
            policy.conversation_tokens,
            policy.requests.price,
        )
    assert isinstance(policy, HFPolicy)
    return conversation(policy), turns(policy)


def route(settings: ModelSettings, out: Path) -> object:
    model, _ = load_weights(settings)
    return weights(model), settings.template


def sampling_trainer(settings: ModelSettings, out: Path) -> object:
    if settings.starts_server:
        return server(settings)
    policy = Learner.build(config_of("torch_grpo"), settings, out).policy
    return conversation(policy), turns(policy)


def fine_tuning(settings: ModelSettings, out: Path) -> object:
    return conversation(Learner.build(config_of("sft"), settings, out).policy)


def trl(settings: ModelSettings, out: Path) -> object:
    config = config_of("trl_grpo")
    assert isinstance(config, TRLConfig)
    rollout_function = settings.limits, settings.tool_calls
    return grpo_arguments(config, settings, out), weights(load_weights(settings)[0]), rollout_function


def skyrl(settings: ModelSettings, out: Path) -> object:
    config = config_of("skyrl_grpo")
    assert isinstance(config, SkyRLConfig)
    return options(config, settings, 12)


USES: dict[str, tuple[Use, Callable[[ModelSettings, Path], object]]] = {
    "rollouts": (ROLLOUTS, rollouts),
    "router": (ROUTER, route),
    "torch_grpo": (use_of(config_of("torch_grpo")), sampling_trainer),
    "distill": (use_of(config_of("distill")), sampling_trainer),
    "sft": (use_of(config_of("sft")), fine_tuning),
    "trl_grpo": (use_of(config_of("trl_grpo")), trl),
    "skyrl_grpo": (use_of(config_of("skyrl_grpo")), skyrl),
}
"""Uses of the model, each with a function that returns everything that depends on the settings."""


@pytest.mark.parametrize("key", ModelSettings.model_fields)
@pytest.mark.parametrize("name", USES)
def test_each_setting_has_an_effect_or_is_an_error(
    name: str, key: str, folders: tuple[str, str], tmp_path: Path
) -> None:
    use, effect = USES[name]
    plain = ModelSettings.parse({"name": folders[0], "max_tokens": 4000, **NEEDS.get(key, {})})
    given = {"max_tokens": 4000, "name": folders[0], **NEEDS.get(key, {}), key: CHANGES[key] or folders[1]}
    changed = ModelSettings.parse(given)
    assert getattr(changed, key) != getattr(plain, key)
    try:
        check(changed, use)
    except ConfigError as error:
        parts = str(error).split("; ")
        assert any(key in part.partition(" because ")[0] for part in parts), "the message is about this setting"
        return
    assert (effect(changed, tmp_path) != effect(plain, tmp_path)) == ((name, key) not in WITHOUT_TURNS)


def test_every_trainer_is_tested() -> None:
    assert set(TRAINERS) == set(registered._BUILT_IN) and USES.keys() >= set(TRAINERS)


@pytest.mark.parametrize(
    ("use", "given", "fault"),
    [
        ("rollouts", {"device": "cpu"}, f"device has no effect on the sampling of rollouts, because {SERVED} runs"),
        ("rollouts", {"dtype": "float32", "cache_gib": 2}, f"dtype has no effect .*; cache_gib .*{SERVED} manages"),
        ("rollouts", {"tool_calls": "json"}, "tool_calls has no effect .* renders the chat template"),
        ("torch_grpo", {}, "endpoint has no effect on the trainer torch_grpo, because the rollouts .*set engine: vllm"),
        (
            "sft",
            {"engine": "vllm"},
            "endpoint have no effect on the trainer sft, because no rollouts are sampled: found",
        ),
        ("trl_grpo", {}, "endpoint has no effect on the trainer trl_grpo, because TRL samples the rollouts"),
        (
            "trl_grpo",
            {"engine": "vllm"},
            "does not support engine, .*use the settings vllm and vllm_url of the trainer",
        ),
        (
            "skyrl_grpo",
            {"device": "cuda"},
            "device and endpoint have no effect on the trainer skyrl_grpo, because SkyRL",
        ),
        ("router", {"top_p": 0.5}, "endpoint and top_p have no effect on the router, because no rollouts are sampled"),
    ],
)
def test_settings_of_a_model_with_an_endpoint(use: str, given: dict[str, Any], fault: str) -> None:
    with pytest.raises(ConfigError, match=fault):
        check(ModelSettings.parse({"endpoint": SERVED, **given}), USES[use][0])


@pytest.mark.parametrize("key", ["device", "dtype", "cache_gib", "engine", "server", "tool_calls"])
def test_a_model_whose_weights_are_not_available_has_no_settings_of_weights(key: str) -> None:
    with pytest.raises(
        ConfigError, match=f"{key} ha.* no effect, because name is the endpoint {SERVED}: found .*Remove"
    ):
        ModelSettings.parse({"name": SERVED, key: CHANGES[key]})


@pytest.mark.parametrize("use", [*TRAINERS, "router"])
def test_training_and_routing_require_the_weights(use: str) -> None:
    with pytest.raises(ConfigError, match="openai:m is an endpoint, so its weights are not available"):
        check(ModelSettings(name="openai:m"), USES[use][0])


def test_openai_renders_its_own_template(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    model = ModelSettings(name="openai:m", template={"enable_thinking": False})
    with pytest.raises(ConfigError, match="does not support template, because the endpoint of OpenAI"):
        check(model, ROLLOUTS)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    check(model, ROLLOUTS)


def test_values_of_the_server_are_not_shown() -> None:
    with pytest.raises(ConfigError) as error:
        ModelSettings.parse({"server": {"environment": {"HF_TOKEN": "secret"}}})
    assert "found server: environment." in str(error.value) and "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("trainer", "given", "fault"),
    [
        ("sft", {"endpoint": SERVED, "cache_gib": 2}, "cache_gib has no effect .* no effect on the router, because"),
        (
            "torch_grpo",
            {"engine": "vllm", "top_k": 3},
            "which all stages share: the trainer torch_grpo does not support",
        ),
        (
            "trl_grpo",
            {"device": "cuda:1"},
            "trl_grpo does not support device, .*: found device: cuda:1. .*CUDA_VISIBLE",
        ),
        ("skyrl_grpo", {"tool_calls": "json"}, "skyrl_grpo does not support tool_calls, .*Hermes format: found"),
        ("skyrl_grpo", {"engine": "vllm"}, "skyrl_grpo does not support engine, because SkyRL starts its own"),
    ],
)
def test_settings_of_a_run_are_checked_before_it_starts(trainer: str, given: dict[str, Any], fault: str) -> None:
    with pytest.raises(ConfigError, match=fault):
        RunConfig.parse({"model": {"name": "lab", **given}, "train": {"trainer": trainer}}, "run.yaml")


@pytest.mark.parametrize(
    ("trainer", "given", "left"),
    [
        ("torch_grpo", {"endpoint": SERVED, "device": "cpu", "cache_gib": 2}, {"device": "cpu", "cache_gib": 2}),
        (
            "sft",
            {"engine": "vllm", "server": CHANGES["server"], "top_p": 0.9, "dtype": "float32"},
            {"dtype": "float32"},
        ),
        ("skyrl_grpo", {"endpoint": SERVED, "device": "cpu", "max_tokens": 900}, {"max_tokens": 900}),
    ],
)
def test_stages_of_a_run_share_settings_that_only_some_use(
    trainer: str, given: dict[str, Any], left: dict[str, Any]
) -> None:
    run = RunConfig.parse({"model": {"name": "lab", **given}, "train": {"trainer": trainer}}, "run.yaml")
    found = used_by(run.model, use_of(run.train))
    assert found == ModelSettings(**left)
    check(found, use_of(run.train))


@pytest.mark.parametrize(
    ("command", "model", "fault"),
    [
        (
            ["rollout", "tau2_precondition"],
            {"endpoint": SERVED, "dtype": "float32"},
            "dtype has no effect on the sampling",
        ),
        (["route", "Hi", "--env", "tau2_precondition"], {"engine": "vllm"}, "engine has no effect on the router"),
        (["train", "tau2_precondition"], {"endpoint": SERVED}, "endpoint has no effect on the trainer torch_grpo"),
        (
            ["train", "tau2_precondition", "--trainer", "sft"],
            {"cache_gib": 2},
            "cache_gib has no effect on the trainer sft",
        ),
    ],
)
def test_commands_reject_settings_without_effect(
    command: list[str], model: dict[str, Any], fault: str, tmp_path: Path
) -> None:
    lines = "".join(f"{key}: {value}\n" for key, value in {"name": "lab", **model}.items())
    (tmp_path / "model.yaml").write_text(lines)
    out = [] if command[0] == "route" else ["--out", str(tmp_path / "out")]
    result = CliRunner().invoke(app, [*command, "--model", str(tmp_path / "model.yaml"), *out])
    assert result.exit_code == 1 and fault in str(result.exception), result.output
    assert not (tmp_path / "out").exists()
