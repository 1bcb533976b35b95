"""Runs whose settings name environments and capabilities: every stage works for a target of one's own."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("peft", reason="the loop needs the lab extra")

from conftest import PASSED
from tiny_model import save_tiny
from typer.testing import CliRunner

from trace_gym import pipeline, registry, validation
from trace_gym.cli.entry import app
from trace_gym.diagnosis import Diagnosis
from trace_gym.errors import ConfigError, EnvNotFound
from trace_gym.evaluation import Evaluation
from trace_gym.pipeline import named, synthesize
from trace_gym.pipeline.ledger import Run
from trace_gym.pipeline.reporting import open_run
from trace_gym.route import description_of
from trace_gym.sandbox import describe
from trace_gym.settings import RunConfig
from trace_gym.synthesis.base_world import base_spec
from trace_gym.targets.user.folder import TargetFolder
from trace_gym.targets.user.start import init

pytestmark = pytest.mark.slow

DATA = Path(__file__).parent / "data" / "greenhouse"
DESK, EVEN = "greenhouse_capacity_check", "greenhouse_even_answer"
CODE = '''
"""Answers of an even number of letters: a random model is rewarded for about half of its answers."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from trace_gym.targets.user.greenhouse_base import GreenhouseBase
from trace_gym.world import Call, Check, Random, Say


@dataclass(kw_only=True)
class GreenhouseEvenAnswer(GreenhouseBase):
    id = "greenhouse_even_answer"
    capability = "even_answer"
    levels = range(2)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        return cls(wording=f"Answer me, please. I am visitor {rng.randrange(10**6)}.")

    def reply(self, text: str) -> str | None:
        return None

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield Check.goal("the answer is even", bool(said) and len(said[0]) % 2 == 0)

    def oracle(self) -> Iterator[Call | Say]:
        yield Call("watering-days", {"first": 1})
        yield Say("even")

    def ablated(self) -> Iterator[Call | Say]:
        yield Say("odd")

    def needs(self) -> frozenset[str]:
        return frozenset({self.capability})
