"""Settings of a run: each one that is accepted has an effect on the stages that it describes."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("peft", reason="the loop needs the lab extra")

import torch
from tiny_model import save_tiny
from typer.testing import CliRunner

from trace_gym import pipeline, registry, rollouts, sandbox
from trace_gym.cli.entry import app
from trace_gym.errors import ConfigError, EnvNotFound, ReadError
from trace_gym.models import ModelSettings
from trace_gym.pipeline import common, preflight, route
from trace_gym.pipeline import train as stage_train
from trace_gym.pipeline.ledger import Run
from trace_gym.policies import hints
from trace_gym.settings import RunConfig, presets
from trace_gym.stage_settings import Diagnose, Evaluate, Llm, Rollouts, Route, RunTarget, Skill
from trace_gym.targets.user.folder import TargetSettings as UserTarget
from trace_gym.trainers.config import GRPOConfig
from trace_gym.trainers.torch_grpo import train

ROOT = Path(__file__).resolve().parents[1]
ELSEWHERE = {"device": "meta", "dtype": "bfloat16"}
"""A device without memory, and a data type that the tiny model is not stored in."""


def run_of(tmp_path: Path, **settings: object) -> Run:
    model = {"name": str(save_tiny(tmp_path / "model"))} | dict(settings.pop("model", {}))  # type: ignore[call-overload]
    return Run(RunConfig.parse({"model": model, **settings}, "run.yaml"), tmp_path / "run")


def test_rollouts_of_a_run_use_device_and_dtype_of_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[Any] = []
    monkeypatch.setattr(rollouts, "rollout", lambda policy, *_, **__: used.append(policy) or [])
    run = run_of(tmp_path, model=ELSEWHERE)
    common.sampling_job(
        run, "rollouts", registry.scenarios("tau2_precondition", "select", 1), tmp_path / "out.jsonl", 1.0, 2
    )()
    (weights,) = {(p.device.type, p.dtype) for p in used[0].model.parameters()}
    assert weights == ("meta", torch.bfloat16) and used[0].device == "meta"


def test_router_of_a_run_uses_device_and_dtype_of_the_model(tmp_path: Path) -> None:
    router = route._router(run_of(tmp_path, model=ELSEWHERE), ["tau2_precondition", "tau2_multi_step"])
    assert {(p.device.type, p.dtype) for p in router.model.parameters()} == {("meta", torch.bfloat16)}


def test_router_of_a_run_has_each_option_at_each_position_once(tmp_path: Path) -> None:
    names = ["tau2_precondition", "tau2_multi_step"]
    orders = route._router(run_of(tmp_path), names).orders
    positions = {tuple(sorted(option.capability for option in options)) for options in zip(*orders, strict=True)}
    assert len(orders) == 3 and len(positions) == 1 and len(positions.pop()) == 3
    assert route._router(run_of(tmp_path, route={"permutations": 5}), names).permutations == 5


@pytest.mark.parametrize("permutations", [3, 4])
def test_stage_and_command_print_the_warning_of_the_router(permutations: int, tmp_path: Path) -> None:
    names = ["tau2_precondition", "tau2_multi_step"]
    shared = {"levels": {name: [0] for name in names}, "evaluate": {"tasks": 1}, "environments": names}
    target = {"env": "tau2_airline_desk", "levels": [0]}
    run = run_of(tmp_path, route={"permutations": permutations}, target=target, **shared)
    run.path("skill.json").write_text(json.dumps({name: {"learnable": True} for name in names}))
    route.route(run)
    command = ["route", "Please cancel it.", "--model", str(tmp_path / "model"), "--permutations", str(permutations)]
    printed = CliRunner().invoke(app, [*command, *(part for name in names for part in ("--env", name))])
    for text in (run.ledger["route"]["message"], printed.stderr):
        assert ("permutations: 4 is not a multiple of the number of options (3)" in text) == (permutations == 4)


def test_train_stage_names_environments_without_a_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["tau2_precondition", "tau2_multi_step"]
    run = run_of(tmp_path, train={"hints": 0.5}, environments=names)
    run.path("skill.json").write_text(json.dumps({name: {"learnable": True} for name in names}))
    monkeypatch.setattr(hints, "hint_of", lambda episode: episode.scenario.env == names[0] and "Look first.")
    monkeypatch.setattr(common, "run_with_progress", lambda *_: [])
    stage_train.train(run)
    assert "; hints has no effect in tau2_multi_step, because no hint was found there" in run.ledger["train"]["message"]


@pytest.mark.parametrize("name", presets())
def test_presets_route_with_one_order(name: str) -> None:
    assert RunConfig.preset(name).route.permutations == 1


def test_another_dtype_makes_other_rollouts(tmp_path: Path) -> None:
    plain, other = (common.model_key(run_of(tmp_path, model=model)) for model in ({}, {"dtype": "bfloat16"}))
    assert plain != other


@pytest.mark.parametrize("device", ["banana", "cuda:99", ""])
def test_unusable_device_is_an_error_before_any_stage(device: str, tmp_path: Path) -> None:
    model = ModelSettings(name=str(save_tiny(tmp_path / "model")), device=device)
    with pytest.raises(ConfigError, match="the device .* cannot be used .*Choose a device"):
        train(GRPOConfig(), env="tau2_precondition", model=model, out_dir=tmp_path / "adapter")
    with pytest.raises(ConfigError, match="the device .* cannot be used"):
        pipeline.run(RunConfig.parse({"model": {"device": device}}, "run.yaml"), tmp_path / "run")
    assert not (tmp_path / "run").exists() and not (tmp_path / "adapter").exists()


LLM = {"author": "llm", "llm": {"model": "openai:m"}}


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"llm": {"model": "openai:m", "tokens": 5}}, "llm.model, llm.tokens has no effect: author is recorded"),
        ({"author": "recorded", "llm": {"folder": "envs"}}, "llm.folder has no effect: author is recorded"),
        (LLM | {"llm": {"model": "openai:m", "by": "Ada"}}, "llm.by has no effect on openai:m"),
        (LLM | {"llm": {"model": "files:desk", "tokens": 5}}, "llm.tokens has no effect on files:desk"),
        (LLM | {"llm": {"model": "replay:desk", "price": "1/2"}}, "llm.price has no effect on replay:desk"),
        ({"source": "results.json", "rollouts": {"tasks": 3}}, "rollouts has no effect: source is given"),
        ({"train": {"seed": 4}}, "train.seed has no effect.*seeds: .4."),
        ({"train": {"levels": {0: 1.0}}}, "train.levels has no effect.*Use levels instead"),
        ({"train": {"target_window": 9}}, "target_window has no effect without target_success"),
        ({"seeds": [0, 1, 0]}, "seeds: .*the number 0 occurs more than once"),
        ({"seeds": [-1]}, "seeds.0: .*greater than or equal to 0"),
        (
            {"target": {"env": "tau2_airline_desk", "levels": [1, 1]}},
            "target.levels: .*the number 1 occurs more than once",
        ),
        ({"target": {"env": "tau2_airline_desk", "levels": []}}, "target.levels: .*at least 1 item"),
        ({"levels": {"tau2_precondition": []}}, "levels.tau2_precondition: .*at least 1 item"),
        ({"validation": "quikc"}, "validation: Input should be 'quick' or 'gate'"),
    ],
)
def test_setting_of_a_run_without_effect_is_an_error(settings: dict[str, object], fault: str) -> None:
    with pytest.raises(ConfigError, match=fault):
        RunConfig.parse(settings, "run.yaml")


def test_every_field_of_the_settings_is_read_outside_its_class() -> None:
    read: set[str] = set()
    for folder in ("trace_gym", "trainers"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                    read.add(node.attr)
    models = (RunConfig, RunTarget, Rollouts, Diagnose, Llm, Skill, Route, Evaluate, GRPOConfig, UserTarget)
    assert not [f"{m.__name__}.{name}" for m in models for name in m.model_fields if name not in read]


@pytest.mark.parametrize(
    ("levels", "error", "fault"),
    [
        ({"tau2_preconditon": [0]}, EnvNotFound, "did you mean tau2_precondition"),
        (
            {"tau2_precondition": [0, 9]},
            ConfigError,
            "tau2_precondition has no level 9: expected an integer from 0 to 3",
        ),
    ],
)
def test_levels_of_a_run_without_environment_are_an_error(
    levels: dict[str, list[int]], error: type[Exception], fault: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=fault):
        pipeline.run(RunConfig.parse({"levels": levels}, "run.yaml"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_source_on_the_command_line_replaces_the_rollouts_of_a_preset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[RunConfig] = []
    monkeypatch.setattr(pipeline, "run", lambda config, folder: used.append(config) or Run(config, tmp_path / "run"))
    (tmp_path / "results.json").write_text("[]")
    done = CliRunner().invoke(app, ["run", "--preset", "demo", "--source", str(tmp_path / "results.json")])
    assert done.exit_code == 0 and used[0].source and used[0].rollouts == Rollouts()


def test_levels_of_an_environment_that_is_not_trained_on_are_an_error(tmp_path: Path) -> None:
    config = GRPOConfig.parse({"levels": {"tau2_multi_step": {0: 1.0}}})
    with pytest.raises(
        ConfigError, match="contains 'tau2_multi_step', which is not an environment.*expected tau2_precondition"
    ):
        train(config, env="tau2_precondition", model=str(save_tiny(tmp_path / "model")), out_dir=tmp_path / "adapter")


def test_hints_without_any_hint_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "hints.yaml").write_text("hints: 0.5\n")
    command = ["train", "tau2_precondition", "--config", str(tmp_path / "hints.yaml"), "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 1 and "`hints` has no effect, because no hint was found in tau2_precondition" in str(
        done.exception
    )


NAMED = {"environments": ["tau2_precondition", "tau2_multi_step"]}
MISSING = {"tau2_precondition": "nowhere", "tau2_multi_step": "nowhere"}


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"train": {"hints": 0.5}, **NAMED}, "`hints` has no effect, because no hint was found in tau2_precondition, "),
        ({"train": {"hints": 0.5}}, "`hints` has no effect, because no hint was found in "),
        ({"train": {"trainer": "distill"}}, "the trainer distill requires teachers: found none"),
        ({"train": {"trainer": "distill", "teachers": "nowhere"}}, "the teacher nowhere is not an adapter folder"),
        (
            {"train": {"trainer": "distill", "teachers": MISSING}, **NAMED},
            "the teacher nowhere is not an adapter folder",
        ),
        (
            {"train": {"trainer": "distill", "teachers": {"tau2_precondition": "nowhere"}}, **NAMED},
            "found teachers for tau2_precondition, expected one teacher for each of tau2_precondition, tau2_multi_step",
        ),
        (
            {"train": {"trainer": "distill", "teachers": MISSING}, "evaluate": {"grpo_target": True}},
            "tau2_airline_desk has no teacher",
        ),
        ({"train": {"init_adapter": "nowhere"}}, "the initial adapter nowhere is not an adapter folder"),
    ],
)
def test_settings_of_the_trainer_are_checked_before_the_first_stage(
    settings: dict[str, Any], fault: str, tmp_path: Path
) -> None:
    with pytest.raises((ConfigError, ReadError), match=fault):
        pipeline.run(RunConfig.parse(settings, "run.yaml"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_hints_of_environments_that_do_not_exist_yet_are_not_checked() -> None:
    llm = RunConfig.parse({**LLM, "train": {"hints": 0.5}}, "run.yaml")
    assert preflight.possible_environments(llm) is None
    preflight.check(llm)


def test_missing_teacher_is_an_error_before_training(tmp_path: Path) -> None:
    (tmp_path / "distill.yaml").write_text("{trainer: distill, teachers: nowhere}\n")
    command = ["train", "tau2_precondition", "--config", str(tmp_path / "distill.yaml"), "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 1 and "the teacher nowhere is not an adapter folder" in str(done.exception)
    assert not (tmp_path / "out").exists()


def test_each_adapter_of_a_run_gets_its_own_teacher(tmp_path: Path) -> None:
    teachers = {name: str(tmp_path / name) for name in NAMED["environments"]}
    run = run_of(tmp_path, train={"trainer": "distill", "teachers": teachers}, **NAMED)
    made = stage_train._job(run, "tau2_multi_step", 0, {"tau2_multi_step": [0]}, 1)
    assert made.config["teachers"] == {"tau2_multi_step": teachers["tau2_multi_step"]}


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        (
            "synthesize tau2_aggregation --llm openai:m --tokens 3",
            "--llm, --tokens has no effect on author recorded",
        ),
        ("synthesize tau2_aggregation --all", "NAME has no effect together with --all"),
        ("synthesize tau2_aggregation --from x.yaml", "NAME has no effect together with --from"),
        ("synthesize tau2_aggregation --target tau2_retail", "--target has no effect without --from"),
        ("synthesize x.yaml --author llm --llm files:x --workers 3", "--workers has no effect without --from"),
        (
            "synthesize --from {caps} --author llm --llm files:x --tokens 9",
            "no effect with the model 'files:",
        ),
        ("synthesize --from {caps} --author llm --llm openai:m --by Ada", "no effect with the model 'openai:m': by"),
        ("validate --admit", "--admit has no effect without an environment"),
        ("validate tau2_precondition --list", "ENV has no effect together with --list"),
        ("validate tau2_precondition --engine here --workers 3", "--workers has no effect on engine here"),
        ("validate tau2_precondition --skip TG001", "--skip TG001 has no effect: TG001 is always checked"),
        ("validate gym:foreign_envs:x --recordings {episodes}", "--recordings has no effect on gym:foreign_envs:x"),
        ("export tau2_precondition --to openenv --out {out} -n 5", "-n has no effect on openenv"),
    ],
)
def test_option_without_effect_is_an_error(
    command: str, fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "require_isolation", lambda: None)
    episodes = ROOT / "tests" / "data" / "recorded_desk.jsonl"
    (tmp_path / "caps.yaml").write_text("- {name: look, description: look before you leap}\n")
    words = command.format(caps=tmp_path / "caps.yaml", episodes=episodes, out=tmp_path / "out").split()
    if words[0] == "synthesize":
        words += ["--out", str(tmp_path / "envs")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code and fault in str(done.exception), done.output
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("llm", "fault"),
    [
        ({"solver": "opnai:m"}, "'opnai:m' is not a valid model URI"),
        ({"policy": "nobody"}, "unknown policy: found 'nobody'"),
    ],
)
def test_models_that_check_environments_are_checked_before_the_first_stage(
    llm: dict[str, str], fault: str, tmp_path: Path
) -> None:
    config = RunConfig.model_validate(
        {
            "author": "llm",
            "capabilities": {"precondition_verification": "Verify."},
            "llm": {"model": f"files:{tmp_path}", **llm},
        }
    )
    with pytest.raises(ConfigError, match=fault):
        preflight.check(config)


def test_reader_requires_evidence_of_another_model(tmp_path: Path) -> None:
    llm = {"model": f"files:{tmp_path}", "solver": "none", "reader": "openai:m"}
    with pytest.raises(ValueError, match="llm.reader has no effect without llm.reviewer or llm.solver"):
        RunConfig.model_validate(
            {"author": "llm", "capabilities": {"precondition_verification": "Verify."}, "llm": llm}
        )


def test_reader_judges_the_solver_that_is_the_author_by_default(tmp_path: Path) -> None:
    llm = {"model": f"files:{tmp_path}", "reader": "openai:m"}
    made = RunConfig.model_validate(
        {"author": "llm", "capabilities": {"precondition_verification": "Verify."}, "llm": llm}
    )
    assert made.llm.reader == "openai:m"


def test_budget_limits_checkers_of_an_author_without_an_endpoint(tmp_path: Path) -> None:
    llm = {"model": f"files:{tmp_path}", "solver": "openai:m", "tokens": 1000}
    made = RunConfig.model_validate(
        {"author": "llm", "capabilities": {"precondition_verification": "Verify."}, "llm": llm}
    )
    assert made.llm.tokens == 1000
