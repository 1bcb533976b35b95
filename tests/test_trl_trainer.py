"""The trainer trl_grpo: settings, scenarios, outputs, resumption, and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl", reason="pip install 'trace-gym[trl]'")
pytest.importorskip("datasets", reason="pip install 'trace-gym[trl]'")

from safetensors.torch import load_file
from typer.testing import CliRunner

from trace_gym import registry
from trace_gym.adapters.trl import TrlEnvironment
from trace_gym.cli.entry import app
from trace_gym.errors import ConfigError, EnvBug, MissingExtra, NoSignal, ReadError
from trace_gym.models import ModelSettings, load_policy
from trace_gym.rollouts import rollout
from trace_gym.settings import RunConfig
from trace_gym.trainers import registered, torch_grpo, trl_build
from trace_gym.trainers.config import GRPOConfig
from trace_gym.trainers.model_support import check_model
from trace_gym.trainers.trl_config import TRLConfig
from trace_gym.trainers.trl_grpo import train
from trace_gym.trainers.trl_recorder import step_statistics
from trace_gym.trainers.trl_settings import SET_SOMETIMES, grpo_arguments, rows_per_forward, with_options
from trace_gym.types import Scenario

SIZES = {"groups": 2, "samples": 4, "iterations": 2, "max_tokens": 640, "max_turn_tokens": 48}
SMALL = TRLConfig.parse({**SIZES, "levels": {0: 1}, "lr": 2e-3, "seed": 1})
WHERE: dict[str, Any] = {"env": "tau2_precondition", "progress": False}


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output folder of a run of two iterations without an interruption."""
    made = tmp_path_factory.mktemp("runs") / "whole"
    trained = train(SMALL, out_dir=made, **WHERE)
    assert trained.ended == "iterations" and trained.rollouts == 16 and trained.rank == SMALL.lora_rank
    assert trained.path == made / "adapter" and len(trained.metrics) == 2
    return made


def tensors(run: Path) -> dict[str, Any]:
    return load_file(run / "adapter" / "adapter_model.safetensors")


def test_a_run_writes_metrics_and_an_adapter(out: Path) -> None:
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    assert [line["iteration"] for line in lines] == [0, 1] and [line["rollouts"] for line in lines] == [8, 16]
    for line in lines:
        assert line["steps"] == 2 and line["grad_norm"] >= 0 and line["tokens"] >= line["trained_tokens"]
        assert line["kl_rollout"] is line["ratio_max"] is line["kl_base"] is None
        assert 0 <= line["success"] <= 1 and line["turns"] > 1 and line["entropy"] > 0
    assert sorted(f.name for f in (out / "adapter").iterdir()) == ["adapter_config.json", "adapter_model.safetensors"]
    assert any(bool(t.abs().sum() > 0) for name, t in tensors(out).items() if "lora_B" in name)
    (only,) = (out / "checkpoint").iterdir()
    assert (only / "state.json").exists() and only.name == "checkpoint-4"


def test_metrics_have_the_keys_of_torch_grpo(out: Path, tmp_path: Path) -> None:
    config = GRPOConfig.parse({**SIZES, "iterations": 1, "levels": {0: 1}})
    (theirs,) = torch_grpo.train(config, out_dir=tmp_path / "run", **WHERE).metrics
    assert json.loads((out / "metrics.jsonl").read_text().splitlines()[0]).keys() == theirs.keys()


def test_the_adapter_is_loaded_for_rollouts(out: Path) -> None:
    policy = load_policy(ModelSettings(), out / "adapter")
    (record,) = rollout(policy, [Scenario(env="tau2_precondition", level=0, seed=1)], progress=False)
    assert record.score is not None


def test_scenarios_are_those_of_torch_grpo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    env = [("tau2_precondition", 2.0), ("tau2_multi_step", 1.0)]
    theirs: list[str] = []
    ours: list[str] = []

    def opened(scenario: Scenario) -> Any:
        ours.append(str(scenario))
        return registry.start_episode(scenario)

    reset = TrlEnvironment.reset

    def recorded(self: TrlEnvironment, scenario: str = "", **row: Any) -> None:
        theirs.append(scenario)
        reset(self, scenario, **row)

    monkeypatch.setattr(TrlEnvironment, "reset", recorded)
    sizes = SIZES | {"groups": 4, "samples": 2, "seed": 3, "levels": {0: 1, 1: 2}, "max_turn_tokens": 8}
    torch_grpo.train(GRPOConfig.parse(sizes), env=env, out_dir=tmp_path / "torch", open_episode=opened, progress=False)
    train(TRLConfig.parse(sizes), env=env, out_dir=tmp_path / "trl", progress=False)
    assert theirs == [str(registry.part_of(Scenario.parse(s))) for s in ours] and len(theirs) == 16
    assert len({s.split("/")[0] for s in theirs}) == 2 and len(set(theirs)) > 4