'''
SEEN = [{"bed": "bed-1", "size": 4, "plants": []}]


@pytest.fixture
def home(tmp_path: Path, clean_registry: None) -> TargetFolder:
    """A target with a base world and two environments, which no variable names."""
    call = {"id": "a", "function": {"name": "list-beds", "arguments": "{}"}}
    talk: list[dict[str, Any]] = [
        {"role": "user", "content": "Hello."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": json.dumps(SEEN)},
    ]
    (tmp_path / "log.jsonl").write_text(json.dumps(talk) + "\n")
    made = init(
        tmp_path / "greenhouse", tools=DATA / "tools.json", policy=DATA / "policy.md",
        trajectories=[tmp_path / "log.jsonl"],
    )  # fmt: skip
    made.base_module.parent.mkdir()
    made.base_module.write_text((DATA / "base.py").read_text())
    registry.add_folder(made.path)
    registry.admit(made.base_module, PASSED, "hand", base_spec(made), describe=describe)
    for name, text in {DESK: (DATA / "environment.py").read_text(), EVEN: CODE}.items():
        (made.path / f"{name}.py").write_text(text)
        registry.admit(made.path / f"{name}.py", PASSED, "hand", describe=describe)
    return made


def settings(home: TargetFolder, **changes: object) -> dict[str, Any]:
    return {
        "folders": [str(home.path)],
        "environments": [EVEN],
        "target": {"env": DESK, "levels": [0]},
        "levels": {EVEN: [0]},
    } | changes


def test_every_stage_runs_for_a_target_of_ones_own(
    home: TargetFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validation, "validate", partial(validation.validate, only=("TG401",)))
    config = RunConfig.parse(
        settings(home) | {
            "model": str(save_tiny(tmp_path / "model")),
            "capabilities": {"even_answer": "answer evenly"},
            "skill": {"groups": 2, "informative": 0.0},
            "train": {"groups": 2, "samples": 4, "iterations": 1, "max_tokens": 3000, "max_turn_tokens": 6},
            "route": {"permutations": 1},
            "evaluate": {"tasks": 2, "validation_tasks": 1, "own_tasks": 1},
            "workers": 1,
        },
        "test",
    )  # fmt: skip
    made = pipeline.run(config, tmp_path / "run")
    assert list(made.ledger) == [
        "synthesize", "validate", "variance", "skill", "train", "route", "evaluate", "report",
    ]  # fmt: skip
    chosen = json.loads(made.path("environments.json").read_text())["environments"]
    assert {n: e["capability"] for n, e in chosen.items()} == {EVEN: "even_answer"}
    assert made.path("adapters", f"{EVEN}-s0", "adapter", "adapter_model.safetensors").exists()
    evaluation = Evaluation.read(made.path("evaluation", "level-0.json"))
    assert {"base", "even_answer", "routed", "random_routed"} <= {row.name for row in evaluation.rows}
    assert set(json.loads(made.path("routing.json").read_text())["choices"]) == {
        f"{DESK}/0/{seed}" for seed in list(registry.SPLITS["test"])[:2]
    }
    page = made.path("report.html").read_text()
    assert EVEN in page and "rules over reference" not in page and "the settings" in page
    again = pipeline.run(config, tmp_path / "run")
    assert again.ledger == made.ledger
    assert open_run(tmp_path / "run").config == config


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"source": "results.json"}, "source has no effect"),
        ({"rollouts": {"tasks": 3}}, "rollouts has no effect"),
        ({"diagnose": {"rho": 0.5}}, "diagnose has no effect"),
        ({"environments": [EVEN, EVEN]}, f"environments contains {EVEN} twice"),
        ({"author": "llm", "llm": {"model": "files:desk"}}, "author llm has no effect"),
        ({"levels": {"tau2_precondition": [0]}}, "levels of tau2_precondition have no effect"),
        ({"evaluate": {"mixture": True}}, "evaluate.mixture has no effect"),
        ({"environments": EVEN}, "environments: Input should be a valid tuple"),
    ],
)
def test_a_setting_without_effect_is_an_error(changes: dict[str, object], fault: str, home: TargetFolder) -> None:
    with pytest.raises(ConfigError, match=fault):
        RunConfig.parse(settings(home, **changes), "run.yaml")


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"environments": ["greenhouse_even_answers"], "levels": {}}, f"did you mean {EVEN}"),
        ({"environments": ["tau2_mixture"], "levels": {}}, "is a mixture of"),
        ({"target": {"env": "no_such_desk"}}, "no environment is called 'no_such_desk'"),
        ({"target": {"env": DESK, "levels": [0, 7]}}, f"{DESK} has no level 7: expected an integer from 0 to 2"),
        ({"levels": {EVEN: [2]}}, f"{EVEN} has no level 2: expected an integer from 0 to 1"),
        ({"folders": ["nowhere"]}, "is not a folder"),
    ],
)
def test_unknown_environment_level_or_folder_raises_before_any_stage(
    changes: dict[str, object], fault: str, home: TargetFolder, tmp_path: Path
) -> None:
    with pytest.raises((ConfigError, EnvNotFound, ValueError), match=fault):
        pipeline.run(RunConfig.parse(settings(home, **changes), "run.yaml"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_two_environments_of_one_capability_are_refused(home: TargetFolder, tmp_path: Path) -> None:
    twin = home.path / "greenhouse_twin.py"
    twin.write_text(CODE.replace(f'id = "{EVEN}"', 'id = "greenhouse_twin"'))
    registry.admit(twin, PASSED, "hand", describe=describe)
    config = RunConfig.parse(settings(home, environments=[EVEN, "greenhouse_twin"]), "run.yaml")
    with pytest.raises(
        ConfigError, match=f"two environments train the capability even_answer: found {EVEN} and greenhouse_twin"
    ):
        named.check(config)
    capability = {"capabilities": {"even_answer": "answer evenly"}, "environments": [], "levels": {}}
    with pytest.raises(
        ConfigError, match="several environments of the target greenhouse train the capability even_answer"
    ):
        synthesize.synthesize(Run(RunConfig.parse(settings(home, **capability), "run.yaml"), tmp_path / "run"))


def test_named_capabilities_are_served_by_environments_of_the_same_target(home: TargetFolder, tmp_path: Path) -> None:
    asked = {"even_answer": "answer evenly", "flying": "fly"}
    config = RunConfig.parse(settings(home, environments=[], capabilities=asked), "run.yaml")
    run = Run(config, tmp_path / "run")
    synthesize.synthesize(run)
    made = json.loads(run.path("environments.json").read_text())
    assert list(made["environments"]) == [EVEN] and made["unserved"] == ["flying"]
    none = RunConfig.parse(settings(home, environments=[], levels={}, capabilities={"flying": "fly"}), "run.yaml")
    with pytest.raises(ConfigError, match="no environment trains .*: found flying.*List environments"):
        synthesize.synthesize(Run(none, tmp_path / "none"))
    shipped = {"target": {"env": "tau2_airline_desk"}, "capabilities": {"tool_precision": "be precise"}}
    run = Run(RunConfig.parse(shipped, "run.yaml"), tmp_path / "shipped")
    synthesize.synthesize(run)
    assert list(json.loads(run.path("environments.json").read_text())["environments"]) == ["tau2_tool_precision"]


def test_a_diagnosed_capability_is_served_by_an_environment_of_the_users_target(
    home: TargetFolder, tmp_path: Path
) -> None:
    from test_pipeline import diagnosed

    made = diagnosed(tmp_path / "run", {"model": "files:desk"}, "even_answer")
    made.config = RunConfig.parse({"target": {"env": DESK}}, "run.yaml")
    synthesize.synthesize(made)
    assert list(json.loads(made.path("environments.json").read_text())["environments"]) == [EVEN]
    assert named.descriptions(made) == {"even_answer": "Look before you leap."}
    assert isinstance(Diagnosis.model_validate_json(made.path("diagnosis.json").read_text()), Diagnosis)


def test_the_router_reads_the_description_of_the_targets_own_capability(home: TargetFolder) -> None:
    even, desk, shipped = (registry.manifest(name) for name in (EVEN, DESK, "tau2_precondition"))
    assert description_of(desk) == "Sow only where a place stays free."
    assert description_of(even) == "even answer" and description_of(even, {"even_answer": "be even"}) == "be even"
    other = even.model_copy(update={"capability": "precondition_verification"})
    assert "cancelling" in description_of(shipped) and "cancelling" not in description_of(other)


def test_source_on_the_command_line_is_checked_with_the_file(home: TargetFolder, tmp_path: Path) -> None:
    config, results = tmp_path / "run.yaml", tmp_path / "results.jsonl"
    config.write_text(json.dumps(settings(home)))
    results.write_text("{}\n")
    done = CliRunner().invoke(app, ["run", str(config), "--source", str(results), "--out", str(tmp_path / "run")])
    assert done.exit_code == 1 and "source has no effect" in str(done.exception)


def test_an_included_environment_is_preferred_to_one_in_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clean_registry: None
) -> None:
    """The default folder for new environments has no effect: an installed package does not contain one."""
    shipped = registry.manifest("tau2_precondition")
    for suffix in (".py", ".json"):
        text = registry.module_path(shipped.id).with_suffix(suffix).read_text()
        (tmp_path / f"my_precondition{suffix}").write_text(text.replace("tau2_precondition", "my_precondition"))
    registry.admit(tmp_path / "my_precondition.py", PASSED, "hand", describe=describe)
    registry.add_folder(tmp_path)
    assert registry.manifest("my_precondition").capability == shipped.capability
    monkeypatch.setattr(registry, "home", lambda: tmp_path)
    assert named.registered(shipped.capability, str(shipped.target)) == shipped