def test_an_interrupted_run_continues_bit_for_bit(out: Path, tmp_path: Path) -> None:
    run = tmp_path / "parts"
    first = train(SMALL.model_copy(update={"iterations": 1}), out_dir=run, **WHERE)
    assert len(first.metrics) == 1
    unfinished = run / "checkpoint" / "checkpoint-999"  # the process was killed while it saved
    unfinished.mkdir()
    second = train(SMALL, out_dir=run, **WHERE)
    assert len(second.metrics) == 2 and second.rollouts == 16 and not unfinished.exists()
    whole, parts = tensors(out), tensors(run)
    assert all(bool((whole[key] == parts[key]).all()) for key in whole)
    again = train(SMALL, out_dir=run, **WHERE)  # nothing is left to do
    assert again.metrics == second.metrics and tensors(run).keys() == whole.keys()
    with pytest.raises(ConfigError, match="contains a run with different settings: lr"):
        train(SMALL.model_copy(update={"lr": 1e-3}), out_dir=run, **WHERE)


def test_checkpoints_that_cannot_be_used_are_errors(out: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(SMALL.model_copy(update={"iterations": 1}), out_dir=run, **WHERE)
    (run / "checkpoint" / "checkpoint-2" / "optimizer.pt").write_bytes(b"no tensors")
    with pytest.raises(ReadError, match=r"checkpoint-2 cannot be read .* Delete it, or train with resume=False"):
        train(SMALL, out_dir=run, **WHERE)
    sizes = GRPOConfig.parse({**SIZES, "iterations": 1, "levels": {0: 1}})
    torch_grpo.train(sizes, out_dir=tmp_path / "torch", **WHERE)
    with pytest.raises(ConfigError, match="contains a run of another trainer"):
        train(SMALL, out_dir=tmp_path / "torch", **WHERE)


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"hints": 0.5}, "the trainer trl_grpo does not support hints"),
        ({"user": "openai:m@http://localhost:1/v1"}, "the trainer trl_grpo does not support user"),
        (
            {"advantage": "rloo"},
            "the trainer trl_grpo does not support this advantage: found 'rloo', expected one of grpo, dr_grpo",
        ),
        (
            {"minibatches": 3},
            "8 x 8 rollouts .* cannot be divided into 3 minibatches. Set minibatches to a divisor of 64",
        ),
        ({"vllm": "server"}, "vllm_url must be set if and only if vllm is 'server'"),
        ({"vllm_url": "http://localhost:8000"}, "vllm_url must be set if and only if vllm is 'server'"),
        (
            {"options": {"vllm_gpu_memory_utilization": 0.5}},
            "options: vllm_gpu_memory_utilization has no effect with vllm: off",
        ),
        ({"patience": 1}, "patience: Extra inputs are not permitted"),
    ],
)
def test_settings_that_trl_does_not_support_are_errors(settings: dict[str, Any], fault: str) -> None:
    with pytest.raises(ConfigError, match=fault):
        registered.parse({"trainer": "trl_grpo", **settings})
    with pytest.raises(ConfigError, match=fault):
        RunConfig.parse({"train": {"trainer": "trl_grpo", **settings}}, "run.yaml")


def test_a_run_names_the_trainer() -> None:
    config = RunConfig.parse({"train": {"trainer": "trl_grpo", "vllm": "colocate", "samples": 4}}, "run.yaml")
    assert isinstance(config.train, TRLConfig) and config.train.vllm == "colocate"
    assert RunConfig.parse(json.loads(config.model_dump_json()), "config.json") == config


def test_each_setting_is_supported_or_an_error() -> None:
    assert TRLConfig.model_fields.keys() - TRLConfig.SUPPORTED == {
        "hints",
        "user",
        "max_resamples",
        "overlong",
        "prefix_sharing",
        "init_adapter",
    }
    assert TRLConfig.model_fields.keys() >= TRLConfig.SUPPORTED


def test_settings_are_passed_to_trl(tmp_path: Path) -> None:
    settings = {"advantage": "dr_grpo", "average": "token", "kl_coef": 0.1, "epochs": 2, "clip_high": 0.3}
    config = TRLConfig.parse(settings | {"micro_batch_tokens": 2048, "vllm": "server", "vllm_url": "http://a:1"})
    given = grpo_arguments(config, ModelSettings(), tmp_path)
    assert (given["scale_rewards"], given["loss_type"], given["beta"]) == ("none", "dapo", 0.1)
    assert (given["epsilon"], given["epsilon_high"], given["num_iterations"]) == (0.2, 0.3, 2)
    rows, accumulated = given["per_device_train_batch_size"], given["gradient_accumulation_steps"]
    assert (rows, accumulated, given["steps_per_generation"]) == (2, 16, 32)  # 64 rollouts, 2 minibatches
    assert given["max_steps"] == 25 * 2 * 2
    assert (given["vllm_mode"], given["vllm_server_base_url"]) == ("server", "http://a:1")
    assert rows_per_forward(12, 5) == 4 and rows_per_forward(7, 5) == 1 and rows_per_forward(4, 0) == 1
    with pytest.raises(ConfigError, match="the trainer trl_grpo does not support device, .*: found device: cuda:1"):
        check_model(config, ModelSettings(name="some", device="cuda:1"))


def test_options_are_passed_to_trl(tmp_path: Path) -> None:
    own = {"vllm_gpu_memory_utilization": 0.5, "vllm_tensor_parallel_size": 2, "mask_truncated_completions": True}
    config = TRLConfig.parse({"vllm": "colocate", "options": own})
    plain = grpo_arguments(config, ModelSettings(), tmp_path)
    assert with_options(config, plain) == plain | own and not own.keys() & plain.keys()
    wrong = {
        "unknown options .*: found vllm_gpu_memory_utilisation": {"vllm_gpu_memory_utilisation": 0.5},
        "contains beta, gradient_checkpointing, which": {"beta": 0.1, "gradient_checkpointing": True},
    }
    for fault, options in wrong.items():
        with pytest.raises(ConfigError, match=fault):
            with_options(config.model_copy(update={"options": options}), plain)


def test_options_that_trace_gym_sets_sometimes_are_fields_of_trl(tmp_path: Path) -> None:
    remote = TRLConfig.parse({"vllm": "server", "vllm_url": "http://a:1"})
    given = grpo_arguments(remote, ModelSettings(), tmp_path).keys()
    assert given - grpo_arguments(TRLConfig(), ModelSettings(device="meta"), tmp_path).keys() == SET_SOMETIMES - {
        "gradient_checkpointing"
    }


def test_missing_statistics_are_null() -> None:
    logs = [{"grad_norm": 1.0, "entropy": 0.5, "kl": 0.2}, {"grad_norm": 3.0, "entropy": 0.7, "kl": 0.4}]
    made = step_statistics(logs, SMALL)
    assert made["clip_fraction"] is made["kl_base"] is None and made["grad_norm"] == 2.0 and made["steps"] == 2
    assert step_statistics(logs, SMALL.model_copy(update={"kl_coef": 0.1}))["kl_base"] == pytest.approx(0.3)


def test_groups_with_equal_rewards_give_no_signal(tmp_path: Path) -> None:
    """No conversation fits into the limit, so that all rewards are 0."""
    config = SMALL.model_copy(update={"max_idle_iterations": 1, "max_tokens": 64, "max_turn_tokens": 8})
    with pytest.raises(NoSignal, match=r"100% all zero.*exceeded max_tokens=64.*The run is stored in"):
        train(config, out_dir=tmp_path / "run", **WHERE)
    (line,) = map(json.loads, (tmp_path / "run" / "metrics.jsonl").read_text().splitlines())
    assert line["overflow"] == 1.0 and line["informative"] == line["trained_tokens"] == 0 and line["all_zero"] == 2


def test_an_error_of_the_environment_ends_the_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Any:
        raise EnvBug("the verifier failed")

    monkeypatch.setattr("trace_gym.adapters.trl.environment.ScoredEpisode.finish", fail)
    with pytest.raises(EnvBug, match="the verifier failed"):
        train(SMALL, out_dir=tmp_path / "run", **WHERE)


def test_errors_are_messages_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(settings: str) -> str:
        (tmp_path / "settings.yaml").write_text(f"trainer: trl_grpo\n{settings}\n")
        given = ["train", "tau2_precondition", "--config", str(tmp_path / "settings.yaml")]
        result = CliRunner().invoke(app, [*given, "--out", str(tmp_path / "run")])
        assert isinstance(result.exception, SystemExit | ConfigError | MissingExtra), result.exception
        return f"{result.output}{result.exception}"

    assert "vllm is missing" in run("vllm: colocate")
    assert "contains learning_rate, which trace_gym sets" in run("options: {learning_rate: 0.1}")
    assert "TRL does not support these settings or this model" in run("lora_targets: [nowhere]")
    assert "does not fit into the model's context" in run("max_tokens: 8\nmax_turn_tokens: 2")
    monkeypatch.setattr("trace_gym.adapters.rollout.import_module", _missing)
    assert "pip install 'trace-gym[trl]'" in run("groups: 2")


def _missing(name: str) -> Any:
    raise ImportError(f"No module named {name!r}", name=name)


def test_errors_of_a_server_are_unavailable() -> None:
    from trace_gym.errors import Unavailable

    config = TRLConfig.parse({"vllm": "server", "vllm_url": "http://localhost:1"})
    with (
        pytest.raises(Unavailable, match="the vLLM server at http://localhost:1 failed"),
        trl_build.server_errors(config),
    ):
        raise ConnectionError("refused")
    with pytest.raises(ConnectionError), trl_build.server_errors(SMALL):
        raise ConnectionError("refused")
